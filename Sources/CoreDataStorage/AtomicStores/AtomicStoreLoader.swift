import CoreDataModel
import CoreDataPredicates
import Foundation

/// Collects the objects that a format reads from a file, and makes of them the plan of one save into an empty
/// store.
///
/// A file holds both sides of a relationship. Where they disagree a to-one side prevails over a list of
/// members, as it does in SQLite stores, which have no such list; a listed member without a target gets one.
///
/// A reference to an object that is not in the file is legal: a relationship without an inverse, or with the
/// no-action rule, leaves it behind when the object is deleted. A to-one side keeps it, as SQLite stores do;
/// a list of members leaves it out.
///
/// What can't be read is an error, or left out of a file of which as much as possible is to be read: a value
/// becomes nil, an object is none. What is passed over in any case is noted, for checks of the store.
package final class AtomicStoreLoader {
  package let layout: ModelLayout
  private let url: URL
  /// The entities of the file, as the store's configuration limits them; nil for all.
  private let entityNames: Set<String>?
  /// The classes that objects in transformable values may have; nil if their transformers decide.
  let valueClasses: [AnyClass]?
  /// Keys above this one are damage; allocating more after it must not overflow.
  static let highestKey: Int64 = 1 << 62
  /// Whether references to missing objects, and parts that no store has, are damage.
  let validates: Bool
  /// Whether what can't be read is left out, and noted.
  let leavesOut: Bool
  /// Whether it is noted where the two sides of a relationship disagree.
  let examines: Bool
  /// What was passed over or, if that is wanted, left out.
  private(set) var leftOut = LeftOutParts()
  /// The highest key of an object that is referred to, and may be missing.
  private(set) var highestTarget: Int64 = 0
  private var slabs: [[RowSlab]]
  private var entities: [Int64: Int] = [:]
  private var targets: [Target] = []
  private var lists: [List] = []
  /// To-one relationships that can't be read: what is said of them depends on whether the other side sets
  /// them.
  private var unread: [Unread] = []

  private struct Unread {
    var owner: Place
    var slot: PropertySlot
    var kind: StoreProblem.Kind
    /// The beginning of the clause.
    var what: String
  }

  private struct Target {
    var owner: Place
    var slot: Int
    var key: Int64
  }

  private struct List {
    var owner: Place
    var slot: Int
    var keys: [Int64]
  }

  /// An object that was read.
  package struct Place {
    let entity: Int
    let key: Int64
    fileprivate let slab: RowSlab
    fileprivate let position: Int

    fileprivate var base: UnsafeMutableRawPointer { slab.rows + position * slab.stride }
  }

  package init(layout: ModelLayout, options: StoreOpeningOptions, url: URL) {
    self.layout = layout
    entityNames = options.entityNames
    valueClasses = options.valueClasses
    validates = options.validates
    leavesOut = options.salvages
    examines = options.examines
    self.url = url
    slabs = layout.entities.map { _ in [] }
  }

  private func damage(_ what: String) -> StoreError {
    .invalidFile(url: url, reason: what, cure: .repairing)
  }

  // MARK: Objects

  /// Begins an object. Throws if its key was used before, or its entity has no objects.
  package func begin(_ entity: EntityLayout, key: Int64) throws -> Place {
    if entity.isAbstract || !(entityNames?.contains(entity.name) ?? true) {
      throw damage(
        "It has an object \(key) of \(entity.name), which "
          + (entity.isAbstract ? "is abstract." : "is not in the store's configuration."))
    }
    guard key > 0, key <= Self.highestKey else {
      throw damage("It has an object of \(entity.name) with the id \(key).")
    }
    if let other = entities[key] {
      throw damage(
        "It has two objects with the id \(key), of \(layout.entities[other].name) and \(entity.name).")
    }
    entities[key] = entity.index
    if slabs[entity.index].last?.isFull ?? true {
      slabs[entity.index].append(RowSlab(layout: entity, family: false, rowCapacity: 64))
    }
    let slab: RowSlab = slabs[entity.index][slabs[entity.index].count - 1]
    _ = slab.appendRow(key: key, entity: entity.index, version: 1)
    return Place(entity: entity.index, key: key, slab: slab, position: slab.count - 1)
  }

  /// Sets a number: an integer, a Boolean, a double, a float or a date, by the property's kind.
  package func set(_ place: Place, word: Int, to value: UInt64) {
    place.slab.set(place.base, word: word, to: value)
  }

  /// Whether an attribute was set.
  func hasValue(_ place: Place, word: Int) -> Bool { RowLayout.hasValue(word, place.base) }

  /// Sets text or bytes.
  package func set(_ place: Place, word: Int, to bytes: UnsafeRawBufferPointer) {
    let value: UInt64 = place.slab.appendTail(bytes.baseAddress, count: bytes.count)
    place.slab.set(place.base, word: word, to: value)
  }

  /// Sets a relationship: the keys of its members, in order, or that of its one target. The objects may come
  /// later.
  package func set(_ place: Place, slot: Int, to keys: [Int64]) throws {
    let described: PropertySlot = layout.entities[place.entity].slots[slot]
    if described.isToMany {
      if !keys.isEmpty { lists.append(List(owner: place, slot: slot, keys: keys)) }
      return
    }
    if keys.count > 1 {
      guard leavesOut else {
        throw damage("\(name(place)) has \(keys.count) objects in '\(described.name)', which is to one.")
      }
      return leaveOut(slot, of: place, because: "it has \(keys.count) objects and is to one")
    }
    if let key = keys.first { targets.append(Target(owner: place, slot: slot, key: key)) }
  }

  // MARK: Leaving out

  /// Notes a property of an object that can't be read. `reason` is a part of a sentence.
  func leaveOut(_ slot: Int, of place: Place, because reason: String) {
    let entity: EntityLayout = layout.entities[place.entity]
    let described: PropertySlot = entity.slots[slot]
    if described.isToOne {
      unread.append(
        Unread(owner: place, slot: described, kind: .value, what: "could not be read (\(reason))"))
      return
    }
    let state: String =
      !described.isToMany
      ? "became nil" : described.inverseSlot == nil ? "is empty" : "has only the objects that name it"
    note(
      described.isToMany ? .damage : .value, described, of: place,
      "could not be read (\(reason)), and \(state).")
  }

  /// Notes something about an object: a clause, or more, that follows its property's name, or its entity's.
  func note(_ kind: StoreProblem.Kind, _ slot: PropertySlot?, of place: Place, _ clause: String) {
    let entity: String = layout.entities[place.entity].name
    leftOut.add(
      StoreProblem(
        kind, entity: entity, property: slot?.name, objects: [RowID(entity: place.entity, key: place.key)],
        "\(slot.map { "\(entity).\($0.name)" } ?? entity) \(clause)"))
  }

  /// Notes an object that can't be read, if its entity and its key are known with these. `name`: the entity
  /// as the file calls it.
  func leaveOut(_ entity: EntityLayout?, called name: String = "", key: Int64?, because reason: String) {
    var reason: String = ErrorMessage.closed(reason)
    reason = reason.prefix(1).uppercased() + reason.dropFirst()
    let id: RowID? = entity.flatMap { entity in key.map { RowID(entity: entity.index, key: $0) } }
    leftOut.add(StoreProblem(.row, entity: entity?.name, "\(reason) The object was left out."), object: id)
    if id == nil { leftOut.add(objectOf: entity?.name ?? name, key: key) }
  }

  /// Notes an object of an entity that the model does not have.
  func leaveOut(objectOf unknown: String, key: Int64) {
    leftOut.add(
      StoreProblem(
        .entity, entity: unknown, "The model has no entity '\(unknown)'; its objects were left out."))
    leftOut.add(objectOf: unknown, key: key)
  }

  /// Notes that the end of the file is missing.
  func noteCutOff(atLine line: Int) {
    leftOut.isCutOff = true
    note(
      damage:
        "It is cut off at line \(line): objects that stood behind it are lost, and nothing tells how many.")
  }

  /// Notes what is wrong with the file itself: one sentence, or more.
  func note(damage: String) { leftOut.add(StoreProblem(.damage, damage)) }

  private func name(_ place: Place) -> String { "The \(layout.entities[place.entity].name) \(place.key)" }

  // MARK: The plan

  /// All objects as new rows. Throws if a relationship names an object of a wrong entity.
  package func finish() throws -> SavePlan {
    for target in targets { try resolve(target) }
    // Opening a file is no save.
    var plan: SavePlan = .copying
    for list in lists {
      let slot: PropertySlot = layout.entities[list.owner.entity].slots[list.slot]
      let members: [RowID] = try unique(list.keys).compactMap { key in
        guard let member = try self.target(key, of: list.owner, slot) else { return nil }
        if entities[key] != nil { return member }
        note(
          .dangling, slot, of: list.owner,
          leavesOut ? "named an object that is not there." : "names an object that does not exist.")
        return nil
      }
      let id = RowID(entity: list.owner.entity, key: list.owner.key)
      let isOrdered: Bool = slot.relationship?.isOrdered == true
      if let inverse = slot.inverseSlot, layout.entities[slot.destination ?? 0].slots[inverse].isToOne {
        for member in members { try complete(member, inverse, with: id) }
        if !isOrdered { continue }
        plan.toMany.append(
          ToManyEdit(owner: id, slot: list.slot, added: [], removed: [], ordering: members, appended: []))
      } else {
        plan.toMany.append(
          ToManyEdit(
            owner: id, slot: list.slot, added: members, removed: [], ordering: isOrdered ? members : nil,
            appended: []))
      }
    }
    for entity in layout.entities where !slabs[entity.index].isEmpty {
      plan.inserts.append((entity, RowBatch(slabs: slabs[entity.index])))
    }
    noteUnread()
    if examines { noteOneSided() }
    return plan
  }

  private func noteUnread() {
    for part in unread {
      let isSet: Bool = targetKey(of: part.owner, part.slot) != nil
      note(
        part.kind, part.slot, of: part.owner,
        "\(part.what), and \(isSet ? "is the object whose list has it" : "became nil").")
    }
    unread = []
  }

  private func targetKey(of place: Place, _ slot: PropertySlot) -> Int64? {
    guard case .stored(.toOne, let word) = slot.role, RowLayout.hasValue(word, place.base) else { return nil }
    return place.slab.row(place.position).target(word).key
  }

  // MARK: Sides that disagree

  /// One side of a relationship: that of an object.
  private struct Side: Hashable {
    var owner: Int64
    var slot: Int
  }

  /// Notes pairs that only one side of a relationship names, and what is made of them. One-to-one
  /// relationships have both sides in the rows, where they are compared.
  private func noteOneSided() {
    var named: [Side: Set<Int64>] = [:]
    func add(_ owner: Place, _ slot: Int, _ keys: [Int64]) {
      if layout.entities[owner.entity].slots[slot].inverseSlot == nil { return }
      named[Side(owner: owner.key, slot: slot), default: []].formUnion(keys)
    }
    for target in targets { add(target.owner, target.slot, [target.key]) }
    for list in lists { add(list.owner, list.slot, list.keys) }
    for target in targets { check(target.owner, target.slot, [target.key], named) }
    for list in lists { check(list.owner, list.slot, list.keys, named) }
  }

  private func check(_ owner: Place, _ number: Int, _ keys: [Int64], _ named: [Side: Set<Int64>]) {
    let slot: PropertySlot = layout.entities[owner.entity].slots[number]
    if slot.isToMany, Set(keys).count < keys.count {
      note(.inverse, slot, of: owner, "names an object twice; it counts once.")
    }
    guard let destination = slot.destination.map({ layout.entities[$0] }), let inverse = slot.inverseSlot
    else { return }
    let back: PropertySlot = destination.slots[inverse]
    guard slot.isToMany || back.isToMany else { return }
    for key in unique(keys) {
      guard let entity = entities[key], destination.family.contains(entity),
        !(named[Side(owner: key, slot: inverse)]?.contains(owner.key) ?? false)
      else { continue }
      guard let place = back.isToMany ? nil : placeByKey[key], targetKey(of: place, back) != owner.key else {
        note(
          .inverse, slot, of: owner,
          "names an object whose \(back.name) did not name it in turn, and was taken to do so.")
        continue
      }
      note(
        .inverse, slot, of: owner,
        "named an object whose \(back.name) names another one, and which was left out.")
    }
  }

  private func unique(_ keys: [Int64]) -> [Int64] {
    var seen: Set<Int64> = []
    return keys.filter { seen.insert($0).inserted }
  }

  /// nil for a reference that was left out.
  private func target(_ key: Int64, of owner: Place, _ slot: PropertySlot) throws -> RowID? {
    func leaveOut(_ what: String) {
      if slot.isToMany {
        note(.dangling, slot, of: owner, "\(what).")
      } else {
        unread.append(Unread(owner: owner, slot: slot, kind: .dangling, what: what))
      }
    }
    guard key > 0, key <= Self.highestKey, let destination = slot.destination else {
      if leavesOut {
        leaveOut("named an object with the id \(key), which none has")
        return nil
      }
      throw damage("\(name(owner)) has in '\(slot.name)' an object with the id \(key).")
    }
    guard let entity = entities[key] else {
      if validates {
        throw damage("\(name(owner)) has in '\(slot.name)' the object \(key), which is not in the file.")
      }
      highestTarget = max(highestTarget, key)
      return RowID(entity: destination, key: key)
    }
    guard layout.entities[destination].family.contains(entity) else {
      if leavesOut {
        let wanted: String = layout.entities[destination].name
        leaveOut("named an object that is no \(wanted)")
        return nil
      }
      throw damage(
        "\(name(owner)) has in '\(slot.name)' the object \(key), which is a \(layout.entities[entity].name).")
    }
    return RowID(entity: entity, key: key)
  }

  private func resolve(_ target: Target) throws {
    let slot: PropertySlot = layout.entities[target.owner.entity].slots[target.slot]
    guard case .stored(.toOne, let word) = slot.role else { return }
    guard let id = try self.target(target.key, of: target.owner, slot) else { return }
    target.owner.slab.set(target.owner.base, word: word, toTarget: id)
  }

  /// Sets the to-one side of a listed member that has none.
  private func complete(_ member: RowID, _ slot: Int, with owner: RowID) throws {
    guard let place = placeByKey[member.key] else { return }
    let entity: EntityLayout = layout.entities[place.entity]
    guard entity.slots.indices.contains(slot), case .stored(.toOne, let word) = entity.slots[slot].role
    else { return }
    if RowLayout.hasValue(word, place.base) { return }
    place.slab.set(place.base, word: word, toTarget: owner)
  }

  private lazy var placeByKey: [Int64: Place] = {
    var found: [Int64: Place] = [:]
    for (entity, list) in slabs.enumerated() {
      for slab in list {
        for position in 0..<slab.count {
          let key: Int64 = slab.row(position).key
          found[key] = Place(entity: entity, key: key, slab: slab, position: position)
        }
      }
    }
    return found
  }()
}
