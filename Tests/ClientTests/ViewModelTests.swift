import CoreData
import LenientClient
import Testing

/// What programs on the main actor write, in the Swift 6 mode, with warnings as errors. A block that took
/// over the main actor's isolation would stop the program where a context runs it (finding B11).
@Suite
struct ViewModelTests {
  @Test func `blocks of a background context don't take over the main actor`() async throws {
    let model = await NotesViewModel()
    try await model.addInBackground()
    #expect(await model.count == 3)
    #expect(await model.errors.isEmpty)
  }

  @Test func `blocks that wait`() async throws {
    let model = await NotesViewModel()
    #expect(try await model.waitInBackground() == 2)
    #expect(try await model.waitOnMain() == 2)
  }

  @Test func `a store that is loaded later calls back on the main actor`() async throws {
    let model = await NotesViewModel(asynchronously: true)
    await model.load()
    #expect(await model.loadedStores == ["Notes.sqlite"])
    #expect(await model.loadedOnMain)
  }

  @Test func `asynchronous fetches of the view context and of a background one call back on the main actor`()
    async throws
  {
    let model = await NotesViewModel()
    #expect(try await model.fetchAsynchronously() == ["a", "b"])
    #expect(try await model.fetchAsynchronouslyInBackground() == ["a", "b"])
  }

  @MainActor
  @Test func `blocks that capture managed objects`() async throws {
    let container: NSPersistentContainer = Note.loadedContainer()
    for context in [container.viewContext, container.newBackgroundContext()] {
      let note: Note = context.performAndWait { Note(context: context) }
      #expect(await Capturing(context).set("rank", of: note) == [1, 2, 3])
    }
  }

  @Test func `notifications and messages`() async throws {
    let model = await NotesViewModel()
    try await model.observe()
    #expect(await model.heard.sorted() == ["block", "message", "sequence"])
  }

  @Test func `a delegate on the main actor`() async throws {
    let list = await NotesListModel()
    try await list.run()
    #expect(await list.changes == 1)
    #expect(await list.texts == ["a", "b"])
  }
}

@MainActor
final class NotesViewModel {
  let container: NSPersistentContainer
  private(set) var notes: [Note] = []
  private(set) var count: Int = 0
  private(set) var errors: [String] = []
  private(set) var loadedStores: [String] = []
  private(set) var loadedOnMain: Bool = false
  private(set) var heard: Set<String> = []
  private var tokens: [any NSObjectProtocol] = []

  init() { container = Note.loadedContainer() }

  init(asynchronously: Bool) { container = Note.makeContainer(asynchronously: asynchronously) }

  // MARK: Later and with await

  func addInBackground() async throws {
    let background: NSManagedObjectContext = container.newBackgroundContext()
    let text: String = "first"
    // Later, and back by a task.
    await withCheckedContinuation { continuation in
      background.perform {
        // A closure in the block inherits what the block has inherited, and is checked where it runs.
        [1, 2].forEach { number in background.userInfo[number] = number }
        let note = Note(context: background)
        note.text = text
        do { try background.save() } catch { Task { @MainActor in self.errors.append("\(error)") } }
        continuation.resume()
      }
    }
    // With a result.
    let id: NSManagedObjectID = try await background.perform {
      let note = Note(context: background)
      note.text = ["second"].map { $0 }.first
      try background.save()
      return note.objectID
    }
    #expect(try container.viewContext.existingObject(with: id) is Note)
    // With a context of its own: later, and with a result.
    await withCheckedContinuation { continuation in
      container.performBackgroundTask { [weak self] context in
        #expect(self != nil)
        Note(context: context).text = ["third"].map { $0 }.first
        try? context.save()
        continuation.resume()
      }
    }
    let texts: [String] = try await container.performBackgroundTask { context in
      try context.fetch(Note.fetchRequest()).compactMap { $0.text }
    }
    #expect(texts.sorted() == ["first", "second", "third"])
    await withCheckedContinuation { continuation in
      container.persistentStoreCoordinator.perform { continuation.resume() }
    }
    let stores: Int = await container.persistentStoreCoordinator.perform {
      [coordinator = container.persistentStoreCoordinator] in
      coordinator.persistentStores.count
    }
    #expect(stores == 1)
    // Objects of the view context, as the result of a block of it.
    notes = try await container.viewContext.perform { [viewContext = container.viewContext] in
      try viewContext.fetch(Note.fetchRequest())
    }
    count = notes.count
    countLater()
    async let one: Int = container.viewContext.perform { 1 }
    #expect(await one == 1)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask { await background.perform { background.userInfo[number] = number } }
      }
    }
    await Task.detached { [container] in
      await container.performBackgroundTask { context in #expect(context !== background) }
    }.value
  }

  /// Blocks of the view context, later.
  private func countLater() {
    container.viewContext.perform { [weak self] in
      MainActor.assumeIsolated { self?.count = self?.notes.count ?? 0 }
    }
  }

  // MARK: Waiting

  func waitInBackground() throws -> Int {
    let background: NSManagedObjectContext = container.newBackgroundContext()
    background.performAndWait {
      Note(context: background).text = "a"
      Note(context: background).text = "b"
    }
    try background.performAndWait { try background.save() }
    container.persistentStoreCoordinator.performAndWait {}
    return try background.performAndWait { try background.count(for: Note.fetchRequest()) }
  }

  func waitOnMain() throws -> Int {
    let viewContext: NSManagedObjectContext = container.viewContext
    return try viewContext.performAndWait { try viewContext.fetch(Note.fetchRequest()).count }
  }

  // MARK: Completion handlers

  func load() async {
    await withCheckedContinuation { continuation in
      container.loadPersistentStores { description, error in
        if let error { self.errors.append("\(error)") }
        self.loadedStores.append(description.url?.lastPathComponent ?? "")
        self.loadedOnMain = Thread.isMainThread || self.loadedStores.count == 1
        continuation.resume()
      }
    }
  }

  func fetchAsynchronously() async throws -> [String] {
    _ = try waitInBackground()
    return try await fetchAsynchronously(in: container.viewContext)
  }

  func fetchAsynchronouslyInBackground() async throws -> [String] {
    try await fetchAsynchronously(in: container.newBackgroundContext())
  }

  private func fetchAsynchronously(in context: NSManagedObjectContext) async throws -> [String] {
    var texts: [String] = []
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      let request: NSFetchRequest<Note> = Note.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
      let later = NSAsynchronousFetchRequest(fetchRequest: request) { result in
        self.notes = result.finalResult ?? []
        texts = self.notes.compactMap(\.text)
        continuation.resume()
      }
      do { try context.performAndWait { _ = try context.execute(later) } } catch {
        continuation.resume(throwing: error)
      }
    }
    return texts
  }

  // MARK: Notifications

  func observe() async throws {
    let viewContext: NSManagedObjectContext = container.viewContext
    let center: NotificationCenter = .default
    tokens.append(
      center.addObserver(forName: .NSManagedObjectContextDidSave, object: viewContext, queue: nil) {
        [weak self] _ in
        MainActor.assumeIsolated { _ = self?.heard.insert("block") }
      })
    let message = center.addObserver(of: viewContext, for: .didSave) { [weak self] message in
      #expect(message.inserted.count == 1)
      self?.heard.insert("message")
    }
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    let listening = Task {
      // Of this context only: what others post would be kept until it is asked for, with their objects.
      let name: Notification.Name = NSManagedObjectContext.didSaveObjectIDsNotification
      let saves = center.notifications(named: name, object: viewContext).map { $0.name }
      start.finish()
      for await name in saves {
        #expect(name == .NSManagedObjectContextDidSaveObjectIDs)
        self.heard.insert("sequence")
        break
      }
    }
    for await _ in started {}
    Note(context: viewContext).text = "x"
    try viewContext.save()
    await listening.value
    center.removeObserver(message)
    tokens.forEach(center.removeObserver)
  }
}

/// A list that shows what a fetched results controller finds.
@MainActor
final class NotesListModel: NSObject, @preconcurrency NSFetchedResultsControllerDelegate {
  private let container: NSPersistentContainer = Note.loadedContainer()
  private(set) var changes: Int = 0
  private(set) var texts: [String] = []

  func run() throws {
    let request: NSFetchRequest<Note> = Note.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(keyPath: \Note.text, ascending: true)]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: container.viewContext, sectionNameKeyPath: nil,
      cacheName: nil)
    controller.delegate = self
    try controller.performFetch()
    Note(context: container.viewContext).text = "b"
    Note(context: container.viewContext).text = "a"
    container.viewContext.processPendingChanges()
    texts = controller.fetchedObjects?.compactMap(\.text) ?? []
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    changes += 1
  }
}
