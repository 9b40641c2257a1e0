import CoreDataPredicates
import Foundation

/// How to read keys from objects of one type.
struct KeyedReader: @unchecked Sendable {
  // Sendable: the closure holds nothing but the type.
  let read: (Any, String) throws -> Any?
}

/// Records by type whether its values are ``KeyValueReadable``, and calls them without another cast: a cast
/// from `Any` to a protocol costs half a microsecond, which is several times the rest of a simple comparison.
final class ReaderTable: @unchecked Sendable {
  // `lock` guards `readers`.
  static let shared: ReaderTable = .init()

  private let lock: NSLock = .init()
  private var readers: [ObjectIdentifier: KeyedReader?] = [:]

  func reader(for type: Any.Type) -> KeyedReader? {
    let id: ObjectIdentifier = ObjectIdentifier(type)
    if let known = lock.withLock({ readers[id] }) { return known }
    let reader: KeyedReader? = (type as? any KeyValueReadable.Type).map { Self.makeReader($0) }
    lock.withLock { readers[id] = .some(reader) }
    return reader
  }

  // A cast to a concrete type compares two pointers; only the cast to the protocol is expensive.
  private static func makeReader<Object: KeyValueReadable>(_ type: Object.Type) -> KeyedReader {
    KeyedReader { object, key in
      guard let object = object as? Object else { return nil }
      return try object.readValue(forKey: key)
    }
  }
}
