import CoreDataStorage

/// A statement that yields the rows of a projection plan, with the way to read them.
package struct ProjectionStatement: Sendable {
  package var statement: CompiledStatement
  package var columns: [ValueRead]
  /// Whether duplicates are kept and no limit is applied, because `SELECT DISTINCT` can only order by
  /// selected columns.
  package var leavesDuplicates: Bool
}

/// How a value is read from the columns of a result.
package struct ValueRead: Sendable, Hashable {
  package var position: Int
  package var kind: ColumnKind
  /// A tag byte precedes the value (external storage).
  package var isTagged: Bool = false
  /// For an object: the position of its entity number; nil if the entity is always `target`.
  package var entityPosition: Int?
  /// For an object: its declared entity's index.
  package var target: Int = -1
}

/// A value as SQL: the selected columns, and the operand for further expressions.
struct ProjectionValue {
  /// The columns to select, to group by and to find duplicates with: an object's key, then its entity number
  /// if that varies.
  var columns: [SQLExpression]
  var kind: ColumnKind
  var isTagged: Bool = false
  var target: Int = -1
  var operand: Operand
}

extension ColumnKind {
  /// How computed values of a type are read.
  init(_ type: ValueType) {
    switch type {
    case .integer: self = .int64
    case .real, .number: self = .double
    case .decimal: self = .decimal
    case .string: self = .string
    case .date: self = .date
    case .uuid: self = .uuid
    case .url: self = .uri
    case .data, .externalData: self = .data
    case .transformable: self = .transformable
    }
  }
}
