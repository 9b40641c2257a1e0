// Renders insertions, updates and deletions.
extension SQLRenderer {
  mutating func write(_ tree: RowTree) {
    switch tree {
    case .select(let select): write(select)
    case .insert(let insert): write(insert)
    case .update(let update): write(update)
    case .delete(let delete):
      sql += "DELETE FROM \(dialect.table(delete.table))"
      write(condition: delete.condition)
    }
  }

  private mutating func write(_ insert: InsertStatement) {
    let frame: (prefix: String, suffix: String) = dialect.insert(insert.conflict)
    let blank: String = insert.spacing == .narrow ? "" : " "
    sql += "\(frame.prefix)\(dialect.table(insert.table))\(blank)("
    names(insert.columns)
    sql += ") VALUES\(blank)("
    for (index, value) in insert.values.enumerated() {
      if index > 0 { sql += index == 2 && insert.spacing == .rTree ? " ," : ", " }
      write(value, inside: .loosest)
    }
    sql += ")\(frame.suffix)"
    if insert.returning.isEmpty { return }
    sql += " RETURNING "
    list(insert.returning)
  }

  private mutating func write(_ update: UpdateStatement) {
    sql += "UPDATE \(dialect.table(update.table)) SET "
    for (index, assignment) in update.assignments.enumerated() {
      if index > 0 { sql += ", " }
      sql += "\(dialect.identifier(assignment.column)) = "
      write(assignment.value, inside: .loosest)
    }
    write(condition: update.condition)
  }

  mutating func write(condition: SQLExpression) {
    if condition == .truth(true) { return }
    sql += " WHERE "
    write(condition, inside: .loosest)
  }

  /// Identifiers separated by commas.
  mutating func names(_ names: [String]) {
    for (index, name) in names.enumerated() {
      if index > 0 { sql += ", " }
      sql += dialect.identifier(name)
    }
  }
}
