import CoreDataStorage
import Foundation
import Synchronization

/// A managed property's name together with its slot, for accessors that cost a few nanoseconds.
///
/// Make one for each property, as a static constant of the class, and use it in a computed property:
///
/// ```swift
/// static let dueDate = ManagedKey("dueDate")
/// var dueDate: Date? {
///   get { managedValue(Self.dueDate) }
///   set { setManagedValue(newValue, Self.dueDate) }
/// }
/// ```
///
/// The slot is looked up by name once for each model and cached. If the model has no such property the
/// program stops with the nearest names; if the accessor's type does not fit the property, it stops with the
/// types that do, for all properties of the entity (Decisions/0043). Safe to use from any thread.
public final class ManagedKey: Sendable, ExpressibleByStringLiteral {
  public let name: String

  /// The last look-up: model serial (24 bits), first and last entity index it is valid for (14 bits each),
  /// slot (12 bits). 0 if there was none. A slot is valid for the declaring entity and its sub-entities,
  /// which have consecutive indexes.
  private let cache = Atomic<UInt64>(0)

  public init(_ name: String) { self.name = name }

  public convenience init(stringLiteral value: String) { self.init(value) }

  /// The slot, for an accessor of this shape, which is checked when the slot is looked up.
  @inline(__always)
  final func slot(of object: NSManagedObject, _ shape: @autoclosure () -> AccessorType) -> Int {
    // Not of `object.runtime`, which would be retained for the case that it must be looked up.
    let known: Int = knownSlot(object.home.facts)
    return known >= 0 ? known : lookUp(in: object.runtime, shape())
  }

  /// The slot of the last look-up, if that was for this entity or a related one; −1 if not.
  @inline(__always)
  final func knownSlot(_ facts: UnsafePointer<EntityFacts>) -> Int {
    let known: UInt64 = cache.load(ordering: .relaxed)
    let index: UInt64 = UInt64(truncatingIfNeeded: facts.pointee.index)
    guard known >> 40 == facts.pointee.modelSerial,
      index &- (known >> 26 & 0x3FFF) <= known >> 12 & 0x3FFF
    else { return -1 }
    return Int(truncatingIfNeeded: known & 0xFFF)
  }

  @inline(never)
  private func lookUp(in runtime: EntityRuntime, _ shape: AccessorType) -> Int {
    // Values written to a recording instance are never read.
    if runtime.recorder != nil { return 0 }
    guard let slot = runtime.layout.slotByName[name] else {
      fatalError(GraphError.unknownKey(name, runtime.layout).description)
    }
    runtime.requireFit(shape, slot)
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
