import CoreData
import Foundation
import Testing

@MainActor @Suite struct StoreTests {
  private func examined(_ url: URL) throws -> StoreExamination {
    // snippet examine
    let found = try NSPersistentStoreCoordinator.examineStore(at: url)
    for problem in found.problems where !problem.isWarning {
      print(problem.kind, problem.message, problem.count, problem.objects)
    }
    // end
    return found
  }

  private func url(_ shop: Shop) throws -> URL {
    try #require(shop.container.persistentStoreCoordinator.persistentStores.first?.url)
  }

  @Test func `an open store is examined as it was saved`() throws {
    let shop = try Shop()
    try shop.fill(20)
    let found = try examined(try url(shop))
    #expect(found.isSound && found.problems.isEmpty, "\(found.problems)")
    #expect(found.counts["Product"] == 20)
  }

  @Test func `damage is a result, and where no store is there is an error`() throws {
    let shop = try Shop()
    try shop.fill(2000)
    let store: URL = try url(shop)
    let folder: URL = store.deletingLastPathComponent()
    let copy: URL = folder.appendingPathComponent("Copy.xml")
    let coordinator = shop.container.persistentStoreCoordinator
    let model: NSManagedObjectModel = coordinator.managedObjectModel
    _ = try coordinator.migratePersistentStore(
      try #require(coordinator.persistentStores.first), to: copy, options: nil, withType: NSXMLStoreType)
    #expect(throws: (any Error).self) { try NSPersistentStoreCoordinator.examineStore(at: copy) }
    let whole = try NSPersistentStoreCoordinator.examineStore(at: copy, model: model)
    #expect(whole.isSound && whole.counts["Product"] == 2000, "\(whole.problems)")
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    let bytes = try Data(contentsOf: copy)
    try bytes.prefix(bytes.count / 2).write(to: copy)
    let cut = try NSPersistentStoreCoordinator.examineStore(at: copy, model: model)
    #expect(!cut.isSound && cut.problems.map(\.kind) == [.damage], "\(cut.problems)")
    #expect(cut.problems.first?.message.isEmpty == false)
    let text: URL = folder.appendingPathComponent("text")
    try Data("hello".utf8).write(to: text)
    for wrong in [text, folder, folder.appendingPathComponent("none.sqlite")] {
      let before: [String] = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      let error = #expect(throws: CocoaError.self) {
        try NSPersistentStoreCoordinator.examineStore(at: wrong, model: model)
      }
      #expect(error?.localizedDescription.contains(wrong.path) == true, "\(String(describing: error))")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
    }
  }

  private func repair(_ damaged: URL, _ repaired: URL, _ model: NSManagedObjectModel?) throws
    -> StoreRepairReport
  {
    // snippet repair
    let report = try NSPersistentStoreCoordinator.repairStore(at: damaged, to: repaired, model: model)
    for entity in report.entities { print(entity.name, entity.saved, entity.lost.count) }
    for change in report.changes { print(change.message) }
    // end
    return report
  }

  @Test func `a repair saves what can be read, into any kind of store`() throws {
    let shop = try Shop()
    try shop.fill(2000)
    let store: URL = try url(shop)
    let folder: URL = store.deletingLastPathComponent()
    let model: NSManagedObjectModel = shop.container.managedObjectModel
    let coordinator = shop.container.persistentStoreCoordinator
    let copied: URL = folder.appendingPathComponent("Sound.sqlite")
    let sound: StoreRepairReport = try repair(store, copied, nil)
    #expect(sound.isComplete && sound.changes.isEmpty && sound.problems.isEmpty, "\(sound)")
    #expect(sound.entities.first { $0.name == "Product" }?.saved == 2000)
    #expect(try NSPersistentStoreCoordinator.examineStore(at: copied).isSound)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    var bytes = try Data(contentsOf: store)
    // A page of rows in the middle: its first byte says so.
    let pages: [Int] = stride(from: 4096, to: bytes.count, by: 4096).filter { bytes[$0] == 13 }
    let place: Int = pages[pages.count / 2]
    bytes.replaceSubrange(place..<place + 4096, with: Data(repeating: 0xFF, count: 4096))
    try bytes.write(to: store)
    for type in [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType] {
      let out: URL = folder.appendingPathComponent("Repaired \(type)")
      let report = try NSPersistentStoreCoordinator.repairStore(at: store, to: out, type: type, model: model)
      #expect(!report.isComplete)
      #expect(!report.damagedTables.isEmpty || report.entities.contains { !$0.lost.isEmpty }, "\(report)")
      let found = try NSPersistentStoreCoordinator.examineStore(at: out, model: model)
      #expect(found.isSound, "\(found.problems)")
      #expect(found.counts["Product"] == report.entities.first { $0.name == "Product" }?.saved)
      #expect(try Data(contentsOf: store) == bytes)
      let error = #expect(throws: CocoaError.self) { try repair(store, out, model) }
      #expect(error?.localizedDescription.contains(out.path) == true, "\(String(describing: error))")
    }
    let names: [String] = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    let none: URL = folder.appendingPathComponent("none.sqlite")
    let text: URL = folder.appendingPathComponent("text")
    for (wrong, type) in [(none, nil), (text, nil), (store, "Postgres")] {
      if wrong == text { try Data("hello".utf8).write(to: text) }
      let error = #expect(throws: CocoaError.self) {
        try NSPersistentStoreCoordinator.repairStore(
          at: wrong, to: folder.appendingPathComponent("Out.sqlite"), type: type, model: model)
      }
      let words: String = error?.localizedDescription ?? ""
      #expect(words.contains(type ?? wrong.path), "\(words)")
      if wrong == text { try FileManager.default.removeItem(at: text) }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names)
    }
  }

  @Test func `a model that does not fit is an error, and a cancelled task ends the examination`() async throws
  {
    let shop = try Shop()
    try shop.fill(20)
    let store: URL = try url(shop)
    let entity = NSEntityDescription()
    entity.name = "Product"
    let other = NSManagedObjectModel()
    other.entities = [entity]
    #expect(throws: CocoaError.self) {
      try NSPersistentStoreCoordinator.examineStore(at: store, model: other)
    }
    let task = Task.detached {
      withUnsafeCurrentTask { $0?.cancel() }
      return try NSPersistentStoreCoordinator.examineStore(at: store)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    let out: URL = store.deletingLastPathComponent().appendingPathComponent("Out.sqlite")
    let repair = Task.detached {
      withUnsafeCurrentTask { $0?.cancel() }
      return try NSPersistentStoreCoordinator.repairStore(at: store, to: out)
    }
    await #expect(throws: CancellationError.self) { try await repair.value }
    #expect(!FileManager.default.fileExists(atPath: out.path))
  }
}
