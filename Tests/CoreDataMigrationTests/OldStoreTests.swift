import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

@Suite("A SQLite store from before 2012 carries no model; its hashes tell the version, or else its tables")
struct OldStoreTests {
  private static func execute(_ sql: String, _ url: URL, _ arguments: StatementArguments = []) throws {
    let queue = try DatabaseQueue(path: url.path)
    try queue.writeWithoutTransaction { try $0.execute(sql: sql, arguments: arguments) }
    try queue.close()
  }

  /// A store of the first version as an old framework would have left it. `isUnknown`: with hashes of a
  /// version that no file has.
  private static func makeStore(in folder: TemporaryFolder, isUnknown: Bool) throws -> URL {
    let url: URL = try Versions.makeStore(.sqlite, in: folder, people: 5)
    if isUnknown {
      var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
      let hashes = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
      metadata[NSStoreModelVersionHashesKey] = hashes.mapValues { Data($0.reversed()) }
      let list = try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
      try execute("UPDATE Z_METADATA SET Z_PLIST = ?", url, [list])
    }
    try execute("DROP TABLE Z_MODELCACHE", url)
    return url
  }

  private static func people(_ url: URL, _ model: NSManagedObjectModel, _ name: String) throws -> [String] {
    try Versions.using(model, .sqlite, url, Versions.automatic) { try Versions.people($0, name: name) }
  }

  @Test(
    "it is migrated, in place or by copying, and carries its model from then on", arguments: [true, false],
    [true, false])
  func migrated(_ isUnknown: Bool, _ copies: Bool) throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([Versions.first(), Versions.second()], in: folder)
    if copies {
      let mapping = try NSMappingModel.inferredMappingModel(
        forSourceModel: Versions.first(), destinationModel: program)
      try mapping.archivedData().write(to: folder.file("Program.cdm"))
    }
    let kept: URL = try Versions.makeStore(.sqlite, in: try TemporaryFolder(), people: 5)
    let before: [String] = try Self.people(kept, Versions.first(), "name")
    let url: URL = try Self.makeStore(in: folder, isUnknown: isUnknown)
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(plan.steps.map { $0.statements == nil } == [copies])
    #expect(plan.warnings.contains { $0.contains("None of the versions") } == isUnknown, "\(plan)")
    #expect(plan.steps.map(\.source) == ["Shop 1"])
    #expect(try Self.people(url, program, "fullName") == before)
    let carried = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
    #expect(carried?.versionChecksum == program.versionChecksum)
    #expect(try NSPersistentStoreCoordinator.examineStore(at: url, model: program).problems.isEmpty)
  }

  @Test("tables that are not a version's are refused, with the difference")
  func otherTables() throws {
    let changes: [(sql: String, word: String)] = [
      ("ALTER TABLE ZPERSON ADD COLUMN ZMOOD VARCHAR", "column ZMOOD"),
      ("ALTER TABLE ZPERSON DROP COLUMN ZAGE", "age"),
      ("CREATE TABLE ZSHOP (Z_PK INTEGER PRIMARY KEY)", "ZSHOP"),
      (
        "ALTER TABLE ZPERSON DROP COLUMN ZAGE; ALTER TABLE ZPERSON ADD COLUMN ZAGE FLOAT",
        "FLOAT in the store"
      ),
      ("INSERT INTO Z_PRIMARYKEY VALUES (9, 'Shop', 0, 0)", "it has no Shop"),
    ]
    for (sql, word) in changes {
      let folder = try TemporaryFolder()
      let program = try SourceModel.write([Versions.first(), Versions.second()], in: folder)
      let url: URL = try Self.makeStore(in: folder, isUnknown: true)
      try Self.execute(sql, url)
      let before: Data = try Data(contentsOf: url)
      let error = errorThrown { _ = try Self.people(url, program, "fullName") }
      #expect(error?.code == NSMigrationMissingSourceModelError)
      #expect(error?.localizedDescription.contains(word) == true, "\(sql): \(error as Any)")
      #expect(try Data(contentsOf: url) == before)
    }
  }

  @Test("versions whose tables are alike and that say other things of a number are refused")
  func ambiguous() throws {
    let folder = try TemporaryFolder()
    let wide = Versions.first { model in
      model.entitiesByName["Person"]!.attributesByName["age"]!.attributeType = .integer64AttributeType
    }
    let program = try SourceModel.write([Versions.first(), wide, Versions.second()], in: folder)
    let url: URL = try Self.makeStore(in: folder, isUnknown: true)
    let error = errorThrown { _ = try Self.people(url, program, "fullName") }
    #expect(error?.localizedDescription.contains("fit Shop 1, Shop 2") == true, "\(error as Any)")
  }
}
