import CoreDataPredicates
import Foundation

/// Tries parts of a predicate on examples, before there are values.
///
/// A checker that had rules of its own about what may be compared, added or cast would drift away from the
/// evaluator. This one has none: for each operand it has one example value. It passes the examples to the
/// evaluator's own functions, and what they throw for an example they throw for every value of its kind.
/// Where the outcome depends on the value and not on its kind (a text that is no date), several examples are
/// tried, and one that succeeds is enough.
package enum SampleEvaluation {
  // MARK: Examples

  /// The sample for every value of the same kind; collections keep their shape.
  package static func example(like value: PredicateValue) -> PredicateValue {
    switch value {
    case .null, .nullObject: .null
    case .bool: .bool(true)
    case .integer, .unsigned: .integer(1)
    case .double: .double(1)
    case .decimal: .decimal(1)
    case .string: text
    case .date: date
    case .data: data
    case .uuid: uuid
    case .url: url
    case .array(let members): .array(members.map(example))
    case .set(let members): members.first.map { many(example(like: $0), isOrdered: false) } ?? .set([])
    case .dictionary, .object: value
    }
  }

  /// A text that is a date; see ``call(_:_:)`` for those that are numbers or UUIDs.
  package static let text: PredicateValue = .string("2001-01-01")
  package static let date: PredicateValue = .date(Date(timeIntervalSinceReferenceDate: 1))
  package static let data: PredicateValue = .data(Data([1]))
  package static let uuid: PredicateValue = .uuid(
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
  /// Has every part that a key can name.
  package static let url: PredicateValue =
    URL(string: "https://host/path.txt?query").map(PredicateValue.url) ?? .null

  /// A collection of two, so that operators compare its members with each other.
  package static func many(_ member: PredicateValue, isOrdered: Bool) -> PredicateValue {
    let members: [PredicateValue] = [member, sibling(of: member)]
    return isOrdered ? .array(members) : .set(Set(members))
  }

  /// Another value of the same kind.
  package static func sibling(of value: PredicateValue) -> PredicateValue {
    switch value {
    case .bool(let flag): .bool(!flag)
    case .integer: .integer(2)
    case .double: .double(2)
    case .decimal: .decimal(2)
    case .string: .string("2002-02-02")
    case .date: .date(Date(timeIntervalSinceReferenceDate: 2))
    case .data: .data(Data([2]))
    case .uuid: .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2)))
    case .object(let box): (box.value as? any PlaceholderValue)?.sibling ?? value
    default: value
    }
  }

  /// Texts that can be read as other kinds; the sample itself is a date.
  private static let otherTexts: [PredicateValue] = [
    .string("1"), .string("E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
  ]

  // MARK: Evaluation

  /// Whether the operator takes such operands. nil stands for an operand of unknown kind.
  ///
  /// - Throws: what every evaluation with such operands throws.
  package static func compare(_ left: PredicateValue?, _ node: ComparisonNode, _ right: PredicateValue?)
    throws
  {
    // Every operator accepts nil, so an error is about the other side alone.
    _ = try ValueComparison.holds(left ?? .null, node, right ?? .null)
  }

  /// A sample of the result of a built-in function.
  ///
  /// Samples also replace constants: whether there is a zero to divide by does not depend on kinds. Texts
  /// after the first argument are kept, because they name types and options.
  package static func call(_ function: BuiltinFunction, _ arguments: [PredicateValue]) throws
    -> PredicateValue
  {
    let examples: [PredicateValue] = arguments.enumerated().map { place, value in
      if place > 0, case .string = value { value } else { example(like: value) }
    }
    return example(like: try withTexts(examples) { try function.call($0) })
  }

  /// An example of the result of a selector, nil if the program has registered it.
  package static func send(
    _ selector: String, to target: PredicateValue, _ arguments: [PredicateValue]
  ) throws -> PredicateValue? {
    if PredicateFunctions.isRegistered(selector) { return nil }
    // Samples replace constants too: whether a text has a tenth character does not depend on kinds.
    return example(
      like: try PredicateFunctions.send(selector, to: example(like: target), arguments.map(example)))
  }

  /// Whether anything responds to a selector: the program has registered it, or values of some kind do so
  /// with arguments of some kind. Tries them all, so it is for messages only.
  package static func isKnown(selector: String) -> Bool {
    if PredicateFunctions.isRegistered(selector) { return true }
    var lists: [[PredicateValue]] = [[]]
    for _ in 0..<selector.selectorArgumentCount {
      // No method has three arguments; each would multiply the attempts by ten.
      if lists.count > 100 { return false }
      lists = lists.flatMap { list in kinds.map { list + [$0] } }
    }
    return kinds.contains { target in
      lists.contains { (try? PredicateFunctions.send(selector, to: target, $0)) != nil }
    }
  }

  /// A sample of each kind.
  private static let kinds: [PredicateValue] = [
    text, .integer(1), date, data, uuid, url, .bool(true), many(text, isOrdered: true),
    many(text, isOrdered: false),
    .dictionary([text: text]), .object(ObjectBox(Example.self)),
  ]

  /// A type, for selectors that take one.
  private final class Example {}

  /// An example of what a plain value has under a key, such as a text's `length`.
  package static func read(_ key: String, from value: PredicateValue) throws -> PredicateValue {
    example(like: try ScalarKeys.read(key, from: value))
  }

  /// A sample of the result of a collection operator (without its `@`) for values like this one; nil if there
  /// is no such operator.
  package static func collect(_ name: String, _ value: PredicateValue) throws -> PredicateValue? {
    guard let operation = CollectionOperator(rawValue: name) else { return nil }
    return PredicateValue(normalizing: try operation.collect([value, sibling(of: value)]))
  }

  private static func withTexts(
    _ arguments: [PredicateValue], _ body: ([PredicateValue]) throws -> PredicateValue
  ) throws -> PredicateValue {
    do {
      return try body(arguments)
    } catch {
      for other in otherTexts where arguments.contains(text) {
        if let result = try? body(arguments.map { $0 == text ? other : $0 }) { return result }
      }
      throw error
    }
  }
}
