import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// What must be known of a document before Foundation's parser reads it: on Linux the parser stops the
/// program at a name that is not UTF-8 (Swift 6.3).
package enum XMLBytes {
  /// How many bytes the value of an attribute may have: the parser refuses 10,000,000.
  package static let longestAttribute: Int = 9_000_000

  /// A parser of a document. It reads a stream, since `XMLParser(data:)` refuses documents above 10 MB: they
  /// are one piece for the parser then, and it limits the length of pieces.
  package static func parser(of data: Data) -> XMLParser { XMLParser(stream: InputStream(data: data)) }

  /// The line of the first byte that is not UTF-8, counted from 1; nil if there is none.
  package static func lineOfDamage(_ data: Data) -> Int? {
    var decoder = UTF8()
    var line: Int = 1
    var bytes = data.makeIterator()
    while true {
      switch decoder.decode(&bytes) {
      case .scalarValue(let scalar): if scalar == "\n" { line += 1 }
      case .emptyInput: return nil
      case .error: return line
      }
    }
  }

  /// Quicker than `lineOfDamage`.
  package static func isUTF8(_ data: Data) -> Bool {
    data.withUnsafeBytes { String(validating: $0, as: UTF8.self) != nil }
  }

  /// The line of an element with more attributes than documents of ours have; nil if there is none. The
  /// parser compares each attribute of an element with all before it, so that 100,000 take most of a minute.
  ///
  /// Cost: one pass over the bytes.
  package static func lineOfCrowdedElement(_ data: Data, most: Int = 256) -> Int? {
    data.withUnsafeBytes { bytes in
      crowdedElement(bytes, most).map { end in bytes[..<end].count { $0 == UInt8(ascii: "\n") } + 1 }
    }
  }

  private static func crowdedElement(_ bytes: UnsafeRawBufferPointer, _ most: Int) -> Int? {
    func skip(_ end: String, from start: Int) -> Int {
      let end: [UInt8] = Array(end.utf8)
      var place: Int = start
      while place + end.count <= bytes.count {
        if bytes[place] == end[0], bytes[place..<place + end.count].elementsEqual(end) {
          return place + end.count
        }
        place += 1
      }
      return bytes.count
    }
    func starts(_ text: String, at place: Int) -> Bool {
      bytes[place...].starts(with: Array(text.utf8))
    }
    var place: Int = 0
    while let start = bytes[place...].firstIndex(of: UInt8(ascii: "<")) {
      place = start + 1
      if starts("!--", at: place) {
        place = skip("-->", from: place)
      } else if starts("![CDATA[", at: place) {
        place = skip("]]>", from: place)
      } else if starts("?", at: place) {
        place = skip("?>", from: place)
      } else {
        // An equals sign outside quotation marks is an attribute.
        var quote: UInt8 = 0
        var count: Int = 0
        while place < bytes.count {
          let byte: UInt8 = bytes[place]
          if quote != 0 {
            if byte == quote { quote = 0 }
          } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
            quote = byte
          } else if byte == UInt8(ascii: "=") {
            count += 1
            if count > most { return place }
          } else if byte == UInt8(ascii: ">") {
            break
          }
          place += 1
        }
      }
    }
    return nil
  }
}
