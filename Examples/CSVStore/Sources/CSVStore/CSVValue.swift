import CoreData
import Foundation

/// The values of attributes as text.
enum CSVValue {
  /// Dates with thousandths of a second; in UTC.
  private static var dateStyle: Date.ISO8601FormatStyle { .iso8601.time(includingFractionalSeconds: true) }

  static func text(_ value: Any?, _ attribute: NSAttributeDescription) -> String? {
    switch (attribute.attributeType, value) {
    case (_, nil): return nil
    case (.booleanAttributeType, let value as Bool): return value ? "true" : "false"
    case (.binaryDataAttributeType, let value as Data): return value.base64EncodedString()
    case (.dateAttributeType, let value as Date):
      let text: String = value.formatted(dateStyle)
      // Nothing is lost: a date between two thousandths is written as seconds since 2001.
      return (try? Date(text, strategy: dateStyle)) == value
        ? text : "\(value.timeIntervalSinceReferenceDate)"
    case (_, let value as UUID): return value.uuidString
    case (_, let value as URL): return value.absoluteString
    case (.doubleAttributeType, let value as Double): return "\(value)"
    case (.floatAttributeType, let value as Float): return "\(value)"
    case (_, let value?): return "\(value)"
    }
  }

  /// nil for text that is no value of the attribute.
  static func value(_ text: String, _ attribute: NSAttributeDescription) -> Any? {
    switch attribute.attributeType {
    case .stringAttributeType: return text
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: return Int64(text)
    case .doubleAttributeType: return Double(text)
    case .floatAttributeType: return Float(text)
    case .decimalAttributeType: return Decimal(string: text).map { NSDecimalNumber(decimal: $0) }
    case .booleanAttributeType:
      return ["true": true, "1": true, "false": false, "0": false][text.lowercased()]
    case .dateAttributeType:
      return Double(text).map { Date(timeIntervalSinceReferenceDate: $0) }
        ?? (try? Date(text, strategy: dateStyle))
        ?? (try? Date(text, strategy: .iso8601))
    case .binaryDataAttributeType: return Data(base64Encoded: text)
    case .UUIDAttributeType: return UUID(uuidString: text)
    case .URIAttributeType: return URL(string: text)
    default: return nil
    }
  }
}
