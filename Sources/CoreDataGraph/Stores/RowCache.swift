import CSwiftRuntime
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The rows of one store that objects of any context hold, by key: faults are filled from them instead of the
/// store (Decisions/0025).
///
/// It holds no rows itself. It lists slabs that were read or saved, and removes a slab when the last object
/// with one of its rows is deallocated. A fetch lists its slabs without examining a row: the rows of a slab
/// are indexed when a row of the hierarchy is first looked up, or replaced.
///
///     fetch, save ─▶ entries[place]  slab (not retained), rows, time
///                        │ waiting, in the order of arrival
///                        ▼ first look-up
///                    table: key → place and position of the newest row
///
/// A row that one context saves while another has an object of its key is retained by that one's
/// `IdentityMap`.
final class RowCache: SlabIndex, @unchecked Sendable {
  // Sendable: `hierarchies` is accessed under `lock` only; the rest is immutable. No other lock is taken
  // under it, because a slab may be deallocated while any other lock is held.

  private let lock = Guarded(())
  /// By the index of the root entity.
  @exclusivity(unchecked) private var hierarchies: [KeptRows]
  /// By the index of the root entity: whether the store computes values of such rows when they or others are
  /// saved, so that a row that was read or saved does not contain the present ones.
  private let isComputed: [Bool]

  /// A listed slab. Its memory is accessed only while it is listed: a slab removes its entry before it is
  /// deallocated.
  private struct Entry {
    /// Not retained; nil after the slab was deallocated.
    var slab: UnsafeMutableRawPointer?
    let rows: UnsafeMutableRawPointer
    let count: Int
    let stride: Int
    /// The time before the rows were read.
    let time: ContinuousClock.Instant
    var isIndexed = false
  }

  private struct KeptRows {
    var entries: [Entry] = []
    /// Places in `entries` that can be reused.
    var free: [Int] = []
    /// Places of slabs whose rows are not in `table` yet, oldest first; those of deallocated slabs stay until
    /// they are swept.
    var waiting: [Int] = []
    var goneWaiting: Int = 0
    /// The keys of the waiting rows lie between these two, apart from those of slabs that are `unranged`. A
    /// walk over many objects looks each page's first key up, which is higher than those of all pages before:
    /// then nothing is indexed for it.
    var lowestWaiting: Int64 = .max
    var highestWaiting: Int64 = .min
    /// Places of waiting slabs whose keys have not been looked at; some may have been freed or used again
    /// since.
    var unranged: [Int] = []
    /// Key → place << 32 | position.
    var table = Int64HashMap()
    /// Rises when rows are changed or deleted: a read that began before may already be outdated.
    var changes: UInt64 = 0
  }

  init(layout: ModelLayout) {
    hierarchies = Array(repeating: KeptRows(), count: layout.entities.count)
    isComputed = layout.entities.map { root in
      layout.entities.contains { $0.rootIndex == root.index && $0.slots.contains(where: \.isDerived) }
    }
  }

  // MARK: Reading

  /// Runs a read of rows of one hierarchy and lists the result. Rows that were changed meanwhile are not
  /// listed.
  func listing(_ root: Int, _ read: () throws -> RowBatch) rethrows -> RowBatch {
    let time: ContinuousClock.Instant = .now
    let before: UInt64 = lock.withLock { _ in hierarchies[root].changes }
    let batch: RowBatch = try read()
    lock.withLock { _ in
      if hierarchies[root].changes == before { add(batch.slabs, root, time) }
    }
    return batch
  }

  /// The newest cached row for a key, if it was read at most `age` seconds ago; negative: at any time.
  func row(root: Int, key: Int64, age: TimeInterval) -> RowRef? {
    if isComputed[root] { return nil }
    if age < 0 { return row(root: root, key: key) }
    guard age > 0 else { return nil }
    // A duration has a limit; a greater age makes no difference.
    let oldest: ContinuousClock.Instant = .now - .seconds(min(age, 1e9))
    return row(root: root, key: key, since: oldest)
  }

  /// The newest cached row for a key, read at `oldest` or later.
  func row(root: Int, key: Int64, since oldest: ContinuousClock.Instant? = nil) -> RowRef? {
    lock.withLock { _ in
      if mayWait(key, root) { index(root) }
      guard let place = hierarchies[root].table.find(key) else { return nil }
      let entry: Entry = hierarchies[root].entries[Int(place >> 32)]
      if let oldest, entry.time < oldest { return nil }
      guard let slab = entry.slab, let alive = swift_tryRetain(slab) else { return nil }
      return RowRef(
        slab: Unmanaged<RowSlab>.fromOpaque(alive).takeRetainedValue(),
        base: entry.rows + Int(place & 0xFFFF_FFFF) * entry.stride)
    }
  }

  /// Whether there may be rows of some of these keys. Indexes nothing.
  func mayHave(root: Int, _ keys: [Int64]) -> Bool {
    lock.withLock { _ in
      if hierarchies[root].waiting.isEmpty, hierarchies[root].table.count == 0 { return false }
      return keys.contains { mayWait($0, root) || hierarchies[root].table.find($0) != nil }
    }
  }

  // MARK: Writing

  /// Called when rows were saved or found changed: `slabs` holds the new ones, `changed` the keys of those
  /// that existed before, or are now deleted.
  func replace(root: Int, changed: [Int64], by slabs: [RowSlab]) {
    let time: ContinuousClock.Instant = .now
    lock.withLock { _ in
      if !changed.isEmpty {
        hierarchies[root].changes &+= 1
        index(root)
        for key in changed { hierarchies[root].table.remove(key) }
      }
      add(slabs, root, time)
    }
  }

  /// Lists slabs, newest last.
  private func add(_ slabs: [RowSlab], _ root: Int, _ time: ContinuousClock.Instant) {
    for slab in slabs where slab.count > 0 && slab.listing == nil {
      let entry = Entry(
        slab: Unmanaged.passUnretained(slab).toOpaque(), rows: slab.rows, count: slab.count,
        stride: slab.stride, time: time)
      let place: Int
      if let free = hierarchies[root].free.popLast() {
        place = free
        hierarchies[root].entries[place] = entry
      } else {
        place = hierarchies[root].entries.count
        hierarchies[root].entries.append(entry)
      }
      hierarchies[root].waiting.append(place)
      hierarchies[root].unranged.append(place)
      slab.listing = (self, root, place)
    }
  }

  /// Whether one of the waiting rows may have a key.
  private func mayWait(_ key: Int64, _ root: Int) -> Bool {
    if hierarchies[root].waiting.isEmpty { return false }
    var (lowest, highest): (Int64, Int64) = (
      hierarchies[root].lowestWaiting, hierarchies[root].highestWaiting
    )
    for place in hierarchies[root].unranged where place < hierarchies[root].entries.count {
      let entry: Entry = hierarchies[root].entries[place]
      guard entry.slab != nil else { continue }
      for position in 0..<entry.count {
        let key: Int64 = (entry.rows + position * entry.stride).load(as: Int64.self)
        lowest = min(lowest, key)
        highest = max(highest, key)
      }
    }
    hierarchies[root].unranged.removeAll(keepingCapacity: true)
    hierarchies[root].lowestWaiting = lowest
    hierarchies[root].highestWaiting = highest
    return key >= lowest && key <= highest
  }

  /// The waiting slabs are others now: their keys are to be looked at again.
  private func forgetRange(_ root: Int) {
    hierarchies[root].lowestWaiting = .max
    hierarchies[root].highestWaiting = .min
    hierarchies[root].unranged = hierarchies[root].waiting
  }

  /// Adds the rows of the waiting slabs to the table.
  private func index(_ root: Int) {
    guard !hierarchies[root].waiting.isEmpty else { return }
    let waiting: [Int] = hierarchies[root].waiting
    hierarchies[root].waiting = []
    hierarchies[root].goneWaiting = 0
    forgetRange(root)
    let count: Int = waiting.reduce(0) { sum, place in
      sum + (hierarchies[root].entries[place].slab == nil ? 0 : hierarchies[root].entries[place].count)
    }
    // Swapped out and back, so that the loop works on a local table.
    var table: Int64HashMap = Int64HashMap()
    swap(&table, &hierarchies[root].table)
    defer { swap(&table, &hierarchies[root].table) }
    table.reserve(more: count)
    for place in waiting {
      let entry: Entry = hierarchies[root].entries[place]
      guard entry.slab != nil else {
        hierarchies[root].free.append(place)
        continue
      }
      hierarchies[root].entries[place].isIndexed = true
      for position in 0..<entry.count {
        let key: Int64 = (entry.rows + position * entry.stride).load(as: Int64.self)
        table.insert(key, UInt64(place) << 32 | UInt64(position))
      }
    }
  }

  // MARK: Deallocated slabs

  func slabWillDeallocate(root: Int, place: Int) {
    lock.withLock { _ in
      let entry: Entry = hierarchies[root].entries[place]
      hierarchies[root].entries[place].slab = nil
      guard entry.isIndexed else {
        guard hierarchies[root].waiting.last == place, hierarchies[root].entries.count == place + 1 else {
          hierarchies[root].goneWaiting += 1
          sweepWaiting(root)
          return
        }
        // The slab that was listed last: usual for a program that fetches single objects.
        hierarchies[root].waiting.removeLast()
        hierarchies[root].entries.removeLast()
        if hierarchies[root].unranged.last == place { hierarchies[root].unranged.removeLast() }
        if hierarchies[root].goneWaiting > 0 { sweepWaiting(root) } else { startOver(root) }
        return
      }
      for position in 0..<entry.count {
        let key: Int64 = (entry.rows + position * entry.stride).load(as: Int64.self)
        hierarchies[root].table.remove(key, ifPayload: UInt64(place) << 32 | UInt64(position))
      }
      hierarchies[root].free.append(place)
      startOver(root)
    }
  }

  /// Slabs may be deallocated without ever being indexed; their places are reused once most of them are.
  private func sweepWaiting(_ root: Int) {
    let (gone, all): (Int, Int) = (hierarchies[root].goneWaiting, hierarchies[root].waiting.count)
    guard gone == all || (gone > 16 && gone * 2 > all) else { return }
    hierarchies[root].goneWaiting = 0
    if gone == all {
      hierarchies[root].free.append(contentsOf: hierarchies[root].waiting)
      hierarchies[root].waiting.removeAll(keepingCapacity: all <= Self.keptCapacity)
    } else {
      let waiting: [Int] = hierarchies[root].waiting
      hierarchies[root].waiting = waiting.filter { hierarchies[root].entries[$0].slab != nil }
      hierarchies[root].free += waiting.filter { hierarchies[root].entries[$0].slab == nil }
    }
    forgetRange(root)
    startOver(root)
  }

  /// Frees memory when nothing is listed any more.
  private func startOver(_ root: Int) {
    let count: Int = hierarchies[root].entries.count
    guard hierarchies[root].free.count == count else { return }
    let keepsCapacity: Bool = hierarchies[root].entries.capacity <= Self.keptCapacity
    if count == 0, keepsCapacity { return }
    hierarchies[root].entries.removeAll(keepingCapacity: keepsCapacity)
    hierarchies[root].free.removeAll(keepingCapacity: keepsCapacity)
    hierarchies[root].waiting.removeAll(keepingCapacity: keepsCapacity)
    forgetRange(root)
    hierarchies[root].table = Int64HashMap()
  }

  /// Memory for so few entries is kept: a program that fetches single objects lists and removes one slab each
  /// time.
  private static let keptCapacity: Int = 128

  // MARK: For tests

  /// The numbers of listed slabs and indexed rows, in all hierarchies.
  var sizes: (slabs: Int, rows: Int) {
    lock.withLock { _ in
      hierarchies.reduce(into: (slabs: 0, rows: 0)) { sum, hierarchy in
        sum.slabs += hierarchy.entries.count { $0.slab != nil }
        sum.rows += hierarchy.table.count
      }
    }
  }
}
