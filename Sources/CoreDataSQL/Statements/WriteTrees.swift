// Statements that change rows, as values. The renderer makes their text, as it does for a select.

/// `INSERT INTO table(columns) VALUES(values)`
package struct InsertStatement: Sendable, Hashable {
  /// What happens if the table already has a row with the key.
  package enum Conflict: Sendable, Hashable {
    case fail
    /// The existing row stays, and nothing is inserted.
    case ignore
    /// The existing row is replaced.
    case replace
  }

  /// Whitespace. The text of a trigger is kept in a store's file, where it is identical to Apple's byte for
  /// byte.
  package enum Spacing: Sendable, Hashable {
    /// `t(a, b) VALUES(1, 2)`
    case narrow
    /// `t (a, b) VALUES (1, 2)`
    case wide
    /// `t (a, b, c) VALUES (1, 2 ,2)`: the blank precedes the second comma.
    case rTree
  }

  package var table: String
  package var columns: [String]
  package var values: [SQLExpression]
  package var conflict: Conflict = .fail
  /// Columns of the inserted row that the statement returns.
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
