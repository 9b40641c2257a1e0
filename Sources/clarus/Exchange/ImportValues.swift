import CoreDataGraph
import CoreDataModel
import Foundation

/// Values of a file as values of attributes.
enum ImportValues {
  /// The value for `setValue(_:forKey:)`; nil for nil. Throws ``ImportError`` that tells what the attribute
  /// takes.
  static func value(_ given: ImportValue, for attribute: NSAttributeDescription, named name: String) throws
    -> Any?
  {
    if case .null = given.content { return nil }
    guard let value = try convert(given, attribute.attributeType) else {
      throw ImportError(
        given.position,
        "\(name) takes \(wanted(attribute.attributeType)), and there is \(given.kindName).")
    }
    return value
  }

  private static func convert(_ given: ImportValue, _ type: NSAttributeType) throws -> Any? {
    let text: String
    switch given.content {
    case .bool(let flag): return type == .booleanAttributeType ? NSNumber(value: flag) : nil
    case .number(let digits): text = digits
    case .string(let string): text = string
    case .null, .list, .object: return nil
    }
    let isNumber: Bool = if case .number = given.content { true } else { false }
    switch type {
    case .integer16AttributeType: return Int16(text).map { NSNumber(value: $0) }
    case .integer32AttributeType: return Int32(text).map { NSNumber(value: $0) }
    case .integer64AttributeType: return Int64(text).map { NSNumber(value: $0) }
    case .booleanAttributeType:
      let flags: [String: Bool] = [
        "true": true, "false": false, "yes": true, "no": false, "1": true, "0": false,
      ]
      return flags[text.lowercased()].map { NSNumber(value: $0) }
    case .doubleAttributeType: return double(text).map { NSNumber(value: $0) }
    case .floatAttributeType:
      guard let number = double(text), Float(number).isFinite || !number.isFinite else { return nil }
      return NSNumber(value: Float(text) ?? Float(number))
    case .decimalAttributeType:
      if text == "NaN" { return NSDecimalNumber.notANumber }
      guard text.wholeMatch(of: /[+-]?[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?/) != nil else {
        return nil
      }
      // NSDecimalNumber(string:) of Linux Foundation keeps the digits of a Double only.
      return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
        .flatMap { $0.isNaN ? nil : NSDecimalNumber(decimal: $0) }
    case .dateAttributeType:
      // Exports spell a date without a calendar's year so, as those that are infinite.
      let seconds: Double? = double(text)
      if !isNumber, let date = DateText.date(text) { return date }
      return seconds.map { Date(timeIntervalSinceReferenceDate: $0) }
    case .stringAttributeType: return text
    case .UUIDAttributeType: return UUID(uuidString: text)
    case .URIAttributeType: return isNumber ? nil : URL(string: text)
    case .binaryDataAttributeType, .transformableAttributeType:
      return isNumber ? nil : Data(base64Encoded: text)
    default: return nil
    }
  }

  private static func double(_ text: String) -> Double? {
    switch text {
    case "NaN": .nan
    case "Infinity", "inf": .infinity
    case "-Infinity", "-inf": -.infinity
    // Digits beyond the greatest number, such as 1e400, are no infinity that somebody meant.
    default: Double(text).flatMap { $0.isInfinite ? nil : $0 }
    }
  }

  /// What an attribute takes, in words.
  private static func wanted(_ type: NSAttributeType) -> String {
    switch type {
    case .integer16AttributeType: "a whole number from -32768 to 32767"
    case .integer32AttributeType: "a whole number from -2147483648 to 2147483647"
    case .integer64AttributeType: "a whole number of 64 bits"
    case .booleanAttributeType: "true or false"
    case .doubleAttributeType: "a number up to 1.8e308"
    case .floatAttributeType: "a number up to 3.4e38"
    case .decimalAttributeType: "a number of up to 38 digits"
    case .dateAttributeType: "a date such as 2026-12-01T09:30:00Z, or its seconds since 2001"
    case .stringAttributeType: "text"
    case .UUIDAttributeType: "a UUID"
    case .URIAttributeType: "a URL"
    case .binaryDataAttributeType, .transformableAttributeType: "data in base64"
    default: "nothing that a file can contain"
    }
  }
}
