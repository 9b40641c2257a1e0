import Foundation

/// A damaged XML store: the document as a parser can take it, and each of its objects as a document of its
/// own.
struct XMLStoreRemains {
  let bytes: Data
  /// Whether bytes that stop any parser were replaced.
  let hasReplacements: Bool

  private static let start = Data("<database>".utf8)
  private static let end = Data("</database>".utf8)
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

  /// Calls `body` with each object from one on, as a document, and the number of lines before it. Text and
  /// values have no `<` that is not markup, so that an object ends where the next begins, whatever is
  /// damaged.
  ///
  /// Cost: linear in the document.
  func forEachObject(from first: Int, _ body: (_ document: Data, _ lines: Int) throws -> Void) rethrows {
    var number: Int = 0
    var lines: Int = 0
    var counted: Data.Index = bytes.startIndex
    var place: Data.Index? = bytes.range(of: Self.object)?.lowerBound
    while let begin = place {
      let next: Data.Index? = bytes.range(of: Self.object, in: begin + 1..<bytes.endIndex)?.lowerBound
      if number >= first {
        lines += bytes[counted..<begin].count { $0 == UInt8(ascii: "\n") }
        counted = begin
        let part: Data = bytes[begin..<(next ?? bytes.endIndex)]
        // The last one has the end of the document with it, unless that is cut off.
        let isEnded: Bool = next == nil && part.range(of: Self.end, options: .backwards) != nil
        try body(Self.start + part + (isEnded ? Data() : Self.end), lines)
      }
      number += 1
      place = next
    }
  }
}
