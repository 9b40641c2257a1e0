import CoreDataModel
import CoreDataPredicates
import CoreDataStorage

/// The statements that create a fresh store in the readable layout.
///
///     CREATE SEQUENCE todo.item_key INCREMENT BY 1000
///     CREATE TABLE todo.item (_id bigint PRIMARY KEY DEFAULT nextval('todo.item_key'), …)
///     CREATE TABLE todo.item_tags (item_id bigint NOT NULL REFERENCES todo.item (_id) …, …)
///     ALTER TABLE todo.item ADD CONSTRAINT item_category_id_fk FOREIGN KEY (category_id) REFERENCES …
///     CREATE INDEX item_due_date_idx ON todo.item (due_date ASC NULLS FIRST, _id ASC NULLS FIRST)
///
/// References are checked when a transaction is committed, so rows can be written in any order, and cycles
/// work.
package struct ReadableCreation: Sendable {
  package let schema: StoreSchema
  private let rules: ReadableLayout

  package init(_ schema: StoreSchema, _ rules: ReadableLayout) {
    self.schema = schema
    self.rules = rules
  }

  /// How many keys a process allocates at a time.
  static let keysAtATime: Int = 1000

  /// All statements, in the order to run them.
  package func statements() -> [CompiledStatement] {
    let trees: [SchemaTree] =
      sequences() + tables() + joinTables() + constraints() + indexes()
      + ReadableBookkeeping.definitions.map(SchemaTree.table)
    return trees.map { CompiledStatement(sql: SQLRenderer.text($0, dialect: schema.dialect)) }
      + schema.layout.entities.flatMap { ReadableBookkeeping.rows(of: $0, schema) }
  }

  // MARK: Tables

  private func sequence(of table: TableSchema) -> String { rules.fitted("\(table.name)_key") }

  func sequences() -> [SchemaTree] {
    schema.tables.map { .sequence(sequence(of: $0), step: Self.keysAtATime) }
  }

  func tables() -> [SchemaTree] {
    schema.tables.map { table in
      let next: SQLExpression = .builtin("nextval", [.text(schema.dialect.table(sequence(of: table)))])
      let key = ColumnDefinition(table.key, "bigint", isPrimaryKey: true, standard: next)
      let version = ColumnDefinition(table.version, "integer", isRequired: true, standard: .integer(1))
      let number: [ColumnDefinition] =
        table.entity.map { [ColumnDefinition($0, "integer", isRequired: true)] } ?? []
      let columns: [(rank: Int, definition: ColumnDefinition)] = table.columns.map {
        (rules.rank($0.purpose, $0.kind), ColumnDefinition($0.name, rules.type($0.purpose, $0.kind)))
      }
      // The store's own columns of 4 bytes come before the others of that size.
      let wide: [ColumnDefinition] = columns.filter { $0.rank == 0 }.map(\.definition)
      let narrow: [ColumnDefinition] = columns.filter { $0.rank > 0 }.map(\.definition)
      return .table(TableDefinition(table.name, [key] + wide + [version] + number + narrow))
    }
  }

  func joinTables() -> [SchemaTree] {
    schema.joinTables.compactMap { join in
      let entity: EntityLayout = schema.layout.entities[join.entity]
      guard let owners = try? schema.table(of: entity.index),
        let destination = entity.slots[join.slot].destination,
        let members = try? schema.table(of: destination)
      else { return nil }
      func key(_ name: String, _ table: TableSchema) -> ColumnDefinition {
        ColumnDefinition(
          name, "bigint", isRequired: true,
          reference: ReferenceDefinition(table.name, table.key, cascades: true))
      }
      return .table(
        TableDefinition(
          join.name,
          [key(join.ownerKey, owners), key(join.targetKey, members)]
            + join.orderColumns.map { ColumnDefinition($0, "bigint") },
          primaryKey: [join.ownerKey, join.targetKey]))
    }
  }

  // MARK: Constraints

  func constraints() -> [SchemaTree] {
    let references: [SchemaTree] = schema.tables.flatMap { table in
      table.columns.compactMap { column in
        guard let target = target(of: column) else { return nil }
        return .constraint(
          ConstraintDefinition(
            name: rules.fitted("\(table.name)_\(column.name)_fk"), table: table.name, columns: [column.name],
            rule: .foreignKey(ReferenceDefinition(target.name, target.key, cascades: false))))
      }
    }
    let unique: [SchemaTree] = eachUnique { entity, table, columns in
      entity.superIndex == nil
        ? .constraint(
          ConstraintDefinition(
            name: uniqueName(table, columns), table: table.name, columns: columns, rule: .unique)) : nil
    }
    return references + unique
  }

  /// The table of the objects whose keys are in a column.
  private func target(of column: ColumnSchema) -> TableSchema? {
    switch column.purpose {
    case .toOneKey:
      return schema.layout.entities[column.owner].slots[column.slot].destination.flatMap {
        try? schema.table(of: $0)
      }
    case .hiddenKey: return try? schema.table(of: column.owner)
    case .attribute, .toOneEntity, .order: return nil
    }
  }

  private func uniqueName(_ table: TableSchema, _ columns: [String]) -> String {
    rules.fitted("\(table.name)_unique_\(columns.joined(separator: "_"))")
  }

  private func eachUnique(_ make: (EntityLayout, TableSchema, [String]) -> SchemaTree?) -> [SchemaTree] {
    schema.layout.entities.flatMap { entity -> [SchemaTree] in
      guard let table = try? schema.table(of: entity.index) else { return [] }
      return entity.entity.uniquenessConstraintNames.compactMap { names in
        let columns: [String] = names.compactMap { schema.column(of: entity, named: $0) }
        return columns.count == names.count ? make(entity, table, columns) : nil
      }
    }
  }

  // MARK: Indexes

  func indexes() -> [SchemaTree] {
    let keys: [SchemaTree] = schema.tables.flatMap { table in
      table.columns.filter { target(of: $0) != nil }.map { index(table.name, [$0.name]) }
    }
    let pairs: [SchemaTree] = schema.joinTables.map {
      index($0.name, [$0.targetKey, $0.ownerKey], suffix: "back")
    }
    let fetches: [SchemaTree] = schema.layout.entities.flatMap { entity -> [SchemaTree] in
      guard let table = try? schema.table(of: entity.index) else { return [] }
      return entity.entity.indexes.compactMap { fetchIndex($0, of: entity, table) }
    }
    // A constraint of a sub-entity applies to its rows only, which a constraint of the table can't express.
    let unique: [SchemaTree] = eachUnique { entity, table, columns in
      guard entity.superIndex != nil, let number = table.entity else { return nil }
      let numbers: [SQLExpression] = entity.family.map { .integer(Int64(schema.entityNumbers[$0])) }
      return .index(
        IndexDefinition(
          name: rules.fitted("\(uniqueName(table, columns))_\(ReadableNames.snake(entity.name))"),
          table: table.name, columns: columns.map { .init(.column(nil, $0)) }, isUnique: true,
          condition: .inList(.column(nil, number), numbers)))
    }
    return keys + pairs + fetches + unique
  }

  private func index(_ table: String, _ columns: [String], suffix: String? = nil) -> SchemaTree {
    let name: String = "\(table)_\(suffix ?? columns.joined(separator: "_"))_idx"
    return .index(
      IndexDefinition(
        name: rules.fitted(name), table: table, columns: columns.map { .init(.column(nil, $0)) }))
  }

  /// nil for an index that is not one of columns. The keys at the end give rows with equal values the order
  /// of a fetch.
  private func fetchIndex(
    _ index: NSFetchIndexDescription, of entity: EntityLayout, _ table: TableSchema
  ) -> SchemaTree? {
    let columns: [IndexDefinition.Column] = index.elements.compactMap { element in
      guard element.collationType != .rTree,
        let name = element.propertyName.flatMap({ schema.column(of: entity, named: $0) })
      else { return nil }
      return .init(.column(nil, name), ascending: element.isAscending)
    }
    guard !columns.isEmpty, columns.count == index.elements.count else { return nil }
    let condition: SQLExpression? = index.partialIndexPredicate.flatMap {
      LocalCondition.tree($0, of: entity, schema: schema)
    }
    return .index(
      IndexDefinition(
        name: rules.fitted("\(table.name)_\(ReadableNames.snake(index.name))_idx"), table: table.name,
        columns: columns + [.init(.column(nil, table.key), ascending: true)],
        condition: condition ?? .truth(true)))
  }
}
