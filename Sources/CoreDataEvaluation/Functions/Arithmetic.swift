import CoreDataPredicates
import Foundation

/// Arithmetic of predicates: integers stay integers while they fit, decimals and integers are computed as
/// decimals, everything else as doubles. Division of two integers drops the fraction.
package enum Arithmetic {
  package enum Operation: String, Sendable {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case modulus = "modulus:by:"
    case raise = "**"
  }

  /// - Throws: ``PredicateError`` for operands that are no numbers, and for integers divided by zero.
  package static func apply(
    _ operation: Operation, _ left: PredicateValue, _ right: PredicateValue
  ) throws -> PredicateValue {
    guard left.isNumber, right.isNumber else {
      throw PredicateError.evaluation(
        "\(operation.rawValue) needs two numbers, not \(left.kindName) and \(right.kindName). "
          + "CAST(…, 'NSNumber') makes a number of text; TERNARY(a == nil, 0, a) stands in for a missing one."
      )
    }
    if operation != .raise {
      if let a = wholeNumber(left), let b = wholeNumber(right) {
        if let result = try integers(operation, a, b) { return .integer(result) }
      } else if let a = decimal(left), let b = decimal(right), let result = try decimals(operation, a, b) {
        return .decimal(result)
      }
    }
    let (a, b) = (NumberComparison.double(left) ?? .nan, NumberComparison.double(right) ?? .nan)
    switch operation {
    case .add: return .double(a + b)
    case .subtract: return .double(a - b)
    case .multiply: return .double(a * b)
    case .divide: return .double(a / b)
    case .modulus: return .double(fmod(a, b))
    case .raise: return .double(pow(a, b))
    }
  }

  /// The sum of numbers, 0 if there are none.
  package static func sum(_ values: [PredicateValue], of name: String) throws -> PredicateValue {
    var total: PredicateValue = .integer(0)
    for value in values {
      guard value.isNumber else {
        let text: String = "\(name) adds numbers, but found \(value.kindName)."
        throw value.isNull ? PredicateError.noResult(text) : PredicateError.evaluation(text)
      }
      total = try apply(.add, total, value)
    }
    return total
  }

  package static func divide(_ total: PredicateValue, byCount count: Int) throws -> PredicateValue {
    if case .decimal = total { return try apply(.divide, total, .integer(Int64(count))) }
    return .double((NumberComparison.double(total) ?? 0) / Double(count))
  }

  private static func wholeNumber(_ value: PredicateValue) -> Int64? {
    switch value {
    case .bool(let value): value ? 1 : 0
    case .integer(let value): value
    default: nil
    }
  }

  /// The decimal of a decimal or integer; nil for doubles.
  private static func decimal(_ value: PredicateValue) -> Decimal? {
    switch value {
    case .decimal(let value): value
    case .unsigned(let value): Decimal(value)
    default: wholeNumber(value).map { Decimal($0) }
    }
  }

  /// nil when the result doesn't fit.
  private static func integers(_ operation: Operation, _ a: Int64, _ b: Int64) throws -> Int64? {
    if b == 0, operation == .divide || operation == .modulus { throw divisionByZero }
    let (result, overflow): (Int64, Bool)
    switch operation {
    case .add: (result, overflow) = a.addingReportingOverflow(b)
    case .subtract: (result, overflow) = a.subtractingReportingOverflow(b)
    case .multiply: (result, overflow) = a.multipliedReportingOverflow(by: b)
    case .divide: (result, overflow) = a.dividedReportingOverflow(by: b)
    case .modulus: (result, overflow) = b == -1 ? (0, false) : a.remainderReportingOverflow(dividingBy: b)
    case .raise: return nil
    }
    return overflow ? nil : result
  }

  private static func decimals(_ operation: Operation, _ a: Decimal, _ b: Decimal) throws -> Decimal? {
    if b.isZero, operation == .divide || operation == .modulus { throw divisionByZero }
    switch operation {
    case .add: return a + b
    case .subtract: return a - b
    case .multiply: return a * b
    case .divide: return a / b
    case .modulus:
      var quotient: Decimal = a / b
      var whole: Decimal = Decimal()
      NSDecimalRound(&whole, &quotient, 0, quotient.isSignMinus ? .up : .down)
      return a - whole * b
    case .raise: return nil
    }
  }

  private static let divisionByZero: PredicateError = .noResult(
    "Division of a whole number by zero. TERNARY(b == 0, nil, a / b) avoids it.")
}
