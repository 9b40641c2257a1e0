import CoreData
import CoreDataMigrationTesting
import TestSupport
import Testing

/// Stores that real programs wrote, with Apple's framework, become stores of the newest version of their
/// program's model.
@Suite(.enabled(if: SharedFiles.fixtures != nil, "\(SharedFiles.absence)"))
struct RealStoreTests {
  struct Store: Sendable, CustomTestStringConvertible {
    let repository: String
    let url: URL
    let type: NSPersistentStore.StoreType
    var testDescription: String { url.lastPathComponent }
  }

  private static let endings: [String] = ["sqlite", "CDBStore", "original", "db", "storedata", "xml", "paw"]

  static let stores: [Store] = [
    ("stores-sqlite", NSPersistentStore.StoreType.sqlite), ("stores-xml", .xml), ("stores-binary", .binary),
  ].flatMap { folder, type in
    RealModels.files(endings, in: folder).map {
      Store(repository: $0.repository, url: $0.url, type: type)
    }
  }

  /// The versions of the model that wrote the store, from that one on; nil if the collection has none.
  private static func versions(of store: Store) throws -> [MigrationTester.Version]? {
    let metadata: [String: Any] = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: store.type, at: store.url)
    for history in RealModels.all where history.repository == store.repository {
      let versions: [MigrationTester.Version] = try history.versions()
      let place: Int? = versions.firstIndex {
        $0.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
      }
      if let place { return Array(versions[place...]) }
    }
    return nil
  }

  /// All that the collection has with a newer version of the model, with the number of later versions.
  static let outdated: [String: Int] = [
    "SampleModel_V1.sqlite": 2, "SampleModel_V2.sqlite": 1, "SampleModel3_V1.sqlite": 2,
    "Model.sqlite.v1.original": 1, "ArtsyPartner_1.3.sqlite": 14, "ArtsyPartner_1.3.5.sqlite": 14,
    "ArtsyPartner_1.4.sqlite": 13, "ArtsyPartner_1.6.sqlite": 12, "ArtsyPartner_2.0.sqlite": 10,
    "oss_stubbed_data.sqlite": 7, "Bookmarks_V1.sqlite": 5, "Bookmarks_V2.sqlite": 4,
    "Bookmarks_V3.sqlite": 3, "Bookmarks_V4.sqlite": 2, "Bookmarks_V5.sqlite": 1, "SyncMetadata_V3.sqlite": 1,
  ]

  /// A row of `ZARTWORK` in each has the number of another entity: somebody wrote it without the framework.
  private static let damaged: Set<String> = ["ArtsyPartner_1.3.sqlite", "ArtsyPartner_2.0.sqlite"]

  @Test func `the stores with a newer version of their model are those that are migrated here`() throws {
    var found: [String: Int] = [:]
    for store in Self.stores {
      guard let versions = try Self.versions(of: store), versions.count > 1 else { continue }
      found[store.url.lastPathComponent] = versions.count - 1
    }
    #expect(found == Self.outdated)
  }

  @Test(arguments: stores.filter { outdated[$0.url.lastPathComponent] != nil })
  func `a real store is migrated to the newest version`(store: Store) throws {
    let name: String = store.url.lastPathComponent
    let versions: [MigrationTester.Version] = try #require(try Self.versions(of: store))
    // At once; version by version too in the long runs.
    var tester = MigrationTester(
      versions: Soak.isOn ? versions : [versions[0], versions[versions.count - 1]])
    tester.storeTypes = [store.type]
    let report: MigrationTestReport = try tester.run(onCopyOf: store.url, type: store.type)
    #expect(report.failures == [], "\(report)")
    let last: MigrationTestReport.Step = try #require(report.steps.last)
    #expect(last.outcome == .migratedInPlace && last.destination == versions.last?.name, "\(report)")
    // The other stores of these histories are copied in the long runs.
    if !Soak.isOn, name.hasPrefix("Bookmarks_V"), name != "Bookmarks_V1.sqlite" { return }
    if !Soak.isOn, name.hasPrefix("ArtsyPartner"), !Self.damaged.contains(name) { return }
    tester.versions = [versions[0], versions[versions.count - 1]]
    tester.work = .copying
    let copied: MigrationTestReport = try tester.run(onCopyOf: store.url, type: store.type)
    if Self.damaged.contains(name) {
      #expect(
        copied.failures.count == 1
          && copied.failures[0].contains("have the number of no entity of the hierarchy"), "\(copied)")
    } else {
      #expect(copied.failures == [] && copied.steps.map(\.outcome) == [.copied], "\(copied)")
    }
  }

  /// Apple's framework has migrated the first one to the second one; and what of the names differs: for the
  /// renamed entity of the first pair it kept the former name, in the second pair it did not; and it was one
  /// from before 2012, whose stores carry no model.
  static let pairs: [(old: String, new: String, differences: [String])] = [
    (
      "SampleModel_V1.sqlite", "SampleModel_V2.sqlite",
      ["primarykey | break | Z_ENT 3: reference ('ExpensiveSportCar', 2), candidate ('LuxuryCar', 2)"]
    ),
    (
      "ArtsyPartner_1.3.5.sqlite", "ArtsyPartner_1.4.sqlite",
      ["tables | break | candidate only: Z_MODELCACHE"]
    ),
  ]

  private static let comparison: URL? = SharedFiles.folder("tools")?.appendingPathComponent(
    "store_compare.py")

  @Test(
    .enabled(if: comparison != nil, "needs store_compare.py beside the folder of real models and stores"),
    arguments: pairs)
  func `a migrated store has the tables that Apple's framework has made of it`(
    pair: (old: String, new: String, differences: [String])
  ) throws {
    let old: Store = try #require(Self.stores.first { $0.url.lastPathComponent == pair.old })
    let new: Store = try #require(Self.stores.first { $0.url.lastPathComponent == pair.new })
    let versions: [MigrationTester.Version] = try #require(try Self.versions(of: new))
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
      .replacePersistentStore(at: url, withPersistentStoreFrom: old.url, type: .sqlite)
    try MigrationPlan(forStoreAt: url, to: versions[0].model).run(verifies: true)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", try #require(Self.comparison).path, new.url.path, url.path, "--only",
      "tables,columns,triggers,primarykey",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    // "version": as an older framework wrote it.
    let lines: [String] = text.split(separator: "\n").map(String.init).filter {
      !$0.contains("| version |") && !$0.contains("| cosmetic |")
    }
    #expect(process.terminationStatus == (pair.differences.isEmpty ? 0 : 1), "\(text)")
    #expect(lines == pair.differences, "\(text)")
  }
}
