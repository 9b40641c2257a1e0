import Foundation

// Views of Swift's generic containers that are independent of their element types. The runtime caches a
// conformance look-up; a cast to `[Any]` would copy and bridge every member first and succeed for NSArray
// too.

/// An optional inside an `Any`.
package protocol UnwrappableOptional {
  var unwrapped: Any? { get }
  static var wrappedType: Any.Type { get }
}

extension Optional: UnwrappableOptional {
  package var unwrapped: Any? {
    switch self {
    case .some(let value): value
    case .none: nil
    }
  }

  package static var wrappedType: Any.Type { Wrapped.self }
}

/// A sequence of members in order.
package protocol AnyArray {
  var members: [Any] { get }
}

extension Array: AnyArray {
  package var members: [Any] { self }
}

extension ArraySlice: AnyArray {
  package var members: [Any] { map { $0 as Any } }
}

extension ContiguousArray: AnyArray {
  package var members: [Any] { map { $0 as Any } }
}

/// Members without order.
package protocol AnySet {
  var members: [Any] { get }
}

extension Set: AnySet {
  package var members: [Any] { map { $0 as Any } }
}

/// Entries by key.
package protocol AnyDictionary {
  var entryCount: Int { get }
  func forEachEntry(_ body: (Any, Any) -> Void)
  func value(forAnyKey key: Any) -> Any?
}

extension Dictionary: AnyDictionary {
  package var entryCount: Int { count }

  package func forEachEntry(_ body: (Any, Any) -> Void) {
    for (key, value) in self { body(key, value) }
  }

  package func value(forAnyKey key: Any) -> Any? {
    guard let key = key as? Key else { return nil }
    return self[key]
  }
}
