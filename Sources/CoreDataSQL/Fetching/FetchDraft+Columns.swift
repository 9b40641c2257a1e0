extension FetchDraft {
  mutating func selectRows(_ wanted: RowColumns) {
    let table: TableSchema = root.table
    columns =
      [root.key, root.entityNumber, root.column(table.version)] + wanted.names.map { root.column($0) }
  }

  /// Key and entity number, in the order that the rows of the plan have.
  ///
  /// Without an order that is the one in which the database finds them, and an index that has all columns of
  /// a statement is another way to them. The entity number is in an index if a table has several entities:
  ///
  ///     the whole table              by key, as a table is read
  ///     rows of several entities     a column that the index lacks is selected too
  ///     rows of one entity           come by key in both ways
  mutating func selectIDs() {
    columns = [root.key, root.entityNumber]
    guard order.isEmpty else { return }
    if case .truth(true) = condition {
      order = [SQLOrderTerm(root.key, ascending: true)]
    } else if plan.includesSubentities, plan.entity.hasSubentities {
      columns.append(root.column(root.table.version))
    }
  }

  /// A count with a limit counts the limited rows.
  mutating func selectCount() {
    let isLimited: Bool = limitValue != nil || offsetValue != nil
    columns = [isLimited ? .integer(1) : .countRows]
    countsRows = isLimited
  }
}
