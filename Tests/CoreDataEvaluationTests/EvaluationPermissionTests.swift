import Foundation
import Testing

@testable import CoreDataEvaluation
@testable import CoreDataPredicates

/// A decoded predicate is evaluated only after `allowEvaluation()`, whichever way is tried.
struct EvaluationPermissionTests {
  private let object: [String: Any] = ["a": 1, "b": [1, 2]]

  private func decoded(_ format: String) throws -> NSPredicate {
    try NSPredicate(archivedData: try NSPredicate(format: format).archivedData())
  }

  private func decodedExpression(_ format: String) throws -> NSExpression {
    try NSExpression(archivedData: try NSExpression(format: format).archivedData())
  }

  private func expectRefusal(_ what: String, _ body: () throws -> Void) {
    let error: PredicateError? = #expect(throws: PredicateError.self, "\(what)", performing: body)
    #expect(
      error?.description.contains("call allowEvaluation()") == true, "\(what): \(String(describing: error))")
  }

  @Test func `a decoded predicate is not evaluated before it is allowed`() throws {
    for format in ["a == 1", "a == 1 AND TRUEPREDICATE", "NOT a == 2", "a == 2 OR (a == 1 AND a != 3)"] {
      let predicate: NSPredicate = try decoded(format)
      expectRefusal(format) { _ = try predicate.evaluateThrowing(with: object) }
      expectRefusal(format) { _ = try [object].filterThrowing(using: predicate) }
      predicate.allowEvaluation()
      #expect(try predicate.evaluateThrowing(with: object), "\(format)")
      #expect(predicate.evaluate(with: object), "\(format)")
      #expect(try [object].filterThrowing(using: predicate).count == 1)
    }
  }

  @Test func `what is built from a decoded part needs its permission`() throws {
    let part: NSPredicate = try decoded("a == 1")
    let operand: NSExpression = try decodedExpression("a")
    let one: NSExpression = NSExpression(forConstantValue: 1)
    let wholes: [NSPredicate] = [
      NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(value: true), part]),
      NSPredicate(format: "%@ AND TRUEPREDICATE", part), NSPredicate(format: "%@ == 1", operand),
      NSComparisonPredicate(leftExpression: operand, rightExpression: one, modifier: .direct, type: .equalTo),
      NSPredicate(format: "$x == 1").withSubstitutionVariables(["x": operand]),
      part.withSubstitutionVariables([:]),
      NSPredicate(
        format: "%@ == 1", NSExpression(forConditional: part, trueExpression: one, falseExpression: operand)),
      NSPredicate(format: "%@ == 1", NSExpression(forFunction: "max:", arguments: [operand])),
      NSPredicate(format: "%@ == {1}", NSExpression(forAggregate: [operand])),
    ]
    for whole in wholes {
      expectRefusal(whole.formatText) { _ = try whole.evaluateThrowing(with: ["a": 1]) }
    }
    part.allowEvaluation()
    operand.allowEvaluation()
    for whole in wholes {
      // Some of them fail for reasons of their own, but none for this one.
      do {
        _ = try whole.evaluateThrowing(with: ["a": 1])
      } catch {
        #expect(!"\(error)".contains("allowEvaluation"), "\(whole.formatText)")
      }
    }
  }

  @Test func `a part of something decoded is allowed with the whole, not the whole with the part`() throws {
    let predicate: NSComparisonPredicate = try #require(try decoded("a == 1") as? NSComparisonPredicate)
    let early: NSExpression = predicate.leftExpression
    expectRefusal("part") { _ = try early.expressionValueThrowing(with: object) }
    early.allowEvaluation()
    #expect(try early.expressionValueThrowing(with: object) as? Int == 1)
    expectRefusal("whole") { _ = try predicate.evaluateThrowing(with: object) }
    predicate.allowEvaluation()
    #expect(try predicate.rightExpression.expressionValueThrowing(with: object) as? Int == 1)

    let compound: NSCompoundPredicate = try #require(try decoded("a == 1 OR b == 2") as? NSCompoundPredicate)
    expectRefusal("member") { _ = try compound.subpredicates[0].evaluateThrowing(with: object) }
    compound.subpredicates[0].allowEvaluation()
    expectRefusal("compound") { _ = try compound.evaluateThrowing(with: object) }
    compound.allowEvaluation()
    #expect(try !compound.subpredicates[1].evaluateThrowing(with: ["b": 1]))
    #expect(try compound.evaluateThrowing(with: object))
  }

  @Test func `parts of decoded expressions ask too`() throws {
    let formats: [String: (NSExpression) -> NSExpression] = [
      "max(b)": { $0.arguments?[0] ?? $0 }, "{a, 2}": { ($0.collection as? [NSExpression])?[0] ?? $0 },
      "b UNION b": \.left, "b MINUS b": \.right, "TERNARY(a == 1, a, b)": \.true,
      "TERNARY(a == 2, a, b)": \.false,
      "SUBQUERY(b, $x, $x == 1)": { $0.collection as? NSExpression ?? $0 },
      "FUNCTION(a, 'description')": \.operand, "b[0]": { $0.arguments?[1] ?? $0 },
    ]
    for (format, part) in formats {
      let expression: NSExpression = try decodedExpression(format)
      expectRefusal(format) { _ = try expression.expressionValueThrowing(with: object) }
      expectRefusal(format) { _ = try part(expression).expressionValueThrowing(with: object) }
      expression.allowEvaluation()
      _ = try part(expression).expressionValueThrowing(with: object)
    }
    let test: NSPredicate = try decodedExpression("TERNARY(a == 1, 1, 2)").predicate
    expectRefusal("predicate") { _ = try test.evaluateThrowing(with: object) }
  }

  @Test func `a decoded sort descriptor compares nothing before it is allowed`() throws {
    let descriptor: NSSortDescriptor = try NSSortDescriptor(
      archivedData: try NSSortDescriptor(key: "a", ascending: true).archivedData())
    let reversed: NSSortDescriptor = try #require(descriptor.reversedSortDescriptor as? NSSortDescriptor)
    let objects: [[String: Int]] = [["a": 2], ["a": 1]]
    expectRefusal("sorting") { _ = try objects.sortedThrowing(using: [descriptor]) }
    expectRefusal("reversed") { _ = try reversed.compareThrowing(objects[0], to: objects[1]) }
    descriptor.allowEvaluation()
    #expect(try objects.sortedThrowing(using: [descriptor]) == [["a": 1], ["a": 2]])
    #expect(try reversed.compareThrowing(objects[0], to: objects[1]) == .orderedAscending)
  }

  @Test func `what was never archived needs no permission`() throws {
    let predicate: NSPredicate = NSPredicate(format: "a == 1")
    #expect(predicate.evaluationPermission == nil)
    predicate.allowEvaluation()
    #expect(try predicate.evaluateThrowing(with: object))
    let decodedPart: NSPredicate = try decoded("a == 1")
    decodedPart.allowEvaluation()
    #expect(NSCompoundPredicate(notPredicateWithSubpredicate: decodedPart).evaluationPermission == nil)
  }

  @Test func `Apple's evaluate stops with the cure`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let data: Data = try NSPredicate(format: "a == 1").archivedData()
      _ = try NSPredicate(archivedData: data).evaluate(with: ["a": 1])
    }
    let text: String = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("call allowEvaluation()"))
  }
}
