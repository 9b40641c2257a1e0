import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Results as a lazy collection, and walks.
@Suite
struct FetchedObjectsTests {
  private func filled(_ kind: StoreKind, _ count: Int = 250) throws -> Stack {
    let stack = try Stack(kind)
    try stack.elsewhere { context in
      let categories: [Category] = ["one", "two"].map { context.category($0) }
      for number in 0..<count {
        let item: Item = context.item(ReadAheadTests.text(number), categories[number % 2])
        item.count = Int64(number)
      }
      try context.save()
    }
    return stack
  }

  private func request(_ context: NSManagedObjectContext, batch: Int = 100) -> NSFetchRequest<Item> {
    let request: NSFetchRequest<Item> = context.request(Item.self, "Item", sort: ["title"])
    request.fetchBatchSize = batch
    return request
  }

  @Test(arguments: StoreKind.every)
  func `the pages of a collection refresh loaded objects, if they are to`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind, 20)
    func check(_ context: NSManagedObjectContext, _ save: () throws -> Void) throws {
      let known: [Item] = try context.fetch(request(context))
      for item in known { #expect(item.title?.isEmpty == false) }
      known[3].title = "mine"
      try save()
      let asked: NSFetchRequest<Item> = context.request(
        Item.self, "Item", NSPredicate(format: "count >= 2"), sort: ["count"])
      #expect(try context.results(of: asked).map(\.price) == Array(repeating: 0, count: 18))
      asked.shouldRefreshRefetchedObjects = true
      let refreshed: FetchedObjects<Item> = try context.results(of: asked)
      // A changed object keeps what it has.
      #expect(refreshed.map(\.price) == [8, 0] + Array(repeating: 8, count: 16))
      #expect(known[3].title == "mine" && known[0].price == 0)
    }
    try stack.run { context in
      try check(context) {
        try stack.elsewhere { other in
          for item in try other.fetch(request(other)) { item.price = 8 }
          try other.save()
        }
      }
    }
  }

  @Test(arguments: StoreKind.every)
  func `a collection has the ids first, and the objects of two pages`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let items: FetchedObjects<Item> = try context.results(of: request(context))
      #expect(items.count == 250 && items.pageSize == 100 && context.registeredObjects.isEmpty)
      if kind != .incremental { #expect(context.statistics.statements == 1) }
      #expect(items[120].title == "120" && context.registeredObjects.count == 100)
      for (number, item) in items.enumerated() {
        #expect(item.count == Int64(number))
        #expect(context.registeredObjects.count <= 201)
      }
      // The ids, and the page of 120 once before it was passed.
      if kind != .incremental { #expect(context.statistics.statements == 4) }
      #expect(items.reversed().first?.title == "249" && items.last?.title == "249")
      #expect(items.dropFirst(10).prefix(2).map(\.title) == ["010", "011"])
      #expect(context.object(with: items.objectID(at: 7)) === items[7])
    }
  }

  @Test(arguments: StoreKind.every)
  func `members stay what they were, whatever happens to the objects`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind, 6)
    try stack.run { context in
      let new: Item = context.item("002b")
      let items: FetchedObjects<Item> = try context.results(of: request(context, batch: 2))
      func titles() -> [String?] { items.map(\.title) }
      #expect(titles() == ["000", "001", "002", "002b", "003", "004", "005"])
      let (one, two): (Item, Item) = (items[1], items[2])
      one.title = "zzz"
      context.delete(two)
      _ = context.item("004b")
      #expect(titles() == ["000", "zzz", "002", "002b", "003", "004", "005"])
      #expect(items[2] === two && items[2].isDeleted && items[3] === new)
      try context.save()
      #expect(items.count == 7 && items[1].title == "zzz" && items[3] === new)
      #expect(items[2].title == nil && items[2].isDeleted)
      #expect(items.objectID(at: 3) == new.objectID && !new.objectID.isTemporaryID)
      // What others delete is a member that reads as deleted.
      try stack.elsewhere { other in
        other.delete(
          try #require(try other.all(Item.self, "Item", NSPredicate(format: "title == '005'")).first))
        try other.save()
      }
      context.reset()
      #expect(items[0].title == "000" && items[0].managedObjectContext === context)
      #expect(items[6].title == nil && items[6].isDeleted && items.count == 7)
    }
  }

  @Test(arguments: StoreKind.fetchingRows)
  func `an object of a loaded page that others delete reads as before until it is refreshed`(
    kind: StoreKind
  ) throws {
    let stack: Stack = try filled(kind, 4)
    try stack.run { context in
      let items: FetchedObjects<Item> = try context.results(of: request(context, batch: 2))
      let page: [Item] = try items.page(2..<4)
      try stack.elsewhere { other in
        for item in try other.all(Item.self, "Item") { other.delete(item) }
        try other.save()
      }
      #expect(page.map(\.title) == ["002", "003"] && page.allSatisfy { !$0.isDeleted })
      context.refresh(page[0], mergeChanges: false)
      #expect(page[0].title == nil && page[0].isDeleted && !page[1].isDeleted)
    }
  }

  @Test(arguments: StoreKind.fetchingRows)
  func `unsaved changes are merged by loading few objects`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let kept: Item = context.item("100b")
      kept.count = 5
      let request: NSFetchRequest<Item> = request(context)
      context.resetStatistics()
      let items: FetchedObjects<Item> = try context.results(of: request)
      #expect(items.count == 251 && items[101] === kept)
      #expect(context.statistics.statements <= 1 + 8 + 1, "\(context.statistics)")
      context.resetStatistics()
      request.fetchLimit = 10
      request.fetchOffset = 95
      request.fetchBatchSize = 0
      let page: [Item] = try context.fetch(request)
      #expect(
        page.map(\.title) == (95...100).map { ReadAheadTests.text($0) } + ["100b", "101", "102", "103"])
      #expect(context.statistics.statements == 1 && context.statistics.rows == 105)
      context.resetStatistics()
      #expect(try context.count(for: request) == 10 && context.statistics.statements == 1)
    }
  }

  @Test(arguments: StoreKind.every, [true, false])
  func `pages that are passed one after another are in order, whatever is registered, gone or read elsewhere`(
    kind: StoreKind, isByNumber: Bool
  ) throws {
    let stack: Stack = try filled(kind, 60)
    try stack.run { context in
      // By number the keys of a page follow each other, by this they don't.
      let asked: NSFetchRequest<Item> = context.request(
        Item.self, "Item", NSPredicate(format: "title != '017'"),
        sort: [isByNumber ? "count" : "category.name"])
      asked.sortDescriptors?.append(NSSortDescriptor(key: "count", ascending: false))
      asked.fetchBatchSize = 20
      let numbers: [Int64] = (0..<60).filter { $0 != 17 }
        .sorted { isByNumber || $0 % 2 == $1 % 2 ? isByNumber ? $0 < $1 : $0 > $1 : $0 % 2 == 0 }
      func passed(_ items: FetchedObjects<Item>) throws -> [Int64] {
        var found: [Int64] = []
        try items.forEachPage { page in
          for item in page {
            let count: Int64 = item.count
            // Reading shows that it is gone.
            found.append(item.isDeleted ? -1 : count)
          }
        }
        return found
      }
      let items: FetchedObjects<Item> = try context.results(of: asked)
      context.resetStatistics()
      #expect(try passed(items) == numbers)
      if StoreKind.fetchingRows.contains(kind) {
        #expect(context.statistics.statements == 3 && context.statistics.faults == 0, "\(context.statistics)")
      }
      // One is registered and changed; the pages without it are read as before.
      let known: Item = items[30]
      known.count = 700
      context.resetStatistics()
      #expect(try passed(items) == numbers.enumerated().map { $0 == 30 ? 700 : $1 })
      // Another context has all rows: none is read again.
      if kind != .incremental {
        try stack.elsewhere { other in
          let theirs: [Item] = try other.all(Item.self, "Item")
          context.resetStatistics()
          #expect(try passed(items) == numbers.enumerated().map { $0 == 30 ? 700 : $1 })
          if kind == .sqlite { #expect(context.statistics.statements == 0, "\(context.statistics)") }
          // And deletes one.
          let gone: Int64 = numbers[50]
          other.delete(try #require(theirs.first { $0.count == gone }))
          try other.save()
        }
        context.reset()
        #expect(try passed(items) == numbers.enumerated().map { $0 == 50 ? -1 : $1 })
      }
    }
  }

  @Test(arguments: StoreKind.every, [false, true])
  func `members that were new have their values after a save and a reset`(kind: StoreKind, isChild: Bool)
    throws
  {
    let stack = try Stack(kind)
    try stack.run { root in
      let context: NSManagedObjectContext =
        isChild ? NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) : root
      if isChild { context.parent = root }
      try context.performAndWait {
        for number in 0..<6 { context.item(ReadAheadTests.text(number)).count = Int64(number) }
        let items: FetchedObjects<Item> = try context.results(of: request(context, batch: 2))
        var seen: [Int64] = []
        try items.forEachPage { page in
          seen += page.map(\.count)
          if page[0].count == 2 {
            try context.save()
            if isChild { try root.save() }
            context.reset()
          }
        }
        #expect(seen == [0, 1, 2, 3, 4, 5])
        #expect(items.map(\.title) == (0..<6).map { ReadAheadTests.text($0) })
        #expect(items.allSatisfy { $0.managedObjectContext === context })
      }
    }
  }

  @Test(arguments: StoreKind.fetchingRows)
  func `pages are prefetched, and can throw`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let request: NSFetchRequest<Item> = request(context)
      request.relationshipKeyPathsForPrefetching = ["category"]
      let items: FetchedObjects<Item> = try context.results(of: request)
      context.resetStatistics()
      var names: Set<String?> = []
      try items.forEachPage { page in for item in page { names.insert(item.category?.name) } }
      #expect(names == ["one", "two"] && context.statistics.statements <= 6, "\(context.statistics)")
      #expect(try items.page(10..<12).map(\.title) == ["010", "011"])
      try stack.coordinator.remove(stack.store)
      #expect(throws: (any Error).self) { _ = try items.page(200..<210) }
      #expect(throws: (any Error).self) { _ = try context.results(of: request) }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `several stores are one collection, sorted or not`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind, 20)
    let second: NSPersistentStore = try stack.coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    try stack.elsewhere { context in
      for number in 20..<40 {
        let item: Item = context.item(ReadAheadTests.text(number * 7 % 40))
        context.assign(item, to: second)
      }
      try context.save()
    }
    try stack.run { context in
      let unsaved: Item = context.item("zzz")
      context.assign(unsaved, to: stack.store)
      for order in [["title"], ["-title"], []] {
        for (limit, offset) in [(0, 0), (7, 3), (0, 35)] {
          let request: NSFetchRequest<Item> = context.request(Item.self, "Item", sort: order)
          (request.fetchLimit, request.fetchOffset, request.fetchBatchSize) = (limit, offset, 8)
          let array: [Item] = try context.fetch(request)
          let lazy: FetchedObjects<Item> = try context.results(of: request)
          #expect(lazy.elementsEqual(array, by: ===) && lazy.count == array.count)
          #expect(try context.count(for: request) == array.count)
          request.affectedStores = [second]
          let part: FetchedObjects<Item> = try context.results(of: request)
          #expect(part.allSatisfy { $0.objectID.persistentStore === second })
          #expect(try context.fetch(request).elementsEqual(part, by: ===))
        }
      }
    }
  }

  /// Stores count their keys each by itself.
  @Test func `a child reads each object from its own store, also where keys are the same`() throws {
    let stack: Stack = try filled(.sqlite, 3)
    let second: NSPersistentStore = try stack.coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: stack.folder.file("Second.sqlite"))
    try stack.elsewhere { context in
      for number in 0..<3 { context.assign(context.item("second \(number)"), to: second) }
      try context.save()
    }
    try stack.run { parent in
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = parent
      try child.performAndWait {
        let items: FetchedObjects<Item> = try child.results(of: request(child))
        let titles: [String] = items.compactMap(\.title)
        #expect(titles == ["000", "001", "002", "second 0", "second 1", "second 2"])
        child.reset()
        let one: [Item] = try child.fetch(request(child))
        #expect(one.compactMap(\.title) == titles)
      }
    }
  }

  // Finding: the collection had objects that the parent has deleted, and the count counted them.
  @Test(arguments: StoreKind.every)
  func `a child's collection has what its fetch has, also without unsaved changes`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind, 8)
    try stack.run { parent in
      let all: [Item] = try parent.fetch(request(parent))
      parent.delete(all[1])
      all[2].count = 100
      _ = parent.item("new")
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = parent
      try child.performAndWait {
        let own: [Item] = try child.fetch(request(child))
        child.delete(own[0])
        own[4].count = 100
        _ = child.item("newer")
        for (includes, limit) in [(true, 0), (true, 3), (false, 0), (false, 3)] {
          for predicate in [nil, NSPredicate(format: "count > 2")] {
            let asked: NSFetchRequest<Item> = request(child)
            asked.includesPendingChanges = includes
            asked.fetchLimit = limit
            asked.predicate = predicate
            let fetched: [NSManagedObjectID] = try child.fetch(asked).map(\.objectID)
            let listed: [NSManagedObjectID] = try child.results(of: asked).map(\.objectID)
            #expect(listed == fetched, "\(includes) \(limit)")
            if limit == 0 { #expect(try child.count(for: asked) == fetched.count) }
          }
        }
      }
    }
  }

  @Test func `a limit of the largest number is none, also beside changed objects`() throws {
    let stack: Stack = try filled(.sqlite, 6)
    try stack.run { context in
      let request: NSFetchRequest<Item> = request(context)
      let all: [Item] = try context.fetch(request)
      all[2].title = "zzz"
      request.fetchLimit = .max
      #expect(try context.fetch(request).compactMap(\.title).last == "zzz")
      #expect(try context.results(of: request).count == 6)
    }
  }

  private static let numbers: [Int] = [.min, -1, 0, 1, 3, .max]

  /// Negative numbers are 0. Each kind of result, with order and condition in the store and in memory.
  @Test(arguments: StoreKind.every, numbers)
  func `limits, offsets and batch sizes may be any numbers`(kind: StoreKind, limit: Int) throws {
    let stack: Stack = try filled(kind, 6)
    try stack.run { context in
      let isCode = NSPredicate { item, _ in ((item as? Item)?.count ?? 0) >= 0 }
      let pairs: [(Int, Int)] = Self.numbers.flatMap { offset in Self.numbers.map { (offset, $0) } }
      for (offset, batch) in pairs {
        for (predicate, isSorted) in [(nil, true), (isCode, true), (nil, false), (isCode, false)] {
          func prepare<T>(_ request: NSFetchRequest<T>) -> NSFetchRequest<T> {
            request.predicate = predicate
            if !isSorted { request.sortDescriptors = nil }
            (request.fetchLimit, request.fetchOffset, request.fetchBatchSize) = (limit, offset, batch)
            return request
          }
          let rest: Int = 6 - min(6, max(0, offset))
          let count: Int = limit > 0 ? min(rest, limit) : rest
          let request: NSFetchRequest<Item> = prepare(self.request(context))
          let found: [Item] = try context.fetch(request)
          #expect(found.count == count)
          #expect(try context.results(of: request).map(\.title).count == count)
          #expect(try context.count(for: request) == count)
          if batch != 0 { continue }
          let ids = prepare(NSFetchRequest<NSManagedObjectID>(entityName: "Item"))
          ids.resultType = .managedObjectIDResultType
          #expect(try context.fetch(ids).count == count)
          let dictionaries = prepare(NSFetchRequest<NSDictionary>(entityName: "Item"))
          dictionaries.resultType = .dictionaryResultType
          dictionaries.propertiesToFetch = ["title"]
          #expect(try context.fetch(dictionaries).count == count)
          dictionaries.propertiesToGroupBy = ["title"]
          #expect(try context.fetch(dictionaries).count == count)
        }
      }
    }
  }

  @Test(arguments: numbers)
  func `a walk takes any size of batches`(size: Int) async throws {
    let stack: Stack = try filled(.sqlite, 6)
    let request: NSFetchRequest<Item> = stack.context.performAndWait { self.request(stack.context) }
    var titles: [String] = []
    for try await title in stack.context.walk(request, batchSize: size, transform: { $0.title ?? "" }) {
      titles.append(title)
    }
    #expect(titles.count == 6)
  }

  /// Each type of results ignores what belongs to others.
  @Test(arguments: StoreKind.computing, [false, true])
  func `computed columns are for dictionaries, and change no other result`(kind: StoreKind, isUnsaved: Bool)
    throws
  {
    let stack: Stack = try filled(kind, 6)
    try stack.run { context in
      if isUnsaved {
        for item in try context.all(Item.self, "Item", NSPredicate(format: "count < 2")) { item.count += 10 }
        context.item("new").count = 3
      }
      let double = NSExpressionDescription()
      double.name = "double"
      double.expression = NSExpression(format: "count * 2")
      double.expressionResultType = .integer64AttributeType
      func request<T>(_ type: NSFetchRequestResultType, _: T.Type) -> NSFetchRequest<T> {
        let request: NSFetchRequest<T> = context.request(
          T.self, "Item", NSPredicate(format: "count >= 3"), sort: ["count", "title"])
        request.resultType = type
        request.propertiesToFetch = ["title", double]
        request.returnsDistinctResults = true
        request.fetchOffset = 1
        request.fetchLimit = 3
        return request
      }
      // Stored: 3, 4, 5. Unsaved: 3 and a new 3, 4, 5, 10, 11.
      let titles: [String] = isUnsaved ? ["new", "004", "005"] : ["004", "005"]
      let objects = request(.managedObjectResultType, Item.self)
      let found: [Item] = try context.fetch(objects)
      #expect(found.map(\.title) == titles)
      #expect(try context.results(of: objects).elementsEqual(found, by: ===))
      #expect(
        try context.fetch(request(.managedObjectIDResultType, NSManagedObjectID.self))
          == found.map(\.objectID))
      #expect(try context.fetch(request(.countResultType, NSNumber.self)) == [NSNumber(value: titles.count)])
      // Dictionaries show the store.
      let rows: [NSDictionary] = try context.fetch(request(.dictionaryResultType, NSDictionary.self))
      #expect(rows.map { $0["title"] as? String } == ["004", "005"])
      #expect(rows.map { $0["double"] as? Int } == [8, 10])
    }
  }

  @Test func `what is no list of objects, or of other ones, is refused`() throws {
    let stack: Stack = try filled(.inMemory, 2)
    try stack.run { context in
      let counts: NSFetchRequest<Item> = request(context)
      counts.resultType = .countResultType
      #expect(codeThrown { _ = try context.results(of: counts) } == NSCoreDataError)
      let wrong: NSFetchRequest<Category> = context.request(Category.self, "Item")
      #expect(codeThrown { _ = try context.results(of: wrong) } == NSCoreDataError)
    }
  }

  @Test(arguments: StoreKind.fetchingRows)
  func `a walk makes values in batches on the context's queue`(kind: StoreKind) async throws {
    let stack: Stack = try filled(kind)
    let context: NSManagedObjectContext = stack.other()
    let request: NSFetchRequest<Item> = request(context)
    var titles: [String?] = []
    for try await title in context.walk(request, batchSize: 60, transform: { $0.title }) {
      titles.append(title)
    }
    #expect(titles.count == 250 && titles[77] == "077")
    await context.perform {
      #expect(context.statistics.statements == 6)
      #expect(context.registeredObjects.isEmpty)
    }
    struct Stop: Error {}
    await #expect(throws: Stop.self) {
      for try await _ in context.walk(request, batchSize: 60, transform: { _ -> Int in throw Stop() }) {}
    }
    let walk = Task {
      var seen: Int = 0
      for try await _ in context.walk(request, batchSize: 50, transform: { $0.count }) {
        seen += 1
        if seen == 50 { withUnsafeCurrentTask { $0?.cancel() } }
      }
      return seen
    }
    await #expect(throws: CancellationError.self) { try await walk.value }
  }

  @Test(arguments: StoreKind.fetchingRows) @MainActor
  func `a walk of the main context passes its objects`(kind: StoreKind) async throws {
    let stack: Stack = try filled(kind)
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = stack.coordinator
    var sum: Int64 = 0
    for try await item in context.walk(request(context), batchSize: 100) {
      sum += item.count
      #expect(context.registeredObjects.count <= 200)
    }
    #expect(sum == 249 * 125 && context.statistics.statements == 4)
    await #expect(throws: CocoaError.self) {
      for try await _ in stack.other().walk(self.request(context)) {}
    }
  }
}
