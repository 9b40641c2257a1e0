import CoreDataStorage
import Foundation

/// Objects in order, each once. Every operation on one object costs amortised O(1); the data for that
/// (positions, links from each to the next) is made when it is first needed.
struct ObjectList: Sequence {
  /// In order while there are no links; nil where an object was removed.
  private var places: [NSManagedObject?] = []
  private var positions: [ObjectIdentifier: Int]?
  private var links: Links?
  private(set) var count: Int = 0

  /// The order of places; -1 at both ends.
  private struct Links {
    var next: [Int32]
    var previous: [Int32]
    var first: Int32 = -1
    var last: Int32 = -1

    /// Inserts a place before another; -1: at the end.
    mutating func insert(_ place: Int32, before other: Int32) {
      let previous: Int32 = other < 0 ? last : self.previous[Int(other)]
      self.previous[Int(place)] = previous
      next[Int(place)] = other
      if previous < 0 { first = place } else { next[Int(previous)] = place }
      if other < 0 { last = place } else { self.previous[Int(other)] = place }
    }

    mutating func remove(_ place: Int) {
      let (before, after): (Int32, Int32) = (previous[place], next[place])
      if before < 0 { first = after } else { next[Int(before)] = after }
      if after < 0 { last = before } else { previous[Int(after)] = before }
    }
  }

  init() {}

  init(_ objects: [NSManagedObject]) {
    // Members from a store come in the order of their keys.
    if Self.haveRisingKeys(objects) {
      self.init(distinct: objects)
      return
    }
    var seen: Set<ObjectIdentifier> = []
    seen.reserveCapacity(objects.count)
    self.init(distinct: objects.filter { seen.insert(ObjectIdentifier($0)).inserted })
  }

  /// A list of objects that are there once.
  init(distinct objects: [NSManagedObject]) {
    // One by one: the conversion of an array to one of optionals casts each object dynamically.
    places.reserveCapacity(objects.count)
    for object in objects { places.append(object) }
    count = objects.count
  }

  private static func haveRisingKeys(_ objects: [NSManagedObject]) -> Bool {
    for place in objects.indices.dropFirst() where objects[place].key <= objects[place - 1].key {
      return false
    }
    return true
  }

  var isEmpty: Bool { count == 0 }

  // MARK: Looking up

  func contains(_ object: NSManagedObject) -> Bool {
    if let positions { return positions[ObjectIdentifier(object)] != nil }
    return places.contains { $0 === object }
  }

  /// The same, by an index, which is made at the first call if there are many.
  mutating func indexes(_ object: NSManagedObject) -> Bool {
    if positions == nil, places.count > 8 { makePositions() }
    return contains(object)
  }

  private mutating func makePositions() {
    guard positions == nil else { return }
    var made: [ObjectIdentifier: Int] = [:]
    made.reserveCapacity(places.count)
    for (place, object) in places.enumerated() {
      if let object { made[ObjectIdentifier(object)] = place }
    }
    positions = made
  }

  private mutating func makeLinks() {
    guard links == nil else { return }
    let blank = [Int32](repeating: -1, count: places.count)
    var made = Links(next: blank, previous: blank)
    for (place, object) in places.enumerated() where object != nil { made.insert(Int32(place), before: -1) }
    links = made
  }

  /// The object after a member.
  mutating func successor(of object: NSManagedObject) -> NSManagedObject? {
    makePositions()
    guard let place = positions?[ObjectIdentifier(object)] else { return nil }
    if links == nil {
      if place + 1 == places.count { return nil }
      if let next = places[place + 1] { return next }
      makeLinks()
    }
    guard let next = links?.next[place], next >= 0 else { return nil }
    return places[Int(next)]
  }

  func hasSameMembers(as other: ObjectList, inOrder: Bool) -> Bool {
    if count != other.count { return false }
    if inOrder { return elementsEqual(other, by: ===) }
    let members: Set<ObjectIdentifier> = Set(other.map { ObjectIdentifier($0) })
    return allSatisfy { members.contains(ObjectIdentifier($0)) }
  }

  // MARK: Changing

  @discardableResult
  mutating func append(_ object: NSManagedObject) -> Bool {
    makePositions()
    guard positions?[ObjectIdentifier(object)] == nil else { return false }
    addPlace(object, before: -1)
    return true
  }

  /// Inserts an object that is no member before a member; at the end if that is none. Returns whether it is
  /// then the last one.
  @discardableResult
  mutating func insert(_ object: NSManagedObject, before next: NSManagedObject?) -> Bool {
    makePositions()
    guard positions?[ObjectIdentifier(object)] == nil else { return false }
    guard let next, let place = positions?[ObjectIdentifier(next)] else {
      addPlace(object, before: -1)
      return true
    }
    makeLinks()
    addPlace(object, before: Int32(place))
    return false
  }

  private mutating func addPlace(_ object: NSManagedObject, before next: Int32) {
    let place: Int = places.count
    positions?[ObjectIdentifier(object)] = place
    places.append(object)
    count += 1
    guard links != nil else { return }
    links?.next.append(-1)
    links?.previous.append(-1)
    links?.insert(Int32(place), before: next)
  }

  @discardableResult
  mutating func remove(_ object: NSManagedObject) -> Bool {
    if count == 0 { return false }
    makePositions()
    guard let place = positions?.removeValue(forKey: ObjectIdentifier(object)) else { return false }
    places[place] = nil
    count -= 1
    if links != nil {
      links?.remove(place)
    } else {
      while let last = places.last, last == nil { places.removeLast() }
    }
    if places.count > 32, count < places.count / 2 { compact() }
    return true
  }

  private mutating func compact() { self = ObjectList(distinct: objects) }

  /// Arranges the members in the order of another list; objects that are in one list only stay where they
  /// are. Returns the objects that were moved, in the order of moving, each with the object that followed it
  /// before.
  mutating func arrange(like wanted: ObjectList) -> [(object: NSManagedObject, before: NSManagedObject?)] {
    var ranks: [ObjectIdentifier: Int64] = [:]
    ranks.reserveCapacity(count)
    for (rank, object) in enumerated() { ranks[ObjectIdentifier(object)] = Int64(rank) }
    let order: [NSManagedObject] = wanted.filter { ranks[ObjectIdentifier($0)] != nil }
    let stays: [Bool] = AscendingRun.longest(in: order.map { ranks[ObjectIdentifier($0)] })
    var moves: [(object: NSManagedObject, before: NSManagedObject?)] = []
    var next: NSManagedObject?
    for (place, object) in order.enumerated().reversed() {
      if !stays[place] {
        moves.append((object, successor(of: object)))
        remove(object)
        insert(object, before: next)
      }
      next = object
    }
    return moves
  }

  // MARK: Reading

  var objects: [NSManagedObject] {
    var result: [NSManagedObject] = []
    result.reserveCapacity(count)
    for object in self { result.append(object) }
    return result
  }

  var first: NSManagedObject? { first { _ in true } }

  var underestimatedCount: Int { count }

  struct Iterator: IteratorProtocol {
    fileprivate let places: [NSManagedObject?]
    fileprivate let following: [Int32]?
    fileprivate var place: Int

    mutating func next() -> NSManagedObject? {
      if let following {
        guard place >= 0 else { return nil }
        defer { place = Int(following[place]) }
        return places[place]
      }
      while place < places.count {
        defer { place += 1 }
        if let object = places[place] { return object }
      }
      return nil
    }
  }

  func makeIterator() -> Iterator {
    Iterator(places: places, following: links?.next, place: links.map { Int($0.first) } ?? 0)
  }
}
