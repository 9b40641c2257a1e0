import CoreDataStorage

/// A statement of a migration in place, as a value.
package indirect enum MigrationTree: Sendable, Hashable {
  case create(SchemaTree)
  case rows(RowTree)
  case renameTable(String, to: String)
  case renameColumn(String, of: String, to: String)
  case addColumn(String, type: String, to: String)
  case dropColumn(String, of: String)
  case dropTable(String)
  case dropIndex(String)
  case dropTrigger(String)
  /// `INSERT INTO table (columns) SELECT …`
  case copy(into: String, [String], SelectStatement, ignoresDuplicates: Bool)
  /// Numbers the members of each owner as a fresh order: 2048, 3072, …
  case numberMembers(of: String, order: String, owner: String, by: String)

  package var statement: CompiledStatement { compiled(inlinesValues: false) }
  /// The text with its values, for printing.
  package var text: String { compiled(inlinesValues: true).sql }

  private func compiled(inlinesValues: Bool) -> CompiledStatement {
    var renderer = SQLRenderer(dialect: SQLiteDialect(), inlinesValues: inlinesValues)
    renderer.write(self)
    return CompiledStatement(sql: renderer.sql, bindings: renderer.bindings)
  }
}

extension SQLRenderer {
  fileprivate mutating func write(_ tree: MigrationTree) {
    func name(_ identifier: String) -> String { dialect.identifier(identifier) }
    switch tree {
    case .create(let tree): sql += SQLRenderer.text(tree, dialect: dialect)
    case .rows(let tree): write(tree)
    case .renameTable(let old, let new): sql += "ALTER TABLE \(name(old)) RENAME TO \(name(new))"
    case .renameColumn(let old, let table, let new):
      sql += "ALTER TABLE \(name(table)) RENAME COLUMN \(name(old)) TO \(name(new))"
    case .addColumn(let column, let type, let table):
      sql += "ALTER TABLE \(name(table)) ADD COLUMN \(name(column)) \(type)"
    case .dropColumn(let column, let table): sql += "ALTER TABLE \(name(table)) DROP COLUMN \(name(column))"
    case .dropTable(let table): sql += "DROP TABLE \(name(table))"
    case .dropIndex(let index): sql += "DROP INDEX \(name(index))"
    case .dropTrigger(let trigger): sql += "DROP TRIGGER \(name(trigger))"
    case .copy(let table, let columns, let select, let ignoresDuplicates):
      sql += "INSERT \(ignoresDuplicates ? "OR IGNORE " : "")INTO \(name(table)) ("
      names(columns)
      sql += ") "
      write(select)
    case .numberMembers(let table, let order, let owner, let member):
      sql +=
        "UPDATE \(name(table)) SET \(name(order)) = fresh.place FROM (SELECT rowid AS row, 1024 + 1024 * "
        + "row_number() OVER (PARTITION BY \(name(owner)) ORDER BY \(name(member))) AS place FROM "
        + "\(name(table)) WHERE \(name(owner)) IS NOT NULL) AS fresh "
        + "WHERE fresh.row = \(name(table)).rowid AND \(name(order)) IS NULL"
    }
  }
}

/// One step of a migration in place.
package struct MigrationStep: Sendable {
  package var tree: MigrationTree
  /// What it does, in words.
  package var explanation: String
  /// How many rows it changes, if that was counted.
  package var rows: Int64?
  /// For a unique index: the constraint that it enforces.
  package var constraint: (entity: String, properties: [String])?
  /// What must be true after the step.
  package var proof: CopyProof?

  init(
    _ tree: MigrationTree, _ explanation: String, rows: Int64? = nil,
    constraint: (entity: String, properties: [String])? = nil
  ) {
    self.tree = tree
    self.explanation = explanation
    self.rows = rows
    self.constraint = constraint
  }
}

/// The functions that statements of a migration call; the engine registers them on its connection.
package enum MigrationFunction {
  /// (tagged bytes) → the bytes, read from their file if they are in one.
  package static let untagged: String = "CLARUS_UNTAGGED"
  /// (bytes) → the bytes after the tag of values in rows.
  package static let tagged: String = "CLARUS_TAGGED"
  /// Aggregate (key, value) → a number that depends on all pairs but not on their order.
  package static let fingerprint: String = "CLARUS_FINGERPRINT"
}
