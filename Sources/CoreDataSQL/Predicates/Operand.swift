import CoreDataPredicates
import CoreDataStorage

/// What kind of values an SQL expression yields, as the predicate language tells them apart.
enum ValueType: Hashable {
  case integer
  case real
  /// A number whose text is decimal, as a decimal column holds it (``DecimalText``): an integer, a real, or text.
  case decimal
  case string
  case date
  case uuid
  case url
  case data
  /// Bytes behind a tag byte, perhaps in a file.
  case externalData
  case transformable

  var isNumber: Bool { self == .integer || self == .real || self == .decimal }

  init(_ column: AttributeColumn) {
    switch column.kind {
    case .int16, .int32, .int64, .bool, .toOne: self = .integer
    case .double, .float: self = .real
    case .decimal: self = .decimal
    case .date: self = .date
    case .string: self = .string
    case .uri: self = .url
    case .uuid: self = .uuid
    case .data: self = column.isTagged ? .externalData : .data
    case .transformable: self = .transformable
    }
  }

  /// For messages.
  var name: String {
    switch self {
    case .integer, .real, .decimal: "a number"
    case .string: "a string"
    case .date: "a date"
    case .uuid: "a UUID"
    case .url: "a URL"
    case .data, .externalData: "data"
    case .transformable: "a transformable value"
    }
  }
}

/// One side of a comparison, resolved.
enum Operand {
  case constant(PredicateValue)
  case value(SQLExpression, ValueType)
  case object(ObjectPlace)
  /// The members of a to-many path, with the rest of the path from each member.
  case members(ManyPath)
  /// `{a, b}` with parts that are not constant.
  case list([Operand])
}

/// A path that has met a to-many relationship.
struct ManyPath {
  var owner: ObjectPlace
  var slot: Int
  /// Components after the to-many one.
  var rest: ArraySlice<String>
}
