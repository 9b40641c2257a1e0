import Foundation

/// An expression as a value: an operand of a comparison, an argument of a function.
package indirect enum ExpressionNode: Hashable, Sendable {
  case constant(PredicateValue)
  /// `SELF`
  case evaluatedObject
  /// `$name`, without the dollar sign.
  case variable(String)
  /// A dotted path read from the evaluated object, collection operators included: `a.b`, `items.@sum.price`.
  case keyPath(String)
  /// A dotted path read from the value of an expression: `$x.age`, `SUBQUERY(…).@count`.
  case path(ExpressionNode, String)
  /// A path whose key is computed: `$a.$b`. Components other than a variable parse and print, and the
  /// evaluator refuses them (`a.d[0]`, which Apple refuses too; `(a.d)[0]` is correct).
  case dynamicPath(ExpressionNode, ExpressionNode)
  /// `c[0]`, `c[FIRST]`, `d['key']`
  case index(ExpressionNode, IndexNode)
  /// Without target a built-in function under its selector (`add:to:`, `sum:`, `now`), infix operators
  /// included; with target `FUNCTION(target, "selector:" , …)`.
  case function(target: ExpressionNode?, name: String, arguments: [ExpressionNode])
  /// `{a, b}`
  case aggregate([ExpressionNode])
  case subquery(collection: ExpressionNode, variable: String, predicate: PredicateNode)
  /// `TERNARY(predicate, then, otherwise)`
  case conditional(PredicateNode, ExpressionNode, ExpressionNode)
  case set(SetOperation, ExpressionNode, ExpressionNode)
  /// `$v := expression`
  case assignment(variable: String, ExpressionNode)
  /// `FETCH(request, context, countOnly)`
  case fetch(request: ExpressionNode, context: ExpressionNode, countOnly: ExpressionNode)
  case anyKey
  case block(ExpressionBlock, arguments: [ExpressionNode])

  /// A path read from `target`, merged with `target` if that is a path already.
  package static func makePath(_ target: ExpressionNode, _ path: String) -> ExpressionNode {
    switch target {
    case .evaluatedObject: .keyPath(path)
    case .keyPath(let start): .keyPath("\(start).\(path)")
    case .path(let target, let start): .path(target, "\(start).\(path)")
    default: .path(target, path)
    }
  }
}

package enum IndexNode: Hashable, Sendable {
  case first
  case last
  case size
  case at(ExpressionNode)
}

/// Raw values are the keywords of the format language.
package enum SetOperation: String, Hashable, Sendable {
  case union = "UNION"
  case intersect = "INTERSECT"
  case minus = "MINUS"
}

/// An expression that is only code. Equal only to itself.
package final class ExpressionBlock: Hashable, @unchecked Sendable {
  // Immutable after init; the block is called on the thread that evaluates, as Apple's is.
  package let body: (Any?, [Any], NSMutableDictionary?) -> Any?
  /// The owner of the block: two blocks of one owner are equal.
  package let owner: AnyObject?

  /// Represents an expression that is too deep: initialisers can't throw, fetches and evaluations can.
  package static let tooDeep = ExpressionBlock { _, _, _ in fatalError("\(TreeLimits.error)") }

  package init(of owner: AnyObject? = nil, _ body: @escaping (Any?, [Any], NSMutableDictionary?) -> Any?) {
    self.owner = owner
    self.body = body
  }

  package static func == (left: ExpressionBlock, right: ExpressionBlock) -> Bool {
    left.identity == right.identity
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(identity)
  }

  private var identity: ObjectIdentifier { ObjectIdentifier(owner ?? self) }
}
