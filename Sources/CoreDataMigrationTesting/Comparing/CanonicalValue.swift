import CoreData

/// Values as texts that are equal if the values are, whatever number type they had before the migration.
enum CanonicalValue {
  /// `type`: that of the attribute in the new version.
  static func text(_ value: Any?, as type: NSAttributeType) -> String {
    guard let value, !(value is NSNull) else { return "nil" }
    if let number = value as? NSNumber, let text = text(number, as: type) { return text }
    return text(value)
  }

  private static func text(_ number: NSNumber, as type: NSAttributeType) -> String? {
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
      // A fraction would be lost.
      isFloating(number) && number.doubleValue == number.doubleValue.rounded()
        ? "\(number.int64Value)" : exactText(number)
    case .doubleAttributeType, .floatAttributeType: text(number.doubleValue)
    case .decimalAttributeType: exactText(number)
    default: nil
    }
  }

  /// All digits of a number: `decimalValue` of Foundation on Linux takes integers through a double.
  private static func exactText(_ number: NSNumber) -> String {
    if number is NSDecimalNumber { return "\(number.decimalValue)" }
    return isFloating(number)
      ? Decimal(string: "\(number.doubleValue)").map { "\($0)" } ?? text(number.doubleValue)
      : "\(number.int64Value)"
  }

  private static func isFloating(_ number: NSNumber) -> Bool {
    !(number is NSDecimalNumber) && ["d", "f"].contains(String(cString: number.objCType))
  }

  private static func text(_ number: Double) -> String { number == 0 ? "0.0" : "\(number)" }

  private static func text(_ value: Any) -> String {
    switch value {
    case let text as String: "\"\(text)\""
    case let data as Data: self.text(data)
    case let date as Date: "\(text(date.timeIntervalSinceReferenceDate)) s after 2001"
    case let url as URL: url.absoluteString
    case let uuid as UUID: uuid.uuidString
    case let array as [Any]: "[" + array.map { text($0) }.joined(separator: ", ") + "]"
    case let pairs as [AnyHashable: Any]:
      "{" + pairs.map { "\(text($0.key.base)): \(text($0.value))" }.sorted().joined(separator: ", ") + "}"
    case let set as NSSet: "(" + set.allObjects.map { text($0) }.sorted().joined(separator: ", ") + ")"
    case let number as NSNumber: isFloating(number) ? text(number.doubleValue) : exactText(number)
    default: "\(value)"
    }
  }

  /// Short data as it is; long data by its length and a sum.
  private static func text(_ data: Data) -> String {
    if data.count <= 32 { return "<\(data.map { String(format: "%02x", $0) }.joined())>" }
    let sum: UInt64 = data.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    return "<\(data.count) bytes, sum \(String(sum, radix: 16))>"
  }
}
