import CoreDataPredicates
import Foundation

/// `CAST(value, "Type")`. nil stays nil.
package enum Cast {
  /// The types by Apple's names. Swift's (`Date`, `String`) are accepted too.
  package static let types: [String] = [
    "NSDate", "NSNumber", "NSDecimalNumber", "NSString", "NSUUID", "NSURL", "NSArray", "NSSet",
  ]

  static func apply(_ value: PredicateValue, to type: String) throws -> PredicateValue {
    if value.isNull { return .null }
    switch type {
    case "NSDate", "Date": if let date = date(value) { return .date(date) }
    case "NSNumber": if let number = number(value) { return number }
    case "NSDecimalNumber", "Decimal": if let number = decimal(value) { return .decimal(number) }
    case "NSString", "String": return .string(ScalarKeys.text(of: value))
    case "NSUUID", "UUID":
      if case .uuid = value { return value }
      if case .string(let text) = value, let uuid = UUID(uuidString: text) { return .uuid(uuid) }
    case "NSURL", "URL":
      if case .url = value { return value }
      if case .string(let text) = value, let url = URL(string: text) { return .url(url) }
    case "NSArray":
      if let members = value.elements { return .array(members) }
    case "NSSet":
      if let members = value.elements { return .set(Set(members)) }
    default:
      throw PredicateError.unsupported(
        "CAST knows no type \(type). There are \(types.joined(separator: ", ")).")
    }
    let text: String = "CAST can't make \(type) of \(value.kindName)."
    // Another text may spell a value.
    if case .string = value { throw PredicateError.noResult(text) }
    throw PredicateError.evaluation(text)
  }

  /// A constant text that spells no value of the type it is cast to, with the type; nil for every other
  /// expression.
  package static func unreadable(_ expression: ExpressionNode) -> (text: String, type: String)? {
    guard case .function(target: nil, name: BuiltinFunction.cast.selector, let arguments) = expression,
      arguments.count == 2, case .constant(let value) = arguments[0], case .string(let text) = value,
      case .constant(.string(let type)) = arguments[1]
    else { return nil }
    do {
      _ = try apply(value, to: type)
    } catch let error as PredicateError where error.isAboutValues {
      return (text, type)
    } catch {
      return nil
    }
    return nil
  }

  private static func date(_ value: PredicateValue) -> Date? {
    switch value {
    case .date(let date): return date
    case .string(let text): return parseDate(text)
    default: return NumberComparison.double(value).map { Date(timeIntervalSinceReferenceDate: $0) }
    }
  }

  private static func parseDate(_ text: String) -> Date? {
    if let date = try? Date(text, strategy: .iso8601) { return date }
    let withFraction: Date.ISO8601FormatStyle = .init(includingFractionalSeconds: true)
    if let date = try? Date(text, strategy: withFraction) { return date }
    return try? Date(text, strategy: Date.ISO8601FormatStyle().year().month().day())
  }

  private static func number(_ value: PredicateValue) -> PredicateValue? {
    switch value {
    case .date(let date): return .double(date.timeIntervalSinceReferenceDate)
    case .string(let text):
      let text: String = text.trimmingCharacters(in: .whitespaces)
      return Int64(text).map(PredicateValue.integer) ?? Double(text).map(PredicateValue.double)
    default: return value.isNumber ? value : nil
    }
  }

  private static func decimal(_ value: PredicateValue) -> Decimal? {
    switch value {
    case .decimal(let number): return number
    case .integer(let number): return Decimal(number)
    case .string(let text): return Decimal(string: text.trimmingCharacters(in: .whitespaces))
    default:
      guard let number = number(value).flatMap(NumberComparison.double) else { return nil }
      // Converted through the shortest text, so that 12.1 becomes 12.1 and not its binary approximation.
      return Decimal(string: "\(number)")
    }
  }
}
