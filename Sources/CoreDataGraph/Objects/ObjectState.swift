import CoreDataStorage
import Foundation

/// The slots of an object that has values beyond its row.
final class ObjectState {
  /// One for each slot of the layout. Unchecked as `NSManagedObject.state` is.
  @exclusivity(unchecked) var values: [SlotValue]
  /// Slots set since the last fetch or save: the next save examines these.
  @exclusivity(unchecked) private(set) var changed = SlotSet()
  /// In a child context: the parent's values where they differ from the row, unset elsewhere. nil if the row
  /// has all of them.
  @exclusivity(unchecked) var base: [SlotValue]?
  /// For an object that is inserted again after its row was deleted: the version that was read of that row.
  var formerVersion: Int32?
  /// Values recorded by `willChangeValue(forKey:)`, until `didChangeValue(forKey:)`; innermost last.
  var noted: [(slot: Int, value: NotedValue)] = []
  /// The changes of the current event, in order.
  @exclusivity(unchecked) var event: [EventChange] = []
  /// The slots whose value at the start of the event is in `event`.
  @exclusivity(unchecked) private var eventSlots = SlotSet()

  init(values: [SlotValue]) { self.values = values }

  // MARK: Changed slots

  @inline(__always)
  func noteChange(_ slot: Int) { changed.insert(slot) }

  func removeChange(_ slot: Int) { changed.remove(slot) }

  func removeAllChanges() {
    changed = SlotSet()
    formerVersion = nil
  }

  /// Sets a value of an object that is new in this event.
  @inline(__always)
  func setNew(_ slot: Int, _ value: SlotValue) {
    values[slot] = value
    changed.insert(slot)
  }

  // MARK: The current event

  /// Records the value of a slot, before its first change in an event.
  @inline(__always)
  func recordOldValue(_ slot: Int) {
    if eventSlots.contains(slot) { return }
    eventSlots.insert(slot)
    event.append(.value(slot, values[slot]))
  }

  /// Returns the changes at some places, the last ones of the event. The next change of such a value is
  /// recorded again.
  func resumeRecording(after places: Range<Int>) -> [EventChange] {
    for case .value(let slot, _) in event[places] { eventSlots.remove(slot) }
    return Array(event[places])
  }

  /// Ends the event and returns its changes.
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

/// One change of an event, with the data to undo it.
enum EventChange {
  /// An attribute or to-one: the value of the slot; unset: the value in the row of that time.
  case value(Int, SlotValue)
  /// A member that was added to a to-many, and its position.
  case added(Int, NSManagedObject, MemberPlace, ToManyVersion)
  /// A member that was removed, and its position.
  case removed(Int, NSManagedObject, MemberPlace, ToManyVersion)
  /// A member of an ordered to-many that was moved, and the member that followed it before; nil if it was the
  /// last.
  case moved(Int, NSManagedObject, NSManagedObject?, ToManyVersion)
}

/// A value before a change.
enum NotedValue {
  case attribute
  case toOne(NSManagedObject?)
  case toMany([NSManagedObject])
}

/// Faults that were created together (the members of a relationship, a page of a fetch); firing one loads
/// all.
class FaultBatch {
  final let layout: EntityLayout
  final let store: NSPersistentStore
  /// Empty: firing one loads that one.
  final let keys: [Int64]
  private final let origin: RelationshipBatch?
  /// The relationship that led to them, of which more may be read ahead.
  var relationship: RelationshipBatch? { origin }

  init(
    layout: EntityLayout, store: NSPersistentStore, keys: [Int64], relationship: RelationshipBatch? = nil
  ) {
    self.layout = layout
    self.store = store
    self.keys = keys
    origin = relationship
  }
}
