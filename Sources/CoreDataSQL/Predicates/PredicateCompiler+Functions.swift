import CoreDataPredicates
import CoreDataStorage
import Foundation

extension PredicateCompiler {
  /// The built-in functions that SQL has, or that the engine registers for it.
  func function(
    _ name: String, _ arguments: [ExpressionNode], _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    switch name {
    case "now": return .constant(.date(Date()))
    case "noindex:":
      guard case .value(let value, let type) = try operand(arguments[0], scope) else {
        return try operand(arguments[0], scope)
      }
      return .value(.noIndex(value), type)
    case "count:", "sum:", "average:", "min:", "max:":
      return try collectionFunction(name, arguments[0], expression, scope)
    case "castObject:toType:": return try cast(arguments, expression, scope)
    case "add:to:": return try arithmetic(.add, name, arguments, expression, scope)
    case "from:subtract:": return try arithmetic(.subtract, name, arguments, expression, scope)
    case "multiply:by:": return try arithmetic(.multiply, name, arguments, expression, scope)
    case "divide:by:": return try arithmetic(.divide, name, arguments, expression, scope)
    case "modulus:by:": return try arithmetic(.remainder, name, arguments, expression, scope)
    case "bitwiseAnd:with:": return try bits(.bitAnd, arguments, expression, scope)
    case "bitwiseOr:with:": return try bits(.bitOr, arguments, expression, scope)
    case "leftshift:by:": return try bits(.shiftLeft, arguments, expression, scope)
    case "rightshift:by:": return try bits(.shiftRight, arguments, expression, scope)
    case "bitwiseXor:with:":
      let values: [SQLExpression] = try integers(arguments, expression, scope)
      return .value(.function(.bitXor, values), .integer)
    case "onesComplement:":
      return .value(.bitNot(try integers(arguments, expression, scope)[0]), .integer)
    case "raise:toPower:":
      return .value(.function(.power, try reals(arguments, expression, scope)), .real)
    case FunctionTable.negation:
      let (value, type) = try numbers(arguments, expression, scope)[0]
      return type == .decimal ? decimal(name, value) : .value(.negative(value), type)
    case "abs:":
      let (value, type) = try numbers(arguments, expression, scope)[0]
      return type == .decimal ? decimal(name, value) : .value(.builtin("abs", [value]), type)
    case "sqrt:": return try real(.squareRoot, arguments, expression, scope)
    case "exp:": return try real(.exponential, arguments, expression, scope)
    case "ln:": return try real(.naturalLogarithm, arguments, expression, scope)
    case "log:": return try real(.logarithm, arguments, expression, scope)
    case "floor:": return try rounded(.floor, arguments, expression, scope)
    case "ceiling:": return try rounded(.ceiling, arguments, expression, scope)
    case "trunc:": return try rounded(.truncate, arguments, expression, scope)
    case "lowercase:": return try text(.lowercase, .string, arguments, expression, scope)
    case "uppercase:": return try text(.uppercase, .string, arguments, expression, scope)
    case "canonical:": return try text(.canonical, .string, arguments, expression, scope)
    case "length:": return try text(.length, .integer, arguments, expression, scope)
    default:
      throw unsupported(
        expression, "the function '\(name)' has no counterpart in the store",
        "compute the value before fetching, or filter the fetched objects")
    }
  }

  // MARK: Numbers

  private func numbers(
    _ arguments: [ExpressionNode], _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> [(SQLExpression, ValueType)] {
    try arguments.map { argument in
      let (value, type) = try scalar(argument, scope)
      guard let type, type.isNumber else {
        throw unsupported(
          expression, "'\(Printer.print(argument))' is \(type?.name ?? "nil"), and arithmetic needs numbers",
          "use a numeric attribute, or CAST it")
      }
      return (value, type)
    }
  }

  private func integers(
    _ arguments: [ExpressionNode], _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> [SQLExpression] {
    try numbers(arguments, expression, scope).map { value, type in
      guard type == .integer else {
        throw unsupported(expression, "bit operators need integers", "use an integer attribute")
      }
      return value
    }
  }

  private func arithmetic(
    _ symbol: SQLOperator, _ name: String, _ arguments: [ExpressionNode], _ expression: ExpressionNode,
    _ scope: PredicateScope
  ) throws -> Operand {
    let parts: [(SQLExpression, ValueType)] = try numbers(arguments, expression, scope)
    let (left, leftType) = parts[0]
    let (right, rightType) = parts[1]
    if leftType == .integer, rightType == .integer { return .value(.binary(symbol, left, right), .integer) }
    if leftType.isDecimal(with: rightType) {
      return .value(.function(.decimalArithmetic, [.text(name), left, right]), .decimal)
    }
    let (a, b) = (leftType == .decimal ? left.real : left, rightType == .decimal ? right.real : right)
    switch symbol {
    case .remainder: return .value(.function(.modulus, [a, b]), .real)
    // An integer would divide a whole real without its fraction.
    case .divide: return .value(.binary(.divide, .cast(a, .real), b), .real)
    default: return .value(.binary(symbol, a, b), .real)
    }
  }

  private func decimal(_ selector: String, _ value: SQLExpression) -> Operand {
    .value(.function(.decimalFunction, [.text(selector), value]), .decimal)
  }

  /// Numbers with decimals as their nearest reals, for functions that know only doubles.
  private func reals(
    _ arguments: [ExpressionNode], _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> [SQLExpression] {
    try numbers(arguments, expression, scope).map { $1 == .decimal ? $0.real : $0 }
  }

  private func bits(
    _ symbol: SQLOperator, _ arguments: [ExpressionNode], _ expression: ExpressionNode,
    _ scope: PredicateScope
  ) throws -> Operand {
    let values: [SQLExpression] = try integers(arguments, expression, scope)
    return .value(.binary(symbol, values[0], values[1]), .integer)
  }

  private func real(
    _ function: SQLFunction, _ arguments: [ExpressionNode], _ expression: ExpressionNode,
    _ scope: PredicateScope
  ) throws -> Operand {
    .value(.function(function, try reals(arguments, expression, scope)), .real)
  }

  private func rounded(
    _ function: SQLFunction, _ arguments: [ExpressionNode], _ expression: ExpressionNode,
    _ scope: PredicateScope
  ) throws -> Operand {
    let (value, type) = try numbers(arguments, expression, scope)[0]
    switch type {
    case .integer: return .value(value, type)
    case .decimal: return decimal(function.selector ?? "", value)
    default: return .value(.function(function, [value]), type)
    }
  }

  // MARK: Text

  private func text(
    _ function: SQLFunction, _ result: ValueType, _ arguments: [ExpressionNode],
    _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    let (value, type) = try scalar(arguments[0], scope)
    guard type == .string else {
      throw unsupported(
        expression,
        "'\(Printer.print(arguments[0]))' is \(type?.name ?? "nil"), and the function needs a string",
        "use a string attribute")
    }
    return .value(.function(function, [value]), result)
  }

  // MARK: Collections

  private func collectionFunction(
    _ name: String, _ argument: ExpressionNode, _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    if case .subquery(let collection, let variable, let predicate) = argument, name == "count:" {
      return try operand(
        .path(.subquery(collection: collection, variable: variable, predicate: predicate), "@count"), scope)
    }
    let (start, path) = try startOfPath(argument, scope)
    let text: String = Printer.print(expression)
    guard let start, case .members(var many) = try paths.resolve(path, from: start, path: text) else {
      throw unsupported(
        expression, "the function needs a to-many relationship in a store",
        "give it a path such as items.price")
    }
    let marks: [String: String] = [
      "count:": "@count", "sum:": "@sum", "average:": "@avg", "min:": "@min", "max:": "@max",
    ]
    let mark: String = marks[name] ?? name
    many.rest = [mark] + (name == "count:" ? [] : many.rest)
    return try aggregate(many, text: text)
  }

  // MARK: CAST

  private func cast(
    _ arguments: [ExpressionNode], _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    guard case .constant(.string(let name))? = arguments.last else {
      throw unsupported(expression, "CAST needs the name of a type", "write CAST(x, \"NSNumber\")")
    }
    let (value, type) = try scalar(arguments[0], scope)
    switch (name, type) {
    case (_, nil): return .constant(.null)
    // Dates are stored as seconds since 2001, which is what the cast means.
    case ("NSDate", .date), ("NSDate", .integer), ("NSDate", .real): return .value(value, .date)
    case ("NSDate", .decimal): return .value(value.real, .date)
    case ("NSNumber", .date), ("NSDecimalNumber", .date): return .value(value, .real)
    case ("NSNumber", .some(let type)) where type.isNumber: return .value(value, type)
    case ("NSDecimalNumber", .some(let type)) where type.isNumber: return .value(value, .decimal)
    case ("NSNumber", .string), ("NSDecimalNumber", .string):
      return .value(.function(.number, [value]), .real)
    case ("NSString", .string): return .value(value, .string)
    case ("NSString", .decimal): return .value(.function(.decimalDescription, [value]), .string)
    case ("NSString", .some(let type)) where type.isNumber:
      return .value(.function(.description, [value]), .string)
    default:
      throw unsupported(
        expression, "a store can't cast \(type?.name ?? "nil") to \(name)",
        "cast to NSNumber, NSDecimalNumber, NSString or, from a number, to NSDate")
    }
  }
}
