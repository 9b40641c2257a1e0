#ifndef CLARUS_SWIFT_RUNTIME_H
#define CLARUS_SWIFT_RUNTIME_H

// Entry points of the Swift runtime, part of its stable ABI. The first retains an object unless its deinitialiser has
// begun. A weak reference does the same at the price of a side table (an allocation) per object, which an identity map
// of a million objects can't afford. Used by IdentityMap and RowCache only;
// Decisions/0003 has the reasoning.
void *_Nullable swift_tryRetain(void *_Nonnull object);

// Many references to one object at the price of one atomic operation: the rows of a slab are as many references to it,
// and to what their objects have in common.
void *_Nullable swift_retain_n(void *_Nonnull object, unsigned int count);
void swift_release_n(void *_Nonnull object, unsigned int count);

#endif
