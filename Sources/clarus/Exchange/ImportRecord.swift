import Foundation

/// A place in a file, counted from 1; columns count characters.
struct TextPosition: Equatable {
  var line: Int
  var column: Int
  /// The path of the file, where there are several.
  var file: String?

  /// The line as another place names it: with the file if that is another one.
  func line(from other: TextPosition) -> String {
    let place: String = file.map { $0 == other.file ? "" : " of \($0)" } ?? ""
    return "line \(line)\(place)"
  }
}

extension TextPosition: Comparable {
  static func < (one: TextPosition, other: TextPosition) -> Bool {
    (one.file ?? "", one.line, one.column) < (other.file ?? "", other.line, other.column)
  }
}

/// A value as a file has it, with its place.
struct ImportValue {
  indirect enum Content {
    case null
    case bool(Bool)
    /// The digits, so that none is lost.
    case number(String)
    case string(String)
    case list([ImportValue])
    case object([ImportField])
  }

  var content: Content
  var position: TextPosition

  /// The kind in words.
  var kindName: String {
    switch content {
    case .null: "null"
    case .bool: "a truth value"
    case .number(let digits): "the number \(digits)"
    case .string(let text): "the text \"\(text.count > 40 ? text.prefix(40) + "…" : text)\""
    case .list: "a list"
    case .object: "an object"
    }
  }
}

struct ImportField {
  var name: String
  var position: TextPosition
  var value: ImportValue
}

/// An object as a file has it.
struct ImportRecord {
  /// Named by the place in the document, or by the option.
  var entity: String?
  var fields: [ImportField]
  var position: TextPosition

  func field(_ name: String) -> ImportValue? { fields.first { $0.name == name }?.value }

  var isEmpty: Bool { fields.isEmpty }
}

/// What is wrong at a place of a file.
struct ImportError: Error {
  var position: TextPosition
  var reason: String

  init(_ position: TextPosition, _ reason: String) {
    self.position = position
    self.reason = reason
  }
}
