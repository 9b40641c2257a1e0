import CoreDataPredicates
import Foundation

/// A comparison with a constant on its right, prepared as far as possible.
///
/// Values come in two ways, normalised or as a reader found them; the result is the same.
struct ConstantComparison: Sendable {
  enum Strategy: Sendable {
    case equal
    case notEqual
    case number(NumberTest)
    case text(TextTest)
    case like(LikePattern)
    case matches(RegularExpression)
    case member(MemberTest)
    case general
  }

  let strategy: Strategy
  private let constant: PredicateValue
  private let node: ComparisonNode

  init(_ node: ComparisonNode, _ constant: PredicateValue) {
    self.node = node
    self.constant = constant
    if let test = NumberTest(node.comparison, constant) {
      strategy = .number(test)
      return
    }
    switch (node.comparison, constant) {
    case (let comparison, .string(let text)) where TextTest.isTest(comparison, node.options):
      strategy = .text(TextTest(comparison, text, node.options))
    case (.equalTo, _) where node.options.isEmpty: strategy = .equal
    case (.notEqualTo, _) where node.options.isEmpty: strategy = .notEqual
    case (.like, .string(let pattern)) where StringMatching.Mode(node.options) != .localized:
      strategy = .like(LikePattern(pattern, node.options))
    case (.matches, .string(let pattern)):
      // An invalid pattern is an error of the evaluation, which compiles it again and throws.
      strategy = (try? RegularExpression(pattern, node.options)).map(Strategy.matches) ?? .general
    case (.in, .array(let members)) where node.options.isEmpty: strategy = .member(MemberTest(members))
    case (.in, .set(let members)) where node.options.isEmpty: strategy = .member(MemberTest(members))
    default: strategy = .general
    }
  }

  /// The value of an expression that is the same for every object; nil for all others.
  static func constant(of expression: ExpressionNode) -> PredicateValue? {
    switch expression {
    case .constant(let value): return value
    case .aggregate(let members):
      var values: [PredicateValue] = []
      for member in members {
        guard let value = constant(of: member) else { return nil }
        values.append(value)
      }
      return .array(values)
    default: return nil
    }
  }

  @inline(__always)
  func holds(_ value: PredicateValue) throws -> Bool {
    switch strategy {
    case .equal: return value == constant
    case .notEqual: return value != constant
    case .member(let test): return test.holds(value)
    case .number(let test):
      switch value {
      case .integer(let number): return test.holds(number)
      case .double(let number): return test.holds(number)
      case .bool(let flag): return test.holds(flag)
      default: break
      }
    case .text(let test):
      if case .string(let text) = value { return test.holds(text) }
    case .like(let pattern):
      if case .string(let text) = value { return pattern.matches(text) }
    case .matches(let expression):
      if case .string(let text) = value { return try expression.matches(text) }
    case .general: break
    }
    return try Compiler.compare(value, node, constant)
  }

  /// nil when key-value coding has to read the value.
  func holds(_ plain: PlainValue) throws -> Bool? {
    switch (strategy, plain) {
    case (.number(let test), .integer(let value)): return test.holds(value)
    case (.number(let test), .double(let value)): return test.holds(value)
    case (.number(let test), .bool(let value)): return test.holds(value)
    case (.number(let test), .null): return test.whenNull
    case (.text(let test), .text(let bytes)): return test.holds(bytes)
    case (.member(let test), .text(let bytes)): return test.holds(bytes)
    case (.member(let test), .integer(let value)): return test.holds(value)
    case (.member(let test), .null): return test.whenNull
    case (.like(let pattern), .text(let bytes)): return pattern.matches(bytes)
    default: return try plain.predicateValue.map { try holds($0) }
    }
  }
}
