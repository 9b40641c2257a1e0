import CoreData
import Foundation
import StackSupport
import Testing

@testable import CoreDataGraph

/// What deleting many objects costs: exact numbers of statements, as `statistics` counts those that read, and
/// SQLite those that write. And that all of them are told, notified and undone as one alone is.
@Suite
struct DeleteRuleCostTests {
  private static let count: Int = 40

  /// 40 objects of each entity, by their number. Each category, and each shelf, has three items; each item a
  /// detail and two tags of its own. Three more items are in a vault of 40.
  private static func filled(_ kind: StoreKind) throws -> Stack {
    StatementTrace.listen()
    let stack = try Stack(kind)
    try stack.elsewhere { context in
      for number in 0..<count {
        let category: Category = context.category("\(number)")
        let shelf: NSManagedObject = context.make("Shelf", ["name": "\(number)"])
        _ = context.make("Vault", ["name": "\(number)"])
        for place in 0..<3 {
          let item: Item = context.item("\(number).\(place)", category)
          item.shelf = shelf
          item.detail = context.make("Detail", ["text": "d"])
          item.tags = Set((0..<2).map { _ in Tag(context: context) })
        }
      }
      try context.save()
    }
    return stack
  }

  // MARK: Reading

  /// What is deleted, what is in memory beside it, and the statements that read, with the rows.
  struct Scene: Sendable, CustomTestStringConvertible {
    let deleted: String
    var loaded: [String] = []
    let statements: Int
    let rows: Int
    var testDescription: String { "\(deleted), in memory: \(loaded.joined(separator: ", "))" }
  }

  private static let scenes: [Scene] = [
    // Items; details, by the key that the items have. Nothing of the tags, which no object here knows, nor of
    // the shelves but their rows, to which the items belong.
    Scene(deleted: "Category", statements: 3, rows: 120 + 120 + 40),
    // What is in memory is not read again, and tags that are have to be told who has left.
    Scene(deleted: "Category", loaded: ["Tag"], statements: 4, rows: 120 + 240 + 120 + 40),
    Scene(deleted: "Category", loaded: ["Item", "Shelf", "Detail"], statements: 1, rows: 120),
    // Items lose their shelf.
    Scene(deleted: "Shelf", statements: 1, rows: 120),
    // Items are neither loaded nor changed.
    Scene(deleted: "Tag", statements: 0, rows: 0),
    Scene(deleted: "Tag", loaded: ["Item"], statements: 1, rows: 240),
    // The check needs ids only; there are none.
    Scene(deleted: "Vault", statements: 1, rows: 0),
  ]

  // Stores that programs implement get every object that changes, and are asked for each.
  @Test(arguments: StoreKind.numbering, scenes)
  func `delete rules read a relationship of many objects at once`(kind: StoreKind, scene: Scene) throws {
    let stack: Stack = try Self.filled(kind)
    try stack.elsewhere { context in
      let objects: [NSManagedObject] = try context.all(NSManagedObject.self, scene.deleted)
      let others: [NSManagedObject] = try scene.loaded.flatMap {
        let request: NSFetchRequest<NSManagedObject> = context.request(NSManagedObject.self, $0)
        request.returnsObjectsAsFaults = false
        return try context.fetch(request)
      }
      context.resetStatistics()
      for object in objects { context.delete(object) }
      try context.save()
      #expect(context.statistics.statements == scene.statements, "\(context.statistics)")
      #expect(context.statistics.rows == scene.rows, "\(context.statistics)")
      withExtendedLifetime(others) {}
    }
    #expect(try stack.count(scene.deleted) == 0)
    let left: [String: Int] = ["Category": 0, "Shelf": 120, "Tag": 120, "Vault": 120]
    #expect(try stack.count("Item") == left[scene.deleted])
    #expect(try stack.count("Detail") == left[scene.deleted])
  }

  @Test(arguments: StoreKind.fetchingRows)
  func `Deny counts members that are not loaded, without those that are deleted too`(kind: StoreKind) throws {
    let stack: Stack = try Self.filled(kind)
    try stack.elsewhere { context in
      let vaults: [NSManagedObject] = try context.all(NSManagedObject.self, "Vault", sort: ["name"])
      for item in try context.all(Item.self, "Item", sort: ["title"])[..<3] { item.vault = vaults[7] }
      try context.save()
    }
    try stack.elsewhere { context in
      let vaults: [NSManagedObject] = try context.all(NSManagedObject.self, "Vault", sort: ["name"])
      for vault in vaults { context.delete(vault) }
      context.resetStatistics()
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.code == NSValidationRelationshipDeniedDeleteError)
      #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === vaults[7])
      #expect(error.localizedDescription.contains("3 object(s)"), "\(error.localizedDescription)")
      let items: [Item] = try context.all(Item.self, "Item", NSPredicate(format: "vault != nil"))
      for item in items[..<2] { context.delete(item) }
      #expect(codeThrown { try context.save() } == NSValidationRelationshipDeniedDeleteError)
      items[2].vault = nil
      try context.save()
    }
    #expect(try stack.count("Vault") == 0 && stack.count("Item") == 118)
  }

  // MARK: Writing

  /// The numbers of the categories that are deleted, and the statements that delete categories.
  private static let selections: [(numbers: [Int], statements: Int)] = [
    (Array(0..<40), 1), (Array(0..<16), 1), (Array(0..<15), 15), ([3], 1),
    // Two lists of 16 are more than there are: one, and four rows.
    (Array(stride(from: 0, to: 40, by: 2)), 5),
  ]

  @Test(arguments: selections)
  func `rows of one table and version are deleted by ranges and lists of keys`(
    numbers: [Int], statements: Int
  ) throws {
    let stack: Stack = try Self.filled(.sqlite)
    try stack.elsewhere { context in
      let vaults: [NSManagedObject] = try context.all(NSManagedObject.self, "Vault").sorted {
        $0.key < $1.key
      }
      for number in numbers { context.delete(vaults[number]) }
      let trace = StatementTrace(try #require(stack.store.url))
      try context.save()
      let deletes: [String] = trace.take().filter { $0.hasPrefix("DELETE FROM ZVAULT") }
      #expect(deletes.count == statements, "\(deletes)")
    }
    #expect(try stack.count("Vault") == 40 - numbers.count)
  }

  @Test
  func `a cascade writes one statement a table, and one for the pairs of a relationship`() throws {
    let stack: Stack = try Self.filled(.sqlite)
    try stack.elsewhere { context in
      for category in try context.all(Category.self, "Category") { context.delete(category) }
      let trace = StatementTrace(try #require(stack.store.url))
      try context.save()
      let deletes: [String] = trace.take().filter { $0.hasPrefix("DELETE") }
      #expect(deletes.count == 4, "\(deletes)")
    }
    #expect(try stack.count("Tag") == 240 && stack.count("Shelf") == 40)
  }

  // MARK: Everything else

  @Test(arguments: StoreKind.numbering)
  func `each object of a cascade is told, and in the notifications`(kind: StoreKind) throws {
    let stack: Stack = try Self.filled(kind)
    try stack.run { context in
      let categories: [Category] = try context.all(Category.self, "Category")
      let shelves: Set<NSManagedObject> = Set(try context.all(NSManagedObject.self, "Shelf"))
      stack.journal.lines = []
      let changes = Recorder([.NSManagedObjectContextObjectsDidChange], of: context)
      let saves = Recorder([.NSManagedObjectContextDidSave], of: context)
      let ids = Recorder([.NSManagedObjectContextDidSaveObjectIDs], of: context)
      for category in categories { context.delete(category) }
      context.processPendingChanges()
      let deleted: Set<NSManagedObject> = changes.objects(NSDeletedObjectsKey)
      let items: [Item] = deleted.compactMap { $0 as? Item }
      #expect(deleted.count == 40 + 120 + 120 && items.count == 120)
      #expect(context.deletedObjects == deleted && changes.objects(NSUpdatedObjectsKey) == shelves)
      #expect(stack.journal.count("prepareForDeletion Item") == 120)
      #expect(items.allSatisfy { $0.category == nil && $0.title != nil && $0.isDeleted })
      #expect(items.allSatisfy { $0.committedValues(forKeys: ["category"])["category"] is Category })
      try context.save()
      #expect(changes.received.count == 1 && saves.objects(NSDeletedObjectsKey) == deleted)
      #expect(
        (ids.received.first?.userInfo?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID>)?.count == 280)
      #expect(stack.journal.count("willSave Item") == 120 && stack.journal.count("didSave Item") == 120)
    }
  }

  @Test(arguments: StoreKind.every)
  func `an observer of a member is told that it has lost its owner`(kind: StoreKind) throws {
    let stack: Stack = try Self.filled(kind)
    try stack.run { context in
      let category: Category = try #require(try context.all(Category.self, "Category").first)
      let item: Item = try #require(category.items.first)
      var seen: [String] = []
      let observation = item.observe(\.category) { item, _ in seen.append(item.category?.name ?? "nil") }
      context.delete(category)
      context.processPendingChanges()
      #expect(seen == ["nil"])
      withExtendedLifetime(observation) {}
    }
  }

  @Test(arguments: StoreKind.every, [false, true])
  func `an undo returns what a cascade has deleted, before a save and after it`(
    kind: StoreKind, isSaved: Bool
  )
    throws
  {
    let stack: Stack = try Self.filled(kind)
    try stack.run { context in
      context.undoManager = UndoManager()
      context.undoManager?.groupsByEvent = false
      let categories: [Category] = try context.all(Category.self, "Category", sort: ["name"])
      context.undoManager?.beginUndoGrouping()
      for category in categories { context.delete(category) }
      context.processPendingChanges()
      context.undoManager?.endUndoGrouping()
      if isSaved { try context.save() }
      context.undo()
      try context.save()
      context.undoManager = nil
    }
    try stack.elsewhere { context in
      let categories: [Category] = try context.all(Category.self, "Category")
      #expect(categories.count == 40)
      for category in categories {
        let name: String = category.name ?? "nil"
        #expect(Set(category.items.map(\.title)) == ["\(name).0", "\(name).1", "\(name).2"])
        #expect(
          category.items.allSatisfy {
            $0.detail != nil && $0.tags.count == 2 && $0.shelf?.value(forKey: "name") as? String == name
          })
      }
    }
  }

  @Test(arguments: StoreKind.numbering)
  func `of many objects that are deleted together, those that others have changed are the conflicts`(
    kind: StoreKind
  ) throws {
    let stack: Stack = try Self.filled(kind)
    try stack.run { context in
      let vaults: [NSManagedObject] = try context.all(NSManagedObject.self, "Vault", sort: ["name"])
      for vault in vaults { #expect(vault.value(forKey: "name") != nil) }
      try stack.elsewhere { other in
        let theirs: [NSManagedObject] = try other.all(NSManagedObject.self, "Vault", sort: ["name"])
        theirs[3].setValue("changed", forKey: "name")
        other.delete(theirs[30])
        try other.save()
      }
      let new: NSManagedObject = context.make("Vault", ["name": "new"])
      for vault in vaults { context.delete(vault) }
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.code == NSManagedObjectMergeError)
      let conflicts: [NSMergeConflict] = error.userInfo["conflictList"] as? [NSMergeConflict] ?? []
      #expect(Set(conflicts.map(\.sourceObject)) == [vaults[3], vaults[30]], "\(conflicts)")
      #expect(new.objectID.isTemporaryID)
      #expect(try stack.count("Vault") == 39)
      context.mergePolicy = NSMergePolicy.overwrite
      try context.save()
      #expect(!new.objectID.isTemporaryID)
    }
    #expect(try stack.count("Vault") == 1)
  }
}
