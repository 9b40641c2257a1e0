import CoreDataModel

/// Finds the references of a store to objects that are not there, and nothing else.
///
/// Cost: reads every row and relationship; 16 bytes of memory a row, and a page of rows.
struct ReferenceCheck {
  private let engine: any StoreEngine
  private let scans: [RowScan]
  private let directory: ObjectDirectory

  init(of engine: any StoreEngine) throws {
    self.engine = engine
    scans = try engine.layout.entities.filter { !$0.isAbstract }.map { try RowScan($0, in: engine) }
    directory = ObjectDirectory(scans)
  }

  /// One problem a property.
  func lost() throws -> [StoreProblem] {
    var problems = StoreProblems()
    for scan in scans {
      try scan.forEachPage { page in
        for (number, slot) in scan.entity.slots.enumerated() {
          for owner in try losers(scan, page, number, slot) {
            problems.add(
              StoreProblem(
                .dangling, entity: scan.entity.name, property: slot.name, objects: [owner],
                "\(scan.entity.name).\(slot.name) names an object that does not exist."))
          }
        }
      }
    }
    return problems.all
  }

  /// The objects of a page that name one that is not there, as often as they do.
  private func losers(_ scan: RowScan, _ page: Range<Int>, _ number: Int, _ slot: PropertySlot) throws
    -> [RowID]
  {
    guard let destination = slot.destination.map({ engine.layout.entities[$0] }) else { return [] }
    func isLost(_ key: Int64) -> Bool { !directory.has(key, expected: destination) }
    switch slot.role {
    case .stored(.toOne, let word):
      return try scan.rows(page).filter { $0.hasValue(word) && isLost($0.target(word).key) }.map(\.id)
    case .toMany:
      return try zip(scan.ids(page), scan.members(page, slot: number)).flatMap { owner, members in
        members.filter { isLost($0.key) }.map { _ in owner }
      }
    default: return []
    }
  }
}

extension AtomicEngine {
  /// Members that are not there are in no list of members any more.
  package func lostReferences() throws -> [StoreProblem] { try ReferenceCheck(of: self).lost() + lostPairs() }
}
