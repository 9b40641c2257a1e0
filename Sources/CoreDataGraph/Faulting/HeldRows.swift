import CoreDataStorage
import Foundation

/// Rows that were read ahead, for faults that have not been fired yet.
///
/// The rows are in the store's row cache as long as they are held here, and faults are filled from there, so
/// that they get what other contexts have saved since. Where there is no row cache (stores in memory,
/// contexts that are pinned to an earlier state) they are filled from here, as long as the store has not
/// changed.
struct HeldRows {
  private let store: NSPersistentStore
  private let slabs: [RowSlab]
  /// Key → place of the slab << 32 | position.
  private var places = Int64HashMap()
  private let changes: Int
  private let time: ContinuousClock.Instant

  /// `changes`: the store's number of changes, and `time` the time, before the rows were read.
  init(_ rows: RowBatch, of store: NSPersistentStore, changes: Int, time: ContinuousClock.Instant) {
    self.store = store
    slabs = rows.slabs
    self.changes = changes
    self.time = time
    places.reserve(more: rows.count)
    for (place, slab) in slabs.enumerated() {
      for position in 0..<slab.count {
        let key: Int64 = RowLayout.key(slab.rows + position * slab.stride)
        places.insert(key, UInt64(place) << 32 | UInt64(position))
      }
    }
  }

  /// The row of an object, if it may still be used: `age` as in `NSManagedObjectContext.stalenessInterval`.
  func row(of object: NSManagedObject, in store: NSPersistentStore, age: TimeInterval) -> RowRef? {
    // Objects of several stores and hierarchies have the same keys.
    guard store === self.store, let place = places.find(object.key), store.changes == changes,
      Self.isYoung(time, age)
    else { return nil }
    let row: RowRef = slabs[Int(place >> 32)].row(Int(place & 0xFFFF_FFFF))
    let root: Int = store.runtime.entities[row.entity].layout.rootIndex
    return root == object.runtime.layout.rootIndex ? row : nil
  }

  /// Whether what was read at a time may still be used.
  static func isYoung(_ time: ContinuousClock.Instant, _ age: TimeInterval) -> Bool {
    age < 0 || (age > 0 && time >= .now - .seconds(min(age, 1e9)))
  }

  /// Whether a slab is one of those that were read ahead.
  func contains(_ slab: RowSlab) -> Bool { slabs.contains { $0 === slab } }
}
