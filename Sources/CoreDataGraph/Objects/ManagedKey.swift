import CoreDataStorage
import Foundation
import Synchronization

/// A managed property's name with the place of its value, for accessors that cost a few nanoseconds.
///
/// Make one per property, as a static constant of the class, and use it in a computed property
/// (generated classes do just this):
///
/// ```swift
/// static let dueDate = ManagedKey("dueDate")
/// var dueDate: Date? {
///   get { managedValue(Self.dueDate) }
///   set { setManagedValue(newValue, Self.dueDate) }
/// }
/// ```
///
/// The slot is looked up by name once per model and remembered; a model without such a property stops with the
/// nearest names. Safe to use from any thread.
public final class ManagedKey: Sendable, ExpressibleByStringLiteral {
  public let name: String

  /// The last look-up: model serial (24 bits), first and last entity index it holds for (14 bits each), slot (12
  /// bits). 0: none. A slot is right for the declaring entity and its sub-entities, which have neighbouring indexes.
  private let cache = Atomic<UInt64>(0)

  public init(_ name: String) { self.name = name }

  public convenience init(stringLiteral value: String) { self.init(value) }

  @inline(__always)
  final func slot(in runtime: EntityRuntime) -> Int {
    let known: UInt64 = cache.load(ordering: .relaxed)
    let index: UInt64 = UInt64(runtime.index)
    if known >> 40 == runtime.modelSerial, index &- (known >> 26 & 0x3FFF) <= known >> 12 & 0x3FFF {
      return Int(known & 0xFFF)
    }
    return lookUp(in: runtime)
  }

  private func lookUp(in runtime: EntityRuntime) -> Int {
    guard let slot = runtime.layout.slotByName[name] else {
      // What is written to a recording instance is never read.
      if runtime.recorder != nil { return 0 }
      fatalError(GraphError.unknownKey(name, runtime.layout).description)
    }
    let declaring: EntityLayout = runtime.model.layout.entities[runtime.layout.slots[slot].declaringEntity]
    let span: Int = declaring.family.count - 1
    if runtime.model.serial < 1 << 24, declaring.index < 1 << 14, span < 1 << 14, slot < 1 << 12 {
      cache.store(
        UInt64(runtime.model.serial) << 40 | UInt64(declaring.index) << 26 | UInt64(span) << 12
          | UInt64(slot),
        ordering: .relaxed)
    }
    return slot
  }
}

// MARK: Scalars

extension NSManagedObject {
  /// The word of a slot in the row, nil for none. Read in place, without counting a reference to the slab.
  @inline(__always)
  private final func rowWord(_ slot: Int) -> UInt64? {
    let word: Int = Int(runtime.brief[slot].word)
    guard word >= 0, let base = rowBase else { return nil }
    return Self.word(word, of: base, runtime.headerSize)
  }

  @inline(__always)
  private static func word(_ word: Int, of base: UnsafeMutableRawPointer, _ headerSize: Int) -> UInt64? {
    let bits: UInt64 = (base + 16 + (word >> 6) << 3).load(as: UInt64.self)
    guard bits >> UInt64(word & 63) & 1 == 1 else { return nil }
    return (base + headerSize + word << 3).load(as: UInt64.self)
  }

  /// Where the value of a stored slot is, for readers that have looked its places up before.
  enum PlaceOfValue {
    case word(UInt64)
    case held(SlotValue)
    /// There is no value.
    case nothing
    /// Neither slots nor a row tell.
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
    return Self.word(word, of: base, headerSize).map { .word($0) } ?? .nothing
  }

  /// The bytes that a word of the row points at, valid as long as the object keeps its row.
  @inline(__always)
  final func tailBytes(_ place: UInt64) -> UnsafeRawBufferPointer? {
    guard let slab = rowSlab else { return nil }
    return UnsafeRawBufferPointer(
      start: slab.tail + Int(UInt32(truncatingIfNeeded: place)), count: Int(place >> 32))
  }

  /// The integer of a slot, nil for none.
  @inline(__always)
  private final func integerValue(_ key: ManagedKey) -> Int64? {
    if needsAttention, let recorder = recorderOrAttend(key) { return recorder.value(key.name) }
    return loadedInteger(key)
  }

  @inline(__always)
  private final func flagValue(_ key: ManagedKey) -> Bool? {
    if needsAttention, let recorder = recorderOrAttend(key) { return recorder.value(key.name) }
    return loadedInteger(key).map { $0 != 0 }
  }

  @inline(__always)
  private final func loadedInteger(_ key: ManagedKey) -> Int64? {
    let slot: Int = key.slot(in: runtime)
    if let state {
      switch state.values[slot] {
      case .unset: break
      case .integer(let value): return value
      case .double(let value): return Int64(exactly: value.rounded(.towardZero))
      case .object: return (attributeValue(slot) as? NSNumber)?.int64Value
      default: return nil
      }
    }
    guard runtime.brief[slot].form == .integer, rowBase != nil else {
      return (attributeValue(slot) as? NSNumber)?.int64Value
    }
    return rowWord(slot).map { Int64(bitPattern: $0) }
  }

  @inline(__always)
  private final func doubleValue(_ key: ManagedKey) -> Double? {
    if needsAttention, let recorder = recorderOrAttend(key) { return recorder.value(key.name) }
    return loadedDouble(key)
  }

  @inline(__always)
  private final func loadedDouble(_ key: ManagedKey) -> Double? {
    let slot: Int = key.slot(in: runtime)
    if let state {
      switch state.values[slot] {
      case .unset: break
      case .double(let value): return value
      case .integer(let value): return Double(value)
      case .object: return boxedDouble(slot)
      default: return nil
      }
    }
    guard runtime.brief[slot].isFloatingPoint, rowBase != nil else { return boxedDouble(slot) }
    return rowWord(slot).map { Double(bitPattern: $0) }
  }

  /// A number or date that is held as an object: what a transient attribute was given.
  private final func boxedDouble(_ slot: Int) -> Double? {
    switch attributeValue(slot) {
    case let date as Date: date.timeIntervalSinceReferenceDate
    case let value: (value as? NSNumber)?.doubleValue
    }
  }

  public final func managedValue(_ key: ManagedKey) -> Int64 { integerValue(key) ?? 0 }
  public final func managedValue(_ key: ManagedKey) -> Int32 {
    Int32(truncatingIfNeeded: integerValue(key) ?? 0)
  }
  public final func managedValue(_ key: ManagedKey) -> Int16 {
    Int16(truncatingIfNeeded: integerValue(key) ?? 0)
  }
  public final func managedValue(_ key: ManagedKey) -> Int { Int(integerValue(key) ?? 0) }
  public final func managedValue(_ key: ManagedKey) -> Bool { flagValue(key) ?? false }
  public final func managedValue(_ key: ManagedKey) -> Double { doubleValue(key) ?? 0 }
  public final func managedValue(_ key: ManagedKey) -> Float { Float(doubleValue(key) ?? 0) }
  public final func managedValue(_ key: ManagedKey) -> Int64? { integerValue(key) }
  public final func managedValue(_ key: ManagedKey) -> Bool? { flagValue(key) }
  public final func managedValue(_ key: ManagedKey) -> Double? { doubleValue(key) }
  public final func managedValue(_ key: ManagedKey) -> Date? {
    if needsAttention, let recorder = recorderOrAttend(key) { return recorder.value(key.name) }
    return loadedDouble(key).map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  public final func setManagedValue(_ value: Int64, _ key: ManagedKey) { set(.integer(value), key) }
  public final func setManagedValue(_ value: Int32, _ key: ManagedKey) { set(.integer(Int64(value)), key) }
  public final func setManagedValue(_ value: Int16, _ key: ManagedKey) { set(.integer(Int64(value)), key) }
  public final func setManagedValue(_ value: Int, _ key: ManagedKey) { set(.integer(Int64(value)), key) }
  public final func setManagedValue(_ value: Bool, _ key: ManagedKey) {
    set(.integer(value ? 1 : 0), key, as: .bool)
  }
  public final func setManagedValue(_ value: Double, _ key: ManagedKey) { set(.double(value), key) }
  public final func setManagedValue(_ value: Float, _ key: ManagedKey) { set(.double(Double(value)), key) }
  public final func setManagedValue(_ value: Int64?, _ key: ManagedKey) {
    set(value.map { .integer($0) } ?? .null, key)
  }
  public final func setManagedValue(_ value: Bool?, _ key: ManagedKey) {
    set(value.map { .integer($0 ? 1 : 0) } ?? .null, key, as: .bool)
  }
  public final func setManagedValue(_ value: Double?, _ key: ManagedKey) {
    set(value.map { .double($0) } ?? .null, key)
  }
  public final func setManagedValue(_ value: Date?, _ key: ManagedKey) {
    set(value.map { .double($0.timeIntervalSinceReferenceDate) } ?? .null, key, as: .date)
  }

  @inline(__always)
  private final func set(_ value: SlotValue, _ key: ManagedKey, as kind: ColumnKind = .int64) {
    let slot: Int = key.slot(in: runtime)
    if runtime.accepts(value, slot) { return setSlot(slot, value) }
    // A typed accessor over an attribute of another type goes the way of key-value coding, which converts. A transient one keeps
    // what it was given.
    let given: ColumnKind = runtime.brief[slot].role == .transient ? kind : .int64
    setSlot(slot, makeSlotValue(value.attributeValue(kind: given), slot: slot))
  }
}

// MARK: Text, bytes, objects

extension NSManagedObject {
  public final func managedValue(_ key: ManagedKey) -> String? {
    if needsAttention, let recorder = recorderOrAttend(key) { return recorder.value(key.name) }
    let slot: Int = key.slot(in: runtime)
    if let state {
      switch state.values[slot] {
      case .unset: break
      case .string(let value): return value
      case .object: return attributeValue(slot) as? String
      default: return nil
      }
    }
    guard rowBase != nil, runtime.brief[slot].form == .string else { return attributeValue(slot) as? String }
    guard let place = rowWord(slot), let bytes = tailBytes(place) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Empty for nil: for attributes that are not optional.
  public final func managedValue(_ key: ManagedKey) -> String { managedValue(key) ?? "" }

  public final func managedValue(_ key: ManagedKey) -> Data? { managedObjectValue(key) }
  public final func managedValue(_ key: ManagedKey) -> UUID? { managedObjectValue(key) }
  public final func managedValue(_ key: ManagedKey) -> URL? { managedObjectValue(key) }
  public final func managedValue(_ key: ManagedKey) -> NSDecimalNumber? { managedObjectValue(key) }
  public final func managedValue(_ key: ManagedKey) -> Decimal? {
    managedObjectValue(key, as: NSDecimalNumber.self)?.decimalValue
  }

  /// A transformable or transient value of any type; the dictionary of a composite attribute.
  public final func managedObjectValue<Value>(_ key: ManagedKey, as type: Value.Type = Value.self) -> Value? {
    if needsAttention, let recorder = recorderOrAttend(key) { return recorder.value(key.name) }
    return attributeValue(key.slot(in: runtime)) as? Value
  }

  public final func setManagedValue(_ value: String?, _ key: ManagedKey) {
    set(value.map { .string($0) } ?? .null, key)
  }
  public final func setManagedValue(_ value: Data?, _ key: ManagedKey) { setAny(value, key) }
  public final func setManagedValue(_ value: UUID?, _ key: ManagedKey) { setAny(value, key) }
  public final func setManagedValue(_ value: URL?, _ key: ManagedKey) { setAny(value, key) }
  public final func setManagedValue(_ value: NSDecimalNumber?, _ key: ManagedKey) {
    setAny(value?.decimalValue, key)
  }
  public final func setManagedValue(_ value: Decimal?, _ key: ManagedKey) { setAny(value, key) }
  public final func setManagedObjectValue(_ value: Any?, _ key: ManagedKey) { setAny(value, key) }

  private final func setAny(_ value: Any?, _ key: ManagedKey) {
    setAttribute(key.slot(in: runtime), value)
  }
}

// MARK: Relationships

extension NSManagedObject {
  /// The target of a to-one relationship.
  public final func managedObject<Target: NSManagedObject>(
    _ key: ManagedKey, as type: Target.Type = Target.self
  ) -> Target? {
    if needsAttention, let recorder = recorderOrAttend(key) { return recorder.target(key.name) }
    return toOneTarget(key.slot(in: runtime)) as? Target
  }

  /// Sets the target of a to-one relationship and keeps the inverses.
  public final func setManagedObject(_ target: NSManagedObject?, _ key: ManagedKey) {
    setToOne(key.slot(in: runtime), target)
  }

  /// The members of a to-many relationship.
  public final func managedSet<Member: NSManagedObject>(
    _ key: ManagedKey, of type: Member.Type = Member.self
  ) -> Set<Member> {
    if needsAttention, let recorder = recorderOrAttend(key) {
      let members: [Member] = recorder.members(key.name)
      return Set(members)
    }
    return Set(members(key.slot(in: runtime)).compactMap { $0 as? Member })
  }

  /// The members of an ordered to-many relationship, in order.
  public final func managedArray<Member: NSManagedObject>(
    _ key: ManagedKey, of type: Member.Type = Member.self
  ) -> [Member] {
    if needsAttention, let recorder = recorderOrAttend(key) {
      return recorder.members(key.name)
    }
    return members(key.slot(in: runtime)).compactMap { $0 as? Member }
  }

  /// Replaces the members of a to-many relationship and keeps the inverses; the order counts for an ordered one.
  public final func setManagedMembers(_ members: some Sequence<NSManagedObject>, _ key: ManagedKey) {
    setMembers(key.slot(in: runtime), Array(members))
  }

  /// Adds a member (at the end of an ordered relationship) and keeps its inverse. Does not load the other members.
  public final func addManagedMember(_ member: NSManagedObject, _ key: ManagedKey) {
    link(key.slot(in: runtime), member)
  }

  /// Removes a member and keeps its inverse. Does not load the other members.
  public final func removeManagedMember(_ member: NSManagedObject, _ key: ManagedKey) {
    unlinkMember(key.slot(in: runtime), member)
  }
}

extension EntityRuntime {
  /// Whether a slot's kind takes this form of value as it is.
  @inline(__always)
  final func accepts(_ value: SlotValue, _ slot: Int) -> Bool {
    switch value {
    case .null, .unset: return true
    case .integer: return brief[slot].form == .integer
    case .double: return brief[slot].form == .double
    case .string: return brief[slot].form == .string
    case .object: return false
    }
  }
}
