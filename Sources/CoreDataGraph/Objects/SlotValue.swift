import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The value of one property in an object's own slots.
///
/// Objects that were only fetched have no slots at all: their values are decoded from the row when they are
/// read. Slots are created with the first change, or to keep a decoded object (a transformed value, a
/// relationship) alive.
enum SlotValue {
  /// The value is in the row.
  case unset
  case null
  /// Integers and, as 0 and 1, Booleans.
  case integer(Int64)
  /// Doubles, floats, and dates as seconds since 2001.
  case double(Double)
  case string(String)
  /// By the slot's kind: `Box` of a decimal, data, UUID, URL, transformed or wrong-typed value; a managed
  /// object; a `ToManyState`.
  case object(AnyObject)

  /// The target of a to-one relationship.
  var target: NSManagedObject? {
    if case .object(let object) = self { return object as? NSManagedObject }
    return nil
  }

  var isUnset: Bool {
    if case .unset = self { return true }
    return false
  }

  /// The value of a slot that has no row.
  var orNull: SlotValue { isUnset ? .null : self }
}

/// A value type (or anything) as an object.
final class Box<Value> {
  let value: Value
  init(_ value: Value) { self.value = value }
}

/// A value that the attribute, or the class's own accessor for it, can't accept. It is kept, so that a save
/// can report it.
final class ForeignValue {
  let value: Any
  /// The type of the accessor's property, if it is the one that can't accept the value.
  let wanted: Any.Type?

  init(_ value: Any, wanted: Any.Type? = nil) {
    self.value = value
    self.wanted = wanted
  }
}

extension SlotValue {
  /// A value for a stored attribute. Wrong types become a `ForeignValue`, which validation refuses.
  static func make(_ value: Any?, kind: ColumnKind) -> SlotValue {
    guard let value = unwrapped(value) else { return .null }
    let made: SlotValue?
    switch kind {
    case .int16, .int32, .int64: made = integer(value).map { .integer($0) }
    case .bool: made = integer(value).map { .integer($0 == 0 ? 0 : 1) }
    case .double: made = double(value).map { .double($0) }
    case .float: made = double(value).map { .double(Double(Float($0))) }
    case .date: made = (value as? Date).map { .double($0.timeIntervalSinceReferenceDate) }
    case .decimal: made = decimal(value).map { .object(Box($0)) }
    case .string: made = (value as? String).map { .string($0) }
    case .uri: made = (value as? URL).map { .object(Box($0)) }
    case .uuid: made = (value as? UUID).map { .object(Box($0)) }
    case .data: made = (value as? Data).map { .object(Box($0)) }
    case .transformable: made = .object(Box<Any>(value))
    case .toOne: made = nil
    }
    return made ?? .object(ForeignValue(value))
  }

  /// nil, `NSNull` and nested optionals are nil.
  static func unwrapped(_ value: Any?) -> Any? {
    guard let value, !isNullObject(value) else { return nil }
    if let optional = value as? any OptionalValue {
      return unwrapped(optional.flattened)
    }
    return value
  }

  private static func integer(_ value: Any) -> Int64? {
    switch value {
    case let value as Int: Int64(value)
    case let value as Int64: value
    case let value as Int32: Int64(value)
    case let value as Int16: Int64(value)
    case let value as Int8: Int64(value)
    case let value as Bool: value ? 1 : 0
    case let value as UInt: Int64(exactly: value)
    case let value as UInt64: Int64(exactly: value)
    case let value as UInt32: Int64(value)
    case let value as UInt16: Int64(value)
    case let value as UInt8: Int64(value)
    // Infinity, NaN, and numbers that are too large have no integer: an NSNumber would return an arbitrary
    // one.
    case let value as Double: Int64(exactly: value.rounded(.towardZero))
    case let value as Float: Int64(exactly: value.rounded(.towardZero))
    case let value as Decimal: integer(of: value)
    case let value as NSDecimalNumber: integer(of: value.decimalValue)
    case let value as NSNumber:
      value.objCType.pointee == 0x64 || value.objCType.pointee == 0x66
        ? Int64(exactly: value.doubleValue.rounded(.towardZero)) : value.int64Value
    default: nil
    }
  }

  private static func integer(of value: Decimal) -> Int64? {
    let digits: Substring = value.description.prefix { $0 != "." }
    return Int64(digits)
  }

  private static func double(_ value: Any) -> Double? {
    switch value {
    case let value as Double: value
    case let value as Float: Double(value)
    // The text of a decimal converts exactly; Decimal's own conversion may be off by one in the last digit.
    case let value as NSDecimalNumber: Double(value.decimalValue.description)
    case let value as Decimal: Double(value.description)
    case let value as NSNumber: value.doubleValue
    default: integer(value).map { Double($0) }
    }
  }

  private static func decimal(_ value: Any) -> Decimal? {
    switch value {
    case let value as Decimal: value
    case let value as NSDecimalNumber: value.decimalValue
    case let value as Double: Decimal(string: "\(value)")
    case let value as Float: Decimal(string: "\(value)")
    case let value as NSNumber: value.exactDecimal
    default: integer(value).map { Decimal($0) }
    }
  }

  /// The value as key-value coding returns it: numbers as `NSNumber`, decimals as `NSDecimalNumber`, nil for
  /// null.
  func attributeValue(kind: ColumnKind) -> Any? {
    switch self {
    case .unset, .null: return nil
    case .integer(let value):
      switch kind {
      case .int16: return NSNumber(value: Int16(truncatingIfNeeded: value))
      case .int32: return NSNumber(value: Int32(truncatingIfNeeded: value))
      case .bool: return NSNumber(value: value != 0)
      default: return NSNumber(value: value)
      }
    case .double(let value):
      switch kind {
      case .date: return Date(timeIntervalSinceReferenceDate: value)
      case .float: return NSNumber(value: Float(value))
      default: return NSNumber(value: value)
      }
    case .string(let value): return value
    case .object(let object):
      switch object {
      case let box as Box<Decimal>: return NSDecimalNumber(decimal: box.value)
      case let box as Box<Data>: return box.value
      case let box as Box<UUID>: return box.value
      case let box as Box<URL>: return box.value
      case let box as Box<Any>: return box.value
      case let foreign as ForeignValue: return foreign.value
      default: return object
      }
    }
  }

  /// Whether a store can keep the value: databases do not store NaN, and values of other types do not fit the
  /// attribute.
  func isStorable(as kind: ColumnKind) -> Bool {
    switch self {
    case .unset, .null, .integer, .string: return true
    case .double(let number): return !number.isNaN
    case .object(let object):
      if kind == .decimal, let decimal = object as? Box<Decimal> { return !decimal.value.isNaN }
      return !(object is ForeignValue)
    }
  }

  /// Whether two values of a stored attribute are the same (transformed objects by `isEqual`).
  static func equal(_ left: SlotValue, _ right: SlotValue) -> Bool {
    switch (left, right) {
    case (.null, .null), (.unset, .unset): return true
    case (.integer(let a), .integer(let b)): return a == b
    case (.double(let a), .double(let b)): return a == b || (a.isNaN && b.isNaN)
    case (.string(let a), .string(let b)):
      // Swift compares by canonical equivalence; a store must notice a change of composition too.
      return a.utf8.elementsEqual(b.utf8)
    case (.object(let a), .object(let b)):
      if a === b { return true }
      switch (a, b) {
      case (let a as Box<Decimal>, let b as Box<Decimal>): return a.value == b.value
      case (let a as Box<Data>, let b as Box<Data>): return a.value == b.value
      case (let a as Box<UUID>, let b as Box<UUID>): return a.value == b.value
      case (let a as Box<URL>, let b as Box<URL>): return a.value == b.value
      case (let a as Box<Any>, let b as Box<Any>):
        // Directly if possible: bridging a set of decimals does not terminate (see `object(_:as:)`).
        if type(of: a.value) == type(of: b.value), let left = a.value as? any Hashable,
          let right = b.value as? any Hashable
        {
          return AnyHashable(left) == AnyHashable(right)
        }
        if let left = a.value as? [String: Any], let right = b.value as? [String: Any] {
          return PredicateValue(normalizing: left) == PredicateValue(normalizing: right)
        }
        guard let left = a.value as? NSObject, let right = b.value as? NSObject else { return false }
        return left.isEqual(right)
      default: return false
      }
    default: return false
    }
  }
}

/// An optional inside an `Any`.
private protocol OptionalValue {
  var flattened: Any? { get }
}

extension Optional: OptionalValue {
  fileprivate var flattened: Any? {
    switch self {
    case .some(let value): value
    case .none: nil
    }
  }
}

// MARK: Between rows and slots

extension RowRef {
  /// Decodes a stored attribute. Throws if a transformer refuses the bytes.
  func slotValue(word: Int, kind: ColumnKind, attribute: NSAttributeDescription?) throws -> SlotValue {
    guard hasValue(word) else { return .null }
    switch kind {
    case .int16, .int32, .int64, .bool: return .integer(integer(word))
    case .double, .float, .date: return .double(double(word))
    case .string: return .string(string(word))
    case .decimal: return .object(Box(Decimal(string: string(word)) ?? .nan))
    case .data: return .object(Box(data(word)))
    case .uuid:
      let bytes: UnsafeRawBufferPointer = self.bytes(word)
      guard bytes.count == 16 else { return .null }
      return .object(Box(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))))
    case .uri: return URL(string: string(word)).map { .object(Box($0)) } ?? .null
    case .transformable:
      guard let object = try Transformation.object(from: data(word), attribute: attribute) else {
        return .null
      }
      return .object(Box<Any>(object))
    case .toOne: return .null
    }
  }
}

extension RowSlab {
  /// Encodes a stored attribute, except for transformable ones, into a row that is being filled.
  @inline(__always)
  func set(_ row: UnsafeMutableRawPointer, word: Int, value: SlotValue) {
    switch value {
    case .unset, .null: break
    case .integer(let value): set(row, word: word, toInteger: value)
    case .double(let value): set(row, word: word, toDouble: value)
    case .string(var value): set(row, word: word, text: &value)
    case .object(let object):
      switch object {
      case let box as Box<Decimal>:
        var text: String = box.value.description
        set(row, word: word, text: &text)
      case let box as Box<Data>: set(row, word: word, bytes: box.value)
      case let box as Box<UUID>:
        withUnsafeBytes(of: box.value.uuid) { bytes in
          set(row, word: word, to: appendTail(bytes.baseAddress, count: 16))
        }
      case let box as Box<URL>:
        var text: String = box.value.absoluteString
        set(row, word: word, text: &text)
      default: break
      }
    }
  }

  private func set(_ row: UnsafeMutableRawPointer, word: Int, text: inout String) {
    let place: UInt64 = text.withUTF8 { appendTail($0.baseAddress, count: $0.count) }
    set(row, word: word, to: place)
  }

  func set(_ row: UnsafeMutableRawPointer, word: Int, bytes: Data) {
    let place: UInt64 = bytes.withUnsafeBytes { appendTail($0.baseAddress, count: $0.count) }
    set(row, word: word, to: place)
  }
}

extension NSNumber {
  /// The number with all its digits: `decimalValue` of Foundation on Linux takes integers through a double,
  /// which has 53 bits for them.
  package var exactDecimal: Decimal? {
    if self is NSDecimalNumber { return decimalValue }
    switch UInt8(bitPattern: objCType.pointee) {
    case UInt8(ascii: "d"): return Decimal(string: "\(doubleValue)")
    case UInt8(ascii: "f"): return Decimal(string: "\(floatValue)")
    case UInt8(ascii: "Q"), UInt8(ascii: "L"): return Decimal(uint64Value)
    default: return Decimal(int64Value)
    }
  }
}
