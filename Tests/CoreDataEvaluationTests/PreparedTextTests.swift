import Foundation
import Testing

@testable import CoreDataEvaluation
@testable import CoreDataPredicates

/// Text operators are prepared when the right side is a constant, and general otherwise: both answer alike.
struct PreparedTextTests {
  private static let texts: [String] = [
    "", "a", "A", "ab", "ba", "aba", "é", "e\u{301}", "E", "É", "straße", "STRASSE", "ß", "ﬁ", "fi", "日本",
    "👩‍👧", "👩", "a\u{0}b", "İ", "i", "ı", "\u{301}", "aéa", "*", "?", "a*", "*a", "?b", "a?a", "**", "*é*",
    "\\*", "\\", "日?", "*本", "Éa", "aÉ", "AÉb", "abŁ", "ŉ", "n", "ſ", "s", "\u{212A}", "k", "a\u{301}É", "×a",
    "ÿ",
  ]

  @Test(
    arguments: ["==", "!=", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE"], ["", "c", "d", "cd", "n", "l"])
  func `a constant on the right gives what a variable gives`(symbol: String, letters: String) throws {
    let operation: String = letters.isEmpty ? symbol : "\(symbol)[\(letters)]"
    let general: Foundation.NSPredicate = try Foundation.NSPredicate(parsing: "SELF \(operation) $text")
    for constant in Self.texts {
      let prepared = try Foundation.NSPredicate(parsing: "SELF \(operation) %@", arguments: [constant])
      for text in Self.texts {
        let expected: Bool = try general.evaluateThrowing(
          with: text, substitutionVariables: ["text": constant])
        #expect(
          try prepared.evaluateThrowing(with: text) == expected,
          "\(text.debugDescription) \(operation) \(constant.debugDescription)")
      }
    }
  }

  @Test func `wildcards count whole characters of several bytes`() throws {
    let cases: [(text: String, pattern: String, matches: Bool)] = [
      ("日本", "??", true), ("日本", "?", false), ("日本", "*本", true), ("日本語本", "日*本", true),
      ("éa", "?a", true), ("👩x", "?x", true), ("日本", "???", false), ("日本", "*?本*", true),
      ("日本", "*??本", false),
    ]
    for (text, pattern, matches) in cases {
      let predicate = try Foundation.NSPredicate(parsing: "SELF LIKE %@", arguments: [pattern])
      #expect(try predicate.evaluateThrowing(with: text) == matches, "\(text) LIKE \(pattern)")
    }
  }

  @Test func `every letter beside ASCII folds as the general operators fold it`() {
    let operators: [(ComparisonOperator, (String, String, ComparisonOptions) -> Bool)] = [
      (.beginsWith, StringMatching.beginsWith), (.endsWith, StringMatching.endsWith),
      (.contains, StringMatching.contains), (.equalTo, StringMatching.equals),
      (.lessThan, { StringMatching.compare($0, $1, $2) == .orderedAscending }),
    ]
    let allOptions: [ComparisonOptions] = [.caseInsensitive, [.caseInsensitive, .diacriticInsensitive]]
    for scalar in (0x80..<0x250).compactMap({ Unicode.Scalar($0 as Int) }) {
      for text in ["\(scalar)", "A\(scalar)", "\(scalar)a", "a\(scalar)S"] {
        for constant in ["a", "S", "as", "i", "n", "\(scalar)"] {
          for options in allOptions {
            for (comparison, general) in operators {
              let test = TextTest(comparison, constant, options)
              #expect(
                test.holds(text) == general(text, constant, options),
                "\(text) \(comparison) \(constant), options \(options.rawValue)")
            }
          }
        }
      }
    }
  }
}
