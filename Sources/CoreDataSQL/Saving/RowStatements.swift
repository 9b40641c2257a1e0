import CoreDataStorage

/// The statements about rows of one table that an engine needs in addition to those of a fetch: to find a row
/// before it is changed, to read rows by their keys, and to clear unique columns. None depends on values;
/// parameters are listed in the order of their placeholders.
package struct RowStatements: Sendable {
  private let table: TableSchema
  private let dialect: any SQLDialect

  package init(_ table: TableSchema, dialect: any SQLDialect = SQLiteDialect()) {
    self.table = table
    self.dialect = dialect
  }

  /// (key): one row if there is such a row.
  package var find: String { select([.integer(1)], where: table.has(key: .parameter(1))) }

  /// (key, version): the same, with this version. Rows written by hand may have no version, which reads as 0.
  package var check: String {
    select([.integer(1)], where: .all([table.has(key: .parameter(1)), isVersion(.parameter(2))]))
  }

  /// (key): sets the version of a row that has none to 0.
  package var setMissingVersion: String {
    let condition: SQLExpression = .all([
      table.has(key: .parameter(1)), .isNull(.column(nil, table.version)),
    ])
    return text(
      .update(UpdateStatement(table.name, set: [.init(table.version, .integer(0))], where: condition)))
  }

  /// (key, version): sets columns to `NULL`.
  package func clear(_ columns: [String]) -> String {
    let condition: SQLExpression = .all([table.has(key: .parameter(1)), isVersion(.parameter(2))])
    return text(
      .update(UpdateStatement(table.name, set: columns.map { .init($0, .null) }, where: condition)))
  }

  /// (keys): the first bytes of values.
  package func beginnings(of columns: [String], length: Int64, _ keys: KeySelection = .one) -> String {
    select(
      columns.map { .builtin("substr", [.column(nil, $0), .integer(1), .integer(length)]) },
      where: keys.condition(table.key))
  }

  /// (keys): key, entity number, version and columns of rows.
  package func rows(_ columns: [String], count: Int) -> String {
    select(columnsOfRow(columns), where: isAmong(count))
  }

  /// (first key, count): so many rows from a key on, by key. Counting them costs less than comparing each
  /// with a last key.
  package func rowsFrom(_ columns: [String]) -> String {
    select(
      columnsOfRow(columns), where: .binary(.greaterOrEqual, .column(nil, table.key), .parameter(1)),
      order: [SQLOrderTerm(.column(nil, table.key), ascending: true)], limit: .parameter(2))
  }

  /// (keys): key and entity number of rows.
  package func entities(count: Int) -> String { select(identity, where: isAmong(count)) }

  /// (values of columns, key): key and entity number of another row with these values.
  package func other(with columns: [String]) -> String {
    let equal: [SQLExpression] = columns.enumerated().map { place, column in
      .binary(.equal, .column(nil, column), .parameter(place + 1))
    }
    let isOther: SQLExpression = .binary(
      .unequal, .column(nil, table.key), .parameter(columns.count + 1))
    return select(identity, where: .conjunction(equal + [isOther]), limit: .integer(1))
  }

  // MARK: Pieces

  private var identity: [SQLExpression] { [.column(nil, table.key), table.entityNumber(nil)] }

  private func columnsOfRow(_ columns: [String]) -> [SQLExpression] {
    identity + ([table.version] + columns).map { .column(nil, $0) }
  }

  private func isVersion(_ value: SQLExpression) -> SQLExpression {
    .binary(.equal, .builtin(dialect.firstPresent, [.column(nil, table.version), .integer(0)]), value)
  }

  private func isAmong(_ count: Int) -> SQLExpression {
    .inList(.column(nil, table.key), (1...count).map(SQLExpression.parameter))
  }

  private func select(
    _ columns: [SQLExpression], where condition: SQLExpression, order: [SQLOrderTerm] = [],
    limit: SQLExpression? = nil
  ) -> String {
    var select = SelectStatement(columns: columns, source: .table(table.name, alias: nil))
    select.condition = condition
    select.order = order
    select.limit = limit
    return text(.select(select))
  }

  private func text(_ tree: RowTree) -> String { SQLRenderer.text(tree, dialect: dialect) }
}
