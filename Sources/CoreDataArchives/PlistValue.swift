import Foundation

/// Values in defaults and user info of models.
package enum PlistValue {
  /// Equality that does not depend on how Foundation on Linux wraps a value.
  package static func areEqual(_ left: Any?, _ right: Any?) -> Bool {
    switch (left, right) {
    case (nil, nil): return true
    case (let left?, let right?):
      if let left = decimal(left), let right = decimal(right) { return left == right }
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
  static func decimal(_ value: Any) -> Decimal? {
    switch value {
    case let value as Decimal: value
    case let value as NSDecimalNumber: value.decimalValue
    case let value as NSNumber: value.decimalValue
    default: nil
    }
  }
}
