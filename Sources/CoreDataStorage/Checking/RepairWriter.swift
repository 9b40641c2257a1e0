import CoreDataModel
import Foundation

/// Writes the rows and relationships of a repair: page by page, or all at once into a store that is written
/// as a whole.
final class RepairWriter {
  private let target: any StoreEngine
  private let source: any StoreEngine
  private let writesAtOnce: Bool
  private var plan: SavePlan = .copying
  private var memberships: [ToManyEdit] = []
  private var orders: [ToManyEdit] = []

  private static let editsPerSave: Int = 2000

  init(_ target: any StoreEngine, _ source: any StoreEngine) {
    self.target = target
    self.source = source
    writesAtOnce = target.hasOneKeySequence
  }

  private var renumbers: Bool { writesAtOnce && !source.hasOneKeySequence }

  /// Allocates the keys up to the highest of each hierarchy.
  func allocate(_ highest: [(root: Int, key: Int64)]) throws {
    if renumbers { return }
    var byRoot: [Int: Int64] = [:]
    for (root, key) in highest {
      let root: Int = writesAtOnce ? source.layout.entities.first?.rootIndex ?? 0 : root
      byRoot[root] = max(byRoot[root] ?? 0, key)
    }
    for (root, key) in byRoot.sorted(by: { $0.key < $1.key }) where key > 0 {
      _ = try target.allocateKeys(for: source.layout.entities[root], count: Int(key))
    }
  }

  /// Returns the keys of rows that the store refuses because another one has the same unique values.
  func insert(_ rows: RowBatch, _ entity: EntityLayout) throws -> [Int64] {
    if writesAtOnce {
      plan.inserts.append((entity, rows))
      return []
    }
    do {
      try save(rows, entity)
      return []
    } catch StoreError.uniqueness {
      var refused: [Int64] = []
      try rows.forEach { row in
        let slab = RowSlab(layout: entity, family: false, rowCapacity: 1)
        _ = slab.appendCopy(of: row, layout: entity)
        do {
          try save(RowBatch(slabs: [slab]), entity)
        } catch StoreError.uniqueness {
          refused.append(row.key)
        }
      }
      return refused
    }
  }

  private func save(_ rows: RowBatch, _ entity: EntityLayout) throws {
    var plan: SavePlan = .copying
    plan.inserts = [(entity, rows)]
    _ = try target.save(plan)
  }

  func add(_ edits: [ToManyEdit]) {
    if writesAtOnce {
      plan.toMany += edits
      return
    }
    memberships += edits.compactMap(\.membership)
    orders += edits.compactMap(\.order)
  }

  func finish() throws {
    if writesAtOnce {
      if renumbers { _ = plan.makeKeysProvisional(of: source.layout) }
      _ = try target.save(plan)
      return
    }
    // Pairs refer to rows of both sides, and an order to all pairs.
    for edits in [memberships, orders] {
      for start in stride(from: 0, to: edits.count, by: Self.editsPerSave) {
        var plan = SavePlan()
        plan.toMany = Array(edits[start..<min(start + Self.editsPerSave, edits.count)])
        _ = try target.save(plan)
      }
    }
  }
}

extension ToManyEdit {
  /// The new members without their order; nil if there are none.
  var membership: ToManyEdit? {
    added.isEmpty ? nil : ToManyEdit(owner: owner, slot: slot, added: added, removed: [], appended: [])
  }

  /// The order of all members alone; nil if it is not given.
  var order: ToManyEdit? {
    ordering.map { ToManyEdit(owner: owner, slot: slot, added: [], removed: [], ordering: $0) }
  }
}
