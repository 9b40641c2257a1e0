import CoreDataModel
import CoreDataStorage

/// The tables and columns of every entity and property of a model in one database.
///
/// The compiler of statements takes all names from this value and never makes one, so another database layout
/// is another way of filling a `StoreSchema` (``SQLLayout``), not another compiler:
///
///     StoreSchema(layout: layout)                          a fresh store in Apple's layout
///     StoreSchema(layout: layout, database: existing)      an existing file in Apple's layout
///     StoreSchema(layout: layout, rules: rules)            a fresh store in another layout
///
/// An example, `Page.book → Book` with sub-entity `GraphicNovel`:
///
///     page                                             book
///     key │ entity │ version │ book │ book's entity    key │ entity │ version │ title
///      7  │  4     │  1      │  3 ──┼── 2 ──────────►   3  │  2     │  1      │ …     a GraphicNovel (number 2)
package struct StoreSchema: Sendable {
  package let layout: ModelLayout
  /// The SQL dialect of the database.
  package let dialect: any SQLDialect
  /// How columns hold values.
  package let encoding: any ValueEncoding
  /// One table for each root entity, in the order of their numbers; roots that are not in the store have
  /// none.
  package let tables: [TableSchema]
  package let joinTables: [JoinTable]
  /// By entity index: position in `tables`; nil for an entity that is not in the store's configuration.
  package let tablePosition: [Int?]
  /// By entity index: the entity's number in this database.
  package let entityNumbers: [Int]
  /// By entity index, then slot.
  package let storage: [[SlotStorage]]
  /// Entity number → entity index; -1 for a number without entity in the model. Numbers start at 1, so 0 is
  /// -1.
  package let indexOfNumber: [Int]
  /// The R-tree indexes of the database that its triggers keep up to date, for fetches to use.
  package var trees: [RTree] = []
  /// By position in `tables`: the columns of each index that may serve an order.
  let indexedOrders: [[[OrderedColumn]]]

  init(
    layout: ModelLayout, dialect: any SQLDialect, encoding: any ValueEncoding, tables: [TableSchema],
    joinTables: [JoinTable], tablePosition: [Int?],
    entityNumbers: [Int], storage: [[SlotStorage]]
  ) {
    self.layout = layout
    self.dialect = dialect
    self.encoding = encoding
    self.tables = tables
    self.joinTables = joinTables
    self.tablePosition = tablePosition
    self.entityNumbers = entityNumbers
    self.storage = storage
    var indexOfNumber = [Int](repeating: -1, count: (entityNumbers.max() ?? 0) + 1)
    for (index, number) in entityNumbers.enumerated() where number > 0 { indexOfNumber[number] = index }
    self.indexOfNumber = indexOfNumber
    indexedOrders = Self.indexedOrders(
      of: layout, tablePosition: tablePosition, storage: storage, tableCount: tables.count)
  }

  /// The table that holds an entity's rows. Throws for an entity that is not in the store's configuration.
  package func table(of entity: Int) throws -> TableSchema {
    guard let position = tablePosition[entity] else {
      throw StoreError.unsupportedModel(
        entity: layout.entities[entity].name, property: nil,
        reason: "the entity is not in the configuration of this store, so there is no table for it")
    }
    return tables[position]
  }

  package func entityNumber(of entity: Int) -> Int { entityNumbers[entity] }

  /// The entity with a number, nil if the model has no such entity.
  @inlinable
  package func entityIndex(ofNumber number: Int) -> Int? {
    guard number > 0, number < indexOfNumber.count else { return nil }
    let index: Int = indexOfNumber[number]
    return index < 0 ? nil : index
  }

  package func storage(of entity: Int, slot: Int) -> SlotStorage { storage[entity][slot] }

  /// The column of an attribute, or with the keys of a to-one relationship; nil for a property without one.
  package func column(of entity: Int, slot: Int) -> String? { storage[entity][slot].column }

  /// The attribute of a column, and the entity that declares it; nil for other columns. Names in any case.
  package func attribute(ofColumn column: String, in table: String) -> (entity: Int, name: String)? {
    for found in tables where found.name.uppercased() == table.uppercased() {
      for entity in layout.entities[found.root].family {
        for (number, slot) in layout.entities[entity].slots.enumerated()
        where slot.declaringEntity == entity {
          guard case .attribute(let known) = storage[entity][number],
            known.name.uppercased() == column.uppercased()
          else { continue }
          return (entity, slot.name)
        }
      }
    }
    return nil
  }

  /// The same for a property by its name; nil also if the entity has no such property.
  package func column(of entity: EntityLayout, named property: String) -> String? {
    entity.slotByName[property].flatMap { column(of: entity.index, slot: $0) }
  }
}

/// The table of one hierarchy of entities.
package struct TableSchema: Sendable, Hashable {
  package var name: String
  /// The root entity's index.
  package var root: Int
  /// The root entity's number in the database.
  package var rootNumber: Int
  package var key: String
  /// The column with the number of a row's entity; nil if all rows are of one entity.
  package var entity: String?
  package var version: String
  /// All columns but the three above, in the order of creation.
  package var columns: [ColumnSchema] = []

  init(name: String, root: Int, rootNumber: Int, key: String, entity: String?, version: String) {
    self.name = name
    self.root = root
    self.rootNumber = rootNumber
    self.key = key
    self.entity = entity
    self.version = version
  }

  /// The number of a row's entity.
  func entityNumber(_ alias: String?) -> SQLExpression {
    entity.map { .column(alias, $0) } ?? .integer(Int64(rootNumber))
  }
}

/// A column as the layout creates it.
package struct ColumnSchema: Sendable, Hashable {
  package var name: String
  /// The kind of its values; `.toOne` for all columns that hold a key or a number of the store's own.
  package var kind: ColumnKind
  /// The entity index and slot the column belongs to. A hidden key's are those of the to-many relationship.
  package var owner: Int
  package var slot: Int
  package var purpose: Purpose

  package enum Purpose: Sendable, Hashable {
    case attribute, toOneKey, toOneEntity, order, hiddenKey
  }
}

/// A table of pairs for a many-to-many relationship.
package struct JoinTable: Sendable, Hashable {
  package var name: String
  /// The column with the keys of the side that owns the table, then the other one.
  package var ownerKey: String
  package var targetKey: String
  /// Order columns as created, in order: those of an ordered owner relationship and of an ordered inverse.
  package var orderColumns: [String]
  /// The entity and slot that own the table.
  package var entity: Int
  package var slot: Int
}

/// How a database stores a property.
package enum SlotStorage: Sendable, Hashable {
  /// Nothing: transient and fetched properties, and composites, whose elements have columns.
  case none
  case attribute(AttributeColumn)
  case toOne(ToOneColumns)
  case toMany(ToManyStorage)

  /// The column of a single value, or with the keys of a to-one relationship.
  var column: String? {
    switch self {
    case .attribute(let column): column.name
    case .toOne(let columns): columns.key
    case .none, .toMany: nil
    }
  }
}

package struct AttributeColumn: Sendable, Hashable {
  package var name: String
  package var kind: ColumnKind
  /// Whether values carry a tag byte (`01` inline, `02` name of a file) because the attribute allows external
  /// storage.
  package var isTagged: Bool
}

package struct ToOneColumns: Sendable, Hashable {
  /// The target's key.
  package var key: String
  /// The target's entity number, if the destination has sub-entities.
  package var entity: String?
  /// The position among the members of an ordered inverse.
  package var order: String?
}

/// How the members of a to-many relationship are found.
package enum ToManyStorage: Sendable, Hashable {
  /// A column of the members' table holds the owner's key: the inverse to-one's column, or a hidden one.
  case foreignKey(ForeignKeyMembers)
  case joinTable(JoinTableMembers)
}

package struct ForeignKeyMembers: Sendable, Hashable {
  package var table: String
  package var key: String
  /// The owner's entity number, beside `key`, if the inverse has such a column.
  package var entity: String?
  package var order: String?
  /// Whether the column belongs to no property of the model (a to-many without inverse).
  package var isHidden: Bool
}

package struct JoinTableMembers: Sendable, Hashable {
  package var table: String
  /// The column with the key of the object whose members are read.
  package var owner: String
  package var member: String
  /// The members' order, for an ordered relationship.
  package var order: String?
  /// The owners' order in the member's inverse relationship, if that is ordered.
  package var inverseOrder: String?
  /// A relationship that is its own inverse: Clarus writes a pair in both directions; a reader accepts a pair
  /// in either.
  package var isReflexive: Bool
}
