import CoreData
import CoreDataStoreTests
import Foundation
import ProgramStores
import Testing

// snippet atomic
/// Notes in a text file, one on each line.
final class LinesStore: NSAtomicStore, @unchecked Sendable {
  override func load() throws {
    guard let url, FileManager.default.fileExists(atPath: url.path),
      let note = persistentStoreCoordinator?.managedObjectModel.entitiesByName["Note"]
    else { return }
    for (number, line) in try String(contentsOf: url, encoding: .utf8).split(separator: "\n").enumerated() {
      let node = NSAtomicStoreCacheNode(objectID: objectID(for: note, withReferenceObject: number))
      node.setValue(String(line), forKey: "text")
      addCacheNodes([node])
    }
  }

  override func save() throws {
    let lines: [String] = cacheNodes().compactMap { $0.value(forKey: "text") as? String }
    guard let url else { return }
    try Data(lines.sorted().joined(separator: "\n").utf8).write(to: url, options: .atomic)
  }
}
// end

/// What the incremental store of the guide talks to.
final class NoteService: @unchecked Sendable {
  // Sendable: guarded by `lock`.
  static let shared = NoteService()
  private let lock = NSLock()
  private var notes: [String: String] = [:]

  var all: [String: String] { lock.withLock { notes } }
  func put(_ text: String?, at name: String) { lock.withLock { notes[name] = text } }
}

// snippet incremental
/// Notes in a service that keeps texts by names.
final class NotesStore: NSIncrementalStore, @unchecked Sendable {
  private let service: NoteService = .shared

  override func loadMetadata() throws {
    metadata = [NSStoreTypeKey: "Notes", NSStoreUUIDKey: "2C6F3C5E-7B0E-4C38-9E0F-8A2F0D4F7A11"]
  }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws
    -> Any
  {
    switch request {
    case let fetch as NSFetchRequest<NSFetchRequestResult>:
      guard let note = fetch.entity, let context else { throw CocoaError(.featureUnsupported) }
      let found: [NSManagedObject] = service.all.keys.sorted().map { name in
        context.object(with: newObjectID(for: note, referenceObject: name))
      }.filter { fetch.predicate?.evaluate(with: $0) ?? true }
      return fetch.resultType == .countResultType ? [NSNumber(value: found.count)] : found
    case let save as NSSaveChangesRequest:
      for note in (save.insertedObjects ?? []).union(save.updatedObjects ?? []) {
        service.put(note.value(forKey: "text") as? String, at: name(note.objectID))
      }
      for note in save.deletedObjects ?? [] { service.put(nil, at: name(note.objectID)) }
      return []
    default: throw CocoaError(.featureUnsupported)
    }
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
  }

  override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext)
    throws
    -> NSIncrementalStoreNode
  {
    guard let text = service.all[name(objectID)] else {
      throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
    }
    // The service has no versions: a version that follows from the text shows changes too.
    return NSIncrementalStoreNode(
      objectID: objectID, withValues: ["text": text], version: UInt64(truncatingIfNeeded: text.hashValue))
  }

  private func name(_ id: NSManagedObjectID) -> String { referenceObject(for: id) as? String ?? "" }
}
// end

/// The stores of the page stores-of-your-own.md.
@Suite struct GuideTests {
  private func context(_ type: NSPersistentStore.Type, at url: URL) throws -> NSManagedObjectContext {
    let note = NSEntityDescription()
    note.name = "Note"
    let text = NSAttributeDescription()
    (text.name, text.attributeType, text.isOptional) = ("text", .stringAttributeType, true)
    note.properties = [text]
    let model = NSManagedObjectModel()
    model.entities = [note]
    // snippet register
    NSPersistentStoreCoordinator.registerStoreClass(LinesStore.self, forStoreType: "Lines")
    NSPersistentStoreCoordinator.registerStoreClass(NotesStore.self, forStoreType: "Notes")
    // end
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: type == LinesStore.self ? "Lines" : "Notes", configurationName: nil, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test(arguments: [LinesStore.self, NotesStore.self] as [NSPersistentStore.Type])
  func `the stores of the guide keep notes`(type: NSPersistentStore.Type) throws {
    let url: URL = FileManager.default.temporaryDirectory.appending(path: "notes-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    func texts(_ format: String? = nil) throws -> [String] {
      let reader: NSManagedObjectContext = try context(type, at: url)
      request.predicate = format.map { NSPredicate(format: $0) }
      return try reader.performAndWait {
        try reader.fetch(request).compactMap { $0.value(forKey: "text") as? String }.sorted()
      }
    }
    let writer: NSManagedObjectContext = try context(type, at: url)
    try writer.performAndWait {
      for text in ["milk", "bread", "salt"] {
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: writer).setValue(
          text, forKey: "text")
      }
      try writer.save()
      request.predicate = nil
      for note in try writer.fetch(request) {
        switch note.value(forKey: "text") as? String {
        case "milk": note.setValue("oat milk", forKey: "text")
        case "salt": writer.delete(note)
        default: break
        }
      }
      try writer.save()
    }
    #expect(try texts() == ["bread", "oat milk"])
    #expect(try texts("text CONTAINS 'milk'") == ["oat milk"])
  }

  @Test(arguments: StoreTest.all.prefix(1))
  func `the tests of a store take three lines`(test: StoreTest) throws {
    // snippet tests
    try test.run(on: StoreUnderTest(ListStore.self, type: "List", features: [.persistence, .relationships]))
    // end
  }
}
