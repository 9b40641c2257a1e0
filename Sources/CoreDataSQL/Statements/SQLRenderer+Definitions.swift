// Renders definitions of tables, indexes and triggers.
extension SQLRenderer {
  mutating func write(_ tree: SchemaTree) {
    switch tree {
    case .table(let table): write(table)
    case .constraint(let constraint): write(constraint)
    case .index(let index): write(index)
    case .rTree(let tree): write(tree)
    case .trigger(let trigger): write(trigger)
    case .sequence(let name, let step):
      sql += "CREATE SEQUENCE \(dialect.table(name)) INCREMENT BY \(step)"
    case .view(let name, let select):
      sql += "CREATE VIEW \(dialect.table(name)) AS "
      write(select)
    }
  }

  // MARK: Tables

  private mutating func write(_ table: TableDefinition) {
    sql += "CREATE TABLE \(dialect.table(table.name)) (\(table.isPadded ? " " : "")"
    for (index, column) in table.columns.enumerated() {
      if index > 0 { sql += ", " }
      write(column)
    }
    if !table.primaryKey.isEmpty {
      sql += ", PRIMARY KEY ("
      names(table.primaryKey)
      sql += ")"
    }
    sql += table.isPadded ? " )" : ")"
  }

  private mutating func write(_ column: ColumnDefinition) {
    sql += "\(dialect.identifier(column.name)) \(column.type)"
    if column.isPrimaryKey { sql += " PRIMARY KEY" }
    if column.isRequired { sql += " NOT NULL" }
    if let standard = column.standard {
      sql += " DEFAULT "
      write(standard, inside: .unary)
    }
    if let reference = column.reference {
      sql += " "
      write(reference)
    }
  }

  private mutating func write(_ reference: ReferenceDefinition) {
    sql += "REFERENCES \(dialect.table(reference.table)) (\(dialect.identifier(reference.column)))"
    if reference.cascades { sql += " ON DELETE CASCADE" }
    sql += " DEFERRABLE INITIALLY DEFERRED"
  }

  private mutating func write(_ constraint: ConstraintDefinition) {
    sql += "ALTER TABLE \(dialect.table(constraint.table)) "
    sql += "ADD CONSTRAINT \(dialect.identifier(constraint.name)) "
    switch constraint.rule {
    case .foreignKey(let reference):
      sql += "FOREIGN KEY ("
      names(constraint.columns)
      sql += ") "
      write(reference)
    case .unique:
      sql += "UNIQUE ("
      names(constraint.columns)
      sql += ") DEFERRABLE INITIALLY IMMEDIATE"
    }
  }

  // MARK: Indexes

  private mutating func write(_ index: IndexDefinition) {
    sql += index.isUnique ? "CREATE UNIQUE INDEX " : "CREATE INDEX "
    sql += "\(dialect.identifier(index.name)) ON \(dialect.table(index.table)) ("
    for (place, column) in index.columns.enumerated() {
      if place > 0 { sql += ", " }
      write(column.value, inside: .unary)
      if let collation = column.collation { sql += " COLLATE \(collation)" }
      guard let ascending = column.ascending else { continue }
      sql += ascending ? " ASC" : " DESC"
      if let nulls = dialect.nullOrder(ascending: ascending) { sql += " \(nulls)" }
    }
    sql += ")"
    write(condition: index.condition)
  }

  private mutating func write(_ tree: RTreeDefinition) {
    sql += "CREATE VIRTUAL TABLE \(dialect.table(tree.name)) USING RTREE "
    sql += "(\(dialect.identifier(tree.key)) INTEGER PRIMARY KEY"
    for bound in tree.bounds { sql += ", \(dialect.identifier(bound)) FLOAT" }
    sql += ")"
  }

  // MARK: Triggers

  private mutating func write(_ trigger: TriggerDefinition) {
    isTrigger = true
    sql += trigger.isTemporary ? "CREATE TEMP TRIGGER " : "CREATE TRIGGER "
    sql += "\(dialect.identifier(trigger.name)) AFTER "
    switch trigger.event {
    case .insert: sql += "INSERT"
    case .delete: sql += "DELETE"
    case .update(let columns):
      sql += columns.isEmpty ? "UPDATE" : "UPDATE OF "
      names(columns)
    }
    sql += " ON \(trigger.isTemporary ? "main." : "")\(dialect.table(trigger.table)) FOR EACH ROW"
    if let condition = trigger.condition {
      sql += " WHEN ("
      write(condition, inside: .loosest)
      sql += ")"
    }
    sql += " BEGIN "
    for statement in trigger.body {
      write(statement)
      sql += trigger.hasWideSemicolons ? " ; " : "; "
    }
    sql += "END"
  }
}
