import Foundation

// A cast from `Any` to a class first bridges a Swift collection, member by member. That is slow, and does not
// terminate if decimals are members of a set or keys of a dictionary: Foundation on Linux hashes an
// NSDecimalNumber without end.

/// The value as an object, if it is one of this class; a collection is not bridged.
package func object<Class: AnyObject>(_ value: Any?, as type: Class.Type) -> Class? {
  guard let value else { return nil }
  return Swift.type(of: value) is AnyClass ? value as? Class : nil
}

/// Whether a value is the null object.
package func isNullObject(_ value: Any?) -> Bool {
  guard let value else { return false }
  let type: Any.Type = Swift.type(of: value)
  if type == NSNull.self { return true }
  return type == AnyHashable.self && isNullObject((value as? AnyHashable)?.base)
}
