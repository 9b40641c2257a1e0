import Foundation

/// An operand of a comparison: a constant, a key path, a function of other expressions.
///
/// Foundation's class of this name can't be created on Linux; this one replaces it. Immutable. Properties
/// that do not exist for the kind of expression stop the program, as on Apple's systems; check
/// ``expressionType`` first.
///
/// A class of the program overrides ``expressionValue(with:context:)``, which predicates then call. It works
/// in memory only.
nonisolated open class NSExpression: NSObject, NSCopying, NSSecureCoding {
  let node: ExpressionNode
  let permission: EvaluationPermission?
  /// For an expression that was created with its type only.
  let declaredType: ExpressionType?
  private let program: any EvaluableExpression

  package init(node: ExpressionNode, permission: EvaluationPermission? = nil) {
    // Initialisers can't throw; evaluating a tree that is too deep does.
    let node: ExpressionNode =
      node.depth <= TreeLimits.depth ? node : .block(.tooDeep, arguments: [])
    self.node = node
    declaredType = nil
    self.permission = permission
    program = Evaluator.factory.expression(node)
    super.init()
  }

  /// For classes of the program. Without a subclass, `SELF` and `ANYKEY` are complete, and everything else is
  /// the constant nil.
  public init(expressionType type: ExpressionType) {
    node =
      switch type {
      case .evaluatedObject: .evaluatedObject
      case .anyKey: .anyKey
      default: .constant(.null)
      }
    declaredType = type
    permission = nil
    program = Evaluator.factory.expression(node)
    super.init()
  }

  package func expressionNode() -> ExpressionNode {
    guard declaredType != nil, type(of: self) != NSExpression.self else { return node }
    let block: ExpressionBlock = ExpressionBlock(of: self) { object, _, context in
      self.expressionValue(with: object, context: context)
    }
    return .block(block, arguments: [])
  }

  // MARK: Formats

  /// An expression from a format, such as `NSExpression(format: "price * %d", 2)`. A format that can't be
  /// parsed stops the program; ``init(parsing:arguments:)`` throws.
  public convenience init(format: String, _ args: Any?...) {
    self.init(node: Self.parsed(format, args), permission: .joining(values: args))
  }

  /// An expression from a format and its arguments as an array. Stops the program if the format can't be
  /// parsed.
  public convenience init(format: String, argumentArray: [Any]) {
    self.init(node: Self.parsed(format, argumentArray), permission: .joining(values: argumentArray))
  }

  /// An expression from a format and a list of C's arguments that other code has made. Stops the program
  /// when the format can't be parsed; see ``PredicateParsing/init(format:arguments:)-(_,CVaListPointer?)``
  /// for what is missing in such a list.
  @_disfavoredOverload
  public convenience init(format: String, arguments: CVaListPointer?) {
    do {
      try self.init(parsing: format, arguments: VariableArguments.values(of: arguments, for: format))
    } catch {
      fatalError("\(error)")
    }
  }

  /// An expression from a format and arguments as `getVaList(_:)` and `withVaList(_:_:)` make them. Stops the
  /// program if the format can't be parsed, or needs more arguments than there are.
  public convenience init(format: String, arguments: VariableArgumentList) {
    self.init(format: format, argumentArray: arguments.values)
  }

  /// An expression from a format and its arguments.
  ///
  /// - Throws: ``PredicateError`` that names the position in the format, what was found there and what was
  ///   expected.
  public convenience init(parsing format: String, arguments: [Any?] = []) throws {
    self.init(
      node: try Parser.expression(format, arguments: arguments), permission: .joining(values: arguments))
  }

  private static func parsed(_ format: String, _ arguments: [Any?]) -> ExpressionNode {
    do {
      return try Parser.expression(format, arguments: arguments)
    } catch {
      fatalError("\(error)")
    }
  }

  // MARK: Kinds

  /// A constant.
  public convenience init(forConstantValue value: Any?) {
    self.init(node: .constant(PredicateValue(constant: value)))
  }

  /// `SELF`
  open class func expressionForEvaluatedObject() -> NSExpression {
    NSExpression(node: .evaluatedObject)
  }

  /// `ANYKEY`, which only Spotlight can evaluate.
  open class func expressionForAnyKey() -> NSExpression {
    NSExpression(node: .anyKey)
  }

  /// `$name`
  public convenience init(forVariable string: String) {
    self.init(node: .variable(string))
  }

  /// A dotted path, read from the evaluated object.
  public convenience init(forKeyPath keyPath: String) {
    self.init(node: keyPath.lowercased() == "self" ? .evaluatedObject : .keyPath(keyPath))
  }

  /// A built-in function under its selector, such as `sum:` or `add:to:`. An unknown one, or a wrong number
  /// of arguments, stops the program.
  public convenience init(forFunction name: String, arguments parameters: [Any]) {
    guard let function = BuiltinFunction(name: name, argumentCount: parameters.count) else {
      let near: String = NearestNames.of(name, among: BuiltinFunction.selectors).joined(separator: ", ")
      fatalError(
        "NSExpression knows no function \(name) of \(parameters.count) arguments."
          + (near.isEmpty ? "" : " Nearest: \(near)."))
    }
    let arguments: [ExpressionNode] = parameters.map(Self.node)
    self.init(
      node: function == .element
        ? .index(arguments[0], .at(arguments[1]))
        : .function(target: nil, name: function.selector, arguments: arguments),
      permission: .joining(values: parameters))
  }

  /// `FUNCTION(target, "selector:", …)`. The selectors that exist are those of ``PredicateFunctions``.
  public convenience init(
    forFunction target: NSExpression, selectorName name: String, arguments parameters: [Any]?
  ) {
    self.init(
      node: .function(
        target: target.expressionNode(), name: name, arguments: (parameters ?? []).map(Self.node)),
      permission: .joining(values: [target] + (parameters ?? [])))
  }

  /// `{a, b}`. Members that are no expressions become constants.
  public convenience init(forAggregate subexpressions: [Any]) {
    self.init(
      node: .aggregate(subexpressions.map(Self.node)), permission: .joining(values: subexpressions))
  }

  /// `left UNION right`
  public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
    self.init(
      node: .set(.union, left.expressionNode(), right.expressionNode()),
      permission: .joining([left.permission, right.permission]))
  }

  /// `left INTERSECT right`
  public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
    self.init(
      node: .set(.intersect, left.expressionNode(), right.expressionNode()),
      permission: .joining([left.permission, right.permission]))
  }

  /// `left MINUS right`
  public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
    self.init(
      node: .set(.minus, left.expressionNode(), right.expressionNode()),
      permission: .joining([left.permission, right.permission]))
  }

  /// `SUBQUERY(collection, $variable, predicate)`
  public convenience init(
    forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: Any
  ) {
    guard let predicate = predicate as? Foundation.NSPredicate else {
      fatalError("The predicate of a SUBQUERY expression must be an NSPredicate.")
    }
    self.init(
      node: .subquery(
        collection: expression.expressionNode(), variable: variable, predicate: predicate.predicateNode()),
      permission: .joining(values: [expression, predicate]))
  }

  /// `TERNARY(predicate, trueExpression, falseExpression)`
  public convenience init(
    forConditional predicate: Foundation.NSPredicate, trueExpression: NSExpression,
    falseExpression: NSExpression
  ) {
    self.init(
      node: .conditional(
        predicate.predicateNode(), trueExpression.expressionNode(), falseExpression.expressionNode()),
      permission: .joining(values: [predicate, trueExpression, falseExpression]))
  }

  /// An expression that consists of code: called with the evaluated object, the arguments' values and the
  /// context.
  public convenience init(
    block: @escaping (Any?, [Any], NSMutableDictionary?) -> Any?, arguments: [NSExpression]?
  ) {
    self.init(
      node: .block(ExpressionBlock(block), arguments: (arguments ?? []).map { $0.expressionNode() }),
      permission: .joining(values: arguments ?? []))
  }

  private static func node(_ value: Any) -> ExpressionNode {
    object(value, as: NSExpression.self)?.expressionNode() ?? .constant(PredicateValue(constant: value))
  }

  // MARK: Evaluation

  /// The value of the expression for an object; `context` holds values of variables. A function of values of
  /// a kind that it never accepts, such as the square root of a text, is nil here. Stops the program if
  /// ``expressionValueThrowing(with:context:)`` would throw for any other reason.
  open func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
    do {
      try checkEvaluationAllowed()
      return try program.evaluateLeniently(object, variables: Self.variables(context), context: context)
    } catch {
      fatalError("\(error)")
    }
  }

  /// The value of the expression for an object; `context` holds values of variables, and receives those that
  /// the expression assigns (`$v := …`).
  ///
  /// - Throws: ``PredicateError``, and whatever ``KeyValueReadable/readValue(forKey:)`` throws.
  public func expressionValueThrowing(with object: Any?, context: NSMutableDictionary? = nil) throws -> Any? {
    try checkEvaluationAllowed()
    return try program.evaluate(object, variables: Self.variables(context), context: context)
  }

  private static func variables(_ context: NSMutableDictionary?) -> [String: Any] {
    var variables: [String: Any] = [:]
    for (key, value) in context ?? [:] {
      if let key = key as? String { variables[key] = value }
    }
    return variables
  }

  /// Allows a decoded expression to be evaluated; see `NSPredicate.allowEvaluation()`. Before that,
  /// ``expressionValue(with:context:)`` stops the program and ``expressionValueThrowing(with:context:)``
  /// throws.
  open func allowEvaluation() {
    permission?.grant()
  }

  // MARK: Coding

  public static var supportsSecureCoding: Bool { true }

  /// Decodes what ``encode(with:)`` or an Apple system encoded; nil, and an error in the coder, for anything
  /// else. The expression can't be evaluated until ``allowEvaluation()`` is called.
  public required init?(coder: NSCoder) {
    guard let node = CoderArchive.expressionNode(coder) else { return nil }
    self.node = node
    declaredType = nil
    permission = EvaluationPermission()
    program = Evaluator.factory.expression(node)
    super.init()
  }

  /// Encodes the expression as one member of something larger. The coder fails where ``archivedData()``
  /// throws.
  open func encode(with coder: NSCoder) {
    CoderArchive.encode(node, with: coder)
  }

  open override var description: String { Printer.print(node) }

  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSExpression else { return false }
    if self === other { return true }
    return StackGuard.run(levels: node.depth) { expressionNode() == other.expressionNode() }
  }

  open override var hash: Int { StackGuard.run(levels: node.depth) { expressionNode().hashValue } }
}
