import Foundation
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
    let vectors: [[String: Any]] = try #require(
      try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    #expect(!vectors.isEmpty)
    var passed: [String: (good: Int, all: Int)] = [:]
    for json in vectors {
      let vector: Vector = try Vector(json)
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

/// One row of a vector file.
struct Vector {
  let id: String
  let topic: String
  let format: String
  private let arguments: [Any?]
  private let parses: Bool
  private let printed: String?
  private let evaluations: [[String: Any]]

  init(_ json: [String: Any]) throws {
    id = try #require(json["id"] as? String)
    topic = json["topic"] as? String ?? "other"
    format = try #require(json["format"] as? String)
    arguments = (json["args"] as? [[String: Any]] ?? []).map(Self.argument)
    let expect: [String: Any] = try #require(json["expect"] as? [String: Any])
    parses = (expect["parses"] as? NSNumber)?.boolValue ?? true
    printed = expect["predicateFormat"] as? String
    evaluations = expect["evaluations"] as? [[String: Any]] ?? []
  }

  /// What differs from the expectation.
  func problems() -> [String] {
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
      let object: Any? = Self.plain(evaluation["object"])
      let bindings: [String: Any]? = (evaluation["substitution"] as? [String: Any])?.mapValues {
        Self.plain($0) ?? NSNull()
      }
      let shown: String = "\(evaluation["object"] ?? "nil") \(evaluation["substitution"] ?? "")"
      let raises: Bool = (evaluation["raises"] as? NSNumber)?.boolValue ?? false
      do {
        let result: Bool = try predicate.evaluateThrowing(with: object, substitutionVariables: bindings)
        if raises {
          problems.append("gives \(result) for \(shown) instead of failing")
        } else if result != (evaluation["result"] as? NSNumber)?.boolValue {
          problems.append("gives \(result) for \(shown)")
        }
      } catch {
        if !raises { problems.append("fails for \(shown): \(error)") }
      }
    }
    return problems
  }

  private static func argument(_ json: [String: Any]) -> Any? {
    guard let (kind, value) = json.first else { return nil }
    switch kind {
    case "i": return (value as? NSNumber)?.intValue
    case "f": return (value as? NSNumber)?.doubleValue
    case "b": return (value as? NSNumber)?.boolValue
    case "date": return date(value)
    case "null": return NSNull()
    case "uuid": return (value as? String).flatMap(UUID.init(uuidString:))
    case "array": return (value as? [[String: Any]])?.map { argument($0) ?? NSNull() }
    case "set": return Set((value as? [[String: Any]] ?? []).compactMap { argument($0) as? AnyHashable })
    case "dict": return (value as? [String: [String: Any]])?.mapValues { argument($0) ?? NSNull() }
    default: return value
    }
  }

  private static func date(_ value: Any) -> Date? {
    (value as? String).flatMap { try? Date($0, strategy: .iso8601) }
  }

  /// JSON as predicates meet it: dictionaries, arrays, sets, dates; nulls stay as NSNull inside collections.
  private static func plain(_ value: Any?) -> Any? {
    switch value {
    case let object as [String: Any]:
      if let text = object["$date"] { return date(text) }
      if let members = object["$set"] as? [Any] {
        let members: [Any] = members.map { plain($0) ?? NSNull() }
        return NSSet(array: members)
      }
      return object.mapValues { plain($0) ?? NSNull() }
    case let array as [Any]: return array.map { plain($0) ?? NSNull() }
    case is NSNull, nil: return nil
    default: return value
    }
  }
}
