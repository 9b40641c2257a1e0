import Foundation
import Testing

@testable import CoreDataPredicates

/// A format that was parsed before gives, with other arguments, what parsing it gives.
@Suite struct FormatCacheTests {
  struct Case: @unchecked Sendable, CustomTestStringConvertible {
    var format: String
    /// One list of arguments after the other.
    var arguments: [[Any?]]
    var testDescription: String { format }

    init(_ format: String, _ arguments: [Any?]...) { (self.format, self.arguments) = (format, arguments) }
  }

  static let cases: [Case] = [
    Case("number == %lld", [1 as Int64], [2 as Int64], [NSNumber(value: 3)], [true], [4.5]),
    Case("name == %@ AND (age > %d OR NOT age IN %@)", ["a", 1, [1, 2]], ["b", 2, Set([3])]),
    Case("a == %@", [nil], [NSNull()], [Optional<Int>.none as Any?], [Optional(3) as Any?], ["x"]),
    Case("%@ CONTAINS name", [["a"]], [["b", "c"]]),
    Case("a BETWEEN {%@, %@}", [1, 2], [Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 9)]),
    Case("SUBQUERY(items, $i, $i.price > %f).@count == %d", [1.5, 2], [2.5, 3]),
    Case("a[%d] == %s", [1, "x"], [2, "y"]), Case("a == -%d", [1], [2]), Case("a == %c", ["x"], [65]),
    Case("%K == %@", ["name", 1], ["name", 2], ["other", 3], ["name", 4]),
    Case("o.%K.x == %@", ["name", 1], ["name", 2]), Case("a == 1"), Case("é == %@", [1], [2]),
    Case("a == %@ + 1", [1], [2]), Case("FUNCTION(%@, 'length') == %d", ["a", 1], ["b", 2]),
  ]

  @Test(arguments: cases)
  func `a format that is known gives what parsing gives`(_ given: Case) throws {
    let cache = FormatCache(capacity: 8)
    for arguments in given.arguments.isEmpty ? [[]] : given.arguments {
      let found: ParsedFormat = try cache.predicate(given.format, arguments)
      let parsed: PredicateNode = try Parser.parse(given.format, arguments)
      #expect(found.node == parsed)
      #expect(Printer.print(found.node) == Printer.print(parsed))
      if let shape = found.shape {
        let walked: PredicateShape? = PredicateShape(parsed)
        #expect(shape.key == walked?.key && shape.parameters == walked?.parameters)
      }
    }
    #expect(cache.count == 1)
    #expect(cache.counts == FormatCache.Counts(hits: max(0, given.arguments.count - 1), misses: 1))
  }

  /// Whether arguments of the kinds that the first ones had give a shape without a walk over the predicate.
  @Test(
    arguments: [
      ("number == %lld", [1 as Int64], true),
      ("name == %@ AND (age > 3 OR NOT age IN %@)", ["a", [1, 2]], true),
      ("2 == a OR %@ == b", [1.5], true), ("a BETWEEN {%@, %@}", [1, 2], false), ("a == %@ + 1", [1], false),
      ("age IN %@", [Set([3])], false), ("a == 1", [], true),
    ] as [(String, [any Sendable], Bool)])
  func `a format's parameters are those of its shape`(
    _ format: String, _ arguments: [any Sendable], _ isKnown: Bool
  ) throws {
    let cache = FormatCache(capacity: 8)
    for _ in 1...2 {
      let found: ParsedFormat = try cache.predicate(format, arguments)
      #expect((found.shape != nil) == isKnown)
      let walked: PredicateShape? = PredicateShape(found.node)
      if isKnown { #expect(found.shape?.parameters == walked?.parameters) }
      if isKnown { #expect(found.shape?.key == walked?.key) }
    }
    let made: NSPredicate = NSPredicate(format: format, argumentArray: arguments)
    #expect(made.shapedStructure().shape?.key == PredicateShape(made.structureNode())?.key)
  }

  @Test func `a predicate or an expression among the arguments becomes part of the tree`() throws {
    let cache = FormatCache(capacity: 8)
    let inner: NSPredicate = NSPredicate(format: "b == 2")
    for argument in [inner, NSPredicate(format: "c == 3")] {
      let found: PredicateNode = try cache.predicate("a == 1 AND %@", [argument]).node
      #expect(try found == Parser.parse("a == 1 AND %@", [argument]))
    }
    _ = try cache.predicate("a == %@", [1])
    let path: NSExpression = NSExpression(forKeyPath: "b")
    let wrapped: Any = Optional(path) as Any
    for argument in [path, wrapped] as [Any] {
      let found: PredicateNode = try cache.predicate("a == %@", [argument]).node
      #expect(try found == Parser.parse("a == b", []))
    }
    #expect(try cache.predicate("a == %@", [2]).node == Parser.parse("a == 2", []))
  }

  @Test func `mistakes are found in formats that are known, too`() throws {
    let cache = FormatCache(capacity: 8)
    _ = try cache.predicate("a == %d", [1])
    for arguments in [[], ["x"], [Date()]] as [[Any?]] {
      let known: any Error = try #require(throws: PredicateError.self) {
        try cache.predicate("a == %d", arguments)
      }
      let parsed: any Error = try #require(throws: PredicateError.self) {
        try Parser.parse("a == %d", arguments)
      }
      #expect("\(known)" == "\(parsed)")
    }
    #expect(throws: PredicateError.self) { try cache.predicate("a ==", []) }
    #expect(cache.count == 1)
  }

  @Test func `formats that are equal as texts and not in their bytes are two`() throws {
    let cache = FormatCache(capacity: 8)
    let formats: [String] = ["\u{E9} == %@", "e\u{301} == %@"]
    #expect(formats[0] == formats[1])
    for format in formats { #expect(try cache.predicate(format, [1]).node == Parser.parse(format, [1])) }
    #expect(cache.count == 2)
  }

  @Test func `no more formats are kept than there is room for`() throws {
    let cache = FormatCache(capacity: 8)
    for number in 1...30 {
      _ = try cache.predicate("a == \(number)", [])
      #expect(cache.count <= 8)
    }
    _ = try cache.predicate("a == " + String(repeating: "1", count: 2000), [])
    #expect(cache.counts == FormatCache.Counts(misses: 30))
  }

  @Test func `formats that are used once are not kept`() throws {
    let cache = FormatCache(capacity: 8, firstUses: 16)
    for number in 1...30 {
      #expect(try cache.predicate("a == \(number)", []).node == Parser.parse("a == \(number)", []))
    }
    #expect(cache.count == 0)
    for number in 1...4 as ClosedRange<Int64> {
      #expect(try cache.predicate("b == %lld", [number]).node == Parser.parse("b == \(number)", []))
    }
    #expect(cache.count == 1)
    #expect(cache.counts == FormatCache.Counts(hits: 2, misses: 32))
  }
}
