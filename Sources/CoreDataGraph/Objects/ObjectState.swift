import CoreDataStorage
import Foundation

/// What an object is in, as bits.
struct ObjectFlags: OptionSet {
  let rawValue: UInt32

  /// Values are not loaded yet (the row may be at hand already; it has not been looked at).
  static let fault = ObjectFlags(rawValue: 1 << 0)
  /// New, changed, or to be deleted, since the last save.
  static let inserted = ObjectFlags(rawValue: 1 << 1)
  static let updated = ObjectFlags(rawValue: 1 << 2)
  static let deleted = ObjectFlags(rawValue: 1 << 3)
  /// Whether the context's list holds the object (it may stay there after the flag above is gone).
  static let inInsertedList = ObjectFlags(rawValue: 1 << 4)
  static let inUpdatedList = ObjectFlags(rawValue: 1 << 5)
  static let inDeletedList = ObjectFlags(rawValue: 1 << 6)
  /// The same since the last objects-did-change notification.
  static let eventInserted = ObjectFlags(rawValue: 1 << 7)
  static let eventUpdated = ObjectFlags(rawValue: 1 << 8)
  static let eventDeleted = ObjectFlags(rawValue: 1 << 9)
  static let eventRefreshed = ObjectFlags(rawValue: 1 << 10)
  static let eventInvalidated = ObjectFlags(rawValue: 1 << 21)
  static let inEventList = ObjectFlags(rawValue: 1 << 11)
  /// Changes are not recorded: the object is being awoken or restored.
  static let untracked = ObjectFlags(rawValue: 1 << 12)
  /// The row is gone from the store; all values read as nil.
  static let inaccessible = ObjectFlags(rawValue: 1 << 13)
  /// Deletion has been passed on along relationships.
  static let propagated = ObjectFlags(rawValue: 1 << 14)
  /// `willSave` was called in the running save, and nothing changed since.
  static let notifiedWillSave = ObjectFlags(rawValue: 1 << 15)
  /// Validated in the running save, and not changed since.
  static let validated = ObjectFlags(rawValue: 1 << 24)
  /// Every access is to be on the context's queue, and is checked: see `ConcurrencyDebug`.
  static let confined = ObjectFlags(rawValue: 1 << 16)
  /// The context went away while the object lived.
  static let orphaned = ObjectFlags(rawValue: 1 << 17)
  /// Reads are told to scopes of Swift's Observation: see `NSManagedObjectContext.tracksObservation`.
  static let tracked = ObjectFlags(rawValue: 1 << 18)
  /// There are observers: `observation` is set.
  static let observed = ObjectFlags(rawValue: 1 << 19)
  /// `awakeFromInsert` was called: once in an object's life, however often it is inserted.
  static let awoken = ObjectFlags(rawValue: 1 << 20)
  /// An undo can bring the deleted object back, with its relationships: see `UndoRetention`.
  static let undoable = ObjectFlags(rawValue: 1 << 22)
  /// Another context has deleted the row, and a merge has told: there is nothing to be saved for it. Stays when the object has left.
  static let remotelyDeleted = ObjectFlags(rawValue: 1 << 23)

  /// A delete rule has deleted the object, and not the program.
  static let cascaded = ObjectFlags(rawValue: 1 << 25)

  /// What an event leaves behind.
  static let event: ObjectFlags = [
    .eventInserted, .eventUpdated, .eventDeleted, .eventRefreshed, .eventInvalidated, .inEventList,
  ]
  /// Any of these, and an access has more to do than to look the value up. One test on the way of every read.
  static let attention: ObjectFlags = [.fault, .confined, .orphaned, .tracked]
}

/// The slots of an object that has more to say than its row.
final class ObjectState {
  /// One per slot of the layout. Unchecked as `NSManagedObject.state` is.
  @exclusivity(unchecked) var values: [SlotValue]
  /// Slots set since the last fetch or save: what the next save looks at.
  @exclusivity(unchecked) private(set) var changed = SlotSet()
  /// In a child context: what the parent has where it differs from the row, unset elsewhere. nil: the row tells all.
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
  func takeEvent() -> [EventChange] {
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
  /// A member of an ordered to-many that went elsewhere in it, and the one that it stood before; nil: it was the last.
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
