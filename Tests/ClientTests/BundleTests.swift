import CoreData
import Testing

/// Models that a package copies as they are written, asked for as Xcode would have compiled
/// them (findings D).
@Suite
struct BundleTests {
  @Test func `a bundle finds the model that would have been compiled`() throws {
    let url: URL = try #require(Bundle.module.url(forResource: "Album", withExtension: "momd"))
    let model: NSManagedObjectModel = try #require(NSManagedObjectModel(contentsOf: url))
    #expect(model.entitiesByName["Photo"]?.attributesByName.keys.sorted() == ["taken", "title"])
    let single: URL = try #require(Bundle.module.url(forResource: "Single", withExtension: "mom"))
    #expect(NSManagedObjectModel(contentsOf: single)?.entities.map(\.name) == ["Only"])
    let path: String = try #require(Bundle.module.path(forResource: "Album", ofType: "momd"))
    #expect(NSManagedObjectModel(contentsOf: URL(fileURLWithPath: path)) != nil)
    #expect(Bundle.module.urls(forResourcesWithExtension: "momd", subdirectory: nil)?.count == 1)
    #expect(Bundle.module.url(forResource: "Nothing", withExtension: "momd") == nil)
    #expect(Bundle.module.url(forResource: "Album", withExtension: "txt") == nil)
  }

  @Test func `versions of a model`() throws {
    let old: URL = try #require(
      Bundle.module.url(forResource: "Album", withExtension: "mom", subdirectory: "Album.momd"))
    #expect(NSManagedObjectModel(contentsOf: old)?.entitiesByName["Photo"]?.attributesByName.count == 1)
    let folder: URL = try #require(Bundle.module.url(forResource: "Album", withExtension: "momd"))
    let second: NSManagedObjectModel = try #require(
      NSManagedObjectModel(contentsOf: folder.appendingPathComponent("Album 2.mom")))
    #expect(second.entitiesByName["Photo"]?.attributesByName.count == 2)
  }

  @Test func `a compiled model that is not there stands for what it would have been compiled of`() throws {
    let root: URL = try #require(Bundle.module.resourceURL)
    #expect(NSManagedObjectModel(contentsOf: root.appendingPathComponent("Album.momd")) != nil)
    #expect(NSManagedObjectModel(contentsOf: root.appendingPathComponent("Single.mom")) != nil)
    #expect(
      try NSManagedObjectModel.loadVersions(contentsOf: root.appendingPathComponent("Album.momd")).keys
        .sorted()
        == ["Album", "Album 2"])
    let error = #expect(throws: (any Error).self) {
      try NSManagedObjectModel.load(contentsOf: root.appendingPathComponent("Other.momd"))
    }
    #expect("\(try #require(error))".contains("xcdatamodeld"))
  }

  @Test func `a bundle finds the mapping model that would have been compiled`() throws {
    let folder: URL = FileManager.default.temporaryDirectory.appendingPathComponent(
      "clarus-test-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in ["Step1to2", "Step2to3"] {
      try FileManager.default.createDirectory(
        at: folder.appendingPathComponent("\(name).xcmappingmodel"), withIntermediateDirectories: true)
    }
    let bundle: Bundle = try #require(Bundle(url: folder))
    let found: URL = try #require(bundle.url(forResource: "Step1to2", withExtension: "cdm"))
    #expect(found.lastPathComponent == "Step1to2.xcmappingmodel")
    #expect(bundle.urls(forResourcesWithExtension: "cdm", subdirectory: nil)?.count == 2)
    #expect(bundle.url(forResource: "Step3to4", withExtension: "cdm") == nil)
  }

  @Test func `a container and merged models find the bundle of a package`() throws {
    #expect(NSPersistentContainer(name: "Album").managedObjectModel.entitiesByName["Photo"] != nil)
    let merged: NSManagedObjectModel = try #require(NSManagedObjectModel.mergedModel(from: [Bundle.module]))
    #expect(merged.entities.compactMap(\.name).sorted() == ["Only", "Photo"])
  }
}
