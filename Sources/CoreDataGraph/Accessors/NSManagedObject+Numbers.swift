import CoreDataStorage
import Foundation

// Accessors of numbers, Booleans and dates, which are called most often. A value is read from its word in the
// row, or from the object's own slot, and no step allocates. The type is checked against the attribute when a
// key looks its slot up, see `AccessorType`.

extension NSManagedObject {
  /// The word of a slot in the row; nil if there is none. Read in place, without retaining the slab.
  @inline(__always)
  final func rowWord(_ slot: Int) -> UInt64? {
    let word: Int = Int(compactSlot(slot).word)
    guard word >= 0, let base = rowBase else { return nil }
    return RowLayout.value(word, base, headerSize: home.facts.pointee.headerSize)
  }

  /// A slot as the hot paths need it, without retaining the entity.
  @inline(__always)
  final func compactSlot(_ slot: Int) -> CompactSlot { home.facts.pointee.slots[slot] }

  /// The location of a stored slot's value, for readers that have looked up its places before.
  enum PlaceOfValue {
    case word(UInt64)
    case held(SlotValue)
    /// There is no value.
    case nothing
    /// Neither the object's slots nor a row contain it.
    case unknown
  }

  @inline(__always)
  final func find(_ slot: Int, _ word: Int, _ headerSize: Int) -> PlaceOfValue {
    fireFault(slot, .read)
    if let state {
      let value: SlotValue = state.values[slot]
      if !value.isUnset { return .held(value) }
    }
    guard let base = rowBase else { return .unknown }
    return RowLayout.value(word, base, headerSize: headerSize).map { .word($0) } ?? .nothing
  }

  /// The bytes that a word of the row refers to, valid as long as the object keeps its row.
  @inline(__always)
  final func tailBytes(_ place: UInt64) -> UnsafeRawBufferPointer? {
    guard let slab = rowSlab else { return nil }
    return RowLayout.bytes(place, tail: slab.tail)
  }

  /// The result of a quick read: all of it, or that the slow path must read.
  enum QuickWord {
    case word(UInt64)
    /// The row has no value.
    case nothing
    case slow
  }

  /// The word of a slot of a loaded object without values of its own: about twenty instructions without a
  /// call, a retain or a frame on the stack. Anything else is slow.
  @inline(__always)
  final func quickWord(_ key: ManagedKey, _ isReadable: (SlotForm) -> Bool) -> QuickWord {
    if needsSlowAccess || state != nil { return .slow }
    let facts: UnsafePointer<EntityFacts> = home.facts
    let slot: Int = key.knownSlot(facts)
    guard slot >= 0, let base = rowBase else { return .slow }
    let brief: UnsafeMutablePointer<CompactSlot> = facts.pointee.slots + slot
    guard isReadable(brief.pointee.form) else { return .slow }
    let word = Int(truncatingIfNeeded: brief.pointee.word)
    return RowLayout.value(word, base, headerSize: facts.pointee.headerSize).map { .word($0) } ?? .nothing
  }

  /// The integer of a slot; nil if there is none.
  @inline(__always)
  private final func integerValue(_ key: ManagedKey, for type: Any.Type) -> Int64? {
    switch quickWord(key, { $0 == .integer }) {
    case .word(let word): Int64(bitPattern: word)
    case .nothing: nil
    case .slow: slowInteger(key, for: type)
    }
  }

  @inline(never)
  private final func slowInteger(_ key: ManagedKey, for type: Any.Type) -> Int64? {
    if needsSlowAccess, let recorder = recorderOrSlowAccess(key, .value(type)) {
      return recorder.value(key.name)
    }
    return loadedInteger(key, for: type)
  }

  /// The same for a type that can represent every value of the attribute.
  @inline(__always)
  private final func wideValue<Number: FixedWidthInteger>(_ key: ManagedKey) -> Number? {
    integerValue(key, for: Number.self).map { Number(truncatingIfNeeded: $0) }
  }

  /// The same for a type that can't represent every value.
  private final func exactValue<Number: FixedWidthInteger>(_ key: ManagedKey) -> Number? {
    guard let value = integerValue(key, for: Number.self) else { return nil }
    if let exact = Number(exactly: value) { return exact }
    if runtime.recorder != nil { return Number(truncatingIfNeeded: value) }
    fatalError(
      """
      \(runtime.layout.name).\(key.name) is \(value), for which the type \(Number.self) of its accessor in the class \(type(of: self)) \
      has no room. Declare a wider type.
      """)
  }

  @inline(__always)
  private final func flagValue(_ key: ManagedKey) -> Bool? {
    switch quickWord(key, { $0 == .integer }) {
    case .word(let word): word != 0
    case .nothing: nil
    case .slow: slowFlag(key)
    }
  }

  @inline(never)
  private final func slowFlag(_ key: ManagedKey) -> Bool? {
    if needsSlowAccess, let recorder = recorderOrSlowAccess(key, .value(Bool.self)) {
      return recorder.value(key.name)
    }
    return loadedInteger(key, for: Bool.self).map { $0 != 0 }
  }

  private final func loadedInteger(_ key: ManagedKey, for type: Any.Type) -> Int64? {
    let slot: Int = key.slot(of: self, .value(type))
    if let state {
      switch state.values[slot] {
      case .unset: break
      case .integer(let value): return value
      case .double(let value): return Int64(exactly: value.rounded(.towardZero))
      case .object: return (attributeValue(slot) as? NSNumber)?.int64Value
      default: return nil
      }
    }
    guard compactSlot(slot).form == .integer, rowBase != nil else {
      return (attributeValue(slot) as? NSNumber)?.int64Value
    }
    return rowWord(slot).map { Int64(bitPattern: $0) }
  }

  @inline(__always)
  private final func doubleValue(_ key: ManagedKey, for type: Any.Type) -> Double? {
    switch quickWord(key, { $0.isFloatingPoint }) {
    case .word(let word): Double(bitPattern: word)
    case .nothing: nil
    case .slow: slowDouble(key, for: type)
    }
  }

  @inline(never)
  private final func slowDouble(_ key: ManagedKey, for type: Any.Type) -> Double? {
    if needsSlowAccess, let recorder = recorderOrSlowAccess(key, .value(type)) {
      return recorder.value(key.name)
    }
    return loadedDouble(key, for: type)
  }

  private final func loadedDouble(_ key: ManagedKey, for type: Any.Type) -> Double? {
    let slot: Int = key.slot(of: self, .value(type))
    if let state {
      switch state.values[slot] {
      case .unset: break
      case .double(let value): return value
      case .integer(let value): return Double(value)
      case .object: return boxedDouble(slot)
      default: return nil
      }
    }
    guard compactSlot(slot).form.isFloatingPoint, rowBase != nil else { return boxedDouble(slot) }
    return rowWord(slot).map { Double(bitPattern: $0) }
  }

  /// A number or date that is held as an object: the value of a transient attribute, or a number of another
  /// kind.
  private final func boxedDouble(_ slot: Int) -> Double? {
    switch attributeValue(slot) {
    case let date as Date: date.timeIntervalSinceReferenceDate
    case let value: (value as? NSNumber)?.doubleValue
    }
  }
}

// MARK: Reading

/// If there is no value, numbers that are not optional read as 0 and Booleans as false, as scalar properties
/// do on Apple's platforms.
extension NSManagedObject {
  public final func managedValue(_ key: ManagedKey) -> Int64 { wideValue(key) ?? 0 }
  public final func managedValue(_ key: ManagedKey) -> Int32 { wideValue(key) ?? 0 }
  public final func managedValue(_ key: ManagedKey) -> Int16 { wideValue(key) ?? 0 }
  public final func managedValue(_ key: ManagedKey) -> Int { wideValue(key) ?? 0 }
  public final func managedValue(_ key: ManagedKey) -> Int64? { wideValue(key) }
  public final func managedValue(_ key: ManagedKey) -> Int32? { wideValue(key) }
  public final func managedValue(_ key: ManagedKey) -> Int16? { wideValue(key) }
  public final func managedValue(_ key: ManagedKey) -> Int? { wideValue(key) }
  public final func managedValue(_ key: ManagedKey) -> Bool { flagValue(key) ?? false }
  public final func managedValue(_ key: ManagedKey) -> Bool? { flagValue(key) }
  public final func managedValue(_ key: ManagedKey) -> Double { doubleValue(key, for: Double.self) ?? 0 }
  public final func managedValue(_ key: ManagedKey) -> Double? { doubleValue(key, for: Double.self) }
  public final func managedValue(_ key: ManagedKey) -> Float { Float(doubleValue(key, for: Float.self) ?? 0) }
  public final func managedValue(_ key: ManagedKey) -> Float? {
    doubleValue(key, for: Float.self).map { Float($0) }
  }
  public final func managedValue(_ key: ManagedKey) -> Date? {
    switch quickWord(key, { $0.isFloatingPoint }) {
    case .word(let word): Date(timeIntervalSinceReferenceDate: Double(bitPattern: word))
    case .nothing: nil
    case .slow: slowDate(key)
    }
  }

  @inline(never)
  private final func slowDate(_ key: ManagedKey) -> Date? {
    if needsSlowAccess, let recorder = recorderOrSlowAccess(key, .value(Date.self)) {
      return recorder.value(key.name)
    }
    return loadedDouble(key, for: Date.self).map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  // Types whose width no attribute has: a value out of their range stops the program.
  public final func managedValue(_ key: ManagedKey) -> UInt64 { exactValue(key) ?? 0 }
  public final func managedValue(_ key: ManagedKey) -> UInt32 { exactValue(key) ?? 0 }
  public final func managedValue(_ key: ManagedKey) -> UInt16 { exactValue(key) ?? 0 }
  public final func managedValue(_ key: ManagedKey) -> UInt8 { exactValue(key) ?? 0 }
  public final func managedValue(_ key: ManagedKey) -> UInt { exactValue(key) ?? 0 }
  public final func managedValue(_ key: ManagedKey) -> Int8 { exactValue(key) ?? 0 }
  public final func managedValue(_ key: ManagedKey) -> UInt64? { exactValue(key) }
  public final func managedValue(_ key: ManagedKey) -> UInt32? { exactValue(key) }
  public final func managedValue(_ key: ManagedKey) -> UInt16? { exactValue(key) }
  public final func managedValue(_ key: ManagedKey) -> UInt8? { exactValue(key) }
  public final func managedValue(_ key: ManagedKey) -> UInt? { exactValue(key) }
  public final func managedValue(_ key: ManagedKey) -> Int8? { exactValue(key) }
}

// MARK: Writing

/// A value that is out of the attribute's range is kept, and the next save refuses it.
extension NSManagedObject {
  public final func setManagedValue(_ value: Int64, _ key: ManagedKey) {
    set(.integer(value), key, Int64.self)
  }
  public final func setManagedValue(_ value: Int32, _ key: ManagedKey) {
    set(.integer(Int64(value)), key, Int32.self)
  }
  public final func setManagedValue(_ value: Int16, _ key: ManagedKey) {
    set(.integer(Int64(value)), key, Int16.self)
  }
  public final func setManagedValue(_ value: Int, _ key: ManagedKey) {
    set(.integer(Int64(value)), key, Int.self)
  }
  public final func setManagedValue(_ value: Int64?, _ key: ManagedKey) {
    set(value.map { .integer($0) } ?? .null, key, Int64.self)
  }
  public final func setManagedValue(_ value: Int32?, _ key: ManagedKey) {
    set(value.map { .integer(Int64($0)) } ?? .null, key, Int32.self)
  }
  public final func setManagedValue(_ value: Int16?, _ key: ManagedKey) {
    set(value.map { .integer(Int64($0)) } ?? .null, key, Int16.self)
  }
  public final func setManagedValue(_ value: Int?, _ key: ManagedKey) {
    set(value.map { .integer(Int64($0)) } ?? .null, key, Int.self)
  }
  public final func setManagedValue(_ value: Bool, _ key: ManagedKey) {
    set(.integer(value ? 1 : 0), key, Bool.self, as: .bool)
  }
  public final func setManagedValue(_ value: Bool?, _ key: ManagedKey) {
    set(value.map { .integer($0 ? 1 : 0) } ?? .null, key, Bool.self, as: .bool)
  }
  public final func setManagedValue(_ value: Double, _ key: ManagedKey) {
    set(.double(value), key, Double.self)
  }
  public final func setManagedValue(_ value: Double?, _ key: ManagedKey) {
    set(value.map { .double($0) } ?? .null, key, Double.self)
  }
  public final func setManagedValue(_ value: Float, _ key: ManagedKey) {
    set(.double(Double(value)), key, Float.self)
  }
  public final func setManagedValue(_ value: Float?, _ key: ManagedKey) {
    set(value.map { .double(Double($0)) } ?? .null, key, Float.self)
  }
  public final func setManagedValue(_ value: Date?, _ key: ManagedKey) {
    set(value.map { .double($0.timeIntervalSinceReferenceDate) } ?? .null, key, Date.self, as: .date)
  }
  public final func setManagedValue(_ value: UInt64?, _ key: ManagedKey) { setExact(value, key) }
  public final func setManagedValue(_ value: UInt32?, _ key: ManagedKey) { setExact(value, key) }
  public final func setManagedValue(_ value: UInt16?, _ key: ManagedKey) { setExact(value, key) }
  public final func setManagedValue(_ value: UInt8?, _ key: ManagedKey) { setExact(value, key) }
  public final func setManagedValue(_ value: UInt?, _ key: ManagedKey) { setExact(value, key) }
  public final func setManagedValue(_ value: Int8?, _ key: ManagedKey) { setExact(value, key) }

  private final func setExact<Number: FixedWidthInteger>(_ value: Number?, _ key: ManagedKey) {
    setAttribute(key.slot(of: self, .value(Number.self)), value)
  }

  @inline(__always)
  final func set(
    _ value: SlotValue, _ key: ManagedKey, _ type: Any.Type, as kind: ColumnKind = .int64
  ) {
    let slot: Int = key.slot(of: self, .value(type))
    if compactSlot(slot).accepts(value) { return setSlot(slot, value) }
    // A typed accessor over an attribute of another type converts through key-value coding. A transient
    // attribute keeps the value as it was set.
    let given: ColumnKind = compactSlot(slot).role == .transient ? kind : .int64
    setSlot(slot, makeSlotValue(value.attributeValue(kind: given), slot: slot))
  }
}

extension CompactSlot {
  /// Whether the slot's kind accepts this form of value unchanged.
  @inline(__always)
  func accepts(_ value: SlotValue) -> Bool {
    switch value {
    case .null, .unset: true
    case .integer: form == .integer
    case .double: form == .double
    case .string: form == .string
    case .object: false
    }
  }
}
