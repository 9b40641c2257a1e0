import Foundation

/// What must be known of a document before Foundation's parser reads it: on Linux the parser stops the
/// program at a name that is not UTF-8 (Swift 6.3).
package enum XMLBytes {
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
