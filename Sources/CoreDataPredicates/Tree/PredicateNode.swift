import Foundation

/// A predicate as a value. It has four producers (format strings, Apple's reference classes, archives,
/// `#Predicate`) and four consumers (printer, evaluator, checker, SQL compiler).
///
/// Depth is limited by ``TreeLimits``, so that releasing a tree fits a 512 KiB stack. Walks that recurse over
/// a tree use ``StackGuard``, also comparing and hashing.
package indirect enum PredicateNode: Hashable, Sendable {
  /// `TRUEPREDICATE`, `FALSEPREDICATE`.
  case constant(Bool)
  case comparison(ComparisonNode)
  /// `and` and `or` of any number of members, `not` of exactly one.
  case compound(CompoundKind, [PredicateNode])
  /// A block, or a predicate class of the program: it can only be evaluated.
  case block(PredicateBlock)
}

/// Raw values are Apple's `NSCompoundPredicate.LogicalType`.
package enum CompoundKind: UInt, Hashable, Sendable {
  case not = 0
  case and = 1
  case or = 2
}

/// `left operator right`, perhaps quantified.
package struct ComparisonNode: Hashable, Sendable {
  package var left: ExpressionNode
  package var right: ExpressionNode
  package var modifier: ComparisonModifier
  package var comparison: ComparisonOperator
  package var options: ComparisonOptions
  /// The selector of a ``ComparisonOperator/customSelector`` comparison, such as `hasPrefix:`.
  package var selector: String?
  /// The code that decides in place of a selector.
  package var block: ComparisonBlock?

  package init(
    left: ExpressionNode, right: ExpressionNode, modifier: ComparisonModifier = .direct,
    comparison: ComparisonOperator, options: ComparisonOptions = [], selector: String? = nil,
    block: ComparisonBlock? = nil
  ) {
    self.left = left
    self.right = right
    self.modifier = modifier
    self.comparison = comparison
    self.options = options
    self.selector = selector
    self.block = block
  }
}

/// Raw values are Apple's `NSComparisonPredicate.Modifier`. `NONE` is `NOT` around ``any``.
package enum ComparisonModifier: UInt, Hashable, Sendable {
  case direct = 0
  case all = 1
  case any = 2
}

/// Raw values up to 100 are Apple's `NSComparisonPredicate.Operator`; those above are keywords of the format
/// language without a public number, which clients see as a custom selector.
package enum ComparisonOperator: UInt, Hashable, Sendable, CaseIterable {
  case lessThan = 0
  case lessThanOrEqualTo = 1
  case greaterThan = 2
  case greaterThanOrEqualTo = 3
  case equalTo = 4
  case notEqualTo = 5
  case matches = 6
  case like = 7
  case beginsWith = 8
  case endsWith = 9
  case `in` = 10
  case customSelector = 11
  case contains = 99
  case between = 100
  case tokenMatches = 1001
  case utiConformsTo = 1002
  case utiEquals = 1003

  /// The canonical spelling; empty for a custom selector.
  package var symbol: String {
    switch self {
    case .lessThan: "<"
    case .lessThanOrEqualTo: "<="
    case .greaterThan: ">"
    case .greaterThanOrEqualTo: ">="
    case .equalTo: "=="
    case .notEqualTo: "!="
    case .matches: "MATCHES"
    case .like: "LIKE"
    case .beginsWith: "BEGINSWITH"
    case .endsWith: "ENDSWITH"
    case .in: "IN"
    case .customSelector: ""
    case .contains: "CONTAINS"
    case .between: "BETWEEN"
    case .tokenMatches: "TOKENMATCHES"
    case .utiConformsTo: "UTI-CONFORMS-TO"
    case .utiEquals: "UTI-EQUALS"
    }
  }
}

/// Raw values are Apple's `NSComparisonPredicate.Options`; `l` is not public there, `w` is
/// accepted and ignored.
package struct ComparisonOptions: OptionSet, Hashable, Sendable {
  package var rawValue: UInt

  package init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  package static let caseInsensitive: ComparisonOptions = .init(rawValue: 1)
  package static let diacriticInsensitive: ComparisonOptions = .init(rawValue: 2)
  /// The text is normalized already: it is compared literally, whatever the other options are.
  package static let normalized: ComparisonOptions = .init(rawValue: 4)
  package static let localeSensitive: ComparisonOptions = .init(rawValue: 8)

  /// From letters in any order and case; nil when there is another one among them.
  package init?(letters: String) {
    self = []
    for letter in letters.lowercased() {
      switch letter {
      case "c": insert(.caseInsensitive)
      case "d": insert(.diacriticInsensitive)
      case "n": insert(.normalized)
      case "l": insert(.localeSensitive)
      // Spotlight's word matching, which has no effect here.
      case "w": break
      default: return nil
      }
    }
  }

  /// As written between brackets: `cd`, in the order `c`, `d`, `n`, `l`.
  package var letters: String {
    var letters: String = ""
    if contains(.caseInsensitive) { letters.append("c") }
    if contains(.diacriticInsensitive) { letters.append("d") }
    if contains(.normalized) { letters.append("n") }
    if contains(.localeSensitive) { letters.append("l") }
    return letters
  }
}

/// A comparison operator that is only code. Equal only to itself.
package final class ComparisonBlock: Hashable, Sendable {
  package let body: @Sendable (Any?, Any?) throws -> Bool

  package init(_ body: @escaping @Sendable (Any?, Any?) throws -> Bool) {
    self.body = body
  }

  package static func == (left: ComparisonBlock, right: ComparisonBlock) -> Bool {
    left === right
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }
}

/// A predicate that is only code. Equal only to itself.
package final class PredicateBlock: Hashable, @unchecked Sendable {
  // Immutable after init; the block is called on the thread that evaluates, as Apple's is.
  package let predicate: Foundation.NSPredicate

  package init(_ predicate: Foundation.NSPredicate) {
    self.predicate = predicate
  }

  /// The text of a class of the program that overrides `predicateFormat`.
  package var ownText: String? {
    guard type(of: predicate) != Foundation.NSPredicate.self else { return nil }
    let text: String = predicate.formatText
    return ["TRUEPREDICATE", "FALSEPREDICATE", "BLOCKPREDICATE"].contains(text) ? nil : text
  }

  /// Whether it is no code, but a compound that is nested too deeply for a tree.
  package var isTooDeep: Bool {
    predicate is TooDeepPredicate || type(of: predicate) == Foundation.NSCompoundPredicate.self
  }

  package static func == (left: PredicateBlock, right: PredicateBlock) -> Bool {
    left.predicate === right.predicate
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(predicate))
  }
}

/// The greatest depth of trees.
package enum TreeLimits {
  /// Levels of one tree, chains of arithmetic included (`a + b + c` has two). Releasing a tree takes up to
  /// 300 bytes a level on the thread that releases the last reference, and some threads have 512 KiB.
  package static let depth: Int = 1000

  /// The error of evaluating or fetching by a deeper tree.
  package static let error: PredicateError = .evaluation(
    "A predicate or an expression may be nested \(depth) levels deep, and this one is deeper. Give one AND or OR all its members at "
      + "once, and use IN for alternatives and sum: for long sums.")
}

/// Represents a compound predicate that is too deep: initialisers can't throw, fetches and evaluations can.
package final class TooDeepPredicate: Foundation.NSPredicate {
  // Immutable.
  nonisolated(unsafe) static let shared = TooDeepPredicate(value: false)
  static let node: PredicateNode = .block(PredicateBlock(shared))

  package override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    fatalError("\(TreeLimits.error)")
  }

  package override func copy(with zone: NSZone?) -> Any { self }
}
