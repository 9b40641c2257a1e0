import CoreDataModel

/// Finds in the rows of a repair what the model requires and is not there: objects that can be read, and not
/// be saved.
///
/// Members of a relationship whose inverse is to one are counted where they name their owner, so that all
/// rows come first.
struct RequiredProperties {
  private(set) var problems = StoreProblems()
  private let layout: ModelLayout
  /// By relationships whose inverse is to one, and that require members: how many each owner has.
  private var counts: [ObjectIdentifier: [Int64: Int]] = [:]

  init(_ layout: ModelLayout) { self.layout = layout }

  /// Whether members are counted by their own references.
  static func isCounted(_ slot: PropertySlot, in layout: ModelLayout) -> Bool {
    guard slot.isToMany, let inverse = slot.inverseSlot, let destination = slot.destination else {
      return false
    }
    return layout.entities[destination].slots[inverse].isToOne
  }

  private static func requires(_ slot: PropertySlot) -> NSRelationshipDescription? {
    guard let relationship = slot.relationship, slot.isToMany, relationship.minCount > 0 else { return nil }
    return relationship
  }

  /// Checks values and references to one object. `lost`: the keys of rows that the new store does not have.
  mutating func check(_ rows: RowBatch, of entity: EntityLayout, without lost: [Int64]) {
    for slot in entity.slots {
      guard case .stored(let kind, let word) = slot.role else { continue }
      let counted: ObjectIdentifier? = countedInverse(of: slot)
      // A composite's elements and derived values are the store's own.
      let isRequired: Bool = !slot.property.isOptional && !slot.isElement && !slot.isDerived
      guard isRequired || counted != nil else { continue }
      rows.forEach { row in
        if lost.contains(row.key) { return }
        if !row.hasValue(word) {
          if isRequired {
            note(
              entity, slot, row.id,
              "is nil, and the model requires \(kind == .toOne ? "an object" : "a value")")
          }
        } else if let counted {
          counts[counted, default: [:]][row.target(word).key, default: 0] += 1
        }
      }
    }
  }

  /// The relationship that a to-one's objects are members of, if it requires members.
  private func countedInverse(of slot: PropertySlot) -> ObjectIdentifier? {
    guard let inverse = slot.inverseSlot, let destination = slot.destination,
      let relationship = Self.requires(layout.entities[destination].slots[inverse])
    else { return nil }
    return ObjectIdentifier(relationship)
  }

  /// Checks the relationships of an entity's objects whose members were counted.
  mutating func check(countsOf entity: EntityLayout, _ keys: [Int64]) {
    for (number, slot) in entity.slots.enumerated() where Self.isCounted(slot, in: layout) {
      guard let relationship = Self.requires(slot) else { continue }
      let counts: [Int64: Int] = counts[ObjectIdentifier(relationship)] ?? [:]
      check(keys.map { (RowID(entity: entity.index, key: $0), counts[$0] ?? 0) }, entity, number)
    }
  }

  /// Checks the numbers of members of a relationship.
  mutating func check(_ members: [(owner: RowID, count: Int)], _ entity: EntityLayout, _ number: Int) {
    let slot: PropertySlot = entity.slots[number]
    guard let relationship = Self.requires(slot) else { return }
    let allowed = MemberCounts(of: relationship)
    for (owner, count) in members where !allowed.allow(count) && count < relationship.minCount {
      note(entity, slot, owner, "has fewer objects than the model requires")
    }
  }

  private mutating func note(_ entity: EntityLayout, _ slot: PropertySlot, _ id: RowID, _ what: String) {
    problems.add(
      StoreProblem(
        .required, entity: entity.name, property: slot.name, objects: [id],
        "\(entity.name).\(slot.name) \(what): the store opens, but these objects can't be saved until that is set."
      ))
  }
}
