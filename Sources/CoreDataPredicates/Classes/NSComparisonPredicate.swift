import Foundation

/// A comparison of two expressions, as `NSPredicate(format: "age > 30")` makes it.
///
/// A subclass of Foundation's `NSPredicate`, so it can be used wherever one is needed. Immutable.
nonisolated open class NSComparisonPredicate: Foundation.NSPredicate, NSSecureCoding {
  /// The comparison as a predicate, which fetches use.
  let tree: PredicateNode
  /// The shape of `tree`, if the predicate was made with it.
  let shape: PredicateShape?
  let permission: EvaluationPermission?
  private let program: any EvaluablePredicate

  var node: ComparisonNode {
    guard case .comparison(let node) = tree else { preconditionFailure("The tree is no comparison.") }
    return node
  }

  /// The left operand.
  open var leftExpression: NSExpression { part(node.left) }
  /// The right operand.
  open var rightExpression: NSExpression { part(node.right) }
  /// Whether the value itself is compared, or every or some member.
  open var comparisonPredicateModifier: Modifier { Modifier(rawValue: node.modifier.rawValue) ?? .direct }
  /// The operator; those without a number of Apple's (`UTI-EQUALS`, …) are `.customSelector`.
  open var predicateOperatorType: Operator { Operator(rawValue: node.comparison.rawValue) ?? .customSelector }
  /// How strings are compared.
  open var options: Options { Options(rawValue: node.options.rawValue) }
  /// The selector of a `.customSelector` comparison.
  open var customSelector: Selector? { node.selector.map { Selector($0) } }

  /// Compares two expressions with one of the built-in operators.
  ///
  /// Operands nested deeper than ``TreeLimits`` allows stop the program.
  public init(
    leftExpression: NSExpression, rightExpression: NSExpression, modifier: Modifier, type: Operator,
    options: Options = []
  ) {
    let node = ComparisonNode(
      left: leftExpression.expressionNode(), right: rightExpression.expressionNode(),
      modifier: ComparisonModifier(rawValue: modifier.rawValue) ?? .direct,
      comparison: ComparisonOperator(rawValue: type.rawValue) ?? .equalTo,
      options: ComparisonOptions(rawValue: options.rawValue))
    permission = .joining([leftExpression.permission, rightExpression.permission])
    tree = .comparison(node)
    shape = nil
    program = Evaluator.factory.predicate(tree)
    super.init(value: true)
  }

  /// Compares two expressions by a method of one argument: the usual ones of Foundation's classes, such as
  /// `hasPrefix:` and `isKindOfClass:`, and those that are registered with ``PredicateFunctions``. In a
  /// format it is written `left hasPrefix: right`.
  ///
  /// An unknown selector is an error of the evaluation. A store does not evaluate such a predicate.
  public init(leftExpression: NSExpression, rightExpression: NSExpression, customSelector selector: Selector)
  {
    let node = ComparisonNode(
      left: leftExpression.expressionNode(), right: rightExpression.expressionNode(),
      comparison: .customSelector, selector: selector.description)
    permission = .joining([leftExpression.permission, rightExpression.permission])
    tree = .comparison(node)
    shape = nil
    program = Evaluator.factory.predicate(tree)
    super.init(value: true)
  }

  /// Compares the values of two expressions by a closure. The predicate has no format that could be parsed,
  /// and a store does not evaluate it; ``PredicateFunctions/registerComparison(_:_:)`` gives the closure
  /// a name instead.
  public init(
    leftExpression: NSExpression, rightExpression: NSExpression, modifier: Modifier = .direct,
    comparison: @escaping PredicateFunctions.Comparison
  ) {
    let node = ComparisonNode(
      left: leftExpression.expressionNode(), right: rightExpression.expressionNode(),
      modifier: ComparisonModifier(rawValue: modifier.rawValue) ?? .direct, comparison: .customSelector,
      block: ComparisonBlock(comparison))
    permission = .joining([leftExpression.permission, rightExpression.permission])
    tree = .comparison(node)
    shape = nil
    program = Evaluator.factory.predicate(tree)
    super.init(value: true)
  }

  package convenience init(node: ComparisonNode, permission: EvaluationPermission? = nil) {
    self.init(tree: .comparison(node), permission: permission)
  }

  /// `tree` must be a comparison.
  init(tree: PredicateNode, permission: EvaluationPermission?, shape: PredicateShape? = nil) {
    self.tree = tree
    self.permission = permission
    self.shape = shape
    program = Evaluator.factory.predicate(tree)
    super.init(value: true)
  }

  /// Whether the predicate is true for the object. A function of values of a kind that it never accepts, such
  /// as the square root of a text, is nil here. Stops the program if
  /// `evaluateThrowing(with:substitutionVariables:)` would throw for any other reason.
  open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    do {
      if permission != nil { try checkEvaluationAllowed() }
      return try program.evaluateLeniently(object, variables: bindings)
    } catch {
      fatalError("\(error)")
    }
  }

  func evaluateNode(_ object: Any?, _ bindings: [String: Any]?) throws -> Bool {
    if permission != nil { try checkEvaluationAllowed() }
    return try program.evaluate(object, variables: bindings)
  }

  private func part(_ node: ExpressionNode) -> NSExpression {
    NSExpression(node: node, permission: permission.map(EvaluationPermission.init(partOf:)))
  }

  // MARK: Coding

  public static var supportsSecureCoding: Bool { true }

  /// Decodes what ``encode(with:)`` or an Apple system encoded; nil, and an error in the coder, for anything
  /// else. The predicate can't be evaluated until `allowEvaluation()` is called.
  public required init?(coder: NSCoder) {
    guard case .comparison(let node)? = CoderArchive.predicateNode(coder, className: "NSComparisonPredicate")
    else { return nil }
    permission = EvaluationPermission()
    tree = .comparison(node)
    shape = nil
    program = Evaluator.factory.predicate(tree)
    super.init(value: true)
  }

  /// Encodes the predicate as one member of something larger. The coder fails where ``archivedData()``
  /// throws.
  open func encode(with coder: NSCoder) {
    CoderArchive.encode(tree, with: coder)
  }

  /// The predicate as a format.
  open override var predicateFormat: String { Printer.print(tree) }
  open override var description: String { predicateFormat }

  open override func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSComparisonPredicate else { return false }
    if self === other { return true }
    return StackGuard.run(levels: depth) { tree == other.tree }
  }

  open override var hash: Int { StackGuard.run(levels: depth) { tree.hashValue } }

  /// Counted at each use: most comparisons never need it.
  private var depth: Int { tree.depth }
}

extension NSComparisonPredicate {
  /// How strings are compared.
  public struct Options: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// `[c]`
    public static let caseInsensitive: Options = .init(rawValue: 1)
    /// `[d]`
    public static let diacriticInsensitive: Options = .init(rawValue: 2)
    /// `[n]`: the text is normalized already; it is compared literally.
    public static let normalized: Options = .init(rawValue: 4)
  }

  /// The part of the left operand that is compared.
  public enum Modifier: UInt, Sendable {
    /// The value itself.
    case direct = 0
    /// Every member: `ALL`.
    case all = 1
    /// Some member: `ANY`.
    case any = 2
  }

  /// The operators, under Apple's numbers.
  public enum Operator: UInt, Sendable {
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
  }
}
