import CoreDataPredicates
import CoreDataStorage
import Foundation

/// One value of a printed row.
enum OutputValue {
  case none
  case id(RowID)
  case ids([RowID])
  /// With the kind of its attribute, if it has one.
  case value(PredicateValue, ColumnKind?)

  init(_ value: PredicateValue, _ kind: ColumnKind?) {
    switch value {
    case .null, .nullObject: self = .none
    case .object(let box): self = (box.value as? ObjectReference)?.id.map(OutputValue.id) ?? .none
    default: self = .value(value, kind)
    }
  }
}

/// Prints values, in three formats:
///
///     value          table                     CSV                     JSON
///     nil            (empty)                   (empty)                 null
///     date           2026-11-21T09:30:00Z      with microseconds       with microseconds
///     data           <12 bytes>                base64                  base64
///     decimal        its digits                its digits              a number if it fits a Double, else text
///     to-one         Category/p3               x-coredata://…/p3       x-coredata://…/p3
///     to-many        number of members         the same                the same
///      with --members  Tag/p1, Tag/p2          URIs and spaces         an array of URIs
///     NaN, infinity  NaN, inf                  the same                "NaN", "Infinity"
struct ValuePrinter {
  let ids: ObjectIDs

  func cell(_ value: OutputValue) -> String {
    switch value {
    case .none: return ""
    case .id(let id): return ids.short(id)
    case .ids(let members): return members.map(ids.short).joined(separator: ", ")
    case .value(let value, let kind):
      switch value {
      case .date(let date): return DateText.short(secondsSince2001: date.timeIntervalSinceReferenceDate)
      case .data(let data): return "<\(data.count) bytes>"
      case .bool(let flag): return flag ? "yes" : "no"
      default: return Self.plain(value, kind)
      }
    }
  }

  /// As a CSV field, before quoting.
  func field(_ value: OutputValue) -> String {
    switch value {
    case .none: ""
    case .id(let id): ids.uri(id)
    case .ids(let members): members.map(ids.uri).joined(separator: " ")
    case .value(let value, let kind): Self.plain(value, kind)
    }
  }

  func json(_ value: OutputValue) -> JSONText {
    switch value {
    case .none: return .null
    case .id(let id): return .string(ids.uri(id))
    case .ids(let members): return .array(members.map { .string(ids.uri($0)) })
    case .value(let value, let kind):
      switch value {
      case .integer(let number): return .integer(number)
      case .unsigned(let number): return .number(String(number))
      case .bool(let flag): return .bool(flag)
      // The shortest digits of the Float, not those of the Double it was widened to.
      case .double(let number) where kind == .float && number.isFinite:
        return .number(Float(number).description)
      case .double(let number): return .double(number)
      case .decimal(let number): return Self.json(decimal: number.description)
      default: return .string(Self.plain(value, kind))
      }
    }
  }

  /// A number with as many digits as a reader's `Double` keeps is a number; longer ones, and NaN, are text so
  /// that nothing is lost.
  static func json(decimal text: String) -> JSONText {
    let digits: Int = text.count { $0.isASCII && $0.isNumber }
    let isPlain: Bool = text.allSatisfy { "0123456789.-".contains($0) }
    guard isPlain, digits > 0, digits <= 15 else { return .string(text) }
    // JSON requires a digit on both sides of the point.
    let body: Substring = text.hasPrefix("-") ? text.dropFirst() : text[...]
    let parts: [Substring] = body.split(separator: ".", omittingEmptySubsequences: false)
    let isNumber: Bool =
      parts.count <= 2 && parts.allSatisfy { !$0.isEmpty } && (parts[0] == "0" || parts[0].first != "0")
      && !body.contains("-")
    return isNumber ? .number(text) : .string(text)
  }

  /// The value in full, as text.
  private static func plain(_ value: PredicateValue, _ kind: ColumnKind?) -> String {
    switch value {
    case .integer(let number): String(number)
    case .unsigned(let number): String(number)
    case .bool(let flag): flag ? "true" : "false"
    case .double(let number): kind == .float ? text(Float(number)) : text(number)
    case .decimal(let number): number.description
    case .string(let text): text
    case .date(let date): DateText.full(secondsSince2001: date.timeIntervalSinceReferenceDate)
    case .data(let data): data.base64EncodedString()
    case .uuid(let uuid): uuid.uuidString
    case .url(let url): url.absoluteString
    case .null, .nullObject, .array, .set, .dictionary, .object: ""
    }
  }

  /// Whole numbers without `.0`.
  private static func text<Number: BinaryFloatingPoint & CustomStringConvertible>(_ value: Number) -> String {
    if value.isNaN { return "NaN" }
    let text: String = value.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
