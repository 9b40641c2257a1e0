import CoreDataModel

/// References that a copy can't have: to objects that are not there, or of an entity that the relationship
/// does not take. A store that numbers rows anew has no number for the first; a store of one file could not
/// be read again with the others.
struct TransferredReferences {
  private let layout: ModelLayout
  private let directory: ObjectDirectory
  private var noted = StoreProblems()

  /// `rows`: all that are copied.
  init(_ rows: [(layout: EntityLayout, rows: RowBatch)], in layout: ModelLayout) {
    self.layout = layout
    directory = ObjectDirectory(rows: rows)
  }

  /// What was left out, by properties.
  var leftOut: [StoreProblem] { noted.all }

  /// Makes the to-one references of rows nil that lead to no such object.
  mutating func clear(in batch: RowBatch, of entity: EntityLayout) {
    for slot in entity.slots {
      guard case .stored(.toOne, let word) = slot.role,
        let destination = slot.destination.map({ layout.entities[$0] })
      else { continue }
      batch.forEach { row in
        guard row.hasValue(word) else { return }
        let finding: ObjectDirectory.Finding = directory.find(row.target(word).key, expected: destination)
        if case .found = finding { return }
        note(finding, entity, slot, row.id, destination, "it is nil in the copy")
        row.slab.clear(row.base, word: word)
      }
    }
  }

  /// The members of owners that are there, and may be members.
  mutating func kept(_ lists: [[RowID]], of owners: [RowID], _ entity: EntityLayout, _ slot: Int) -> [[RowID]]
  {
    let described: PropertySlot = entity.slots[slot]
    guard let destination = described.destination.map({ layout.entities[$0] }) else { return lists }
    return zip(owners, lists).map { owner, list in
      list.filter { member in
        let finding: ObjectDirectory.Finding = directory.find(member.key, expected: destination)
        if case .found = finding { return true }
        note(finding, entity, described, owner, destination, "it is left out of the copy")
        return false
      }
    }
  }

  private mutating func note(
    _ finding: ObjectDirectory.Finding, _ entity: EntityLayout, _ slot: PropertySlot, _ owner: RowID,
    _ destination: EntityLayout, _ consequence: String
  ) {
    var what: String = "an object that does not exist"
    if case .wrongEntity = finding { what = "an object that is no \(destination.name)" }
    noted.add(
      StoreProblem(
        .dangling, entity: entity.name, property: slot.name, objects: [owner],
        "\(entity.name).\(slot.name) names \(what); \(consequence)."))
  }

  /// Rows that stand for no object, so that no fetch has them, and no copy.
  static func rows(lostBy source: any StoreOperations) throws -> [StoreProblem] {
    guard let examined = source as? any StoreExamining else { return [] }
    return try examined.unreachableRows().map(\.problem).map { problem in
      var problem: StoreProblem = problem
      problem.message += " The copy does not have them."
      return problem
    }
  }

  /// Pairs of which one object is missing: no list of members has them, and no copy.
  static func pairs(lostBy source: any StoreOperations) throws -> [StoreProblem] {
    guard let examined = source as? any StoreExamining else { return [] }
    return try examined.lostPairs().map { problem in
      var problem: StoreProblem = problem
      problem.message += " The copy does not have them."
      return problem
    }
  }
}
