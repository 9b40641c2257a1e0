import CoreDataPredicates
import Foundation
import StackSupport
import TestSupport

/// An object in a predicate, before it is known which store it comes from.
final class ObjectMark: Hashable, Sendable, CustomStringConvertible {
  /// The top of its hierarchy.
  let root: String
  let number: Int

  init(root: String, number: Int) {
    self.root = root
    self.number = number
  }

  static func == (left: ObjectMark, right: ObjectMark) -> Bool {
    left.root == right.root && left.number == right.number
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(root)
    hasher.combine(number)
  }

  var description: String { "<\(root) \(number)>" }
}

/// Makes random predicates over `LawModel` that are well typed: operators meet values they can compare,
/// functions arguments they take. Some rows make them fail all the same, as nil does in arithmetic.
struct PredicateMaker {
  /// What names mean at one place of a predicate.
  struct Scope {
    /// The entity of SELF.
    var entity: String
    /// Variables of the subqueries around, innermost last.
    var variables: [(name: String, entity: String)] = []
  }

  /// A collection of objects, and what is in it.
  struct Members {
    var node: ExpressionNode
    var entity: String
    var isOrdered: Bool
  }

  var random: SeededRandom
  /// Values of the variables that the program has to give.
  private(set) var bindings: [String: PredicateValue] = [:]

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  // MARK: Chance

  mutating func chance(_ part: Int, of whole: Int) -> Bool {
    Int.random(in: 0..<whole, using: &random) < part
  }

  mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }

  /// One of the makers, the likelier the greater its weight.
  mutating func choose<T>(_ choices: [(weight: Int, make: (inout PredicateMaker) -> T)]) -> T {
    var place: Int = .random(in: 0..<choices.reduce(0) { $0 + $1.weight }, using: &random)
    for choice in choices {
      place -= choice.weight
      if place < 0 { return choice.make(&self) }
    }
    return choices[0].make(&self)
  }

  func entity(_ name: String) -> LawEntity {
    guard let entity = LawModel.entities[name] else { preconditionFailure("no entity \(name)") }
    return entity
  }

  // MARK: Predicates

  mutating func predicate(_ scope: Scope, _ depth: Int) -> PredicateNode {
    if depth == 0 { return leaf(scope, 0) }
    return choose([
      (5, { .compound(.and, [$0.predicate(scope, depth - 1), $0.predicate(scope, depth - 1)]) }),
      (5, { .compound(.or, [$0.predicate(scope, depth - 1), $0.predicate(scope, depth - 1)]) }),
      (3, { .compound(.not, [$0.predicate(scope, depth - 1)]) }),
      (12, { $0.leaf(scope, depth) }),
    ])
  }

  private mutating func leaf(_ scope: Scope, _ depth: Int) -> PredicateNode {
    choose([
      (1, { .constant(.random(using: &$0.random)) }),
      (18, { $0.valueComparison(scope, depth) }),
      (12, { $0.textComparison(scope, depth) }),
      (5, { $0.nilComparison(scope, depth) }),
      (5, { $0.between(scope, depth) }),
      (7, { $0.inList(scope, depth) }),
      (8, { $0.objectComparison(scope, depth) }),
      (6, { $0.objectMembership(scope, depth) }),
      (5, { $0.valueMembership(scope, depth) }),
      (14, { $0.quantified(scope, depth) }),
      (6, { $0.quantifiedObjects(scope, depth) }),
      (10, { $0.counted(scope, depth) }),
      (2, { $0.listComparison(scope, depth) }),
      (1, { $0.customSelector(scope, depth) }),
    ])
  }

  func compare(
    _ left: ExpressionNode, _ comparison: ComparisonOperator, _ right: ExpressionNode,
    _ options: ComparisonOptions = [], modifier: ComparisonModifier = .direct
  ) -> PredicateNode {
    .comparison(
      ComparisonNode(left: left, right: right, modifier: modifier, comparison: comparison, options: options))
  }

  static let equalities: [ComparisonOperator] = [.equalTo, .notEqualTo]
  static let orders: [ComparisonOperator] = [
    .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo,
  ]

  mutating func kind() -> LawKind {
    pick([
      .integer, .integer, .integer, .real, .real, .decimal, .flag, .text, .text, .date, .date, .uuid, .url,
      .data,
    ])
  }

  private mutating func comparison(of kind: LawKind) -> ComparisonOperator {
    switch kind {
    case .flag, .url: pick(Self.equalities)
    default: pick(Self.equalities + Self.orders)
    }
  }

  private mutating func valueComparison(_ scope: Scope, _ depth: Int) -> PredicateNode {
    let kind: LawKind = kind()
    let left: ExpressionNode = value(kind, scope, depth)
    // Numbers of any kind have an order among them.
    let other: LawKind =
      isNumber(kind) && kind != .flag && chance(1, of: 3) ? pick([.integer, .real, .decimal]) : kind
    let right: ExpressionNode = chance(2, of: 3) ? constant(other) : value(other, scope, depth)
    let sides: [ExpressionNode] = chance(1, of: 6) ? [right, left] : [left, right]
    let options: ComparisonOptions = kind == .text ? textOptions() : []
    return compare(sides[0], comparison(of: kind), sides[1], options)
  }

  mutating func textOptions() -> ComparisonOptions {
    if chance(1, of: 2) { return [] }
    return pick([
      .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive], .normalized,
      [.caseInsensitive, .normalized], .localeSensitive, [.caseInsensitive, .localeSensitive],
    ])
  }

  private mutating func textComparison(_ scope: Scope, _ depth: Int) -> PredicateNode {
    let comparison: ComparisonOperator = pick([
      .beginsWith, .endsWith, .contains, .in, .like, .like, .matches,
    ])
    let text: ExpressionNode = value(.text, scope, depth)
    let part: ExpressionNode
    switch comparison {
    case .like: part = chance(1, of: 8) ? value(.text, scope, 0) : .constant(.string(wildcards()))
    case .matches: part = .constant(.string(pick(Self.expressions)))
    default: part = chance(1, of: 4) ? value(.text, scope, depth) : .constant(.string(fragment()))
    }
    return comparison == .in
      ? compare(part, .in, text, textOptions()) : compare(text, comparison, part, textOptions())
  }

  static let expressions: [String] = [
    ".*", "a.*", "[a-c]+", ".*é.*", "\\d+", "a|ab", "(?i)ab?c?", ".", "..", "\\p{L}*", "[^a]*", "(.)\\1",
    "e.?",
  ]

  /// A piece of a text that may be in the store.
  private mutating func fragment() -> String {
    let text: String = pick(LawValues.texts)
    let scalars: [Unicode.Scalar] = Array(text.unicodeScalars)
    if scalars.isEmpty || chance(1, of: 3) { return text }
    let start: Int = .random(in: 0..<scalars.count, using: &random)
    let end: Int = .random(in: start...min(scalars.count, start + 2), using: &random)
    var result: String = ""
    result.unicodeScalars.append(contentsOf: scalars[start..<end])
    return result
  }

  private mutating func wildcards() -> String {
    var result: String = ""
    for scalar in pick(LawValues.texts).unicodeScalars {
      switch Int.random(in: 0..<6, using: &random) {
      case 0: result += "?"
      case 1: result += "*"
      case 2: result += "\\"
      default: break
      }
      if chance(4, of: 5) { result.unicodeScalars.append(scalar) }
    }
    return chance(1, of: 3) ? result + "*" : result
  }

  private mutating func nilComparison(_ scope: Scope, _ depth: Int) -> PredicateNode {
    let left: ExpressionNode =
      chance(1, of: 4) ? object(anyEntity(scope), scope, depth) : value(kind(), scope, depth)
    let none: ExpressionNode = .constant(chance(1, of: 4) ? .nullObject : .null)
    let comparison: ComparisonOperator = pick(Self.equalities + Self.equalities + Self.orders)
    return chance(1, of: 4) ? compare(none, comparison, left) : compare(left, comparison, none)
  }

  private mutating func between(_ scope: Scope, _ depth: Int) -> PredicateNode {
    let kind: LawKind = pick([.integer, .real, .decimal, .text, .date])
    var bounds: [ExpressionNode] = [
      constant(kind), chance(1, of: 3) ? value(kind, scope, 0) : constant(kind),
    ]
    if chance(1, of: 12) { bounds[0] = .constant(.null) }
    let values: [PredicateValue] = bounds.compactMap {
      if case .constant(let value) = $0 { value } else { nil }
    }
    let isConstant: Bool = values.count == 2 && chance(1, of: 2)
    return compare(
      value(kind, scope, depth), .between, isConstant ? .constant(.array(values)) : .aggregate(bounds),
      kind == .text ? textOptions() : [])
  }

  private mutating func inList(_ scope: Scope, _ depth: Int) -> PredicateNode {
    let kind: LawKind = kind()
    let left: ExpressionNode = value(kind, scope, depth)
    let options: ComparisonOptions = kind == .text && chance(1, of: 3) ? textOptions() : []
    let count: Int = .random(in: 0...7, using: &random)
    var members: [PredicateValue] = (0..<count).map { _ in LawValues.constant(kind, &random) }
    if chance(1, of: 5) { members.append(.null) }
    let list: ExpressionNode = choose([
      (3, { _ in .constant(.array(members)) }),
      (2, { _ in .constant(.set(Set(members))) }),
      (
        1,
        { _ in
          .constant(
            .dictionary(
              Dictionary(uniqueKeysWithValues: members.enumerated().map { (.integer(Int64($0)), $1) })))
        }
      ),
      (
        3,
        { maker in
          .aggregate(
            members.map { maker.chance(1, of: 3) ? maker.value(kind, scope, 0) : .constant($0) })
        }
      ),
    ])
    return chance(1, of: 4) ? compare(list, .contains, left, options) : compare(left, .in, list, options)
  }

  private mutating func listComparison(_ scope: Scope, _ depth: Int) -> PredicateNode {
    let kind: LawKind = kind()
    let members: [ExpressionNode] = (0..<Int.random(in: 0...2, using: &random)).map { _ in constant(kind) }
    if chance(1, of: 2), let path = memberValues(kind, scope) {
      return compare(path, pick(Self.equalities), .aggregate(members))
    }
    return compare(
      .aggregate(members.map { _ in value(kind, scope, 0) }), pick(Self.equalities), .aggregate(members))
  }

  private mutating func customSelector(_ scope: Scope, _ depth: Int) -> PredicateNode {
    .comparison(
      ComparisonNode(
        left: value(.text, scope, depth),
        right: chance(1, of: 3) ? value(.text, scope, 0) : .constant(.string(fragment())),
        comparison: .customSelector,
        selector: pick(["hasPrefix:", "hasSuffix:", "containsString:", "isEqualToString:"])))
  }

  // MARK: Objects

  private mutating func objectComparison(_ scope: Scope, _ depth: Int) -> PredicateNode {
    let entity: String = anyEntity(scope)
    let left: ExpressionNode = object(entity, scope, depth)
    let right: ExpressionNode = chance(1, of: 2) ? constantObject(entity) : object(entity, scope, depth)
    return chance(1, of: 5)
      ? compare(right, pick(Self.equalities), left) : compare(left, pick(Self.equalities), right)
  }

  private mutating func objectMembership(_ scope: Scope, _ depth: Int) -> PredicateNode {
    let members: Members = objects(scope, depth)
    let element: ExpressionNode =
      chance(1, of: 2) ? constantObject(members.entity) : object(members.entity, scope, depth)
    return chance(1, of: 2) ? compare(element, .in, members.node) : compare(members.node, .contains, element)
  }

  private mutating func valueMembership(_ scope: Scope, _ depth: Int) -> PredicateNode {
    let kind: LawKind = kind()
    guard let values = memberValues(kind, scope) else { return nilComparison(scope, depth) }
    let element: ExpressionNode = chance(1, of: 2) ? constant(kind) : value(kind, scope, depth)
    let options: ComparisonOptions = kind == .text && chance(1, of: 3) ? textOptions() : []
    if chance(1, of: 12) {
      let members: [ExpressionNode] = (0..<3).map { _ in value(.integer, scope, 0) }
      let mode: ExpressionNode = .function(target: nil, name: "mode:", arguments: [.aggregate(members)])
      return compare(value(.integer, scope, 0), .in, mode)
    }
    if chance(1, of: 12) {
      let letters: ExpressionNode = .constant(.string(pick(["", "c", "d", "cd"])))
      let words: ExpressionNode = .function(
        target: nil, name: "tokenize:using:", arguments: [value(.text, scope, 0), letters])
      return compare(value(.text, scope, 0), .in, words)
    }
    return chance(1, of: 2)
      ? compare(element, .in, values, options) : compare(values, .contains, element, options)
  }

  // MARK: Quantifiers and counts

  private mutating func quantified(_ scope: Scope, _ depth: Int) -> PredicateNode {
    let kind: LawKind = kind()
    guard let values = memberValues(kind, scope) else { return counted(scope, depth) }
    let modifier: ComparisonModifier = pick([.any, .any, .all])
    let node: PredicateNode
    if kind == .text, chance(1, of: 2) {
      let comparison: ComparisonOperator = pick([.beginsWith, .contains, .like, .endsWith])
      node = compare(
        values, comparison, .constant(.string(comparison == .like ? wildcards() : fragment())), textOptions(),
        modifier: modifier)
    } else if chance(1, of: 5) {
      let members: [PredicateValue] = (0..<3).map { _ in LawValues.constant(kind, &random) }
      node = compare(values, .in, .constant(.array(members)), modifier: modifier)
    } else if chance(1, of: 8) {
      node = compare(values, pick(Self.equalities), .constant(.null), modifier: modifier)
    } else {
      let right: ExpressionNode = chance(2, of: 3) ? constant(kind) : value(kind, scope, min(depth, 1))
      node = compare(values, comparison(of: kind), right, modifier: modifier)
    }
    return chance(1, of: 4) ? .compound(.not, [node]) : node
  }

  private mutating func quantifiedObjects(_ scope: Scope, _ depth: Int) -> PredicateNode {
    let members: Members = objects(scope, depth)
    let modifier: ComparisonModifier = pick([.any, .any, .all])
    if chance(1, of: 2) {
      let right: ExpressionNode =
        chance(1, of: 2) ? constantObject(members.entity) : object(members.entity, scope, depth)
      return compare(members.node, pick(Self.equalities), right, modifier: modifier)
    }
    let list: [PredicateValue] = (0..<3).map { _ in mark(members.entity) }
    let right: ExpressionNode = chance(2, of: 3) ? .constant(.array(list)) : relationship(scope).node
    return compare(members.node, .in, right, modifier: modifier)
  }

  private mutating func counted(_ scope: Scope, _ depth: Int) -> PredicateNode {
    let count: ExpressionNode = size(of: objects(scope, max(1, depth)).node)
    return compare(
      count, pick(Self.equalities + Self.orders),
      chance(4, of: 5) ? .constant(.integer(.random(in: 0...4, using: &random))) : value(.integer, scope, 0))
  }

  /// One of the spellings of a collection's size.
  mutating func size(of collection: ExpressionNode) -> ExpressionNode {
    choose([
      (3, { _ in .makePath(collection, "@count") }),
      (1, { _ in .index(collection, .size) }),
      (1, { _ in .function(target: nil, name: "count:", arguments: [collection]) }),
    ])
  }

  // MARK: Constants

  /// A constant, or a variable that stands for one.
  mutating func constant(_ kind: LawKind) -> ExpressionNode { given(LawValues.constant(kind, &random)) }

  mutating func constantObject(_ entity: String) -> ExpressionNode { given(mark(entity)) }

  mutating func mark(_ entity: String) -> PredicateValue {
    let root: String = self.entity(entity).root
    return .object(
      ObjectBox(
        ObjectMark(root: root, number: .random(in: 0..<(root == "LawThing" ? 32 : 7), using: &random))))
  }

  private mutating func given(_ value: PredicateValue) -> ExpressionNode {
    guard chance(1, of: 10) else { return .constant(value) }
    let name: String = "given\(bindings.count)"
    bindings[name] = value
    return .variable(name)
  }

  func isNumber(_ kind: LawKind) -> Bool {
    switch kind {
    case .integer, .real, .decimal, .flag: true
    default: false
    }
  }
}
