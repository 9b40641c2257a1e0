import CoreDataModel
import Foundation

/// Cuts a document that was found to be well-formed into elements and what stands between them.
///
/// Foundation's parser gives no whitespace within tags, no escapes and no order of attributes, so that what
/// it reads can't be written as it was.
struct SourceParser {
  private let bytes: [UInt8]
  private let file: String
  private var place: Int

  /// The document has passed ``ModelSourceSchema/checkXML(_:file:)``.
  init(_ data: Data, file: String) {
    bytes = Array(data)
    place = XMLBytes.startOfRoot(in: data)
    self.file = file
  }

  mutating func parse() throws -> (prolog: String, root: SourceElement, epilog: String) {
    let prolog: String = text(0..<place)
    let root: SourceElement = try element()
    return (prolog, root, text(place..<bytes.count))
  }

  // MARK: Bytes

  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  private var isAtEnd: Bool { place >= bytes.count }

  private func isAt(_ text: StaticString) -> Bool {
    text.withUTF8Buffer { bytes[place...].starts(with: $0) }
  }

  private mutating func skip(past end: StaticString) {
    while !isAtEnd, !isAt(end) { place += 1 }
    place = min(bytes.count, place + end.utf8CodeUnitCount)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || 9...10 ~= byte || byte == 13 }

  private mutating func skipSpace() {
    while !isAtEnd, Self.isSpace(bytes[place]) { place += 1 }
  }

  private func unexpected() -> ModelFileError {
    let line: Int = bytes[..<min(place, bytes.count)].count { $0 == UInt8(ascii: "\n") } + 1
    return ModelFileError(
      file: file, line: line,
      reason: "This is not well-formed XML, or has declarations of its own; a model has none.")
  }

  // MARK: Markup

  private mutating func name() throws -> String {
    let start: Int = place
    while !isAtEnd, !Self.isSpace(bytes[place]), !"/>=<".utf8.contains(bytes[place]) { place += 1 }
    guard place > start else { throw unexpected() }
    return text(start..<place)
  }

  /// The element that starts here. The caller has checked how deep elements nest.
  private mutating func element() throws -> SourceElement {
    guard isAt("<") else { throw unexpected() }
    place += 1
    let name: String = try name()
    var attributes: [SourceAttribute] = []
    while true {
      let start: Int = place
      skipSpace()
      guard !isAtEnd else { throw unexpected() }
      if isAt("/>") {
        place += 2
        return SourceElement(
          name: name, attributes: attributes, startEnd: text(start..<place), content: [], end: "")
      }
      if isAt(">") {
        place += 1
        let startEnd: String = text(start..<place)
        let (content, end) = try content()
        return SourceElement(
          name: name, attributes: attributes, startEnd: startEnd, content: content, end: end)
      }
      attributes.append(try attribute(from: start))
    }
  }

  private mutating func attribute(from start: Int) throws -> SourceAttribute {
    let name: String = try name()
    skipSpace()
    guard isAt("=") else { throw unexpected() }
    place += 1
    skipSpace()
    guard !isAtEnd, isAt("\"") || isAt("'") else { throw unexpected() }
    let quote: UInt8 = bytes[place]
    place += 1
    let first: Int = place
    while !isAtEnd, bytes[place] != quote { place += 1 }
    guard !isAtEnd else { throw unexpected() }
    let raw: Range<Int> = first..<place
    place += 1
    return SourceAttribute(name: name, value: unescaped(raw), text: text(start..<place))
  }

  private mutating func content() throws -> (content: [SourceNode], end: String) {
    var content: [SourceNode] = []
    var start: Int = place
    while !isAtEnd {
      if isAt("</") {
        if place > start { content.append(.text(text(start..<place))) }
        start = place
        skip(past: ">")
        return (content, text(start..<place))
      } else if isAt("<!--") {
        skip(past: "-->")
      } else if isAt("<![CDATA[") {
        skip(past: "]]>")
      } else if isAt("<?") {
        skip(past: "?>")
      } else if isAt("<") {
        if place > start { content.append(.text(text(start..<place))) }
        content.append(.element(try element()))
        start = place
      } else {
        place += 1
      }
    }
    throw unexpected()
  }

  // MARK: Values

  /// The value of an attribute: references replaced, line breaks and tabs as spaces, as XML has it.
  private func unescaped(_ range: Range<Int>) -> String {
    let raw = bytes[range]
    guard raw.contains(where: { $0 == UInt8(ascii: "&") || $0 < 32 }) else { return text(range) }
    var result = ""
    let scalars: String.UnicodeScalarView = text(range).unicodeScalars
    var place: String.UnicodeScalarView.Index = scalars.startIndex
    while place < scalars.endIndex {
      let scalar: Unicode.Scalar = scalars[place]
      let next: String.UnicodeScalarView.Index = scalars.index(after: place)
      if scalar == "&", let end = scalars[next...].firstIndex(of: ";") {
        let reference = String(scalars[next..<end])
        if let replacement = Self.scalar(of: reference) {
          result.unicodeScalars.append(replacement)
        } else {
          result += "&\(reference);"
        }
        place = scalars.index(after: end)
        continue
      }
      switch scalar {
      case "\r":
        // A line break of two characters is one space.
        if next == scalars.endIndex || scalars[next] != "\n" { result += " " }
      case "\n", "\t": result += " "
      default: result.unicodeScalars.append(scalar)
      }
      place = next
    }
    return result
  }

  private static func scalar(of reference: String) -> Unicode.Scalar? {
    switch reference {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default:
      guard reference.hasPrefix("#") else { return nil }
      let digits: Substring = reference.dropFirst()
      let code: UInt32? =
        digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits, radix: 10)
      return code.flatMap(Unicode.Scalar.init)
    }
  }
}
