import Foundation

/// Reads a `.strings` file: `"key" = "value";` with comments, as text in UTF-8 or UTF-16, or a property list.
enum StringsFile {
  /// nil for data that is none. Cost: linear.
  static func read(_ data: Data) -> [String: String]? {
    let text: String?
    if data.starts(with: Array("bplist".utf8)) || data.starts(with: Array("<".utf8)) {
      return (try? PropertyListValues.dictionary(from: data))?.compactMapValues { $0 as? String }
    } else if data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0xFE, 0xFF]) {
      text = String(data: data, encoding: .utf16)
    } else {
      text = String(validating: data, as: UTF8.self)
    }
    guard let text else { return nil }
    var parser = Parser(text: text.unicodeScalars[...])
    if parser.text.first == "\u{FEFF}" { parser.text.removeFirst() }
    return parser.pairs()
  }

  private struct Parser {
    var text: Substring.UnicodeScalarView

    /// nil where something else than a pair stands.
    mutating func pairs() -> [String: String]? {
      var result: [String: String] = [:]
      while true {
        guard skipSpace() else { return nil }
        if text.isEmpty { return result }
        guard let key = word(), skipSpace() else { return nil }
        var value: String = key
        if text.first == "=" {
          text.removeFirst()
          guard skipSpace(), let given = word(), skipSpace() else { return nil }
          value = given
        }
        guard text.first == ";" else { return nil }
        text.removeFirst()
        result[key] = value
      }
    }

    /// Skips whitespace and comments; false for a comment without end.
    private mutating func skipSpace() -> Bool {
      while let first = text.first {
        if first.properties.isWhitespace {
          text.removeFirst()
        } else if text.starts(with: "//".unicodeScalars) {
          text = text.drop { $0 != "\n" && $0 != "\r" }
        } else if text.starts(with: "/*".unicodeScalars) {
          text.removeFirst(2)
          while !text.isEmpty, !text.starts(with: "*/".unicodeScalars) { text.removeFirst() }
          if text.isEmpty { return false }
          text.removeFirst(2)
        } else {
          break
        }
      }
      return true
    }

    /// A text in quotation marks, or one without any.
    private mutating func word() -> String? {
      guard let mark = text.first, mark == "\"" || mark == "'" else {
        let bare: Substring.UnicodeScalarView = text.prefix {
          $0.properties.isAlphabetic || ("0"..."9").contains($0) || "_-./:$".unicodeScalars.contains($0)
        }
        text.removeFirst(bare.count)
        return bare.isEmpty ? nil : String(bare)
      }
      text.removeFirst()
      var result: String.UnicodeScalarView = .init()
      while let next = text.popFirst() {
        if next == mark { return String(result) }
        guard next == "\\" else {
          result.append(next)
          continue
        }
        guard let escaped = text.popFirst() else { return nil }
        switch escaped {
        case "n": result.append("\n")
        case "r": result.append("\r")
        case "t": result.append("\t")
        case "U", "u": result.append(contentsOf: character().unicodeScalars)
        default: result.append(escaped)
        }
      }
      return nil
    }

    /// The UTF-16 code units of `\U1F60` and of those that follow at once.
    private mutating func character() -> String {
      var units: [UInt16] = []
      while true {
        let digits: String = String(text.prefix(4))
        guard digits.unicodeScalars.count == 4, let unit = UInt16(digits, radix: 16) else { break }
        text.removeFirst(4)
        units.append(unit)
        guard UTF16.isLeadSurrogate(unit), text.first == "\\",
          let mark = text.dropFirst().first, mark == "U" || mark == "u"
        else { break }
        text.removeFirst(2)
      }
      return String(decoding: units, as: UTF16.self)
    }
  }
}
