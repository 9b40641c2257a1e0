/// What a single value is, known before there is one.
///
/// Raw values travel in statements.
package enum ScalarKind: Int64, Sendable, Hashable {
  case boolean
  case integer
  /// A double.
  case real
  case decimal
  case string
  case date
  case uuid
  case url
  case data
}

extension ScalarKeys {
  /// What a key gives, read from a value of a kind, nil for a key that such values don't have: what
  /// ``read(_:from:)`` returns.
  package static func kind(ofKey key: String, of kind: ScalarKind) -> ScalarKind? {
    if key == "self" { return kind }
    if key == "description" { return .string }
    switch (kind, key) {
    case (.string, "length"), (.data, "length"): return .integer
    case (.string, "lowercaseString"), (.string, "uppercaseString"), (.string, "capitalizedString"),
      (.string, "lastPathComponent"), (.string, "pathExtension"):
      return .string
    case (.uuid, "UUIDString"), (.uuid, "uuidString"): return .string
    case (.date, "timeIntervalSinceReferenceDate"), (.date, "timeIntervalSince1970"),
      (.date, "timeIntervalSinceNow"):
      return .real
    case (.url, "absoluteString"), (.url, "path"), (.url, "host"), (.url, "scheme"), (.url, "query"),
      (.url, "lastPathComponent"), (.url, "pathExtension"):
      return .string
    case (.string, _), (.boolean, _), (.integer, _), (.real, _), (.decimal, _):
      switch key {
      case "intValue", "integerValue", "longLongValue": return .integer
      case "doubleValue", "floatValue": return .real
      case "boolValue": return .boolean
      case "stringValue" where kind != .string: return .string
      default: return nil
      }
    default: return nil
    }
  }
}
