import CoreDataModel
import Foundation

/// A model's relationships and constraints as the in-memory engine keeps them, computed once for each engine.
///
/// Rows hold to-one values only. The further data of a to-many relationship is a *link*, of which there are
/// four kinds:
///
///     kind       the model says                 what is kept
///     toOne      inverse is a to-one            nothing of its own: an index over that to-one's word
///     join       inverse is a to-many           pairs, readable from both sides
///     symmetric  the relationship is its own    pairs, each readable from both ends
///                inverse
///     hidden     no inverse                     for each member its one owner, as the hidden column of a
///                                               SQLite store does
///
/// Either side of a link may be ordered; then it keeps a position for each pair.
final class InMemorySchema: Sendable {

  enum LinkKind: Sendable, Equatable {
    /// The to-one word is `word` in rows of `member` and its sub-entities.
    case toOne(member: Int, word: Int)
    case join
    case symmetric
    case hidden
  }

  struct Link: Sendable {
    var kind: LinkKind
    /// The entity at the forward side (the one whose keys are looked up in `forward`) and at the other.
    var owner: Int
    var member: Int
    var isForwardOrdered: Bool
    var isBackwardOrdered: Bool
  }

  /// The end of a link that belongs to a to-many slot.
  struct Side: Sendable {
    var link: Int
    var isForward: Bool
    var isOrdered: Bool
    /// Members must be of this entity or a sub-entity of it.
    var destination: Int
  }

  /// A group of stored values that must be unique among the rows of an entity and its sub-entities.
  struct Constraint: Sendable {
    var entity: Int
    var names: [String]
    var columns: [(kind: ColumnKind, word: Int)]
  }

  let layout: ModelLayout
  /// Whether the rows of all hierarchies are numbered in one sequence.
  let hasOneKeySequence: Bool
  let links: [Link]
  let constraints: [Constraint]
  /// entity index → slot → the link of a to-many slot.
  let sides: [[Side?]]
  /// entity index → the to-one words that are indexed.
  let indexedWords: [[(word: Int, link: Int)]]
  /// entity index → the links whose pairs are removed with a row, and the row's side in them.
  let pairLinks: [[(link: Int, isForward: Bool)]]
  /// entity index → numbers of the constraints that apply to its rows.
  let constraintsOf: [[Int]]
  /// entity index → the words that refer to the tail.
  let tailWords: [[Int]]
  /// The attributes that the store computes at each save.
  let derived: [DerivedSlot]
  /// entity index → numbers of the derived attributes its rows have.
  let derivedOf: [[Int]]
  /// The links that index to-one words, by word and the entity that declares it.
  let indexByWord: [Address: Int]

  /// Throws `StoreError.unsupportedModel` for a uniqueness constraint that names anything but stored values,
  /// and for a derived attribute with an expression that can't be derived.
  init(layout: ModelLayout, hasOneKeySequence: Bool = false) throws {
    self.layout = layout
    self.hasOneKeySequence = hasOneKeySequence
    try layout.checkNames()
    try layout.checkComposites()
    derived = try layout.derivedSlots()
    var derivedOf: [[Int]] = Array(repeating: [], count: layout.entities.count)
    for (number, derived) in derived.enumerated() {
      for entity in layout.entities[derived.place.entity].family { derivedOf[entity].append(number) }
    }
    self.derivedOf = derivedOf
    (links, sides) = InMemorySchema.makeLinks(layout)
    constraints = try InMemorySchema.makeConstraints(layout)

    var indexedWords: [[(word: Int, link: Int)]] = Array(repeating: [], count: layout.entities.count)
    var pairLinks: [[(link: Int, isForward: Bool)]] = Array(repeating: [], count: layout.entities.count)
    var indexByWord: [Address: Int] = [:]
    for (number, link) in links.enumerated() {
      if case .toOne(let member, let word) = link.kind {
        for entity in layout.entities[member].family { indexedWords[entity].append((word, number)) }
        indexByWord[Address(entity: member, slot: word)] = number
        continue
      }
      for entity in layout.entities[link.owner].family { pairLinks[entity].append((number, true)) }
      if link.kind == .symmetric { continue }
      for entity in layout.entities[link.member].family { pairLinks[entity].append((number, false)) }
    }
    self.indexedWords = indexedWords
    self.pairLinks = pairLinks
    self.indexByWord = indexByWord

    var constraintsOf: [[Int]] = Array(repeating: [], count: layout.entities.count)
    for (number, constraint) in constraints.enumerated() {
      for entity in layout.entities[constraint.entity].family { constraintsOf[entity].append(number) }
    }
    self.constraintsOf = constraintsOf

    tailWords = layout.entities.map { entity in
      entity.slots.compactMap { slot in
        if case .stored(let kind, let word) = slot.role, kind.isInTail { word } else { nil }
      }
    }
  }

  /// The size of a row, its part of the tail included.
  func sizeInBytes(_ row: RowRef) -> Int {
    var size: Int = row.slab.stride
    for word in tailWords[row.entity] where row.hasValue(word) { size += row.byteCount(word) }
    return size
  }

  // MARK: Making

  struct Address: Hashable, Comparable {
    var entity: Int
    var slot: Int
    static func < (left: Address, right: Address) -> Bool {
      (left.entity, left.slot) < (right.entity, right.slot)
    }
  }

  private static func makeLinks(_ layout: ModelLayout) -> ([Link], [[Side?]]) {
    var links: [Link] = []
    var numberByAddress: [Address: Int] = [:]
    var sides: [[Side?]] = layout.entities.map { Array(repeating: nil, count: $0.slots.count) }

    /// The link with an address, made at the first use.
    func link(_ address: Address, _ make: () -> Link) -> Int {
      if let known = numberByAddress[address] { return known }
      links.append(make())
      numberByAddress[address] = links.count - 1
      return links.count - 1
    }

    func side(_ slot: PropertySlot, at own: Address, destination: EntityLayout) -> Side {
      let isOrdered: Bool = slot.relationship?.isOrdered ?? false
      func new(_ kind: LinkKind) -> Link {
        Link(
          kind: kind, owner: own.entity, member: destination.index, isForwardOrdered: isOrdered,
          isBackwardOrdered: false)
      }
      func forward(_ number: Int) -> Side {
        if isOrdered { links[number].isForwardOrdered = true }
        return Side(link: number, isForward: true, isOrdered: isOrdered, destination: destination.index)
      }
      guard let inverseSlot = slot.inverseSlot else { return forward(link(own) { new(.hidden) }) }
      let inverse: PropertySlot = destination.slots[inverseSlot]
      let other = Address(entity: inverse.declaringEntity, slot: inverseSlot)
      if case .stored(.toOne, let word) = inverse.role {
        return forward(link(other) { new(.toOne(member: other.entity, word: word)) })
      }
      if other == own { return forward(link(own) { new(.symmetric) }) }
      // If the two relationships do not name each other they are two separate links.
      let isMutual: Bool = inverse.relationship?.inverseRelationship === slot.relationship
      guard inverse.role == .toMany, isMutual, other < own else { return forward(link(own) { new(.join) }) }
      let number: Int = link(other) {
        Link(
          kind: .join, owner: other.entity, member: own.entity, isForwardOrdered: false,
          isBackwardOrdered: isOrdered)
      }
      links[number].isBackwardOrdered = isOrdered
      return Side(link: number, isForward: false, isOrdered: isOrdered, destination: destination.index)
    }

    for entity in layout.entities {
      for (number, slot) in entity.slots.enumerated() where slot.role == .toMany {
        guard let destination = slot.destination else { continue }
        let declaring = Address(entity: slot.declaringEntity, slot: number)
        if declaring.entity != entity.index, let inherited = sides[declaring.entity][number] {
          sides[entity.index][number] = inherited
        } else {
          sides[entity.index][number] = side(
            slot, at: declaring, destination: layout.entities[destination])
        }
      }
    }
    return (links, sides)
  }

  private static func makeConstraints(_ layout: ModelLayout) throws -> [Constraint] {
    var constraints: [Constraint] = []
    for entity in layout.entities {
      for names in entity.entity.uniquenessConstraintNames {
        let columns = try names.map { name -> (kind: ColumnKind, word: Int) in
          guard let slot = entity.slot(named: name), case .stored(let kind, let word) = slot.role else {
            throw StoreError.unsupportedModel(
              entity: entity.name, property: name,
              reason: "the uniqueness constraint (\(names.joined(separator: ", "))) needs a stored attribute")
          }
          if slot.isDerived {
            throw StoreError.unsupportedModel(
              entity: entity.name, property: name,
              reason:
                "an in-memory store checks uniqueness before it derives, so it can't keep the constraint "
                + "(\(names.joined(separator: ", "))); name the attribute that it is derived from, or use a SQLite store"
            )
          }
          return (kind, word)
        }
        constraints.append(Constraint(entity: entity.index, names: names, columns: columns))
      }
    }
    return constraints
  }
}
