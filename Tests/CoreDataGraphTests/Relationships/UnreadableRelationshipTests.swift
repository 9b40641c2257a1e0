import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// Deletions of objects whose relationships can't be read: the program goes on, and the save says why it
/// failed.
@Suite struct UnreadableRelationshipTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var entity: String
    /// A pattern of the tables that are taken away.
    var table: String
    var property: String?
    /// What the error says.
    var says: String = "can't be read"
    var testDescription: String { "\(entity) without \(table)" }
  }

  static let cases: [Case] = [
    // Pairs with objects that the context does not have are not read, and removed by the save.
    Case(entity: "Item", table: "Z_[0-9]*TAGS", property: nil, says: "no such table: Z_"),
    Case(entity: "Tag", table: "Z_[0-9]*TAGS", property: nil, says: "no such table: Z_"),
    Case(entity: "Category", table: "ZITEM", property: "items"),
    Case(entity: "Vault", table: "ZITEM", property: "items"),
    Case(entity: "Shelf", table: "ZITEM", property: "items"),
    Case(entity: "Album", table: "ZSONG", property: "songs"),
    Case(entity: "Item", table: "ZDETAIL", property: nil, says: "/Detail/"),
  ]

  private let folder: TemporaryFolder
  private let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = folder.file("World.sqlite")
  }

  private func open() throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private func fill() throws {
    let context: NSManagedObjectContext = try open()
    try context.performAndWait {
      let item: NSManagedObject = context.make("Item", ["title": "x"])
      for (name, entity) in [
        ("category", "Category"), ("shelf", "Shelf"), ("vault", "Vault"), ("detail", "Detail"),
      ] {
        item.setValue(context.make(entity), forKey: name)
      }
      item.setValue(NSSet(array: [context.make("Tag"), context.make("Tag")]), forKey: "tags")
      context.make("Song").setValue(context.make("Album"), forKey: "album")
      try context.save()
    }
  }

  /// Renames the tables of a pattern, and back.
  private func rename(_ pattern: String, back: Bool = false) throws {
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    try queue.write { database in
      let names: [String] = try String.fetchAll(
        database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB ?",
        arguments: [back ? "GONE_" + pattern : pattern])
      #expect(!names.isEmpty)
      for name in names {
        let new: String = back ? String(name.dropFirst(5)) : "GONE_" + name
        try database.execute(sql: "ALTER TABLE \(name) RENAME TO \(new)")
      }
    }
  }

  @Test(arguments: cases, [false, true])
  func `a deletion goes on, and its save throws what can't be read`(test: Case, hasUndo: Bool) throws {
    try fill()
    let context: NSManagedObjectContext = try open()
    try context.performAndWait {
      if hasUndo { context.undoManager = UndoManager() }
      let request = NSFetchRequest<NSManagedObject>(entityName: test.entity)
      request.returnsObjectsAsFaults = false
      let object: NSManagedObject = try #require(try context.fetch(request).first)
      try rename(test.table)
      context.delete(object)
      context.processPendingChanges()
      #expect(object.isDeleted)
      for _ in 0..<2 {
        let error: NSError? = errorThrown { try context.save() }
        let text: String = error?.localizedDescription ?? "nothing thrown"
        #expect(text.contains(test.says), "\(text)")
        if let property = test.property {
          #expect(text.contains("\(test.entity).\(property) of"), "\(text)")
          #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == property)
        }
        #expect(object.isDeleted && context.hasChanges)
      }
      try rename(test.table, back: true)
      if test.entity == "Vault" {
        // The rule applies as soon as it can.
        #expect(errorThrown { try context.save() }?.code == NSValidationRelationshipDeniedDeleteError)
        context.rollback()
        #expect(!object.isDeleted)
        return
      }
      try context.save()
      request.includesSubentities = false
      #expect(try context.count(for: request) == (test.entity == "Tag" ? 1 : 0))
      if test.entity == "Category" {
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 0)
      }
      if test.table == "ZDETAIL" {
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Detail")) == 0)
      }
    }
  }

  @Test func `an object whose row can't be read is deleted when it can be read again`() throws {
    try fill()
    let context: NSManagedObjectContext = try open()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Song")
      request.includesPropertyValues = false
      let song: NSManagedObject = try #require(try context.fetch(request).first)
      try rename("ZSONG")
      context.delete(song)
      let text: String = errorThrown { try context.save() }?.localizedDescription ?? ""
      #expect(text.contains("/Song/p1>' can't be read"), "\(text)")
      try rename("ZSONG", back: true)
      try context.save()
      #expect(try context.count(for: request) == 0)
    }
  }

  @Test func `what a check of an object can't read is what it throws`() throws {
    try fill()
    let context: NSManagedObjectContext = try open()
    try context.performAndWait {
      let vault: NSManagedObject = try #require(
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Vault")).first)
      _ = vault.value(forKey: "name")
      try rename("ZITEM")
      let text: String = errorThrown { try vault.validateForDelete() }?.localizedDescription ?? ""
      #expect(text.contains("Vault.items of"), "\(text)")
      try rename("ZITEM", back: true)
    }
  }
}
