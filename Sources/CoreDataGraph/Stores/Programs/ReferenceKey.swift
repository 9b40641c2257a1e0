import Foundation

/// A reference object, by which a store of a program names an object, in a form that can be compared and
/// written into a URI.
///
/// | reference object | in a URI |
/// |---|---|
/// | integers of any type, Booleans | `p42` |
/// | strings | `pmilk`; `p~s42` if it could be taken for another kind |
/// | UUIDs | `p~u` and the UUID |
/// | URLs | `p~l` and the URL |
/// | data | `p~d` and Base64, without `/` and `+` |
/// | other numbers | `p~r` and the number; `p~n` and the digits for one that no `Double` is |
/// | anything else that is hashable | `p~o` and a number that is valid while the store is open |
enum ReferenceKey: Hashable {
  case integer(Int64)
  case real(UInt64)
  /// A number that is neither an `Int64` nor a `Double`.
  case decimal(Decimal)
  case text(ExactText)
  case uuid(UUID)
  case url(ExactText)
  case data(Data)
  case other(AnyHashable)

  /// A string that is equal to another one if both have the same bytes: for servers and files, composed and
  /// decomposed characters are different names.
  struct ExactText: Hashable {
    let text: String

    static func == (left: ExactText, right: ExactText) -> Bool {
      left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
      for byte in text.utf8 { hasher.combine(byte) }
    }
  }

  /// nil for a value that is not hashable.
  init?(_ value: Any) {
    switch value {
    case let value as String: self = .text(ExactText(text: value))
    case let value as UUID: self = .uuid(value)
    case let value as URL: self = .url(ExactText(text: value.absoluteString))
    case let value as Data: self = .data(value)
    // Before Double, to which it would be rounded.
    case let value as NSDecimalNumber: self = .make(value.decimalValue)
    case let value as Decimal: self = .make(value)
    case let value as Double: self = .make(value)
    case let value as Float: self = .make(Double(value))
    case let value as any BinaryInteger where Int64(exactly: value) != nil:
      self = .integer(Int64(truncatingIfNeeded: value))
    case let value as any BinaryInteger:
      // 128 bits have one digit more than a decimal.
      let digits = "\(value)"
      guard let decimal = Decimal(string: digits), decimal.description == digits else {
        self = .other(AnyHashable(value))
        return
      }
      self = .decimal(decimal)
    case let value as Bool: self = .integer(value ? 1 : 0)
    case let value as NSNumber: self = .make(value)
    case let value as any Hashable: self = .other(AnyHashable(value))
    default: return nil
    }
  }

  private static func make(_ value: Double) -> ReferenceKey {
    Int64(exactly: value).map { .integer($0) } ?? .real(value.bitPattern)
  }

  private static func make(_ value: Decimal) -> ReferenceKey {
    if let integer = Int64(value.description) { return .integer(integer) }
    guard let real = Double(value.description), Decimal(string: "\(real)") == value else {
      return .decimal(value)
    }
    return .real(real.bitPattern)
  }

  private static func make(_ value: NSNumber) -> ReferenceKey {
    if value.objCType.pointee == 0x51, value.uint64Value > Int64.max {
      return .decimal(Decimal(value.uint64Value))
    }
    // Doubles and floats.
    return value.objCType.pointee == 0x64 || value.objCType.pointee == 0x66
      ? make(value.doubleValue) : .integer(value.int64Value)
  }

  // MARK: URIs

  /// The last component of an object's URI without its `p`, not percent-encoded. `number`: the key of the
  /// object.
  func uriText(number: Int64) -> String {
    switch self {
    case .integer(let value): "\(value)"
    case .real(let bits): "~r\(Double(bitPattern: bits))"
    case .decimal(let value): "~n\(value)"
    case .text(let value): Self.isPlain(value.text) ? value.text : "~s\(value.text)"
    case .uuid(let value): "~u\(value.uuidString)"
    case .url(let value): "~l\(value.text)"
    case .data(let value):
      "~d"
        + value.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
    case .other: "~o\(number)"
    }
  }

  /// A string that can't be taken for another kind of reference.
  private static func isPlain(_ text: String) -> Bool {
    !text.isEmpty && !text.hasPrefix("~") && Int64(text) == nil
  }

  /// The reference object of a URI's component; nil for a number that is valid only while a store is open,
  /// and for text that no URI contains.
  static func reference(uriText text: String) -> Any? {
    guard text.hasPrefix("~") else {
      if let number = Int64(text) { return NSNumber(value: number) }
      return text.isEmpty ? nil : text
    }
    let value = String(text.dropFirst(2))
    switch text.dropFirst().first {
    case "s": return value
    case "u": return UUID(uuidString: value)
    case "l": return URL(string: value)
    case "n": return Decimal(string: value).map { NSDecimalNumber(decimal: $0) }
    case "r": return Double(value).map { NSNumber(value: $0) }
    case "d":
      return Data(base64Encoded: value.replacing("-", with: "+").replacing("_", with: "/"))
    default: return nil
    }
  }

  /// The key that a component of the form `~o7` names; nil for any other.
  static func number(uriText text: String) -> Int64? {
    text.hasPrefix("~o") ? Int64(text.dropFirst(2)) : nil
  }
}
