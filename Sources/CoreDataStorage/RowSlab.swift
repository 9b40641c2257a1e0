import Foundation

/// Packed rows: the form in which data moves between stores and objects.
///
/// A slab holds up to a few hundred KiB of rows of one entity family. Rows have a fixed size; a value that
/// does not fit a word (text, bytes, decimals) is in the slab's tail and the word refers to it.
///
///     rows   ┌ row 0 ────────────────┐┌ row 1 ───── …
///            │pk│ent,ver│bits│w0│w1│…││
///                              │
///     tail   …Buy milk2026…    └── where in the tail, and how many bytes
///
/// A presence bit of 0 means nil; a fresh row is all nil. `RowLayout` defines the bytes.
///
/// One thread fills a slab; after it is passed on it no longer changes. The slabs of a save's plan are passed
/// on when the save is done: the engine puts the keys of new rows into them.
public final class RowSlab: @unchecked Sendable {
  // Sendable: single-threaded while it is filled, immutable after it is passed on.

  /// The variable state while a slab is filled.
  @usableFromInline
  struct Contents {
    @usableFromInline var rows: UnsafeMutableRawPointer
    @usableFromInline var tail: UnsafeMutableRawPointer
    @usableFromInline var rowCapacity: Int
    @usableFromInline var tailCapacity: Int
    @usableFromInline var count: Int = 0
    @usableFromInline var tailCount: Int = 0
    /// From so many rows on, or bytes in the tail, a batch starts the next slab.
    @usableFromInline let mostRows: Int
    @usableFromInline let mostTail: Int
    /// The memory of rows and tail, if it is one block; the tail leaves it when it outgrows it.
    let block: UnsafeMutableRawPointer?
    var tailIsInBlock: Bool
  }

  // One thread fills a slab, so accesses never overlap; checking that at run time would cost time for each
  // value in the row loop.
  @exclusivity(unchecked) @usableFromInline var contents: Contents
  /// Bytes from one row to the next.
  public let stride: Int
  public let headerSize: Int

  /// The number of rows.
  @inlinable
  public var count: Int { contents.count }
  /// Bytes in the tail.
  @inlinable
  public var tailCount: Int { contents.tailCount }
  /// The start of the rows; the address is final once the slab was passed on.
  @inlinable
  public var rows: UnsafeMutableRawPointer { contents.rows }
  /// The start of the tail; the address is final once the slab was passed on.
  @inlinable
  public var tail: UnsafeMutableRawPointer { contents.tail }

  /// The size at which a batch starts the next slab.
  public static let targetSizeInBytes: Int = 256 * 1024

  /// An empty slab for rows of `layout`, and of its sub-entities if `family`.
  ///
  /// - Parameters:
  ///   - rowCapacity: How many rows there is memory for at first.
  ///   - tailCapacity: How many bytes of the tail there is memory for at first.
  public init(layout: EntityLayout, family: Bool, rowCapacity: Int, tailCapacity: Int = 64) {
    stride = family ? layout.familyRowSize : layout.rowSize
    headerSize = layout.headerSize
    let rowCapacity: Int = max(1, rowCapacity)
    contents = Contents(
      rows: Self.allocate(rowCapacity * stride), tail: Self.allocate(tailCapacity), rowCapacity: rowCapacity,
      tailCapacity: tailCapacity, mostRows: .max, mostTail: .max, block: nil, tailIsInBlock: false)
  }

  /// An empty slab in one block of memory, for a batch of which many rows are still to come.
  ///
  /// - Parameter tailPerRow: How many bytes of the tail a row has, as far as can be foreseen. It decides how
  ///   the block is divided, so that both parts are full at the same time.
  public init(layout: EntityLayout, family: Bool, tailPerRow: Int) {
    stride = family ? layout.familyRowSize : layout.rowSize
    headerSize = layout.headerSize
    let tailPerRow: Int = max(0, tailPerRow)
    // A little more for the tail than foreseen: with too few rows some of the block is left, with too many
    // the tail must be copied to a larger place.
    let rowCapacity: Int = SlabBlocks.size / (stride + tailPerRow + tailPerRow / 16)
    guard rowCapacity >= 4 else {
      // Long values, for which a block is too small.
      contents = Contents(
        rows: Self.allocate(4 * stride), tail: Self.allocate(tailPerRow + 64), rowCapacity: 4,
        tailCapacity: tailPerRow + 64, mostRows: .max, mostTail: .max, block: nil, tailIsInBlock: false)
      return
    }
    let block: UnsafeMutableRawPointer = SlabBlocks.take()
    let tailCapacity: Int = SlabBlocks.size - rowCapacity * stride
    contents = Contents(
      rows: block, tail: block + rowCapacity * stride, rowCapacity: rowCapacity, tailCapacity: tailCapacity,
      mostRows: rowCapacity, mostTail: tailPerRow == 0 ? .max : max(1, tailCapacity - tailPerRow),
      block: block,
      tailIsInBlock: true)
  }

  /// Memory for values of 8 bytes, to be freed by `free`. `UnsafeMutableRawPointer.allocate` would state the
  /// alignment, which makes small blocks, such as those of a fetch of one object, several times as expensive.
  private static func allocate(_ size: Int) -> UnsafeMutableRawPointer {
    guard let memory = malloc(max(1, size)) else {
      fatalError("There is no memory for \(size) bytes of rows.")
    }
    return memory
  }

  /// The index that lists the slab's rows, and the slab's place there. Set before the slab is passed on.
  @exclusivity(unchecked) package var listing: (index: any SlabIndex, root: Int, place: Int)?

  deinit {
    if let listing { listing.index.slabWillDeallocate(root: listing.root, place: listing.place) }
    if !contents.tailIsInBlock { free(tail) }
    if let block = contents.block { SlabBlocks.give(block) } else { free(rows) }
  }

  /// Whether a batch should continue in a new slab.
  @inlinable
  public var isFull: Bool {
    count >= contents.mostRows || tailCount >= contents.mostTail
      || count * stride + tailCount >= Self.targetSizeInBytes
  }

  /// Adds a row, all values nil. The pointer is valid until the next `appendRow`.
  @inlinable
  public func appendRow(key: Int64, entity: Int, version: Int32) -> UnsafeMutableRawPointer {
    if count == contents.rowCapacity { growRows() }
    let row: UnsafeMutableRawPointer = rows + count * stride
    RowLayout.start(row, size: stride, key: key, entity: entity, version: version)
    contents.count += 1
    return row
  }

  /// Removes the row added last (its tail bytes stay until the slab is freed).
  public func removeLastRow() { contents.count -= 1 }

  @usableFromInline
  func growRows() {
    // A slab in a block is full before, and gets no further row.
    precondition(contents.block == nil, "A slab that is full got a further row.")
    let wanted: Int = max(contents.rowCapacity * 2, 8)
    let grown: UnsafeMutableRawPointer = Self.allocate(wanted * stride)
    grown.copyMemory(from: rows, byteCount: count * stride)
    free(rows)
    contents.rows = grown
    contents.rowCapacity = wanted
  }

  /// Copies bytes into the tail and returns the word that refers to them.
  ///
  /// A slab's tail is limited to 4 GiB by the word's format; a batch starts a new slab long before.
  @inlinable
  public func appendTail(_ bytes: UnsafeRawPointer?, count length: Int) -> UInt64 {
    if tailCount + length > contents.tailCapacity { growTail(by: length) }
    if length > 0, let bytes { (tail + tailCount).copyMemory(from: bytes, byteCount: length) }
    let word: UInt64 = RowLayout.place(offset: tailCount, count: length)
    contents.tailCount += length
    return word
  }

  @usableFromInline
  func growTail(by length: Int) {
    let wanted: Int = max(contents.tailCapacity * 2, tailCount + length)
    let grown: UnsafeMutableRawPointer = Self.allocate(wanted)
    grown.copyMemory(from: tail, byteCount: tailCount)
    if contents.tailIsInBlock { contents.tailIsInBlock = false } else { free(tail) }
    contents.tail = grown
    contents.tailCapacity = wanted
  }

  /// The row at a position. The reference keeps the slab alive.
  @inlinable
  public func row(_ position: Int) -> RowRef { RowRef(slab: self, base: rows + position * stride) }

  // MARK: Writing words (by the filler only)

  /// Sets a word and its presence bit.
  @inlinable
  public func set(_ row: UnsafeMutableRawPointer, word: Int, to value: UInt64) {
    RowLayout.setPresent(word, row)
    RowLayout.address(word, row, headerSize: headerSize).storeBytes(of: value, as: UInt64.self)
  }

  /// Makes a word's value nil.
  @inlinable
  public func clear(_ row: UnsafeMutableRawPointer, word: Int) { RowLayout.setAbsent(word, row) }

  /// Changes a row's key.
  @inlinable
  public func setKey(_ row: UnsafeMutableRawPointer, to key: Int64) { RowLayout.setKey(row, to: key) }

  /// Sets the entity of a to-one's target whose key is already set.
  @inlinable
  public func set(_ row: UnsafeMutableRawPointer, word: Int, toTargetOfEntity entity: Int) {
    RowLayout.setTargetEntity(
      RowLayout.address(word, row, headerSize: headerSize), to: Int64(entity))
  }

  @inlinable
  public func set(_ row: UnsafeMutableRawPointer, word: Int, toInteger value: Int64) {
    set(row, word: word, to: UInt64(bitPattern: value))
  }

  @inlinable
  public func set(_ row: UnsafeMutableRawPointer, word: Int, toDouble value: Double) {
    set(row, word: word, to: value.bitPattern)
  }

  /// Sets a to-one value: key and entity index of the target.
  @inlinable
  public func set(_ row: UnsafeMutableRawPointer, word: Int, toTarget target: RowID) {
    set(row, word: word, toInteger: target.key)
    set(row, word: word + 1, toInteger: Int64(target.entity))
  }

  /// Copies a row of another slab (same entity) to the end of this one, without the values of some slots.
  public func appendCopy(of source: RowRef, layout: EntityLayout, without slots: [Int] = [])
    -> UnsafeMutableRawPointer
  {
    let row: UnsafeMutableRawPointer = appendRow(
      key: source.key, entity: source.entity, version: source.version)
    for (number, slot) in layout.slots.enumerated() {
      guard case .stored(let kind, let word) = slot.role, !slots.contains(number) else { continue }
      copy(word, kind, from: source, to: row)
    }
    return row
  }

  /// Copies a row of another slab under another key and version. `target` gives the targets of to-one
  /// relationships, with the entity that each leads to; nil: the copy has none.
  package func appendCopy(
    of source: RowRef, layout: EntityLayout, key: Int64, version: Int32,
    target: (_ former: RowID, _ destination: Int) -> RowID?
  ) -> UnsafeMutableRawPointer {
    let row: UnsafeMutableRawPointer = appendRow(key: key, entity: source.entity, version: version)
    for slot in layout.slots {
      guard case .stored(let kind, let word) = slot.role else { continue }
      guard kind == .toOne else {
        copy(word, kind, from: source, to: row)
        continue
      }
      if source.hasValue(word), let destination = slot.destination,
        let target = target(source.target(word), destination)
      {
        set(row, word: word, toTarget: target)
      }
    }
    return row
  }

  /// Copies a value of another row of the same entity into a row; does nothing if that row has no value.
  public func copy(_ word: Int, _ kind: ColumnKind, from old: RowRef?, to row: UnsafeMutableRawPointer) {
    guard let old, old.hasValue(word) else { return }
    if kind.isInTail {
      let bytes: UnsafeRawBufferPointer = old.bytes(word)
      set(row, word: word, to: appendTail(bytes.baseAddress, count: bytes.count))
    } else if kind == .toOne {
      set(row, word: word, toTarget: old.target(word))
    } else {
      set(row, word: word, to: old.word(word))
    }
  }
}

/// Finds rows in slabs without keeping the slabs alive.
package protocol SlabIndex: AnyObject, Sendable {
  /// Called when a slab is deallocated, on any thread; its rows stay valid until this returns.
  func slabWillDeallocate(root: Int, place: Int)
}

/// The identity of a row within one store: entity index and primary key.
@frozen
public struct RowID: Hashable, Sendable {
  public var entity: Int32
  public var key: Int64

  @inlinable
  public init(entity: Int, key: Int64) {
    self.entity = Int32(truncatingIfNeeded: entity)
    self.key = key
  }
}

/// One row of a slab.
@frozen
public struct RowRef: @unchecked Sendable {
  // Sendable: rows are immutable once their slab is passed on.
  public let slab: RowSlab
  public let base: UnsafeMutableRawPointer

  @inlinable
  public init(slab: RowSlab, base: UnsafeMutableRawPointer) {
    self.slab = slab
    self.base = base
  }

  @inlinable
  public var key: Int64 { RowLayout.key(base) }
  @inlinable
  public var entity: Int { RowLayout.entity(base) }
  @inlinable
  public var version: Int32 { RowLayout.version(base) }
  @inlinable
  public var id: RowID { RowID(entity: entity, key: key) }

  @inlinable
  public func hasValue(_ word: Int) -> Bool { RowLayout.hasValue(word, base) }

  @inlinable
  public func word(_ word: Int) -> UInt64 {
    RowLayout.address(word, base, headerSize: slab.headerSize).load(as: UInt64.self)
  }

  @inlinable
  public func integer(_ word: Int) -> Int64 { Int64(bitPattern: self.word(word)) }

  @inlinable
  public func double(_ word: Int) -> Double { Double(bitPattern: self.word(word)) }

  /// The bytes of a value in the tail; valid as long as the slab lives.
  @inlinable
  public func bytes(_ word: Int) -> UnsafeRawBufferPointer {
    RowLayout.bytes(self.word(word), tail: slab.tail)
  }

  /// How many bytes a value in the tail has.
  @inlinable
  public func byteCount(_ word: Int) -> Int { RowLayout.byteCount(self.word(word)) }

  /// Text; broken UTF-8 is repaired with replacement characters.
  @inlinable
  public func string(_ word: Int) -> String { String(decoding: bytes(word), as: UTF8.self) }

  @inlinable
  public func data(_ word: Int) -> Data { Data(bytes(word)) }

  /// The target of a to-one relationship.
  @inlinable
  public func target(_ word: Int) -> RowID { RowID(entity: Int(integer(word + 1)), key: integer(word)) }
}

/// The result of a fetch: rows in order, in one or more slabs.
public struct RowBatch: Sendable {
  public var slabs: [RowSlab] = []

  public init(slabs: [RowSlab] = []) { self.slabs = slabs }

  public var count: Int { slabs.reduce(0) { $0 + $1.count } }
  public var isEmpty: Bool { slabs.allSatisfy { $0.count == 0 } }

  @inlinable
  public func forEach(_ body: (RowRef) throws -> Void) rethrows {
    for slab in slabs {
      for position in 0..<slab.count { try body(slab.row(position)) }
    }
  }

  /// Removes the rows at the end whose keys are higher than a key; the rows must come by key, and no one else
  /// may have the slabs yet.
  package mutating func removeRows(after key: Int64) {
    while let slab = slabs.last {
      while slab.count > 0, RowLayout.key(slab.rows + (slab.count - 1) * slab.stride) > key {
        slab.removeLastRow()
      }
      if slab.count > 0 { return }
      slabs.removeLast()
    }
  }

  public var first: RowRef? { slabs.first { $0.count > 0 }?.row(0) }

  package var ids: [RowID] {
    var result: [RowID] = []
    forEach { result.append($0.id) }
    return result
  }
}
