import CoreData
import CoreDataStoreTests
import Foundation
import ProgramStores
import Testing

/// Programs' stores as sources and targets of migrations.
@Suite struct MigrationTests {
  private let folder: URL

  init() throws {
    NSPersistentStoreCoordinator.registerStoreClass(RecordStore.self, forStoreType: RecordStore.storeType)
    NSPersistentStoreCoordinator.registerStoreClass(ListStore.self, forStoreType: ListStore.storeType)
    folder = FileManager.default.temporaryDirectory.appending(path: "migration-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let made = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    made.persistentStoreCoordinator = coordinator
    return made
  }

  private func fill(_ coordinator: NSPersistentStoreCoordinator) throws {
    let context: NSManagedObjectContext = context(coordinator)
    try context.performAndWait {
      func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
      }
      let author: NSManagedObject = make("Author", ["name": "Woolf"])
      author.setValue(author, forKey: "mentor")
      let tags: [NSManagedObject] = ["x", "y"].map { make("Tag", ["name": $0]) }
      let books: [NSManagedObject] = ["b", "c", "a"].map {
        make("Book", ["title": $0, "author": author, "pages": 7, "keywords": ["k"] as NSArray])
      }
      _ = make("Novel", ["title": "n", "genre": "g", "cover": Data([1, 2])])
      books[0].setValue(NSSet(array: tags), forKey: "tags")
      books[1].setValue(NSSet(object: tags[1]), forKey: "tags")
      make("Shelf", ["label": "A"]).setValue(NSOrderedSet(array: books), forKey: "books")
      try context.save()
    }
  }

  /// All objects and relationships as text.
  private func dump(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
    let context: NSManagedObjectContext = context(coordinator)
    func name(_ object: Any) -> String {
      guard let object = object as? NSManagedObject else { return "?" }
      let key: String =
        ["Author": "name", "Tag": "name", "Shelf": "label"][object.entity.name ?? ""] ?? "title"
      return "\(object.entity.name ?? "") \(object.value(forKey: key) ?? "")"
    }
    return try context.performAndWait {
      var lines: [String] = []
      for entity in ["Author", "Book", "Shelf", "Tag"] {
        for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
          var line: String = name(object)
          for key in object.entity.attributesByName.keys.sorted() {
            line += " \(key)=\(object.value(forKey: key).map { "\($0)" } ?? "nil")"
          }
          for (key, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
            let value: Any? = object.value(forKey: key)
            let names: [String]
            if relationship.isOrdered {
              names = (value as? NSOrderedSet)?.array.map(name) ?? []
            } else if relationship.isToMany {
              names = ((value as? NSSet)?.allObjects.map(name) ?? []).sorted()
            } else {
              names = value.map { [name($0)] } ?? []
            }
            line += " \(key)=\(names)"
          }
          lines.append(line)
        }
      }
      return lines.sorted()
    }
  }

  @Test(arguments: [ListStore.storeType, RecordStore.storeType], [NSSQLiteStoreType, NSXMLStoreType])
  func `objects are copied to a program's store and back`(type: String, other: String) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    let first: NSPersistentStore = try coordinator.addPersistentStore(
      ofType: other, configurationName: nil, at: folder.appending(path: "first"))
    try fill(coordinator)
    let before: [String] = try dump(coordinator)
    first.metadata["owner"] = "me"
    let second: NSPersistentStore = try coordinator.migratePersistentStore(
      first, to: folder.appending(path: "second"), withType: type)
    #expect(coordinator.persistentStores == [second])
    #expect(try dump(coordinator) == before)
    #expect(second.metadata["owner"] as? String == "me" && second.identifier != first.identifier)
    // What was written, not what is in memory.
    try coordinator.remove(second)
    let opened: NSPersistentStore = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: folder.appending(path: "second"))
    #expect(try dump(coordinator) == before)
    let third: NSPersistentStore = try coordinator.migratePersistentStore(
      opened, to: folder.appending(path: "third"), withType: other)
    #expect(try dump(coordinator) == before)
    #expect(third.metadata["owner"] as? String == "me")
  }

  @Test func `a migration that a program's store refuses leaves the old store in its place`() throws {
    final class Refusing: NSAtomicStore, @unchecked Sendable {
      override func load() throws {}
      override func save() throws { throw CocoaError(.fileWriteOutOfSpace) }
    }
    NSPersistentStoreCoordinator.registerStoreClass(Refusing.self, forStoreType: "Refusing")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    let first: NSPersistentStore = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: folder.appending(path: "first"))
    try fill(coordinator)
    let before: [String] = try dump(coordinator)
    #expect(throws: CocoaError(.fileWriteOutOfSpace)) {
      try coordinator.migratePersistentStore(
        first, to: folder.appending(path: "second"), withType: "Refusing")
    }
    #expect(coordinator.persistentStores == [first])
    #expect(try dump(coordinator) == before)
  }
}
