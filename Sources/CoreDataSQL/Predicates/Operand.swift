import CoreDataPredicates
import CoreDataStorage

/// The type of an SQL expression, as the predicate language distinguishes types.
package enum ValueType: Sendable, Hashable {
  case integer
  case real
  /// An integer or a real, which may differ from row to row: the number that a text spells.
  case number
  /// A number whose text is decimal, as a decimal column holds it (``DecimalText``): an integer, a
  /// real, or text.
  case decimal
  case string
  case date
  case uuid
  case url
  case data
  /// Bytes after a tag byte, perhaps in a file.
  case externalData
  case transformable

  var isNumber: Bool { self == .integer || self == .real || self == .number || self == .decimal }

  /// Whether two numbers are compared and computed as decimals: one is a decimal, and the other is no double.
  func isDecimal(with other: ValueType) -> Bool {
    (self == .decimal && other != .real) || (other == .decimal && self != .real)
  }

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
    case .integer, .real, .number, .decimal: "a number"
    case .string: "a string"
    case .date: "a date"
    case .uuid: "a UUID"
    case .url: "a URL"
    case .data, .externalData: "data"
    case .transformable: "a transformable value"
    }
  }

  /// The kind for functions that depend on it; nil for a type that the database can't read.
  var scalarKind: ScalarKind? {
    switch self {
    case .integer, .number: .integer
    case .real: .real
    case .decimal: .decimal
    case .string: .string
    case .date: .date
    case .uuid: .uuid
    case .url: .url
    case .data: .data
    case .externalData, .transformable: nil
    }
  }

  /// Throws for a value that only a value transformer or a file can provide.
  func checkReadable(_ text: @autoclosure () -> String) throws {
    guard scalarKind == nil else { return }
    throw StoreError.unsupported(
      part: text(), reason: "the database can't read \(name)", advice: "filter the fetched objects")
  }

  init(_ kind: ScalarKind) {
    switch kind {
    case .boolean, .integer: self = .integer
    case .real: self = .real
    case .decimal: self = .decimal
    case .string: self = .string
    case .date: self = .date
    case .uuid: self = .uuid
    case .url: self = .url
    case .data: self = .data
    }
  }
}

/// One side of a comparison, resolved.
indirect enum Operand {
  case constant(PredicateValue)
  case value(SQLExpression, ValueType)
  case object(JoinedObject)
  /// The entity description of an object.
  case entity(JoinedObject)
  /// The members of a to-many path or of a subquery, or their values.
  case members(Members)
  /// `{a, b}` with parts that are not constant.
  case list([Operand])
  /// `TERNARY(…)` whose branches are not two values of one type.
  case choice(when: SQLExpression, then: Operand, otherwise: Operand)
  /// `a UNION b` and the other set operations.
  case combined(SetOperation, Operand, Operand)

  var constant: PredicateValue? {
    if case .constant(let value) = self { value } else { nil }
  }

  var isNull: Bool { constant?.isNull ?? false }

  /// Throws for a value that only memory can examine: it may be of any kind there, even a collection.
  func checkReadable(_ text: @autoclosure () -> String) throws {
    if case .value(_, let type) = self { try type.checkReadable(text()) }
  }

  /// Applies `body` to the operand, or to each branch if it is a choice, and returns the condition.
  func eachBranch(_ body: (Operand) throws -> SQLExpression) rethrows -> SQLExpression {
    guard case .choice(let test, let then, let otherwise) = self else { return try body(self) }
    return .choice(when: test, then: try then.eachBranch(body), otherwise: try otherwise.eachBranch(body))
  }

  /// Applies `body` to the operand, or to each branch if it is a choice, and returns the operand.
  func mapBranches(_ body: (Operand) throws -> Operand) rethrows -> Operand {
    guard case .choice(let test, let then, let otherwise) = self else { return try body(self) }
    return .choice(when: test, then: try then.mapBranches(body), otherwise: try otherwise.mapBranches(body))
  }
}
