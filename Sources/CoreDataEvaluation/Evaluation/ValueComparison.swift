import CoreDataPredicates
import Foundation

/// The comparison operators on values, nil included:
///
/// | | nil on one side | nil on both |
/// |---|---|---|
/// | `==` | false | true |
/// | `!=` | true | false |
/// | `<` `>` | false | false |
/// | `<=` `>=` | false | true |
/// | text operators, `IN`, `BETWEEN` | false | false |
package enum ValueComparison {
  /// Whether `left operator right` is true; the node contains operator and options, and the text for errors.
  ///
  /// - Throws: ``PredicateError`` for values that the operator can't compare.
  package static func holds(
    _ left: PredicateValue, _ node: ComparisonNode, _ right: PredicateValue
  ) throws -> Bool {
    switch node.comparison {
    case .equalTo: return equal(left, right, node.options)
    case .notEqualTo: return !equal(left, right, node.options)
    case .lessThan: return try order(left, right, node).map { $0 == .orderedAscending } ?? false
    case .lessThanOrEqualTo:
      if left.isNull, right.isNull { return true }
      return try order(left, right, node).map { $0 != .orderedDescending } ?? false
    case .greaterThan: return try order(left, right, node).map { $0 == .orderedDescending } ?? false
    case .greaterThanOrEqualTo:
      if left.isNull, right.isNull { return true }
      return try order(left, right, node).map { $0 != .orderedAscending } ?? false
    case .between: return try isBetween(left, node, right)
    case .in: return try isMember(left, of: right, node)
    case .contains: return try isMember(right, of: left, node)
    case .beginsWith:
      return try texts(left, right, node).map { StringMatching.beginsWith($0, $1, node.options) } ?? false
    case .endsWith:
      return try texts(left, right, node).map { StringMatching.endsWith($0, $1, node.options) } ?? false
    case .like: return try texts(left, right, node).map { StringMatching.like($0, $1, node.options) } ?? false
    case .matches:
      guard let (text, pattern) = try texts(left, right, node) else { return false }
      return try StringMatching.matches(text, pattern, node.options)
    case .customSelector: return try sends(left, node, right)
    case .tokenMatches: return try matchesTokens(left, right, node)
    case .utiEquals: return try texts(left, right, node).map { TypeIdentifiers.equal($0, $1) } ?? false
    case .utiConformsTo: return try conforms(left, right, node)
    }
  }

  /// Equality under options, which apply to two strings only.
  package static func equal(
    _ left: PredicateValue, _ right: PredicateValue, _ options: ComparisonOptions
  ) -> Bool {
    if !options.isEmpty, case .string(let a) = left, case .string(let b) = right {
      return StringMatching.equals(a, b, options)
    }
    return left == right
  }

  /// The order of two values that have one; nil if either is nil or NaN.
  private static func order(
    _ left: PredicateValue, _ right: PredicateValue, _ node: ComparisonNode
  ) throws -> ComparisonResult? {
    if left.isNull || right.isNull { return nil }
    guard isOrdered(left, right) else {
      throw PredicateError.evaluation(
        "Can't order \(left.kindName) and \(right.kindName) in \(describe(node)). \(advice(left, right))")
    }
    return order(left, right, node.options)
  }

  private static func advice(_ left: PredicateValue, _ right: PredicateValue) -> String {
    let advice: String? =
      switch (left, right) {
      case (.string(let text), let value), (let value, .string(let text)):
        TextAdvice.advice(text, for: value)
      default: nil
      }
    return advice
      ?? "Numbers, strings, dates, UUIDs and data are ordered among themselves; CAST converts between them."
  }

  private static func isOrdered(_ left: PredicateValue, _ right: PredicateValue) -> Bool {
    switch (left, right) {
    case (.string, .string), (.date, .date), (.uuid, .uuid), (.data, .data): true
    default: left.isNumber && right.isNumber
    }
  }

  /// The order of two values of one family; nil when they have none.
  package static func order(
    _ left: PredicateValue, _ right: PredicateValue, _ options: ComparisonOptions = []
  ) -> ComparisonResult? {
    switch (left, right) {
    case (.string(let a), .string(let b)): return StringMatching.compare(a, b, options)
    case (.date(let a), .date(let b)): return a.compare(b)
    case (.uuid(let a), .uuid(let b)):
      return withUnsafeBytes(of: a.uuid) { x in withUnsafeBytes(of: b.uuid) { y in order(x, y) } }
    case (.data(let a), .data(let b)):
      if a == b { return .orderedSame }
      return a.lexicographicallyPrecedes(b) ? .orderedAscending : .orderedDescending
    default: return NumberComparison.order(left, right)
    }
  }

  private static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> ComparisonResult {
    if a.lexicographicallyPrecedes(b) { return .orderedAscending }
    return a.elementsEqual(b) ? .orderedSame : .orderedDescending
  }

  private static func isBetween(
    _ value: PredicateValue, _ node: ComparisonNode, _ bounds: PredicateValue
  ) throws -> Bool {
    guard case .array(let members) = bounds, members.count == 2 else {
      if bounds.isNull { return false }
      throw PredicateError.evaluation(
        "BETWEEN needs an array of two bounds on its right, such as {1, 10}, not \(bounds.kindName): \(describe(node))."
      )
    }
    guard let low = try order(value, members[0], node), let high = try order(value, members[1], node) else {
      return false
    }
    return low != .orderedAscending && high != .orderedDescending
  }

  /// `IN`, and `CONTAINS` with its sides exchanged.
  private static func isMember(
    _ value: PredicateValue, of collection: PredicateValue, _ node: ComparisonNode
  ) throws -> Bool {
    switch collection {
    case .null, .nullObject: return false
    case .string(let text):
      switch value {
      case .string(let part): return StringMatching.contains(text, part, node.options)
      case .null, .nullObject: return false
      default:
        throw PredicateError.evaluation(
          "Can't look for \(value.kindName) in a string: \(describe(node)). CAST(…, 'NSString') makes a string of it."
        )
      }
    case .set(let members) where node.options.isEmpty: return members.contains(value)
    case .array(let members): return members.contains { equal($0, value, node.options) }
    case .set(let members): return members.contains { equal($0, value, node.options) }
    case .dictionary(let entries): return entries.values.contains { equal($0, value, node.options) }
    default:
      throw PredicateError.evaluation(
        "Can't use in/contains operator with collection \(collection.kindName) (not a collection): \(describe(node))."
      )
    }
  }

  private static func texts(
    _ left: PredicateValue, _ right: PredicateValue, _ node: ComparisonNode
  ) throws -> (String, String)? {
    switch (left, right) {
    case (.string(let a), .string(let b)): return (a, b)
    case (.null, _), (.nullObject, _), (_, .null), (_, .nullObject): return nil
    default:
      throw PredicateError.evaluation(
        "\(node.comparison.symbol) compares strings, not \(left.kindName) and \(right.kindName): \(describe(node)). "
          + "CAST(…, 'NSString') makes a string of a number.")
    }
  }

  /// The left side is a text or a collection of texts.
  private static func matchesTokens(
    _ left: PredicateValue, _ right: PredicateValue, _ node: ComparisonNode
  ) throws -> Bool {
    guard let members = left.elements else {
      return try texts(left, right, node).map { Tokens.match([$0], $1, node.options) } ?? false
    }
    var found: [String] = []
    for member in members {
      if let (text, _) = try texts(member, right, node) { found.append(text) }
    }
    guard case .string(let search) = right else { return false }
    return Tokens.match(found, search, node.options)
  }

  private static func conforms(
    _ left: PredicateValue, _ right: PredicateValue, _ node: ComparisonNode
  ) throws -> Bool {
    guard let (identifier, other) = try texts(left, right, node) else { return false }
    if let answer = TypeIdentifiers.conforms(identifier, to: other) { return answer }
    throw PredicateError.unsupported(
      "What the type \(identifier) conforms to is not known on this platform: \(describe(node)). UTI-EQUALS compares "
        + "identifiers; PredicateFunctions.registerComparison(_:_:) adds an operator of your own.")
  }

  private static func sends(
    _ left: PredicateValue, _ node: ComparisonNode, _ right: PredicateValue
  ) throws -> Bool {
    if let block = node.block { return try block.body(left.objectValue, right.objectValue) }
    let result: PredicateValue = try PredicateFunctions.send(node.selector ?? "", to: left, [right])
    guard let flag = NumberComparison.integer(result) else {
      if result.isNull { return false }
      throw PredicateError.evaluation(
        "The operation \(node.selector ?? "") gave no truth value in \(describe(node)).")
    }
    return flag != 0
  }

  private static func describe(_ node: ComparisonNode) -> String {
    Printer.print(.comparison(node))
  }
}
