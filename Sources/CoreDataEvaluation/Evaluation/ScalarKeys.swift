import CoreDataPredicates
import Foundation

/// The keys that strings, numbers, dates and the like have, as on Apple's systems through
/// their methods' names.
package enum ScalarKeys {
  package static func read(_ key: String, from value: PredicateValue) throws -> PredicateValue {
    if key == "description" { return .string(text(of: value)) }
    switch value {
    case .string(let text): if let result = read(key, fromText: text) { return result }
    case .date(let date): if let result = read(key, fromDate: date) { return result }
    case .url(let url): if let result = read(key, fromURL: url) { return result }
    case .uuid(let uuid) where key == "UUIDString" || key == "uuidString": return .string(uuid.uuidString)
    case .data(let data) where key == "length": return .integer(Int64(data.count))
    default: if value.isNumber, let result = read(key, fromNumber: value) { return result }
    }
    throw PredicateError.evaluation(
      "\(value.kindName.prefix(1).uppercased())\(value.kindName.dropFirst()) is not key value coding-compliant for the key \(key)."
    )
  }

  /// A value as text: the result of CAST to a string.
  static func text(of value: PredicateValue) -> String {
    switch value {
    case .string(let text): text
    case .date(let date): date.description
    default: ValuePrinter.print(value)
    }
  }

  /// The number at the beginning of a text, 0 if there is none, as `NSString.doubleValue`.
  static func leadingNumber(_ text: String) -> Double {
    (text as NSString).doubleValue
  }

  private static func read(_ key: String, fromText text: String) -> PredicateValue? {
    switch key {
    case "length": .integer(Int64(text.utf16.count))
    case "lowercaseString": .string(text.lowercased())
    case "uppercaseString": .string(text.uppercased())
    case "capitalizedString": .string(text.capitalized)
    case "intValue", "integerValue", "longLongValue":
      .integer(Int64(clamping: (text as NSString).integerValue))
    case "doubleValue", "floatValue": .double(leadingNumber(text))
    case "boolValue": .bool((text as NSString).boolValue)
    case "lastPathComponent": .string((text as NSString).lastPathComponent)
    case "pathExtension": .string((text as NSString).pathExtension)
    default: nil
    }
  }

  private static func read(_ key: String, fromDate date: Date) -> PredicateValue? {
    switch key {
    case "timeIntervalSinceReferenceDate": .double(date.timeIntervalSinceReferenceDate)
    case "timeIntervalSince1970": .double(date.timeIntervalSince1970)
    case "timeIntervalSinceNow": .double(date.timeIntervalSince(PredicateClock.now))
    default: nil
    }
  }

  private static func read(_ key: String, fromURL url: URL) -> PredicateValue? {
    switch key {
    case "absoluteString": .string(url.absoluteString)
    case "path": .string(url.path)
    case "host": url.host.map(PredicateValue.string) ?? .null
    case "scheme": url.scheme.map(PredicateValue.string) ?? .null
    case "query": url.query.map(PredicateValue.string) ?? .null
    case "lastPathComponent": .string(url.lastPathComponent)
    case "pathExtension": .string(url.pathExtension)
    default: nil
    }
  }

  private static func clamped(_ number: Double) -> Int64 {
    if number.isNaN { return 0 }
    return Int64(exactly: number.rounded(.towardZero)) ?? (number < 0 ? .min : .max)
  }

  private static func read(_ key: String, fromNumber number: PredicateValue) -> PredicateValue? {
    guard let double = NumberComparison.double(number) else { return nil }
    switch key {
    case "intValue", "integerValue", "longLongValue":
      // As `NSNumber` does: towards zero, and the nearest that fits.
      return .integer(NumberComparison.integer(number) ?? clamped(double))
    case "doubleValue", "floatValue": return .double(double)
    case "boolValue": return .bool(double != 0)
    case "stringValue": return .string(text(of: number))
    default: return nil
    }
  }
}

extension ScalarKeys {
  /// The kind of a key's value, for values of a kind; nil for a key that such values don't have: the kind
  /// that ``read(_:from:)`` returns.
  package static func kind(ofKey key: String, of kind: ScalarKind) -> ScalarKind? {
    if key == "self" { return kind }
    if key == "description" { return .string }
    switch (kind, key) {
    case (.string, "length"), (.data, "length"): return .integer
    case (.string, "lowercaseString"), (.string, "uppercaseString"), (.string, "capitalizedString"),
      (.string, "lastPathComponent"), (.string, "pathExtension"):
      return .string
    case (.uuid, "UUIDString"), (.uuid, "uuidString"): return .string
    case (.date, "timeIntervalSinceReferenceDate"), (.date, "timeIntervalSince1970"),
      (.date, "timeIntervalSinceNow"):
      return .real
    case (.url, "absoluteString"), (.url, "path"), (.url, "host"), (.url, "scheme"), (.url, "query"),
      (.url, "lastPathComponent"), (.url, "pathExtension"):
      return .string
    case (.string, _), (.boolean, _), (.integer, _), (.real, _), (.decimal, _):
      switch key {
      case "intValue", "integerValue", "longLongValue": return .integer
      case "doubleValue", "floatValue": return .real
      case "boolValue": return .boolean
      case "stringValue" where kind != .string: return .string
      default: return nil
      }
    default: return nil
    }
  }
}
