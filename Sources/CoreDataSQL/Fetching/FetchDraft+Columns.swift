extension FetchDraft {
  mutating func selectRows(_ wanted: RowColumns) {
    let table: TableSchema = root.table
    columns =
      [root.key, root.entityNumber, root.column(table.version)] + wanted.names.map { root.column($0) }
  }

  mutating func selectIDs() {
    columns = [root.key, root.entityNumber]
  }

  /// A count with a limit counts the limited rows.
  mutating func selectCount() {
    let isLimited: Bool = limitValue != nil || offsetValue != nil
    columns = [isLimited ? .integer(1) : .countRows]
    countsRows = isLimited
  }
}
