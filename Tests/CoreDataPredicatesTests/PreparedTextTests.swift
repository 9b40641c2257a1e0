import Foundation
import Testing

@testable import CoreDataPredicates

/// Text operators are prepared when the right side is a constant, and general otherwise: both answer alike.
struct PreparedTextTests {
  private static let texts: [String] = [
    "", "a", "A", "ab", "ba", "aba", "é", "e\u{301}", "E", "É", "straße", "STRASSE", "ß", "ﬁ", "fi", "日本",
    "👩‍👧", "👩", "a\u{0}b", "İ", "i", "ı", "\u{301}", "aéa", "*", "?", "a*", "*a", "?b", "a?a", "**", "*é*",
    "\\*", "\\", "日?", "*本",
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
}
