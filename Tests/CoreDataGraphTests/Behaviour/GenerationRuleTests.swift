import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

extension Behaviour {
  /// Contexts that read one state of the store while others write.
  @Suite struct Generations {
    /// Items "a" and "b" in a category.
    private func filled(_ kind: StoreKind = .sqlite) throws -> Stack {
      let stack = try Stack(kind)
      try stack.elsewhere { context in
        let category: Category = context.category("things")
        for title in ["a", "b"] { _ = context.item(title, category) }
        try context.save()
      }
      return stack
    }

    /// Another context of the coordinator, or of another one over the file, sets all prices and adds an item.
    private func change(_ stack: Stack, _ price: Double, asStranger: Bool = false) throws {
      let other: NSManagedObjectContext = asStranger ? try stack.stranger() : stack.other()
      try other.performAndWait {
        for item in try other.all(Item.self, "Item") { item.price = price }
        _ = other.item("of \(price)", try other.all(Category.self, "Category").first)
        try other.save()
      }
    }

    private func prices(_ context: NSManagedObjectContext) throws -> [Double] {
      try context.all(Item.self, "Item", sort: ["title"]).map(\.price)
    }

    @Test(
      .rule("HIST-8", "NSQueryGenerationToken.current", "taken at the next read"), arguments: [false, true])
    func `a context pinned to the current state stays with that of its first read`(asStranger: Bool) throws {
      let stack: Stack = try filled()
      try stack.run { context in
        #expect(context.queryGenerationToken == nil)
        try context.setQueryGenerationFrom(.current)
        #expect(context.queryGenerationToken == .current)
        try change(stack, 1, asStranger: asStranger)
        #expect(context.queryGenerationToken == .current)
        #expect(try prices(context) == [1, 1, 0], "not what it was when the context was pinned")
        let token: NSQueryGenerationToken = try #require(context.queryGenerationToken)
        #expect(token != .current && token == context.queryGenerationToken)
        try change(stack, 2, asStranger: asStranger)
        #expect(try prices(context) == [1, 1, 0])
        // Counts, ids, dictionaries, members and faults read the same.
        #expect(try context.count(for: context.request(Item.self, "Item")) == 3)
        let ids = context.request(NSManagedObjectID.self, "Item")
        ids.resultType = .managedObjectIDResultType
        #expect(try context.fetch(ids).count == 3)
        let sums = context.request(NSDictionary.self, "Item", sort: ["title"])
        sums.resultType = .dictionaryResultType
        sums.propertiesToFetch = ["price"]
        #expect(try context.fetch(sums).map { $0["price"] as? Double } == [1, 1, nil])
        let category: Category = try #require(try context.all(Category.self, "Category").first)
        #expect(category.items.count == 3 && category.items.allSatisfy { $0.price < 2 })
        try context.setQueryGenerationFrom(nil)
        #expect(context.queryGenerationToken == nil)
        #expect(try context.count(for: context.request(Item.self, "Item")) == 4)
      }
    }

    @Test(.rule("HIST-8", "NSManagedObjectContext.setQueryGenerationFrom(_:)", "shared between contexts"))
    func `contexts with one token read one state, and faults pass by the row cache`() throws {
      let stack: Stack = try filled()
      try stack.run { context in
        try context.setQueryGenerationFrom(.current)
        let read: [Item] = try context.all(Item.self, "Item", sort: ["title"])
        let newer: NSManagedObjectContext = stack.other()
        try newer.performAndWait {
          for item in try newer.all(Item.self, "Item") { item.price = 9 }
          try newer.save()
        }
        let other: NSManagedObjectContext = stack.other()
        try other.performAndWait {
          try other.setQueryGenerationFrom(context.queryGenerationToken)
          #expect(other.queryGenerationToken == context.queryGenerationToken)
          // The newer rows are in the cache, for the context that saved them is there.
          for item in read { #expect((other.object(with: item.objectID) as? Item)?.price == 0) }
          #expect(try prices(other) == [0, 0])
        }
        try stack.elsewhere { #expect(($0.object(with: read[0].objectID) as? Item)?.price == 9) }
        withExtendedLifetime(newer) {}
      }
    }

    @Test(.rule("HIST-9", "NSManagedObjectContext.setQueryGenerationFrom(_:)"))
    func `a save pins to what it has saved, a reset to the next read, and loaded objects stay`() throws {
      let stack: Stack = try filled()
      try stack.run { context in
        try context.setQueryGenerationFrom(.current)
        let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
        #expect(items.map(\.price) == [0, 0])
        let before: NSQueryGenerationToken? = context.queryGenerationToken
        try change(stack, 1)
        // Saves meet the newest state: a row that was changed since is a conflict.
        items[0].count = 3
        #expect(codeThrown { try context.save() } == NSManagedObjectMergeError)
        #expect(context.queryGenerationToken == before, "a save that fails moves nothing")
        context.rollback()
        let new: Item = context.item("new")
        let saves = Recorder(
          [.NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs], of: context)
        try context.save()
        let after: NSQueryGenerationToken = try #require(context.queryGenerationToken)
        #expect(after != before && after != .current)
        let key: String = NSManagedObjectContext.NotificationKey.queryGeneration.rawValue
        #expect(saves.received.map { $0.userInfo?[key] as? NSQueryGenerationToken } == [after, after])
        #expect(items.map(\.price) == [0, 0], "loaded objects stay as they are")
        context.refresh(items[0], mergeChanges: false)
        #expect(items[0].price == 1 && new.price == 0)
        try change(stack, 2)
        #expect(try context.count(for: context.request(Item.self, "Item")) == 4)
        context.reset()
        #expect(context.queryGenerationToken == .current)
        #expect(try prices(context) == [2, 2, 2, 2, 0])
      }
    }

    @Test(
      .rule("HIST-9", "NSManagedObjectContext.mergeChanges(fromContextDidSave:)", "merges move the pin"),
      .rule(
        "MERGE-13", "NSManagedObjectContext.automaticallyMergesChangesFromParent", "the pin moves with it"),
      arguments: [false, true])
    func `merging another context's save into a pinned one moves the pin`(automatically: Bool) throws {
      let stack: Stack = try filled()
      let context: NSManagedObjectContext = stack.context
      try stack.run { context in
        context.automaticallyMergesChangesFromParent = automatically
        try context.setQueryGenerationFrom(.current)
        #expect(try prices(context) == [0, 0])
      }
      let held: [Item] = try stack.run { try $0.all(Item.self, "Item", sort: ["title"]) }
      let other: NSManagedObjectContext = stack.other()
      let saves = Recorder([.NSManagedObjectContextDidSave], of: other)
      try other.performAndWait {
        for item in try other.all(Item.self, "Item") { item.price = 5 }
        try other.save()
      }
      let merges = Recorder([.NSManagedObjectContextDidMergeChangesObjectIDs], of: context)
      if !automatically {
        try context.performAndWait {
          context.mergeChanges(fromContextDidSave: try #require(saves.received.first))
        }
      }
      // Queued after an automatic merge.
      try context.performAndWait {
        let fetched: [Double] = try prices(context)
        #expect(held.map(\.price) == [5, 5] && fetched == [5, 5])
        if !automatically {
          let told = merges.received.first?.userInfo?[NSManagedObjectContextQueryGenerationKey]
          #expect(told as? NSQueryGenerationToken != nil)
        }
      }
    }

    @Test(.rule("HIST-9", "NSManagedObjectContext.save()", "a save without changes moves no pin"))
    func `a save without changes leaves the pin where it is`() throws {
      let stack: Stack = try filled()
      try stack.run { context in
        try context.setQueryGenerationFrom(.current)
        #expect(try prices(context) == [0, 0])
        let before: NSQueryGenerationToken? = context.queryGenerationToken
        try change(stack, 1)
        try context.save()
        #expect(context.queryGenerationToken == before && before != .current)
        #expect(try prices(context) == [0, 0])
        try context.setQueryGenerationFrom(.current)
        try context.save()
        #expect(context.queryGenerationToken == .current)
      }
    }

    @Test(.rule("HIST-9", "NSPersistentStoreCoordinator.execute(_:with:)", "save requests"))
    func `a save request pins to what it has written, and one that fails moves nothing`() throws {
      let stack: Stack = try filled()
      try stack.run { context in
        try context.setQueryGenerationFrom(.current)
        let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
        #expect(items.map(\.price) == [0, 0])
        let before: NSQueryGenerationToken? = context.queryGenerationToken
        try change(stack, 1)
        items[0].price = 2
        let refused = NSSaveChangesRequest(inserted: nil, updated: [items[0]], deleted: nil, locked: nil)
        #expect(codeThrown { _ = try stack.coordinator.execute(refused, with: context) } != 0)
        #expect(context.queryGenerationToken == before)
        context.rollback()
        let new: Item = context.item("new")
        let save = NSSaveChangesRequest(inserted: [new], updated: nil, deleted: nil, locked: nil)
        _ = try stack.coordinator.execute(save, with: context)
        let after: NSQueryGenerationToken? = context.queryGenerationToken
        #expect(after != before && after != .current)
        try change(stack, 3)
        #expect(try context.count(for: context.request(Item.self, "Item")) == 4, "not what came later")
        context.refresh(items[0], mergeChanges: false)
        #expect(items[0].price == 1)
      }
    }

    @Test(.rule("MERGE-14", "NSManagedObjectContext.setQueryGenerationFrom(_:)"))
    func `a child has no generation of its own and reads its parent's`() throws {
      let stack: Stack = try filled()
      try stack.run { context in
        try context.setQueryGenerationFrom(.current)
        #expect(try prices(context) == [0, 0])
        try change(stack, 1)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = context
        try child.performAndWait {
          #expect(throws: CocoaError.self) { try child.setQueryGenerationFrom(.current) }
          #expect(child.queryGenerationToken == nil)
          let fetched: [Double] = try prices(child)
          #expect(fetched == [0, 0])
        }
      }
    }

    /// Stores that keep no earlier state.
    private enum Plain: CaseIterable {
      case inMemory, rollbackJournal, nowhere
    }

    @Test(.rule("HIST-7", "Accessing data when the store has changed", "elsewhere nothing is pinned"))
    func `a context over a store without write-ahead logging reads on as if it were not pinned`() throws {
      for plain in Plain.allCases {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
        let folder = try TemporaryFolder()
        let journal: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": "DELETE"]]
        try coordinator.addPersistentStore(
          ofType: plain == .inMemory ? NSInMemoryStoreType : NSSQLiteStoreType, configurationName: nil,
          at: plain == .nowhere ? URL(fileURLWithPath: "/dev/null") : folder.file("Plain.sqlite"),
          options: plain == .rollbackJournal ? journal : nil)
        func make() -> NSManagedObjectContext {
          let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
          context.persistentStoreCoordinator = coordinator
          return context
        }
        let (context, other) = (make(), make())
        try context.performAndWait {
          try context.setQueryGenerationFrom(.current)
          #expect(try context.all(Item.self, "Item").isEmpty)
          try other.performAndWait {
            _ = other.item("new")
            try other.save()
          }
          #expect(try context.all(Item.self, "Item").map(\.title) == ["new"], "\(plain)")
          _ = context.item("newer")
          try context.save()
          #expect(try context.count(for: context.request(Item.self, "Item")) == 2)
        }
      }
    }

    @Test func `tokens are of one coordinator, outlive contexts, and can be archived by name`() throws {
      let stack: Stack = try filled()
      var token: NSQueryGenerationToken? = try stack.elsewhere { context in
        try context.setQueryGenerationFrom(.current)
        #expect(try prices(context) == [0, 0])
        return context.queryGenerationToken
      }
      try change(stack, 1)
      let data: Data = try NSKeyedArchiver.archivedData(
        withRootObject: try #require(token), requiringSecureCoding: true)
      let current: Data = try NSKeyedArchiver.archivedData(
        withRootObject: NSQueryGenerationToken.current, requiringSecureCoding: true)
      func unarchived(_ data: Data) -> NSQueryGenerationToken? {
        try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: data)
      }
      #expect(unarchived(data) == token && unarchived(current) == .current)
      #expect((token?.copy() as? NSQueryGenerationToken) == token)
      try stack.elsewhere { context in
        try context.setQueryGenerationFrom(token)
        #expect(try prices(context) == [0, 0])
      }
      let stranger: NSManagedObjectContext = try stack.stranger()
      let code: Int = stranger.performAndWait { codeThrown { try stranger.setQueryGenerationFrom(token) } }
      #expect(code > 0)
      token = nil
      #expect(unarchived(data) == nil, "nobody holds that state any more")
    }

    @Test func `a removed store's earlier state is closed with it`() throws {
      let stack: Stack = try filled()
      try stack.run { context in
        try context.setQueryGenerationFrom(.current)
        #expect(try prices(context) == [0, 0])
        let token: NSQueryGenerationToken = try #require(context.queryGenerationToken)
        let item: Item = try #require(try context.all(Item.self, "Item").first)
        context.refresh(item, mergeChanges: false)
        try stack.coordinator.remove(stack.store)
        #expect(throws: CocoaError.self) { _ = try context.existingObject(with: item.objectID) }
        // The last connection to go takes the log with it.
        #expect(!FileManager.default.fileExists(atPath: stack.folder.file("World.sqlite-wal").path))
        withExtendedLifetime(token) {}
      }
    }

    @Test func `many contexts pinned to one state read it at once while others write`() async throws {
      let stack: Stack = try filled()
      let token: NSQueryGenerationToken = try stack.run { context in
        try context.setQueryGenerationFrom(.current)
        #expect(try prices(context) == [0, 0])
        return try #require(context.queryGenerationToken)
      }
      nonisolated(unsafe) let shared: Stack = stack
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<8 {
          group.addTask {
            let context: NSManagedObjectContext = shared.other()
            try context.performAndWait {
              if number % 4 == 0 {
                context.mergePolicy = NSMergePolicy.overwrite
                for round in 1...10 {
                  for item in try context.all(Item.self, "Item") { item.price = Double(number * 100 + round) }
                  try context.save()
                }
              } else {
                try context.setQueryGenerationFrom(token)
                for _ in 1...10 {
                  #expect(try context.all(Item.self, "Item").map(\.price) == [0, 0])
                  context.refreshAllObjects()
                }
              }
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }
}
