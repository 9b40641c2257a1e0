import CoreDataPredicates
import Foundation

/// A key path, divided into steps once and read from many objects.
///
/// ```
/// a.b                  key a, key b
/// items.@sum.price     key items, operator sum of (key price) of every member
/// items.@count         key items, number of members
/// ```
///
/// nil ends the path and is its value. A key read from a set gives the set of results, without nil, with the
/// sets and ordered sets among them merged. A key read from an array or an ordered set maps over the members,
/// with nulls in place of nil; the results of an ordered set's members are merged too, so that a path over
/// several to-many relationships is one flat collection.
struct KeyPathReader: Sendable {
  enum Step: Sendable {
    case key(String)
    case count
    case collect(CollectionOperator, KeyPathReader)
    case refusal(PredicateError)
  }

  let steps: [Step]

  init(_ path: String) {
    var steps: [Step] = []
    var rest: Substring = path[...]
    while !rest.isEmpty {
      let dot: Substring.Index? = rest.firstIndex(of: ".")
      let component: Substring = rest[..<(dot ?? rest.endIndex)]
      rest = dot.map { rest[rest.index(after: $0)...] } ?? ""
      guard component.hasPrefix("@") else {
        steps.append(.key(String(component)))
        continue
      }
      steps.append(Self.step(component.dropFirst(), rest: rest, path: path))
      // Everything after an operator is read from each member.
      break
    }
    self.steps = steps
  }

  /// One key that isn't `self`.
  var isSinglePlainKey: Bool {
    if steps.count == 1, case .key(let key) = steps[0] { key != "self" } else { false }
  }

  private static func step(_ name: Substring, rest: Substring, path: String) -> Step {
    if name == "count" {
      if rest.isEmpty { return .count }
      return .refusal(
        .evaluation("The path can't go on behind @count: \(path). Write count(…) around the part before it."))
    }
    guard let operation = CollectionOperator(rawValue: String(name)) else {
      let known: String = CollectionOperator.names.joined(separator: ", @")
      return .refusal(.evaluation("@\(name) is no collection operator in \(path). There are @\(known)."))
    }
    if rest.isEmpty {
      return .refusal(
        .evaluation("@\(name) needs a key behind it in \(path), or #self for the members themselves."))
    }
    return .collect(operation, KeyPathReader(String(rest)))
  }

  func read(_ object: Any?) throws -> Any? {
    try read(object, setsAsLists: false)
  }

  /// As ``read(_:)``, for quantifiers: a set's members keep their nils and duplicates on the path, as rows do
  /// in a database.
  func readMembers(_ object: Any?) throws -> Any? {
    try read(object, setsAsLists: true)
  }

  private func read(_ object: Any?, setsAsLists: Bool) throws -> Any? {
    var value: Any? = object
    for (place, step) in steps.enumerated() {
      guard let current = value else { return nil }
      switch step {
      case .key(let key):
        if place > 0 || setsAsLists, key != "self",
          let list = MemberList(current, includingSets: setsAsLists)
        {
          value = try list.reading(key)
        } else {
          value = try KeyReader.read(key, from: current)
        }
      case .count:
        if isNullObject(current) { return nil }
        guard let count = RawCollection.count(of: current) else {
          throw PredicateError.evaluation(
            "@count needs a collection, not \(PredicateValue(normalizing: current).kindName).")
        }
        value = count
      case .collect(let operation, let path):
        if isNullObject(current) { return nil }
        guard let elements = RawCollection.elements(of: current) else {
          throw PredicateError.evaluation(
            "@\(operation.rawValue) needs a collection, not \(PredicateValue(normalizing: current).kindName)."
          )
        }
        value = try operation.collect(elements.map { try path.read($0) })
      case .refusal(let error): throw error
      }
    }
    if steps.count > 1 || setsAsLists, let list = value as? MemberList { return list.members }
    return value
  }
}

/// The members of an ordered relationship, or of any for a quantifier, in the middle of a path.
private struct MemberList: AnyArray {
  let members: [Any]

  private init(members: [Any]) {
    self.members = members
  }

  /// nil for everything that maps by its own rules.
  init?(_ value: Any, includingSets: Bool) {
    let type: Any.Type = Swift.type(of: value)
    if type == MemberList.self, let list = value as? MemberList {
      self = list
    } else if type is NSOrderedSet.Type || (includingSets && RawCollection.isSet(value)) {
      members = RawCollection.elements(of: value) ?? []
    } else {
      return nil
    }
  }

  /// The values of a key for all members, relationships' members merged.
  func reading(_ key: String) throws -> MemberList {
    var result: [Any] = []
    result.reserveCapacity(members.count)
    for member in members {
      guard let value = try KeyReader.read(key, from: member) else {
        result.append(NSNull())
        continue
      }
      if type(of: value) is NSOrderedSet.Type || RawCollection.isSet(value) {
        result += RawCollection.elements(of: value) ?? []
      } else {
        result.append(value)
      }
    }
    return MemberList(members: result)
  }
}

/// Reads one key of one value.
enum KeyReader {
  static func read(_ key: String, from object: Any) throws -> Any? {
    let type: Any.Type = Swift.type(of: object)
    if type == [String: Any].self, let dictionary = object as? [String: Any] {
      return dictionary[key] ?? (key == "self" ? object : nil)
    }
    if let reader = ReaderTable.shared.reader(for: type) {
      if key == "self", (object as? any ModelledObject)?.hasProperty(named: key) != true { return object }
      return try reader.read(object, key)
    }
    if type == AnyHashable.self, let member = object as? AnyHashable {
      return try read(key, from: member.base)
    }
    switch object {
    case let value as PredicateValue: return try read(key, fromValue: value)
    case let value where isNullObject(value): return nil
    case let optional as any UnwrappableOptional:
      return try optional.unwrapped.flatMap { try read(key, from: $0) }
    default: break
    }
    if key == "self" { return object }
    if let elements = RawCollection.elements(of: object) {
      return RawCollection.isSet(object) ? try mapSet(key, elements) : try mapArray(key, elements)
    }
    if let dictionary = object as? any AnyDictionary { return dictionary.value(forAnyKey: key) }
    if Swift.type(of: object) is AnyClass, let dictionary = object as? NSDictionary {
      return dictionary.object(forKey: key)
    }
    let value: PredicateValue = PredicateValue(normalizing: object)
    if case .object(let box) = value { return try readStoredProperty(key, of: box.value) }
    return try ScalarKeys.read(key, from: value)
  }

  private static func read(_ key: String, fromValue value: PredicateValue) throws -> Any? {
    switch value {
    case .null, .nullObject: return nil
    case .dictionary(let entries):
      return entries[.string(key)].map { $0 as Any } ?? (key == "self" ? value as Any : nil)
    case .object(let box): return try read(key, from: box.value)
    case .array(let members): return key == "self" ? value : try mapArray(key, members)
    case .set(let members): return key == "self" ? value : try mapSet(key, Array(members))
    default: return key == "self" ? value : try ScalarKeys.read(key, from: value)
    }
  }

  private static func mapArray(_ key: String, _ elements: [Any]) throws -> [Any] {
    try elements.map { try read(key, from: $0) ?? NSNull() }
  }

  private static func mapSet(_ key: String, _ elements: [Any]) throws -> PredicateValue {
    var results: Set<PredicateValue> = []
    for element in elements {
      guard let value = try read(key, from: element) else { continue }
      let normal: PredicateValue = PredicateValue(normalizing: value)
      if type(of: value) is NSOrderedSet.Type || RawCollection.isSet(value), let members = normal.elements {
        results.formUnion(members.filter { !$0.isNull })
      } else if !normal.isNull {
        results.insert(normal)
      }
    }
    return .set(results)
  }

  /// The only use of reflection: for objects that don't conform to ``KeyValueReadable``.
  private static func readStoredProperty(_ key: String, of object: Any) throws -> Any? {
    var mirror: Mirror? = Mirror(reflecting: object)
    while let current = mirror {
      for child in current.children where child.label == key || child.label == "_\(key)" {
        if let optional = child.value as? any UnwrappableOptional { return optional.unwrapped }
        return child.value
      }
      mirror = current.superclassMirror
    }
    throw PredicateError.evaluation(
      "An object of type \(type(of: object)) is not key value coding-compliant for the key \(key). Its stored "
        + "properties can be read; for others let it conform to KeyValueReadable.")
  }
}
