import CoreDataStorage

/// The rows of a save, by hierarchy.
struct SavedRows {
  struct Part {
    /// Keys of rows that existed before, or are deleted.
    var changed: [Int64] = []
    /// The new versions of rows that still exist.
    var newerRows: [(key: Int64, slab: RowSlab)] = []
    var slabs: [RowSlab] = []
  }

  private(set) var byRoot: [Int: Part] = [:]

  init(_ outcome: SaveOutcome, _ layout: ModelLayout) {
    for (entity, batch) in outcome.written.inserts {
      let root: Int = entity.rootIndex
      byRoot[root, default: Part()].slabs += batch.slabs
      // Keys that objects had before the save may have had rows: deletions that were undone.
      batch.forEach { row in
        if !outcome.keys.holds(row.key, root: root) { replace(row, root) }
      }
    }
    var last: RowSlab?
    for update in outcome.written.updates {
      let root: Int = layout.entities[update.row.entity].rootIndex
      replace(update.row, root)
      // Most rows are in the same slab as the row before.
      if last === update.row.slab { continue }
      last = update.row.slab
      byRoot[root, default: Part()].slabs.append(update.row.slab)
    }
    for delete in outcome.written.deletes {
      byRoot[layout.entities[Int(delete.id.entity)].rootIndex, default: Part()].changed.append(delete.id.key)
    }
  }

  private mutating func replace(_ row: RowRef, _ root: Int) {
    byRoot[root, default: Part()].changed.append(row.key)
    byRoot[root, default: Part()].newerRows.append((row.key, row.slab))
  }
}
