import Foundation

extension PredicateValue {
  /// The value in the form for programs: numbers and Booleans as `NSNumber`, which casts to every numeric
  /// type that can hold it, as on Apple's systems. An `Int` inside an `Any` would cast to `Int` alone.
  ///
  /// Members of sets and keys of dictionaries stay as in ``anyValue``: `AnyHashable` makes numbers of any
  /// type equal, and `NSDecimalNumber` can't be hashed.
  package var objectValue: Any? {
    switch self {
    case .bool(let value): NSNumber(value: value)
    case .integer(let value): NSNumber(value: value)
    case .unsigned(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .decimal(let value): NSDecimalNumber(decimal: value)
    case .array(let members): members.map { $0.objectValue ?? NSNull() }
    case .dictionary(let entries):
      Dictionary(
        entries.map { ($0.hashableValue, $1.objectValue ?? NSNull()) },
        uniquingKeysWith: { first, _ in first })
    default: anyValue
    }
  }

  /// A value read from an object or computed by an expression, in the form for programs.
  package static func objectValue(of value: Any?) -> Any? {
    guard let value else { return nil }
    if let value = value as? PredicateValue { return value.objectValue }
    // Tested by its type: every NSNumber casts to Bool too.
    let type: Any.Type = Swift.type(of: value)
    guard type == Bool.self || type == Decimal.self || type is any Numeric.Type else { return value }
    return PredicateValue(normalizing: value).objectValue
  }
}
