import CoreData
import CoreDataGraph
import Foundation
import StackSupport
import Synchronization
import Testing

/// Use of a context or its objects off its queue: debug builds report it, the launch argument stops there;
/// both sides are named.
@Suite
struct ConcurrencyDebugTests {
  /// What can be done to an object or a context that belongs to another queue.
  enum Deed: String, CaseIterable, Codable, Sendable {
    case number, text, date, set, keyValue, keyPath, setKeyValue, primitive, setPrimitive, changing, toOne,
      setToOne, toMany, addMember, mutableSet, objectIDs, fault, committed
    case insert, delete, fetch, count, save, refresh, reset, rollback, lookUp, existing, changes, pending,
      permanentIDs, merge

    /// What the message has to name.
    var parts: [String] {
      switch self {
      case .number: ["Item.price was read"]
      case .text, .keyValue, .keyPath, .primitive, .fault: ["Item.title was read"]
      case .date: ["Item.due was read"]
      case .set, .setKeyValue, .setPrimitive, .changing: ["Item.title was changed"]
      case .toOne: ["Item.category was read"]
      case .setToOne: ["Item.category was changed"]
      case .toMany, .mutableSet, .objectIDs: ["Item.tags was read"]
      case .addMember: ["Item.tags was changed"]
      case .committed: ["Item was read"]
      case .insert: ["insert(_:) was called"]
      case .delete: ["delete(_:) was called"]
      case .fetch: ["fetch(_:) was called"]
      case .count: ["count(for:) was called"]
      case .save: ["save() was called"]
      case .refresh: ["refresh(_:mergeChanges:) was called"]
      case .reset: ["reset() was called"]
      case .rollback: ["rollback() was called"]
      case .lookUp, .existing: ["object(with:) was called"]
      case .changes: ["updatedObjects was read"]
      case .pending: ["processPendingChanges() was called"]
      case .permanentIDs: ["obtainPermanentIDs(for:) was called"]
      case .merge: ["mergeChanges(fromContextDidSave:) was called"]
      }
    }

    func commit(_ item: Item, _ tag: Tag, _ context: NSManagedObjectContext) throws {
      switch self {
      case .number: _ = item.price
      case .text, .fault: _ = item.title
      case .date: _ = item.due
      case .set: item.title = "b"
      case .keyValue: _ = item.value(forKey: "title")
      case .keyPath: _ = item.value(forKeyPath: "title.length")
      case .setKeyValue: item.setValue("b", forKey: "title")
      case .primitive: _ = item.primitiveValue(forKey: "title")
      case .setPrimitive: item.setPrimitiveValue("b", forKey: "title")
      case .changing: item.willChangeValue(forKey: "title")
      case .toOne: _ = item.category
      case .setToOne: item.category = nil
      case .toMany: _ = item.tags
      case .addMember: item.addToTags(tag)
      case .mutableSet: _ = item.mutableSetValue(forKey: "tags")
      case .objectIDs: _ = item.objectIDs(forRelationshipNamed: "tags")
      case .committed: _ = item.committedValues(forKeys: nil)
      case .insert: _ = Item(context: context)
      case .delete: context.delete(item)
      case .fetch: _ = try context.fetch(NSFetchRequest<Item>(entityName: "Item"))
      case .count: _ = try context.count(for: NSFetchRequest<Item>(entityName: "Item"))
      case .save: try context.save()
      case .refresh: context.refresh(item, mergeChanges: true)
      case .reset: context.reset()
      case .rollback: context.rollback()
      case .lookUp: _ = context.object(with: item.objectID)
      case .existing: _ = try context.existingObject(with: item.objectID)
      case .changes: _ = context.updatedObjects
      case .pending: context.processPendingChanges()
      case .permanentIDs: try context.obtainPermanentIDs(for: [item])
      case .merge:
        context.mergeChanges(fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave))
      }
    }
  }

  private struct Kitchen {
    let stack: Stack
    let item: Item
    let tag: Tag

    init() throws {
      stack = try Stack(.inMemory)
      stack.context.name = "kitchen"
      (item, tag) = try stack.run { context in
        let tag = Tag(context: context)
        let item: Item = context.item("a", context.category("c"))
        try context.save()
        return (item, tag)
      }
    }
  }

  private static func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test(arguments: Deed.allCases)
  func `asked for, use off the queue stops, and names the context, its queue, the use and the place`(
    deed: Deed
  ) async {
    let result: ExitTest.Result? = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [deed = deed as Deed] in
      setenv("CLARUS_CONCURRENCY_DEBUG", "1", 1)
      let kitchen = try Kitchen()
      if deed == .fault {
        try kitchen.stack.run { $0.refresh(kitchen.item, mergeChanges: false) }
      }
      try DispatchQueue(label: "dining room").sync {
        try deed.commit(kitchen.item, kitchen.tag, kitchen.stack.context)
      }
    }
    let text: String = Self.text(result)
    for part in deed.parts + ["\"kitchen\"", "a private queue", "queue dining room", "performAndWait"] {
      #expect(text.contains(part), "\(text)")
    }
    // Where it happened, by name.
    #expect(text.contains("Deed.commit"), "\(text)")
  }

  @Test func `on its own queue everything goes on, nested blocks and child contexts included`() async {
    await #expect(processExitsWith: .success) {
      setenv("com.apple.CoreData.ConcurrencyDebug", "YES", 1)
      for deed in Deed.allCases {
        let kitchen = try Kitchen()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = kitchen.stack.context
        try kitchen.stack.run { context in
          if deed == .fault { context.refresh(kitchen.item, mergeChanges: false) }
          try child.performAndWait {
            try context.performAndWait { try deed.commit(kitchen.item, kitchen.tag, context) }
            _ = child.item("of the child")
            try child.save()
          }
          try context.save()
        }
        try kitchen.stack.elsewhere { other in
          for item in try other.all(Item.self, "Item") { item.title = "changed" }
          try other.save()
        }
      }
    }
  }

  @Test func `a main-queue context belongs to the main thread, and names it`() async {
    let result: ExitTest.Result? = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { @MainActor in
      setenv("CLARUS_CONCURRENCY_DEBUG", "1", 1)
      let stack = try Stack(.inMemory)
      let context = NSManagedObjectContext(.mainQueue)
      context.persistentStoreCoordinator = stack.coordinator
      let item: Item = context.item("a")
      guard item.title == "a" else { exit(EXIT_SUCCESS) }
      nonisolated(unsafe) let theirs: Item = item
      await Task.detached { _ = theirs.title }.value
    }
    let text: String = Self.text(result)
    #expect(text.contains("Item.title was read") && text.contains("the main queue"), "\(text)")
  }

  @Test func `a confinement context belongs to the thread that made it`() async {
    await #expect(processExitsWith: .success) {
      setenv("CLARUS_CONCURRENCY_DEBUG", "1", 1)
      try Self.useConfined { $0() }
    }
    let result: ExitTest.Result? = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      setenv("CLARUS_CONCURRENCY_DEBUG", "1", 1)
      try Self.useConfined { body in
        nonisolated(unsafe) let body: () -> Void = body
        let thread = Thread { body() }
        thread.start()
        // The thread ends the process; a process that goes on past it would exit with success.
        while !thread.isFinished { sched_yield() }
      }
    }
    let text: String = Self.text(result)
    #expect(text.contains("Item.title was read") && text.contains("confinement"), "\(text)")
  }

  private static func useConfined(_ run: (@escaping () -> Void) -> Void) throws {
    let stack = try Stack(.inMemory)
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = stack.coordinator
    let item: Item = context.item("a")
    try context.save()
    run { _ = item.title }
    withExtendedLifetime(context) {}
  }

  /// What a test prints that uses an object off its queue, twice each way, and goes on.
  private static func useOffQueue(_ setting: String?) throws {
    unsetenv("com.apple.CoreData.ConcurrencyDebug")
    if let setting {
      setenv("CLARUS_CONCURRENCY_DEBUG", setting, 1)
    } else {
      unsetenv("CLARUS_CONCURRENCY_DEBUG")
    }
    for _ in 0..<2 {
      let kitchen = try Kitchen()
      for _ in 0..<2 {
        precondition(kitchen.item.title == "a" && kitchen.item.value(forKey: "count") as? Int == 7)
        _ = try kitchen.stack.context.count(for: NSFetchRequest<Item>(entityName: "Item"))
      }
    }
    FileHandle.standardError.write(Data("went on".utf8))
  }

  private static func reports(in text: String) -> Int {
    text.components(separatedBy: "CoreData concurrency violation").count - 1
  }

  @Test func `unasked, debug builds report each kind of use once and go on, others are silent`() async {
    let result: ExitTest.Result? = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      try Self.useOffQueue(nil)
    }
    let text: String = Self.text(result)
    #expect(text.hasSuffix("went on"), "\(text)")
    #expect(Self.reports(in: text) == (ConcurrencyDebug.defaultMode == .report ? 3 : 0), "\(text)")
    guard ConcurrencyDebug.defaultMode == .report else { return }
    for part in [
      "Item.title was read off the queue", "Item.count was read", "count(for:) was called", "\"kitchen\"",
      "a private queue", "useOffQueue", "performAndWait", "CLARUS_CONCURRENCY_DEBUG=1",
    ] {
      #expect(text.contains(part), "\(text)")
    }
  }

  @Test func `reports can be asked for, and silenced`() async {
    let reporting: ExitTest.Result? = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      try Self.useOffQueue("report")
    }
    #expect(Self.reports(in: Self.text(reporting)) == 3)
    let silent: ExitTest.Result? = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      try Self.useOffQueue("0")
    }
    #expect(Self.text(silent) == "went on")
  }

  @Test func `reports come to an end`() async {
    let result: ExitTest.Result? = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      setenv("CLARUS_CONCURRENCY_DEBUG", "report", 1)
      for number in 0..<30 {
        let kitchen = try Kitchen()
        kitchen.stack.context.name = "kitchen \(number)"
        _ = kitchen.item.title
      }
    }
    #expect(Self.reports(in: Self.text(result)) == 20)
  }

  // A write-ahead log's index is mapped and unmapped by whoever opens and closes the store.
  @Test func `a report names its callers while other threads map and unmap files`() async {
    let result: ExitTest.Result? = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      setenv("CLARUS_CONCURRENCY_DEBUG", "report", 1)
      let file: URL = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try Data(count: 1 << 16).write(to: file)
      let descriptor: Int32 = open(file.path, O_RDONLY)
      try FileManager.default.removeItem(at: file)
      let isOver = Atomic<Bool>(false)
      let threads: [Thread] = (0..<4).map { _ in
        Thread {
          while !isOver.load(ordering: .relaxed) {
            let places: [UnsafeMutableRawPointer?] = (0..<64).map { _ in
              mmap(nil, 1 << 16, PROT_READ, MAP_SHARED, descriptor, 0)
            }
            for place in places { munmap(place, 1 << 16) }
          }
        }
      }
      for thread in threads { thread.start() }
      for number in 0..<20 {
        let kitchen = try Kitchen()
        kitchen.stack.context.name = "kitchen \(number)"
        _ = kitchen.item.title
      }
      isOver.store(true, ordering: .relaxed)
    }
    #expect(Self.reports(in: Self.text(result)) == 20)
    #expect(Self.text(result).contains("Item.title.getter"), "\(Self.text(result).suffix(2000))")
  }

  /// What programs do that use contexts rightly; none of it is reported.
  @Test func `main-queue contexts, async blocks, child contexts, merges and controllers are not reported`()
    async
  {
    let result: ExitTest.Result? = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) { @MainActor in
      setenv("CLARUS_CONCURRENCY_DEBUG", "report", 1)
      let stack = try Stack(.inMemory)
      let view = NSManagedObjectContext(.mainQueue)
      view.persistentStoreCoordinator = stack.coordinator
      view.automaticallyMergesChangesFromParent = true
      let item: Item = view.item("a")
      try view.save()
      let request = NSFetchRequest<Item>(entityName: "Item")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: view, sectionNameKeyPath: nil, cacheName: nil)
      try controller.performFetch()
      // Another context saves; this one merges on its own queue.
      let other = NSManagedObjectContext(.privateQueue)
      other.persistentStoreCoordinator = stack.coordinator
      let id: NSManagedObjectID = item.objectID
      try await other.perform {
        (try other.existingObject(with: id) as? Item)?.title = "b"
        try other.save()
      }
      nonisolated(unsafe) let theirs: Item = item
      await view.perform { _ = theirs.title }
      // A child of the main queue's on a queue of its own, and one on the main queue.
      let child = NSManagedObjectContext(.privateQueue)
      child.parent = view
      try await child.perform {
        (child.object(with: id) as? Item)?.count = 9
        try child.save()
      }
      try child.performAndWait { try view.performAndWait { try child.save() } }
      let sketch = NSManagedObjectContext(.mainQueue)
      sketch.parent = view
      _ = sketch.item("c")
      try sketch.save()
      try await Task { @MainActor in try view.save() }.value
      precondition(item.count == 9 && controller.fetchedObjects?.isEmpty == false)
      precondition("\(item.objectID) \(item)".isEmpty == false)
      FileHandle.standardError.write(Data("done".utf8))
    }
    #expect(Self.text(result) == "done")
  }

  @Test func `the launch argument wins over the environment`() {
    let name = "com.apple.CoreData.ConcurrencyDebug"
    func chosen(_ environment: [String: String] = [:], _ arguments: [String] = []) -> ConcurrencyDebug {
      .chosen(environment: environment, arguments: ["program"] + arguments)
    }
    #expect(chosen() == .defaultMode)
    let spellings: [(ConcurrencyDebug, [String])] = [
      (.stop, ["1", "3", "YES", "true"]), (.report, ["report", "Report"]), (.off, ["0", "NO", "", "-1"]),
    ]
    for (choice, texts) in spellings {
      for text in texts {
        #expect(chosen([:], ["-\(name)", text]) == choice)
        #expect(chosen([name: text]) == choice)
        #expect(chosen(["CLARUS_CONCURRENCY_DEBUG": text]) == choice)
        #expect(chosen([name: "1", "CLARUS_CONCURRENCY_DEBUG": "1"], ["-\(name)", text]) == choice)
      }
    }
    #expect(chosen([:], ["-\(name)"]) == .defaultMode)
  }

  // MARK: A context that goes away

  @Test(arguments: StoreKind.allCases)
  func `what was loaded and never changed can be read after the context is gone`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.elsewhere { context in
      _ = context.item("a", context.category("c"))
      try context.save()
    }
    weak var gone: NSManagedObjectContext?
    let item: Item = try stack.elsewhere { context in
      gone = context
      return try #require(context.all(Item.self, "Item").first)
    }
    #expect(gone == nil)
    #expect(item.managedObjectContext == nil)
    #expect(item.title == "a")
    #expect(item.value(forKey: "count") as? Int == 7)
    #expect("\(item)".contains("Item"))
  }

  enum Loss: String, CaseIterable, Codable, Sendable {
    case unloaded, unsaved, relationship, write

    func use(_ item: Item) {
      switch self {
      case .unloaded, .unsaved: _ = item.title
      case .relationship: _ = item.category
      case .write: item.title = "b"
      }
    }
  }

  @Test(arguments: Loss.allCases)
  func `what would have to be loaded or was unsaved stops with an explanation`(loss: Loss) async {
    let result: ExitTest.Result? = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [loss = loss as Loss] in
      let stack = try Stack(.sqlite)
      let item: Item = try stack.elsewhere { context in
        let item: Item = context.item("a", context.category("c"))
        try context.save()
        if loss == .unloaded { context.refresh(item, mergeChanges: false) }
        if loss == .unsaved { item.title = "b" }
        return item
      }
      loss.use(item)
    }
    let text: String = Self.text(result)
    let key: String = loss == .relationship ? "Item.category" : "Item.title"
    #expect(text.contains(key) && text.contains("after its context was gone"), "\(text)")
  }

  @Test(arguments: StoreKind.allCases)
  func `contexts that go while their objects are used and freed elsewhere do no harm`(kind: StoreKind)
    async throws
  {
    let stack = try Stack(kind)
    try stack.run { context in
      for number in 0..<200 { _ = context.item("\(number)", number % 10 == 0 ? context.category("c") : nil) }
      try context.save()
    }
    nonisolated(unsafe) let stacks: Stack = stack
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<50 {
        group.addTask {
          let items: [Item] = try stacks.elsewhere { try $0.all(Item.self, "Item") }
          // The context is gone; its objects are let go by another thread while this one reads.
          nonisolated(unsafe) let half: [Item] = Array(items.prefix(100))
          let other = Task.detached { half.count { $0.title != nil } }
          let read: Int = items.dropFirst(100).count { $0.title != nil }
          return await other.value + read
        }
      }
      for try await count in group { #expect(count == 200) }
    }
  }

  // MARK: Nesting

  @Test(arguments: StoreKind.allCases)
  func `blocks of parent and child nest in each other, from many threads at once`(kind: StoreKind)
    async throws
  {
    let stack = try Stack(kind)
    let id: NSManagedObjectID = try stack.run { context in
      let item: Item = context.item("a")
      try context.save()
      return item.objectID
    }
    let parent: NSManagedObjectContext = stack.context
    let child = NSManagedObjectContext(.privateQueue)
    child.parent = parent
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<100 {
        group.addTask {
          // The outermost block is always the child's: parents never wait for children that wait for them.
          try child.performAndWait {
            let item = try child.existingObject(with: id) as? Item
            item?.count += 1
            try child.save()
            parent.performAndWait {
              parent.performAndWait { child.performAndWait { _ = item?.title } }
            }
            if number.isMultiple(of: 10) { child.refresh(try #require(item), mergeChanges: false) }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try stack.run { try ($0.existingObject(with: id) as? Item)?.count } == 107)
  }
}
