import CoreData
import Foundation
import StackSupport
import Testing

/// Observers of `NSManagedObjectContextObjectsDidChange` that change objects and save.
@Suite
struct SavingObserverTests {
  /// Who posts the notification in which the observer works.
  enum Occasion: CaseIterable { case event, save }

  /// Calls `work` at the first notification that `action` posts. Returns how many it posts.
  @discardableResult
  private func observing(
    _ context: NSManagedObjectContext, _ work: () throws -> Void, while action: () throws -> Void
  ) throws -> [Set<String>] {
    try withoutActuallyEscaping(work) { work in
      nonisolated(unsafe) var posted: [Set<String>] = []
      nonisolated(unsafe) var failure: (any Error)?
      nonisolated(unsafe) let work: () throws -> Void = work
      let observer = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
      ) { notification in
        posted.append(Set(notification.userInfo?.keys.compactMap { $0 as? String } ?? []))
        guard posted.count == 1 else { return }
        do { try work() } catch { failure = error }
      }
      defer { NotificationCenter.default.removeObserver(observer) }
      try action()
      if let failure { throw failure }
      return posted
    }
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `delete rules hold for what an observer deletes and saves`(kind: StoreKind, isChild: Bool) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let category: Category = context.category("c")
      for title in ["a", "b"] { context.item(title, category).shelf = context.make("Shelf", ["name": title]) }
      _ = context.item("free")
      try context.save()
    }
    func work(_ context: NSManagedObjectContext) throws {
      let free: Item = try #require(
        try context.all(Item.self, "Item", NSPredicate(format: "title == 'free'")).first)
      let category: Category = try #require(try context.all(Category.self, "Category").first)
      try observing(
        context,
        {
          context.delete(category)
          try context.save()
        },
        while: {
          free.title = "changed"
          context.processPendingChanges()
        })
      #expect(!context.hasChanges)
    }
    if isChild {
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = stack.context
      try child.performAndWait { try work(child) }
      try stack.run { try $0.save() }
    } else {
      try stack.run(work)
    }
    #expect(try stack.titles() == ["changed"])
    try stack.elsewhere { context in
      for shelf in try context.all(NSManagedObject.self, "Shelf") {
        #expect((shelf.value(forKey: "items") as? NSSet)?.count == 0)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `delete rules hold for what an observer of a save's own event deletes`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let category: Category = context.category("c")
      _ = context.item("a", category)
      let free: Item = context.item("free")
      try context.save()
      free.title = "changed"
      try observing(context, { context.delete(category) }, while: { try context.save() })
      #expect(!context.hasChanges)
    }
    #expect(try stack.titles() == ["changed"])
  }

  @Test(arguments: StoreKind.allCases)
  func `a deletion that a delete rule denies is refused in an observer too`(kind: StoreKind) throws {
    let model: NSManagedObjectModel = World.model()
    let items = try #require(model.entitiesByName["Category"]?.relationshipsByName["items"])
    items.deleteRule = .denyDeleteRule
    let stack = try Stack(kind, model: model)
    try stack.run { context in
      let category = context.make("Category", ["name": "c"])
      let item = context.make("Item", ["title": "a"])
      item.setValue(category, forKey: "category")
      try context.save()
      #expect(throws: (any Error).self) {
        try observing(
          context,
          {
            context.delete(category)
            try context.save()
          },
          while: {
            item.setValue("b", forKey: "title")
            context.processPendingChanges()
          })
      }
      context.rollback()
      #expect(item.value(forKey: "category") as? NSManagedObject === category)
    }
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `what an observer changes and saves can be undone`(kind: StoreKind, saves: Bool) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let (first, second, third): (Item, Item, Item) = (
        context.item("first"), context.item("second"), context.item("third")
      )
      let tag = Tag(context: context)
      third.tags = [tag]
      try context.save()
      let manager = UndoManager()
      manager.groupsByEvent = false
      context.undoManager = manager
      manager.beginUndoGrouping()
      try observing(
        context,
        {
          second.title = "changed second"
          context.delete(third)
          _ = context.item("new")
          if saves { try context.save() }
        },
        while: {
          first.title = "changed first"
          context.processPendingChanges()
          context.processPendingChanges()
        })
      manager.endUndoGrouping()
      let after: [String?] = ["changed first", "changed second", "new"]
      func titles() throws -> [String?] { try context.all(Item.self, "Item", sort: ["title"]).map(\.title) }
      #expect(try titles() == after)
      for _ in 0..<2 {
        context.undo()
        #expect(try titles() == ["first", "second", "third"])
        #expect(third.tags == [tag] && tag.items == [third])
        context.redo()
        #expect(try titles() == after)
      }
      context.undo()
      try context.save()
    }
    #expect(try stack.titles() == ["first", "second", "third"])
  }

  @Test func `an event that ends in an observer's save is notified once, at the end of the next one`() throws
  {
    let stack = try Stack(.inMemory)
    try stack.run { context in
      let (first, second): (Item, Item) = (context.item("first"), context.item("second"))
      try context.save()
      var seen: [String: Any] = [:]
      let posted: [Set<String>] = try observing(
        context,
        {
          second.title = "changed"
          _ = context.item("new")
          try context.save()
          seen = second.changedValuesForCurrentEvent()
        },
        while: {
          first.title = "changed"
          context.processPendingChanges()
          #expect(second.changedValuesForCurrentEvent()["title"] as? String == "second")
          context.processPendingChanges()
          context.processPendingChanges()
        })
      #expect(posted == [["updated"], ["inserted", "updated"]])
      #expect(seen["title"] as? String == "second")
      #expect(second.changedValuesForCurrentEvent().isEmpty)
    }
  }

  @Test func `an observer that always saves does not keep the context from returning`() throws {
    let stack = try Stack(.inMemory)
    try stack.run { context in
      nonisolated(unsafe) let item: Item = context.item("a")
      try context.save()
      nonisolated(unsafe) var count: Int = 0
      let observer = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
      ) { _ in
        count += 1
        item.price = Double(count)
        try? item.managedObjectContext?.save()
      }
      item.title = "b"
      context.processPendingChanges()
      #expect(count == 1 && !context.hasChanges)
      for _ in 0..<3 { context.processPendingChanges() }
      NotificationCenter.default.removeObserver(observer)
      #expect(count == 4 && item.price == 4)
    }
  }
}
