import Foundation

// One bottom-up rewrite and one visit carry every other walk.

extension PredicateNode {
  /// Rebuilds the tree from the leaves up: `expression` sees every expression after its operands were rebuilt.
  package func mapExpressions(_ expression: (ExpressionNode) throws -> ExpressionNode) rethrows
    -> PredicateNode
  {
    switch self {
    case .constant, .block: return self
    case .comparison(var node):
      node.left = try node.left.mapExpressions(expression)
      node.right = try node.right.mapExpressions(expression)
      return .comparison(node)
    case .compound(let kind, let members):
      return .compound(kind, try members.map { try $0.mapExpressions(expression) })
    }
  }

  /// Calls `visit` for every expression, operands after the expression that holds them.
  package func forEachExpression(_ visit: (ExpressionNode) throws -> Void) rethrows {
    switch self {
    case .constant, .block: return
    case .comparison(let node):
      try node.left.forEachExpression(visit)
      try node.right.forEachExpression(visit)
    case .compound(_, let members):
      for member in members { try member.forEachExpression(visit) }
    }
  }

  /// The tree with every constant replaced, for instance managed objects by their row ids.
  package func mapConstants(_ replace: (PredicateValue) throws -> PredicateValue) rethrows -> PredicateNode {
    try mapExpressions { try $0.replacingConstant(replace) }
  }

  /// The tree with these variables replaced by constants; others, and those bound by a `SUBQUERY`, stay.
  package func substituting(variables: [String: Any]) -> PredicateNode {
    variables.isEmpty ? self : replacing(Substitution(variables))
  }

  /// Names of the variables that an evaluation must be given.
  package var variables: Set<String> {
    switch self {
    case .constant, .block: []
    case .comparison(let node): node.left.variables.union(node.right.variables)
    case .compound(_, let members): members.reduce(into: []) { $0.formUnion($1.variables) }
    }
  }

  /// Every path that is read from the evaluated object, in order of appearance.
  package var keyPaths: [String] {
    var paths: [String] = []
    forEachExpression { if case .keyPath(let path) = $0, !paths.contains(path) { paths.append(path) } }
    return paths
  }

  /// The first part, as text, that calls into the program: a block, `FUNCTION(…)` with a target, an operator named by a selector.
  package var firstProgramCode: String? {
    switch self {
    case .constant: return nil
    case .block: return Printer.print(self)
    case .comparison(let node):
      if node.comparison == .customSelector { return Printer.print(self) }
      return node.left.firstProgramCode ?? node.right.firstProgramCode
    case .compound(_, let members):
      for member in members { if let part = member.firstProgramCode { return part } }
      return nil
    }
  }

  /// Levels from here to the deepest leaf; a leaf has one.
  package var depth: Int {
    switch self {
    case .constant, .block: 1
    case .comparison(let node): 1 + max(node.left.depth, node.right.depth)
    case .compound(_, let members): 1 + (members.lazy.map(\.depth).max() ?? 0)
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
  package func mapExpressions(_ expression: (ExpressionNode) throws -> ExpressionNode) rethrows
    -> ExpressionNode
  {
    try expression(
      mapChildren({ try $0.mapExpressions(expression) }, predicate: { try $0.mapExpressions(expression) }))
  }

  /// See ``PredicateNode/forEachExpression(_:)``.
  package func forEachExpression(_ visit: (ExpressionNode) throws -> Void) rethrows {
    try visit(self)
    try forEachChild({ try $0.forEachExpression(visit) }, predicate: { try $0.forEachExpression(visit) })
  }

  /// See ``PredicateNode/mapConstants(_:)``.
  package func mapConstants(_ replace: (PredicateValue) throws -> PredicateValue) rethrows -> ExpressionNode {
    try mapExpressions { try $0.replacingConstant(replace) }
  }

  /// See ``PredicateNode/substituting(variables:)``.
  package func substituting(variables: [String: Any]) -> ExpressionNode {
    variables.isEmpty ? self : replacing(Substitution(variables))
  }

  /// See ``PredicateNode/variables``.
  package var variables: Set<String> {
    switch self {
    case .variable(let name): return [name]
    case .subquery(let collection, let variable, let predicate):
      return collection.variables.union(predicate.variables.subtracting([variable]))
    default:
      var names: Set<String> = []
      forEachChild({ names.formUnion($0.variables) }, predicate: { names.formUnion($0.variables) })
      return names
    }
  }

  /// See ``PredicateNode/keyPaths``.
  package var keyPaths: [String] {
    var paths: [String] = []
    forEachExpression { if case .keyPath(let path) = $0, !paths.contains(path) { paths.append(path) } }
    return paths
  }

  /// See ``PredicateNode/firstProgramCode``.
  package var firstProgramCode: String? {
    switch self {
    case .block, .function(target: .some, _, _): return Printer.print(self)
    default:
      var part: String?
      forEachChild(
        { if part == nil { part = $0.firstProgramCode } },
        predicate: { if part == nil { part = $0.firstProgramCode } })
      return part
    }
  }

  /// See ``PredicateNode/depth``.
  package var depth: Int {
    var deepest: Int = 0
    forEachChild({ deepest = max(deepest, $0.depth) }, predicate: { deepest = max(deepest, $0.depth) })
    return 1 + deepest
  }

  fileprivate func replacingConstant(
    _ replace: (PredicateValue) throws -> PredicateValue
  ) rethrows -> ExpressionNode {
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
    // A constant key makes an ordinary path of it.
    case .dynamicPath(let target, .variable(let name)):
      let target = target.replacing(substitution)
      if case .constant(.string(let key))? = substitution.nodes[name] { return .makePath(target, key) }
      return .dynamicPath(target, .variable(name))
    default:
      return mapChildren({ $0.replacing(substitution) }, predicate: { $0.replacing(substitution) })
    }
  }

  /// Rebuilds this expression of its operands, replaced; for walks that decide from the top how far down they go.
  package func mapChildren(
    _ expression: (ExpressionNode) throws -> ExpressionNode,
    predicate: (PredicateNode) throws -> PredicateNode
  ) rethrows -> ExpressionNode {
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

  /// Calls for the operands of this expression.
  package func forEachChild(
    _ expression: (ExpressionNode) throws -> Void, predicate: (PredicateNode) throws -> Void
  ) rethrows {
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

/// Variables and what stands in for them.
private struct Substitution {
  var nodes: [String: ExpressionNode]

  init(_ values: [String: Any]) {
    nodes = values.mapValues { value in
      if let expression = value as? NSExpression { return expression.expressionNode() }
      let constant: PredicateValue = PredicateValue(constant: value)
      // A null among the values becomes an NSNull constant, as on Apple's.
      return .constant(constant.isNull ? .nullObject : constant)
    }
  }
}
