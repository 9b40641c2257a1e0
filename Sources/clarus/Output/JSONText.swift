import Foundation

/// A JSON document whose keys keep the order they were given in, so that output is stable and readable.
indirect enum JSONText {
  case object([(String, JSONText)])
  case array([JSONText])
  case string(String)
  case integer(Int64)
  /// NaN and infinities, which JSON has no numbers for, become the strings `NaN`, `Infinity`, `-Infinity`.
  case double(Double)
  /// Digits that are a JSON number already.
  case number(String)
  case bool(Bool)
  case null

  /// Text or null.
  static func optional(_ text: String?) -> JSONText { text.map(JSONText.string) ?? .null }

  /// A number or null.
  static func optional(_ number: Int?) -> JSONText { number.map { .integer(Int64($0)) } ?? .null }

  static func strings(_ texts: some Sequence<String>) -> JSONText { .array(texts.map(JSONText.string)) }

  /// On one line.
  var compact: String {
    var text: String = ""
    write(to: &text, indent: nil)
    return text
  }

  /// Over many lines, two spaces a level. Arrays and objects of plain values stay on one line.
  var pretty: String {
    var text: String = ""
    write(to: &text, indent: 0)
    return text
  }

  private var isPlain: Bool {
    switch self {
    case .object(let entries): entries.isEmpty
    case .array(let members): members.isEmpty
    default: true
    }
  }

  private func write(to text: inout String, indent: Int?) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .number(let digits): text += digits
    case .double(let value):
      if value.isFinite {
        text += value.description
      } else {
        text += value.isNaN ? "\"NaN\"" : (value < 0 ? "\"-Infinity\"" : "\"Infinity\"")
      }
    case .string(let value): Self.writeString(value, to: &text)
    case .array(let members):
      let isShort: Bool = members.allSatisfy(\.isPlain)
      Self.writeList("[", members, "]", indent: isShort ? nil : indent, to: &text) { member, text, inner in
        member.write(to: &text, indent: inner)
      }
    case .object(let entries):
      let isShort: Bool = entries.allSatisfy(\.1.isPlain) && entries.count <= 12
      Self.writeList("{", entries, "}", indent: isShort ? nil : indent, to: &text) { entry, text, inner in
        Self.writeString(entry.0, to: &text)
        text += ": "
        entry.1.write(to: &text, indent: inner)
      }
    }
  }

  private static func writeList<Member>(
    _ open: String, _ members: [Member], _ close: String, indent: Int?, to text: inout String,
    _ writeMember: (Member, inout String, Int?) -> Void
  ) {
    text += open
    for (place, member) in members.enumerated() {
      if place > 0 { text += indent == nil ? ", " : "," }
      if let indent { text += "\n" + String(repeating: "  ", count: indent + 1) }
      writeMember(member, &text, indent.map { $0 + 1 })
    }
    if let indent, !members.isEmpty { text += "\n" + String(repeating: "  ", count: indent) }
    text += close
  }

  static func writeString(_ value: String, to text: inout String) {
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      // Line separators are legal JSON but end a line in JavaScript; controls and direction marks change a
      // terminal's state.
      case _ where DisplayWidth.isUnsafe(scalar):
        let hex: String = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
