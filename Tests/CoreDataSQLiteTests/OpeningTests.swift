import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CoreDataSQLite

@Suite
struct OpeningTests {
  let folder: TemporaryFolder
  let layout = ModelLayout(model: Zoo.model())

  init() throws { folder = try TemporaryFolder() }

  /// The reason why a file is no store.
  private func reason(_ url: URL, readOnly: Bool = false) -> String? {
    do {
      _ = try SQLiteEngine.open(
        url: url, layout: layout, options: SQLiteOptions(isReadOnly: readOnly))
      return nil
    } catch StoreError.invalidFile(_, let reason, _) {
      return reason
    } catch {
      return "another error: \(error)"
    }
  }

  @Test func `a fresh store has Apple's settings, bookkeeping and metadata`() throws {
    let engine = try SQLiteEngine.open(url: folder.file("a.sqlite"), layout: layout)
    #expect(try engine.number("PRAGMA page_size") == 4096)
    #expect(try engine.number("PRAGMA auto_vacuum") == 2)
    let state = StoreFileState(url: engine.url)
    #expect(state.isWALMode)
    let metadata: [String: Any] = engine.metadata
    #expect(metadata["NSStoreType"] as? String == "SQLite")
    #expect(metadata["NSStoreModelVersionHashesVersion"] as? Int == 3)
    // Finding C8: none where the model has none.
    #expect(metadata["NSStoreModelVersionIdentifiers"] as? [String] == [])
    #expect(metadata["_NSAutoVacuumLevel"] as? String == "2")
    #expect(metadata["NSPersistenceFrameworkVersion"] is Int)
    let hashes: [String: Data]? = metadata["NSStoreModelVersionHashes"] as? [String: Data]
    #expect(hashes == layout.model.entityVersionHashesByName)
    #expect(metadata["NSStoreModelVersionChecksumKey"] as? String == layout.model.versionChecksum)
    let digest: String = VersionHash.digest(layout.model.entityVersionHashesByName)
    #expect(metadata["NSStoreModelVersionHashesDigest"] as? String == digest)
    #expect(UUID(uuidString: engine.identifier)?.uuidString == engine.identifier)
    let rows: [String] = try engine.read {
      try String.fetchAll(
        $0,
        sql:
          "SELECT Z_ENT || ' ' || Z_NAME || ' ' || Z_SUPER || ' ' || Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT")
    }
    #expect(rows == ["1 Animal 0 0", "2 Cat 1 0", "3 Dog 1 0", "4 Kinds 0 0", "5 Owner 0 0"])
    try engine.close()
    let file: SQLiteStoreFile = try SQLiteStoreFile.inspect(url: engine.url)
    #expect(file.model?.entityVersionHashesByName == hashes)
    #expect(file.modelProblem == nil)
    #expect(file.metadataProblem == nil)
    #expect(!file.hasHistory)
  }

  @Test func `an empty file is a new store, a missing one only if wanted`() throws {
    let url: URL = folder.file("a.sqlite")
    #expect(reason(url, readOnly: true)?.contains("no file") == true)
    try Data().write(to: url)
    #expect(reason(url, readOnly: true)?.contains("empty") == true)
    #expect(reason(url) == nil)
    #expect(reason(url) == nil)
    var options = SQLiteOptions()
    options.createsIfMissing = false
    #expect(throws: StoreError.self) {
      try SQLiteEngine.open(url: folder.file("b.sqlite"), layout: layout, options: options)
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("b.sqlite").path))
    #expect(throws: StoreError.self) {
      try SQLiteEngine.open(url: folder.file("no/such/folder/b.sqlite"), layout: layout)
    }
  }

  @Test func `what is no store is said to be none, and stays as it is`() throws {
    let text: URL = folder.file("text.sqlite")
    try Data("<?xml version='1.0'?><database/>".utf8).write(to: text)
    #expect(reason(text)?.contains("not an SQLite database") == true)
    #expect(reason(folder.url)?.contains("folder") == true)
    let foreign: URL = folder.file("foreign.sqlite")
    let queue = try DatabaseQueue(path: foreign.path)
    try queue.write { try $0.execute(sql: "CREATE TABLE song (id INTEGER PRIMARY KEY, title TEXT)") }
    try queue.close()
    let before: Data? = FileManager.default.contents(atPath: foreign.path)
    for readOnly in [false, true] {
      let reason: String = reason(foreign, readOnly: readOnly) ?? ""
      #expect(reason.contains("not a Core Data store") && reason.contains("SONG"))
    }
    #expect(FileManager.default.contents(atPath: foreign.path) == before)
    #expect(throws: StoreError.self) { try SQLiteStoreFile.inspect(url: foreign) }
  }

  @Test func `another model is told apart by entity`() throws {
    let url: URL = folder.file("a.sqlite")
    try SQLiteEngine.open(url: url, layout: layout).close()
    let other: NSManagedObjectModel = Zoo.model()
    other.entitiesByName["Owner"]!.properties.append(attribute("age", .integer16AttributeType))
    other.entities = other.entities.filter { $0.name != "Kinds" } + [entity("New")]
    other.entitiesByName["Owner"]!.properties.removeAll { $0.name == "gifts" }
    for readOnly in [false, true] {
      do {
        _ = try SQLiteEngine.open(
          url: url, layout: ModelLayout(model: other.copy() as! NSManagedObjectModel),
          options: SQLiteOptions(isReadOnly: readOnly))
        Issue.record("it was opened")
      } catch StoreError.incompatibleModel(_, let mismatch) {
        #expect(mismatch.differing == ["Owner"])
        #expect(mismatch.missing == ["New"])
        #expect(mismatch.unknown == ["Kinds"])
        #expect(
          mismatch.details == ["Owner.age is only in the model", "Owner.gifts is only in the store"])
      }
    }
  }

  @Test func `a derived attribute without expression is refused in a fresh store, by name`() throws {
    let model: NSManagedObjectModel = Zoo.model()
    let derived = NSDerivedAttributeDescription()
    derived.name = "upper"
    derived.attributeType = .stringAttributeType
    model.entitiesByName["Owner"]!.properties.append(derived)
    do {
      _ = try SQLiteEngine.open(url: folder.file("a.sqlite"), layout: ModelLayout(model: model))
      Issue.record("it was made")
    } catch StoreError.unsupportedModel(let entity, let property, _) {
      #expect(entity == "Owner")
      #expect(property == "upper")
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("a.sqlite").path))
  }

  @Test func `pragmas are obeyed, or refused if they would do harm`() throws {
    var options = SQLiteOptions()
    options.pragmas = ["journal_mode": "TRUNCATE", "synchronous": "EXTRA", "cache_size": "-512"]
    let engine = try SQLiteEngine.open(url: folder.file("a.sqlite"), layout: layout, options: options)
    #expect(try engine.number("PRAGMA synchronous") == 3)
    #expect(try engine.number("PRAGMA cache_size") == -512)
    #expect(try engine.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "truncate")
    #expect(!StoreFileState(url: engine.url).isWALMode)
    try engine.close()
    for (name, value) in [
      ("writable_schema", "1"), ("synchronous; DROP TABLE ZOWNER", "1"), ("", ""),
      ("journal_mode", "nonsense"),
    ] {
      options.pragmas = [name: value]
      #expect(throws: StoreError.self) {
        try SQLiteEngine.open(url: folder.file("a.sqlite"), layout: layout, options: options)
      }
    }
    options.pragmas = ["synchronous": "FULL"]
    let pool = try SQLiteEngine.open(url: folder.file("b.sqlite"), layout: layout, options: options)
    guard case .writable(let writer) = try pool.currentAccess() else { return }
    #expect(try writer.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == 2)
  }

  @Test func `two openers that create at once get the same store`() async throws {
    for round in 0..<5 {
      let url: URL = folder.file("race-\(round).sqlite")
      let layout: ModelLayout = layout
      let identifiers: [String] = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<4 {
          group.addTask {
            let engine = try SQLiteEngine.open(url: url, layout: layout)
            try engine.insert("Owner", [[:]])
            return engine.identifier
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(identifiers).count == 1)
      let engine = try SQLiteEngine.open(url: url, layout: layout)
      #expect(try engine.count(FetchPlan(entity: engine.entity("Owner"))) == 4)
      #expect(try engine.number("SELECT count(*) FROM Z_METADATA") == 1)
    }
  }

  @Test func `an index shows in the explanation of a fetch`() throws {
    let engine = try SQLiteEngine.open(url: folder.file("a.sqlite"), layout: layout)
    var plan = FetchPlan(entity: engine.entity("Owner"))
    plan.predicate = try NSPredicate(parsing: "email == %@", arguments: ["a@b"]).predicateNode()
    let explained: ExplainedStatement = try #require(try engine.explain(plan))
    #expect(explained.sql.contains("ZEMAIL"))
    #expect(explained.bindings.contains("'a@b'"))
    #expect(
      explained.queryPlan.contains { $0.contains("USING INDEX Z_Owner_UNIQUE_email") },
      "\(explained.queryPlan)")
  }
}
