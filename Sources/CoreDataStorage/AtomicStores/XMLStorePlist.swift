import Foundation

/// A property list inside the document of an XML store.
enum XMLStorePlist {
  /// The lines of a value. Throws `StoreError.unsupported` for a text that XML can't hold.
  static func text(_ value: Any, depth: Int) throws -> String {
    let indent = String(repeating: "    ", count: depth)
    switch value {
    case let dictionary as [String: Any]:
      var text: String = indent + "<dict>\n"
      for (key, value) in dictionary.sorted(by: { $0.key < $1.key }) {
        text += "\(indent)    <key>\(try escaped(key))</key>\n\(try self.text(value, depth: depth + 1))\n"
      }
      return text + indent + "</dict>"
    case let array as [Any]:
      return try indent + "<array>\n" + array.map { try text($0, depth: depth + 1) + "\n" }.joined()
        + indent + "</array>"
    case let text as String: return "\(indent)<string>\(try escaped(text))</string>"
    case let data as Data: return "\(indent)<data>\n\t\t\(data.base64EncodedString())\n\t\t</data>"
    case let date as Date:
      return "\(indent)<date>\(date.formatted(.iso8601))</date>"
    case let number as NSNumber:
      switch UInt8(bitPattern: number.objCType.pointee) {
      case UInt8(ascii: "c"), UInt8(ascii: "B"): return indent + (number.boolValue ? "<true/>" : "<false/>")
      case UInt8(ascii: "d"), UInt8(ascii: "f"): return "\(indent)<real>\(number.doubleValue)</real>"
      case UInt8(ascii: "Q"): return "\(indent)<integer>\(number.uint64Value)</integer>"
      default: return "\(indent)<integer>\(number.int64Value)</integer>"
      }
    default:
      throw StoreError.unsupported(
        part: "the metadata", reason: "a \(Swift.type(of: value)) is no property-list value",
        advice: "use strings, numbers, dates, data, arrays and dictionaries with string keys")
    }
  }

  private static func escaped(_ text: String) throws -> String {
    var result: String = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\r": result += "&#13;"
      case "\t", "\n": result.unicodeScalars.append(scalar)
      default:
        if scalar.value < 32 || scalar.value == 0xFFFE || scalar.value == 0xFFFF {
          throw StoreError.unsupported(
            part: "the metadata",
            reason: "XML can't hold the character U+\(String(scalar.value, radix: 16, uppercase: true))",
            advice: "keep such texts as Data")
        }
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Collects a value from the elements of a document.
  struct Builder {
    private enum Open {
      case dictionary([String: Any], key: String?)
      case array([Any])
    }

    private var open: [Open] = []
    private(set) var value: Any?

    mutating func start(_ element: String) {
      if element == "dict" { open.append(.dictionary([:], key: nil)) }
      if element == "array" { open.append(.array([])) }
    }

    /// Ends an element with this text. Returns what is wrong; nil if nothing is.
    mutating func end(_ element: String, _ text: String) -> String? {
      switch element {
      case "plist": return nil
      case "dict", "array":
        switch open.popLast() {
        case .dictionary(let values, _): return add(values)
        case .array(let values): return add(values)
        case nil: return "<\(element)> is not open"
        }
      case "key":
        guard case .dictionary(let values, _) = open.popLast() else { return "a <key> outside a <dict>" }
        open.append(.dictionary(values, key: text))
        return nil
      case "string": return add(text)
      case "true": return add(true)
      case "false": return add(false)
      default:
        let text: String = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let made: Any? =
          switch element {
          case "integer": Int64(text).map { NSNumber(value: $0) } ?? UInt64(text).map { NSNumber(value: $0) }
          case "real": Double(text).map { NSNumber(value: $0) }
          case "date": try? Date(text, strategy: .iso8601)
          case "data": Data(base64Encoded: text, options: .ignoreUnknownCharacters)
          default: nil
          }
        guard let made else { return "<\(element)>\(text.prefix(40))</\(element)>" }
        return add(made)
      }
    }

    private mutating func add(_ made: Any) -> String? {
      switch open.popLast() {
      case .dictionary(var values, let key):
        guard let key else { return "a value without <key>" }
        values[key] = made
        open.append(.dictionary(values, key: nil))
      case .array(var values):
        values.append(made)
        open.append(.array(values))
      case nil: value = made
      }
      return nil
    }
  }
}
