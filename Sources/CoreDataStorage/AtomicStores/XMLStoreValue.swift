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
    case .double, .date: return real(Double(trimmed))
    case .float: return real(Float(trimmed).map(Double.init))
    case .decimal:
      let text: String = trimmed
      guard let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")),
        text == "NaN" || DecimalText.isNumber(text)
      else { return false }
      return bytes(decimal.description.utf8)
    case .string, .uri: return bytes(XMLStoreText.unescaped(text))
    case .uuid:
      guard let uuid = UUID(uuidString: trimmed) else { return false }
      return withUnsafeBytes(of: uuid.uuid) { bytes($0) }
    case .data, .transformable:
      guard let data = Data(base64Encoded: Data(text), options: .ignoreUnknownCharacters) else {
        return false
      }
      return bytes(data)
    case .toOne: return false
    }
  }
}
