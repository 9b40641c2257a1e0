import CoreDataStorage
import Foundation

// What the methods of Apple's generated classes do: `addToTags(_:)`, `insertIntoItems(_:at:)`, and the
// primitive accessors.

// MARK: Several members

extension NSManagedObject {
  /// Adds members, at the end of an ordered relationship, and maintains their inverses: `addToTags(_:)` with
  /// a `Set`, an array, an `NSSet` or an `NSOrderedSet`. Does not load the other members. Stops for a member
  /// that is no managed object.
  public final func addManagedMembers(_ members: some Sequence, _ key: ManagedKey) {
    let slot: Int = toManySlot(key, isOrdered: nil)
    for member in managedObjects(in: members, key) { link(slot, member) }
  }

  /// Removes members and maintains their inverses: `removeFromTags(_:)`. Does not load the other members.
  public final func removeManagedMembers(_ members: some Sequence, _ key: ManagedKey) {
    let slot: Int = toManySlot(key, isOrdered: nil)
    for member in managedObjects(in: members, key) { unlinkMember(slot, member) }
  }

  /// Removes all members but these: `intersectTags(_:)`.
  public final func intersectManagedMembers(_ members: some Sequence, _ key: ManagedKey) {
    let slot: Int = toManySlot(key, isOrdered: nil)
    let kept = Set(managedObjects(in: members, key).map { ObjectIdentifier($0) })
    for member in Array(self.members(slot)) where !kept.contains(ObjectIdentifier(member)) {
      unlinkMember(slot, member)
    }
  }

  private final func toManySlot(_ key: ManagedKey, isOrdered: Bool?) -> Int {
    key.slot(of: self, .toMany(NSManagedObject.self, isOrdered: isOrdered))
  }

  private final func managedObjects(in members: some Sequence, _ key: ManagedKey) -> [NSManagedObject] {
    members.map { member in
      if let object = member as? NSManagedObject { return object }
      fatalError(
        "\(runtime.layout.name).\(key.name) has managed objects as members, and not \(Swift.type(of: member))."
      )
    }
  }
}

// MARK: Members at places

extension NSManagedObject {
  /// Inserts a member into an ordered relationship: `insertIntoItems(_:at:)`. One that is a member already
  /// stays where it is. Loads the members. Stops for an index beyond the end.
  public final func insertManagedMember(_ member: NSManagedObject, at index: Int, _ key: ManagedKey) {
    insertManagedMembers(CollectionOfOne(member), at: CollectionOfOne(index), key)
  }

  /// Inserts members so that they have these indexes afterwards, which are taken in ascending order.
  public final func insertManagedMembers(
    _ members: some Sequence, at indexes: some Sequence<Int>, _ key: ManagedKey
  ) {
    let inserted: [NSManagedObject] = managedObjects(in: members, key)
    let places: [Int] = indexes.sorted()
    requireCount(inserted.count, places.count, key)
    editMembers(key) { list in
      var present = Set(list.map { ObjectIdentifier($0) })
      for (member, place) in zip(inserted, places) where present.insert(ObjectIdentifier(member)).inserted {
        requireIndex(place, upTo: list.count, key)
        list.insert(member, at: place)
      }
    }
  }

  /// Removes the member at an index of an ordered relationship: `removeFromItems(at:)`.
  public final func removeManagedMember(at index: Int, _ key: ManagedKey) {
    removeManagedMembers(at: CollectionOfOne(index), key)
  }

  public final func removeManagedMembers(at indexes: some Sequence<Int>, _ key: ManagedKey) {
    editMembers(key) { list in
      for place in Set(indexes).sorted(by: >) {
        requireIndex(place, upTo: list.count - 1, key)
        list.remove(at: place)
      }
    }
  }

  /// Replaces the member at an index of an ordered relationship: `replaceItems(at:with:)`. Does nothing if
  /// the new one is a member already, at another place.
  public final func replaceManagedMember(at index: Int, with member: NSManagedObject, _ key: ManagedKey) {
    replaceManagedMembers(at: CollectionOfOne(index), with: CollectionOfOne(member), key)
  }

  public final func replaceManagedMembers(
    at indexes: some Sequence<Int>, with members: some Sequence, _ key: ManagedKey
  ) {
    let replacing: [NSManagedObject] = managedObjects(in: members, key)
    let places: [Int] = indexes.sorted()
    requireCount(replacing.count, places.count, key)
    editMembers(key) { list in
      var present = Set(list.map { ObjectIdentifier($0) })
      for (member, place) in zip(replacing, places) {
        requireIndex(place, upTo: list.count - 1, key)
        guard present.insert(ObjectIdentifier(member)).inserted else { continue }
        present.remove(ObjectIdentifier(list[place]))
        list[place] = member
      }
    }
  }

  private final func editMembers(_ key: ManagedKey, _ edit: (inout [NSManagedObject]) -> Void) {
    let slot: Int = toManySlot(key, isOrdered: true)
    fireFault(slot, .write)
    var list = Array(members(slot))
    edit(&list)
    setMembers(slot, list)
  }

  private final func requireIndex(_ index: Int, upTo last: Int, _ key: ManagedKey) {
    if index >= 0, index <= last { return }
    fatalError(
      "\(runtime.layout.name).\(key.name) has no place \(index); the last one possible is \(last). Check the count first."
    )
  }

  private final func requireCount(_ members: Int, _ indexes: Int, _ key: ManagedKey) {
    if members == indexes { return }
    fatalError(
      "\(runtime.layout.name).\(key.name) was given \(members) members for \(indexes) places. Give as many of each."
    )
  }
}

// MARK: Primitive accessors

extension NSManagedObject {
  /// `primitiveTitle`: the value without loading the object and without any callback. nil if it has another
  /// type. Looks its slot up by name.
  ///
  /// - Parameters:
  ///   - key: the name without `primitive`.
  ///   - accessor: the whole name; it is an attribute's where the entity has one of that name.
  public final func managedPrimitiveValue<Value>(_ key: ManagedKey, _ accessor: ManagedKey) -> Value? {
    if isProperty(accessor) { return managedValue(accessor) }
    return primitiveValue(forKey: key.name) as? Value
  }

  /// The same for a type that is not optional: 0, false, empty text or an empty collection for nil, and it
  /// stops where there is no such value.
  @_disfavoredOverload
  public final func managedPrimitiveValue<Value>(_ key: ManagedKey, _ accessor: ManagedKey) -> Value {
    if isProperty(accessor) { return managedValue(accessor) }
    if let value = primitiveValue(forKey: key.name) as? Value ?? Self.zero(Value.self) { return value }
    return required(nil, key)
  }

  public final func managedPrimitiveValue<Value: RawRepresentable>(
    _ key: ManagedKey, _ accessor: ManagedKey
  ) -> Value? {
    if isProperty(accessor) { return managedValue(accessor) }
    return (primitiveValue(forKey: key.name) as? Value.RawValue).flatMap { Value(rawValue: $0) }
  }

  public final func managedPrimitiveValue<Value: RawRepresentable>(
    _ key: ManagedKey, _ accessor: ManagedKey
  ) -> Value {
    if isProperty(accessor) { return managedValue(accessor) }
    let raw: Value.RawValue? =
      primitiveValue(forKey: key.name) as? Value.RawValue ?? Self.zero(Value.RawValue.self)
    return required(raw.flatMap { Value(rawValue: $0) }, key)
  }

  /// Sets a value without recording a change, maintaining inverses or calling anything.
  @_disfavoredOverload
  public final func setManagedPrimitiveValue<Value>(
    _ value: Value?, _ key: ManagedKey, _ accessor: ManagedKey
  ) {
    if isProperty(accessor) { return setManagedValue(value, accessor) }
    setPrimitiveValue(value, forKey: key.name)
  }

  public final func setManagedPrimitiveValue<Value: RawRepresentable>(
    _ value: Value?, _ key: ManagedKey, _ accessor: ManagedKey
  ) {
    if isProperty(accessor) { return setManagedValue(value, accessor) }
    setPrimitiveValue(value?.rawValue, forKey: key.name)
  }

  private final func isProperty(_ key: ManagedKey) -> Bool {
    // A key path names the accessor itself: `\Item.primitiveTitle` must not sort by `title`.
    runtime.recorder != nil || runtime.layout.slotByName[key.name] != nil
  }
}
