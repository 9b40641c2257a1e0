import CoreDataModel
import CoreDataStorage
import Foundation

/// Reverses a deletion that was overruled in a conflict, with everything that its delete rules did
/// (Decisions/0033):
///
///     objects its cascade reached          restored, unless the program deleted them too or a deletion that stays reaches them
///     objects whose cascade reached it     restored: that deletion would delete it again
///     the deleted target of a to-one       restored: the object would refer to nothing
///     what nullify separated               joined again, unless something else was set in its place since
///
/// The members to be joined are found from the changes before and after the deletion was propagated
/// (`ToManyState.detachedMembers`).
struct DeletionReversal {
  private let context: NSManagedObjectContext
  /// By object: the deleted ones whose cascade reaches it.
  private var causes: [ObjectIdentifier: [NSManagedObject]] = [:]
  private var returning: [NSManagedObject] = []
  private var known: Set<ObjectIdentifier> = []

  init(_ context: NSManagedObjectContext) {
    self.context = context
    for object in context.work.deleted where object.isToBeDeleted {
      for slot in object.runtime.relationshipSlots {
        for (other, _) in object.detachedMembers(slot) {
          if object.deleteRule(slot) == .cascadeDeleteRule { addCause(object, of: other) }
          guard other.isToBeDeleted, let inverse = object.runtime.layout.slots[slot].inverseSlot,
            other.deleteRule(inverse) == .cascadeDeleteRule
          else { continue }
          addCause(other, of: object)
        }
      }
    }
  }

  private mutating func addCause(_ cause: NSManagedObject, of object: NSManagedObject) {
    causes[ObjectIdentifier(object), default: []].append(cause)
  }

  mutating func perform(_ object: NSManagedObject) {
    collect(object)
    context.work.unloadFilteredToManys()
    let isNew: [Bool] = returning.map { $0.identityMap == nil }
    for object in returning { restore(object) }
    for object in returning {
      for slot in object.runtime.relationshipSlots {
        for (other, isStored) in object.detachedMembers(slot) { object.join(other, slot, isStored: isStored) }
      }
    }
    for (object, isNew) in zip(returning, isNew) where !isNew {
      context.clearUpdateIfUnchanged(object)
      object.awakeQuietly { object.awake(fromSnapshotEvents: .mergePolicy) }
      context.noteEvent(.eventRefreshed, of: object)
    }
  }

  private mutating func collect(_ first: NSManagedObject) {
    var waiting: [NSManagedObject] = [first]
    while let object = waiting.popLast() {
      guard known.insert(ObjectIdentifier(object)).inserted else { continue }
      returning.append(object)
      for slot in object.runtime.relationshipSlots {
        let described: PropertySlot = object.runtime.layout.slots[slot]
        for (other, _) in object.detachedMembers(slot) {
          let isNeeded: Bool = !described.isToMany && described.inverseSlot != nil && other.isToBeDeleted
          if isNeeded || object.deleteRule(slot) == .cascadeDeleteRule && isDeletedOnlyByCascade(other) {
            waiting.append(other)
          }
        }
      }
      waiting += causes[ObjectIdentifier(object)] ?? []
    }
  }

  /// Whether an object was deleted only by objects that are restored.
  private func isDeletedOnlyByCascade(_ object: NSManagedObject) -> Bool {
    guard object.flags.contains(.cascaded), object.isToBeDeleted || object.hasLeftUnsaved else {
      return false
    }
    return causes[ObjectIdentifier(object)]?.allSatisfy { known.contains(ObjectIdentifier($0)) } ?? true
  }

  private func restore(_ object: NSManagedObject) {
    context.work.reverseDeletion(of: object)
    // A new object has left the context at the end of the event.
    if object.identityMap == nil { context.insert(object) }
  }
}

extension NSManagedObject {
  /// Never saved, and removed from its context.
  fileprivate final var hasLeftUnsaved: Bool {
    identityMap == nil && row == nil && flags.isDisjoint(with: [.inaccessible, .remotelyDeleted])
  }

  fileprivate final func deleteRule(_ slot: Int) -> NSDeleteRule {
    runtime.layout.slots[slot].relationship?.deleteRule ?? .noActionDeleteRule
  }

  /// The objects from which a deleted object was separated when its deletion was propagated, and whether the
  /// store still has them together.
  fileprivate final func detachedMembers(_ slot: Int) -> [(object: NSManagedObject, isStored: Bool)] {
    if runtime.layout.slots[slot].isToMany { return state?.toMany(slot)?.detachedMembers ?? [] }
    // The deleted object's own to-one stays readable.
    guard let target = toOneTarget(slot) else { return [] }
    return [(target, row != nil && !persistentChanges().contains(slot))]
  }

  /// Joins a restored object with one that it was separated from.
  fileprivate final func join(_ other: NSManagedObject, _ slot: Int, isStored: Bool) {
    guard let context = identityMap?.context, other.identityMap === identityMap,
      !other.flags.contains(.deleted)
    else {
      return
    }
    let inverse: Int? = runtime.layout.slots[slot].inverseSlot
    if let inverse, !other.runtime.layout.slots[inverse].isToMany {
      let now: NSManagedObject? = other.toOneTarget(inverse)
      if now == nil { other.writeToOne(inverse, self) } else if now !== self { return }
    }
    if runtime.layout.slots[slot].isToMany { restoreMember(slot, other, isStored: isStored) }
    if let inverse, other.runtime.layout.slots[inverse].isToMany {
      other.withObservers(of: inverse) { other.restoreMember(inverse, self, isStored: isStored) }
      context.noteEvent(.eventUpdated, of: other)
    }
    context.clearUpdateIfUnchanged(other)
  }

  private final func restoreMember(_ slot: Int, _ member: NSManagedObject, isStored: Bool) {
    let many: ToManyState = toManyState(slot)
    if isStored {
      many.discardRemoval(of: member)
    } else if many.knows(member) != true {
      many.insert(member)
      state?.noteChange(slot)
      identityMap?.context?.noteChange(of: self)
    }
  }
}
