import CoreDataModel
import CoreDataPredicates
import CoreDataStorage

extension AppleCreation {
  /// Every index of the layout and of the model, each name once.
  ///
  ///     ZCAR_ZOWNER_INDEX ON ZCAR (ZOWNER)                          a to-one or hidden key
  ///     ZCAR_Z_ENT_INDEX ON ZCAR (Z_ENT)                            a table with sub-entities
  ///     Z_1TAGS_Z_13TAGS_INDEX ON Z_1TAGS (Z_13TAGS, Z_1CAREPLANS)  a join table
  ///     Z_Car_maker ON ZCAR (ZMAKER COLLATE BINARY ASC)     an indexed attribute without a fetch index
  ///     Z_Car_byMaker ON ZCAR (ZMAKER COLLATE BINARY ASC, …)        a compound or fetch index
  ///     Z_Car_UNIQUE_plate ON ZCAR (ZPLATE COLLATE BINARY ASC)      a uniqueness constraint
  package func indexes() -> [String] { namedIndexes().flatMap(\.trees).map(text) }

  /// The same as values.
  func namedIndexes() -> [NamedIndex] {
    var taken: Set<String> = []
    var covered: Set<String> = []
    var result: [NamedIndex] = []
    func add(_ index: NamedIndex) {
      if let coverage = index.coverage {
        // Models since 2017 contain the same index twice, in the old form and as a fetch index; and a single
        // to-one column has an index anyway.
        if !covered.insert(coverage).inserted, index.yields { return }
      }
      if taken.insert(DatabaseNames.fold(index.name)).inserted { result.append(index) }
    }
    for table in schema.tables {
      for column in table.columns where column.purpose == .toOneKey || column.purpose == .hiddenKey {
        add(plain("\(table.name)_\(column.name)_INDEX", on: table.name, [column.name]))
      }
      if schema.layout.entities[table.root].hasSubentities {
        add(
          plain(
            "\(table.name)_\(AppleNames.entityNumber)_INDEX", on: table.name, [AppleNames.entityNumber]))
      }
    }
    for join in schema.joinTables {
      add(
        plain(
          "\(join.name)_\(join.targetKey)_INDEX", on: join.name, [join.targetKey, join.ownerKey]))
    }
    for entity in schema.layout.entities {
      guard let position = schema.tablePosition[entity.index] else { continue }
      let table: TableSchema = schema.tables[position]
      for index in entity.entity.indexes { fetchIndex(index, of: entity, on: table).map(add) }
      for (name, parts) in entity.locations {
        let columns: [String] = parts.compactMap { schema.column(of: entity, named: $0) }
        if columns.count == parts.count { add(rTree(name, columns, of: entity, on: table)) }
      }
      // The old form of fetch indexes: it is redundant beside one over the same properties.
      let indexed: Set<[String]> = Set(
        entity.entity.indexes.map { $0.elements.map { $0.propertyName ?? "" } })
      for slot in entity.slots
      where slot.declaringEntity == entity.index && slot.property.isIndexed && slot.attribute != nil {
        guard !indexed.contains([slot.name]) else { continue }
        sorted("Z_\(entity.name)_\(slot.name)", [slot.name], of: entity, on: table).map(add)
      }
      for names in entity.entity.compoundIndexNames where !indexed.contains(names) {
        sorted("Z_\(entity.name)_" + names.joined(separator: "_"), names, of: entity, on: table).map(add)
      }
      for names in entity.entity.uniquenessConstraintNames {
        sorted(
          "Z_\(entity.name)_UNIQUE_" + names.joined(separator: "_"), names, of: entity, on: table,
          isUnique: true
        ).map(add)
      }
    }
    return result
  }

  struct NamedIndex {
    var name: String
    var trees: [SchemaTree]
    /// Table and columns, for an index over all rows.
    var coverage: String?
    /// Whether it is left out when another index covers the same columns.
    var yields: Bool = false
    /// For an R-tree, which is a table.
    var rTree: RTree?
    /// For a uniqueness constraint: the entity that declares it, and its properties.
    var constraint: (entity: String, properties: [String])?

    static func coverage(_ table: String, _ columns: [String]) -> String {
      DatabaseNames.fold("\(table)(\(columns.joined(separator: ",")))")
    }
  }

  private func plain(_ index: String, on table: String, _ columns: [String]) -> NamedIndex {
    let parts: [IndexDefinition.Column] = columns.map { .init(.column(nil, $0)) }
    return NamedIndex(
      name: index, trees: [.index(IndexDefinition(name: index, table: table, columns: parts))],
      coverage: NamedIndex.coverage(table, columns))
  }

  private func part(_ column: String, ascending: Bool) -> IndexDefinition.Column {
    .init(.column(nil, column), collation: "BINARY", ascending: ascending)
  }

  /// nil if a property has no column: a database can't have an index over a transient property.
  private func sorted(
    _ index: String, _ properties: [String], of entity: EntityLayout, on table: TableSchema,
    isUnique: Bool = false
  ) -> NamedIndex? {
    let columns: [String] = properties.compactMap { schema.column(of: entity, named: $0) }
    guard !columns.isEmpty, columns.count == properties.count else { return nil }
    let definition = IndexDefinition(
      name: index, table: table.name, columns: columns.map { part($0, ascending: true) }, isUnique: isUnique)
    return NamedIndex(
      name: index, trees: [.index(definition)],
      coverage: isUnique ? nil : NamedIndex.coverage(table.name, columns), yields: true,
      constraint: isUnique ? (entity.name, properties) : nil)
  }

  private func fetchIndex(
    _ index: NSFetchIndexDescription, of entity: EntityLayout, on table: TableSchema
  ) -> NamedIndex? {
    let elements: [NSFetchIndexElementDescription] = index.elements
    let columns: [String] = elements.compactMap { element in
      // The element of a composite attribute is found by its description, because its name is not unique.
      if let slot = entity.slots.first(where: { $0.isElement && $0.property === element.property }) {
        return schema.column(of: entity, named: slot.name)
      }
      if let computed = element.expressionDescription { return column(of: computed, entity, on: table) }
      return element.propertyName.flatMap { schema.column(of: entity, named: $0) }
    }
    let name = "Z_\(entity.name)_\(index.name)"
    guard !elements.isEmpty, columns.count == elements.count else {
      return computedIndex(name, index, of: entity, on: table)
    }
    if elements.allSatisfy({ $0.collationType == .rTree }) {
      return rTree(index.name, columns, of: entity, on: table)
    }
    let definition = IndexDefinition(
      name: name, table: table.name,
      columns: zip(columns, elements).map { part($0, ascending: $1.isAscending) },
      condition: condition(of: index, entity))
    return NamedIndex(
      name: definition.name, trees: [.index(definition)],
      coverage: definition.condition == .truth(true) ? NamedIndex.coverage(table.name, columns) : nil,
      yields: columns.count == 1 && isToOne(elements[0], of: entity))
  }

  /// An index of values that the database computes from one row's columns:
  ///
  ///     Z_Item_total ON ZITEM ((ZPRICE * ZAMOUNT) COLLATE BINARY ASC)     price * amount
  ///
  /// nil for an expression with constants, which fetches bind and SQLite then does not recognise, and for one
  /// that needs functions of Clarus: a program without them could not write to the table.
  private func computedIndex(
    _ name: String, _ index: NSFetchIndexDescription, of entity: EntityLayout, on table: TableSchema
  ) -> NamedIndex? {
    let parts: [IndexDefinition.Column] = index.elements.compactMap { element in
      let value: SQLExpression? =
        if let computed = element.expressionDescription {
          column(of: computed, entity, on: table).map { .column(nil, $0) }
            ?? computed.expression.flatMap {
              LocalCondition.value($0.expressionNode(), of: entity, schema: schema)
            }
        } else {
          element.propertyName.flatMap { schema.column(of: entity, named: $0) }.map { .column(nil, $0) }
        }
      return value.map { IndexDefinition.Column($0, collation: "BINARY", ascending: element.isAscending) }
    }
    guard !parts.isEmpty, parts.count == index.elements.count,
      index.elements.allSatisfy({ $0.collationType == .binary })
    else { return nil }
    let definition = IndexDefinition(
      name: name, table: table.name, columns: parts, condition: condition(of: index, entity))
    return NamedIndex(name: name, trees: [.index(definition)])
  }

  /// The column of an expression that refers to one: the object itself, its entity, a property. nil for an
  /// expression that has to be computed.
  private func column(
    of computed: NSExpressionDescription, _ entity: EntityLayout, on table: TableSchema
  ) -> String? {
    switch computed.expression?.expressionNode() {
    case .evaluatedObject: table.key
    case .keyPath("entity"): AppleNames.entityNumber
    case .keyPath(let path): schema.column(of: entity, named: path)
    default: nil
    }
  }

  private func isToOne(_ element: NSFetchIndexElementDescription, of entity: EntityLayout) -> Bool {
    element.propertyName.flatMap { entity.slot(named: $0) }?.isToOne ?? false
  }

  /// The condition of a partial index; none if an index can't contain it in SQL: an index over all rows
  /// serves the same fetches.
  private func condition(of index: NSFetchIndexDescription, _ entity: EntityLayout) -> SQLExpression {
    index.partialIndexPredicate.flatMap { PartialIndexCondition.tree($0, of: entity, schema: schema) }
      ?? .truth(true)
  }
}
