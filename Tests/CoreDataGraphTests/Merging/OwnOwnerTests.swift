import CoreData
import Foundation
import StackSupport
import Testing

/// An object that this context has given to one owner and another context to another: the change here counts
/// until it is saved or discarded.
@Suite
struct OwnOwnerTests {
  enum Way: CaseIterable, Sendable { case merge, refreshAll, refreshOwner, refreshOwnerAsFault }
  enum End: CaseIterable, Sendable { case save, rollback, undo, back }

  @Test(arguments: StoreKind.allCases, Way.allCases)
  func `only the owner that was set here lists the object`(kind: StoreKind, way: Way) throws {
    for isRead in [false, true] {
      for end in End.allCases { try check(kind, way, isRead: isRead, end) }
    }
  }

  private func check(_ kind: StoreKind, _ way: Way, isRead: Bool, _ end: End) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      context.undoManager = UndoManager()
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let item: Item = context.item("a")
      let mine = context.category("mine")
      let theirs = context.category("theirs")
      try context.save()
      context.undoManager?.removeAllActions()
      context.refreshAllObjects()
      if isRead { #expect(mine.items.isEmpty && theirs.items.isEmpty) }
      item.category = mine
      context.processPendingChanges()

      let other: NSManagedObjectContext = stack.other()
      let saves = Recorder([.NSManagedObjectContextDidSave], of: other)
      try other.performAndWait {
        try other.all(Item.self, "Item")[0].category =
          try other.all(Category.self, "Category", NSPredicate(format: "name == 'theirs'"))[0]
        try other.save()
      }
      switch way {
      case .merge: context.mergeChanges(fromContextDidSave: try #require(saves.received.first))
      case .refreshAll: context.refreshAllObjects()
      case .refreshOwner: context.refresh(theirs, mergeChanges: true)
      case .refreshOwnerAsFault: context.refresh(theirs, mergeChanges: false)
      }
      #expect(item.category === mine && mine.items == [item], "\(way) \(isRead)")
      #expect(
        theirs.items.isEmpty && theirs.value(forKeyPath: "items.@count") as? Int == 0, "\(way) \(isRead)")

      // What becomes of the change here.
      switch end {
      case .save: try context.save()
      case .rollback: context.rollback()
      case .undo: context.undo()
      case .back: theirs.items = [item]
      }
      // An undo past a merge sets the value from before the change; the row has another one by then.
      let isRowRead: Bool = way == .merge || way == .refreshAll
      let owner: Category? = end == .save ? mine : end == .undo && isRowRead ? nil : theirs
      if end != .save, !isRowRead { context.refresh(item, mergeChanges: true) }
      expect(item, in: owner, of: [mine, theirs], "\(way) \(isRead) \(end)")
      try context.save()
      expect(item, in: owner, of: [mine, theirs], "\(way) \(isRead) \(end), saved")
      context.refreshAllObjects()
      expect(item, in: owner, of: [mine, theirs], "\(way) \(isRead) \(end), refreshed")
    }
  }

  private func expect(_ item: Item, in owner: Category?, of all: [Category], _ comment: Comment) {
    #expect(item.category === owner, comment)
    for category in all { #expect(category.items == (category === owner ? [item] : []), comment) }
  }
}
