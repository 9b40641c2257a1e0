import CoreData
import CoreDataStorage
import Foundation
import StackSupport
import TestSupport
import Testing

@testable import CoreDataGraph

/// What one context has read or saved, as the others of its coordinator see it. That a row comes from the
/// cache shows by a stranger, a second coordinator over the same file: what it has saved is in
/// the store only.
@Suite
struct RowCacheTests {
  /// Items "a", "b", "c" in a category, stored by a context that is gone.
  private func filled() throws -> Stack {
    let stack = try Stack(.sqlite)
    try stack.elsewhere { context in
      let category: Category = context.category("things")
      for title in ["a", "b", "c"] { _ = context.item(title, category) }
      try context.save()
    }
    return stack
  }

  private func items(_ context: NSManagedObjectContext) throws -> [Item] {
    let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
    for item in items { try item.fulfillFault() }
    return items
  }

  /// A stranger sets the price of every item.
  private func reprice(_ stack: Stack, _ price: Double) throws {
    let stranger: NSManagedObjectContext = try stack.stranger()
    try stranger.performAndWait {
      for item in try items(stranger) { item.price = price }
      try stranger.save()
    }
  }

  // MARK: Faults

  @Test(
    .rule("FAULT-6", "NSManagedObjectContext.stalenessInterval"),
    arguments: [(-1, 0), (3600, 0), (.infinity, 0), (0, 9), (.nan, 9)] as [(TimeInterval, Double)])
  func `a fault takes the row that another context has read, unless that may be too old`(
    interval: TimeInterval, price: Double
  ) throws {
    let stack: Stack = try filled()
    try stack.run { context in
      let read: [Item] = try items(context)
      try reprice(stack, 9)
      try stack.elsewhere { other in
        other.stalenessInterval = interval
        for item in read { #expect((other.object(with: item.objectID) as? Item)?.price == price) }
      }
      #expect(read.allSatisfy { $0.price == 0 }, "nobody touches what is loaded")
    }
  }

  @Test(arguments: [false, true])
  func `refreshing does not go back to an older row of another context`(isIndexed: Bool) throws {
    let stack: Stack = try filled()
    try stack.run { context in
      let old: [Item] = try items(context)
      if isIndexed {
        try stack.elsewhere { other in
          for item in old { #expect((other.object(with: item.objectID) as? Item)?.price == 0) }
        }
      }
      try reprice(stack, 9)
      try stack.elsewhere { other in
        let read: [Item] = try items(other)
        #expect(read.map(\.price) == [9, 9, 9])
        other.refreshAllObjects()
        #expect(read.map(\.price) == [9, 9, 9])
        // Faults that have their rows.
        other.reset()
        let faults: [Item] = try other.all(Item.self, "Item", sort: ["title"])
        for item in faults { other.refresh(item, mergeChanges: true) }
        #expect(faults.map(\.price) == [9, 9, 9])
      }
      #expect(old.map(\.price) == [0, 0, 0])
    }
  }

  @Test func `a fetch sees the store, and what it reads is new to the cache`() throws {
    let stack: Stack = try filled()
    try stack.run { context in
      let read: [Item] = try items(context)
      let ids: [NSManagedObjectID] = read.map(\.objectID)
      try reprice(stack, 9)
      try stack.elsewhere { other in
        let fetched: [Item] = try items(other)
        #expect(fetched.map(\.price) == [9, 9, 9])
        try stack.elsewhere { third in
          #expect(ids.map { (third.object(with: $0) as? Item)?.price } == [9, 9, 9])
        }
      }
    }
  }

  @Test func `rows go with the objects that hold them`() throws {
    let stack: Stack = try filled()
    let cache: RowCache = try #require((stack.store as? EngineStore)?.rowCache)
    let id: NSManagedObjectID = try stack.run { context in
      let read: [Item] = try items(context)
      #expect(cache.sizes.slabs == 1 && cache.sizes.rows == 0, "a fetch indexes nothing")
      try stack.elsewhere { #expect(($0.object(with: read[1].objectID) as? Item)?.title == "b") }
      #expect(cache.sizes == (1, 3))
      return read[0].objectID
    }
    #expect(cache.sizes == (0, 0))
    try reprice(stack, 9)
    try stack.run { #expect(($0.object(with: id) as? Item)?.price == 9) }
  }

  @Test func `what a context has missed stays as long as its object`() throws {
    let stack: Stack = try filled()
    let cache: RowCache = try #require((stack.store as? EngineStore)?.rowCache)
    try stack.run { context in
      var read: [Item] = try items(context)
      for round in 1...5 {
        try stack.elsewhere { other in
          for item in try items(other) { item.count = Int64(round) }
          try other.save()
        }
        #expect(cache.sizes.slabs == 2, "the rows that were read and those that were saved last")
      }
      try reprice(stack, 9)
      try stack.elsewhere { other in
        let twin: Item = try #require(other.object(with: read[0].objectID) as? Item)
        #expect(twin.count == 5 && twin.price == 0, "not from the store")
      }
      read = []
      #expect(cache.sizes == (0, 0))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what one context saves or deletes is what the faults of others get`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let saved: [Item] = ["a", "b", "c"].map { context.item($0) }
      try context.save()
      let ids: [NSManagedObjectID] = saved.map(\.objectID)
      try stack.elsewhere { other in
        // Rows of the insertion, of an update and of none.
        #expect((other.object(with: ids[0]) as? Item)?.title == "a")
        saved[1].title = "changed"
        context.delete(saved[2])
        try context.save()
        #expect((other.object(with: ids[1]) as? Item)?.title == "changed")
        #expect(throws: CocoaError.self) { _ = try other.existingObject(with: ids[2]) }
      }
    }
  }

  @Test func `refreshing takes what is known, and what is stored with an interval of 0`() throws {
    let stack: Stack = try filled()
    try stack.run { context in
      let read: [Item] = try items(context)
      try reprice(stack, 9)
      context.refresh(read[0], mergeChanges: true)
      context.refresh(read[1], mergeChanges: false)
      #expect(read.map(\.price) == [0, 0, 0])
      context.stalenessInterval = 0
      read[2].title = "mine"
      for item in read { context.refresh(item, mergeChanges: item === read[2]) }
      #expect(read.map(\.price) == [9, 9, 9] && read[2].title == "mine")
    }
  }

  @Test(arguments: [false, true])
  func `merging what strangers saved reads the store`(asRemote: Bool) throws {
    let stack: Stack = try filled()
    try stack.run { context in
      let read: [Item] = try items(context)
      let stranger: NSManagedObjectContext = try stack.stranger()
      let recorder = Recorder([.NSManagedObjectContextDidSave], of: stranger)
      try stranger.performAndWait {
        let theirs: [Item] = try items(stranger)
        theirs[0].price = 9
        stranger.delete(theirs[1])
        try stranger.save()
      }
      if asRemote {
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [
            NSUpdatedObjectsKey: [read[0].objectID], NSDeletedObjectsKey: [read[1].objectID],
          ], into: [context])
      } else {
        context.mergeChanges(fromContextDidSave: try #require(recorder.received.first))
      }
      #expect(read[0].price == 9 && read[1].isDeleted)
      let code: Int = try stack.elsewhere { other in
        codeThrown { _ = try other.existingObject(with: read[1].objectID) }
      }
      #expect(code == NSManagedObjectReferentialIntegrityError)
    }
  }

  @Test func `a remote save is merged into contexts of several coordinators`() throws {
    let stack: Stack = try filled()
    let second: NSManagedObjectContext = try stack.stranger()
    try stack.run { context in
      let ours: [Item] = try items(context)
      try second.performAndWait {
        let theirs: [Item] = try items(second)
        #expect(theirs[0].price != 9 && ours[0].price != 9)
        let third: NSManagedObjectContext = try stack.stranger()
        try third.performAndWait {
          try items(third)[0].price = 9
          try third.save()
        }
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [NSUpdatedObjectsKey: [ours[0].objectID.uriRepresentation()]],
          into: [context, second])
        #expect(ours[0].price == 9 && theirs[0].price == 9)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `members that are not loaded are those of the last save`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let category: Category = context.category("things")
      _ = context.item("a", category)
      try context.save()
      try stack.elsewhere { other in
        let twin: Category = try #require(try other.existingObject(with: category.objectID) as? Category)
        _ = context.item("b", category)
        try context.save()
        #expect(twin.items.count == 2)
      }
    }
  }

  // MARK: Conflicts on two levels

  enum Writer: CaseIterable {
    case otherContext, stranger

    fileprivate func context(_ stack: Stack) throws -> NSManagedObjectContext {
      self == .otherContext ? stack.other() : try stack.stranger()
    }
  }

  /// Changes title and count of "a", as one of the writers.
  private func retitle(_ stack: Stack, _ writer: Writer, _ title: String, _ count: Int64) throws {
    let context: NSManagedObjectContext = try writer.context(stack)
    try context.performAndWait {
      let item: Item = try #require(try items(context).first { ["a", "theirs"].contains($0.title) })
      (item.title, item.count) = (title, count)
      try context.save()
    }
  }

  @Test(.rule("CONF-1", "NSMergeConflict", "on two levels"), arguments: Writer.allCases)
  func `a conflict says whether the row cache or the store is newer`(writer: Writer) throws {
    let stack: Stack = try filled()
    try stack.run { context in
      let item: Item = try items(context)[0]
      try retitle(stack, writer, "theirs", 2)
      item.price = 5
      let error: NSError = try #require(errorThrown { try context.save() })
      let conflict: NSMergeConflict = try #require(
        (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first)
      #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
      #expect(conflict.objectSnapshot?["price"] as? Double == 5)
      if writer == .otherContext {
        #expect(conflict.cachedSnapshot?["title"] as? String == "theirs" && conflict.persistedSnapshot == nil)
      } else {
        #expect(conflict.cachedSnapshot?["title"] as? String == "a")
        #expect(conflict.persistedSnapshot?["title"] as? String == "theirs")
      }
    }
  }

  private static let outcomes: [(policy: NSMergePolicy, row: String)] = [
    (.mergeByPropertyStoreTrump, "theirs 5.0 2"), (.mergeByPropertyObjectTrump, "mine 5.0 2"),
    (.overwrite, "mine 5.0 7"), (.rollback, "theirs 0.0 2"),
  ]

  @Test(arguments: Writer.allCases, outcomes)
  func `every policy settles conflicts of either level alike`(
    writer: Writer, outcome: (policy: NSMergePolicy, row: String)
  ) throws {
    let stack: Stack = try filled()
    try stack.run { context in
      let item: Item = try items(context)[0]
      try retitle(stack, writer, "theirs", 2)
      (item.title, item.price) = ("mine", 5)
      context.mergePolicy = outcome.policy
      try context.save()
      #expect("\(item.title ?? "") \(item.price) \(item.count)" == outcome.row)
      let stranger: NSManagedObjectContext = try stack.stranger()
      try stranger.performAndWait {
        let id: NSManagedObjectID = try #require(stranger.id(of: item))
        let stored: Item = try #require(try stranger.existingObject(with: id) as? Item)
        #expect("\(stored.title ?? "") \(stored.price) \(stored.count)" == outcome.row)
      }
    }
  }

  @Test func `a row that both have changed is settled with the cache, then with the store`() throws {
    final class Listing: NSMergePolicy, @unchecked Sendable {
      // Sendable: used on the context's queue only.
      var seen: [String] = []
      override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        seen += list.map { conflict in
          "\(conflict.oldVersionNumber)-\(conflict.newVersionNumber)"
            + (conflict.persistedSnapshot == nil ? " cache" : " store")
        }
        try super.resolve(optimisticLockingConflicts: list)
      }
    }
    let stack: Stack = try filled()
    try stack.run { context in
      let item: Item = try items(context)[0]
      try retitle(stack, .otherContext, "theirs", 2)
      try retitle(stack, .stranger, "strange", 3)
      item.price = 5
      let policy = Listing(merge: .mergeByPropertyObjectTrumpMergePolicyType)
      context.mergePolicy = policy
      try context.save()
      #expect(policy.seen == ["1-2 cache", "2-3 store"])
      #expect(item.title == "strange" && item.count == 3 && item.price == 5)
    }
  }

  // MARK: The cache by itself

  /// A row of the random walk, as it is stored.
  private struct Truth {
    var version: Int32
    var isDeleted = false
  }

  @Test(arguments: 0..<20)
  func `no row comes back that was written over`(seed: UInt64) throws {
    let stack = try Stack(.sqlite)
    let layout: EntityLayout = try #require(stack.store.runtime.runtime(named: "Item")).layout
    let cache = RowCache(layout: stack.store.runtime.layout)
    let root: Int = layout.rootIndex
    var random = SeededRandom(seed: seed)
    var truth: [Int64: Truth] = [:]
    var held: [RowSlab] = []
    func slab(_ keys: [Int64]) -> RowSlab {
      let slab = RowSlab(layout: layout, family: true, rowCapacity: 4)
      for key in keys {
        _ = slab.appendRow(key: key, entity: layout.index, version: truth[key]?.version ?? 1)
      }
      return slab
    }
    for step in 0..<400 {
      let keys: [Int64] = (1...12).filter { _ in Bool.random(using: &random) }
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        // A read; sometimes somebody saves while it runs.
        let stored: [Int64] = keys.filter { truth[$0].map { !$0.isDeleted } ?? false }
        let isOvertaken: Bool = Int.random(in: 0..<4, using: &random) == 0
        held +=
          cache.listing(root) {
            let read: RowSlab = slab(stored)
            if isOvertaken {
              for key in stored { truth[key]?.version += 1 }
              cache.replace(root: root, changed: stored, by: [])
            }
            return RowBatch(slabs: [read])
          }.slabs
      case 2:
        // A save: new rows, changed ones, and those that were deleted come back.
        let changed: [Int64] = keys.filter { truth[$0] != nil }
        for key in keys { truth[key] = Truth(version: (truth[key]?.version ?? 0) + 1) }
        let saved: RowSlab = slab(keys)
        cache.replace(root: root, changed: changed, by: [saved])
        if Bool.random(using: &random) { held.append(saved) }
      case 3:
        let gone: [Int64] = keys.filter { truth[$0] != nil && $0 % 3 == 0 }
        for key in gone { truth[key]?.isDeleted = true }
        cache.replace(root: root, changed: gone, by: [])
      case 4 where !held.isEmpty: held.remove(at: Int.random(in: held.indices, using: &random))
      default:
        for key in keys {
          guard let row = cache.row(root: root, key: key) else { continue }
          let stored: Truth = try #require(truth[key], "seed \(seed), step \(step)")
          #expect(
            row.key == key && row.version == stored.version && !stored.isDeleted, "seed \(seed), step \(step)"
          )
        }
      }
    }
    held = []
    #expect(cache.sizes == (0, 0), "seed \(seed): nothing is left when nobody holds a row")
  }

  @Test func `a row is as old as the read that brought it`() throws {
    let stack = try Stack(.sqlite)
    let layout: EntityLayout = try #require(stack.store.runtime.runtime(named: "Item")).layout
    let cache = RowCache(layout: stack.store.runtime.layout)
    let slab = RowSlab(layout: layout, family: true, rowCapacity: 1)
    _ = slab.appendRow(key: 1, entity: layout.index, version: 1)
    let before: ContinuousClock.Instant = .now
    _ = cache.listing(layout.rootIndex) { RowBatch(slabs: [slab]) }
    #expect(cache.row(root: layout.rootIndex, key: 1, since: before)?.key == 1)
    #expect(cache.row(root: layout.rootIndex, key: 1, since: .now + .seconds(1)) == nil)
    #expect(cache.row(root: layout.rootIndex, key: 2, since: before) == nil)
  }
}

extension NSManagedObjectContext {
  /// The id that this context's coordinator has for an object of another coordinator over the same file.
  fileprivate func id(of object: NSManagedObject) -> NSManagedObjectID? {
    persistentStoreCoordinator?.managedObjectID(forURIRepresentation: object.objectID.uriRepresentation())
  }
}
