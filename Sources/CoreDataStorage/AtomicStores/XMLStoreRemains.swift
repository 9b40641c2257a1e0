import Foundation

/// The parts of a damaged XML store that a parser is given, one after the other: the document up to where it
/// can't be read, then from an object behind that place, and so on.
struct XMLStoreRemains {
  /// What is to be parsed now.
  private(set) var bytes: Data
  /// How many lines of the document are not in `bytes`.
  private(set) var linesBefore: Int = 0
  /// Whether bytes that stop any parser were replaced.
  let hasReplacements: Bool

  private static let start = Data("<database>".utf8)
  private static let object = Data("<object".utf8)

  init(_ document: Data) {
    let isText: Bool =
      document.withUnsafeBytes { String(validating: $0, as: UTF8.self) } != nil
      && !document.contains(where: Self.isForbidden)
    hasReplacements = !isText
    bytes = isText ? document : Self.cleaned(document)
  }

  /// Control characters, which no document of XML may have.
  private static func isForbidden(_ byte: UInt8) -> Bool {
    byte < 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D
  }

  private static func cleaned(_ document: Data) -> Data {
    let replacement: [UInt8] = Array("\u{FFFD}".utf8)
    var result: [UInt8] = []
    result.reserveCapacity(document.count)
    for byte in String(decoding: document, as: UTF8.self).utf8 {
      if isForbidden(byte) { result += replacement } else { result.append(byte) }
    }
    return Data(result)
  }

  /// Goes to the next object that was not begun; false if there is none. `isFirst`: whether the document was
  /// parsed from its beginning, so that the damage may be before all objects.
  mutating func goOn(behind begun: Int, isFirst: Bool) -> Bool {
    var place: Data.Index = bytes.startIndex
    for _ in 0..<max(begun, isFirst ? 0 : 1) {
      guard let found = bytes.range(of: Self.object, in: place..<bytes.endIndex) else { return false }
      place = found.upperBound
    }
    guard let next = bytes.range(of: Self.object, in: place..<bytes.endIndex) else { return false }
    linesBefore += bytes[..<next.lowerBound].count { $0 == UInt8(ascii: "\n") }
    bytes = Self.start + bytes[next.lowerBound...]
    return true
  }
}
