import CoreDataPredicates
import Foundation

/// Collections as objects return them, before normalising: members keep their identity, so keys can be read
/// from them.
package enum RawCollection {
  /// The members of an array, set or ordered set; nil for everything else.
  package static func elements(of collection: Any) -> [Any]? {
    switch collection {
    case let value as PredicateValue: value.elements.map { $0.map { $0 } }
    case let array as any AnyArray: array.members
    case let set as any AnySet: set.members
    default: object(collection, as: NSObject.self).flatMap { elements(ofObject: $0) }
    }
  }

  private static func elements(ofObject collection: NSObject) -> [Any]? {
    switch collection {
    case let array as NSArray: array.map { $0 }
    case let set as NSSet: set.map { $0 }
    case let set as NSOrderedSet: set.map { $0 }
    default: nil
    }
  }

  static func isSet(_ collection: Any) -> Bool {
    let type: Any.Type = Swift.type(of: collection)
    if type is AnyClass { return collection is NSSet }
    // Called for every member of a relationship, and a cast to a protocol is expensive.
    if type == String.self || type == Int.self || type == Double.self || type == Date.self { return false }
    if let value = collection as? PredicateValue { return if case .set = value { true } else { false } }
    return collection is any AnySet
  }

  static func count(of collection: Any) -> Int? {
    switch collection {
    case let value as PredicateValue:
      if case .dictionary(let entries) = value { entries.count } else { value.elements?.count }
    case let dictionary as any AnyDictionary: dictionary.entryCount
    default: object(collection, as: NSDictionary.self)?.count ?? elements(of: collection)?.count
    }
  }

  /// The members in order; nil for nil.
  static func array(_ collection: Any?, _ text: String) throws -> [Any]? {
    guard let collection, !isNullObject(collection) else { return nil }
    guard let elements = elements(of: collection), !isSet(collection) else {
      throw notIndexable(collection, text)
    }
    return elements
  }

  static func element(of collection: Any, at index: PredicateValue, _ text: String) throws -> Any? {
    if isNullObject(collection) { return nil }
    if let entry = try entry(of: collection, for: index) { return entry.value }
    guard let elements = try array(collection, text) else { return nil }
    switch index {
    case .string("FIRST"): return elements.first
    case .string("LAST"): return elements.last
    case .string("SIZE"): return elements.count
    default: break
    }
    if index.isNull { return nil }
    guard index.isNumber, let position = NumberComparison.integer(index) else {
      let reason: String = "An array's index must be a whole number, not \(index.kindName): \(text)."
      throw index.isNumber ? PredicateError.noResult(reason) : PredicateError.evaluation(reason)
    }
    guard let position = Int(exactly: position), elements.indices.contains(position) else {
      throw PredicateError.noResult(
        "The index \(position) lies outside an array of \(elements.count): \(text).")
    }
    return elements[position]
  }

  /// The entry of a dictionary; nil if the collection is none.
  private static func entry(of collection: Any, for key: PredicateValue) throws -> (value: Any?, Void)? {
    switch collection {
    case let value as PredicateValue:
      if case .dictionary(let entries) = value { return (entries[key], ()) }
      return nil
    case let dictionary as any AnyDictionary:
      return (key.anyValue.flatMap { dictionary.value(forAnyKey: $0) }, ())
    default:
      return object(collection, as: NSDictionary.self).map { dictionary in
        (key.anyValue.flatMap { dictionary.object(forKey: $0) }, ())
      }
    }
  }

  static func notIndexable(_ collection: Any, _ text: String) -> PredicateError {
    .evaluation(
      "\(text) needs an array or a dictionary before its index, not \(PredicateValue(normalizing: collection).kindName)."
    )
  }
}
