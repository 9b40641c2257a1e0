import Foundation

extension PredicateValue {
  /// Converts any value to its normal form. nil, `NSNull` and an empty optional become ``null``.
  ///
  /// Cost: a few type comparisons for the usual Swift types; collections are converted member by member.
  package init(normalizing value: Any?) {
    guard let value else {
      self = .null
      return
    }
    self.init(present: value)
  }

  /// The value of a constant in a predicate: as ``init(normalizing:)``, but an `NSNull` stays recognisable
  /// for printing.
  package init(constant value: Any?) {
    if isNullObject(value) {
      self = .nullObject
    } else {
      self.init(normalizing: value)
    }
  }

  // Type identity is tested before any cast: a cast between Swift and Foundation types bridges, is slow, and
  // succeeds where the language must not (every NSNumber "is" a Bool).
  private init(present value: Any) {
    if let plain = Self.plain(value) {
      self = plain
      return
    }
    let type: Any.Type = Swift.type(of: value)
    if type == PredicateValue.self {
      self = value as! PredicateValue
    } else if type == AnyHashable.self {
      self.init(present: (value as! AnyHashable).base)
    } else if type is AnyClass {
      self.init(object: value as AnyObject)
    } else {
      self.init(uncommon: value)
    }
  }

  /// The value of one of the usual Swift types; nil for any other.
  static func plain(_ value: Any) -> PredicateValue? { plainValue(value) }

  private static func plainValue<Value>(_ value: Value) -> PredicateValue? {
    // A cast would search for conversions.
    func same<Other>(_ type: Other.Type) -> Other { unsafeBitCast(value, to: type) }
    if Value.self == String.self { return .string(same(String.self)) }
    if Value.self == Int.self { return .integer(Int64(same(Int.self))) }
    if Value.self == Int64.self { return .integer(same(Int64.self)) }
    if Value.self == Double.self { return .double(same(Double.self)) }
    if Value.self == Bool.self { return .bool(same(Bool.self)) }
    if Value.self == Date.self { return .date(same(Date.self)) }
    return nil
  }

  private init(object: AnyObject) {
    switch object {
    case let number as NSNumber: self.init(number: number)
    case let string as NSString: self = .string(string as String)
    case let date as NSDate: self = .date(date as Date)
    case let data as NSData: self = .data(data as Data)
    case let uuid as NSUUID: self = .uuid(uuid as UUID)
    case let url as NSURL: self = .url(url as URL)
    case is NSNull: self = .null
    case let array as NSArray: self = .array(array.map { PredicateValue(present: $0) })
    case let set as NSOrderedSet: self = .array(set.map { PredicateValue(present: $0) })
    case let set as NSSet: self = .set(Set(set.map { PredicateValue(present: $0) }))
    case let dictionary as NSDictionary:
      var entries: [PredicateValue: PredicateValue] = [:]
      for (key, value) in dictionary {
        entries[PredicateValue(present: key)] = PredicateValue(present: value)
      }
      self = .dictionary(entries)
    default: self = .object(ObjectBox(object))
    }
  }

  private init(number: NSNumber) {
    if let decimal = number as? NSDecimalNumber {
      self = .decimal(decimal.decimalValue)
      return
    }
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "c"), UInt8(ascii: "B"):
      // Booleans and 8-bit integers have the same type code here.
      let value = number.int64Value
      self = value == 0 || value == 1 ? .bool(value == 1) : .integer(value)
    case UInt8(ascii: "d"), UInt8(ascii: "f"): self = .double(number.doubleValue)
    case UInt8(ascii: "Q"), UInt8(ascii: "L"):
      let value = number.uint64Value
      self = Int64(exactly: value).map(PredicateValue.integer) ?? .unsigned(value)
    default: self = .integer(number.int64Value)
    }
  }

  private init(uncommon value: Any) {
    switch value {
    case let value as any UnwrappableOptional: self.init(normalizing: value.unwrapped)
    case let value as any FixedWidthInteger & Sendable:
      self = Int64(exactly: value).map(PredicateValue.integer) ?? .unsigned(UInt64(truncatingIfNeeded: value))
    case let value as any BinaryFloatingPoint: self = .double(Double(value))
    case let value as Decimal: self = .decimal(value)
    case let value as Data: self = .data(value)
    case let value as UUID: self = .uuid(value)
    case let value as URL: self = .url(value)
    case let value as any StringProtocol: self = .string(String(value))
    case let value as Character: self = .string(String(value))
    case let value as any AnyDictionary:
      var entries: [PredicateValue: PredicateValue] = [:]
      value.forEachEntry { entries[PredicateValue(normalizing: $0)] = PredicateValue(normalizing: $1) }
      self = .dictionary(entries)
    case let value as any AnySet: self = .set(Set(value.members.map { PredicateValue(normalizing: $0) }))
    case let value as any AnyArray: self = .array(value.members.map { PredicateValue(normalizing: $0) })
    default: self = .object(ObjectBox(value))
    }
  }
}
