import CoreDataModel
import CoreDataStorage
import Foundation

/// Copies all objects to a store that a program implements: as managed objects, since such a store names and
/// saves objects, not rows. Calls no method of theirs, and validates nothing.
///
/// The whole store is in memory meanwhile. The target gets one save.
struct ObjectTransfer {
  private let migration: StoreMigration
  private let target: NSPersistentStore
  private let context: NSManagedObjectContext
  /// By the source's ids.
  private var made: [Place: NSManagedObject] = [:]
  private var objects: [NSManagedObject] = []
  /// The versions of the source's rows, by root entity and key.
  private var versions: [Int: [Int64: Int32]] = [:]

  private struct Place: Hashable {
    let root: Int
    let key: Int64
  }

  /// Runs on the queue of the migration's own context. Throws what the stores throw.
  static func run(_ migration: StoreMigration, to target: NSPersistentStore) throws {
    try migration.caller.context.runAndWait {
      var transfer = ObjectTransfer(migration, target)
      try transfer.run()
    }
  }

  private init(_ migration: StoreMigration, _ target: NSPersistentStore) {
    self.migration = migration
    self.target = target
    context = migration.caller.context
  }

  private mutating func run() throws {
    let entities: [EntityRuntime] = migration.source.runtime.entities.filter {
      !$0.layout.isAbstract && migration.source.holds($0)
    }
    try migration.source.withOneState(for: migration.caller) { state, _ in
      for entity in entities { try makeObjects(of: entity, from: state) }
      for entity in entities { try relateObjects(of: entity, from: state) }
    }
    var values = TransformedValues()
    for object in objects { try values.add(object) }
    try context.makePermanent(objects, in: target)
    var part = StoreChanges(store: target)
    part.inserted = objects
    let plan: SavePlan = try SavePlanner.plan(&part, of: context, values)
    try target.execute(plan, for: part.caller(context))
    migration.copiedKeys = copiedKeys(version: part.insertedRows.first?.version ?? 1)
  }

  private func copiedKeys(version: Int32) -> CopiedKeys {
    var result = CopiedKeys(keys: [:], versions: (versions, version))
    for (place, object) in made { result.keys[place.root, default: [:]][place.key] = object.key }
    return result
  }

  private func place(_ id: RowID) -> Place {
    Place(root: target.runtime.layout.entities[Int(id.entity)].rootIndex, key: id.key)
  }

  private func rows(of entity: EntityLayout, from state: any StoreOperations) throws -> RowBatch {
    var plan = FetchPlan(entity: entity)
    plan.includesSubentities = false
    return try state.fetch(plan)
  }

  private mutating func makeObjects(of entity: EntityRuntime, from state: any StoreOperations) throws {
    for row in try list(rows(of: entity.layout, from: state)) {
      let object: NSManagedObject = entity.objectClass.init(NewManagedObject(entity.layout.entity, nil))
      // Not a new object of the program: `awakeFromInsert()` is not called.
      object.insertFlags(.awoken)
      context.insert(object)
      let values: ObjectState = object.ensureState()
      for (number, slot) in entity.layout.slots.enumerated() {
        guard case .stored(let kind, let word) = slot.role, kind != .toOne else { continue }
        values.values[number] = try row.slotValue(word: word, kind: kind, attribute: slot.attribute)
      }
      made[place(row.id)] = object
      versions[entity.layout.rootIndex, default: [:]][row.key] = row.version
      objects.append(object)
    }
  }

  private func relateObjects(of entity: EntityRuntime, from state: any StoreOperations) throws {
    let rows: [RowRef] = try list(rows(of: entity.layout, from: state))
    for (number, slot) in entity.layout.slots.enumerated() {
      if case .stored(.toOne, let word) = slot.role {
        for row in rows where row.hasValue(word) {
          if let other = made[place(row.target(word))] { made[place(row.id)]?.setToOne(number, other) }
        }
      } else if slot.role == .toMany {
        let members: [[RowID]] = try state.members(of: entity.layout, slot: number, owners: rows.map(\.id))
        for (row, ids) in zip(rows, members) {
          made[place(row.id)]?.setMembers(number, ids.compactMap { made[place($0)] })
        }
      }
    }
  }

  private func list(_ batch: RowBatch) -> [RowRef] {
    var rows: [RowRef] = []
    batch.forEach { rows.append($0) }
    return rows
  }
}
