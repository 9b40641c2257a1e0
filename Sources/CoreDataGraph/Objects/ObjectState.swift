import CoreDataStorage
import Foundation

/// The slots of an object that has more to say than its row.
final class ObjectState {
  /// One per slot of the layout. Unchecked as `NSManagedObject.state` is.
  @exclusivity(unchecked) var values: [SlotValue]
  /// Slots set since the last fetch or save: what the next save looks at.
  @exclusivity(unchecked) private(set) var changed = SlotSet()
  /// In a child context: what the parent has where it differs from the row, unset elsewhere. nil:
  /// the row tells all.
  @exclusivity(unchecked) var base: [SlotValue]?
  /// Of an object that is inserted again after its row was deleted: the version that was read of that.
  var formerVersion: Int32?
  /// Values noted by `willChangeValue(forKey:)`, until `didChangeValue(forKey:)`; innermost last.
  var noted: [(slot: Int, value: NotedValue)] = []
  /// What was changed in the running event, in order.
  @exclusivity(unchecked) var event: [EventChange] = []
  /// The slots whose value at the start of the event is in `event`.
  @exclusivity(unchecked) private var eventSlots = SlotSet()

  init(values: [SlotValue]) { self.values = values }

  // MARK: What was set

  @inline(__always)
  func noteChange(_ slot: Int) { changed.insert(slot) }

  func forgetChange(_ slot: Int) { changed.remove(slot) }

  func forgetChanges() {
    changed = SlotSet()
    formerVersion = nil
  }

  // MARK: The running event

  /// Keeps what a slot holds, before its first change in an event.
  @inline(__always)
  func rememberValue(_ slot: Int) {
    if eventSlots.contains(slot) { return }
    eventSlots.insert(slot)
    event.append(.value(slot, values[slot]))
  }

  /// Ends the event: hands over what was changed in it.
  func finishEvent() -> [EventChange] {
    eventSlots = SlotSet()
    let changes: [EventChange] = event
    event = []
    return changes
  }

  func toMany(_ slot: Int) -> ToManyState? {
    if case .object(let object) = values[slot] { return object as? ToManyState }
    return nil
  }
}

/// One change of an event, as what it takes to go back.
enum EventChange {
  /// An attribute or to-one: what the slot held; unset: what the row of that time holds.
  case value(Int, SlotValue)
  /// A member that came into a to-many, and where it was put.
  case added(Int, NSManagedObject, MemberPlace, ToManyVersion)
  /// A member that went, and where it was.
  case removed(Int, NSManagedObject, MemberPlace, ToManyVersion)
  /// A member of an ordered to-many that went elsewhere in it, and the one that it stood before; nil:
  /// it was the last.
  case moved(Int, NSManagedObject, NSManagedObject?, ToManyVersion)
}

/// A value as it was before a change.
enum NotedValue {
  case attribute
  case toOne(NSManagedObject?)
  case toMany([NSManagedObject])
}

/// Faults that were made together (the members of a relationship, a page of a fetch); firing one loads all.
final class FaultBatch {
  let layout: EntityLayout
  let store: NSPersistentStore
  let keys: [Int64]

  init(layout: EntityLayout, store: NSPersistentStore, keys: [Int64]) {
    self.layout = layout
    self.store = store
    self.keys = keys
  }
}
