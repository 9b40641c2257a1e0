import CoreData
import Foundation
import StackSupport
import Testing

/// Undoing what observers of notifications change.
@Suite
struct ObserverUndoTests {
  enum Change: CaseIterable, Sendable {
    case inserts, setsName, addsMember, deletes

    func make(_ item: Item, _ tag: Tag) {
      let context: NSManagedObjectContext? = item.managedObjectContext
      switch self {
      case .inserts: context?.category("new").items = [item]
      case .setsName: item.title = "changed"
      case .addsMember: item.tags.insert(tag)
      case .deletes: context?.delete(tag)
      }
    }
  }

  /// Who makes the change in a save.
  enum Place: CaseIterable, Sendable { case observer, willSave }

  @Test(arguments: [(Place.observer, true), (.observer, false), (.willSave, true)], Change.allCases)
  func `what is changed while a save is prepared is undone with what it saves`(
    place: (Place, hasChange: Bool), change: Change
  ) throws {
    for kind in StoreKind.allCases {
      let stack = try Stack(kind)
      try stack.run { context in
        let item: Item = context.item("a")
        let tag = Tag(context: context)
        try context.save()
        let manager = UndoManager()
        context.undoManager = manager
        var isArmed = true
        func changeOnce() {
          guard isArmed else { return }
          isArmed = false
          change.make(item, tag)
        }
        if place.hasChange { item.price = 5 }
        if place.0 == .willSave {
          stack.journal.onWillSave = { _ in changeOnce() }
          try context.save()
          stack.journal.onWillSave = nil
        } else {
          let saves = Recorder([.NSManagedObjectContextWillSave], of: context) { _ in changeOnce() }
          try context.save()
          #expect(saves.received.count == 1)
        }
        #expect(!isArmed && !context.hasChanges && manager.undoCount == 1)
        func expectOriginal() throws {
          #expect(item.price == 0 && item.title == "a" && item.category == nil && item.tags.isEmpty)
          #expect(!tag.isDeleted && tag.managedObjectContext === context && tag.items.isEmpty)
          #expect(try context.all(Category.self, "Category").isEmpty && !manager.canUndo)
        }
        func expectChanged() throws {
          #expect(item.price == (place.hasChange ? 5 : 0))
          let tags: [Tag] = try context.all(Tag.self, "Tag")
          let categories: [Category] = try context.all(Category.self, "Category")
          switch change {
          case .inserts: #expect(categories.count == 1 && item.category === categories[0])
          case .setsName: #expect(item.title == "changed")
          case .addsMember: #expect(item.tags == [tag] && tag.items == [item])
          case .deletes: #expect(tags.isEmpty)
          }
          if change == .inserts { #expect(categories.first?.items == [item]) }
        }
        try expectChanged()
        for _ in 0..<2 {
          context.undo()
          try expectOriginal()
          context.redo()
          try expectChanged()
        }
        context.undo()
        try context.save()
      }
      try stack.elsewhere { context in
        #expect(try context.all(Category.self, "Category").isEmpty)
        #expect(try context.all(Tag.self, "Tag").count == 1)
        let item: Item = try context.all(Item.self, "Item")[0]
        #expect(item.title == "a" && item.price == 0 && item.tags.isEmpty)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what an observer of the did-save notification changes is the next step`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a")
      try context.save()
      let manager = UndoManager()
      context.undoManager = manager
      let saves = Recorder([.NSManagedObjectContextDidSave], of: context) { _ in
        item.title = "changed"
        context.processPendingChanges()
      }
      item.price = 5
      try context.save()
      #expect(saves.received.count == 1 && manager.undoCount == 2)
      context.undo()
      #expect(item.title == "a" && item.price == 5)
      context.undo()
      #expect(item.price == 0 && !manager.canUndo)
    }
  }

  /// A step and what observers of its notification change belong together: redoing it gives the state before
  /// the undo, and the redo stack is not emptied by an observer that keeps, say, a date of change.
  @Test(arguments: StoreKind.allCases, [false, true])
  func `what an observer of an undo changes is reverted by the redo`(kind: StoreKind, saves: Bool) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a")
      try context.save()
      let manager = UndoManager()
      context.undoManager = manager
      let category: Category = context.category("c")
      context.processPendingChanges()
      var isArmed = true
      let changes = Recorder([.NSManagedObjectContextObjectsDidChange], of: context) { _ in
        guard isArmed else { return }
        isArmed = false
        item.title = "changed"
        if saves { #expect(throws: Never.self) { try context.save() } }
      }
      for _ in 0..<2 {
        context.undo()
        context.processPendingChanges()
        #expect(category.managedObjectContext == nil && item.title == "changed")
        #expect(!manager.canUndo && manager.canRedo)
        context.redo()
        context.processPendingChanges()
        #expect(category.managedObjectContext === context && item.title == "a")
        #expect(manager.canUndo && !manager.canRedo)
      }
      #expect(!isArmed && !changes.received.isEmpty)
    }
  }
}
