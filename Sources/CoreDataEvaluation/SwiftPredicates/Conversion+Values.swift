import CoreDataPredicates
import Foundation

extension PredicateExpressions.Value: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    .expression(.constant(try PredicateConversion.constant(value)))
  }
}

extension PredicateExpressions.Variable: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    .expression(try conversion.operand(for: key))
  }
}

extension PredicateExpressions.NilLiteral: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    .expression(.constant(.null))
  }
}

extension PredicateConversion {
  /// The constant for a value captured by a Swift predicate: values that a predicate can hold are unchanged,
  /// values with a raw value become that, other collections become arrays.
  ///
  /// - Throws: ``PredicateError`` for a value that could never equal anything.
  package static func constant(_ value: Any) throws -> PredicateValue {
    try plain(PredicateValue(normalizing: value))
  }

  private static func plain(_ value: PredicateValue) throws -> PredicateValue {
    switch value {
    case .array(let members): return .array(try members.map(plain))
    case .set(let members): return .set(Set(try members.map(plain)))
    case .dictionary(let entries):
      var result: [PredicateValue: PredicateValue] = [:]
      for (key, entry) in entries { result[try plain(key)] = try plain(entry) }
      return .dictionary(result)
    case .object(let box): return try plain(box)
    default: return value
    }
  }

  private static func plain(_ box: ObjectBox) throws -> PredicateValue {
    switch box.value {
    case let regex as PredicateExpressions.PredicateRegex: return .string(regex.stringRepresentation)
    case is any RangeExpression:
      throw PredicateError.unsupported(
        "A range can stand before contains only, as in range.contains($0.age). Compare its bounds instead.")
    case let value as any RawRepresentable: return try constant(rawValue(of: value))
    case let value as any Collection: return .array(try members(of: value).map(constant))
    case let value where value is any Hashable || type(of: value) is AnyClass: return .object(box)
    default:
      throw PredicateError.unsupported(
        "A value of type \(type(of: box.value)) can't be a constant of a predicate. Capture the part of it that is "
          + "compared, or give the type a RawValue.")
    }
  }

  private static func rawValue(of value: some RawRepresentable) -> Any { value.rawValue }

  private static func members(of collection: some Collection) -> [Any] { collection.map { $0 as Any } }
}
