import CoreDataModel
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB

/// Compares what a migration has written with what was there before, in its transaction.
struct MigrationProof {
  let migration: InPlaceMigration
  /// The file before the migration.
  let facts: MigrationFacts
  let verification: MigrationVerification
  let database: Database
  let url: URL

  /// By old table, then entity number.
  typealias Counts = [String: [Int: Int64]]

  private var counted: [CountProof] {
    switch verification {
    case .structure: []
    case .rows: migration.counts.filter(\.isTouched)
    case .everything: migration.counts
    }
  }

  /// The rows before the migration.
  func counts() throws -> Counts {
    var result: Counts = [:]
    for source in counted.flatMap(\.sources.values) where result[source.table] == nil {
      result[source.table] = try MigrationFacts.counts(of: source.table, database, url: url)
    }
    return result
  }

  /// After the last statement. Returns the rows of the entities that were counted.
  func prove(_ before: Counts, targetEntities: Set<String>?) throws -> [String: Int64] {
    var found: [String: Int64] = [:]
    for table in counted {
      let after: [Int: Int64] = try MigrationFacts.counts(of: table.table, database, url: url)
      for (number, name) in table.names.sorted(by: { $0.key < $1.key }) {
        let expected: Int64 = table.sources[number].map { before[$0.table]?[$0.number] ?? 0 } ?? 0
        let rows: Int64 = after[number] ?? 0
        if rows != expected { throw failure("\(name) has \(rows) rows, but had \(expected).") }
        found[name] = rows
      }
    }
    try proveStructure(targetEntities)
    if verification == .everything {
      let check = try RawStatement(database, "PRAGMA integrity_check(1)", url: url)
      defer { check.reset() }
      if try check.step(), let text = check.text(0), text != "ok" { throw failure("SQLite says: \(text).") }
    }
    return found
  }

  private func proveStructure(_ entities: Set<String>?) throws {
    let facts: MigrationFacts = try .read(database, url: url, counting: false)
    let schema = try StoreSchema(
      layout: migration.new.layout, database: facts.database, entities: entities)
    if schema.entityNumbers != migration.new.entityNumbers {
      throw failure("The numbers of the entities differ from the new model's.")
    }
    if let missing = migration.missingDefinition(in: facts) {
      throw failure("\(missing) is missing.")
    }
  }

  /// A copy of rows, directly after its last statement.
  func prove(_ copy: CopyProof) throws {
    let after: [Int64] = try numbers(copy.resultStatement)
    var before = [Int64](repeating: 0, count: after.count)
    for statement in copy.sourceStatements {
      for (place, number) in try numbers(statement).enumerated() { before[place] &+= number }
    }
    let names: [String] = ["the number of rows", "the entities"] + copy.columns
    for place in after.indices where after[place] != before[place] {
      throw failure("In table \(copy.table), \(names[place]) differ from those that were copied.")
    }
  }

  private func numbers(_ statement: CompiledStatement) throws -> [Int64] {
    let select = try RawStatement(database, statement.sql, url: url)
    defer { select.reset() }
    try select.bind(statement.bindings)
    guard try select.step() else { return [] }
    return (0..<select.columnCount).map { select.integer($0) }
  }

  private func failure(_ what: String) -> StoreError {
    let triggers: [String] = SchemaDrift(migration.old, facts).foreignTriggers()
    return .migration(url: url, .proofFailed(what, triggers: triggers))
  }
}
