import Foundation

/// The normalised value that predicates compare, print and bind.
///
/// Foundation on Linux bridges numbers loosely (`1` casts to `Bool`, `NSDecimalNumber.hash` never returns),
/// so no part of this module compares an `Any`: every value is first normalised by ``init(normalizing:)``.
///
/// Equality is that of the predicate language: numbers by value whatever their type, text by code points,
/// both kinds of null alike.
package enum PredicateValue: Sendable {
  /// nil: a missing key, the literal `nil`, an optional without value.
  case null
  /// A constant made from an `NSNull`. It equals ``null``; only printing distinguishes them (`<null>` and
  /// `nil`). Normalising a value never returns it.
  case nullObject
  case bool(Bool)
  case integer(Int64)
  /// Only for integers above `Int64.max`.
  case unsigned(UInt64)
  case double(Double)
  case decimal(Decimal)
  case string(String)
  case date(Date)
  case data(Data)
  case uuid(UUID)
  case url(URL)
  case array([PredicateValue])
  case set(Set<PredicateValue>)
  case dictionary([PredicateValue: PredicateValue])
  /// Anything else: a managed object, an object id, a value of the program.
  case object(ObjectBox)
}

/// A value of a type that is not part of the predicate language.
///
/// Equal are: two `NSObject`s by `isEqual(_:)` (by default identity), equal `Hashable` values of one type, a
/// type and one object with itself.
package final class ObjectBox: Hashable, @unchecked Sendable {
  // Immutable after init. Whether the value itself may be used on several threads is the responsibility of
  // the code that put it into the predicate, as with Apple's NSPredicate.
  package let value: Any

  package init(_ value: Any) {
    self.value = value
  }

  package static func == (left: ObjectBox, right: ObjectBox) -> Bool {
    if left === right { return true }
    if type(of: left.value) is AnyClass, type(of: right.value) is AnyClass {
      let (a, b) = (left.value as AnyObject, right.value as AnyObject)
      if a === b { return true }
      if let a = a as? NSObject { return a.isEqual(b) }
    }
    if let a = left.value as? any Hashable, let b = right.value as? any Hashable {
      return AnyHashable(a) == AnyHashable(b)
    }
    if let a = left.value as? Any.Type, let b = right.value as? Any.Type { return a == b }
    return false
  }

  package func hash(into hasher: inout Hasher) {
    if type(of: value) is AnyClass, let object = value as? NSObject {
      hasher.combine(object.hash)
    } else if let hashable = value as? any Hashable {
      hasher.combine(AnyHashable(hashable))
    } else if type(of: value) is AnyClass {
      hasher.combine(ObjectIdentifier(value as AnyObject))
    } else if let type = value as? Any.Type {
      hasher.combine(ObjectIdentifier(type))
    }
  }
}

extension PredicateValue {
  package var isNull: Bool {
    switch self {
    case .null, .nullObject: true
    default: false
    }
  }

  package var isNumber: Bool {
    switch self {
    case .bool, .integer, .unsigned, .double, .decimal: true
    default: false
    }
  }

  /// The members of an array or a set, nil for everything else.
  package var elements: [PredicateValue]? {
    switch self {
    case .array(let members): members
    case .set(let members): Array(members)
    default: nil
    }
  }

  /// The name of the kind for messages, which contain no data.
  package var kindName: String {
    switch self {
    case .null, .nullObject: "nil"
    case .bool: "a boolean"
    case .integer, .unsigned, .double, .decimal: "a number"
    case .string: "a string"
    case .date: "a date"
    case .data: "data"
    case .uuid: "a UUID"
    case .url: "a URL"
    case .array: "an array"
    case .set: "a set"
    case .dictionary: "a dictionary"
    case .object(let box):
      (box.value as? any PlaceholderValue)?.kindName ?? "an object of type \(type(of: box.value))"
    }
  }

  /// The value as expressions read keys from it: Swift values, `[Any]`, `NSNull` for members that are nil.
  /// Programs get ``objectValue``.
  package var anyValue: Any? {
    switch self {
    case .null, .nullObject: nil
    case .bool(let value): value
    case .integer(let value): Int(exactly: value) ?? value
    case .unsigned(let value): value
    case .double(let value): value
    case .decimal(let value): value
    case .string(let value): value
    case .date(let value): value
    case .data(let value): value
    case .uuid(let value): value
    case .url(let value): value
    case .array(let members): members.map { $0.anyValue ?? NSNull() }
    case .set(let members): Set(members.map(\.hashableValue))
    case .dictionary(let entries):
      Dictionary(
        entries.map { ($0.hashableValue, $1.anyValue ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
    case .object(let box): box.value
    }
  }

  var hashableValue: AnyHashable { anyValue.flatMap { $0 as? AnyHashable } ?? AnyHashable(self) }
}

extension PredicateValue: Hashable {
  package static func == (left: PredicateValue, right: PredicateValue) -> Bool {
    switch (left, right) {
    case (.string(let a), .string(let b)): return StringMatching.literallyEqual(a, b)
    case (.integer(let a), .integer(let b)): return a == b
    case (.date(let a), .date(let b)): return a == b
    case (.data(let a), .data(let b)): return a == b
    case (.uuid(let a), .uuid(let b)): return a == b
    case (.url(let a), .url(let b)): return a == b
    case (.array(let a), .array(let b)): return a == b
    case (.set(let a), .set(let b)): return a == b
    case (.dictionary(let a), .dictionary(let b)): return a == b
    case (.object(let a), .object(let b)): return a == b
    default:
      if left.isNull { return right.isNull }
      return NumberComparison.order(left, right) == .orderedSame
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .null, .nullObject: hasher.combine(0 as UInt8)
    case .bool, .integer, .unsigned, .double, .decimal:
      // Equal numbers of different types have the same nearest double.
      hasher.combine(1 as UInt8)
      hasher.combine(NumberComparison.double(self) ?? 0)
    case .string(let value):
      hasher.combine(2 as UInt8)
      var value = value
      value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .date(let value): hasher.combine(value)
    case .data(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .url(let value): hasher.combine(value)
    case .array(let members): hasher.combine(members)
    case .set(let members): hasher.combine(members)
    case .dictionary(let entries): hasher.combine(entries)
    case .object(let box): hasher.combine(box)
    }
  }
}
