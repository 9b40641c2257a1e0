import Foundation

/// A value as a database column stores it.
package enum SQLValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob(Data)
}

extension SQLValue: CustomStringConvertible {
  /// As SQL would write it; long text and blobs are cut. For people, never for statements.
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
    }
  }
}
