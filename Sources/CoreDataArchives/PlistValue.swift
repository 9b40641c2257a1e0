import Foundation

/// Values in defaults and user info of models.
package enum PlistValue {
  /// Equality that does not depend on how Foundation on Linux wraps a value.
  package static func areEqual(_ left: Any?, _ right: Any?) -> Bool {
    switch (left, right) {
    case (nil, nil): return true
    case (let left?, let right?):
      if let left = number(left), let right = number(right) { return areNumbersEqual(left, right) }
      if let left = left as? [AnyHashable: Any], let right = right as? [AnyHashable: Any] {
        return left.count == right.count && left.allSatisfy { areEqual($0.value, right[$0.key]) }
      }
      if let left = left as? [Any], let right = right as? [Any] {
        return left.count == right.count && zip(left, right).allSatisfy { areEqual($0, $1) }
      }
      if let left = left as? AnyHashable, let right = right as? AnyHashable { return left == right }
      if let left = left as? NSObject, let right = right as? NSObject { return left.isEqual(right) }
      return false
    default: return false
    }
  }

  /// A value as a set member or dictionary key. `NSDecimalNumber` becomes `Decimal`, because its `hash` never
  /// returns in Foundation on Linux; collections have no hash that is known to be safe, and return nil.
  package static func hashable(_ value: Any) -> AnyHashable? {
    switch value {
    case let value as NSDecimalNumber: AnyHashable(value.decimalValue)
    case is [Any], is [AnyHashable: Any], is Set<AnyHashable>, is NSOrderedSet: nil
    default: value as? AnyHashable
    }
  }

  /// The number a value holds, whatever wraps it; nil for anything else.
  private static func number(_ value: Any) -> NSNumber? {
    (value as? Decimal).map { NSDecimalNumber(decimal: $0) } ?? value as? NSNumber
  }

  /// Real numbers are compared as such: not each has a decimal.
  private static func areNumbersEqual(_ left: NSNumber, _ right: NSNumber) -> Bool {
    let areReal: (Bool, Bool) = (isReal(left), isReal(right))
    let (one, other): (Double, Double) = (left.doubleValue, right.doubleValue)
    if areReal.0 && areReal.1 { return one == other || one.isNaN && other.isNaN }
    if areReal.0 && isBeyondDecimals(one) || areReal.1 && isBeyondDecimals(other) { return one == other }
    return left.decimalValue == right.decimalValue
  }

  /// Whether it wraps a `Double` or a `Float`.
  private static func isReal(_ number: NSNumber) -> Bool {
    !(number is NSDecimalNumber) && [0x64, 0x66].contains(number.objCType.pointee)
  }

  /// Foundation makes NaN of such a number, and stops at infinity.
  private static func isBeyondDecimals(_ number: Double) -> Bool {
    number != 0 && !(1e-120...1e120).contains(number.magnitude)
  }
}
