import CoreData

/// The values that the validation predicates of an attribute allow, as far as they are comparisons with
/// constants: bounds of a number or a date, of the length of a text, a pattern.
struct ValueLimits {
  private(set) var least: Double?
  private(set) var most: Double?
  private(set) var leastLength: Int = 0
  private(set) var mostLength: Int = .max
  private(set) var pattern: String?
  private let predicates: [NSPredicate]

  init(_ predicates: [NSPredicate]) {
    self.predicates = predicates
    for predicate in predicates { read(predicate) }
  }

  /// Whether a value is allowed. What can't be evaluated allows nothing.
  func allow(_ value: Any) -> Bool {
    predicates.allSatisfy { (try? $0.evaluateThrowing(with: value)) ?? false }
  }

  /// `number` moved into the bounds; one of the allowed numbers if it lies outside of them.
  func bounded(_ number: Double, step: Double) -> Double {
    let (low, high) = (least ?? -Double.infinity, most ?? Double.infinity)
    if number >= low && number <= high { return number }
    if low.isInfinite { return high }
    if high.isInfinite || high <= low { return low }
    let places: Double = (high - low) / step + 1
    return low + (abs(number).truncatingRemainder(dividingBy: places.rounded(.down))) * step
  }

  private mutating func read(_ predicate: NSPredicate) {
    if let compound = predicate as? NSCompoundPredicate, compound.compoundPredicateType == .and {
      for part in compound.subpredicates { read(part) }
      return
    }
    guard let comparison = predicate as? NSComparisonPredicate,
      comparison.rightExpression.expressionType == .constantValue
    else { return }
    let constant: Any? = comparison.rightExpression.constantValue
    let left: NSExpression = comparison.leftExpression
    if left.expressionType == .evaluatedObject {
      if comparison.predicateOperatorType == .matches {
        pattern = constant as? String
      } else if let number = Self.number(constant) {
        bound(comparison.predicateOperatorType, number)
      }
    } else if left.expressionType == .keyPath, left.keyPath == "length",
      let length = (constant as? NSNumber)?.intValue
    {
      switch comparison.predicateOperatorType {
      case .greaterThan: leastLength = max(leastLength, length + 1)
      case .greaterThanOrEqualTo: leastLength = max(leastLength, length)
      case .lessThan: mostLength = min(mostLength, length - 1)
      case .lessThanOrEqualTo: mostLength = min(mostLength, length)
      case .equalTo: (leastLength, mostLength) = (length, length)
      default: break
      }
    }
  }

  private static func number(_ value: Any?) -> Double? {
    (value as? NSNumber)?.doubleValue ?? (value as? Date)?.timeIntervalSinceReferenceDate
  }

  private mutating func bound(_ comparison: NSComparisonPredicate.Operator, _ number: Double) {
    switch comparison {
    case .greaterThan: least = max(least ?? number + 1, number + 1)
    case .greaterThanOrEqualTo: least = max(least ?? number, number)
    case .lessThan: most = min(most ?? number - 1, number - 1)
    case .lessThanOrEqualTo: most = min(most ?? number, number)
    case .equalTo: (least, most) = (number, number)
    default: break
    }
  }
}
