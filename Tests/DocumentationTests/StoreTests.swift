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
  }
}
