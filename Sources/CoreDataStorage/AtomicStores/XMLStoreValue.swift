import CoreDataArchives
import Foundation

/// Values as XML stores spell them.
enum XMLStoreValue {
  /// The name of a kind in the attribute `type`. Those of double, decimal, UUID, URI and transformable values
  /// were never seen in files by Apple's framework; readers go by the model.
  static func typeName(_ kind: ColumnKind) -> String {
    switch kind {
    case .int16: "int16"
    case .int32: "int32"
    case .int64: "int64"
    case .bool: "bool"
    case .double: "double"
    case .float: "float"
    case .date: "date"
    case .decimal: "decimal"
    case .string: "string"
    case .uri: "uri"
    case .uuid: "uuid"
    case .data: "binary"
    case .transformable: "transformable"
    case .toOne: ""
    }
  }

  static func append(_ row: RowRef, _ kind: ColumnKind, _ word: Int, to output: inout [UInt8]) {
    switch kind {
    case .int16, .int32, .int64, .bool, .toOne: output += Array(String(row.integer(word)).utf8)
    case .double: output += Array(text(row.double(word), row.double(word).description).utf8)
    case .float: output += Array(text(row.double(word), Float(row.double(word)).description).utf8)
    case .date: output += Array(dateText(row.double(word)).utf8)
    case .decimal, .string, .uri: XMLStoreText.append(row.bytes(word), to: &output)
    case .uuid: output += Array((uuid(row.bytes(word))?.uuidString ?? "").utf8)
    case .data, .transformable: output += Array(row.data(word).base64EncodedData())
    }
  }

  /// `5`, not `5.0`.
  private static func text(_ number: Double, _ shortest: String) -> String {
    shortest.hasSuffix(".0") && abs(number) < 1e15 ? String(shortest.dropLast(2)) : shortest
  }

  /// Seconds with 20 decimals, or with an exponent if these would lose digits.
  private static func dateText(_ seconds: Double) -> String {
    let text = String(format: "%.20f", seconds)
    return Double(text)?.bitPattern == seconds.bitPattern ? text : seconds.description
  }

  private static func uuid(_ bytes: UnsafeRawBufferPointer) -> UUID? {
    bytes.count == 16 ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : nil
  }

  /// Sets a value from its text; false if that is none of the kind.
  static func set(
    _ text: [UInt8], _ kind: ColumnKind, _ word: Int, of place: AtomicStoreLoader.Place,
    in loader: AtomicStoreLoader
  ) -> Bool {
    func number(_ value: Int64?) -> Bool {
      guard let value else { return false }
      loader.set(place, word: word, to: UInt64(bitPattern: value))
      return true
    }
    func real(_ value: Double?) -> Bool {
      guard let value else { return false }
      loader.set(place, word: word, to: value.bitPattern)
      return true
    }
    func bytes(_ value: some Sequence<UInt8>) -> Bool {
      Array(value).withUnsafeBytes { loader.set(place, word: word, to: $0) }
      return true
    }
    var trimmed: String {
      String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
    switch kind {
    case .int16: return number(Int16(trimmed).map(Int64.init))
    case .int32: return number(Int32(trimmed).map(Int64.init))
    case .int64: return number(Int64(trimmed))
    case .bool:
      return number(["1": 1, "true": 1, "YES": 1, "0": 0, "false": 0, "NO": 0][trimmed])
    case .double, .date: return real(Self.number(trimmed))
    case .float: return real(Self.float(trimmed))
    case .decimal:
      let text: String = trimmed
      if text == "NaN" { return bytes(text.utf8) }
      guard let decimal = DecimalText.number(text),
        DecimalText.isNumber(text), Self.isWhole(decimal, text)
      else { return false }
      return bytes(decimal.description.utf8)
    case .string, .uri: return bytes(XMLStoreText.unescaped(text))
    case .uuid:
      guard let uuid = UUID(uuidString: trimmed) else { return false }
      return withUnsafeBytes(of: uuid.uuid) { bytes($0) }
    case .data, .transformable:
      let digits: [UInt8] = text.filter { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
      // Damaged text may be that of other bytes: what it stands for is written in one way only.
      guard let data = Data(base64Encoded: Data(digits)), data.base64EncodedData().elementsEqual(digits)
      else {
        return false
      }
      return bytes(data)
    case .toOne: return false
    }
  }

  /// A number that a double can hold: beyond its range Swift makes infinity or 0 of a text.
  private static func number(_ text: String) -> Double? {
    guard let value = Double(text) else { return nil }
    let isZero: Bool =
      value == 0 && text.prefix { $0 != "e" && $0 != "E" }.contains { ("1"..."9").contains($0) }
    if value.isInfinite, !text.lowercased().contains("inf") { return nil }
    return isZero ? nil : value
  }

  /// The same for a float.
  private static func float(_ text: String) -> Double? {
    guard let value = number(text), let float = Float(text) else { return nil }
    return (float.isInfinite && !value.isInfinite) || (float == 0 && value != 0) ? nil : Double(float)
  }

  /// Whether a decimal has all digits of its text.
  private static func isWhole(_ decimal: Decimal, _ text: String) -> Bool {
    !decimal.isNaN && DecimalText.plain(Substring(decimal.description)) == DecimalText.plain(Substring(text))
  }
}
