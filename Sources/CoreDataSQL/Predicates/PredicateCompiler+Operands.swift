import CoreDataEvaluation
import CoreDataPredicates
import CoreDataStorage
import Foundation

extension PredicateCompiler {
  /// Resolves an expression.
  func operand(_ expression: ExpressionNode, _ scope: PredicateScope) throws -> Operand {
    switch expression {
    case .constant(let value): return .constant(value)
    case .evaluatedObject: return .object(scope.object)
    case .keyPath(let path): return try read(path, from: .object(scope.object), expression)
    case .variable(let name): return try variable(name, scope)
    case .path(let target, let path): return try read(path, from: operand(target, scope), expression)
    case .aggregate(let members):
      let parts: [Operand] = try members.map { try operand($0, scope) }
      let constants: [PredicateValue] = parts.compactMap(\.constant)
      return constants.count == parts.count ? .constant(.array(constants)) : .list(parts)
    case .function(nil, let name, let arguments):
      if isConstant(expression) {
        return .constant(try ExpressionProgram(expression).value(nil))
      }
      return try function(name, arguments, expression, scope)
    case .function(.some, _, _):
      throw unsupported(
        expression, "FUNCTION with a target runs code of the program, which a database can't",
        "use a built-in function, or filter the fetched objects")
    case .conditional(let predicate, let then, let otherwise):
      return try conditional(predicate, then, otherwise, scope)
    case .subquery(let collection, let variable, let predicate):
      return try subquery(collection, variable, predicate, expression, scope)
    case .index(let target, let index): return try element(of: target, at: index, expression, scope)
    case .set(let operation, let left, let right):
      return try combination(operation, operand(left, scope), operand(right, scope), expression)
    case .dynamicPath, .assignment, .fetch, .anyKey, .block:
      throw unsupported(
        expression, "a database can't evaluate it", "rewrite the condition, or filter the fetched objects")
    }
  }

  private func read(_ path: String, from start: Operand, _ expression: ExpressionNode) throws -> Operand {
    try paths.read(KeyPathResolver.components(path), from: start, text: Printer.print(expression))
  }

  private func variable(_ name: String, _ scope: PredicateScope) throws -> Operand {
    if let value = scope.values[name] { return value }
    throw StoreError.invalid(
      part: "$\(name)", reason: "the variable has no value",
      advice: "give it one with withSubstitutionVariables before fetching")
  }

  // MARK: TERNARY

  /// `TERNARY(p, a, b)`: one value if both branches are of one type, otherwise a choice, which the enclosing
  /// expression resolves.
  private func conditional(
    _ predicate: PredicateNode, _ then: ExpressionNode, _ otherwise: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    let test: SQLExpression = try condition(predicate, scope)
    // Only the chosen branch is evaluated, so the other may be anything.
    if case .truth(let holds) = test { return try operand(holds ? then : otherwise, scope) }
    let (first, second): (Operand, Operand) = (try operand(then, scope), try operand(otherwise, scope))
    guard let a = single(first), let b = single(second),
      let type = Self.common(Set([a.1, b.1].compactMap(\.self)))
    else {
      return .choice(when: test, then: first, otherwise: second)
    }
    return .value(.choice(when: test, then: a.0, otherwise: b.0), type)
  }

  // MARK: Single values

  /// An operand as one value with its type, which is nil for nil; nil for an operand that is no single value.
  func single(_ operand: Operand) -> (SQLExpression, ValueType?)? {
    switch operand {
    case .value(let value, let type): return (value, type)
    case .constant(let value):
      if value.isNull { return (.null, nil) }
      return schema.encoding.bind(value).map { (.bound($0), $1) }
    case .object, .entity, .members, .list, .choice, .combined: return nil
    }
  }

  /// An expression as a single value.
  func scalar(_ expression: ExpressionNode, _ scope: PredicateScope) throws -> (SQLExpression, ValueType?) {
    let operand: Operand = try operand(expression, scope)
    if let single = single(operand) {
      try single.1?.checkReadable(Printer.print(expression))
      return single
    }
    switch operand {
    case .choice:
      throw unsupported(
        expression, "its branches are of different types, which an SQL expression can't be",
        "compare the branches, or make both of one type")
    case .combined, .list, .members:
      throw invalid(
        expression, "a collection stands where a single value is needed",
        "put ANY before the comparison, or count its members")
    case .constant(let value):
      throw invalid(
        expression, "\(value.kindName) is no single value of a database", "use a number, a string or a date")
    case .object, .entity, .value:
      throw invalid(expression, "a single value is needed here", "name an attribute")
    }
  }
}
