/// The bytes of a row. No other code depends on them.
///
///     0    8   primary key
///     8    4   entity index            12   4   version (Z_OPT)
///     16   8n  presence: word w is bit w mod 64 of group w / 64; 1 = there is a value
///     h    8m  the words; h = `headerSize`, one for a hierarchy, so that a parent's words are its children's
///
/// A word holds a number, a to-one's key (the next word holds the index of the target's entity), or the
/// *place* of bytes in the slab's tail:
///
///     bits 0–31   offset from the tail's start      bits 32–63   length
///
/// With one group, `title` (word 0) = "Milk" at offset 9 of the tail and `count` (word 1) = 3, a row of key 7
/// is
///
///     07 00 00 00 00 00 00 00 │ 02 00 00 00 │ 01 00 00 00 │ 03 00 00 00 00 00 00 00 │
///     09 00 00 00 04 00 00 00 │ 03 00 00 00 00 00 00 00
///
/// Numbers are in the machine's byte order: rows never leave the process.
@frozen
public enum RowLayout {
  /// The offset of the presence bits.
  @inlinable
  public static var presence: Int { 16 }

  /// The size of the header in a hierarchy whose widest entity has so many words.
  @inlinable
  public static func headerSize(words: Int) -> Int { presence + 8 * max(1, (words + 63) / 64) }

  @inlinable
  public static func rowSize(headerSize: Int, words: Int) -> Int { headerSize + 8 * words }

  // MARK: The row's own columns

  @inlinable
  public static func key(_ row: UnsafeMutableRawPointer) -> Int64 { row.load(as: Int64.self) }

  @inlinable
  public static func setKey(_ row: UnsafeMutableRawPointer, to key: Int64) {
    row.storeBytes(of: key, as: Int64.self)
  }

  @inlinable
  public static func entity(_ row: UnsafeMutableRawPointer) -> Int {
    Int(row.load(fromByteOffset: 8, as: Int32.self))
  }

  @inlinable
  public static func version(_ row: UnsafeMutableRawPointer) -> Int32 {
    row.load(fromByteOffset: 12, as: Int32.self)
  }

  /// Initializes a row of this size: all values nil.
  @inlinable
  public static func start(
    _ row: UnsafeMutableRawPointer, size: Int, key: Int64, entity: Int, version: Int32
  ) {
    row.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    setKey(row, to: key)
    row.storeBytes(of: Int32(truncatingIfNeeded: entity), toByteOffset: 8, as: Int32.self)
    row.storeBytes(of: version, toByteOffset: 12, as: Int32.self)
  }

  // MARK: Presence

  @inlinable
  public static func group(_ word: Int) -> Int { word >> 6 }

  @inlinable
  public static func bit(_ word: Int) -> UInt64 { 1 << UInt64(word & 63) }

  @inlinable
  public static func presenceOfGroup(_ group: Int, _ row: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer
  {
    row + presence + group << 3
  }

  @inlinable
  public static func hasValue(_ word: Int, _ row: UnsafeMutableRawPointer) -> Bool {
    presenceOfGroup(group(word), row).load(as: UInt64.self) >> UInt64(word & 63) & 1 == 1
  }

  @inlinable
  public static func setPresent(_ word: Int, _ row: UnsafeMutableRawPointer) {
    let bits: UnsafeMutableRawPointer = presenceOfGroup(group(word), row)
    bits.storeBytes(of: bits.load(as: UInt64.self) | bit(word), as: UInt64.self)
  }

  @inlinable
  public static func setAbsent(_ word: Int, _ row: UnsafeMutableRawPointer) {
    let bits: UnsafeMutableRawPointer = presenceOfGroup(group(word), row)
    bits.storeBytes(of: bits.load(as: UInt64.self) & ~bit(word), as: UInt64.self)
  }

  // MARK: Words

  /// The address of a word.
  @inlinable
  public static func address(
    _ word: Int, _ row: UnsafeMutableRawPointer, headerSize: Int
  ) -> UnsafeMutableRawPointer { row + headerSize + word << 3 }

  /// A word; nil if the row has no value.
  @inlinable
  @inline(__always)
  public static func value(_ word: Int, _ row: UnsafeMutableRawPointer, headerSize: Int) -> UInt64? {
    hasValue(word, row) ? address(word, row, headerSize: headerSize).load(as: UInt64.self) : nil
  }

  /// The index of the entity of a to-one's target, whose key lies at `address`.
  @inlinable
  public static func targetEntity(_ address: UnsafeMutableRawPointer) -> Int {
    Int(address.load(fromByteOffset: 8, as: Int64.self))
  }

  @inlinable
  public static func setTargetEntity(_ address: UnsafeMutableRawPointer, to entity: Int64) {
    address.storeBytes(of: entity, toByteOffset: 8, as: Int64.self)
  }

  // MARK: Places in the tail

  @inlinable
  public static func place(offset: Int, count: Int) -> UInt64 {
    UInt64(UInt32(offset)) | UInt64(UInt32(count)) << 32
  }

  @inlinable
  public static func byteCount(_ place: UInt64) -> Int { Int(place >> 32) }

  /// The bytes at a place.
  @inlinable
  public static func bytes(_ place: UInt64, tail: UnsafeMutableRawPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: tail + Int(UInt32(truncatingIfNeeded: place)), count: byteCount(place))
  }
}

/// Fills the words of a fresh row in ascending order, with one store of presence for each group of 64.
@frozen
public struct RowFiller {
  @usableFromInline let row: UnsafeMutableRawPointer
  @usableFromInline let words: UnsafeMutableRawPointer
  @usableFromInline var group: Int = 0
  @usableFromInline var bits: UInt64 = 0

  @inlinable
  public init(_ row: UnsafeMutableRawPointer, headerSize: Int) {
    self.row = row
    words = row + headerSize
  }

  /// Advances to a word, higher than those before it, and returns its address for its value.
  @inlinable
  public mutating func address(_ word: Int) -> UnsafeMutableRawPointer {
    if RowLayout.group(word) != group {
      finish()
      group = RowLayout.group(word)
      bits = 0
    }
    return words + word << 3
  }

  /// Records that the word has a value. Only for the word whose address was returned last.
  @inlinable
  public mutating func notePresence(of word: Int) { bits |= RowLayout.bit(word) }

  /// Stores the remaining presence bits. Must be called after the last word.
  @inlinable
  public func finish() {
    RowLayout.presenceOfGroup(group, row).storeBytes(of: bits, as: UInt64.self)
  }
}
