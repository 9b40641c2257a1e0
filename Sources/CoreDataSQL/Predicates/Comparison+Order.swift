import CoreDataPredicates
import CoreDataStorage
import Foundation

extension Comparison {
  /// `<`, `<=`, `>`, `>=`: numbers, strings and dates with their own kind. nil is neither less nor greater; `<=` and `>=` hold for
  /// nil on both sides.
  func order(_ symbol: SQLOperator, _ left: Operand, _ right: Operand) throws -> SQLExpression {
    switch (left, right) {
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
      // One of two bounds of BETWEEN; a comparison of constants alone never gets here.
      guard !a.isNull, !b.isNull else { return .truth(includesEqual(symbol) && a.isNull && b.isNull) }
      guard let order = ValueComparison.order(a, b, options) else {
        throw unsupported("\(a.kindName) and \(b.kindName) have no order", "compare values of one kind")
      }
      return .truth(holds(symbol, order))
    case (.object, _), (_, .object), (.list, _), (_, .list):
      throw unsupported("only plain values have an order", "compare an attribute, or use == and !=")
    }
  }

  func order(
    _ symbol: SQLOperator, _ value: SQLExpression, _ type: ValueType, _ constant: PredicateValue
  ) throws -> SQLExpression {
    if constant.isNull { return includesEqual(symbol) ? .isNull(value) : .truth(false) }
    try checkOrdered(type, constant)
    if type.isNumber, let test = decimalTest(symbol, value, type, constant) { return test }
    guard case .value(let bound) = ValueBinding.bind(constant, as: type) else { return .truth(false) }
    if type == .string, !isLiteral { return compared(symbol, value, .bound(bound)) }
    return .binary(symbol, value, .bound(bound))
  }

  private func order(
    _ symbol: SQLOperator, _ left: SQLExpression, _ leftType: ValueType, _ right: SQLExpression,
    _ rightType: ValueType
  ) throws -> SQLExpression {
    let isSame: Bool = leftType.isNumber && rightType.isNumber || leftType == rightType
    guard isSame, isOrdered(leftType) else {
      throw unsupported(
        "\(leftType.name) and \(rightType.name) have no order",
        "compare numbers, strings or dates with their own kind")
    }
    let test: SQLExpression =
      if leftType == .string, !isLiteral {
        compared(symbol, left, right)
      } else if leftType.isDecimal(with: rightType) {
        .binary(symbol, .function(.compareDecimals, [left, right]), .integer(0))
      } else {
        .binary(
          symbol, left.comparable(leftType, with: rightType), right.comparable(rightType, with: leftType))
      }
    guard includesEqual(symbol) else { return test }
    return .disjunction([test, .conjunction([.isNull(left), .isNull(right)])])
  }

  /// `BETWEEN {a, b}`: both ends included, nil anywhere is false.
  func between(_ left: Operand, _ right: Operand) throws -> SQLExpression {
    let bounds: [Operand]
    switch right {
    case .constant(let constant):
      guard case .array(let members) = constant, members.count == 2 else {
        throw unsupported("BETWEEN needs two bounds", "write BETWEEN {low, high}")
      }
      bounds = members.map(Operand.constant)
    case .list(let members) where members.count == 2: bounds = members
    case .list, .value, .object, .members:
      throw unsupported("BETWEEN needs two bounds", "write BETWEEN {low, high}")
    }
    if case .value(let value, let type) = left, case .constant(let low) = bounds[0],
      case .constant(let high) = bounds[1], type != .string || isLiteral,
      !type.isNumber
        || decimalTest(.less, value, type, low) == nil && decimalTest(.less, value, type, high) == nil
    {
      if low.isNull || high.isNull { return .truth(false) }
      try checkOrdered(type, low)
      try checkOrdered(type, high)
      guard case .value(let lowest) = ValueBinding.bind(low, as: type),
        case .value(let highest) = ValueBinding.bind(high, as: type)
      else { return .truth(false) }
      return .between(value, .bound(lowest), .bound(highest))
    }
    // nil = nil must not let a row in, so each side is asked for a value too.
    var tests: [SQLExpression] = [
      try order(.greaterOrEqual, left, bounds[0]), try order(.lessOrEqual, left, bounds[1]),
    ]
    if case .constant(let constant) = left, constant.isNull { return .truth(false) }
    if bounds.contains(where: { if case .constant(let bound) = $0 { bound.isNull } else { false } }) {
      return .truth(false)
    }
    if case .value(let value, _) = left { tests.append(.isNotNull(value)) }
    return .conjunction(tests)
  }

  private func compared(_ symbol: SQLOperator, _ left: SQLExpression, _ right: SQLExpression) -> SQLExpression
  {
    .binary(symbol, .function(.compare, [left, right, optionsValue]), .integer(0))
  }

  private func checkOrdered(_ type: ValueType, _ constant: PredicateValue) throws {
    switch type {
    case .integer, .real, .decimal: if constant.isNumber { return }
    case .string: if case .string = constant { return }
    case .date: if case .date = constant { return }
    case .uuid: if case .uuid = constant { return }
    case .data: if case .data = constant { return }
    case .url, .externalData, .transformable: break
    }
    throw unsupported(
      "\(type.name) and \(constant.kindName) have no order",
      "compare numbers, strings or dates with their own kind")
  }

  private func isOrdered(_ type: ValueType) -> Bool {
    switch type {
    case .integer, .real, .decimal, .string, .date, .uuid, .data: true
    case .url, .externalData, .transformable: false
    }
  }

  private func holds(_ symbol: SQLOperator, _ order: ComparisonResult) -> Bool {
    switch symbol {
    case .less: order == .orderedAscending
    case .lessOrEqual: order != .orderedDescending
    case .greater: order == .orderedDescending
    default: order != .orderedAscending
    }
  }

  private func includesEqual(_ symbol: SQLOperator) -> Bool {
    symbol == .lessOrEqual || symbol == .greaterOrEqual
  }

  private func mirrored(_ symbol: SQLOperator) -> SQLOperator {
    switch symbol {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    default: symbol
    }
  }
}
