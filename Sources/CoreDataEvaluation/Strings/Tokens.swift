import CoreDataPredicates
import Foundation

/// Divides texts into words, for `TOKENMATCHES` and `tokenize(…)`.
package enum Tokens {
  /// The words of a text, runs of letters and digits with the marks that belong to them, folded by `c` and
  /// `d`.
  package static func words(of text: String, _ options: ComparisonOptions) -> [String] {
    let folded: String = StringMatching.fold(text, options: options)
    return folded.unicodeScalars.split { !isPartOfWord($0) }.map { String($0) }
  }

  /// Whether every word of `search` is a prefix of some word of one of the texts. A search without words
  /// finds nothing.
  package static func match(_ texts: [String], _ search: String, _ options: ComparisonOptions) -> Bool {
    let wanted: [String] = words(of: search, options)
    if wanted.isEmpty { return false }
    let present: [String] = texts.flatMap { words(of: $0, options) }
    return wanted.allSatisfy { word in present.contains { StringMatching.beginsWith($0, word) } }
  }

  private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
    let properties: Unicode.Scalar.Properties = scalar.properties
    if properties.isAlphabetic { return true }
    switch properties.generalCategory {
    case .decimalNumber, .letterNumber, .otherNumber, .nonspacingMark, .spacingMark: return true
    default: return false
    }
  }
}
