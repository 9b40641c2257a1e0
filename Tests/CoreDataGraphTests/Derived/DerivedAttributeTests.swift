import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// Attributes that the store derives.
@Suite
struct DerivedAttributeTests {
  private func author(_ context: NSManagedObjectContext, _ name: String, books: [(String, Double)])
    -> NSManagedObject
  {
    let author: NSManagedObject = context.make("Author", ["name": name])
    for (title, price) in books {
      _ = context.make("Book", ["title": title, "price": price, "pages": 10, "author": author])
    }
    return author
  }

  @Test(
    .rule(
      "STORE-16", "NSDerivedAttributeDescription",
      "derived attributes are recomputed by the store on save; memory is stale until a refresh"),
    arguments: StoreKind.computing)
  func `the store derives when it saves, and objects show it once they are refreshed`(kind: StoreKind) throws
  {
    let stack = try Stack(kind, model: Depot.model)
    try stack.run { context in
      let ada: NSManagedObject = author(context, "Ädá", books: [("a", 1.5), ("b", 2)])
      #expect(ada.value(forKey: "bookCount") as? Int == nil)
      try context.save()
      #expect(ada.value(forKey: "bookCount") == nil && ada.value(forKey: "searchName") == nil)
      context.refresh(ada, mergeChanges: true)
      #expect(ada.value(forKey: "bookCount") as? Int32 == 2 && ada.value(forKey: "worth") as? Double == 3.5)
      #expect(ada.value(forKey: "searchName") as? String == "ada")

      // A row of another object changes what this one's row holds, and not its version.
      let book = try #require(try context.all(NSManagedObject.self, "Book", sort: ["title"]).first)
      context.delete(book)
      try context.save()
      #expect(ada.value(forKey: "bookCount") as? Int32 == 2)
      context.refresh(ada, mergeChanges: false)
      #expect(ada.value(forKey: "bookCount") as? Int32 == 1 && ada.value(forKey: "pageTotal") as? Int == 10)
      ada.setValue("Bob", forKey: "name")
      try context.save()
      context.refreshAllObjects()
      #expect(ada.value(forKey: "searchName") as? String == "bob")
      #expect(
        try context.all(NSManagedObject.self, "Book").map { $0.value(forKey: "authorName") as? String } == [
          "Bob"
        ])
    }
  }

  @Test(arguments: StoreKind.computing)
  func `another context that held the row before sees the new value when it refreshes, and may save over it`(
    kind: StoreKind
  ) throws {
    let stack = try Stack(kind, model: Depot.model)
    let other: NSManagedObjectContext = stack.other()
    try stack.run { context in
      _ = author(context, "Ada", books: [("a", 1)])
      try context.save()
    }
    let held: NSManagedObject = try other.performAndWait {
      let held = try #require(try other.all(NSManagedObject.self, "Author").first)
      #expect(held.value(forKey: "worth") as? Double == 1)
      return held
    }
    try stack.run { context in
      try #require(try context.all(NSManagedObject.self, "Book").first).setValue(4.5, forKey: "price")
      try context.save()
    }
    try other.performAndWait {
      #expect(held.value(forKey: "worth") as? Double == 1)
      held.setValue("Adele", forKey: "name")
      // The author's own row has the version that was read: deriving is no change of its own.
      try other.save()
      other.refresh(held, mergeChanges: false)
      #expect(
        held.value(forKey: "worth") as? Double == 4.5
          && held.value(forKey: "searchName") as? String == "adele"
      )
    }
  }

  @Test(arguments: StoreKind.computing)
  func `what is set by hand stays in memory: the store keeps what it derives`(kind: StoreKind) throws {
    let stack = try Stack(kind, model: Depot.model)
    try stack.run { context in
      let ada: NSManagedObject = author(context, "Ada", books: [("a", 1)])
      ada.setValue(99, forKey: "bookCount")
      ada.setValue("mine", forKey: "searchName")
      try context.save()
      #expect(ada.value(forKey: "bookCount") as? Int == 99)
      context.refresh(ada, mergeChanges: false)
      #expect(
        ada.value(forKey: "bookCount") as? Int == 1 && ada.value(forKey: "searchName") as? String == "ada")
      ada.setValue(98, forKey: "bookCount")
      try context.save()
      context.refresh(ada, mergeChanges: false)
      #expect(ada.value(forKey: "bookCount") as? Int == 1)
    }
    #expect(try stack.elsewhere { try Depot.differences($0) }.isEmpty)
  }

  @Test(arguments: StoreKind.computing)
  func `now() is the time of the object's last save, its sub-entities' and no other's`(kind: StoreKind) throws
  {
    let stack = try Stack(kind, model: Depot.model)
    let start = Date()
    func saved(_ context: NSManagedObjectContext) throws -> [String: Date] {
      try Dictionary(
        uniqueKeysWithValues: context.all(NSManagedObject.self, "Author").map {
          ($0.value(forKey: "name") as? String ?? "", try #require($0.value(forKey: "saved") as? Date))
        })
    }
    try stack.run { context in
      _ = author(context, "Ada", books: [])
      _ = author(context, "Bob", books: [])
      let novel: NSManagedObject = context.make("Novel")
      try context.save()
      context.refresh(novel, mergeChanges: false)
      #expect(novel.value(forKey: "changed") is Date)
    }
    let first: [String: Date] = try stack.elsewhere(saved)
    try stack.run { context in
      let ada = try #require(
        try context.all(NSManagedObject.self, "Author", NSPredicate(format: "name = 'Ada'")).first)
      _ = context.make("Book", ["author": ada])
      ada.setValue("Ada", forKey: "name")
      try context.save()
    }
    let second: [String: Date] = try stack.elsewhere(saved)
    #expect(first["Bob"] == second["Bob"])
    let (before, after) = (try #require(first["Ada"]), try #require(second["Ada"]))
    #expect(start <= before && before <= after && after <= Date())
  }

  @Test(arguments: StoreKind.computing)
  func `predicates, orders, dictionaries and aggregates take derived attributes`(kind: StoreKind) throws {
    let stack = try Stack(kind, model: Depot.model)
    try stack.run { context in
      _ = author(context, "Ädá", books: [("a", 1.5), ("b", 2)])
      _ = author(context, "Bob", books: [("c", 4)])
      _ = author(context, "Cy", books: [])
      try context.save()
    }
    try stack.elsewhere { context in
      func names(_ format: String, sort: [String] = ["name"]) throws -> [String] {
        try context.all(NSManagedObject.self, "Author", NSPredicate(format: format), sort: sort)
          .map { $0.value(forKey: "name") as? String ?? "" }
      }
      #expect(try names("bookCount > 0") == ["Bob", "Ädá"])
      #expect(try names("searchName BEGINSWITH 'ad'") == ["Ädá"])
      #expect(try names("worth = 0 AND costs = 0") == ["Cy"])
      #expect(try names("TRUEPREDICATE", sort: ["-bookCount", "name"]) == ["Ädá", "Bob", "Cy"])
      #expect(
        try context.all(NSManagedObject.self, "Book", NSPredicate(format: "authorName = 'Bob'")).count == 1)
      let request = NSFetchRequest<NSDictionary>(entityName: "Author")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["searchName", "bookCount"]
      request.sortDescriptors = [NSSortDescriptor(key: "searchName", ascending: true)]
      let rows: [[String: NSObject]] = try context.fetch(request).compactMap { $0 as? [String: NSObject] }
      #expect(rows.map { $0["searchName"] as? String } == ["ada", "bob", "cy"])
      #expect(rows.map { $0["bookCount"] as? Int } == [2, 1, 0])
      let total = NSExpressionDescription()
      total.name = "total"
      total.expression = NSExpression(format: "sum:(bookCount)")
      total.resultType = .integer64
      request.propertiesToFetch = [total]
      request.sortDescriptors = nil
      #expect(try (context.fetch(request).first as? [String: NSObject])?["total"] as? Int == 3)
    }
  }

  @Test func `a table of derived attributes can be indexed`() throws {
    let model = Depot.model.copy() as! NSManagedObjectModel
    let author = try #require(model.entitiesByName["Author"])
    author.indexes = [
      NSFetchIndexDescription(
        name: "bySearchName",
        elements: [
          NSFetchIndexElementDescription(
            property: author.attributesByName["searchName"]!, collationType: .binary)
        ])
    ]
    let stack = try Stack(.sqlite, model: model)
    try stack.run { context in
      _ = context.make("Author", ["name": "Ädá"])
      try context.save()
      #expect(
        try context.all(NSManagedObject.self, "Author", NSPredicate(format: "searchName = 'ada'")).count == 1)
    }
  }

  // MARK: Refusals

  @Test(arguments: StoreKind.computing)
  func `an expression that can't be derived is refused when the store is added, and leaves no file`(
    kind: StoreKind
  )
    throws
  {
    for expression in ["tags.@max.weight", "tittle", "tags", "tagCount"] {
      let model = Depot.model.copy() as! NSManagedObjectModel
      Depot.derive(try #require(model.entitiesByName["Book"]), "wrong", expression, .integer64AttributeType)
      let folder = try TemporaryFolder()
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let error: NSError = try #require(
        errorThrown {
          try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url("a", in: folder))
        })
      for part in ["Book", "wrong", expression, "pages.@count"] {
        #expect(error.localizedDescription.contains(part), "\(error.localizedDescription)")
      }
      #expect(!FileManager.default.fileExists(atPath: folder.file("a.sqlite").path))
    }
  }

  @Test func `a file that has lost its triggers can be read, and a save into it is refused by name`() throws {
    let stack = try Stack(.sqlite, model: Depot.model)
    try stack.run { context in
      _ = author(context, "Ada", books: [("a", 1)])
      try context.save()
    }
    try stack.coordinator.remove(stack.store)
    let file: URL = stack.folder.file("World.sqlite")
    let queue = try DatabaseQueue(path: file.path)
    try queue.write { database in
      let names: [String] = try String.fetchAll(
        database, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'Z_DA_%_Author_pageTotal_%'")
      #expect(names.count == 5)
      for name in names { try database.execute(sql: "DROP TRIGGER \(name)") }
    }
    try queue.close()
    try stack.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
    try stack.run { context in
      #expect(try context.all(NSManagedObject.self, "Author").count == 1)
      _ = context.make("Author")
      let error: NSError = try #require(errorThrown { try context.save() })
      for part in ["Author", "pageTotal", "trigger"] { #expect(error.localizedDescription.contains(part)) }
    }
  }

  @Test(
    .rule("UNIQ-6", "NSEntityDescription.uniquenessConstraints", "stores that can't enforce them"),
    arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
  func `a uniqueness constraint over a derived attribute is kept by a file, and refused in memory`(
    type: String
  ) throws {
    let model = Depot.model.copy() as! NSManagedObjectModel
    model.entitiesByName["Author"]?.uniquenessConstraints = [["searchName"]]
    let folder = try TemporaryFolder()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let failure: NSError? = errorThrown {
      try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: folder.file("a.sqlite"))
    }
    guard type == NSSQLiteStoreType else {
      #expect(failure?.localizedDescription.contains("searchName") == true)
      return
    }
    #expect(failure == nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.performAndWait {
      _ = context.make("Author", ["name": "Ada"])
      _ = context.make("Author", ["name": "ÄDA"])
      #expect(codeThrown { try context.save() } == NSManagedObjectConstraintMergeError)
    }
  }
}
