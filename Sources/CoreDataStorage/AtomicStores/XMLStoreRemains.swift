import CoreDataModel
import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// A damaged XML store: the document as a parser can take it, its objects, and what they consist of.
struct XMLStoreRemains {
  let bytes: Data
  /// A character that stands in the places of bytes that stop any parser, and nowhere else; nil if there are
  /// none.
  let mark: Character?
  /// Where the objects begin.
  private let starts: [Data.Index]

  private static let start = Data("<database>".utf8)
  private static let end = Data("</database>".utf8)
  private static let object = Data("<object".utf8)
  private static let objectEnd = Data("</object>".utf8)
  private static let noncharacters: [Data] = [Data([0xEF, 0xBF, 0xBE]), Data([0xEF, 0xBF, 0xBF])]

  init(_ document: Data) {
    let isText: Bool =
      document.withUnsafeBytes { String(validating: $0, as: UTF8.self) } != nil
      && !document.contains(where: Self.isForbidden)
      && Self.noncharacters.allSatisfy { document.range(of: $0) == nil }
    let mark: Character? = isText ? nil : Self.unused(in: document)
    self.mark = mark
    let bytes: Data = mark.map { Self.cleaned(document, Array(String($0).utf8)) } ?? document
    self.bytes = bytes
    var starts: [Data.Index] = []
    var place: Data.Index = bytes.startIndex
    while let found = bytes.range(of: Self.object, in: place..<bytes.endIndex) {
      starts.append(found.lowerBound)
      place = found.upperBound
    }
    self.starts = starts
  }

  /// Control characters, which no document of XML may have.
  private static func isForbidden(_ byte: UInt8) -> Bool {
    byte < 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D
  }

  /// A character for private use that the document does not have.
  private static func unused(in document: Data) -> Character {
    for number in (0x10_0000...0x10_FFFD as ClosedRange<UInt32>).reversed() {
      guard let scalar = Unicode.Scalar(number) else { continue }
      if document.range(of: Data(String(scalar).utf8)) == nil { return Character(scalar) }
    }
    return "\u{FFFD}"
  }

  private static func cleaned(_ document: Data, _ mark: [UInt8]) -> Data {
    var result: [UInt8] = []
    result.reserveCapacity(document.count)
    var parser = Unicode.UTF8.ForwardParser()
    var bytes: Data.Iterator = document.makeIterator()
    while true {
      switch parser.parseScalar(from: &bytes) {
      case .valid(let scalar):
        let isStrange: Bool =
          scalar.count == 1
          ? scalar.first.map(isForbidden) ?? false : scalar.count == 3 && noncharacters.contains(Data(scalar))
        if isStrange { result += mark } else { result += scalar }
      case .error: result += mark
      case .emptyInput: return Data(result)
      }
    }
  }

  // MARK: Objects

  var objectCount: Int { starts.count }

  /// What precedes an object, the first ones included, as a document.
  func head(before object: Int) -> Data {
    if object < starts.count { return bytes[..<starts[object]] + Self.end }
    if let last = bytes.range(of: Self.objectEnd, options: .backwards) {
      return bytes[..<last.upperBound] + Self.end
    }
    return bytes
  }

  /// One object, from its start to the next one's. Text and values have no `<` that is not markup, so that an
  /// object ends where the next begins, whatever is damaged.
  struct Object {
    /// A document of the object alone.
    let document: Data
    let parts: Parts
  }

  /// What an object consists of. Each property begins with its tag, so that it ends where the next begins.
  struct Parts {
    /// The element that begins the object, without an end.
    var tag = Piece()
    /// Properties, and what stands between them.
    var pieces: [Piece] = []
    /// What follows the object.
    var rest = Piece()
    /// Whether the object has an end.
    var isEnded = false
  }

  struct Piece {
    var bytes = Data()
    /// The number of lines before it in the whole document.
    var lines: Int = 0

    var isBlank: Bool { bytes.allSatisfy { $0 <= 0x20 } }
    /// As the content of an object in a document.
    var document: Data {
      XMLStoreRemains.start + Data("<object>".utf8) + bytes + XMLStoreRemains.objectEnd + XMLStoreRemains.end
    }
    var text: String { String(decoding: bytes, as: UTF8.self) }
  }

  /// Calls `body` with each object from one on. Cost: linear in the document.
  func forEachObject(from first: Int, _ body: (Object) throws -> Void) rethrows {
    var lines: Int = 0
    var counted: Data.Index = bytes.startIndex
    for number in first..<max(first, starts.count) {
      let begin: Data.Index = starts[number]
      lines += Self.lineEnds(bytes[counted..<begin])
      counted = begin
      let isLast: Bool = number + 1 == starts.count
      var chunk: Data = bytes[begin..<(isLast ? bytes.endIndex : starts[number + 1])]
      if isLast, let end = chunk.range(of: Self.end, options: .backwards) {
        chunk = chunk[..<end.lowerBound]
      }
      try body(Object(document: Self.start + chunk + Self.end, parts: Self.parts(of: chunk, lines)))
    }
  }

  private static func lineEnds(_ bytes: Data) -> Int { bytes.count { $0 == UInt8(ascii: "\n") } }

  private static let propertyStarts: [Data] = [Data("<attribute".utf8), Data("<relationship".utf8)]
  private static let propertyEnds: [Data] = [Data("</attribute>".utf8), Data("</relationship>".utf8)]

  /// Where marks are, in order.
  private static func places(of marks: [Data], in bytes: Data) -> [Range<Data.Index>] {
    var found: [Range<Data.Index>] = []
    for mark in marks {
      var place: Data.Index = bytes.startIndex
      while let next = bytes.range(of: mark, in: place..<bytes.endIndex) {
        found.append(next)
        place = next.upperBound
      }
    }
    return found.sorted { $0.lowerBound < $1.lowerBound }
  }

  /// Cost: linear in the object, whatever it has.
  private static func parts(of chunk: Data, _ lines: Int) -> Parts {
    var parts = Parts()
    var inner: Data = chunk
    if let end = chunk.range(of: objectEnd) {
      (parts.isEnded, inner) = (true, chunk[..<end.lowerBound])
      parts.rest = Piece(
        bytes: chunk[end.upperBound...], lines: lines + lineEnds(chunk[..<end.upperBound]))
    }
    let starts: [Data.Index] = places(of: propertyStarts, in: inner).map(\.lowerBound)
    var ends: ArraySlice<Data.Index> = places(of: propertyEnds, in: inner).map(\.upperBound)[...]
    let property: Data.Index = starts.first ?? inner.endIndex
    var tagEnd: Data.Index = property
    if let close = inner.firstIndex(of: UInt8(ascii: ">")), close < property { tagEnd = close + 1 }
    parts.tag = Piece(bytes: inner[..<tagEnd], lines: lines)
    var place: Data.Index = tagEnd
    var linesBefore: Int = lines + lineEnds(inner[..<tagEnd])
    func add(to end: Data.Index) {
      let piece = Piece(bytes: inner[place..<end], lines: linesBefore)
      if !piece.isBlank { parts.pieces.append(piece) }
      linesBefore += lineEnds(piece.bytes)
      place = end
    }
    add(to: property)
    for next in starts.dropFirst() + [inner.endIndex] where place < inner.endIndex {
      while let end = ends.first, end <= place { ends = ends.dropFirst() }
      if let end = ends.first, end <= next { add(to: end) }
      add(to: next)
    }
    return parts
  }
}

/// Whether a document is well-formed, and where it is not.
final class XMLStoreForm: NSObject, XMLParserDelegate {
  /// The objects that are whole, from the first one on.
  private(set) var objects: Int = 0
  /// The line at which it is damaged; nil for one that is whole, or ends early.
  private(set) var line: Int?
  private(set) var isWhole = false
  private var depth: Int = 0

  init(_ document: Data) {
    super.init()
    let parser: XMLParser = XMLBytes.parser(of: document)
    parser.shouldResolveExternalEntities = false
    parser.delegate = self
    let isRead: Bool = parser.parse()
    isWhole = isWhole && isRead && line == nil
  }

  func parser(
    _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) { depth += 1 }

  func parser(
    _ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?
  ) {
    depth -= 1
    if line != nil { return }
    if depth == 1, element == "object" { objects += 1 }
    if depth == 0 { isWhole = true }
  }

  /// Foundation on Linux parses on after an error.
  func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
    if line == nil { line = parser.lineNumber }
    parser.abortParsing()
  }
}
