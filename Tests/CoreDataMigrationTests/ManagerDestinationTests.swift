import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

@testable import CoreDataMigration

/// Fails in the second pass.
final class LateFailingPolicy: NSEntityMigrationPolicy {
  struct Failure: Error {}

  override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager)
    throws
  {
    throw Failure()
  }
}

/// Copies the files of the store that is being made, as a killed process would leave them.
final class CopyingPolicy: NSEntityMigrationPolicy {
  override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    guard let folder = manager.userInfo?["copies"] as? URL,
      let store = manager.destinationContext.persistentStoreCoordinator?.persistentStores.first?.url
    else { return }
    for name in ["new.sqlite", "new.sqlite-wal", ".new_SUPPORT"] {
      let file: URL = store.deletingLastPathComponent().appendingPathComponent(name)
      if !FileManager.default.fileExists(atPath: file.path) { continue }
      try FileManager.default.copyItem(at: file, to: folder.appendingPathComponent(name))
    }
  }
}

@Suite("A migration manager adds to a store of the destination model, and to no other")
struct ManagerDestinationTests {
  /// Two mapping models whose objects are not related: the people with their pets, and the tags.
  private static func parts(failing: Bool = false) -> [NSMappingModel] {
    let whole: [NSEntityMapping] = ManagerTests.mappings().entityMappings
    whole[0].relationshipMappings?.removeAll { $0.name == "tags" }
    whole[2].relationshipMappings = nil
    if failing { whole[2].entityMigrationPolicyClassName = NSStringFromClass(LateFailingPolicy.self) }
    return [[whole[0], whole[1]], [whole[2]]].map { mappings in
      let model = NSMappingModel()
      model.entityMappings = mappings
      return model
    }
  }

  private static func contents(_ kind: StoreKind, _ url: URL) throws -> [String] {
    try Versions.using(Versions.second(), kind, url) { context in
      try ["Person", "Animal", "Tag"].map { entity in
        let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
        let names = all.compactMap {
          $0.value(forKey: entity == "Person" ? "fullName" : entity == "Tag" ? "title" : "name") as? String
        }
        return "\(entity) \(names.sorted().joined(separator: ", "))"
      }
    }
  }

  @Test(
    "parts of a mapping model migrate to one store, by one manager or one for each",
    arguments: ManagerTests.kinds, [true, false])
  func parts(_ kind: StoreKind, _ isOneManager: Bool) throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(kind, in: folder, people: 3)
    let target: URL = folder.file("new.\(kind.rawValue)")
    let one = NSMigrationManager(sourceModel: Versions.first(), destinationModel: Versions.second())
    var identifiers: [String?] = []
    for part in Self.parts() {
      let manager =
        isOneManager
        ? one : NSMigrationManager(sourceModel: Versions.first(), destinationModel: Versions.second())
      try manager.migrateStore(
        from: url, sourceType: kind.type, with: part, toDestinationURL: target, destinationType: kind.type)
      #expect(manager.migrationProgress == 1)
      let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: kind.type, at: target, options: nil)
      identifiers.append(metadata[NSStoreUUIDKey] as? String)
      #expect(!metadata.keys.contains { $0.contains("Unfinished") })
    }
    #expect(
      try Self.contents(kind, target) == [
        "Person person 0, person 1, person 2", "Animal pet 1.3, pet 2.2, pet 2.3",
        "Tag tag 0, tag 1, tag 2",
      ])
    let photos: [Data] = try Versions.using(Versions.second(), kind, target) { context in
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).compactMap {
        $0.value(forKey: "photo") as? Data
      }
    }
    #expect(photos.map(\.count) == [200_000, 200_000])
    #expect(identifiers[0] == identifiers[1])
    #expect(try Self.hiddenFiles(folder).isEmpty)
  }

  /// What a migration makes and removes again.
  private static func hiddenFiles(_ folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.contains("migrat") }
  }

  @Test("a part that fails leaves what the parts before it have made", arguments: ManagerTests.kinds)
  func failure(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(kind, in: folder, people: 3)
    let target: URL = folder.file("new.\(kind.rawValue)")
    let manager = NSMigrationManager(sourceModel: Versions.first(), destinationModel: Versions.second())
    let parts: [NSMappingModel] = Self.parts(failing: true)
    try manager.migrateStore(
      from: url, sourceType: kind.type, with: parts[0], toDestinationURL: target, destinationType: kind.type)
    let before: [String] = try Self.contents(kind, target)
    #expect(throws: LateFailingPolicy.Failure.self) {
      try manager.migrateStore(
        from: url, sourceType: kind.type, with: parts[1], toDestinationURL: target, destinationType: kind.type
      )
    }
    #expect(try Self.contents(kind, target) == before)
    #expect(before.last == "Tag ")
    #expect(try Self.hiddenFiles(folder).isEmpty)
  }

  @Test("a store of another model is not touched")
  func otherModel() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder, people: 3)
    let target: URL = folder.file("new.sqlite")
    try FileManager.default.copyItem(at: url, to: target)
    let bytes: Data = try Data(contentsOf: target)
    let error = errorThrown { _ = try ManagerTests.migrate(.sqlite, url, folder) }
    #expect(error?.code == NSMigrationManagerDestinationStoreError)
    #expect(error?.localizedDescription.contains("destination model") == true)
    #expect(try Data(contentsOf: target) == bytes)
  }

  @Test("a device is never removed in place of a store")
  func devices() throws {
    let folder = try TemporaryFolder()
    let file: URL = folder.file("file")
    #expect(!StorePlace.mayRemove(file))
    try Data().write(to: file)
    #expect(StorePlace.mayRemove(file))
    #expect(!StorePlace.mayRemove(folder.url))
    for device in ["/dev/null", "/dev/zero", "/dev/null/x.sqlite"] {
      #expect(!StorePlace.mayRemove(URL(fileURLWithPath: device)), "\(device)")
    }
  }

  @Test("what a killed migration has left is replaced, not added to")
  func leftover() throws {
    let folder = try TemporaryFolder()
    let left = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder, people: 3)
    let copying = ManagerTests.mappings {
      $0[0].entityMigrationPolicyClassName = NSStringFromClass(CopyingPolicy.self)
    }
    let target: URL = try ManagerTests.migrate(
      .sqlite, url, folder, by: copying, userInfo: ["copies": left.url])
    let wanted: [String] = try Self.contents(.sqlite, target)
    // The leftover has people already, so that adding to it would show.
    #expect(try Self.contents(.sqlite, left.file("new.sqlite"))[0] == wanted[0])
    let again: URL = try ManagerTests.migrate(.sqlite, url, left)
    #expect(try Self.contents(.sqlite, again) == wanted)
  }
}
