import CoreData
import Foundation
import StackSupport
import Testing

/// Undoing deletions of objects that another context has changed since: merges and refreshes are no steps of
/// their own.
@Suite
struct MergedDeletionUndoTests {
  enum Way: CaseIterable, Sendable { case merge, refresh, refreshAll }

  /// Saves `change` in another context; the first context then reads it.
  private func read(
    _ way: Way, _ item: Item, in stack: Stack, _ change: (NSManagedObjectContext) throws -> Void
  ) throws {
    let other: NSManagedObjectContext = stack.other()
    let saves = Recorder([.NSManagedObjectContextDidSave], of: other)
    try other.performAndWait {
      try change(other)
      try other.save()
    }
    switch way {
    case .merge: stack.context.mergeChanges(fromContextDidSave: try #require(saves.received.first))
    case .refresh: stack.context.refresh(item, mergeChanges: true)
    case .refreshAll: stack.context.refreshAllObjects()
    }
    stack.context.processPendingChanges()
  }

  private func withUndo(
    _ kind: StoreKind, _ body: (Stack, NSManagedObjectContext, UndoManager) throws -> Void
  ) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let manager = UndoManager()
      context.undoManager = manager
      try body(stack, context, manager)
    }
  }

  @Test(arguments: StoreKind.allCases, Way.allCases)
  func `one undo brings back an object that another context has given to an owner`(kind: StoreKind, way: Way)
    throws
  {
    try withUndo(kind) { stack, context, manager in
      let item: Item = context.item("a")
      let category: Category = context.category("c")
      try context.save()
      manager.removeAllActions()
      context.delete(item)
      context.processPendingChanges()
      try read(way, item, in: stack) { other in
        try other.all(Item.self, "Item")[0].category = try other.all(Category.self, "Category")[0]
      }
      #expect(item.isDeleted && category.items.isEmpty)
      for _ in 0..<2 {
        context.undo()
        #expect(!item.isDeleted && item.category === category && category.items == [item])
        #expect(!manager.canUndo && manager.canRedo)
        context.redo()
        #expect(item.isDeleted && category.items.isEmpty)
      }
      context.undo()
      context.processPendingChanges()
      #expect(context.deletedObjects.isEmpty && !context.hasChanges)
      try context.save()
      #expect(try stack.titles() == ["a"])
    }
  }

  @Test(arguments: StoreKind.allCases, Way.allCases)
  func `one undo brings back what a delete rule reached because of a merge`(kind: StoreKind, way: Way) throws
  {
    try withUndo(kind) { stack, context, manager in
      let item: Item = context.item("a")
      let category: Category = context.category("c")
      try context.save()
      manager.removeAllActions()
      context.delete(category)
      context.processPendingChanges()
      try read(way, item, in: stack) { other in
        try other.all(Item.self, "Item")[0].category = try other.all(Category.self, "Category")[0]
      }
      #expect(category.isDeleted && item.isDeleted)
      for _ in 0..<2 {
        context.undo()
        #expect(!item.isDeleted && !category.isDeleted && !manager.canUndo)
        #expect(item.category === category && category.items == [item])
        context.redo()
        #expect(category.isDeleted && item.isDeleted)
      }
      context.undo()
      try context.save()
      #expect(try stack.titles() == ["a"])
    }
  }

  @Test(arguments: StoreKind.allCases, Way.allCases)
  func `an object comes back to the owner that the store has for it`(kind: StoreKind, way: Way) throws {
    try withUndo(kind) { stack, context, manager in
      let item: Item = context.item("a")
      let first: Category = context.category("first")
      let second: Category = context.category("second")
      item.category = first
      try context.save()
      manager.removeAllActions()
      context.delete(item)
      context.processPendingChanges()
      try read(way, item, in: stack) { other in
        try other.all(Item.self, "Item")[0].category =
          try other.all(Category.self, "Category", NSPredicate(format: "name == 'second'"))[0]
      }
      context.undo()
      #expect(!item.isDeleted && item.category === second && !manager.canUndo)
      #expect(first.items.isEmpty && second.items == [item])
    }
  }

  @Test(arguments: StoreKind.allCases, [Way.refresh, .refreshAll])
  func `changes of the event in which an object is refreshed are a step of their own`(
    kind: StoreKind, way: Way
  ) throws {
    try withUndo(kind) { stack, context, manager in
      let item: Item = context.item("a")
      let category: Category = context.category("c")
      try context.save()
      manager.removeAllActions()
      context.delete(item)
      context.processPendingChanges()
      category.name = "changed"
      let other: Item = context.item("other", category)
      try read(way, item, in: stack) { other in
        try other.all(Item.self, "Item")[0].category = try other.all(Category.self, "Category")[0]
      }
      #expect(category.items == [other])
      context.undo()
      #expect(category.name == "c" && category.items.isEmpty && item.isDeleted)
      context.undo()
      #expect(category.items == [item] && !item.isDeleted && !manager.canUndo)
      context.redo()
      context.redo()
      #expect(category.name == "changed" && category.items == [other] && item.isDeleted)
    }
  }

  @Test(arguments: StoreKind.allCases, Way.allCases)
  func `a deletion that can't be undone leaves nothing to undo when it is merged`(kind: StoreKind, way: Way)
    throws
  {
    try withUndo(kind) { stack, context, manager in
      let item: Item = context.item("a")
      let category: Category = context.category("c")
      try context.save()
      manager.disableUndoRegistration()
      context.delete(item)
      context.processPendingChanges()
      manager.enableUndoRegistration()
      manager.removeAllActions()
      try read(way, item, in: stack) { other in
        try other.all(Item.self, "Item")[0].category = try other.all(Category.self, "Category")[0]
      }
      #expect(!manager.canUndo && item.isDeleted && category.items.isEmpty)
    }
  }
}
