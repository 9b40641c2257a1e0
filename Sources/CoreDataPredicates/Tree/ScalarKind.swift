/// The kind of a single value, known before there is one.
///
/// Raw values are used in SQL statements.
package enum ScalarKind: Int64, Sendable, Hashable {
  case boolean
  case integer
  /// A double.
  case real
  case decimal
  case string
  case date
  case uuid
  case url
  case data
}

extension PredicateValue {
  /// The kind of a single value; nil for nil, collections and objects. An integer above `Int64.max` is a
  /// real, as a database holds it.
  package var scalarKind: ScalarKind? {
    switch self {
    case .bool: .boolean
    case .integer: .integer
    case .unsigned, .double: .real
    case .decimal: .decimal
    case .string: .string
    case .date: .date
    case .uuid: .uuid
    case .url: .url
    case .data: .data
    case .null, .nullObject, .array, .set, .dictionary, .object: nil
    }
  }
}
