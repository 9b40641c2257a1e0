import Foundation

// Which classes override `validateValue(_:forKey:)` or `value(forKey:)`. Boxing every value of every saved object, only to hand it to a method
// that does what the model says, would cost plain classes a good part of their save, and a predicate over objects a good part of its evaluation;
// and there is no Objective-C runtime to ask whether a class overrides a method. But a class's metadata holds its methods: those of its parent
// at the parent's places, an overridden one with another address. The place of a method is the one where a class that overrides it, and
// nothing else, differs from its parent while a class that overrides nothing does not (Decisions/0021).
//
//     NSManagedObject   … | init ᴬ | isEqual | validateValue ᴬ | …
//     Plain             … | init ᴮ | isEqual | validateValue ᴬ | …
//     Overriding        … | init ᶜ | isEqual | validateValue ᶜ | …        ← the one place with base = plain ≠ overriding

struct MethodOverride {
  /// `validateValue(_:forKey:)`.
  static let ofValidation = MethodOverride(Validating.self)
  /// `value(forKey:)`.
  static let ofReading = MethodOverride(Reading.self)

  private final class Plain: NSManagedObject {}

  private final class Validating: NSManagedObject {
    override func validateValue(_ value: inout Any?, forKey key: String) throws {
      try super.validateValue(&value, forKey: key)
    }
  }

  private final class Reading: NSManagedObject {
    override func value(forKey key: String) -> Any? { super.value(forKey: key) }
  }

  private let place: Int?

  /// For the method that a class overrides, and nothing else.
  private init(_ type: NSManagedObject.Type) {
    let base: UnsafeBufferPointer<UInt> = Self.words(of: NSManagedObject.self)
    let plain: UnsafeBufferPointer<UInt> = Self.words(of: Plain.self)
    let overriding: UnsafeBufferPointer<UInt> = Self.words(of: type)
    let places: [Int] =
      plain.count >= base.count && overriding.count >= base.count
      ? base.indices.filter { base[$0] == plain[$0] && base[$0] != overriding[$0] } : []
    place = places.count == 1 ? places[0] : nil
  }

  /// Whether a class, or one between it and `NSManagedObject`, overrides the method. Where that can't be found out: yes.
  func isMade(by type: NSManagedObject.Type) -> Bool {
    if type == NSManagedObject.self { return false }
    guard let place else { return true }
    return Self.words(of: type)[place] != Self.words(of: NSManagedObject.self)[place]
  }

  /// A class's metadata from its address point on, as the ABI lays it out:
  ///
  /// | byte (with Objective-C) | |
  /// |---|---|
  /// | 0 | kind, superclass (cache, data), flags, instance's address point, size and alignment |
  /// | 32 (56) | size of the whole, 4 bytes |
  /// | 36 (60) | bytes before the address point, 4 bytes |
  /// | 40 (64) | description, ivar destroyer, then fields and methods, the parent's first |
  private static func words(of type: AnyClass) -> UnsafeBufferPointer<UInt> {
    let start: UnsafeRawPointer = unsafeBitCast(type, to: UnsafeRawPointer.self)
    #if canImport(ObjectiveC)
      let sizes: Int = 56
    #else
      let sizes: Int = 32
    #endif
    let size = Int(start.load(fromByteOffset: sizes, as: UInt32.self))
    let before = Int(start.load(fromByteOffset: sizes + 4, as: UInt32.self))
    return UnsafeBufferPointer(
      start: start.assumingMemoryBound(to: UInt.self), count: (size - before) / MemoryLayout<UInt>.stride)
  }
}
