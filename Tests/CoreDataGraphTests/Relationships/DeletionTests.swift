import CoreData
import Foundation
import StackSupport
import Testing

/// Delete rules and what becomes of deleted objects.
@Suite
struct DeletionTests {
  @Test(
    .rule("DEL-1", "NSDeleteRule.nullifyDeleteRule"), .rule("DEL-2", "NSDeleteRule.cascadeDeleteRule"),
    arguments: StoreKind.every)
  func `cascade takes the members along, nullify lets them go`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let category: Category = context.category("c")
      let shelf: NSManagedObject = context.make("Shelf", ["name": "s"])
      let tag = Tag(context: context)
      for title in ["a", "b"] {
        let item: Item = context.item(title, category)
        item.shelf = shelf
        item.tags = [tag]
        item.detail = context.make("Detail", ["text": title])
      }
      _ = context.item("free")
      try context.save()
      stack.journal.lines = []
      context.delete(category)
      #expect(category.isDeleted)
      #expect(stack.journal.lines == ["prepareForDeletion Category"])
      context.processPendingChanges()
      #expect(stack.journal.count("prepareForDeletion Item") == 2)
      #expect(context.deletedObjects.count == 5, "the category, two items, two details")
      #expect(context.updatedObjects == [shelf, tag])
      #expect(tag.items.isEmpty && (shelf.value(forKey: "items") as? NSSet)?.count == 0)
      try context.save()
      #expect(!category.isDeleted && category.managedObjectContext == nil && !context.hasChanges)
    }
    try stack.elsewhere { context in
      #expect(try context.all(Item.self, "Item").map(\.title) == ["free"])
      #expect(try context.count(for: context.request(Category.self, "Category")) == 0)
      #expect(try context.count(for: context.request(NSManagedObject.self, "Detail")) == 0)
      let tag: Tag = try #require(try context.all(Tag.self, "Tag").first)
      #expect(tag.items.isEmpty)
      // Nullify, with nothing loaded.
      let shelf: NSManagedObject = try #require(try context.all(NSManagedObject.self, "Shelf").first)
      let item: Item = try #require(try context.all(Item.self, "Item").first)
      item.shelf = shelf
      try context.save()
    }
    try stack.elsewhere { context in
      context.delete(try #require(try context.all(NSManagedObject.self, "Shelf").first))
      try context.save()
    }
    try stack.elsewhere { context in
      let item: Item = try #require(try context.all(Item.self, "Item").first)
      #expect(item.shelf == nil)
    }
  }

  @Test(.rule("DEL-3", "NSDeleteRule.denyDeleteRule"), arguments: StoreKind.every)
  func `deny refuses the deletion while members remain, and not when they go too`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let vault: NSManagedObject = context.make("Vault", ["name": "v"])
      let items: [Item] = ["a", "b"].map { context.item($0) }
      for item in items { item.vault = vault }
      try context.save()
      context.delete(vault)
      context.delete(items[0])
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.code == NSValidationRelationshipDeniedDeleteError)
      #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "items")
      #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === vault)
      #expect(vault.isDeleted && items[1].vault === vault)
      #expect(try stack.elsewhere { try $0.count(for: $0.request(Item.self, "Item")) } == 2)
      context.delete(items[1])
      try context.save()
      #expect(try stack.elsewhere { try $0.count(for: $0.request(Item.self, "Item")) } == 0)
      #expect(try stack.elsewhere { try $0.count(for: $0.request(NSManagedObject.self, "Vault")) } == 0)
    }
  }

  @Test(.rule("DEL-5", "NSDeleteRule.cascadeDeleteRule"), arguments: StoreKind.every)
  func `cascades in a cycle end`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let nodes: [NSManagedObject] = (0..<5).map { context.make("Node", ["name": "\($0)"]) }
      // Each is the parent of the next, the last of the first.
      for (place, node) in nodes.enumerated() { node.setValue(nodes[(place + 1) % 5], forKey: "parent") }
      for (place, node) in nodes.enumerated() { node.setValue(nodes[(place + 1) % 5], forKey: "next") }
      try context.save()
    }
    try stack.elsewhere { context in
      let node: NSManagedObject = try #require(
        try context.all(NSManagedObject.self, "Node", NSPredicate(format: "name == '3'")).first)
      context.delete(node)
      try context.save()
      #expect(try context.count(for: context.request(NSManagedObject.self, "Node")) == 0)
    }
  }

  @Test(arguments: StoreKind.every)
  func `a long chain of cascades needs no deep stack`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      var last: NSManagedObject?
      for _ in 0..<3000 { last = context.make("Node", last.map { ["parent": $0] } ?? [:]) }
      try context.save()
      context.delete(try #require(last))
      try context.save()
      #expect(try context.count(for: context.request(NSManagedObject.self, "Node")) == 0)
    }
  }

  @Test(.rule("DEL-7", "NSManagedObjectContext.delete(_:)"), arguments: StoreKind.every)
  func `a new object that is deleted is as if it had never been`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let category: Category = context.category("c")
      try context.save()
      let saves = Recorder([.NSManagedObjectContextDidSave], of: context)
      let item: Item = context.item("a")
      context.delete(item)
      #expect(context.deletedObjects.isEmpty && context.insertedObjects.isEmpty)
      context.processPendingChanges()
      #expect(!context.hasChanges && item.managedObjectContext == nil && !item.hasChanges)
      try context.save()
      for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
        #expect(saves.objects(key).isEmpty)
      }
      // Linked and unlinked: the other side is touched, but has nothing to write.
      let linked: Item = context.item("b", category)
      context.delete(linked)
      context.processPendingChanges()
      #expect(category.items.isEmpty && context.deletedObjects.isEmpty)
      try context.save()
      #expect(
        saves.objects(NSDeletedObjectsKey, at: 1).isEmpty
          && saves.objects(NSInsertedObjectsKey, at: 1).isEmpty)
      #expect(try context.count(for: context.request(Item.self, "Item")) == 0)
      // It may come back.
      context.insert(item)
      #expect(item.isInserted && !item.isDeleted && context.insertedObjects == [item])
      try context.save()
      #expect(try stack.elsewhere { try $0.all(Item.self, "Item").map(\.title) } == ["a"])
    }
  }

  @Test(.rule("DEL-6", "NSManagedObjectContext.propagatesDeletesAtEndOfEvent"), arguments: StoreKind.every)
  func `without propagation at the end of events, delete rules run in the save`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      context.propagatesDeletesAtEndOfEvent = false
      let category: Category = context.category("c")
      let item: Item = context.item("a", category)
      try context.save()
      context.delete(category)
      context.processPendingChanges()
      #expect(!item.isDeleted)
      try context.save()
      #expect(try context.count(for: context.request(Item.self, "Item")) == 0)
    }
  }

  @Test(arguments: StoreKind.every)
  func `deleting in a callback and deleting twice are harmless`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let items: [Item] = ["a", "b"].map { context.item($0) }
      try context.save()
      stack.journal.onWillSave = { object in
        if (object as? Item)?.title == "a!" { object.managedObjectContext?.delete(items[1]) }
      }
      items[0].title = "a!"
      try context.save()
      #expect(try stack.elsewhere { try $0.all(Item.self, "Item").map(\.title) } == ["a!"])
      context.delete(items[0])
      context.delete(items[0])
      try context.save()
      context.delete(items[0])
      #expect(!context.hasChanges)
    }
  }

  @Test(.rule("REL-4", "NSRelationshipDescription.inverseRelationship"), arguments: StoreKind.every)
  func `a deleted object of a to-many without inverse leaves no dangling member behind`(kind: StoreKind)
    throws
  {
    let stack = try Stack(kind)
    try stack.run { context in
      let basket: NSManagedObject = context.make("Basket")
      let items: [Item] = ["a", "b"].map { context.item($0) }
      basket.setValue(NSSet(array: items), forKey: "items")
      try context.save()
      context.delete(items[0])
      try context.save()
    }
    try stack.elsewhere { context in
      let basket: NSManagedObject = try #require(try context.all(NSManagedObject.self, "Basket").first)
      #expect((basket.value(forKey: "items") as? Set<Item>)?.map(\.title) == ["b"])
      context.delete(basket)
      try context.save()
      #expect(try context.all(Item.self, "Item").map(\.title) == ["b"])
    }
  }
}
