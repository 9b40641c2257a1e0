import Foundation

extension NSExpression {
  /// The kinds of expressions, under Apple's numbers.
  public enum ExpressionType: UInt, Sendable {
    case constantValue = 0
    case evaluatedObject = 1
    case variable = 2
    case keyPath = 3
    case function = 4
    case unionSet = 5
    case intersectSet = 6
    case minusSet = 7
    case subquery = 13
    case aggregate = 14
    case anyKey = 15
    case block = 19
    case conditional = 20
    /// Core Data's `FETCH(…)`.
    case fetchRequest = 50
  }

  /// What kind of expression this is. Indexes, casts and assignments are functions.
  public var expressionType: ExpressionType {
    if let declaredType { return declaredType }
    return switch node {
    case .constant: .constantValue
    case .evaluatedObject: .evaluatedObject
    case .variable: .variable
    case .keyPath, .path, .dynamicPath: .keyPath
    case .function, .index, .assignment: .function
    case .fetch: .fetchRequest
    case .aggregate: .aggregate
    case .subquery: .subquery
    case .conditional: .conditional
    case .set(.union, _, _): .unionSet
    case .set(.intersect, _, _): .intersectSet
    case .set(.minus, _, _): .minusSet
    case .anyKey: .anyKey
    case .block: .block
    }
  }

  /// The value of a constant. Numbers and Booleans are `NSNumber`s, which cast to every numeric type
  /// that can hold them.
  public var constantValue: Any? {
    guard case .constant(let value) = node else { wrongKind("constantValue") }
    if case .nullObject = value { return NSNull() }
    return value.objectValue
  }

  /// The path of a key path expression.
  public var keyPath: String {
    switch node {
    case .keyPath(let path), .path(_, let path): return path
    default: wrongKind("keyPath")
    }
  }

  /// The name of a variable.
  public var variable: String {
    switch node {
    case .variable(let name), .subquery(_, let name, _), .assignment(let name, _): return name
    default: wrongKind("variable")
    }
  }

  /// The selector of a function.
  public var function: String {
    switch node {
    case .function(_, let name, _): return name
    case .index: return "objectFrom:withIndex:"
    case .keyPath(let path): return path.contains(".") ? "valueForKeyPath:" : "valueForKey:"
    case .path, .dynamicPath: return "valueForKeyPath:"
    default: wrongKind("function")
    }
  }

  /// The expression that a function is called on, or a path is read from.
  public var operand: NSExpression {
    switch node {
    case .function(let target?, _, _), .path(let target, _), .dynamicPath(let target, _):
      return part(target)
    case .keyPath: return part(.evaluatedObject)
    // Built-in functions are methods of this class on Apple's systems, and archives contain its name.
    case .function(nil, _, _), .index: return NSExpression(forConstantValue: "_NSPredicateUtilities")
    default: wrongKind("operand")
    }
  }

  /// The arguments of a function or block.
  public var arguments: [NSExpression]? {
    switch node {
    case .function(_, _, let arguments), .block(_, let arguments): arguments.map(part)
    case .index(let target, let index):
      [part(target), part(Self.node(of: index))]
    default: nil
    }
  }

  private static func node(of index: IndexNode) -> ExpressionNode {
    switch index {
    case .first: .constant(.string("FIRST"))
    case .last: .constant(.string("LAST"))
    case .size: .constant(.string("SIZE"))
    case .at(let node): node
    }
  }

  /// The members of an aggregate as expressions, or the collection of a subquery.
  public var collection: Any {
    switch node {
    case .aggregate(let members): return members.map(part)
    case .subquery(let collection, _, _): return part(collection)
    case .constant(let value) where value.elements != nil: return value.objectValue ?? []
    default: wrongKind("collection")
    }
  }

  /// The predicate of a subquery or conditional.
  public var predicate: Foundation.NSPredicate {
    switch node {
    case .subquery(_, _, let predicate), .conditional(let predicate, _, _):
      return .makePredicate(predicate, permission: permission.map(EvaluationPermission.init(partOf:)))
    default: wrongKind("predicate")
    }
  }

  /// The left operand of a set operation.
  public var left: NSExpression {
    guard case .set(_, let left, _) = node else { wrongKind("left") }
    return part(left)
  }

  /// The right operand of a set operation.
  public var right: NSExpression {
    guard case .set(_, _, let right) = node else { wrongKind("right") }
    return part(right)
  }

  /// The value of a conditional whose predicate is true.
  public var `true`: NSExpression {
    guard case .conditional(_, let then, _) = node else { wrongKind("true") }
    return part(then)
  }

  /// The value of a conditional whose predicate is false.
  public var `false`: NSExpression {
    guard case .conditional(_, _, let otherwise) = node else { wrongKind("false") }
    return part(otherwise)
  }

  /// The code of a block expression.
  public var expressionBlock: (Any?, [Any], NSMutableDictionary?) -> Any? {
    guard case .block(let block, _) = node else { wrongKind("expressionBlock") }
    return block.body
  }

  private func part(_ node: ExpressionNode) -> NSExpression {
    NSExpression(node: node, permission: permission.map(EvaluationPermission.init(partOf:)))
  }

  private func wrongKind(_ property: String) -> Never {
    fatalError("\(property) is not defined for the expression \(self). Ask for its expressionType first.")
  }
}
