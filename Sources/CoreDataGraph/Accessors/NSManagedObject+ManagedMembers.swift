import CoreDataStorage
import Foundation

// Accessors of relationships.

extension NSManagedObject {
  /// The target of a to-one relationship.
  public final func managedObject<Target: NSManagedObject>(
    _ key: ManagedKey, as type: Target.Type = Target.self
  ) -> Target? {
    if needsSlowAccess, let recorder = recorderOrSlowAccess(key, .toOne(Target.self)) {
      return recorder.target(key.name)
    }
    guard let target = toOneTarget(key.slot(of: self, .toOne(Target.self))) else { return nil }
    if let typed = target as? Target { return typed }
    refuse(target, key, Target.self)
  }

  /// The same for a property that is not optional. Stops if there is no target.
  @_disfavoredOverload
  public final func managedObject<Target: NSManagedObject>(
    _ key: ManagedKey, as type: Target.Type = Target.self
  ) -> Target {
    required(managedObject(key, as: type), key)
  }

  /// Sets the target of a to-one relationship and maintains the inverses.
  public final func setManagedObject(_ target: NSManagedObject?, _ key: ManagedKey) {
    setToOne(key.slot(of: self, .toOne(NSManagedObject.self)), target)
  }

  // MARK: To-many

  /// The members of a to-many relationship.
  public final func managedSet<Member: NSManagedObject>(
    _ key: ManagedKey, of type: Member.Type = Member.self
  ) -> Set<Member> {
    Set(members(key, Member.self, isOrdered: false))
  }

  /// The same as a property of Apple's generated classes.
  @_disfavoredOverload
  public final func managedSet(_ key: ManagedKey) -> NSSet {
    NSSet(array: members(key, NSManagedObject.self, isOrdered: false))
  }

  /// The members of an ordered to-many relationship, in order.
  public final func managedArray<Member: NSManagedObject>(
    _ key: ManagedKey, of type: Member.Type = Member.self
  ) -> [Member] {
    members(key, Member.self, isOrdered: true)
  }

  /// The same as a property of Apple's generated classes.
  public final func managedOrderedSet(_ key: ManagedKey) -> NSOrderedSet {
    NSOrderedSet(array: members(key, NSManagedObject.self, isOrdered: true))
  }

  private final func members<Member: NSManagedObject>(
    _ key: ManagedKey, _ type: Member.Type, isOrdered: Bool
  ) -> [Member] {
    let shape: AccessorType = .toMany(Member.self, isOrdered: isOrdered)
    if needsSlowAccess, let recorder = recorderOrSlowAccess(key, shape) { return recorder.members(key.name) }
    let slot: Int = key.slot(of: self, shape)
    // The value of a fetched property is the result of its request.
    if runtime.compactSlots[slot].role == .other { return objectValue(slot) as? [Member] ?? [] }
    return members(slot).map { member in
      if let typed = member as? Member { return typed }
      refuse(member, key, Member.self)
    }
  }

  private final func refuse(_ object: NSManagedObject, _ key: ManagedKey, _ type: Any.Type) -> Never {
    fatalError(
      """
      \(runtime.layout.name).\(key.name) leads to an object of the class \(Swift.type(of: object)) (entity \
      \(object.runtime.layout.name)), and its accessor in the class \(Swift.type(of: self)) takes it for \(type). Set the class of that \
      entity in the model, or change the accessor's type.
      """)
  }

  /// Replaces the members of a to-many relationship and maintains the inverses; the order counts for an
  /// ordered one.
  public final func setManagedMembers(_ members: some Sequence<NSManagedObject>, _ key: ManagedKey) {
    setMembers(key.slot(of: self, .toMany(NSManagedObject.self, isOrdered: nil)), Array(members))
  }

  /// The same for properties of Apple's generated classes. nil removes all.
  @_disfavoredOverload
  public final func setManagedMembers(_ members: NSSet?, _ key: ManagedKey) {
    setObjectValue(members, key.slot(of: self, .toMany(NSManagedObject.self, isOrdered: false)))
  }

  @_disfavoredOverload
  public final func setManagedMembers(_ members: NSOrderedSet?, _ key: ManagedKey) {
    setObjectValue(members, key.slot(of: self, .toMany(NSManagedObject.self, isOrdered: true)))
  }

  /// The same for a property that is optional. nil removes all.
  @_disfavoredOverload
  public final func setManagedMembers<Member: NSManagedObject>(
    _ members: (some Sequence<Member>)?, _ key: ManagedKey
  ) {
    setMembers(
      key.slot(of: self, .toMany(NSManagedObject.self, isOrdered: nil)), members.map { Array($0) } ?? [])
  }

  /// Adds a member (at the end of an ordered relationship) and maintains its inverse. Does not load the other
  /// members.
  public final func addManagedMember(_ member: NSManagedObject, _ key: ManagedKey) {
    link(key.slot(of: self, .toMany(NSManagedObject.self, isOrdered: nil)), member)
  }

  /// Removes a member and maintains its inverse. Does not load the other members.
  public final func removeManagedMember(_ member: NSManagedObject, _ key: ManagedKey) {
    unlinkMember(key.slot(of: self, .toMany(NSManagedObject.self, isOrdered: nil)), member)
  }
}
