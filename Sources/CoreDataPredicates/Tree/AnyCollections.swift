import Foundation

// Views of Swift's generic containers that need no knowledge of their element types. A conformance look-up is
// cached by the runtime; a cast to `[Any]` would copy and bridge every member first and succeed
// for NSArray too.

/// An optional seen through an `Any`.
protocol UnwrappableOptional {
  var unwrapped: Any? { get }
  static var wrappedType: Any.Type { get }
}

extension Optional: UnwrappableOptional {
  var unwrapped: Any? {
    switch self {
    case .some(let value): value
    case .none: nil
    }
  }

  static var wrappedType: Any.Type { Wrapped.self }
}

/// A sequence of members in order.
protocol AnyArray {
  var members: [Any] { get }
}

extension Array: AnyArray {
  var members: [Any] { self }
}

extension ArraySlice: AnyArray {
  var members: [Any] { map { $0 as Any } }
}

extension ContiguousArray: AnyArray {
  var members: [Any] { map { $0 as Any } }
}

/// Members without order.
protocol AnySet {
  var members: [Any] { get }
}

extension Set: AnySet {
  var members: [Any] { map { $0 as Any } }
}

/// Entries by key.
protocol AnyDictionary {
  var entryCount: Int { get }
  func forEachEntry(_ body: (Any, Any) -> Void)
  func value(forAnyKey key: Any) -> Any?
}

extension Dictionary: AnyDictionary {
  var entryCount: Int { count }

  func forEachEntry(_ body: (Any, Any) -> Void) {
    for (key, value) in self { body(key, value) }
  }

  func value(forAnyKey key: Any) -> Any? {
    guard let key = key as? Key else { return nil }
    return self[key]
  }
}
