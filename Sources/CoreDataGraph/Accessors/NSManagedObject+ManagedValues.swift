import CoreDataStorage
import Foundation

// Accessors of text and of values that are objects, of types with raw values, and of everything else.

// MARK: Text

extension NSManagedObject {
  public final func managedValue(_ key: ManagedKey) -> String? {
    switch quickWord(key, { $0 == .string }) {
    case .word(let place): tailBytes(place).map { String(decoding: $0, as: UTF8.self) }
    case .nothing: nil
    case .slow: slowString(key)
    }
  }

  @inline(never)
  private final func slowString(_ key: ManagedKey) -> String? {
    if needsSlowAccess, let recorder = recorderOrSlowAccess(key, .value(String.self)) {
      return recorder.value(key.name)
    }
    let slot: Int = key.slot(of: self, .value(String.self))
    if let state {
      switch state.values[slot] {
      case .unset: break
      case .string(let value): return value
      case .object: return attributeValue(slot) as? String
      default: return nil
      }
    }
    guard rowBase != nil, compactSlot(slot).form == .string else {
      return attributeValue(slot) as? String
    }
    guard let place = rowWord(slot), let bytes = tailBytes(place) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Empty for nil: for attributes that are not optional.
  public final func managedValue(_ key: ManagedKey) -> String { managedValue(key) ?? "" }

  public final func setManagedValue(_ value: String?, _ key: ManagedKey) {
    set(value.map { .string($0) } ?? .null, key, String.self)
  }
}

// MARK: Objects

/// Accessors of types that are not optional stop if there is no value, as properties of those types do on
/// Apple's platforms. Data reads as empty there, and here too.
extension NSManagedObject {
  public final func managedValue(_ key: ManagedKey) -> Date { required(managedValue(key), key) }
  public final func managedValue(_ key: ManagedKey) -> Data? { typedValue(key) }
  public final func managedValue(_ key: ManagedKey) -> Data { required(typedValue(key), key) }
  public final func managedValue(_ key: ManagedKey) -> UUID? { typedValue(key) }
  public final func managedValue(_ key: ManagedKey) -> UUID { required(typedValue(key), key) }
  public final func managedValue(_ key: ManagedKey) -> URL? { typedValue(key) }
  public final func managedValue(_ key: ManagedKey) -> URL { required(typedValue(key), key) }
  public final func managedValue(_ key: ManagedKey) -> Decimal? {
    typedValue(key, of: Decimal.self, as: NSDecimalNumber.self)?.decimalValue
  }
  public final func managedValue(_ key: ManagedKey) -> Decimal { required(managedValue(key), key) }

  public final func setManagedValue(_ value: Data?, _ key: ManagedKey) { setTyped(value, key) }
  public final func setManagedValue(_ value: UUID?, _ key: ManagedKey) { setTyped(value, key) }
  public final func setManagedValue(_ value: URL?, _ key: ManagedKey) { setTyped(value, key) }
  public final func setManagedValue(_ value: NSDecimalNumber?, _ key: ManagedKey) {
    setAttribute(key.slot(of: self, .value(NSDecimalNumber.self)), value?.decimalValue)
  }
  public final func setManagedValue(_ value: Decimal?, _ key: ManagedKey) { setTyped(value, key) }

  private final func typedValue<Value>(_ key: ManagedKey) -> Value? {
    typedValue(key, of: Value.self, as: Value.self)
  }

  /// The value of an attribute whose accessor is of type `type`, as key-value coding returns it.
  private final func typedValue<Value>(_ key: ManagedKey, of type: Any.Type, as: Value.Type) -> Value? {
    if needsSlowAccess, let recorder = recorderOrSlowAccess(key, .value(type)) {
      return recorder.value(key.name)
    }
    // An optional would be cast to Any, nil too.
    guard let value: Any = attributeValue(key.slot(of: self, .value(type))) else { return nil }
    return value as? Value
  }

  private final func setTyped<Value>(_ value: Value?, _ key: ManagedKey) {
    setAttribute(key.slot(of: self, .value(Value.self)), value)
  }

  /// The result of an accessor of a type that is not optional.
  final func required<Value>(_ value: Value?, _ key: ManagedKey) -> Value {
    if let value { return value }
    if let empty = (Value.self as? any EmptyForNil.Type)?.emptyForNil as? Value { return empty }
    if runtime.recorder != nil {
      fatalError(
        """
        The name of the key path that leads to the accessor of '\(key.name)' in the class \(type(of: self)) can't be found by trying it \
        out: no \(Value.self) can be made up. Name it in \(type(of: self)).keyPathNames.
        """)
    }
    fatalError(
      """
      \(runtime.layout.name).\(key.name) has no value, and its accessor in the class \(type(of: self)) is not optional. Declare it as \
      \(Value.self)?, or give it a value first: by the model's default value, or in awakeFromInsert().
      """)
  }
}

/// Types with an empty value that replaces nil if the accessor is not optional.
private protocol EmptyForNil {
  static var emptyForNil: Any { get }
}

extension Array: EmptyForNil { fileprivate static var emptyForNil: Any { [Element]() } }
extension Set: EmptyForNil { fileprivate static var emptyForNil: Any { Set<Element>() } }
extension Dictionary: EmptyForNil { fileprivate static var emptyForNil: Any { [Key: Value]() } }
extension Data: EmptyForNil { fileprivate static var emptyForNil: Any { Data() } }

// MARK: Raw values

extension NSManagedObject {
  /// An attribute that holds the raw values of an enumeration or an option set. nil if there is no value, or
  /// for a raw value without a case.
  public final func managedValue<Value: RawRepresentable>(_ key: ManagedKey) -> Value? {
    if needsSlowAccess, let recorder = recorderOrSlowAccess(key, .value(Value.RawValue.self)) {
      return recorder.rawRepresentable(key.name)
    }
    return rawValue(key, Value.RawValue.self).flatMap { Value(rawValue: $0) }
  }

  /// The same for a type that is not optional: 0 or empty text if there is no value. Stops for a raw value
  /// without a case.
  public final func managedValue<Value: RawRepresentable>(_ key: ManagedKey) -> Value {
    if needsSlowAccess, let recorder = recorderOrSlowAccess(key, .value(Value.RawValue.self)) {
      return required(recorder.rawRepresentable(key.name), key)
    }
    let raw: Value.RawValue? = rawValue(key, Value.RawValue.self) ?? Self.zero(Value.RawValue.self)
    if let raw, let value = Value(rawValue: raw) { return value }
    fatalError(
      """
      \(runtime.layout.name).\(key.name) is \(raw.map { "'\($0)'" } ?? "nil"), of which no \(Value.self) can be made, and its accessor in the \
      class \(type(of: self)) is not optional. Declare it as \(Value.self)?, or let the attribute have a raw value of a case: by the \
      model's default value, or in awakeFromInsert().
      """)
  }

  public final func setManagedValue<Value: RawRepresentable>(_ value: Value?, _ key: ManagedKey) {
    setAttribute(key.slot(of: self, .value(Value.RawValue.self)), value?.rawValue)
  }

  private final func rawValue<Raw>(_ key: ManagedKey, _ type: Raw.Type) -> Raw? {
    // At most one box for the usual raw types of enumerations.
    switch type {
    case is Int16.Type: (managedValue(key) as Int16?) as? Raw
    case is Int32.Type: (managedValue(key) as Int32?) as? Raw
    case is Int64.Type: (managedValue(key) as Int64?) as? Raw
    case is Int.Type: (managedValue(key) as Int?) as? Raw
    case is String.Type: (managedValue(key) as String?) as? Raw
    case is UInt8.Type: (managedValue(key) as UInt8?) as? Raw
    case is UInt16.Type: (managedValue(key) as UInt16?) as? Raw
    case is UInt32.Type: (managedValue(key) as UInt32?) as? Raw
    case is UInt64.Type: (managedValue(key) as UInt64?) as? Raw
    case is UInt.Type: (managedValue(key) as UInt?) as? Raw
    case is Int8.Type: (managedValue(key) as Int8?) as? Raw
    case is Double.Type: (managedValue(key) as Double?) as? Raw
    case is Float.Type: (managedValue(key) as Float?) as? Raw
    case is Bool.Type: (managedValue(key) as Bool?) as? Raw
    default: typedValue(key)
    }
  }

  static func zero<Raw>(_ type: Raw.Type) -> Raw? {
    switch type {
    case let number as any BinaryInteger.Type: zero(number) as? Raw
    case let number as any BinaryFloatingPoint.Type: zero(number) as? Raw
    case is Bool.Type: false as? Raw
    case is String.Type: "" as? Raw
    default: nil
    }
  }

  private static func zero<Number: BinaryInteger>(_ type: Number.Type) -> Any { Number.zero }
  private static func zero<Number: BinaryFloatingPoint>(_ type: Number.Type) -> Any { Number.zero }
}

// MARK: Everything else

extension NSManagedObject {
  /// A transformable or transient value of any type; the dictionary of a composite attribute.
  public final func managedObjectValue<Value>(_ key: ManagedKey, as type: Value.Type = Value.self) -> Value? {
    if let value: Value = typedValue(key) { return value }
    // A number or a text is of a protocol such as NSCoding as Foundation's class only.
    return (typedValue(key) as Any?).flatMap { ($0 as AnyObject) as? Value }
  }

  public final func setManagedObjectValue(_ value: Any?, _ key: ManagedKey) {
    setAttribute(key.slot(of: self, .any), value)
  }

  /// A property as a type that has no accessor of its own: Foundation's classes (`NSDecimalNumber?`,
  /// `NSNumber?`, `NSURL?`), the dictionary of a composite attribute, the value of a transformable attribute;
  /// `Person?`, `Set<Item>`, `NSOrderedSet?` for relationships.
  @_disfavoredOverload
  public final func managedValue<Value>(_ key: ManagedKey) -> Value? { anything(key) }

  /// The same for a type that is not optional. Stops if there is no value, except for collections, which are
  /// then empty.
  @_disfavoredOverload
  public final func managedValue<Value>(_ key: ManagedKey, as type: Value.Type = Value.self) -> Value {
    required(anything(key), key)
  }

  private final func anything<Value>(_ key: ManagedKey) -> Value? {
    if needsSlowAccess, let recorder = recorderOrSlowAccess(key, AccessorType(of: Value.self)) {
      return recorder.anything(key.name)
    }
    guard let value = objectValue(key.slot(of: self, AccessorType(of: Value.self))) else { return nil }
    return value as? Value ?? (value as? NSOrderedSet)?.array as? Value
  }

  @_disfavoredOverload
  public final func setManagedValue<Value>(_ value: Value?, _ key: ManagedKey) {
    setObjectValue(value, key.slot(of: self, AccessorType(of: Value.self)))
  }
}
