import CoreDataModel
import CoreDataStorage

/// A migration in place, complete: what to check, what to run, what to prove. Made by ``MigrationPlanner``
/// from values alone, so that it can be printed and tested without a database.
package struct InPlaceMigration: Sendable {
  package let old: StoreSchema
  package let new: StoreSchema
  /// In the order in which they run, without the store's metadata and its model, which the engine writes
  /// last.
  package let steps: [MigrationStep]
  package let obstacles: [String]
  package let checks: [MigrationCheck]
  /// What does not stop the migration, but is worth knowing before.
  package let surveys: [MigrationCheck]
  package let counts: [CountProof]
  /// Columns of the old schema whose values may be in files that nothing refers to afterwards.
  package let externalColumns: [ExternalColumn]

  /// The first table, index or R-tree of the new schema that a database lacks.
  package func missingDefinition(in facts: MigrationFacts) -> String? {
    let names: Set<String> = Set(
      facts.objects.filter { $0.kind == .table }.map { DatabaseNames.fold($0.name) })
    for table in new.tables.map(\.name) + new.joinTables.map(\.name)
    where !names.contains(DatabaseNames.fold(table)) {
      return "Table \(table)"
    }
    return SchemaDrift(new, facts).missingDefinitions().first
  }

  package struct ExternalColumn: Sendable, Hashable {
    package var table: String
    package var column: String
  }
}

/// A question about the contents whose answer, a number, must be 0.
package struct MigrationCheck: Sendable {
  package enum Subject: Sendable, Hashable {
    case missingValues(entity: String, property: String)
    case abstractRows(entity: String)
    case duplicates(entity: String, properties: [String])
    /// References to objects that are not there.
    case lostReferences(entity: String, property: String)
  }

  package let subject: Subject
  package let select: SelectStatement

  package var statement: CompiledStatement { SQLRenderer.statement(select, dialect: SQLiteDialect()) }

  /// nil for what stops no migration.
  package func problem(count: Int64) -> MigrationProblem? {
    switch subject {
    case .lostReferences: nil
    case .missingValues(let entity, let property):
      .missingValues(entity: entity, property: property, count: count)
    case .abstractRows(let entity): .abstractRows(entity: entity, count: count)
    case .duplicates(let entity, let properties):
      .duplicates(entity: entity, properties: properties, count: count)
    }
  }
}

extension MigrationCheck {
  package func note(count: Int64) -> String? {
    guard case .lostReferences(let entity, let property) = subject else { return nil }
    return "\(count) reference(s) of \(entity).\(property) lead to objects that are not in the store."
  }
}

/// The rows of one table afterwards: as many of each entity as there were of its source.
package struct CountProof: Sendable {
  package struct Source: Sendable {
    package let table: String
    package let number: Int
  }

  package let table: String
  /// By the new number of the entity; none for an entity without source.
  package let sources: [Int: Source]
  /// By the new number of the entity.
  package let names: [Int: String]
  /// Whether the migration adds or removes rows of the table.
  package let isTouched: Bool
}

/// That a copy has the same rows: each select yields the number of rows and a fingerprint of each column, and
/// those of the sources add up to that of the copy.
package struct CopyProof: Sendable {
  package let table: String
  package let columns: [String]
  let sources: [SelectStatement]
  let result: SelectStatement

  package var sourceStatements: [CompiledStatement] {
    sources.map { SQLRenderer.statement($0, dialect: SQLiteDialect()) }
  }
  package var resultStatement: CompiledStatement { SQLRenderer.statement(result, dialect: SQLiteDialect()) }
}

/// Tables and columns of the old schema by the names that they have after the renaming steps.
struct CurrentNames {
  private var tables: [String: String] = [:]
  private var columns: [String: [String: String]] = [:]

  mutating func rename(table: String, to name: String) { tables[table] = name }
  mutating func rename(columns names: [String: String], of table: String) { columns[table] = names }

  func table(_ name: String) -> String { tables[name] ?? name }
  func column(_ name: String, of table: String) -> String { columns[table]?[name] ?? name }
}
