import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CoreDataSQLite

/// Stores that Apple's framework wrote.
@Suite(.enabled(if: SharedFiles.fixtures != nil, "\(SharedFiles.absence)"))
struct RealStoreTests {
  /// The one store of the collection whose metadata was blanked out.
  private static let withoutMetadata: Set<String> = ["log2timeline+plaso/test_data/macos/NotesV7.storedata"]

  private func model(of path: String) throws -> NSManagedObjectModel? {
    try SQLiteStoreFile.inspect(url: RealFiles.store(path)).model
  }

  @Test(arguments: SharedFiles.stores)
  func `every store can be looked into`(path: String) throws {
    let file: SQLiteStoreFile = try SQLiteStoreFile.inspect(url: RealFiles.store(path))
    #expect(UUID(uuidString: file.uuid) != nil)
    #expect((file.metadataProblem != nil) == Self.withoutMetadata.contains(path))
    #expect(!file.entities.isEmpty)
    #expect((file.model == nil) == (file.modelProblem != nil))
  }

  @Test(arguments: SharedFiles.stores)
  func `the cached model hashes to the store's metadata`(path: String) throws {
    let file: SQLiteStoreFile = try SQLiteStoreFile.inspect(url: RealFiles.store(path))
    guard let model = file.model else { return }
    let stored: [String: Data] = file.metadata["NSStoreModelVersionHashes"] as? [String: Data] ?? [:]
    for (name, hash) in stored.sorted(by: { $0.key < $1.key }) {
      let entity: NSEntityDescription = try #require(model.entitiesByName[name], "\(name) in \(path)")
      #expect(entity.versionHash == hash, "\(name) in \(path)")
      #expect(entity.hashIsExact)
    }
  }

  // Finding B13.
  @Test(arguments: SharedFiles.stores)
  func `the cached model fits its store, by hash and by structure`(path: String) throws {
    let file: SQLiteStoreFile = try SQLiteStoreFile.inspect(url: RealFiles.store(path))
    guard let model = file.model, let versions = file.versions else { return }
    // The archive alone has no hashes.
    let blob: Data = try #require(ModelCache.blob(for: model))
    let bare: NSManagedObjectModel = try ModelCache.model(from: blob, url: file.url)
    for model in [model, bare] {
      for (name, hash) in versions.hashes {
        let entity: NSEntityDescription = try #require(model.entitiesByName[name])
        #expect(versions.fits(entity) == true, "\(name) in \(path)")
        #expect((versions.structures[name] == nil) == entity.hashIsComputable)
        #expect(entity.hashIsComputable || entity.structureHash != hash)
      }
    }
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = try RealFiles.copy(path, to: folder)
    var options = SQLiteOptions(isReadOnly: true)
    options.entityNames = Self.entityNames(file, bare)
    try SQLiteEngine.open(url: url, layout: ModelLayout(model: bare), options: options).close()
    for entity in bare.entities where versions.structures[entity.name ?? ""] != nil {
      let changed = try #require(bare.copy() as? NSManagedObjectModel)
      for property in changed.entitiesByName[entity.name ?? ""]?.properties ?? [] {
        guard let derived = property as? NSDerivedAttributeDescription else { continue }
        derived.derivationExpression = NSExpression(forKeyPath: "another")
      }
      #expect(throws: StoreError.self, "\(entity.name ?? "") in \(path)") {
        try SQLiteEngine.open(url: url, layout: ModelLayout(model: changed), options: options).close()
      }
    }
  }

  @Test(arguments: SharedFiles.stores)
  func `rows of every entity are as many as plain SQL counts, and reading leaves no trace`(path: String)
    throws
  {
    guard let model = try model(of: path) else { return }
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = try RealFiles.copy(path, to: folder)
    let before: FolderState = try FolderState(folder.url)
    var options = SQLiteOptions(isReadOnly: true)
    options.missingExternalData = .isNil
    options.entityNames = Self.entityNames(try SQLiteStoreFile.inspect(url: url), model)
    let engine = try SQLiteEngine.open(url: url, layout: ModelLayout(model: model), options: options)
    for entity in engine.layout.entities where options.entityNames?.contains(entity.name) ?? true {
      let table: String = try engine.schema.table(of: entity.index).name
      let number: Int = engine.schema.entityNumber(of: entity.index)
      let expected: Int64? = try engine.number("SELECT count(*) FROM \"\(table)\" WHERE Z_ENT = \(number)")
      var plan = FetchPlan(entity: entity)
      plan.includesSubentities = false
      let batch: RowBatch = try engine.fetch(plan)
      #expect(Int64(batch.count) == expected, "\(entity.name) in \(path)")
      #expect(try engine.count(plan) == batch.count)
      let ids: [RowID] = batch.rows.map(\.id)
      #expect(try engine.rows(of: entity, keys: ids.map(\.key)).count == batch.count)
      for (slot, property) in entity.slots.enumerated() where property.role == .toMany {
        let members: [[RowID]] = try engine.members(of: entity, slot: slot, owners: ids)
        #expect(members.count == ids.count)
      }
    }
    try engine.close()
    #expect(try FolderState(folder.url) == before)
  }

  /// The entities of the store's configuration, where that is not the whole model.
  static func entityNames(_ file: SQLiteStoreFile, _ model: NSManagedObjectModel) -> Set<String>? {
    guard let hashes = file.metadata["NSStoreModelVersionHashes"] as? [String: Data] else { return nil }
    return Set(hashes.keys) == Set(model.entitiesByName.keys) ? nil : Set(hashes.keys)
  }

  @Test(arguments: SharedFiles.stores)
  func `a save changes its rows and no other`(path: String) throws {
    guard let model = try model(of: path) else { return }
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = try RealFiles.copy(path, to: folder)
    var options = SQLiteOptions()
    options.missingExternalData = .isNil
    options.entityNames = Self.entityNames(try SQLiteStoreFile.inspect(url: url), model)
    let engine = try SQLiteEngine.open(url: url, layout: ModelLayout(model: model), options: options)
    // What keeps history is read-only (Decisions/0036).
    #expect(engine.isReadOnly == engine.hasHistory)
    if engine.isReadOnly { return }
    for entity in engine.layout.entities
    where !entity.isAbstract && (options.entityNames?.contains(entity.name) ?? true) {
      guard engine.texts.unguardedTrees[entity.index].isEmpty, !entity.slots.contains(where: \.isDerived)
      else {
        continue
      }
      let table: String = try engine.schema.table(of: entity.index).name
      let root: Int = engine.schema.entityNumber(of: entity.rootIndex)
      let dump: String = "SELECT * FROM \"\(table)\" WHERE Z_PK <> \(Int64.max) ORDER BY Z_PK"
      let before: [Row] = try engine.read { try Row.fetchAll($0, sql: dump) }
      let highest: Int64 = try engine.number("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(root)") ?? 0

      let ids: [RowID] = try engine.insert(entity.name, [[:], [:]])
      #expect(ids[0].key > highest, "\(entity.name) in \(path)")
      #expect(try engine.number("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(root)") == ids[1].key)
      #expect(try engine.number("SELECT Z_OPT FROM \"\(table)\" WHERE Z_PK = \(ids[0].key)") == 1)
      var plan = FetchPlan(entity: entity)
      plan.includesSubentities = false
      plan.limit = 1
      let update: RowUpdate = try engine.update(ids[1], [:])
      try engine.save {
        $0.updates = [update]
        $0.deletes = [RowDelete(id: ids[0], expectedVersion: 1)]
      }
      #expect(try engine.row(ids[1])?.version == 2)
      try engine.save { $0.deletes = [RowDelete(id: ids[1], expectedVersion: 2)] }
      let after: [Row] = try engine.read { try Row.fetchAll($0, sql: dump) }
      #expect(before == after, "\(entity.name) in \(path)")
    }
    #expect(try engine.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
  }

  @Test(arguments: SharedFiles.stores)
  func `a store made anew from the cached model has Apple's tables and columns`(path: String) throws {
    guard let model = try model(of: path) else { return }
    let file: SQLiteStoreFile = try SQLiteStoreFile.inspect(url: RealFiles.store(path))
    let isPlain: Bool = model.entities.allSatisfy { entity in
      !entity.properties.contains {
        $0 is NSDerivedAttributeDescription || $0 is NSCompositeAttributeDescription
      }
    }
    guard isPlain, Self.entityNames(file, model) == nil else { return }
    let folder: TemporaryFolder = try TemporaryFolder()
    let fresh = try SQLiteEngine.open(url: folder.file("fresh.sqlite"), layout: ModelLayout(model: model))
    let old = try SQLiteEngine.open(
      url: RealFiles.copy(path, to: folder), layout: fresh.layout, options: SQLiteOptions(isReadOnly: true))
    let columns: String = """
      SELECT m.name, p.name FROM sqlite_master m JOIN pragma_table_info(m.name) p
      WHERE m.type = 'table' AND m.name LIKE 'Z%' AND m.name NOT LIKE 'Z\\_%' ESCAPE '\\' ORDER BY 1, 2
      """
    func names(_ engine: SQLiteEngine) throws -> Set<String> {
      try engine.read {
        try Set(Row.fetchAll($0, sql: columns).map { "\($0[0] as String).\($0[1] as String)" })
      }
    }
    let missing: Set<String> = try names(fresh).subtracting(names(old))
    // Columns of entities numbered differently after migrations carry the old number.
    let isMigrated: Bool =
      file.entities.map(\.name) != fresh.layout.entities.map(\.name)
      + file.entities.dropFirst(fresh.layout.entities.count).map(\.name)
    if !isMigrated { #expect(missing.isEmpty, "\(missing.sorted()) in \(path)") }
  }
}
