import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Undo and redo of what happens in a context.
@Suite
struct UndoTests {
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

  @Test(
    .rule("UNDO-1", "NSManagedObjectContext.undoManager", "one group an event"),
    .rule("EVENT-2", "NSManagedObjectContext.undo()", "pending changes are processed first"),
    arguments: StoreKind.every)
  func `setting values is undone and redone on the same object, event by event`(kind: StoreKind) throws {
    try withUndo(kind) { _, context, manager in
      let item: Item = context.item("a")
      try context.save()
      manager.removeAllActions()
      item.title = "b"
      item.price = 2
      context.processPendingChanges()
      item.title = "c"
      item.title = "d"
      context.undo()
      #expect(item.title == "b" && item.price == 2)
      context.undo()
      #expect(item.title == "a" && item.price == 0)
      #expect(!item.hasChanges && !context.hasChanges, "back where the store is")
      context.redo()
      #expect(item.title == "b" && item.price == 2 && context.updatedObjects == [item])
      context.redo()
      #expect(item.title == "d")
      #expect(!manager.canRedo)
    }
  }

  @Test(
    .rule("UNDO-6", "NSManagedObjectContext.undo()"), .rule("LIFE-1", "NSManagedObject.awakeFromInsert()"),
    arguments: StoreKind.every)
  func `an insertion is undone and redone with the same object, its values and its id`(kind: StoreKind) throws
  {
    try withUndo(kind) { stack, context, manager in
      let category = context.make("Category") as! Category
      try context.save()
      manager.removeAllActions()
      let item: Item = context.item("a")
      item.category = category
      context.processPendingChanges()
      let id: NSManagedObjectID = item.objectID
      stack.journal.lines = []
      context.undo()
      #expect(context.insertedObjects.isEmpty && category.items.isEmpty && !context.hasChanges)
      #expect(item.managedObjectContext == nil)
      context.redo()
      #expect(context.insertedObjects == [item] && category.items == [item])
      #expect(item.title == "a" && item.category === category && item.objectID == id)
      #expect(context.object(with: id) === item)
      #expect(!stack.journal.lines.contains("awakeFromInsert Item"))
      try context.save()
      #expect(try stack.titles() == ["a"])
    }
  }

  @Test(.rule("UNDO-7", "NSManagedObjectContext.undo()"), arguments: StoreKind.every)
  func `a deletion with all it passed on is undone`(kind: StoreKind) throws {
    try withUndo(kind) { stack, context, manager in
      let category = context.make("Category") as! Category
      let (a, b): (Item, Item) = (context.item("a"), context.item("b"))
      category.items = [a, b]
      let tag = context.make("Tag") as! Tag
      a.tags = [tag]
      try context.save()
      manager.removeAllActions()
      context.delete(category)
      context.processPendingChanges()
      #expect(a.isDeleted && b.isDeleted && tag.items.isEmpty)
      context.undo()
      #expect(!category.isDeleted && !a.isDeleted && category.items == [a, b] && tag.items == [a])
      #expect(a.category === category && a.tags == [tag])
      #expect(!context.hasChanges)
      context.redo()
      #expect(category.isDeleted && a.isDeleted && tag.items.isEmpty)
      try context.save()
      #expect(try stack.count("Item") == 0)
      context.undo()
      #expect(context.insertedObjects == [category, a, b], "a saved deletion is undone by new rows")
      #expect(a.title == "a" && a.category === category && a.tags == [tag])
      try context.save()
      #expect(try stack.titles() == ["a", "b"])
      try stack.elsewhere { other in
        let found: Item = try #require(
          try other.all(Item.self, "Item", NSPredicate(format: "title == 'a'")).first)
        #expect(found.category?.items.count == 2 && found.tags.count == 1)
      }
    }
  }

  @Test(arguments: StoreKind.every)
  func `a deletion that is made again after it was undone comes back with its relationships`(kind: StoreKind)
    throws
  {
    try withUndo(kind) { stack, context, _ in
      let item: Item = context.item("a")
      let tag = context.make("Tag") as! Tag
      item.tags = [tag]
      try context.save()
      for round in 0..<3 {
        // Not in the row.
        let category: Category = context.category("\(round)")
        item.category = category
        context.processPendingChanges()
        context.delete(item)
        context.undo()
        #expect(context.undoManager?.canRedo == true)
        // What could be made again is thrown away, with what it knew of the object.
        context.delete(item)
        context.processPendingChanges()
        #expect(context.undoManager?.canRedo == false)
        try context.save()
        context.undo()
        #expect(item.tags == [tag] && tag.items == [item] && item.isInserted)
        #expect(item.category === category && category.items == [item])
        try context.save()
      }
      #expect(try stack.count("Item") == 1)
    }
  }

  @Test(.rule("UNDO-4", "NSManagedObjectContext.undoManager"), arguments: StoreKind.every)
  func `undo goes back past a save and dirties the objects again`(kind: StoreKind) throws {
    try withUndo(kind) { stack, context, manager in
      let item: Item = context.item("a")
      try context.save()
      item.title = "b"
      try context.save()
      #expect(manager.canUndo)
      context.undo()
      #expect(item.title == "a" && item.isUpdated && context.hasChanges)
      try context.save()
      #expect(try stack.titles() == ["a"])
      context.undo()
      #expect(item.isDeleted, "the insertion was saved, so it is undone by a deletion")
      try context.save()
      #expect(try stack.titles() == [])
      context.redo()
      try context.save()
      #expect(try stack.titles() == ["a"])
    }
  }

  @Test(arguments: StoreKind.every)
  func `a change after an undo and a save is saved`(kind: StoreKind) throws {
    try withUndo(kind) { stack, context, _ in
      let (item, other): (Item, Item) = (context.item("a"), context.item("z"))
      try context.save()
      item.title = "b"
      context.undo()
      other.price = 1
      try context.save()
      item.title = "c"
      context.delete(other)
      context.undo()
      other.price = 2
      try context.save()
      item.title = "d"
      context.delete(other)
      try context.save()
      let stored: [String?] = try stack.titles()
      #expect(stored == ["d"])
    }
  }

  @Test(arguments: StoreKind.every)
  func `the order of members comes back`(kind: StoreKind) throws {
    try withUndo(kind) { _, context, manager in
      let list = context.make("Playlist") as! Playlist
      let songs: [NSManagedObject] = ["a", "b", "c", "d"].map {
        let song: NSManagedObject = context.make("Song")
        song.setValue($0, forKey: "name")
        return song
      }
      list.songs = songs
      try context.save()
      manager.removeAllActions()
      list.songs = [songs[3], songs[1], songs[0]]
      context.processPendingChanges()
      context.delete(songs[1])
      context.processPendingChanges()
      #expect(list.names == ["d", "a"])
      context.undo()
      #expect(list.names == ["d", "b", "a"])
      context.undo()
      #expect(list.names == ["a", "b", "c", "d"])
      context.redo()
      context.redo()
      #expect(list.names == ["d", "a"])
    }
  }

  @Test(.rule("UNDO-2", "NSManagedObjectContext.undoManager"), arguments: StoreKind.every)
  func `changes made with registration disabled stay`(kind: StoreKind) throws {
    try withUndo(kind) { _, context, manager in
      let item: Item = context.item("a")
      context.processPendingChanges()
      manager.removeAllActions()
      context.processPendingChanges()
      manager.disableUndoRegistration()
      item.title = "fixed"
      context.processPendingChanges()
      manager.enableUndoRegistration()
      item.price = 3
      context.undo()
      #expect(item.title == "fixed" && item.price == 0)
    }
  }

  @Test(.rule("UNDO-5", "NSManagedObjectContext.rollback(), reset()"), arguments: StoreKind.every)
  func `rollback and reset forget what could be undone`(kind: StoreKind) throws {
    try withUndo(kind) { _, context, manager in
      let item: Item = context.item("a")
      try context.save()
      item.title = "b"
      context.processPendingChanges()
      context.rollback()
      #expect(!manager.canUndo && item.title == "a")
      item.title = "c"
      context.processPendingChanges()
      #expect(manager.canUndo)
      context.reset()
      #expect(!manager.canUndo && !manager.canRedo)
    }
  }

  /// How a context comes to have nothing that could be undone.
  enum Forgetting: CaseIterable {
    case noManager, noRegistration, removed, limited

    var manager: UndoManager? {
      let manager = UndoManager()
      switch self {
      case .noManager: return nil
      case .noRegistration: manager.disableUndoRegistration()
      case .removed: break
      case .limited: manager.levelsOfUndo = 1
      }
      return manager
    }
  }

  @Test(
    .rule("UNDO-3", "NSManagedObjectContext.undoManager", "nil unless set"), arguments: StoreKind.every,
    Forgetting.allCases)
  func `what can't be undone any more is not kept`(kind: StoreKind, forgetting: Forgetting) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      #expect(context.undoManager == nil)
      context.undoManager = forgetting.manager
      weak var gone: Item?
      weak var kept: Tag?
      do {
        let item: Item = context.item("a")
        let tag = context.make("Tag", ["name": "t"]) as? Tag
        item.tags = [try #require(tag)]
        try context.save()
        item.title = "b"
        context.delete(item)
        try context.save()
        (gone, kept) = (item, tag)
      }
      if forgetting == .removed {
        #expect(gone != nil && kept != nil, "they could come back")
        context.undoManager?.removeAllActions()
      } else if forgetting == .limited {
        _ = context.item("c")
        context.processPendingChanges()
      }
      #expect(gone == nil && kept == nil)
      if forgetting != .limited { #expect(context.undoManager?.canUndo != true) }
      context.undo()
      context.redo()
    }
  }

  @Test(arguments: StoreKind.every)
  func `deleted objects that point at each other go with the last action that could bring them back`(
    kind: StoreKind
  )
    throws
  {
    try withUndo(kind) { _, context, manager in
      weak var first: NSManagedObject?
      weak var second: NSManagedObject?
      do {
        let pair: [NSManagedObject] = ["a", "b"].map { context.make("Employee", ["name": $0]) }
        pair[0].setValue(pair[1], forKey: "spouse")
        (first, second) = (pair[0], pair[1])
        try context.save()
        context.undo()
        try context.save()
      }
      #expect(manager.canRedo && first != nil && second != nil)
      _ = context.item("the way forward ends")
      context.processPendingChanges()
      #expect(!manager.canRedo && first == nil && second == nil)
    }
  }

  @Test(arguments: StoreKind.every)
  func `explicit groups span events`(kind: StoreKind) throws {
    try withUndo(kind) { _, context, manager in
      manager.groupsByEvent = false
      manager.beginUndoGrouping()
      let item: Item = context.item("a")
      context.processPendingChanges()
      item.title = "b"
      manager.setActionName("Work")
      manager.endUndoGrouping()
      #expect(manager.undoCount == 1 && manager.undoActionName == "Work")
      context.undo()
      #expect(!context.hasChanges)
    }
  }

  @Test(arguments: StoreKind.every)
  func `a name given after a change is the change's, though its event goes on`(kind: StoreKind) throws {
    try withUndo(kind) { _, context, manager in
      let item: Item = context.item("a")
      context.processPendingChanges()
      manager.setActionName("Add")
      item.title = "b"
      manager.setActionName("Rename")
      #expect(manager.undoActionName == "Rename")
      context.undo()
      #expect(item.title == "a" && manager.undoActionName == "Add" && manager.redoActionName == "Rename")
    }
  }

  @Test(.rule("STATE-4", "NSManagedObject.changedValuesForCurrentEvent()"), arguments: StoreKind.every)
  func `the values before the event are told while it is told`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let (a, b): (Item, Item) = (context.item("a"), context.item("b"))
      let category = context.make("Category") as! Category
      category.items = [a]
      try context.save()
      final class Seen: @unchecked Sendable {
        // Sendable: used on the context's queue only.
        var titles: [String] = []
      }
      let seen = Seen()
      nonisolated(unsafe) let watched: Item = a
      let observer: any NSObjectProtocol = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
      ) { _ in seen.titles.append(watched.changedValuesForCurrentEvent()["title"] as? String ?? "-") }
      defer { NotificationCenter.default.removeObserver(observer) }
      a.title = "x"
      a.title = "y"
      a.category = nil
      b.category = category
      #expect(a.changedValuesForCurrentEvent()["title"] as? String == "a")
      #expect(a.changedValuesForCurrentEvent()["category"] as? Category === category)
      #expect(b.changedValuesForCurrentEvent()["category"] is NSNull)
      #expect(category.changedValuesForCurrentEvent()["items"] as? Set<Item> == [a])
      context.processPendingChanges()
      #expect(a.changedValuesForCurrentEvent().isEmpty)
      #expect(a.changedValues()["title"] as? String == "y")
      #expect(seen.titles == ["a"])
    }
  }

  @Test(arguments: [false, true])
  func `a nested group has only what changed in it`(groupsByEvent: Bool) throws {
    try withUndo(.inMemory) { _, context, manager in
      let item: Item = context.item("a")
      try context.save()
      manager.removeAllActions()
      manager.groupsByEvent = groupsByEvent
      manager.beginUndoGrouping()
      item.title = "outer"
      manager.beginUndoGrouping()
      item.price = 7
      manager.endUndoGrouping()
      manager.undoNestedGroup()
      #expect(item.title == "outer" && item.price == 0 && manager.groupingLevel == 1)
      manager.endUndoGrouping()
      manager.undo()
      #expect(item.title == "a")
    }
  }

  @Test func `a change before the first group of a manager without groups by event belongs to the group`()
    throws
  {
    try withUndo(.inMemory) { _, context, manager in
      let item: Item = context.item("a")
      try context.save()
      manager.removeAllActions()
      manager.groupsByEvent = false
      item.title = "pending"
      manager.beginUndoGrouping()
      item.price = 7
      manager.endUndoGrouping()
      manager.undo()
      #expect(item.title == "a" && item.price == 0)
    }
  }

  // MARK: The law

  private static let seeds: Int = Soak.isOn ? 3000 : 60

  @Test(arguments: StoreKind.every)
  func `undoing everything gives every earlier graph, redoing every later one`(kind: StoreKind) throws {
    for seed in 0..<Self.seeds {
      do {
        try check(kind, seed: UInt64(seed))
      } catch {
        Issue.record("seed \(seed): \(error)")
      }
    }
  }

  private func check(_ kind: StoreKind, seed: UInt64) throws {
    try withUndo(kind) { stack, context, manager in
      var random = SeededRandom(seed: seed)
      var everything: [NSManagedObject] = []
      // The graph after each event that changed something.
      var graphs: [String] = [graph(everything)]
      for _ in 0..<Int.random(in: 4...14, using: &random) {
        let before: Int = manager.undoCount
        for _ in 0..<Int.random(in: 1...4, using: &random) { change(context, &everything, &random) }
        context.processPendingChanges()
        if manager.undoCount > before {
          graphs.append(graph(everything))
        } else {
          graphs[graphs.count - 1] = graph(everything)
        }
        if Int.random(in: 0..<4, using: &random) == 0 { try context.save() }
      }
      #expect(manager.undoCount == graphs.count - 1, "seed \(seed)")
      for round in 0..<2 {
        for place in graphs.indices.dropLast().reversed() {
          context.undo()
          #expect(graph(everything) == graphs[place], "seed \(seed), round \(round), undo to \(place)")
          if Int.random(in: 0..<5, using: &random) == 0 { try context.save() }
        }
        for place in graphs.indices.dropFirst() {
          context.redo()
          #expect(graph(everything) == graphs[place], "seed \(seed), round \(round), redo to \(place)")
          if Int.random(in: 0..<5, using: &random) == 0 { try context.save() }
        }
      }
      try context.save()
      let live: [String] = rows(everything.filter { $0.managedObjectContext != nil })
      try stack.elsewhere { other in
        let stored: [String] = rows(try other.all(Item.self, "Item"))
        #expect(stored == live, "seed \(seed): what is stored")
      }
    }
  }

  /// The items, comparable between contexts.
  private func rows(_ objects: [NSManagedObject]) -> [String] {
    objects.compactMap { $0 as? Item }.map { item in
      "\(item.title ?? "-") \(item.price) \(item.category != nil) \(item.detail != nil) \(item.tags.count)"
    }.sorted()
  }

  /// Everything that can be seen of the objects that are in the context.
  private func graph(_ objects: [NSManagedObject]) -> String {
    let numbers: [ObjectIdentifier: Int] = Dictionary(
      uniqueKeysWithValues: objects.enumerated().map { (ObjectIdentifier($1), $0) })
    func number(_ object: Any?) -> String {
      (object as? NSManagedObject).flatMap { numbers[ObjectIdentifier($0)] }.map { "#\($0)" } ?? "-"
    }
    return objects.filter { $0.managedObjectContext != nil && !$0.isDeleted }.map { object in
      var parts: [String] = []
      for (name, property) in object.entity.propertiesByName.sorted(by: { $0.key < $1.key }) {
        guard let relationship = property as? NSRelationshipDescription else {
          parts.append("\(name)=\(object.value(forKey: name) ?? "nil")")
          continue
        }
        switch object.value(forKey: name) {
        case let set as NSOrderedSet:
          parts.append("\(name)=[\(set.array.map(number).joined(separator: " "))]")
        case let set as NSSet:
          parts.append("\(name)={\(set.allObjects.map(number).sorted().joined(separator: " "))}")
        case let one: parts.append("\(name)=\(relationship.isToMany ? "?" : number(one))")
        }
      }
      return "\(number(object)) \(parts.joined(separator: " "))"
    }.joined(separator: "\n")
  }

  private func change(
    _ context: NSManagedObjectContext, _ everything: inout [NSManagedObject], _ random: inout SeededRandom
  ) {
    let live: [NSManagedObject] = everything.filter { $0.managedObjectContext != nil && !$0.isDeleted }
    func some(_ entity: String) -> NSManagedObject? {
      live.filter { $0.entity.name == entity }.randomElement(using: &random)
    }
    func subset(_ entity: String) -> [NSManagedObject] {
      live.filter { $0.entity.name == entity && Bool.random(using: &random) }.shuffled(using: &random)
    }
    switch Int.random(in: 0..<12, using: &random) {
    case 0...2:
      let entity: String = ["Item", "Category", "Tag", "Song", "Playlist", "Node", "Detail"]
        .randomElement(using: &random)!
      let made: NSManagedObject = context.make(entity)
      (made as? Item)?.title = "t\(everything.count)"
      everything.append(made)
    case 3:
      if let object = live.randomElement(using: &random) { context.delete(object) }
    case 4, 5:
      (some("Item") as? Item)?.price = Double(Int.random(in: 0...9, using: &random))
    case 6:
      (some("Item") as? Item)?.category = Bool.random(using: &random) ? some("Category") as? Category : nil
    case 7: (some("Category") as? Category)?.items = Set(subset("Item").compactMap { $0 as? Item })
    case 8: (some("Tag") as? Tag)?.items = Set(subset("Item").compactMap { $0 as? Item })
    case 9: (some("Playlist") as? Playlist)?.songs = subset("Song")
    case 10: (some("Item") as? Item)?.detail = some("Detail")
    default:
      if let node = some("Node") {
        node.setValue(some("Node"), forKey: "next")
        node.setValue(some("Node"), forKey: "parent")
      }
    }
  }
}
