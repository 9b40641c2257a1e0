import Foundation

// Which classes have something to say about single values. Boxing every value of every saved object, only to hand it to a method that
// does what the model says, would cost plain classes a good part of their save, and there is no Objective-C runtime to ask whether
// a class overrides a method. But a class's metadata holds its methods: those of its parent at the parent's places, an overridden
// one with another address. The place of `validateValue(_:forKey:)` is the one where a class that overrides it, and nothing
// else, differs from its parent while a class that overrides nothing does not (Decisions/0021).
//
//     NSManagedObject   … | init ᴬ | isEqual | validateValue ᴬ | …
//     Plain             … | init ᴮ | isEqual | validateValue ᴬ | …
//     Overriding        … | init ᶜ | isEqual | validateValue ᶜ | …        ← the one place with base = plain ≠ overriding

enum ValidationOverride {
  private final class PlainForValidation: NSManagedObject {}

  private final class OverridingForValidation: NSManagedObject {
    override func validateValue(_ value: inout Any?, forKey key: String) throws {
      try super.validateValue(&value, forKey: key)
    }
  }

  /// Whether a class, or one between it and `NSManagedObject`, overrides `validateValue(_:forKey:)`. Where that can't be found out: yes.
  static func isMade(by type: NSManagedObject.Type) -> Bool {
    if type == NSManagedObject.self { return false }
    guard let place else { return true }
    return words(of: type)[place] != words(of: NSManagedObject.self)[place]
  }

  private static let place: Int? = {
    let base: UnsafeBufferPointer<UInt> = words(of: NSManagedObject.self)
    let plain: UnsafeBufferPointer<UInt> = words(of: PlainForValidation.self)
    let overriding: UnsafeBufferPointer<UInt> = words(of: OverridingForValidation.self)
    guard plain.count >= base.count, overriding.count >= base.count else { return nil }
    let places: [Int] = base.indices.filter { base[$0] == plain[$0] && base[$0] != overriding[$0] }
    return places.count == 1 ? places[0] : nil
  }()

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
