/// The rows of one hierarchy: slabs, and a table from keys to the current version of each row.
///
/// A slab never changes after it is filled, so that readers need no lock. A changed row is written anew into
/// a newer slab and the old version becomes waste. Two rules limit waste and the number of slabs, whatever is
/// saved:
///
/// - a slab more than half of whose bytes are waste is rewritten, so waste never exceeds the live rows;
/// - a slab that is not clearly smaller than the one before it is merged with it (as digits carry in a binary
///   counter), so many small saves leave few slabs and each row is copied a logarithmic number of times.
///
/// This is a value: a reader's copy shares everything until the next save changes it.
struct InMemoryRowTable: Sendable {
  private struct SlabEntry: Sendable {
    var slab: RowSlab
    var liveRows: Int
    var liveBytes: Int
    var totalBytes: Int
  }

  private let schema: InMemorySchema
  private let root: EntityLayout
  /// key → entry number (high 32 bits) and position in its slab (low 32 bits).
  private var places = Int64HashMap()
  private var entries: [SlabEntry?] = []
  private var freeEntries: [Int] = []
  /// Numbers of the entries that may still be merged, oldest first.
  private var growing: [Int] = []

  init(schema: InMemorySchema, root: EntityLayout) {
    self.schema = schema
    self.root = root
  }

  var count: Int { places.count }

  func row(_ key: Int64) -> RowRef? { places.find(key).map(row(at:)) }

  private func row(at place: UInt64) -> RowRef {
    guard let entry = entries[Int(place >> 32)] else {
      preconditionFailure("The table of rows names a slab that was given back.")
    }
    return entry.slab.row(Int(UInt32(truncatingIfNeeded: place)))
  }

  /// Every row once, in no particular order.
  func forEach(_ body: (RowRef) throws -> Void) rethrows {
    for (number, entry) in entries.enumerated() {
      guard let entry else { continue }
      let isWhole: Bool = entry.liveRows == entry.slab.count
      for position in 0..<entry.slab.count {
        let row: RowRef = entry.slab.row(position)
        if isWhole || places.find(row.key) == UInt64(number) << 32 | UInt64(position) { try body(row) }
      }
    }
  }

  /// Numbers of slabs and of rows, waste included, for tests.
  var storage: (slabs: Int, rows: Int) {
    (entries.count { $0 != nil }, entries.reduce(0) { $0 + ($1?.slab.count ?? 0) })
  }

  // MARK: Changing

  /// Adds a filled slab; its rows are new or replace the rows of the same keys.
  mutating func adopt(_ slab: RowSlab) {
    guard slab.count > 0 else { return }
    let number: Int = put(slab)
    mergeNewest(number)
  }

  /// Copies rows into a slab of the table's own and adds it.
  mutating func adopt(copiesOf rows: [RowRef]) {
    var slab: RowSlab = newSlab(rows: min(rows.count, 4096))
    for row in rows {
      if slab.isFull {
        adopt(slab)
        slab = newSlab(rows: 4096)
      }
      _ = slab.appendCopy(of: row, layout: schema.layout.entities[row.entity])
    }
    adopt(slab)
  }

  mutating func remove(_ key: Int64) {
    guard let place = places.remove(key) else { return }
    let number = Int(place >> 32)
    waste(place)
    reclaim(number)
  }

  private func newSlab(rows: Int) -> RowSlab { RowSlab(layout: root, family: true, rowCapacity: rows) }

  /// Adds an entry for a slab and sets the table to its rows.
  private mutating func put(_ slab: RowSlab) -> Int {
    let number: Int
    if let free = freeEntries.popLast() {
      number = free
    } else {
      number = entries.count
      entries.append(nil)
    }
    var bytes: Int = 0
    var touched: Set<Int> = []
    places.reserve(more: slab.count)
    entries[number] = SlabEntry(slab: slab, liveRows: slab.count, liveBytes: 0, totalBytes: 0)
    for position in 0..<slab.count {
      let row: RowRef = slab.row(position)
      bytes += schema.sizeInBytes(row)
      if let old = places.insert(row.key, UInt64(number) << 32 | UInt64(position)) {
        waste(old)
        touched.insert(Int(old >> 32))
      }
    }
    entries[number]?.liveBytes += bytes
    entries[number]?.totalBytes = bytes
    for other in touched where other != number { reclaim(other) }
    return number
  }

  private mutating func waste(_ place: UInt64) {
    let size: Int = schema.sizeInBytes(row(at: place))
    entries[Int(place >> 32)]?.liveRows -= 1
    entries[Int(place >> 32)]?.liveBytes -= size
  }

  /// Frees an entry without live rows, rewrites one that is mostly waste.
  private mutating func reclaim(_ number: Int) {
    guard let entry = entries[number] else { return }
    if entry.liveRows == 0 {
      freeEntry(number)
    } else if entry.liveBytes * 2 < entry.totalBytes {
      rewrite([number])
    }
  }

  private mutating func freeEntry(_ number: Int) {
    entries[number] = nil
    freeEntries.append(number)
    growing.removeAll { $0 == number }
  }

  /// Copies the live rows of some entries into one new slab and frees these entries.
  private mutating func rewrite(_ numbers: [Int]) {
    let live: Int = numbers.reduce(0) { $0 + (entries[$1]?.liveRows ?? 0) }
    let slab: RowSlab = newSlab(rows: live)
    for number in numbers {
      guard let entry = entries[number] else { continue }
      for position in 0..<entry.slab.count {
        let row: RowRef = entry.slab.row(position)
        guard places.find(row.key) == UInt64(number) << 32 | UInt64(position) else { continue }
        _ = slab.appendCopy(of: row, layout: schema.layout.entities[row.entity])
      }
      freeEntry(number)
    }
    // The old entries are freed already, so setting the table to the copies adds no waste.
    let number: Int
    if let free = freeEntries.popLast() {
      number = free
    } else {
      number = entries.count
      entries.append(nil)
    }
    var bytes: Int = 0
    for position in 0..<slab.count {
      let row: RowRef = slab.row(position)
      bytes += schema.sizeInBytes(row)
      places.insert(row.key, UInt64(number) << 32 | UInt64(position))
    }
    entries[number] = SlabEntry(slab: slab, liveRows: slab.count, liveBytes: bytes, totalBytes: bytes)
    mergeNewest(number)
  }

  /// Merges the newest entries while the last one is not clearly smaller than the one before it.
  private mutating func mergeNewest(_ number: Int) {
    guard let entry = entries[number], entry.totalBytes < RowSlab.targetSizeInBytes else { return }
    growing.append(number)
    guard growing.count >= 2, let before = entries[growing[growing.count - 2]] else { return }
    if before.totalBytes <= 2 * entry.totalBytes { rewrite([growing[growing.count - 2], number]) }
  }
}
