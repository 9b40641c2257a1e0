// Renders the statements of a migration in place.
extension SQLRenderer {
  mutating func write(_ tree: MigrationTree) {
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
