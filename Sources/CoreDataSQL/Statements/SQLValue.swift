import Foundation

/// A value in the form that a database column stores, chosen by the layout (``ValueEncoding``).
package enum SQLValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob(Data)
  // For databases with a type for each of these.
  case boolean(Bool)
  /// Microseconds since the first of January 2001.
  case timestamp(Int64)
  case uuid(UUID)
  /// The digits of an exact number.
  case decimal(String)
  /// Several values of one of these kinds, bound at once.
  case list([SQLValue])
}

extension SQLValue: CustomStringConvertible {
  /// Spelled as SQL would spell it, with long text and blobs cut. For display, never for statements.
  package var description: String {
    switch self {
    case .null: return "NULL"
    case .integer(let value): return "\(value)"
    case .real(let value): return "\(value)"
    case .text(let value):
      let shown: String = value.count > 100 ? "\(value.prefix(100))…" : value
      return "'" + shown.replacingOccurrences(of: "'", with: "''") + "'"
    case .blob(let value):
      let hex: String = value.prefix(32).map { byte in
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count == 1 ? "0" + digits : digits
      }.joined()
      return value.count > 32 ? "X'\(hex)…' (\(value.count) bytes)" : "X'\(hex)'"
    case .boolean(let value): return value ? "TRUE" : "FALSE"
    case .timestamp(let microseconds): return "\(microseconds) µs"
    case .uuid(let uuid): return uuid.uuidString
    case .decimal(let digits): return digits
    case .list(let members):
      let shown: String = members.prefix(8).map(\.description).joined(separator: ", ")
      return "{\(shown)\(members.count > 8 ? ", … (\(members.count))" : "")}"
    }
  }
}
