import Foundation

/// Finds what Foundation's archiver can't archive: it stops the program at a value that is not
/// `NSSecureCoding`.
enum Archivability {
  /// The first type in a value, or in the collections that it consists of, that no archive can hold; nil if
  /// there is none.
  static func strangeType(in value: Any) -> String? {
    var waiting: [Any] = [value]
    // Collections may hold themselves.
    var seen: Set<ObjectIdentifier> = []
    while let next = waiting.popLast() {
      guard let next = SlotValue.unwrapped(next) else { continue }
      if type(of: next) is AnyClass, !seen.insert(ObjectIdentifier(next as AnyObject)).inserted { continue }
      if let members = members(of: next) {
        waiting += members
      } else if !isPlain(next), !(next is any NSSecureCoding), !isBridged(next) {
        return "\(type(of: next))"
      }
    }
    return nil
  }

  /// Swift's collections first: their members are boxed when they become Foundation's.
  private static func members(of value: Any) -> [Any]? {
    if let array = value as? [Any] { return array }
    if let dictionary = value as? [AnyHashable: Any] {
      return dictionary.keys.map(\.base) + Array(dictionary.values)
    }
    if !(type(of: value) is AnyClass) { return (value as? Set<AnyHashable>)?.map(\.base) }
    switch value {
    case let set as NSSet: return set.allObjects
    case let set as NSOrderedSet: return set.array
    default: return nil
    }
  }

  /// Values that are archived as Foundation's own objects.
  private static func isPlain(_ value: Any) -> Bool {
    switch value {
    case is String, is Data, is Date, is URL, is UUID, is Decimal, is Bool, is any BinaryInteger,
      is any BinaryFloatingPoint, is NSNull:
      true
    default: false
    }
  }

  /// Other structures with a class of Foundation, such as `IndexSet`.
  private static func isBridged(_ value: Any) -> Bool {
    !(type(of: value) is AnyClass) && (value as? NSObject) is any NSSecureCoding
  }
}
