import Foundation

/// Constants as predicates print them; Foundation's `description`s differ on Linux.
package enum ValuePrinter {
  package static func print(_ value: PredicateValue) -> String {
    switch value {
    case .null: "nil"
    case .nullObject: "<null>"
    case .bool(let value): value ? "1" : "0"
    case .integer(let value): String(value)
    case .unsigned(let value): String(value)
    case .double(let value): print(value)
    case .decimal(let value): value.description
    case .string(let value): quoted(value)
    case .date(let value):
      "CAST(\(String(format: "%.6f", value.timeIntervalSinceReferenceDate)), \"NSDate\")"
    case .data(let value): "<\(value.map { byte in hex(byte) }.joined())>"
    case .uuid(let value): value.uuidString
    case .url(let value): value.absoluteString
    case .array(let members): "{\(members.map(printMember).joined(separator: ", "))}"
    // A set has no order, but the text must be the same in each run.
    case .set(let members): "{\(members.map(printMember).sorted().joined(separator: ", "))}"
    case .dictionary(let entries):
      "{\(entries.map { "\(printMember($0)) = \(printMember($1))" }.sorted().joined(separator: "; "))}"
    case .object(let box): describe(box.value)
    }
  }

  /// A number as `NSNumber.description` prints it on Apple's systems: a whole double without fraction.
  static func print(_ value: Double) -> String {
    // No literal is infinite; one out of range is parsed as the same value.
    if value.isInfinite { return value < 0 ? "-1e999" : "1e999" }
    let text: String = "\(value)"
    return text.hasSuffix(".0") ? String(value == 0 ? "0" : text.dropLast(2)) : text
  }

  /// Text between double quotes, `"` and `\` escaped.
  static func quoted(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) else {
      return "\"\(text)\""
    }
    var output: [UInt8] = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { output.append(UInt8(ascii: "\\")) }
      output.append(byte)
    }
    output.append(UInt8(ascii: "\""))
    return String(decoding: output, as: UTF8.self)
  }

  private static func printMember(_ value: PredicateValue) -> String {
    value.isNull ? "<null>" : print(value)
  }

  private static func hex(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }

  private static func describe(_ value: Any) -> String {
    if let type = value as? Any.Type { return "\(type)" }
    return (value as? any CustomStringConvertible)?.description ?? "<\(type(of: value))>"
  }
}
