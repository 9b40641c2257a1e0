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
}
