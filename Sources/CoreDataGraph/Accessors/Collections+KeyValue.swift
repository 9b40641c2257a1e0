import CoreDataEvaluation
import CoreDataPredicates
import Foundation

// Key-value coding of collections, which Apple's Foundation has and Foundation on Linux lacks. Reading
// collects the values of all members, by the rules of key paths in predicates; setting sets the value of
// every member.

extension NSArray {
  /// The values of a key for all members, in their order, `NSNull` where there is none. For `@count` the
  /// number of members.
  ///
  /// Stops for a key that a member does not have, with the nearest names; `NSExpression(forKeyPath:)`
  /// evaluated by `expressionValueThrowing(with:context:)` throws instead. Call it on the queue of the
  /// members' context; members that are faults are loaded, a batch at a time. See
  /// <https://developer.apple.com/documentation/foundation/nsarray/value(forkey:)>.
  public func value(forKey key: String) -> Any {
    switch MemberValues.value(forKeyPath: key, of: self) {
    case let values as [Any]: NSArray(array: values)
    case let value: value ?? NSNull()
    }
  }

  /// Sets a key of every member: `(due as NSArray).setValue(Date.now, forKey: "lastAlertDate")`. Null objects
  /// are skipped.
  ///
  /// Stops for members that are no managed objects, and for a key that one does not have. Call it on the
  /// queue of the members' context. See
  /// <https://developer.apple.com/documentation/foundation/nsarray/setvalue(_:forkey:)>.
  public func setValue(_ value: Any?, forKey key: String) {
    MemberValues.forEach(in: self, of: "The array holds") { $0.setValue(value, forKey: key) }
  }

  /// The values at the end of a path for all members, or the result of an operator: `@sum.price`, `@max.due`,
  /// `@count`, `@distinctUnionOfObjects.category.name`. Otherwise as ``value(forKey:)``.
  public func value(forKeyPath keyPath: String) -> Any? {
    MemberValues.value(forKeyPath: keyPath, of: self)
  }

  /// Sets the value at the end of a path from every member, as `setValue(_:forKeyPath:)` of managed objects
  /// does.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) {
    MemberValues.forEach(in: self, of: "The array holds") { $0.setValue(value, forKeyPath: keyPath) }
  }
}

extension NSSet {
  /// The different values of a key for all members, as a set; members without a value are left out, and of a
  /// value that is a set its members are included. For `@count` the number of members. Otherwise as
  /// `NSArray`'s.
  ///
  /// The set is a Swift set, so that it can hold decimal numbers, which Foundation's can't on Linux; a cast
  /// converts it to an `NSSet`. See
  /// <https://developer.apple.com/documentation/foundation/nsset/value(forkey:)>.
  public func value(forKey key: String) -> Any {
    MemberValues.value(forKeyPath: key, of: self) ?? NSNull()
  }

  /// Sets a key of every member; see `NSArray`'s.
  public func setValue(_ value: Any?, forKey key: String) {
    MemberValues.forEach(in: self, of: "The set holds") { $0.setValue(value, forKey: key) }
  }

  /// The values at the end of a path for all members, or the result of an operator; see `NSArray`'s.
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
  /// value are left out. Decimal numbers are returned as an array, because Foundation on Linux can't put them
  /// into a set. Otherwise as `NSArray`'s. See
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

  /// The values at the end of a path for all members, or the result of an operator; see `NSArray`'s.
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

  /// The values at the end of a path for all objects, or the result of an operator; see `NSArray`'s.
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

  /// The values at the end of a path for all objects, or the result of an operator; see `NSArray`'s.
  public func value(forKeyPath keyPath: String) -> Any? { (self as NSSet).value(forKeyPath: keyPath) }

  /// Sets the value at the end of a path from every object.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) {
    for object in self { object.setValue(value, forKeyPath: keyPath) }
  }
}

/// Key-value coding over the members of a collection.
enum MemberValues {
  static func value(forKeyPath keyPath: String, of collection: NSObject) -> Any? {
    do {
      return try NSExpression(forKeyPath: keyPath).expressionValueThrowing(with: collection)
    } catch {
      fatalError("\(error)")
    }
  }

  /// Calls `body` for a managed object, or for the managed objects that are members of a collection, also of
  /// nested collections; it is not called for nil and null objects. Stops for anything else. `source` names
  /// the origin of the value in the message.
  static func forEach(
    in value: Any?, of source: @autoclosure () -> String, _ body: (NSManagedObject) -> Void
  ) {
    guard let value = SlotValue.unwrapped(value) else { return }
    if let object = object(value, as: NSManagedObject.self) { return body(object) }
    if type(of: value) == AnyHashable.self, let member = value as? AnyHashable {
      return forEach(in: member.base, of: source(), body)
    }
    // A copy of the members, because setting a value may change the relationship that they are read from.
    guard let members = RawCollection.elements(of: value) else {
      fatalError(
        "\(source()) a value of type \(type(of: value)), which has no properties that can be set. Values are set of managed objects "
          + "and of collections that hold them; a key path ends with a property of an object, or an element of a composite attribute."
      )
    }
    for member in members { forEach(in: member, of: source(), body) }
  }
}
