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
  static let toldWillSave = ObjectFlags(rawValue: 1 << 15)
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
  /// An undo can bring the deleted object back, with its relationships: see `Recall`.
  static let recallable = ObjectFlags(rawValue: 1 << 22)
  /// Another context has deleted the row, and a merge has told: there is nothing to be saved for it. Stays when the object has left.
  static let deletedElsewhere = ObjectFlags(rawValue: 1 << 23)

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
  /// Slots set since the last fetch or save.
  var changed = SlotSet()
  /// In a child context: what the parent has where it differs from the row, unset elsewhere. nil: the row tells all.
  var base: [SlotValue]?
  /// Values noted by `willChangeValue(forKey:)`, until `didChangeValue(forKey:)`; innermost last.
  var noted: [(slot: Int, value: NotedValue)] = []
  /// What was changed in the running event, in order.
  var event: [EventChange] = []
  /// The slots whose value at the start of the event is in `event`.
  private var eventSlots = SlotSet()

  init(values: [SlotValue]) { self.values = values }

  /// Keeps what a slot holds, before its first change in an event.
  @inline(__always)
  func rememberValue(_ slot: Int) {
    if eventSlots.contains(slot) { return }
    eventSlots.insert(slot)
    event.append(.value(slot, values[slot]))
  }

  /// Keeps the order of a to-many's members before its first change in an event.
  func rememberOrder(_ slot: Int, _ members: ObjectList) {
    if eventSlots.contains(slot) { return }
    eventSlots.insert(slot)
    event.append(.order(slot, members))
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
  /// The members of an ordered to-many.
  case order(Int, ObjectList)
  case added(Int, NSManagedObject)
  case removed(Int, NSManagedObject)
}

/// A value as it was before a change.
enum NotedValue {
  case attribute
  case toOne(NSManagedObject?)
  case toMany([NSManagedObject])
}

/// The members of a to-many relationship of one object, as far as they are known.
final class ToManyState {
  /// nil: not loaded; then the members are those of the store, less `removed`, with `added`. Unchecked as
  /// `NSManagedObject.state` is.
  @exclusivity(unchecked) var members: ObjectList?
  /// Against the last committed state. Not loaded, they may repeat what the store has anyway; no object is in both.
  var added = ObjectList()
  var removed = ObjectList()
  /// Those of `added` and `removed` that the store may or may not have as members; for the others it is known.
  private var uncertain: Set<ObjectIdentifier> = []
  /// An ordered relationship was given a new order.
  var isReordered = false

  init(members: ObjectList?) { self.members = members }

  var isChanged: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

  /// Adds at the end; false if it was a member already, as far as that is known.
  ///
  /// - Parameter isCertain: it is known not to be a member.
  func add(_ object: NSManagedObject, isCertain: Bool) -> Bool {
    if members != nil {
      guard members!.append(object) else { return false }
    } else if added.contains(object) {
      return false
    } else if !isCertain, !removed.contains(object) {
      uncertain.insert(ObjectIdentifier(object))
    }
    if !removed.remove(object) || uncertain.contains(ObjectIdentifier(object)) { added.append(object) }
    return true
  }

  /// False if it was no member, as far as that is known.
  func remove(_ object: NSManagedObject) -> Bool {
    if members != nil {
      guard members!.remove(object) else { return false }
    } else if removed.contains(object) {
      return false
    }
    if !added.remove(object) || uncertain.contains(ObjectIdentifier(object)) { removed.append(object) }
    return true
  }

  /// Whether adding the object changes anything can't be told without the store's members.
  func isUncertain(of object: NSManagedObject) -> Bool {
    members == nil && !added.contains(object) && !removed.contains(object)
  }

  /// Takes the store's members and lays what was changed meanwhile on top.
  func load(_ stored: [NSManagedObject]) {
    var list = ObjectList(stored)
    if !uncertain.isEmpty {
      removed = ObjectList(removed.filter { list.contains($0) })
      added = ObjectList(added.filter { !list.contains($0) })
      uncertain = []
    }
    for object in removed { list.remove(object) }
    for object in added { list.append(object) }
    members = list
  }

  /// Forgets objects whose rows are gone, whatever was done with them. False if there are none.
  func drop(where isGone: (NSManagedObject) -> Bool) -> Bool {
    let gone: [NSManagedObject] = [members ?? ObjectList(), added, removed].flatMap { $0.filter(isGone) }
    for object in gone {
      members?.remove(object)
      added.remove(object)
      removed.remove(object)
      uncertain.remove(ObjectIdentifier(object))
    }
    return !gone.isEmpty
  }

  /// What is now is what the store has.
  func commit() {
    added = ObjectList()
    removed = ObjectList()
    uncertain = []
    isReordered = false
  }
}

/// Objects in order, each once. Appending, removing and membership cost O(1); positions are kept from the first time they
/// are asked for.
struct ObjectList: Sequence {
  private var places: [NSManagedObject?] = []
  private var positions: [ObjectIdentifier: Int]?
  private(set) var count: Int = 0

  init() {}

  init(_ objects: [NSManagedObject]) {
    var seen: Set<ObjectIdentifier> = []
    seen.reserveCapacity(objects.count)
    places = objects.filter { seen.insert(ObjectIdentifier($0)).inserted }
    count = places.count
  }

  var isEmpty: Bool { count == 0 }

  private mutating func index() -> [ObjectIdentifier: Int] {
    if let positions { return positions }
    var made: [ObjectIdentifier: Int] = [:]
    made.reserveCapacity(places.count)
    for (place, object) in places.enumerated() {
      if let object { made[ObjectIdentifier(object)] = place }
    }
    positions = made
    return made
  }

  func contains(_ object: NSManagedObject) -> Bool {
    if let positions { return positions[ObjectIdentifier(object)] != nil }
    return places.contains { $0 === object }
  }

  @discardableResult
  mutating func append(_ object: NSManagedObject) -> Bool {
    if positions == nil { _ = index() }
    guard positions?[ObjectIdentifier(object)] == nil else { return false }
    positions?[ObjectIdentifier(object)] = places.count
    places.append(object)
    count += 1
    return true
  }

  @discardableResult
  mutating func remove(_ object: NSManagedObject) -> Bool {
    if count == 0 { return false }
    if positions == nil { _ = index() }
    guard let place = positions?.removeValue(forKey: ObjectIdentifier(object)) else { return false }
    places[place] = nil
    count -= 1
    if places.count > 32, count < places.count / 2 { compact() }
    return true
  }

  private mutating func compact() {
    places = places.filter { $0 != nil }
    positions = nil
  }

  var objects: [NSManagedObject] { places.compactMap { $0 } }

  struct Iterator: IteratorProtocol {
    fileprivate var places: IndexingIterator<[NSManagedObject?]>

    mutating func next() -> NSManagedObject? {
      while let place = places.next() {
        if let place { return place }
      }
      return nil
    }
  }

  func makeIterator() -> Iterator { Iterator(places: places.makeIterator()) }
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
