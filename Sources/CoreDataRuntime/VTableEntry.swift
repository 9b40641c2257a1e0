// Which classes override a method. There is no Objective-C runtime for this. But a class's metadata holds its
// methods: those of its parent at the parent's places, an overridden one with another address. The place of a
// method is the one where a class that overrides only this method differs from its parent while a class that
// overrides nothing does not (Decisions/0021).
//
//     Base              … | init ᴬ | isEqual | validateValue ᴬ | …
//     Plain             … | init ᴮ | isEqual | validateValue ᴬ | …
//     Overriding        … | init ᶜ | isEqual | validateValue ᶜ | …        ← the one place with base = plain ≠ overriding

/// The place of one method in the metadata of a class and of those below it.
package struct VTableEntry: Sendable {
  private let base: AnyClass
  private let place: Int?

  /// - Parameters:
  ///   - base: the class that declares the method.
  ///   - plain: a subclass that overrides nothing.
  ///   - overriding: a subclass that overrides only this method.
  package init(
    in base: AnyClass, plain: AnyClass, overriding: AnyClass, uses: Bool = RuntimeLayout.isUsed
  ) {
    self.base = base
    guard uses else {
      place = nil
      return
    }
    let words: UnsafeBufferPointer<UInt> = Self.words(of: base)
    let same: UnsafeBufferPointer<UInt> = Self.words(of: plain)
    let other: UnsafeBufferPointer<UInt> = Self.words(of: overriding)
    let places: [Int] =
      same.count >= words.count && other.count >= words.count
      ? words.indices.filter { words[$0] == same[$0] && words[$0] != other[$0] } : []
    place = places.count == 1 ? places[0] : nil
  }

  /// Whether exactly one place was found.
  package var isKnown: Bool { place != nil }

  /// Whether a class, or one between it and the base, overrides the method. True if that can't be determined.
  package func isOverridden(by type: AnyClass) -> Bool {
    if type == base { return false }
    guard let place else { return true }
    return Self.words(of: type)[place] != Self.words(of: base)[place]
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
    // No class has such a size, so the value is not one.
    guard size > before, size - before < 1 << 20 else { return UnsafeBufferPointer(start: nil, count: 0) }
    return UnsafeBufferPointer(
      start: start.assumingMemoryBound(to: UInt.self), count: (size - before) / MemoryLayout<UInt>.stride)
  }
}
