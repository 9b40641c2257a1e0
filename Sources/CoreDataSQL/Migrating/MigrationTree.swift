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
