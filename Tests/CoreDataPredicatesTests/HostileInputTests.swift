import CoreDataEvaluation
import Foundation
import TestSupport
import Testing

@testable import CoreDataPredicates

/// Formats that nobody writes: each gives an explained error or a predicate, on a small stack,
/// in little time.
struct HostileInputTests {
  @Test func `a hundred thousand parentheses are refused`() throws {
    for open in ["(", "{", "NOT ", "!", "- ", "sum(", "a[", "SUBQUERY(", "TERNARY(", "FUNCTION(", "CAST("] {
      let format: String = String(repeating: open, count: 100_000)
      let error: PredicateError? = #expect(throws: PredicateError.self, "\(open)") {
        try Parser.predicate(format)
      }
      #expect(error?.description.hasPrefix("Unable to parse the format string \"") == true)
      #expect((error?.description.count ?? 0) < 1000)
    }
  }

  @Test func `long chains of one operator are refused or flat`() throws {
    let arithmetic: String = Array(repeating: "1", count: 100_000).joined(separator: " + ")
    #expect(throws: PredicateError.self) { try Parser.predicate("\(arithmetic) == 1") }
    let members: String = Array(repeating: "a == 1", count: 20_000).joined(separator: " OR ")
    #expect(try Parser.predicate(members).depth == 3)
  }

  @Test func `the deepest allowed trees fit half a megabyte of stack`() throws {
    let levels: Int = TreeLimits.depth - 10
    let formats: [String] = [
      String(repeating: "NOT ", count: levels) + "a == 1",
      String(repeating: "(", count: levels) + "a" + String(repeating: ")", count: levels) + " == 1",
      String(repeating: "- (", count: levels / 2) + "a" + String(repeating: ")", count: levels / 2) + " == 1",
      Array(repeating: "a", count: levels).joined(separator: " + ") + " == 1",
      String(repeating: "{", count: levels) + String(repeating: "}", count: levels) + " == 1",
      String(repeating: "TERNARY(a == 1, 1, ", count: levels / 2) + "1"
        + String(repeating: ")", count: levels / 2)
        + " == 1",
      Self.alternating(levels / 2),
    ]
    for format in formats {
      let failure: String? = onSmallStack {
        do {
          let predicate: Foundation.NSPredicate = try Foundation.NSPredicate(parsing: format)
          let text: String = predicate.formatText
          guard try Foundation.NSPredicate(parsing: text) == predicate else {
            return "prints another predicate: \(text.prefix(80))"
          }
          _ = predicate.hash
          _ = predicate.withSubstitutionVariables(["x": 1])
          let node: PredicateNode = predicate.predicateNode()
          _ = (node.depth, node.variables, node.keyPaths, node.simplified, node.firstProgramCode)
          _ = try predicate.evaluateThrowing(with: ["a": 1])
          return nil
        } catch {
          return "\(error)"
        }
      }
      #expect(failure == nil, "\(format.prefix(40))")
    }
  }

  @Test func `a ten megabyte literal parses`() throws {
    let text: String = String(repeating: "x", count: 10_000_000)
    let node: PredicateNode = try Parser.predicate("a == '\(text)'")
    #expect(Printer.print(node).utf8.count == text.utf8.count + 7)
    let error: PredicateError? = #expect(throws: PredicateError.self) {
      try Parser.predicate("a == '\(text)")
    }
    #expect((error?.description.count ?? 0) < 1000)
  }

  @Test(arguments: [
    "a == '", "a == \"", "a == '\\", "a == '\\u12'", "a == '\\ud800'", "a == '\\x'", "a == '\\ud800\\u0041'",
    "%",
    "%l", "%1$@ == 1", "%%", "a == %n", "\0", "a\0b == 1", "a == 1\0", "@", "$", "#", "0x", "0b2 == 1",
    "1e == 1",
    "a == 1 AND (b", "a[", "a[1", "a.", ".a == 1", "{", "}", "a ==[x] 'b'", "a ==[", "SELF", "a := 1",
    "FETCH(1) == 1", "\u{FFFD} == 1", "a = = 1", "NOT", "ANY", "CAST(a, NSDate) == 1", "a == 1 == 2",
  ])
  func `broken text is an error`(format: String) {
    let error: PredicateError? = #expect(throws: PredicateError.self) { try Parser.predicate(format) }
    #expect(error?.position != nil)
  }

  @Test func `a NUL inside a string is text`() throws {
    let predicate: Foundation.NSPredicate = try Foundation.NSPredicate(parsing: "a == 'x\0y'")
    #expect(try predicate.evaluateThrowing(with: ["a": "x\0y"]))
    #expect(try !predicate.evaluateThrowing(with: ["a": "x"]))
  }

  /// Foundation's hash of an `NSDecimalNumber` never returns, and a cast to a class makes them of the
  /// decimals in a set.
  @Test(
    arguments: [
      ("p IN %@", true), ("ANY %@ == p", true), ("%@[0] == 1", nil), ("%@.@count == 2", true),
      ("s.@count == 2", true),
      ("SUBQUERY(s, $x, $x > 1).@count == 1", true), ("s[0] == 1", nil), ("count(s) == 2", true),
      ("p IN $s", true),
      ("s.@max.#self == 2.5", true), ("SUBQUERY(%@, $x, $x > 1)[0] == 1", nil), ("d.@count == 1", true),
      ("d[p] == 'x'", true),
    ] as [(String, Bool?)])
  func `sets and dictionaries of decimals are never bridged`(format: String, expected: Bool?) throws {
    let prices: Set<Decimal> = [1, 2.5]
    let predicate: Foundation.NSPredicate = try Foundation.NSPredicate(parsing: format, arguments: [prices])
    let object: [String: Any] = ["p": Decimal(1), "s": prices, "d": [Decimal(1): "x"]]
    let answer: Bool? = try? predicate.evaluateThrowing(with: object, substitutionVariables: ["s": prices])
    #expect(answer == expected)
    let bound: Bool? = try? predicate.withSubstitutionVariables(["s": prices]).evaluateThrowing(with: object)
    #expect(bound == expected)
  }

  @Test func `random text never crashes the parser`() {
    let seed: UInt64 = .random(in: 0 ... .max)
    print("seed \(seed)")
    var random: SeededRandom = SeededRandom(seed: seed)
    let pieces: [String] = [
      "a", "$x", "SELF", "(", ")", "{", "}", "[", "]", ",", ".", "==", "<", "IN", "ANY", "NOT", "AND", "1",
      "2.5", "'s'",
      "+", "-", "**", "sum", "add:to:", "%@", "%K", "%d", "FUNCTION", "SUBQUERY", "CAST", "TERNARY", ":",
      ":=", "#", "@sum",
    ]
    for _ in 0..<20_000 {
      let count: Int = .random(in: 1...14, using: &random)
      let format: String = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined(
        separator: " ")
      guard let node = try? Parser.predicate(format, arguments: ["x", 1, 2]) else { continue }
      let text: String = Printer.print(node)
      #expect((try? Parser.predicate(text)) == node, "\(format) printed \(text)")
    }
  }

  /// `a == 1 AND (a == 1 OR (a == 1 AND (…)))`
  private static func alternating(_ levels: Int) -> String {
    let starts: [String] = (0..<levels).map { $0.isMultiple(of: 2) ? "a == 1 AND (" : "a == 2 OR (" }
    return starts.joined() + "a == 3" + String(repeating: ")", count: levels)
  }
}
