import Foundation

// All other walks are based on one bottom-up rewrite and one visit. Each walk first ensures that it has
// enough stack.

extension PredicateNode {
  /// Rebuilds the tree from the leaves up: `expression` is called for every expression after its operands
  /// were rebuilt.
  package func mapExpressions<Failure>(
    _ expression: (ExpressionNode) throws(Failure) -> ExpressionNode
  ) throws(Failure) -> PredicateNode {
    try StackGuard.run(levels: depth) { () throws(Failure) in try mapping(expression) }
  }

  /// Calls `visit` for every expression, operands after the expression that holds them.
  package func forEachExpression<Failure>(
    _ visit: (ExpressionNode) throws(Failure) -> Void
  ) throws(Failure) {
    try StackGuard.run(levels: depth) { () throws(Failure) in try visiting(visit) }
  }

  /// The tree with every constant replaced, for instance managed objects by their row ids.
  package func mapConstants<Failure>(
    _ replace: (PredicateValue) throws(Failure) -> PredicateValue
  ) throws(Failure) -> PredicateNode {
    try mapExpressions { (node) throws(Failure) in try node.replacingConstant(replace) }
  }

  /// The tree with these variables replaced by constants; others, and those bound by a `SUBQUERY`, stay.
  package func substituting(variables: [String: Any]) -> PredicateNode {
    if variables.isEmpty { return self }
    return StackGuard.run(levels: depth) { replacing(Substitution(variables)) }
  }

  /// Names of the variables that an evaluation needs values for.
  package var variables: Set<String> {
    StackGuard.run(levels: depth) { freeVariables }
  }

  /// Every path that is read from the evaluated object, in order of appearance.
  package var keyPaths: [String] {
    var paths: PathList = PathList()
    forEachExpression { if case .keyPath(let path) = $0 { paths.add(path) } }
    return paths.names
  }

  /// The first part, as text, that calls code of the program: a block, `FUNCTION(…)` with a target, an
  /// operator named by a selector.
  package var firstProgramCode: String? {
    StackGuard.run(levels: depth) { programCode }
  }

  fileprivate var programCode: String? {
    switch self {
    case .constant: return nil
    case .block: return Printer.print(self)
    case .comparison(let node):
      if node.comparison == .customSelector, !ClassTest.isTestOfRows(node) { return Printer.print(self) }
      return node.left.programCode ?? node.right.programCode
    case .compound(_, let members):
      for member in members { if let part = member.programCode { return part } }
      return nil
    }
  }

  /// Levels from here to the deepest leaf; a leaf has one.
  package var depth: Int {
    TreeDepth.of(.predicate(self))
  }

  fileprivate func mapping<Failure>(
    _ expression: (ExpressionNode) throws(Failure) -> ExpressionNode
  ) throws(Failure) -> PredicateNode {
    switch self {
    case .constant, .block: return self
    case .comparison(var node):
      node.left = try node.left.mapping(expression)
      node.right = try node.right.mapping(expression)
      return .comparison(node)
    case .compound(let kind, let members):
      return .compound(kind, try members.map { (member) throws(Failure) in try member.mapping(expression) })
    }
  }

  fileprivate func mappingComparisons(_ change: (ComparisonNode) -> ComparisonNode) -> PredicateNode {
    switch self {
    case .constant, .block: self
    case .comparison(let node): .comparison(change(node))
    case .compound(let kind, let members): .compound(kind, members.map { $0.mappingComparisons(change) })
    }
  }

  fileprivate func visiting<Failure>(
    _ visit: (ExpressionNode) throws(Failure) -> Void
  ) throws(Failure) {
    switch self {
    case .constant, .block: return
    case .comparison(let node):
      try node.left.visiting(visit)
      try node.right.visiting(visit)
    case .compound(_, let members):
      for member in members { try member.visiting(visit) }
    }
  }

  fileprivate var freeVariables: Set<String> {
    switch self {
    case .constant, .block: []
    case .comparison(let node): node.left.freeVariables.union(node.right.freeVariables)
    case .compound(_, let members): members.reduce(into: []) { $0.formUnion($1.freeVariables) }
    }
  }

  fileprivate func replacing(_ substitution: Substitution) -> PredicateNode {
    switch self {
    case .constant, .block: return self
    case .comparison(var node):
      node.left = node.left.replacing(substitution)
      node.right = node.right.replacing(substitution)
      return .comparison(node)
    case .compound(let kind, let members): return .compound(kind, members.map { $0.replacing(substitution) })
    }
  }
}

extension ExpressionNode {
  /// See ``PredicateNode/mapExpressions(_:)``.
  package func mapExpressions<Failure>(
    _ expression: (ExpressionNode) throws(Failure) -> ExpressionNode
  ) throws(Failure) -> ExpressionNode {
    try StackGuard.run(levels: depth) { () throws(Failure) in try mapping(expression) }
  }

  /// See ``PredicateNode/forEachExpression(_:)``.
  package func forEachExpression<Failure>(
    _ visit: (ExpressionNode) throws(Failure) -> Void
  ) throws(Failure) {
    try StackGuard.run(levels: depth) { () throws(Failure) in try visiting(visit) }
  }

  /// See ``PredicateNode/mapConstants(_:)``.
  package func mapConstants<Failure>(
    _ replace: (PredicateValue) throws(Failure) -> PredicateValue
  ) throws(Failure) -> ExpressionNode {
    try mapExpressions { (node) throws(Failure) in try node.replacingConstant(replace) }
  }

  /// See ``PredicateNode/substituting(variables:)``.
  package func substituting(variables: [String: Any]) -> ExpressionNode {
    if variables.isEmpty { return self }
    return StackGuard.run(levels: depth) { replacing(Substitution(variables)) }
  }

  /// See ``PredicateNode/variables``.
  package var variables: Set<String> {
    StackGuard.run(levels: depth) { freeVariables }
  }

  /// See ``PredicateNode/keyPaths``.
  package var keyPaths: [String] {
    var paths: PathList = PathList()
    forEachExpression { if case .keyPath(let path) = $0 { paths.add(path) } }
    return paths.names
  }

  /// See ``PredicateNode/firstProgramCode``.
  fileprivate var programCode: String? {
    switch self {
    case .block, .function(target: .some, _, _): return Printer.print(self)
    default:
      var part: String?
      forEachChild(
        { if part == nil { part = $0.programCode } },
        predicate: { if part == nil { part = $0.programCode } })
      return part
    }
  }

  /// See ``PredicateNode/depth``.
  package var depth: Int {
    TreeDepth.of(.expression(self))
  }

  fileprivate func mapping<Failure>(
    _ expression: (ExpressionNode) throws(Failure) -> ExpressionNode
  ) throws(Failure) -> ExpressionNode {
    try expression(
      mapChildren(
        { (node) throws(Failure) in try node.mapping(expression) },
        predicate: { (node) throws(Failure) in try node.mapping(expression) }))
  }

  fileprivate func visiting<Failure>(
    _ visit: (ExpressionNode) throws(Failure) -> Void
  ) throws(Failure) {
    try visit(self)
    try forEachChild(
      { (node) throws(Failure) in try node.visiting(visit) },
      predicate: { (node) throws(Failure) in try node.visiting(visit) })
  }

  fileprivate var freeVariables: Set<String> {
    switch self {
    case .variable(let name): return [name]
    case .subquery(let collection, let variable, let predicate):
      return collection.freeVariables.union(predicate.freeVariables.subtracting([variable]))
    default:
      var names: Set<String> = []
      forEachChild({ names.formUnion($0.freeVariables) }, predicate: { names.formUnion($0.freeVariables) })
      return names
    }
  }

  fileprivate func replacingConstant<Failure>(
    _ replace: (PredicateValue) throws(Failure) -> PredicateValue
  ) throws(Failure) -> ExpressionNode {
    guard case .constant(let value) = self else { return self }
    return .constant(try replace(value))
  }

  fileprivate func replacing(_ substitution: Substitution) -> ExpressionNode {
    switch self {
    case .variable(let name): return substitution.nodes[name] ?? self
    case .subquery(let collection, let variable, let predicate):
      var inner: Substitution = substitution
      inner.nodes[variable] = nil
      return .subquery(
        collection: collection.replacing(substitution), variable: variable,
        predicate: predicate.replacing(inner))
    // A constant key turns it into an ordinary path.
    case .dynamicPath(let target, .variable(let name)):
      let target = target.replacing(substitution)
      if case .constant(.string(let key))? = substitution.nodes[name] { return .makePath(target, key) }
      return .dynamicPath(target, .variable(name))
    default:
      return mapChildren({ $0.replacing(substitution) }, predicate: { $0.replacing(substitution) })
    }
  }

  /// Rebuilds this expression from its replaced operands; for walks that decide from the top how far down
  /// they go.
  package func mapChildren<Failure>(
    _ expression: (ExpressionNode) throws(Failure) -> ExpressionNode,
    predicate: (PredicateNode) throws(Failure) -> PredicateNode
  ) throws(Failure) -> ExpressionNode {
    switch self {
    case .constant, .evaluatedObject, .variable, .keyPath, .anyKey: self
    case .path(let target, let path): .makePath(try expression(target), path)
    case .dynamicPath(let target, let key): .dynamicPath(try expression(target), try expression(key))
    case .index(let target, .at(let index)): .index(try expression(target), .at(try expression(index)))
    case .index(let target, let index): .index(try expression(target), index)
    case .function(let target, let name, let arguments):
      .function(target: try target.map(expression), name: name, arguments: try arguments.map(expression))
    case .aggregate(let members): .aggregate(try members.map(expression))
    case .subquery(let collection, let variable, let test):
      .subquery(collection: try expression(collection), variable: variable, predicate: try predicate(test))
    case .conditional(let test, let then, let otherwise):
      .conditional(try predicate(test), try expression(then), try expression(otherwise))
    case .set(let operation, let left, let right):
      .set(operation, try expression(left), try expression(right))
    case .assignment(let variable, let value): .assignment(variable: variable, try expression(value))
    case .fetch(let request, let context, let countOnly):
      .fetch(
        request: try expression(request), context: try expression(context),
        countOnly: try expression(countOnly))
    case .block(let block, let arguments): .block(block, arguments: try arguments.map(expression))
    }
  }

  /// Calls the closures for the operands of this expression.
  package func forEachChild<Failure>(
    _ expression: (ExpressionNode) throws(Failure) -> Void, predicate: (PredicateNode) throws(Failure) -> Void
  ) throws(Failure) {
    switch self {
    case .constant, .evaluatedObject, .variable, .keyPath, .anyKey: return
    case .path(let target, _): try expression(target)
    case .dynamicPath(let target, let key):
      try expression(target)
      try expression(key)
    case .index(let target, let index):
      try expression(target)
      if case .at(let index) = index { try expression(index) }
    case .function(let target, _, let arguments):
      if let target { try expression(target) }
      for argument in arguments { try expression(argument) }
    case .aggregate(let members):
      for member in members { try expression(member) }
    case .subquery(let collection, _, let test):
      try expression(collection)
      try predicate(test)
    case .conditional(let test, let then, let otherwise):
      try predicate(test)
      try expression(then)
      try expression(otherwise)
    case .set(_, let left, let right):
      try expression(left)
      try expression(right)
    case .assignment(_, let value): try expression(value)
    case .fetch(let request, let context, let countOnly):
      try expression(request)
      try expression(context)
      try expression(countOnly)
    case .block(_, let arguments):
      for argument in arguments { try expression(argument) }
    }
  }
}

/// Variables and the nodes that replace them.
private struct Substitution {
  var nodes: [String: ExpressionNode]

  init(_ values: [String: Any]) {
    nodes = values.mapValues { value in
      if let expression = object(value, as: NSExpression.self) { return expression.expressionNode() }
      let constant: PredicateValue = PredicateValue(constant: value)
      // A null among the values becomes an NSNull constant, as with Apple's.
      return .constant(constant.isNull ? .nullObject : constant)
    }
  }
}

/// Paths in order of appearance, each once.
private struct PathList {
  private(set) var names: [String] = []
  private var known: Set<String> = []

  mutating func add(_ name: String) {
    if known.insert(name).inserted { names.append(name) }
  }
}

/// Counts levels without recursion, so that recursive code can be given enough stack.
private enum TreeDepth {
  enum Item {
    case predicate(PredicateNode)
    case expression(ExpressionNode)
  }

  static func of(_ root: Item) -> Int {
    let shallow: Int? =
      switch root {
      case .predicate(let node): depth(of: node, upTo: levels)
      case .expression(let node): depth(of: node, upTo: levels)
      }
    return shallow ?? deepDepth(of: root)
  }

  /// Levels that are counted by recursion, which suffices for nearly every tree: it needs no memory.
  private static let levels: Int = 12

  /// nil if there are more levels.
  private static func depth(of node: PredicateNode, upTo levels: Int) -> Int? {
    if levels == 0 { return nil }
    switch node {
    case .constant, .block: return 1
    case .comparison(let node):
      guard let left = depth(of: node.left, upTo: levels - 1),
        let right = depth(of: node.right, upTo: levels - 1)
      else { return nil }
      return 1 + max(left, right)
    case .compound(_, let members):
      var deepest: Int = 0
      for member in members {
        guard let depth = depth(of: member, upTo: levels - 1) else { return nil }
        deepest = max(deepest, depth)
      }
      return 1 + deepest
    }
  }

  private static func depth(of node: ExpressionNode, upTo levels: Int) -> Int? {
    if levels == 0 { return nil }
    switch node {
    case .constant, .evaluatedObject, .variable, .keyPath, .anyKey: return 1
    default:
      var deepest: Int? = 0
      node.forEachChild(
        { deepest = larger(deepest, depth(of: $0, upTo: levels - 1)) },
        predicate: { deepest = larger(deepest, depth(of: $0, upTo: levels - 1)) })
      return deepest.map { 1 + $0 }
    }
  }

  private static func larger(_ a: Int?, _ b: Int?) -> Int? {
    guard let a, let b else { return nil }
    return max(a, b)
  }

  private static func deepDepth(of root: Item) -> Int {
    var deepest: Int = 1
    var pending: [(item: Item, level: Int)] = []
    add(childrenOf: root, at: 2, to: &pending)
    while let (item, level) = pending.popLast() {
      deepest = max(deepest, level)
      add(childrenOf: item, at: level + 1, to: &pending)
    }
    return deepest
  }

  private static func add(childrenOf item: Item, at level: Int, to pending: inout [(item: Item, level: Int)])
  {
    switch item {
    case .predicate(.constant), .predicate(.block): break
    case .predicate(.comparison(let node)):
      pending.append((.expression(node.left), level))
      pending.append((.expression(node.right), level))
    case .predicate(.compound(_, let members)):
      for member in members { pending.append((.predicate(member), level)) }
    case .expression(let node):
      node.forEachChild(
        { pending.append((.expression($0), level)) }, predicate: { pending.append((.predicate($0), level)) })
    }
  }
}
