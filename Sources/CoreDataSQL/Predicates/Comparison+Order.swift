import CoreDataEvaluation
import CoreDataPredicates
import CoreDataStorage

extension Comparison {
  /// `<`, `<=`, `>`, `>=`: numbers, strings and dates with values of their own kind. nil is neither less nor
  /// greater; `<=` and `>=` are true for nil on both sides.
  func order(_ symbol: SQLOperator, _ left: Operand, _ right: Operand) throws -> SQLExpression {
    switch (left, right) {
    case (.choice, _): return try left.eachBranch { try order(symbol, $0, right) }
    case (_, .choice): return try right.eachBranch { try order(symbol, left, $0) }
    case (.members, _), (_, .members): throw toManyNotAllowed()
    case (.value(let value, let type), .constant(let constant)):
      return try order(symbol, value, type, constant)
    case (.constant(let constant), .value(let value, let type)):
      return try order(mirrored(symbol), value, type, constant)
    case (.value(let a, let typeA), .value(let b, let typeB)):
      return try order(symbol, a, typeA, b, typeB)
    case (.object(let place), .constant(let constant)) where constant.isNull,
      (.constant(let constant), .object(let place)) where constant.isNull:
      let holdsForNil: Bool = includesEqual(symbol) && place.canBeMissing
      return holdsForNil ? .isNull(place.key) : .truth(false)
    case (.constant(let a), .constant(let b)):
      var comparison: ComparisonNode = node
      comparison.comparison = Self.comparison(symbol)
      return .truth(try ValueComparison.holds(a, comparison, b))
    case (.object, _), (_, .object), (.entity, _), (_, .entity), (.list, _), (_, .list), (.combined, _),
      (_, .combined):
      throw invalid("only plain values have an order", "compare an attribute, or use == and !=")
    }
  }

  private static func comparison(_ symbol: SQLOperator) -> ComparisonOperator {
    switch symbol {
    case .less: .lessThan
    case .lessOrEqual: .lessThanOrEqualTo
    case .greater: .greaterThan
    default: .greaterThanOrEqualTo
    }
  }

  func order(
    _ symbol: SQLOperator, _ value: SQLExpression, _ type: ValueType, _ constant: PredicateValue
  ) throws -> SQLExpression {
    if constant.isNull { return includesEqual(symbol) ? .isNull(value) : .truth(false) }
    try checkOrdered(type, constant)
    if type.isNumber, let test = try schema.encoding.numberTest(symbol, value, type, constant) { return test }
    guard case .value(let bound) = bind(constant, as: type, symbol) else {
      return .truth(false)
    }
    if type == .string, !isLiteral { return try compared(symbol, value, .bound(bound)) }
    return .binary(symbol, value, .bound(bound))
  }

  private func order(
    _ symbol: SQLOperator, _ left: SQLExpression, _ leftType: ValueType, _ right: SQLExpression,
    _ rightType: ValueType, holdsForNil: Bool = true
  ) throws -> SQLExpression {
    let isSame: Bool = leftType.isNumber && rightType.isNumber || leftType == rightType
    try leftType.checkReadable(text)
    try rightType.checkReadable(text)
    guard isSame, isOrdered(leftType) else {
      throw invalid(
        "\(leftType.name) and \(rightType.name) have no order",
        "compare numbers, strings or dates with their own kind")
    }
    try checkMixed(leftType, rightType)
    let test: SQLExpression =
      if leftType == .string, !isLiteral {
        try compared(symbol, left, right)
      } else if leftType.isDecimal(with: rightType) {
        try sql(.ordered(symbol, left, right, .decimals))
      } else {
        .binary(
          symbol, try comparable(left, leftType, with: rightType),
          try comparable(right, rightType, with: leftType))
      }
    guard holdsForNil, includesEqual(symbol) else { return test }
    return .disjunction([test, .conjunction([.isNull(left), .isNull(right)])])
  }

  /// `BETWEEN {a, b}`: both ends included, nil anywhere is false.
  func between(_ left: Operand, _ right: Operand) throws -> SQLExpression {
    let bounds: [Operand]
    switch right {
    case .constant(let constant):
      if constant.isNull { return .truth(false) }
      guard case .array(let members) = constant, members.count == 2 else { throw boundsNeeded() }
      bounds = members.map(Operand.constant)
    case .list(let members) where members.count == 2: bounds = members
    case .members(let members) where !members.isSet:
      throw unsupported("a relationship's members are no two bounds", "write BETWEEN {low, high}")
    case .list, .value, .object, .entity, .members, .choice, .combined:
      try right.checkReadable(text)
      throw boundsNeeded()
    }
    if left.isNull || bounds[0].isNull || bounds[1].isNull { return .truth(false) }
    if case .value(let value, let type) = left, case .constant(let low) = bounds[0],
      case .constant(let high) = bounds[1], type != .string || isLiteral,
      try isPlain(.greaterOrEqual, value, type, low), try isPlain(.lessOrEqual, value, type, high)
    {
      try checkOrdered(type, low)
      try checkOrdered(type, high)
      guard case .value(let lowest) = bind(low, as: type, .greaterOrEqual),
        case .value(let highest) = bind(high, as: type, .lessOrEqual)
      else { return .truth(false) }
      return .between(value, .bound(lowest), .bound(highest))
    }
    // In `BETWEEN` nil is neither greater nor equal, so each side is compared strictly.
    return .conjunction([
      try strictOrder(.greaterOrEqual, left, bounds[0]), try strictOrder(.lessOrEqual, left, bounds[1]),
    ])
  }

  /// Whether the database's own comparison with the bound constant is right.
  private func isPlain(
    _ symbol: SQLOperator, _ value: SQLExpression, _ type: ValueType, _ constant: PredicateValue
  ) throws -> Bool {
    guard type.isNumber, constant.isNumber else { return true }
    return try schema.encoding.numberTest(symbol, value, type, constant) == nil
  }

  /// An order in which even `nil >= nil` is false.
  private func strictOrder(_ symbol: SQLOperator, _ left: Operand, _ right: Operand) throws -> SQLExpression {
    try left.eachBranch { left in
      try right.eachBranch { right in
        if left.isNull || right.isNull { return .truth(false) }
        if case .value(let a, let typeA) = left, case .value(let b, let typeB) = right {
          return try order(symbol, a, typeA, b, typeB, holdsForNil: false)
        }
        return try order(symbol, left, right)
      }
    }
  }

  private func boundsNeeded() -> StoreError {
    invalid("BETWEEN needs two bounds", "write BETWEEN {low, high}")
  }

  private func compared(_ symbol: SQLOperator, _ left: SQLExpression, _ right: SQLExpression) throws
    -> SQLExpression
  {
    try sql(.ordered(symbol, left, right, .text(options)))
  }

  private func checkOrdered(_ type: ValueType, _ constant: PredicateValue) throws {
    try type.checkReadable(text)
    switch type {
    case .integer, .real, .number, .decimal: if constant.isNumber { return }
    case .string: if case .string = constant { return }
    case .date: if case .date = constant { return }
    case .uuid: if case .uuid = constant { return }
    case .data: if case .data = constant { return }
    case .url, .externalData, .transformable: break
    }
    throw invalid(
      "\(type.name) and \(constant.kindName) have no order",
      "compare numbers, strings or dates with their own kind")
  }

  private func isOrdered(_ type: ValueType) -> Bool {
    switch type {
    case .integer, .real, .number, .decimal, .string, .date, .uuid, .data: true
    case .url, .externalData, .transformable: false
    }
  }

  private func includesEqual(_ symbol: SQLOperator) -> Bool {
    symbol == .lessOrEqual || symbol == .greaterOrEqual
  }

  /// The operator with its sides exchanged.
  func mirrored(_ symbol: SQLOperator) -> SQLOperator {
    switch symbol {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    default: symbol
    }
  }
}
