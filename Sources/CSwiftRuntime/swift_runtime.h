#ifndef CLARUS_SWIFT_RUNTIME_H
#define CLARUS_SWIFT_RUNTIME_H

// One entry point of the Swift runtime, part of its stable ABI: retains an object unless its deinitialiser has
// begun. A weak reference does the same at the price of a side table (an allocation) per object, which an identity map
// of a million objects can't afford. Used by IdentityMap and RowCache only;
// Decisions/0003 has the reasoning.
void *_Nullable swift_tryRetain(void *_Nonnull object);

#endif
