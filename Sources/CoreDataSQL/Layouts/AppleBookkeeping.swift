import CoreDataStorage
import Foundation

/// Apple's tables about the store itself, and the statements that read and write them.
///
///     Z_PRIMARYKEY   Z_ENT (an entity's number), Z_NAME, Z_SUPER, Z_MAX (on a root's row: the highest key)
///     Z_METADATA     Z_VERSION, Z_UUID, Z_PLIST (the store's metadata)
///     Z_MODELCACHE   Z_CONTENT (the model)
package enum AppleBookkeeping {
  package static let entities: String = "Z_PRIMARYKEY"
  package static let metadata: String = "Z_METADATA"
  package static let modelCache: String = "Z_MODELCACHE"
  /// In upper case, as all names here: SQLite ignores the case of names.
  package static let entityNumber: String = "Z_ENT"
  /// The table of persistent history.
  package static let history: String = "ACHANGE"

  static let tables: [String] = [entities, metadata, modelCache]

  // MARK: Creation

  static var definitions: [TableDefinition] {
    [
      TableDefinition(
        entities,
        [
          ColumnDefinition("Z_ENT", "INTEGER", isPrimaryKey: true), ColumnDefinition("Z_NAME", "VARCHAR"),
          ColumnDefinition("Z_SUPER", "INTEGER"), ColumnDefinition("Z_MAX", "INTEGER"),
        ]),
      TableDefinition(
        metadata,
        [
          ColumnDefinition("Z_VERSION", "INTEGER", isPrimaryKey: true),
          ColumnDefinition("Z_UUID", "VARCHAR(255)"), ColumnDefinition("Z_PLIST", "BLOB"),
        ]),
      modelCacheDefinition,
    ]
  }

  private static let modelCacheDefinition = TableDefinition(
    modelCache, [ColumnDefinition("Z_CONTENT", "BLOB")])

  /// For stores from before 2012, which have no such table.
  package static let createModelCache: String = SQLRenderer.text(
    .table(modelCacheDefinition), dialect: SQLiteDialect())

  /// The row of an entity, before any key is allocated.
  static func entityRow(number: Int, name: String, superNumber: Int) -> CompiledStatement {
    SQLRenderer.statement(
      .insert(entity(number: number, name: name, superNumber: superNumber, highestKey: 0)),
      dialect: SQLiteDialect())
  }

  static func entity(number: Int, name: String, superNumber: Int, highestKey: Int64) -> InsertStatement {
    let values: [SQLExpression] = [
      .bound(.integer(Int64(number))), .bound(.text(name)), .bound(.integer(Int64(superNumber))),
      .integer(highestKey),
    ]
    return InsertStatement(into: entities, ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"], values: values)
  }

  /// From this number on, entities are those of persistent history.
  package static let firstHistoryNumber: Int = 16000

  /// All entities of the model.
  static let removeEntities = DeleteStatement(
    from: entities, where: .binary(.less, .column(nil, "Z_ENT"), .integer(Int64(firstHistoryNumber))))

  /// Whether a folded name is that of a table of the framework's own: metadata, keys, history.
  static func isBookkeeping(_ folded: String) -> Bool {
    tables.contains(folded) || historyTables.contains(folded)
  }

  private static let historyTables: Set<String> = [history, "ATRANSACTION", "ATRANSACTIONSTRING"]

  /// Whether a table holds rows of entities.
  package static func holdsRows(_ table: ExistingDatabase.Table) -> Bool {
    Set(table.columns.map(DatabaseNames.fold)).isSuperset(of: AppleNames.fixedColumns)
  }

  /// The lowest and the highest key of a table's rows. In two selects: SQLite finds one end of an index
  /// without a pass over the rows, but not both at once.
  package static func keyRange(of table: String) -> String {
    let key: SQLExpression = .column(nil, AppleNames.key)
    let highest = SelectStatement(columns: [.builtin("max", [key])], source: .table(table, alias: nil))
    return text(
      .select(
        SelectStatement(
          columns: [.builtin("min", [key]), .scalar(highest)], source: .table(table, alias: nil))))
  }

  // MARK: Entities and keys

  /// Rows of number, name, number of the super-entity, highest key.
  package static let readEntities: String = {
    var select = SelectStatement(
      columns: columns("Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"), source: .table(entities, alias: nil))
    select.order = [SQLOrderTerm(.column(nil, "Z_ENT"), ascending: true)]
    return text(.select(select))
  }()

  /// (root's entity number): the highest key that was allocated or is in use. A counter that lags behind, in
  /// a repaired file, must not lead to overwritten rows.
  package static func highestKey(of table: TableSchema) -> String {
    let inUse = SelectStatement(
      columns: [.builtin("max", [.column(nil, table.key)])], source: .table(table.name, alias: nil))
    func orZero(_ value: SQLExpression) -> SQLExpression { .builtin("IFNULL", [value, .integer(0)]) }
    var select = SelectStatement(
      columns: [.builtin("max", [orZero(.column(nil, "Z_MAX")), orZero(.scalar(inUse))])],
      source: .table(entities, alias: nil))
    select.condition = has("Z_ENT", .parameter(1))
    return text(.select(select))
  }

  /// (highest key, root's entity number)
  package static let writeHighestKey: String = text(
    .update(
      UpdateStatement(entities, set: [.init("Z_MAX", .parameter(1))], where: has("Z_ENT", .parameter(2)))))

  /// The number of a table's rows for each entity: the entity's number, and the count.
  package static func countsByEntity(in table: String) -> String {
    var select = SelectStatement(
      columns: [.column(nil, entityNumber), .countRows], source: .table(table, alias: nil))
    select.groups = [.column(nil, entityNumber)]
    return text(.select(select))
  }

  // MARK: Metadata

  /// The UUID and the property list.
  package static let readMetadata: String = {
    var select = SelectStatement(columns: columns("Z_UUID", "Z_PLIST"), source: .table(metadata, alias: nil))
    select.order = [SQLOrderTerm(.column(nil, "Z_VERSION"), ascending: true)]
    select.limit = .integer(1)
    return text(.select(select))
  }()

  package static let readUUID: String = first("Z_UUID", of: metadata)

  /// (UUID, property list)
  package static let updateMetadata: String = text(
    .update(
      UpdateStatement(metadata, set: [.init("Z_UUID", .parameter(1)), .init("Z_PLIST", .parameter(2))])))

  /// (UUID, property list)
  package static let insertMetadata: String = insert(
    metadata, ["Z_VERSION", "Z_UUID", "Z_PLIST"], [.integer(1), .parameter(1), .parameter(2)])

  // MARK: Model

  package static let readModel: String = first("Z_CONTENT", of: modelCache)

  package static let removeModel: String = text(
    .delete(DeleteStatement(from: modelCache, where: .truth(true))))

  /// (blob)
  package static let insertModel: String = insert(modelCache, ["Z_CONTENT"], [.parameter(1)])

  // MARK: Files

  /// The values of any column that have the form of a file's name: a tag byte, 36 characters, and perhaps a
  /// zero byte.
  package static func fileReferences(in column: String, of table: String, tag: UInt8) -> String {
    let value: SQLExpression = .column(nil, column)
    var select = SelectStatement(columns: [value], source: .table(table, alias: nil))
    select.condition = isFileReference(value, tag: tag)
    return SQLRenderer.inlineText(.select(select), dialect: SQLiteDialect())
  }

  /// The same with the number of each row first.
  package static func rowsWithFiles(in column: String, of table: String, tag: UInt8) -> String {
    let value: SQLExpression = .column(nil, column)
    var select = SelectStatement(
      columns: [.column(nil, "rowid"), value], source: .table(table, alias: nil))
    select.condition = isFileReference(value, tag: tag)
    return SQLRenderer.inlineText(.select(select), dialect: SQLiteDialect())
  }

  static func isFileReference(_ value: SQLExpression, tag: UInt8) -> SQLExpression {
    .all([
      .inList(.builtin("length", [value]), [.integer(37), .integer(38)]),
      .binary(
        .equal, .builtin("substr", [value, .integer(1), .integer(1)]), .bound(.blob(Data([tag])))),
    ])
  }

  /// The condition for a value that the layout does not write for an attribute of this kind; nil if any is.
  static func isStrange(_ value: SQLExpression, _ column: AttributeColumn) -> SQLExpression? {
    func isOther(than types: String...) -> SQLExpression {
      .all([
        .isNotNull(value),
        .isNotTrue(.inList(.builtin("typeof", [value]), types.map { .bound(.text($0)) })),
      ])
    }
    func isOfType(_ type: String) -> SQLExpression {
      .binary(.equal, .builtin("typeof", [value]), .bound(.text(type)))
    }
    func isOutside(_ range: ClosedRange<Int64>) -> SQLExpression {
      .any([
        isOther(than: "integer"), .binary(.less, value, .integer(range.lowerBound)),
        .binary(.greater, value, .integer(range.upperBound)),
      ])
    }
    switch column.kind {
    case .int16: return isOutside(Int64(Int16.min)...Int64(Int16.max))
    case .int32: return isOutside(Int64(Int32.min)...Int64(Int32.max))
    case .bool: return isOutside(0...1)
    case .int64: return isOther(than: "integer")
    case .double, .float, .date: return isOther(than: "integer", "real")
    case .decimal:
      // A text that is no number reads as NaN, and a number beyond those of a decimal as another one.
      return .any([
        isOther(than: "integer", "real", "text"),
        .all([
          isOfType("text"), .builtin("glob", [.bound(.text("*[^0-9.eE+-]*")), value]),
          .isNotTrue(.inList(value, ["NaN", "inf", "-inf"].map { .bound(.text($0)) })),
        ]),
        .all([
          isOfType("real"),
          .any([
            .binary(.greaterOrEqual, value, .bound(.real(1e128))),
            .binary(.lessOrEqual, value, .bound(.real(-1e128))),
          ]),
        ]),
      ])
    case .string, .uri:
      return .any([isOther(than: "text"), .builtin(ExaminationStatements.isNoText, [value])])
    case .uuid:
      return .any([
        isOther(than: "blob", "text"),
        .all([
          .isNotNull(value),
          .isNotTrue(.inList(.builtin("length", [value]), [.integer(16), .integer(36)])),
        ]),
      ])
    case .data, .transformable: return isOther(than: "blob")
    case .toOne: return nil
    }
  }

  // MARK: Pieces

  private static func columns(_ names: String...) -> [SQLExpression] { names.map { .column(nil, $0) } }

  private static func has(_ column: String, _ value: SQLExpression) -> SQLExpression {
    .binary(.equal, .column(nil, column), value)
  }

  private static func first(_ column: String, of table: String) -> String {
    var select = SelectStatement(columns: columns(column), source: .table(table, alias: nil))
    select.limit = .integer(1)
    return text(.select(select))
  }

  private static func insert(_ table: String, _ columns: [String], _ values: [SQLExpression]) -> String {
    var insert = InsertStatement(into: table, columns, values: values)
    insert.spacing = .wide
    return text(.insert(insert))
  }

  private static func text(_ tree: RowTree) -> String { SQLRenderer.text(tree, dialect: SQLiteDialect()) }
}
