import CoreDataModel
import CoreDataStorage

/// The keys that the objects of a migrated store have in the new one, if that numbers or names them in its
/// own way.
///
/// Objects without a row at the time of the migration, such as new ones that have a permanent id and are not
/// saved, get a key when a context first needs one: the same in all contexts.
final class MigratedKeys: Sendable {
  private struct Place: Hashable {
    let root: Int
    let key: Int64
  }

  private let store: NSPersistentStore
  private let keys: Guarded<[Place: Int64]>
  /// The versions of the rows that were copied, and the one that all of them have in the new store; nil if
  /// they have kept theirs.
  private let versions: (former: [Place: Int32], new: Int32)?

  /// `copied`: by index of the root entity, the keys in the old store and those in the new one.
  init(_ copied: CopiedKeys, in store: NSPersistentStore) {
    self.store = store
    var keys: [Place: Int64] = [:]
    for (root, pairs) in copied.keys {
      for (old, new) in pairs { keys[Place(root: root, key: old)] = new }
    }
    self.keys = Guarded(keys)
    versions = copied.versions.map { versions in
      var former: [Place: Int32] = [:]
      for (root, pairs) in versions.former {
        for (key, version) in pairs { former[Place(root: root, key: key)] = version }
      }
      return (former, versions.new)
    }
  }

  /// The new key for a former one; nil if no object has it.
  func key(_ key: Int64, root: Int) -> Int64? { keys.withLock { $0[Place(root: root, key: key)] } }

  /// The new key of an object of the old store. Throws what the new store throws when it is asked for one.
  func key(of object: NSManagedObject, in context: NSManagedObjectContext) throws -> Int64 {
    let place = Place(root: object.runtime.layout.rootIndex, key: object.key)
    if let known = keys.withLock({ $0[place] }) { return known }
    // Not under the lock: a program's store may be called.
    let made: Int64 = try store.permanentKeys(for: [object], in: context)[0]
    return keys.withLock { keys in
      if let known = keys[place] { return known }
      keys[place] = made
      return made
    }
  }

  // MARK: Rows

  /// A row of the old store as the new one has it: with the new keys, in `slab`.
  func copy(of row: RowRef, key: Int64, layout: EntityLayout, into slab: RowSlab) -> RowRef {
    let base: UnsafeMutableRawPointer = slab.appendCopy(
      of: row, layout: layout, key: key, version: version(of: row, layout)
    ) { target, destination in
      let root: Int = store.runtime.layout.entities[destination].rootIndex
      return self.key(target.key, root: root).map { RowID(entity: Int(target.entity), key: $0) }
    }
    return RowRef(slab: slab, base: base)
  }

  /// A row that was older than the one that was copied stays older: to change it is a conflict.
  private func version(of row: RowRef, _ layout: EntityLayout) -> Int32 {
    guard let versions else { return row.version }
    return versions.former[Place(root: layout.rootIndex, key: row.key)] == row.version ? versions.new : -1
  }
}

/// What a migration that gives objects new keys reports.
struct CopiedKeys {
  /// By index of the root entity: old keys and new ones.
  var keys: [Int: [Int64: Int64]] = [:]
  /// If the rows have new versions: the former ones by root and old key, and the new one.
  var versions: (former: [Int: [Int64: Int32]], new: Int32)?
}
