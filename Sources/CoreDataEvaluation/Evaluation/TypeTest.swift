import CoreDataPredicates
import Foundation

/// `isKindOfClass:` and `isMemberOfClass:` on values, Swift's and Foundation's types alike.
enum TypeTest {
  static func isKind(_ value: PredicateValue, of type: Any.Type, exactly: Bool) -> Bool {
    guard case .object(let box) = value else {
      let types: [Any.Type] = types(of: value)
      return exactly ? types.prefix(2).contains { $0 == type } : types.contains { $0 == type }
    }
    var current: Any.Type? = Swift.type(of: box.value)
    while let candidate = current {
      if candidate == type { return true }
      if exactly { return false }
      current = superclass(of: candidate)
    }
    return false
  }

  private static func superclass(of type: Any.Type) -> Any.Type? {
    (type as? AnyClass).flatMap { _getSuperclass($0) }
  }

  /// The types of a normalised value: Foundation's class and Swift's type first, then the superclasses.
  private static func types(of value: PredicateValue) -> [Any.Type] {
    let specific: [Any.Type] =
      switch value {
      case .null, .nullObject: [NSNull.self]
      case .bool: [NSNumber.self, Bool.self, NSValue.self]
      case .integer, .unsigned: [NSNumber.self, Int.self, NSValue.self]
      case .double: [NSNumber.self, Double.self, NSValue.self]
      case .decimal: [NSDecimalNumber.self, Decimal.self, NSNumber.self, NSValue.self]
      case .string: [NSString.self, String.self]
      case .date: [NSDate.self, Date.self]
      case .data: [NSData.self, Data.self]
      case .uuid: [NSUUID.self, UUID.self]
      case .url: [NSURL.self, URL.self]
      case .array: [NSArray.self, [Any].self]
      case .set: [NSSet.self, Set<AnyHashable>.self]
      case .dictionary: [NSDictionary.self, [AnyHashable: Any].self]
      case .object(let box): [type(of: box.value)]
      }
    return specific + [NSObject.self]
  }
}
