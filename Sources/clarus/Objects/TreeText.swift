import CoreDataPredicates
import Foundation

/// Trees of decoded data as indented lines and as JSON.
struct TreeText {
  /// The largest number of lines; further ones are omitted.
  private static let lineLimit: Int = 200
  /// Columns of a value.
  private static let widest: Int = 100

  private(set) var lines: [String] = []
  private var isCut: Bool { lines.count > Self.lineLimit }

  init(_ tree: DataTree, indent: Int) {
    append("", tree, indent)
    if isCut { lines = lines.prefix(Self.lineLimit) + [Self.spaces(indent) + "…"] }
  }

  private static func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }

  private mutating func append(_ name: String, _ tree: DataTree, _ indent: Int) {
    if isCut { return }
    let start: String = Self.spaces(indent) + (name.isEmpty ? "" : DisplayWidth.escaped(name) + ": ")
    switch tree {
    case .value(let value):
      lines.append(start + DisplayWidth.truncated(DisplayWidth.escaped(Self.scalar(value)), to: Self.widest))
    case .note(let text): lines.append(start + "(\(DisplayWidth.escaped(text)))")
    case .list(let kind, let members):
      lines.append(start + "\(kind) of \(members.count)")
      for member in members { append("", member, indent + 2) }
    case .dictionary(let entries):
      lines.append(start + "dictionary of \(entries.count)")
      for (key, value) in entries { append(key, value, indent + 2) }
    case .instance(let name, let fields):
      lines.append(start + DisplayWidth.escaped(name))
      for (key, value) in fields { append(key, value, indent + 2) }
    }
  }

  /// Text in quotes, so that it is not mistaken for another value.
  static func scalar(_ value: PredicateValue) -> String {
    switch value {
    case .null, .nullObject: "nil"
    case .bool(let flag): flag ? "yes" : "no"
    case .integer(let number): String(number)
    case .unsigned(let number): String(number)
    case .double(let number): "\(number)"
    case .decimal(let number): number.description
    case .string(let text): "\"\(text)\""
    case .date(let date): DateText.short(secondsSince2001: date.timeIntervalSinceReferenceDate)
    case .data(let data): "<\(data.count) bytes>"
    case .uuid(let uuid): uuid.uuidString
    case .url(let url): url.absoluteString
    case .array, .set, .dictionary, .object: value.kindName
    }
  }

  /// Instances are objects with their class under `$class`.
  static func json(_ tree: DataTree) -> JSONText {
    switch tree {
    case .value(let value): json(value)
    case .note(let text): .object([("$note", .string(text))])
    case .list(_, let members): .array(members.map(json))
    case .dictionary(let entries): .object(entries.map { ($0.key, json($0.value)) })
    case .instance(let name, let fields):
      .object([("$class", .string(name))] + fields.map { ($0.key, json($0.value)) })
    }
  }

  private static func json(_ value: PredicateValue) -> JSONText {
    switch value {
    case .null, .nullObject: .null
    case .bool(let flag): .bool(flag)
    case .integer(let number): .integer(number)
    case .unsigned(let number): .number(String(number))
    case .double(let number): .double(number)
    case .decimal(let number): ValuePrinter.json(decimal: number.description)
    case .date(let date): .string(DateText.full(secondsSince2001: date.timeIntervalSinceReferenceDate))
    case .data(let data): .string(data.base64EncodedString())
    case .string(let text): .string(text)
    default: .string(scalar(value))
    }
  }
}
