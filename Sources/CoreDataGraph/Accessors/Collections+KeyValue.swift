import CoreDataPredicates
import Foundation

// Key-value coding of collections, which Apple's Foundation has and Foundation on Linux has not. Reading asks
// every member, by the rules of key paths in predicates; setting sends the value to every member.

extension NSArray {
  /// The values of a key for all members, in their order, `NSNull` where there is none. Of `@count` the
  /// number of members.
  ///
  /// Stops for a key that a member does not have, with the nearest names; `NSExpression(forKeyPath:)`
  /// evaluated by `expressionValueThrowing(with:context:)` throws instead. On the queue of the members'
  /// context; loads those that are faults, a batch at a time. See
  /// <https://developer.apple.com/documentation/foundation/nsarray/value(forkey:)>.
  public func value(forKey key: String) -> Any {
    switch MemberValues.value(forKeyPath: key, of: self) {
    case let values as [Any]: NSArray(array: values)
    case let value: value ?? NSNull()
    }
  }

  /// Sets a key of every member: `(due as NSArray).setValue(Date.now, forKey: "lastAlertDate")`. Null objects
  /// are passed over.
  ///
  /// Stops for members that are no managed objects, and for a key that one does not have. On the queue of the
  /// members' context. See
  /// <https://developer.apple.com/documentation/foundation/nsarray/setvalue(_:forkey:)>.
  public func setValue(_ value: Any?, forKey key: String) {
    MemberValues.forEach(in: self, of: "The array holds") { $0.setValue(value, forKey: key) }
  }

  /// The values at the end of a path for all members, or what an operator makes of them: `@sum.price`,
  /// `@max.due`, `@count`, `@distinctUnionOfObjects.category.name`. As ``value(forKey:)`` otherwise.
  public func value(forKeyPath keyPath: String) -> Any? {
    MemberValues.value(forKeyPath: keyPath, of: self)
  }

  /// Sets the value at the end of a path from every member, as `setValue(_:forKeyPath:)` of
  /// managed objects does.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) {
    MemberValues.forEach(in: self, of: "The array holds") { $0.setValue(value, forKeyPath: keyPath) }
  }
}

extension NSSet {
  /// The different values of a key for all members, as a set; members without a value give nothing, and where
  /// a value is a set itself its members are taken. Of `@count` the number of members. As `NSArray`'s
  /// otherwise.
  ///
  /// The set is Swift's, so that it can hold decimal numbers, which Foundation's can't on Linux; a cast makes
  /// an `NSSet` of it. See <https://developer.apple.com/documentation/foundation/nsset/value(forkey:)>.
  public func value(forKey key: String) -> Any {
    MemberValues.value(forKeyPath: key, of: self) ?? NSNull()
  }

  /// Sets a key of every member; see `NSArray`'s.
  public func setValue(_ value: Any?, forKey key: String) {
    MemberValues.forEach(in: self, of: "The set holds") { $0.setValue(value, forKey: key) }
  }

  /// The values at the end of a path for all members, or what an operator makes of them; see `NSArray`'s.
  public func value(forKeyPath keyPath: String) -> Any? {
    MemberValues.value(forKeyPath: keyPath, of: self)
  }

  /// Sets the value at the end of a path from every member, as `setValue(_:forKeyPath:)` of
  /// managed objects does.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) {
    MemberValues.forEach(in: self, of: "The set holds") { $0.setValue(value, forKeyPath: keyPath) }
  }
}

extension NSOrderedSet {
  /// The different values of a key for all members, in their order, as an ordered set; members without a
  /// value give nothing. Decimal numbers come as an array, since Foundation on Linux can't put them into a
  /// set. As `NSArray`'s otherwise. See
  /// <https://developer.apple.com/documentation/foundation/nsorderedset/value(forkey:)>.
  public func value(forKey key: String) -> Any {
    if key.hasPrefix("@") { return MemberValues.value(forKeyPath: key, of: self) ?? NSNull() }
    let values: Any? = MemberValues.value(forKeyPath: "@distinctUnionOfObjects.\(key)", of: self)
    guard let values = values as? [Any] else { return NSOrderedSet() }
    return values.contains { $0 is Decimal } ? values : NSOrderedSet(array: values)
  }

  /// Sets a key of every member; see `NSArray`'s.
  public func setValue(_ value: Any?, forKey key: String) {
    MemberValues.forEach(in: self, of: "The ordered set holds") { $0.setValue(value, forKey: key) }
  }

  /// The values at the end of a path for all members, or what an operator makes of them; see `NSArray`'s.
  public func value(forKeyPath keyPath: String) -> Any? {
    MemberValues.value(forKeyPath: keyPath, of: self)
  }

  /// Sets the value at the end of a path from every member, as `setValue(_:forKeyPath:)` of
  /// managed objects does.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) {
    MemberValues.forEach(in: self, of: "The ordered set holds") { $0.setValue(value, forKeyPath: keyPath) }
  }
}

/// The same without the cast that Apple's platforms need: `objects.value(forKey: "name")` for
/// `(objects as NSArray).value(forKey: "name")`.
extension Array where Element: NSManagedObject {
  /// The values of a key for all objects, in their order, `NSNull` where there is none; see `NSArray`'s.
  public func value(forKey key: String) -> Any { (self as NSArray).value(forKey: key) }

  /// Sets a key of every object; see `NSArray`'s.
  public func setValue(_ value: Any?, forKey key: String) {
    for object in self { object.setValue(value, forKey: key) }
  }

  /// The values at the end of a path for all objects, or what an operator makes of them; see `NSArray`'s.
  public func value(forKeyPath keyPath: String) -> Any? { (self as NSArray).value(forKeyPath: keyPath) }

  /// Sets the value at the end of a path from every object.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) {
    for object in self { object.setValue(value, forKeyPath: keyPath) }
  }
}

/// The same without the cast that Apple's platforms need.
extension Set where Element: NSManagedObject {
  /// The different values of a key for all objects; see `NSSet`'s.
  public func value(forKey key: String) -> Any { (self as NSSet).value(forKey: key) }

  /// Sets a key of every object; see `NSArray`'s.
  public func setValue(_ value: Any?, forKey key: String) {
    for object in self { object.setValue(value, forKey: key) }
  }

  /// The values at the end of a path for all objects, or what an operator makes of them; see `NSArray`'s.
  public func value(forKeyPath keyPath: String) -> Any? { (self as NSSet).value(forKeyPath: keyPath) }

  /// Sets the value at the end of a path from every object.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) {
    for object in self { object.setValue(value, forKeyPath: keyPath) }
  }
}

/// What key-value coding does with the members of a collection.
enum MemberValues {
  static func value(forKeyPath keyPath: String, of collection: NSObject) -> Any? {
    do {
      return try NSExpression(forKeyPath: keyPath).expressionValueThrowing(with: collection)
    } catch {
      fatalError("\(error)")
    }
  }

  /// Calls `body` for the managed objects that a value is or has as members, in collections of collections
  /// too; for nil and null objects it is not called. Stops for anything else. `source` says where
  /// the value is from.
  static func forEach(
    in value: Any?, of source: @autoclosure () -> String, _ body: (NSManagedObject) -> Void
  ) {
    guard let value = SlotValue.unwrapped(value) else { return }
    if let object = object(value, as: NSManagedObject.self) { return body(object) }
    if type(of: value) == AnyHashable.self, let member = value as? AnyHashable {
      return forEach(in: member.base, of: source(), body)
    }
    // A copy of the members: what is set may change the relationship that they are read from.
    guard let members = RawCollection.elements(of: value) else {
      fatalError(
        "\(source()) a value of type \(type(of: value)), which has no properties that can be set. Values are set of managed objects "
          + "and of collections that hold them; a key path ends with a property of an object, or an element of a composite attribute."
      )
    }
    for member in members { forEach(in: member, of: source(), body) }
  }
}
