import Foundation

/// Property list values (metadata, user info, defaults) as JSON. Dates are ISO 8601 text, data is base64.
enum PropertyListJSON {
  static func object(_ dictionary: [AnyHashable: Any]?) -> JSONText {
    let entries: [(String, JSONText)] = (dictionary ?? [:]).map { ("\($0.key.base)", value($0.value)) }
    return .object(entries.sorted { $0.0 < $1.0 })
  }

  static func value(_ value: Any) -> JSONText {
    switch value {
    case let text as String: return .string(text)
    // In Foundation the cast to Bool succeeds for numbers too, so the type itself is compared.
    case let flag as Bool where type(of: value) == Bool.self: return .bool(flag)
    case let date as Date:
      return .string(DateText.full(secondsSince2001: date.timeIntervalSinceReferenceDate))
    case let data as Data: return .string(data.base64EncodedString())
    case let decimal as Decimal where type(of: value) == Decimal.self: return .string(decimal.description)
    case let uuid as UUID: return .string(uuid.uuidString)
    case let url as URL: return .string(url.absoluteString)
    case let number as NSNumber: return self.number(number)
    case let list as [Any]: return .array(list.map(self.value))
    case let dictionary as [String: Any]:
      return .object(dictionary.map { ($0.key, self.value($0.value)) }.sorted { $0.0 < $1.0 })
    case let set as Set<AnyHashable>:
      return .array(set.map { self.value($0.base) }.sorted { $0.compact < $1.compact })
    case is NSNull: return .null
    default: return .string(String(describing: value))
    }
  }

  private static func number(_ number: NSNumber) -> JSONText {
    if let decimal = number as? NSDecimalNumber { return .string(decimal.decimalValue.description) }
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "c"), UInt8(ascii: "B"): return .bool(number.boolValue)
    case UInt8(ascii: "d"), UInt8(ascii: "f"): return .double(number.doubleValue)
    case UInt8(ascii: "Q"): return .number(String(number.uint64Value))
    default: return .integer(number.int64Value)
    }
  }
}
