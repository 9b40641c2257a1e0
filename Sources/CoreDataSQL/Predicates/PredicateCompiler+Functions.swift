import CoreDataEvaluation
import CoreDataPredicates
import CoreDataStorage
import Foundation

extension PredicateCompiler {
  /// The built-in functions that SQL has, or that the engine registers. A function of nil is nil.
  func function(
    _ name: String, _ arguments: [ExpressionNode], _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    guard let function = BuiltinFunction(rawValue: name), function.argumentCount == arguments.count else {
      throw noCounterpart(name, expression)
    }
    switch function {
    case .now: return .constant(.date(PredicateClock.now))
    case .noIndex:
      return try operand(arguments[0], scope).mapBranches { operand in
        if case .value(let value, let type) = operand { .value(.noIndex(value), type) } else { operand }
      }
    case .random: return .value(try sql(.randomFraction), .real)
    case .randomBelow: return try randomNumber(below: arguments, expression, scope)
    case .count, .sum, .average, .min, .max, .median, .standardDeviation, .mode:
      return try operand(arguments[0], scope).mapBranches { try total(function, of: $0, expression, scope) }
    case .element:
      return try element(of: arguments[0], at: .at(arguments[1]), expression, scope)
    case .cast: return try cast(arguments, expression, scope)
    case .add: return try arithmetic(.add, function, arguments, expression, scope)
    case .subtract: return try arithmetic(.subtract, function, arguments, expression, scope)
    case .multiply: return try arithmetic(.multiply, function, arguments, expression, scope)
    case .divide: return try arithmetic(.divide, function, arguments, expression, scope)
    case .modulus: return try arithmetic(.remainder, function, arguments, expression, scope)
    case .bitwiseAnd: return try bits(.bitAnd, arguments, expression, scope)
    case .bitwiseOr: return try bits(.bitOr, arguments, expression, scope)
    case .bitwiseXor: return try bits(.bitXor, arguments, expression, scope)
    case .leftShift: return try bits(.shiftLeft, arguments, expression, scope)
    case .rightShift: return try bits(.shiftRight, arguments, expression, scope)
    case .onesComplement: return try bits(arguments, expression, scope) { .bitNot($0[0]) }
    case .raise:
      return try numeric(arguments, expression, scope) {
        .value(try sql(.function(.power, try $0.map(plainNumber))), .real)
      }
    case .negate:
      return try numeric(arguments, expression, scope) { parts in
        let (value, type) = parts[0]
        return type == .decimal ? try decimal(function, value) : .value(try sql(.negated(value)), type)
      }
    case .absolute:
      return try numeric(arguments, expression, scope) { parts in
        let (value, type) = parts[0]
        return type == .decimal
          ? try decimal(function, value) : .value(try sql(.function(.absolute, [value])), type)
      }
    case .squareRoot: return try real(.squareRoot, arguments, expression, scope)
    case .exponential: return try real(.exponential, arguments, expression, scope)
    case .naturalLogarithm: return try real(.naturalLogarithm, arguments, expression, scope)
    case .logarithm: return try real(.logarithm, arguments, expression, scope)
    case .floor: return try rounded(function, as: .floor, arguments, expression, scope)
    case .ceiling: return try rounded(function, as: .ceiling, arguments, expression, scope)
    case .truncate: return try rounded(function, as: .truncate, arguments, expression, scope)
    case .lowercase: return try text(.lowercase, .string, arguments, expression, scope)
    case .uppercase: return try text(.uppercase, .string, arguments, expression, scope)
    case .canonical: return try text(.canonical, .string, arguments, expression, scope)
    case .length: return try text(.length, .integer, arguments, expression, scope)
    case .tokenize, .distance: throw noCounterpart(name, expression)
    }
  }

  private func noCounterpart(_ name: String, _ expression: ExpressionNode) -> StoreError {
    unsupported(
      expression, "the function '\(name)' has no counterpart in the store",
      "compute the value before fetching, or filter the fetched objects")
  }

  // MARK: Random numbers

  private func randomNumber(
    below arguments: [ExpressionNode], _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    try bits(arguments, expression, scope) { try sql(.randomBelow($0[0])) }
  }

  // MARK: Numbers

  /// Computes with numbers; with nil among them the result is nil.
  private func numeric(
    _ arguments: [ExpressionNode], _ expression: ExpressionNode, _ scope: PredicateScope,
    _ compute: ([(SQLExpression, ValueType)]) throws -> Operand
  ) throws -> Operand {
    var numbers: [(SQLExpression, ValueType)] = []
    for argument in arguments {
      let (value, type) = try scalar(argument, scope)
      guard let type else { return .constant(.null) }
      guard type.isNumber else {
        throw invalid(
          expression, "'\(Printer.print(argument))' is \(type.name), and arithmetic needs numbers",
          "use a numeric attribute, or CAST it")
      }
      numbers.append((value, type))
    }
    return try compute(numbers)
  }

  private func arithmetic(
    _ symbol: SQLOperator, _ function: BuiltinFunction, _ arguments: [ExpressionNode],
    _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    try numeric(arguments, expression, scope) { parts in
      let (left, leftType) = parts[0]
      let (right, rightType) = parts[1]
      if leftType == .integer, rightType == .integer {
        return .value(try sql(.computed(symbol, left, right, .whole)), .integer)
      }
      if leftType.isDecimal(with: rightType) {
        if leftType == .number || rightType == .number { throw mixed(expression) }
        let arguments: [SQLExpression] = [.text(function.selector), left, right]
        return .value(try sql(.function(.decimalArithmetic, arguments)), .decimal)
      }
      let (a, b) = (try plainNumber(left, leftType), try plainNumber(right, rightType))
      let isReal: Bool = leftType == .real || rightType == .real
      return .value(try sql(.computed(symbol, a, b, isReal ? .real : .mixed)), isReal ? .real : .number)
    }
  }

  /// A number that is no decimal.
  private func plainNumber(_ value: SQLExpression, _ type: ValueType) throws -> SQLExpression {
    type == .decimal ? try sql(.realOfDecimal(value)) : value
  }

  /// A decimal is computed with integers as a decimal, with doubles as a double.
  private func mixed(_ expression: ExpressionNode) -> StoreError {
    unsupported(
      expression, "a number read from text meets a decimal, and is whole or not row by row",
      "CAST the text to NSDecimalNumber")
  }

  private func decimal(_ function: BuiltinFunction, _ value: SQLExpression) throws -> Operand {
    .value(try sql(.function(.decimalFunction, [.text(function.selector), value])), .decimal)
  }

  /// Operations on integers; the fraction of other numbers is dropped.
  private func bits(
    _ arguments: [ExpressionNode], _ expression: ExpressionNode, _ scope: PredicateScope,
    _ compute: ([SQLExpression]) throws -> SQLExpression
  ) throws -> Operand {
    try numeric(arguments, expression, scope) { parts in
      let values: [SQLExpression] = try parts.map { value, type in
        type == .integer ? value : try sql(.function(.whole, [try plainNumber(value, type)]))
      }
      return .value(try compute(values), .integer)
    }
  }

  private func bits(
    _ symbol: SQLOperator, _ arguments: [ExpressionNode], _ expression: ExpressionNode,
    _ scope: PredicateScope
  ) throws -> Operand {
    try bits(arguments, expression, scope) { try sql(.computed(symbol, $0[0], $0[1], .whole)) }
  }

  private func real(
    _ function: SQLFunction, _ arguments: [ExpressionNode], _ expression: ExpressionNode,
    _ scope: PredicateScope
  ) throws -> Operand {
    try numeric(arguments, expression, scope) { parts in
      .value(try sql(.function(function, try parts.map(plainNumber))), .real)
    }
  }

  private func rounded(
    _ function: BuiltinFunction, as name: SQLFunction, _ arguments: [ExpressionNode],
    _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    try numeric(arguments, expression, scope) { parts in
      let (value, type) = parts[0]
      switch type {
      case .integer: return .value(value, type)
      case .decimal: return try decimal(function, value)
      default: return .value(try sql(.function(name, [value])), type)
      }
    }
  }

  // MARK: Text

  private func text(
    _ function: SQLFunction, _ result: ValueType, _ arguments: [ExpressionNode],
    _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    let (value, type) = try scalar(arguments[0], scope)
    guard let type else { return .constant(.null) }
    guard type == .string else {
      throw invalid(
        expression, "'\(Printer.print(arguments[0]))' is \(type.name), and the function needs a string",
        "use a string attribute")
    }
    return .value(try sql(.function(function, [value])), result)
  }

  // MARK: Collections

  /// `count:`, `sum:` and other functions of a collection. In a set every value counts once.
  func total(
    _ function: BuiltinFunction, of operand: Operand, _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    let text: String = Printer.print(expression)
    if case .constant(let value) = operand {
      return .constant(try function.result(of: [value]))
    }
    if function == .count, case .combined(.union, let left, let right) = operand {
      return try count(ofUnion: left, right, expression, scope)
    }
    guard let members = try members(of: operand, text, scope) else { return .constant(.null) }
    switch function {
    case .count:
      let count: SQLExpression = .scalar(members.select([members.count]))
      guard let isMissing = members.isMissing else { return .value(count, .integer) }
      return .value(.choice(when: isMissing, then: .integer(0), otherwise: count), .integer)
    case .mode: return .members(try mode(members, text))
    default:
      guard let total = MemberAggregate(function) else {
        throw unsupported(expression, "it is unknown", "rewrite it")
      }
      return try members.total(total, of: .fatal, text, schema.dialect)
    }
  }

  /// The members of the left set, plus those of the right one that are not in the left.
  private func count(
    ofUnion left: Operand, _ right: Operand, _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    guard case .members(var other) = right, other.isSet else {
      throw unsupported(
        expression, "the members of two sets are not in one select", "count each of them")
    }
    guard case .value(let first, _) = try total(.count, of: left, expression, scope) else {
      throw unsupported(expression, "one of the sets is constant", "put the relationship first")
    }
    let node = ComparisonNode(left: .evaluatedObject, right: .evaluatedObject, comparison: .in)
    other.conditions.append(
      try Comparison(node: node, compiler: self).membership(of: other.element, in: left).negated)
    let sum: SQLExpression = .binary(.add, first, .scalar(other.select([other.count])))
    let missing: SQLExpression = .disjunction([left.isMissingCollection, right.isMissingCollection])
    return .value(
      missing == .truth(false) ? sum : .choice(when: missing, then: .integer(0), otherwise: sum), .integer)
  }

  /// The most frequent values; in a set these are all values.
  private func mode(_ members: Members, _ text: String) throws -> Members {
    guard members.isSet else {
      throw StoreError.unsupported(
        part: text, reason: "the most frequent of a list's values are found by grouping its rows twice",
        advice: "filter the fetched objects")
    }
    return members
  }

  // MARK: CAST

  private func cast(
    _ arguments: [ExpressionNode], _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    guard case .constant(.string(let name))? = arguments.last else {
      throw unsupported(
        expression, "a type that differs from row to row has no counterpart in SQL",
        "write CAST(x, \"NSNumber\")")
    }
    return try operand(arguments[0], scope).mapBranches { try cast($0, to: name, expression) }
  }

  private func cast(_ operand: Operand, to name: String, _ expression: ExpressionNode) throws -> Operand {
    switch operand {
    case .constant(let value):
      return .constant(
        try BuiltinFunction.cast.result(of: [value, .string(name)]))
    case .members(var members) where name == "NSArray" || name == "NSSet":
      guard name == "NSArray" || members.isSet else {
        throw unsupported(
          expression, "a list's nils would be one member of the set", "use the list as it is")
      }
      if members.isSet { members.order = nil }
      return .members(members)
    case .value(let value, let type): return try cast(value, type, to: name, expression)
    default:
      throw invalid(expression, "CAST converts single values", "name an attribute")
    }
  }

  private func cast(
    _ value: SQLExpression, _ type: ValueType, to name: String, _ expression: ExpressionNode
  ) throws -> Operand {
    guard let kind = type.scalarKind else {
      throw unsupported(expression, "the database can't read \(type.name)", "filter the fetched objects")
    }
    func made(_ result: ValueType) throws -> Operand {
      .value(try sql(.function(.cast, [value, .text(name), .integer(kind.rawValue)])), result)
    }
    switch (name, type) {
    case ("NSDate", .date), ("Date", .date): return .value(value, .date)
    // A number counts as seconds since 2001.
    case ("NSDate", _) where type.isNumber, ("Date", _) where type.isNumber:
      return .value(try schema.encoding.date(ofSeconds: try plainNumber(value, type)), .date)
    case ("NSDate", .string), ("Date", .string): return try made(.date)
    case ("NSNumber", .date): return .value(try schema.encoding.seconds(ofDate: value), .real)
    case ("NSNumber", .string): return .value(try sql(.function(.number, [value])), .number)
    case ("NSNumber", _) where type.isNumber: return .value(value, type)
    // A real is the form in which a column holds the decimal that its shortest text spells.
    case ("NSDecimalNumber", .date), ("Decimal", .date):
      return .value(try schema.encoding.seconds(ofDate: value), .decimal)
    case ("NSDecimalNumber", .string), ("Decimal", .string): return try made(.decimal)
    case ("NSDecimalNumber", _) where type.isNumber: return .value(value, .decimal)
    case ("Decimal", _) where type.isNumber: return .value(value, .decimal)
    case ("NSString", .string), ("String", .string): return .value(value, .string)
    case ("NSString", .decimal), ("String", .decimal):
      return .value(try sql(.function(.decimalDescription, [value])), .string)
    case ("NSString", _) where type.isNumber, ("String", _) where type.isNumber:
      return .value(try sql(.function(.description, [value])), .string)
    case ("NSString", _), ("String", _): return try made(.string)
    case ("NSUUID", .uuid), ("UUID", .uuid), ("NSURL", .url), ("URL", .url): return .value(value, type)
    case ("NSUUID", .string), ("UUID", .string): return try made(.uuid)
    case ("NSURL", .string), ("URL", .string): return try made(.url)
    default:
      throw invalid(
        expression, "\(type.name) can't become \(name)",
        "cast to NSNumber, NSDecimalNumber, NSString, or what the text or number spells")
    }
  }
}
