import Foundation
import PredicateVectors
import Testing

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

  private func run(_ data: Data) throws {
    let vectors: [PredicateVector] = try PredicateVector.read(data)
    #expect(!vectors.isEmpty)
    var passed: [String: (good: Int, all: Int)] = [:]
    for vector in vectors {
      let problems: [String] = vector.problems()
      passed[vector.topic, default: (0, 0)].all += 1
      if problems.isEmpty { passed[vector.topic, default: (0, 0)].good += 1 }
      #expect(problems.isEmpty, "\(vector.id) \(vector.format): \(problems.joined(separator: "; "))")
    }
    for (topic, count) in passed.sorted(by: { $0.key < $1.key }) {
      print("\(topic.padding(toLength: 14, withPad: " ", startingAt: 0)) \(count.good)/\(count.all)")
    }
  }
}

extension PredicateVector {
  /// What differs from the expectation.
  ///
  /// - Parameter making: makes something else of an object before it is evaluated.
  func problems(making: (Any?) -> Any? = { $0 }) -> [String] {
    let predicate: Foundation.NSPredicate
    do {
      predicate = try Foundation.NSPredicate(parsing: format, arguments: arguments)
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
