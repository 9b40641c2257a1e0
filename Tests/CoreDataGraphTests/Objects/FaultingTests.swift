import CoreData
import Foundation
import StackSupport
import Testing

/// Faults, uniquing, refreshing, and how long objects live.
@Suite
struct FaultingTests {
  @Test(
    .rule("FAULT-1", "Faulting and Uniquing", "questions of identity load nothing"),
    .rule("FAULT-4", "Faulting and Uniquing", "one instance per id and context"),
    arguments: StoreKind.every)
  func `a fault fires once and every row has one object`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.elsewhere { context in
      let category: Category = context.category("c")
      for title in ["a", "b", "c"] { _ = context.item(title, category) }
      try context.save()
    }
    try stack.run { context in
      let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      #expect(items.count == 3 && items.allSatisfy(\.isFault))
      #expect(stack.journal.lines.isEmpty)
      #expect(items[0].description.contains("<fault>") && items[0].isFault)
      _ = (items[0].objectID, items[0].entity, items[0].hasChanges, items[0].hash)
      #expect(items[0].isFault)
      #expect(items[0].title == "a" && !items[0].isFault && items[0].faultingState == 0)
      #expect(items[0].count == 7)
      #expect(stack.journal.lines == ["awakeFromFetch Item"])
      let again: [Item] = try context.all(Item.self, "Item", sort: ["-title"])
      #expect(again == items.reversed())
      let category: Category = try #require(items[1].category)
      #expect(category.isFault && items[0].category === category && items[2].category === category)
      #expect(stack.journal.count("awakeFromFetch Item") == 3)
      #expect(category.items == Set(items) && !category.isFault)
      _ = category.items
      #expect(stack.journal.count("awakeFromFetch Category") == 1)
      #expect(context.object(with: items[0].objectID) === items[0])
      #expect(context.registeredObjects == Set(items as [NSManagedObject] + [category]))
    }
  }

  @Test(.rule("LIFE-5", "NSManagedObject.awakeFromFetch()"), arguments: StoreKind.every)
  func `changes made in awakeFromFetch leave the object clean`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.elsewhere { context in
      _ = context.item("a")
      try context.save()
    }
    try stack.run { context in
      stack.journal.onAwakeFromFetch = { ($0 as? Item)?.note = "awoken" }
      let item: Item = try #require(try context.all(Item.self, "Item").first)
      #expect(item.note == "awoken" && !item.hasChanges && !context.hasChanges)
    }
  }

  @Test(.rule("REF-7", "NSManagedObjectContext.retainsRegisteredObjects"), arguments: StoreKind.every)
  func `a clean object that nobody holds leaves the context, a changed one stays`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.elsewhere { context in
      for title in ["a", "b"] { _ = context.item(title) }
      try context.save()
    }
    try stack.run { context in
      weak var weakItem: Item?
      do {
        let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
        #expect(items[0].title == "a")
        #expect(context.registeredObjects.count == 2)
        items[1].title = "changed"
        weakItem = items[1]
      }
      #expect(context.registeredObjects.count == 1)
      #expect(weakItem?.title == "changed")
      try context.save()
      #expect(weakItem == nil && context.registeredObjects.isEmpty)
      context.retainsRegisteredObjects = true
      _ = try context.all(Item.self, "Item")
      #expect(context.registeredObjects.count == 2)
      do {
        _ = context.item("new")
        try context.save()
        let gone: Item = context.item("new and gone")
        context.delete(gone)
        context.processPendingChanges()
      }
      #expect(context.registeredObjects.count == 3)
      for item in try context.all(Item.self, "Item") { context.delete(item) }
      try context.save()
      #expect(context.registeredObjects.isEmpty)
      context.retainsRegisteredObjects = false
      #expect(context.registeredObjects.isEmpty)
    }
  }

  @Test(.rule("REF-1", "NSManagedObjectContext.refresh(_:mergeChanges:)"), arguments: StoreKind.every)
  func `refreshing without merging throws changes away and makes a fault`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a", context.category("c"))
      try context.save()
      let changes = Recorder([.NSManagedObjectContextObjectsDidChange], of: context)
      item.title = "b"
      context.processPendingChanges()
      stack.journal.lines = []
      context.refresh(item, mergeChanges: false)
      #expect(stack.journal.lines == ["willTurnIntoFault Item", "didTurnIntoFault Item"])
      #expect(item.isFault && !item.hasChanges && !context.hasChanges && context.updatedObjects.isEmpty)
      context.processPendingChanges()
      #expect(changes.objects(NSRefreshedObjectsKey, at: 1) == [item])
      #expect(item.title == "a" && item.category?.name == "c")
      #expect(stack.journal.count("awakeFromFetch Item") == 1)
      item.title = "c"
      #expect(context.updatedObjects == [item])
      try context.save()
      #expect(try stack.elsewhere { try $0.all(Item.self, "Item").map(\.title) } == ["c"])
    }
  }

  @Test(
    .rule("REF-2", "NSManagedObjectContext.refresh(_:mergeChanges:)"),
    .rule("REF-6", "NSManagedObjectContext.refreshAllObjects()", "unsaved changes stay"),
    arguments: StoreKind.every)
  func `refreshing with merging reads anew and lays the changes on top`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let category: Category = context.category("c")
      let item: Item = context.item("a", category)
      try context.save()
      try stack.elsewhere { other in
        let twin: Item = try #require(try other.all(Item.self, "Item").first)
        twin.title = "theirs"
        twin.price = 5
        _ = other.item("new", twin.category)
        try other.save()
      }
      item.title = "mine"
      let added: Item = context.item("added", category)
      #expect(item.price == 0)
      context.refresh(item, mergeChanges: true)
      context.refresh(category, mergeChanges: true)
      #expect(item.title == "mine" && item.price == 5 && item.isUpdated)
      #expect(stack.journal.count("awakeFromSnapshot\(NSSnapshotEventType.refresh.rawValue) Item") == 1)
      #expect(Set(category.items.map(\.title)) == ["mine", "new", "added"] && category.items.contains(added))
      try context.save()
      let all: [Item] = try stack.elsewhere { try $0.all(Item.self, "Item", sort: ["title"]).map { $0 } }
      #expect(all.count == 3)
      context.refreshAllObjects()
      #expect(item.isFault && item.title == "mine" && item.price == 5)
    }
  }

  @Test(.rule("REF-3", "NSManagedObjectContext.rollback()"), arguments: StoreKind.every)
  func `rollback brings the last saved state back`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let (one, two) = (context.category("one"), context.category("two"))
      let (a, b) = (context.item("a", one), context.item("b", one))
      let detail: NSManagedObject = context.make("Detail", ["item": a])
      try context.save()
      a.title = "changed"
      a.category = two
      a.detail = nil
      context.delete(b)
      context.delete(two)
      let fresh: Item = context.item("fresh", one)
      context.processPendingChanges()
      stack.journal.lines = []
      context.rollback()
      #expect(!context.hasChanges && context.insertedObjects.isEmpty && context.deletedObjects.isEmpty)
      #expect(a.title == "a" && a.category === one && a.detail === detail)
      #expect(one.items == [a, b] && two.items.isEmpty && !b.isDeleted && !two.isDeleted)
      #expect(b.managedObjectContext === context && b.title == "b")
      #expect(fresh.managedObjectContext == nil && !fresh.isInserted)
      #expect(stack.journal.count("awakeFromSnapshot\(NSSnapshotEventType.rollback.rawValue) Item") == 2)
      try context.save()
      context.delete(b)
      try context.save()
      #expect(one.items == [a])
    }
    #expect(
      try stack.elsewhere { try $0.all(Item.self, "Item").map(\.title) } == ["a"])
  }

  @Test(.rule("REF-5", "NSManagedObjectContext.reset()"), arguments: StoreKind.every)
  func `reset forgets every object`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a")
      try context.save()
      item.title = "b"
      let new: Item = context.item("c")
      let changes = Recorder([.NSManagedObjectContextObjectsDidChange], of: context)
      context.reset()
      let told = changes.received.last?.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID]
      #expect(told.map { Set($0) } == [item.objectID, new.objectID])
      #expect(!context.hasChanges && context.registeredObjects.isEmpty)
      #expect(item.managedObjectContext == nil)
      let again: Item = try #require(try context.all(Item.self, "Item").first)
      #expect(again !== item && again.title == "a" && again.objectID == item.objectID)
      try context.save()
    }
  }

  @Test(
    .rule("REF-5", "NSManagedObjectContext.reset()", "objects are of no use"), arguments: StoreKind.every)
  func `what a reset leaves is a fault that nothing fills`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let category: Category = context.category("c")
      let (item, other) = (context.item("a", category), context.item("b", category))
      try context.save()
      (item.note, other.price) = ("transient", 5)
      stack.journal.lines = []
      context.reset()
      #expect(stack.journal.count("willTurnIntoFault Item") == 2)
      #expect(item.isFault && other.isFault && category.isFault && !other.hasChanges)
      #expect(item.title == nil && item.note == nil && other.price == 0 && category.items.isEmpty)
      #expect(!item.isFault, "asked, and found to be empty")
      other.willAccessValue(forKey: nil)
      #expect(!other.isFault)
    }
  }

  @Test(.rule("REF-1", "NSManagedObjectContext.refresh(_:mergeChanges:)"), arguments: StoreKind.every)
  func `a new object that is refreshed without merging has its default values again`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let (item, kept, known) = (context.item("a"), context.item("b"), context.item("c"))
      try context.obtainPermanentIDs(for: [known])
      for object in [item, kept, known] { object.count = 3 }
      context.processPendingChanges()
      for object in [item, known] {
        context.refresh(object, mergeChanges: false)
        #expect(object.isFault && object.isInserted)
        object.willAccessValue(forKey: nil)
        #expect(!object.isFault && object.title == nil && object.count == 7)
        context.refresh(object, mergeChanges: false)
        #expect(try context.existingObject(with: object.objectID) === object)
        context.refresh(object, mergeChanges: false)
      }
      context.refresh(kept, mergeChanges: true)
      #expect(!kept.isFault && kept.title == "b" && kept.count == 3)
      #expect(context.insertedObjects == [item, kept, known])
      try context.save()
      #expect(item.count == 7 && item.title == nil && !item.objectID.isTemporaryID)
    }
    #expect(try stack.titles() == [nil, nil, "b"])
  }

  @Test(
    .rule("FAULT-7", "NSManagedObjectContext.shouldDeleteInaccessibleFaults"),
    .rule("FAULT-10", "NSManagedObjectContext.object(with:)", "never fails"), arguments: StoreKind.every)
  func `an id whose row is gone is an error, its fault a deleted object without values`(
    kind: StoreKind
  ) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a", context.category("c"))
      try context.save()
      let id: NSManagedObjectID = item.objectID
      context.refresh(item, mergeChanges: false)
      try stack.elsewhere { other in
        other.delete(try other.existingObject(with: id))
        try other.save()
      }
      let error: NSError = try #require(errorThrown { _ = try context.existingObject(with: id) })
      #expect(error.code == NSManagedObjectReferentialIntegrityError)
      #expect(error.domain == NSCocoaErrorDomain)
      #expect(item.title == nil && item.count == 0 && item.category == nil && item.tags.isEmpty)
      #expect(item.isDeleted && !item.isFault && !context.hasChanges)
      item.title = "x"
      try context.save()
      #expect(try context.all(Item.self, "Item").isEmpty)
      // A key that never was.
      let text: String = id.uriRepresentation().deletingLastPathComponent().appendingPathComponent("p999")
        .absoluteString
      let never: NSManagedObjectID = try #require(
        stack.coordinator.managedObjectID(forURIRepresentation: url(text)))
      #expect(context.object(with: never).isFault)
      #expect(
        codeThrown { _ = try context.existingObject(with: never) } == NSManagedObjectReferentialIntegrityError
      )
    }
  }

  @Test(arguments: StoreKind.every)
  func `the context may say what becomes of a fault whose row is gone`(kind: StoreKind) throws {
    final class Watchful: NSManagedObjectContext, @unchecked Sendable {
      // Sendable: as its superclass; the list is used on the context's queue.
      var asked: [NSManagedObjectID] = []
      override func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID,
        triggeredByProperty property: NSPropertyDescription?
      ) -> Bool {
        asked.append(oid)
        return super.shouldHandleInaccessibleFault(fault, for: oid, triggeredByProperty: property)
      }
    }
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a")
      try context.save()
      let watchful = Watchful(concurrencyType: .privateQueueConcurrencyType)
      watchful.persistentStoreCoordinator = stack.coordinator
      let id: NSManagedObjectID = item.objectID
      context.delete(item)
      try context.save()
      watchful.performAndWait {
        let twin = watchful.object(with: id)
        #expect(twin.value(forKey: "title") == nil && twin.isDeleted)
        #expect(watchful.asked == [id])
      }
    }
  }

  @Test(.rule("FETCH-15", "NSFetchRequest.shouldRefreshRefetchedObjects"), arguments: StoreKind.every)
  func `a loaded object keeps its values when others change the row, until it is refreshed`(
    kind: StoreKind
  ) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a")
      try context.save()
      try stack.elsewhere { other in
        let twin: Item = try #require(try other.all(Item.self, "Item").first)
        twin.title = "b"
        try other.save()
      }
      let request: NSFetchRequest<Item> = context.request(Item.self, "Item")
      #expect(try context.fetch(request) == [item] && item.title == "a")
      request.shouldRefreshRefetchedObjects = true
      #expect(try context.fetch(request) == [item] && item.title == "b")
    }
  }

  @Test(
    .rule("FETCH-15", "NSFetchRequest.shouldRefreshRefetchedObjects"), arguments: StoreKind.every,
    ["in batches", "without values", "by a condition of the program", "with a limit"])
  func `a fetch that reads ids first refreshes loaded objects too`(kind: StoreKind, way: String) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let items: [Item] = ["a", "b", "c"].map { context.item($0) }
      try context.save()
      items[2].count = 7
      try stack.elsewhere { other in
        for twin in try other.all(Item.self, "Item") { twin.title = "new" }
        try other.save()
      }
      let request: NSFetchRequest<Item> = context.request(Item.self, "Item", sort: ["count"])
      request.shouldRefreshRefetchedObjects = true
      switch way {
      case "in batches": request.fetchBatchSize = 2
      case "without values": request.includesPropertyValues = false
      default:
        request.sortDescriptors = nil
        request.predicate = NSPredicate { object, _ in (object as? Item)?.title != "a" }
        if way == "with a limit" { request.fetchLimit = 3 }
      }
      #expect(try context.fetch(request).count == 3)
      #expect(items.map(\.title) == ["new", "new", "c"], "unsaved changes stay")
      #expect(items[2].count == 7)
    }
  }

  @Test(.rule("FETCH-15", "NSFetchRequest.shouldRefreshRefetchedObjects"), arguments: StoreKind.every)
  func `an asynchronous fetch refreshes loaded objects, if it is to`(kind: StoreKind) async throws {
    let stack = try Stack(kind)
    let context: NSManagedObjectContext = stack.context
    try context.performAndWait {
      _ = context.item("a")
      try context.save()
    }
    try stack.elsewhere { other in
      let twin: Item = try #require(try other.all(Item.self, "Item").first)
      twin.title = "b"
      try other.save()
    }
    let titles: [String?] = await withCheckedContinuation { continuation in
      context.performAndWait {
        let request: NSFetchRequest<Item> = context.request(Item.self, "Item")
        request.shouldRefreshRefetchedObjects = true
        let asked = NSAsynchronousFetchRequest(fetchRequest: request) { result in
          continuation.resume(returning: result.finalResult?.map(\.title) ?? ["no result"])
        }
        do { _ = try context.execute(asked) } catch { continuation.resume(returning: ["\(error)"]) }
      }
    }
    #expect(titles == ["b"])
  }

  @Test(arguments: StoreKind.every)
  func `objects outlive their context as plain values`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.elsewhere { context in
      _ = context.item("a", context.category("c"))
      try context.save()
    }
    var loaded: Item?
    var fault: Item?
    var fresh: Item?
    try stack.elsewhere { context in
      loaded = try context.all(Item.self, "Item").first
      #expect(loaded?.title == "a" && loaded?.category?.items.count == 1)
      fresh = context.item("new")
    }
    try stack.elsewhere { context in
      fault = loaded.flatMap { context.object(with: $0.objectID) as? Item }
    }
    let items: [Item] = [loaded, fault, fresh].compactMap { $0 }
    try #require(items.count == 3)
    #expect(items.allSatisfy { $0.managedObjectContext == nil })
    // What stops the program is in ConcurrencyDebugTests.
    #expect(items[0].title == "a")
    _ = items.map { "\($0) \($0.objectID) \($0.hasChanges) \($0.changedValues())" }
  }

  @Test(.rule("FETCH-15", "NSFetchRequest.shouldRefreshRefetchedObjects"), arguments: StoreKind.every)
  func `a fetch that refreshes reads relationships anew, those that are looked at too`(kind: StoreKind) async
  {
    // What observers see was asked for under the lock of the identity map: such a fetch never ended.
    await #expect(processExitsWith: .success) { [kind = kind.rawValue as String] in
      alarm(60)
      let stack = try Stack(try #require(StoreKind(rawValue: kind)))
      try stack.run { context in
        for title in ["a", "b"] { context.item(title).category = context.category(title) }
        try context.save()
        context.reset()
        let request: NSFetchRequest<Item> = context.request(Item.self, "Item", sort: ["title"])
        let items: [Item] = try context.fetch(request)
        // The second has been asked for its category, the first has not.
        #expect(items[0].title == "a" && items[1].category?.name == "b")
        var told: [String?] = []
        let tokens = items.map { item in
          item.observe(\.category) { item, _ in told.append(item.category?.name) }
        }
        try stack.elsewhere { other in
          for item in try other.all(Item.self, "Item") { item.category = other.category("new") }
          try other.save()
        }
        #expect(try context.fetch(request).map { $0.category?.name } == ["a", "b"])
        request.shouldRefreshRefetchedObjects = true
        #expect(try context.fetch(request).map { $0.category?.name } == ["new", "new"])
        #expect(told == ["new", "new"] && !context.hasChanges)
        withExtendedLifetime(tokens) {}
      }
    }
  }

  @Test(arguments: StoreKind.every)
  func `objects and contexts may be let go on any thread`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let category: Category = context.category("c")
      for number in 0..<200 { _ = context.item("\(number)", category) }
      try context.save()
    }
    for _ in 0..<20 {
      let context: NSManagedObjectContext = stack.other()
      try context.performAndWait {
        nonisolated(unsafe) var items: [Item] = try context.all(Item.self, "Item")
        nonisolated(unsafe) var category: Category? = items[0].category
        let work = DispatchGroup()
        DispatchQueue.global().async(group: work) {
          items = []
          category = nil
        }
        // Meanwhile the context meets the same rows.
        for _ in 0..<3 { #expect(try context.count(for: context.request(Item.self, "Item")) == 200) }
        for _ in 0..<3 { #expect(try context.all(Item.self, "Item").count == 200) }
        work.wait()
        _ = category
        let again: [Item] = try context.all(Item.self, "Item")
        #expect(Set(again.map(\.objectID)).count == 200 && again.allSatisfy { $0.title != nil })
        #expect(context.registeredObjects.isSuperset(of: again))
      }
    }
  }

  @Test(arguments: StoreKind.every)
  func `a long chain of objects is let go without a deep stack`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    let id: NSManagedObjectID = try stack.elsewhere { context in
      var last: NSManagedObject?
      for _ in 0..<10_000 { last = context.make("Node", last.map { ["parent": $0] } ?? [:]) }
      try context.save()
      return try #require(last).objectID
    }
    // Only the first is held, each holds the next.
    try stack.run { context in
      nonisolated(unsafe) var first: NSManagedObject? = try context.existingObject(with: id)
      var node: NSManagedObject? = first
      var length: Int = 0
      while let next = node {
        length += 1
        node = next.value(forKey: "parent") as? NSManagedObject
      }
      #expect(length == 10_000)
      // Worker threads have small stacks.
      let work = DispatchGroup()
      DispatchQueue.global().async(group: work) { first = nil }
      work.wait()
      #expect(context.registeredObjects.isEmpty)
    }
  }
}
