import Foundation
import Testing

@testable import CoreDataEvaluation
@testable import CoreDataPredicates

struct ReferenceTypeTests {
  @Test func `a format gives the class that fits`() throws {
    #expect(NSPredicate(format: "a == 1") is NSComparisonPredicate)
    #expect(NSPredicate(format: "a == 1 AND b == 2") is NSCompoundPredicate)
    #expect(NSPredicate(format: "NONE a == 1") is NSCompoundPredicate)
    #expect(NSPredicate(format: "TRUEPREDICATE").evaluate(with: nil))
    #expect(NSPredicate(format: "a IN %@", argumentArray: [[1, 2]]).evaluate(with: ["a": 2]))
  }

  @Test func `parts of a comparison can be read`() throws {
    let predicate = try #require(
      NSPredicate(format: "ANY a.b BEGINSWITH[cd] %@", "x") as? NSComparisonPredicate)
    #expect(predicate.leftExpression.keyPath == "a.b")
    #expect(predicate.rightExpression.constantValue as? String == "x")
    #expect(predicate.comparisonPredicateModifier == .any)
    #expect(predicate.predicateOperatorType == .beginsWith)
    #expect(predicate.options == [.caseInsensitive, .diacriticInsensitive])
    let same = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: "a.b"), rightExpression: NSExpression(forConstantValue: "x"),
      modifier: .any, type: .beginsWith, options: [.caseInsensitive, .diacriticInsensitive])
    #expect(predicate == same)
    #expect(predicate.hash == same.hash)
  }

  @Test func `programmatic nesting is kept, parsed chains are flat`() {
    let parts: [NSPredicate] = ["id > 0", "id != 99", "x == 1", "y == 2"].map { NSPredicate(format: $0) }
    let nested = parts.dropFirst().reduce(parts[0]) {
      NSCompoundPredicate(andPredicateWithSubpredicates: [$0, $1])
    }
    #expect(nested.formatText == "((id > 0 AND id != 99) AND x == 1) AND y == 2")
    #expect(NSPredicate(format: "a == 1 AND b == 2 AND c == 3").formatText == "a == 1 AND b == 2 AND c == 3")
    #expect(NSCompoundPredicate(andPredicateWithSubpredicates: []).predicateFormat == "TRUEPREDICATE")
    #expect(NSCompoundPredicate(orPredicateWithSubpredicates: []).predicateFormat == "FALSEPREDICATE")
  }

  @Test func `a predicate built step by step ten thousand times still works`() throws {
    var predicate: NSPredicate = NSPredicate(format: "a == 0")
    for number in 1...10_000 {
      predicate = NSCompoundPredicate(orPredicateWithSubpredicates: [
        predicate, NSPredicate(format: "a == %d", number),
      ])
    }
    #expect(try predicate.evaluateThrowing(with: ["a": 10_000]))
    #expect(try !predicate.evaluateThrowing(with: ["a": -1]))
  }

  @Test func `variables are replaced, bound, and missed`() throws {
    let template: NSPredicate = NSPredicate(format: "a == $x AND SUBQUERY(b, $x, $x > 1).@count == 1")
    let object: [String: Any] = ["a": 3, "b": [1, 2]]
    #expect(template.withSubstitutionVariables(["x": 3]).evaluate(with: object))
    #expect(template.evaluate(with: object, substitutionVariables: ["x": 3]))
    #expect(throws: PredicateError.self) { try template.evaluateThrowing(with: object) }
    #expect(template.predicateNode().variables == ["x"])
    #expect(template.predicateNode().keyPaths == ["a", "b"])
  }

  // Found with the tests of PredicateQI and CoreDataQueryInterface: what Apple's stores take.
  @Test func `ANY before one value of a subquery's variable says nothing, and is a mistake of SELF`() throws {
    let object: [String: Any] = ["pets": [["name": "Tom"], ["name": "Kit"]], "name": "Ann"]
    for (format, expected) in [
      ("SUBQUERY(pets, $p, ANY $p.name BEGINSWITH[c] 't').@count == 1", true),
      ("SUBQUERY(pets, $p, SOME $p.name == 'Kit').@count == 2", false),
      ("SUBQUERY(pets, $p, NONE $p.name == 'Kit').@count == 1", true),
      ("SUBQUERY(pets, $p, ANY $p.name == $p.name).@count == 2", true),
    ] {
      #expect(try NSPredicate(format: format).evaluateThrowing(with: object) == expected, "\(format)")
    }
    for format in ["ANY name == 'Ann'", "SUBQUERY(pets, $p, ALL $p.name == 'Tom').@count == 1"] {
      #expect(throws: PredicateError.self, "\(format)") {
        try NSPredicate(format: format).evaluateThrowing(with: object)
      }
    }
  }

  @Test func `blocks and Foundation's own predicates take part`() throws {
    let block: NSPredicate = NSPredicate { object, _ in (object as? Int) == 3 }
    let compound: NSPredicate = NSPredicate(format: "SELF > 1 AND %@", block)
    #expect(compound.evaluate(with: 3))
    #expect(!compound.evaluate(with: 4))
    #expect(NSPredicate(value: true).predicateNode() == .constant(true))
    #expect(NSPredicate(value: false).predicateNode() == .constant(false))
  }

  @Test func `expressions give values`() throws {
    #expect(NSExpression(format: "1 + 2 * 3").expressionValue(with: nil, context: nil) as? Int == 7)
    #expect(NSExpression(format: "%@", NSExpression(forKeyPath: "a")).keyPath == "a")
    #expect(
      NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "a")]).description == "sum:(a)")
    #expect(NSExpression(forAggregate: [1, 2]).description == "{1, 2}")
    #expect(throws: PredicateError.self) { try NSExpression(parsing: "a == 1") }
    let block = NSExpression(block: { object, _, _ in object }, arguments: nil)
    #expect(block.expressionValue(with: 5, context: nil) as? Int == 5)
  }

  @Test func `a bad format stops the program with its reason`() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = NSPredicate(format: "name == %k", "x")
    }
    let text: String = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("Unable to parse the format string \"name == %k\""))
    #expect(text.contains("%K"))
  }

  @Test func `errors name the place and the cure`() {
    let cases: [(format: String, position: Int, hint: String)] = [
      ("name == %k", 8, "%K"), ("a == 'it's'", 9, "backslash"), ("a.in == 1", 2, "#in"),
      ("summ(a) == 1", 0, "sum:"),
      ("a == %d", 5, "more arguments"), ("x == “y”", 5, "straight quotes"),
      ("a == '%@' AND", 13, "without quotes"),
    ]
    for (format, position, hint) in cases {
      let error: PredicateError? = #expect(throws: PredicateError.self) { try Parser.predicate(format) }
      #expect(error?.position == position, "\(format)")
      #expect(error?.hint?.contains(hint) == true, "\(format): \(error?.hint ?? "no hint")")
    }
  }
}
