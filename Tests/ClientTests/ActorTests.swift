import CoreData
import Testing

/// The same from an actor of the program's own.
@Suite
struct ActorTests {
  @Test func `an actor works with a background context`() async throws {
    let importer = Importer(Note.loadedContainer())
    try await importer.add(["a", "b"])
    #expect(await importer.total == 2)
    #expect(try await importer.texts() == ["a", "b"])
  }

  @Test func `an actor works with the view context`() async throws {
    let importer = Importer(Note.loadedContainer())
    #expect(try await importer.addOnMain("a") == 1)
    #expect(try await importer.waitOnMain() == 1)
  }

  @Test func `an actor loads a store at once and later`() async throws {
    for asynchronously in [false, true] {
      let importer = Importer(Note.makeContainer(asynchronously: asynchronously))
      await importer.load()
      #expect(await importer.loaded == 1)
    }
  }

  @MainActor @Test func `a container has a context that is made when it is first used`() {
    let container = LazyContainer(
      name: "Notes", managedObjectModel: Note.loadedContainer().managedObjectModel)
    #expect(container.background === container.background)
    #expect(container.background.persistentStoreCoordinator === container.persistentStoreCoordinator)
  }

  @Test func `an actor fetches asynchronously`() async throws {
    let importer = Importer(Note.loadedContainer())
    try await importer.add(["a"])
    #expect(try await importer.fetchAsynchronously() == 1)
  }
}

/// A property that is made when it is first read: `nonisolated`, as the classes of the framework are, it
/// can't be, so it is on an actor.
class LazyContainer: NSPersistentContainer, @unchecked Sendable {
  @MainActor lazy var background: NSManagedObjectContext = newBackgroundContext()
}

actor Importer {
  private let container: NSPersistentContainer
  private(set) var total: Int = 0
  private(set) var loaded: Int = 0

  init(_ container: NSPersistentContainer) { self.container = container }

  func add(_ texts: [String]) async throws {
    let background: NSManagedObjectContext = container.newBackgroundContext()
    try await background.perform(schedule: .enqueued) {
      for text in texts { Note(context: background).text = text }
      try background.save()
    }
    background.performAndWait { background.reset() }
    total += try await container.performBackgroundTask { try $0.count(for: Note.fetchRequest()) }
  }

  func texts() async throws -> [String] {
    try await container.performBackgroundTask { context in
      let request: NSFetchRequest<Note> = Note.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(keyPath: \Note.text, ascending: true)]
      return try context.fetch(request).compactMap(\.text)
    }
  }

  func addOnMain(_ text: String) async throws -> Int {
    try await container.viewContext.perform { [viewContext = container.viewContext] in
      Note(context: viewContext).text = text
      try viewContext.save()
      return try viewContext.count(for: Note.fetchRequest())
    }
  }

  func waitOnMain() throws -> Int {
    let viewContext: NSManagedObjectContext = container.viewContext
    return try viewContext.performAndWait { try viewContext.count(for: Note.fetchRequest()) }
  }

  func load() async {
    await withCheckedContinuation { continuation in
      container.loadPersistentStores { _, error in
        #expect(error == nil)
        self.loaded += 1
        continuation.resume()
      }
    }
  }

  func fetchAsynchronously() async throws -> Int {
    let background: NSManagedObjectContext = container.newBackgroundContext()
    return try await withCheckedThrowingContinuation { continuation in
      let later = NSAsynchronousFetchRequest<Note>(fetchRequest: Note.fetchRequest()) { result in
        self.total += 1
        continuation.resume(returning: result.finalResult?.count ?? -1)
      }
      do { try background.performAndWait { _ = try background.execute(later) } } catch {
        continuation.resume(throwing: error)
      }
    }
  }
}
