// What changes rows, as values. The renderer makes their text, as it does a select's.

/// `INSERT INTO table(columns) VALUES(values)`
package struct InsertStatement: Sendable, Hashable {
  /// What happens where a key is in the table already.
  package enum Conflict: Sendable, Hashable {
    case fail
    /// The row that is there stays, and nothing is inserted.
    case ignore
    /// The row that is there goes.
    case replace
  }

  /// Blanks. The text of a trigger is kept in a store's file, where it is Apple's to the byte.
  package enum Spacing: Sendable, Hashable {
    /// `t(a, b) VALUES(1, 2)`
    case narrow
    /// `t (a, b) VALUES (1, 2)`
    case wide
    /// `t (a, b, c) VALUES (1, 2 ,2)`: the blank stands before the second comma.
    case rTree
  }

  package var table: String
  package var columns: [String]
  package var values: [SQLExpression]
  package var conflict: Conflict = .fail
  /// Columns of the inserted row that the statement gives as its result.
  package var returning: [SQLExpression] = []
  package var spacing: Spacing = .narrow

  package init(into table: String, _ columns: [String], values: [SQLExpression]) {
    self.table = table
    self.columns = columns
    self.values = values
  }
}

/// `UPDATE table SET column = value WHERE condition`
package struct UpdateStatement: Sendable, Hashable {
  package struct Assignment: Sendable, Hashable {
    package var column: String
    package var value: SQLExpression

    package init(_ column: String, _ value: SQLExpression) {
      self.column = column
      self.value = value
    }
  }

  package var table: String
  package var assignments: [Assignment]
  package var condition: SQLExpression

  package init(_ table: String, set assignments: [Assignment], where condition: SQLExpression = .truth(true))
  {
    self.table = table
    self.assignments = assignments
    self.condition = condition
  }
}

/// `DELETE FROM table WHERE condition`
package struct DeleteStatement: Sendable, Hashable {
  package var table: String
  package var condition: SQLExpression

  package init(from table: String, where condition: SQLExpression) {
    self.table = table
    self.condition = condition
  }
}

/// Any statement that reads or changes rows.
package enum RowTree: Sendable, Hashable {
  case select(SelectStatement)
  case insert(InsertStatement)
  case update(UpdateStatement)
  case delete(DeleteStatement)
}
