import Foundation
import PredicateVectors
import Testing

@testable import CoreDataEvaluation
@testable import CoreDataPredicates

/// Every vector is parsed, printed and evaluated in memory; the table shows passed of all by topic.
struct VectorTests {
  @Test(.enabled(if: SharedVectors.isPresent, "the shared predicate vectors are not beside the repository"))
  func `every shared vector holds`() throws {
    let url: URL = try #require(SharedVectors.url)
    try run(try Data(contentsOf: url))
  }

  @Test func `every vector of our own holds`() throws {
    try run(Data(ownVectors.utf8))
  }

  @Test(arguments: VectorTable.all)
  func `every row of a table holds`(table: VectorTable) throws {
    try run(try table.vectors())
  }

  @Test(arguments: VectorTable.all)
  func `every printed form parses to an equal tree`(table: VectorTable) throws {
    // Printed forms of constants that no literal stands for, and of keys that look like a variable and an
    // escaped word.
    let opaque: [String] = ["<null>", "E621E1F8-", "$x == 1", "a.#all == 1"]
    for vector in try table.vectors() where vector.parses {
      let predicate: Foundation.NSPredicate = try vector.predicate()
      let text: String = predicate.formatText
      if opaque.contains(where: text.contains), !vector.arguments.isEmpty { continue }
      // A collection argument is one constant; its printed form is a list of expressions, or none at all.
      if vector.arguments.contains(where: { Self.isCollection(PredicateValue(normalizing: $0)) }) { continue }
      let again: Foundation.NSPredicate = try Foundation.NSPredicate(parsing: text)
      #expect(again.formatText == text)
      #expect(again == predicate, "\(vector.format) printed \(text)")
    }
  }

  private static func isCollection(_ value: PredicateValue) -> Bool {
    switch value {
    case .array, .set, .dictionary: true
    default: false
    }
  }

  private func run(_ data: Data) throws {
    try run(try PredicateVector.read(data))
  }

  private func run(_ vectors: [PredicateVector]) throws {
    #expect(!vectors.isEmpty)
    var passed: [String: (good: Int, all: Int)] = [:]
    // Asks for an error where nil is added; here nil gives nil (Decisions/0040).
    for vector in vectors where vector.id != "s-raises-004" {
      let problems: [String] = vector.problems()
      passed[vector.topic, default: (0, 0)].all += 1
      if problems.isEmpty { passed[vector.topic, default: (0, 0)].good += 1 }
      #expect(problems.isEmpty, "\(vector.id) \(vector.format): \(problems.joined(separator: "; "))")
    }
    for (topic, count) in passed.sorted(by: { $0.key < $1.key }) {
      print("\(topic.padding(toLength: 32, withPad: " ", startingAt: 0)) \(count.good)/\(count.all)")
    }
  }
}

extension PredicateVector {
  func predicate() throws -> Foundation.NSPredicate {
    try Foundation.NSPredicate(parsing: format, arguments: arguments)
  }

  /// What differs from the expectation.
  ///
  /// - Parameter making: makes something else of an object before it is evaluated.
  func problems(making: (Any?) -> Any? = { $0 }) -> [String] {
    let predicate: Foundation.NSPredicate
    do {
      predicate = try self.predicate()
    } catch {
      return parses ? ["does not parse: \(error)"] : []
    }
    if !parses { return ["parses as \(predicate.formatText)"] }
    var problems: [String] = []
    if let printed, predicate.formatText != printed {
      problems.append("prints \(predicate.formatText), not \(printed)")
    }
    for evaluation in evaluations {
      do {
        let result: Bool = try predicate.evaluateThrowing(
          with: making(evaluation.object), substitutionVariables: evaluation.bindings)
        if evaluation.result == nil {
          problems.append("gives \(result) for \(evaluation.text) instead of failing")
        } else if result != evaluation.result {
          problems.append("gives \(result) for \(evaluation.text)")
        }
      } catch {
        if evaluation.result != nil { problems.append("fails for \(evaluation.text): \(error)") }
      }
    }
    return problems
  }
}
