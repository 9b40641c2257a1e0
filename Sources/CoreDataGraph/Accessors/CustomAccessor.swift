import CoreDataModel
import CoreDataPredicates
import Foundation

// The program's own accessors, as key-value coding uses them. On Apple's platforms `value(forKey:
// "fullName")` calls the method `fullName` of the object's class, which the Objective-C runtime finds by its
// name. Here a class lists the accessors that do more than access a slot (`customAccessors`), as key paths,
// and an entity's runtime keeps them (Decisions/0028).
//
//     value(forKey:) ─▶ runtime.accessors ─▶ nil, as for nearly all classes ───────────▶ slot
//                            │
//                            └─▶ one for this key ─▶ key path of the class ─▶ getter ─▶ as key-value coding returns it
//                                     │
//                                     └─ that getter is already running for this object (it reads its own key) ─▶ slot

/// One accessor of a class, prepared once.
final class CustomAccessor: @unchecked Sendable {
  // Sendable: immutable after init, and its key path captures nothing.

  let key: String
  let keyPath: AnyKeyPath
  private let reading: any ReadingKeyPath
  /// nil for a property without a setter.
  private let writing: (any WritingKeyPath)?

  /// nil for a key path that does not start at the class, or at one that it inherits from.
  init?(_ key: String, _ keyPath: AnyKeyPath, of type: NSManagedObject.Type) {
    guard let reading = keyPath as? any ReadingKeyPath, reading.starts(at: type) else { return nil }
    self.key = key
    self.keyPath = keyPath
    self.reading = reading
    writing = keyPath as? any WritingKeyPath
  }

  /// The accessors of a class and of those it inherits from, by key; a class's own override inherited ones.
  /// nil if there are none.
  static func all(of type: NSManagedObject.Type) -> [String: CustomAccessor]? {
    var found: [String: CustomAccessor] = [:]
    var current: NSManagedObject.Type? = type
    while let type = current, type != NSManagedObject.self {
      for (key, keyPath) in listed(by: type) where found[key] == nil {
        guard let accessor = CustomAccessor(key, keyPath, of: type) else {
          fatalError(
            "\(type).customAccessors names a key path for '\(key)' that starts at \(Swift.type(of: keyPath).rootType), which no "
              + "\(type) is: write \\\(type).\(key), or the property that the key stands for.")
        }
        found[key] = accessor
      }
      current = _getSuperclass(type) as? NSManagedObject.Type
    }
    return found.isEmpty ? nil : found
  }

  /// The key for which a class, or one that it inherits from, has listed a key path. If there are several,
  /// one that a model in use has, and otherwise the first alphabetically, so that the result is always the
  /// same.
  static func key(of keyPath: AnyKeyPath, in type: NSManagedObject.Type) -> String? {
    let keys: [String] = all(of: type)?.values.filter { $0.keyPath == keyPath }.map(\.key).sorted() ?? []
    if keys.count < 2 { return keys.first }
    let models: [EntityRuntime] = ModelRuntime.entities(of: type)
    return keys.first { key in models.contains { $0.layout.slotByName[key] != nil } } ?? keys.first
  }

  /// The accessors that a class lists. The list is read under a lock while its model is prepared.
  private static func listed(by type: NSManagedObject.Type) -> [String: AnyKeyPath] {
    ThreadLocalState.ofThisThread.with(\.listingClass, type) {
      guard let listing = type as? any AccessorListing.Type else { return type.customAccessors }
      return listing.listedAccessors.merging(type.customAccessors) { $1 }
    }
  }

  // MARK: Use

  /// The result of a getter, maybe nil.
  struct Answer {
    let value: Any?
  }

  /// Whether there is a setter, for a property that is not optional.
  var refusesNil: Bool { writing?.refusesNil ?? false }

  /// The result of writing through an accessor.
  enum Outcome {
    case written
    /// There is no setter, or the setter is already running.
    case unavailable
    /// The property is not optional, and the value is nil.
    case refusesNil
    case wrongType(Any.Type)
  }

  /// The value as key-value coding returns it; nil if the accessor is already running for this object, or if
  /// stored values are being read.
  func read(_ object: NSManagedObject) -> Answer? {
    let notes: ThreadLocalState = .ofThisThread
    if notes.readsPersistedValues, object.isStored(key) { return nil }
    return run(for: object, isWriting: false, notes) { reading.read(object) }
      .flatMap { $0 }.map { Answer(value: KeyValueForm.outward($0.value)) }
  }

  func write(_ value: Any?, to object: NSManagedObject) -> Outcome {
    guard let writing else { return .unavailable }
    return run(for: object, isWriting: true, .ofThisThread) { writing.write(value, to: object) }
      ?? .unavailable
  }

  /// nil if the same accessor is already running for the object, so that running it again would recurse
  /// forever.
  private func run<Result>(
    for object: NSManagedObject, isWriting: Bool, _ notes: ThreadLocalState, _ body: () -> Result
  ) -> Result? {
    let frame = RunningAccessor(
      accessor: ObjectIdentifier(self), object: ObjectIdentifier(object), isWriting: isWriting)
    guard notes.running.insert(frame).inserted else { return nil }
    // The accessor's own reads are the program's, whatever code calls the accessor.
    let readsPersistedValues: Bool = notes.readsPersistedValues
    notes.readsPersistedValues = false
    defer {
      notes.running.remove(frame)
      notes.readsPersistedValues = readsPersistedValues
    }
    return body()
  }
}

// MARK: - Key paths by value type

private protocol ReadingKeyPath {
  func starts(at type: NSManagedObject.Type) -> Bool
  /// nil if the object is not of the class that the key path starts at.
  func read(_ object: NSManagedObject) -> CustomAccessor.Answer?
}

extension KeyPath: ReadingKeyPath {
  fileprivate func starts(at type: NSManagedObject.Type) -> Bool {
    Root.self is NSManagedObject.Type && type is Root.Type
  }

  fileprivate func read(_ object: NSManagedObject) -> CustomAccessor.Answer? {
    (object as? Root).map { CustomAccessor.Answer(value: $0[keyPath: self]) }
  }
}

private protocol WritingKeyPath {
  var refusesNil: Bool { get }
  func write(_ value: Any?, to object: NSManagedObject) -> CustomAccessor.Outcome
}

extension ReferenceWritableKeyPath: WritingKeyPath {
  fileprivate var refusesNil: Bool { !(Value.self is any NilTaking.Type) }

  fileprivate func write(_ value: Any?, to object: NSManagedObject) -> CustomAccessor.Outcome {
    guard let root = object as? Root else { return .unavailable }
    guard let given = SlotValue.unwrapped(value) else {
      guard let empty = (Value.self as? any NilTaking.Type)?.empty as? Value else { return .refusesNil }
      root[keyPath: self] = empty
      return .written
    }
    guard let made = KeyValueForm.inward(given, KeyPathSamples.unwrapped(Value.self)) as? Value else {
      return .wrongType(Value.self)
    }
    root[keyPath: self] = made
    return .written
  }
}

private protocol NilTaking {
  static var empty: Any { get }
}

extension Optional: NilTaking {
  fileprivate static var empty: Any { Wrapped?.none as Any }
}

// MARK: - Values

/// The forms that values have in key-value coding and in Swift properties.
private enum KeyValueForm {
  /// Numbers as `NSNumber`, decimals as `NSDecimalNumber`, a value with a raw value as that, sets as `NSSet`.
  static func outward(_ value: Any?) -> Any? {
    guard let value = SlotValue.unwrapped(value) else { return nil }
    switch value {
    case let object as NSManagedObject: return object
    case let decimal as Decimal: return NSDecimalNumber(decimal: decimal)
    case let number as any FixedWidthInteger: return (number as Any) as? NSNumber ?? value
    case let flag as Bool: return NSNumber(value: flag)
    case let number as Double: return NSNumber(value: number)
    case let number as Float: return NSNumber(value: number)
    case let set as Set<NSManagedObject>: return NSSet(array: Array(set))
    case is any RawRepresentable: return outward(KeyPathSamples.rawValue(of: value))
    default: return value
    }
  }

  /// A value for a property of this type: numbers in its width, raw values as cases, members in its kind of
  /// collection. A value that does not fit is returned unchanged.
  static func inward(_ value: Any, _ wanted: Any.Type) -> Any {
    switch wanted {
    case is Bool.Type:
      if case .integer(let number) = SlotValue.make(value, kind: .bool) { return number != 0 }
    case let type as any FixedWidthInteger.Type:
      if case .integer(let number) = SlotValue.make(value, kind: .int64) {
        return exactly(number, type) ?? value
      }
    case let type as any BinaryFloatingPoint.Type:
      if case .double(let number) = SlotValue.make(value, kind: .double) {
        return round(number, type) ?? value
      }
    case is Decimal.Type:
      if case .object(let box as Box<Decimal>) = SlotValue.make(value, kind: .decimal) { return box.value }
    case is NSDecimalNumber.Type:
      if case .object(let box as Box<Decimal>) = SlotValue.make(value, kind: .decimal) {
        return NSDecimalNumber(decimal: box.value)
      }
    case let type as any RawRepresentable.Type: return made(value, type) ?? value
    case let type as any FilledByMembers.Type: return members(of: value).flatMap(type.filled) ?? value
    case is NSSet.Type: return members(of: value).map { NSSet(array: $0) } ?? value
    case is NSOrderedSet.Type: return members(of: value).map { NSOrderedSet(array: $0) } ?? value
    default: break
    }
    return value
  }

  private static func exactly<Number: FixedWidthInteger>(_ value: Int64, _ type: Number.Type) -> Any? {
    Number(exactly: value)
  }

  /// Rounds to the nearest representable number; nil for a number that is out of range.
  private static func round<Number: BinaryFloatingPoint>(_ value: Double, _ type: Number.Type) -> Any? {
    let rounded = Number(value)
    return value.isFinite && !rounded.isFinite ? nil : rounded
  }

  private static func made<Type: RawRepresentable>(_ value: Any, _ type: Type.Type) -> Any? {
    if let value = value as? Type { return value }
    return (inward(value, Type.RawValue.self) as? Type.RawValue).flatMap(Type.init(rawValue:))
  }

  private static func members(of value: Any) -> [Any]? {
    switch value {
    case let set as NSOrderedSet: set.array
    case let set as NSSet: set.allObjects
    case let set as Set<AnyHashable>: set.map(\.base)
    case let array as [Any]: array
    default: nil
    }
  }
}

private protocol FilledByMembers {
  /// nil if a member is of another type.
  static func filled(_ members: [Any]) -> Any?
}

extension Array: FilledByMembers {
  fileprivate static func filled(_ members: [Any]) -> Any? {
    let typed: [Element] = members.compactMap { $0 as? Element }
    return typed.count == members.count ? typed : nil
  }
}

extension Set: FilledByMembers {
  fileprivate static func filled(_ members: [Any]) -> Any? {
    let typed: [Element] = members.compactMap { $0 as? Element }
    return typed.count == members.count ? Set(typed) : nil
  }
}
