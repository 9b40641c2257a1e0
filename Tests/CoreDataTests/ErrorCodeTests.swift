import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// Every code of Apple's that Clarus throws, provoked as programs meet it (finding D): the text says what is
/// wrong, where, and is complete wherever Foundation shows it.
@Suite struct ErrorCodeTests {
  /// How a code is provoked, and what its text has to name.
  struct Sample: Sendable, CustomTestStringConvertible {
    let name: String
    let code: Int
    let parts: [String]
    let provoke: @Sendable () throws -> Void
    var testDescription: String { "\(name) \(code)" }

    init(_ name: String, _ code: Int, _ parts: [String], _ provoke: @escaping @Sendable () throws -> Void) {
      (self.name, self.code, self.parts, self.provoke) = (name, code, parts, provoke)
    }
  }

  @Test(arguments: values + relationships + conflicts + stores + migrations)
  func `its text is complete`(sample: Sample) throws {
    let error: NSError = try #require(errorThrown(sample.provoke), "nothing thrown")
    #expect(error.domain == NSCocoaErrorDomain && error.code == sample.code, "\(error)")
    ErrorTextTests.expectText(error, naming: sample.parts)
  }

  /// A code that is thrown somewhere and provoked nowhere is missing above.
  @Test func `every code that the sources throw is provoked`() throws {
    let sources: URL = URL(filePath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Sources").standardizedFileURL
    let files: [URL] =
      (FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil) ?? .init())
      .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
    let codes: URL = try #require(files.first { $0.lastPathComponent == "ErrorCodes.swift" })
    let declared: [String] = try String(contentsOf: codes, encoding: .utf8)
      .matches(of: /public let (NS\w+Error): Int/).map { String($0.output.1) }
    #expect(declared.count > 40)
    var thrown: Set<String> = []
    for file in files where file != codes {
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      where !line.drop(while: \.isWhitespace).hasPrefix("//") {
        for word in line.split(whereSeparator: { !$0.isLetter }) where declared.contains(String(word)) {
          thrown.insert(String(word))
        }
      }
    }
    // Foundation's own codes are not declared here.
    let samples: [Sample] =
      Self.values + Self.relationships + Self.conflicts + Self.stores + Self.migrations
    let provoked: Set<String> = Set(samples.map(\.name).filter(declared.contains))
    #expect(thrown == provoked, "\(thrown.symmetricDifference(provoked).sorted())")
  }

  // MARK: Validation

  /// Saves an object with a value for its one attribute, which is against a rule of the model.
  private static func value(
    _ name: String, _ code: Int, _ type: NSAttributeType, _ value: any Sendable, _ rule: String?,
    warning: Bool = true, words: String
  ) -> Sample {
    Sample(name, code, ["Person.value", words]) {
      let attribute = World.attribute("value", type)
      if let rule {
        attribute.setValidationPredicates(
          [NSPredicate(format: rule)], withValidationWarnings: warning ? ["\(code)"] : nil)
      }
      let model = NSManagedObjectModel()
      model.entities = [World.entity("Person", [attribute])]
      try Stack(.inMemory, model: model).run { context in
        _ = context.make("Person", ["value": value])
        try context.save()
      }
    }
  }

  static let values: [Sample] = [
    value(
      "NSManagedObjectValidationError", 1550, .stringAttributeType, "x", "SELF == 'y'", warning: false,
      words: "is not valid"),
    value(
      "NSValidationNumberTooLargeError", 1610, .integer16AttributeType, 400, "SELF <= 150", words: "too large"
    ),
    value(
      "NSValidationNumberTooSmallError", 1620, .doubleAttributeType, -1.5, "SELF >= 0", words: "too small"),
    value(
      "NSValidationDateTooLateError", 1630, .dateAttributeType, Date(timeIntervalSinceReferenceDate: 9),
      "SELF <= CAST(5, 'NSDate')", words: "too late"),
    value(
      "NSValidationDateTooSoonError", 1640, .dateAttributeType, Date(timeIntervalSinceReferenceDate: 1),
      "SELF >= CAST(5, 'NSDate')", words: "too early"),
    value(
      "NSValidationInvalidDateError", 1650, .dateAttributeType, Date(timeIntervalSinceReferenceDate: .nan),
      nil,
      words: "not a valid date"),
    value(
      "NSValidationStringTooLongError", 1660, .stringAttributeType, "xyz", "length <= 2", words: "too long"),
    value(
      "NSValidationStringTooShortError", 1670, .stringAttributeType, "x", "length >= 2", words: "too short"),
    value(
      "NSValidationStringPatternMatchingError", 1680, .stringAttributeType, "x", "SELF MATCHES '[0-9]+'",
      words: "required form"),
    value(
      "NSValidationInvalidURIError", 1690, .stringAttributeType, "x", "SELF BEGINSWITH 'https:'",
      words: "valid address"),
    Sample("NSValidationMissingMandatoryPropertyError", 1570, ["Person.value", "required"]) {
      let model = NSManagedObjectModel()
      model.entities = [
        World.entity("Person", [World.attribute("value", .stringAttributeType, optional: false)])
      ]
      try Stack(.inMemory, model: model).run { context in
        _ = context.make("Person")
        try context.save()
      }
    },
    Sample("NSValidationMultipleErrorsError", 1560, ["2 validation errors", "Person.a", "Person.b"]) {
      let model = NSManagedObjectModel()
      model.entities = [
        World.entity(
          "Person", ["a", "b"].map { World.attribute($0, .stringAttributeType, optional: false) })
      ]
      try Stack(.inMemory, model: model).run { context in
        _ = context.make("Person")
        try context.save()
      }
    },
  ]

  /// An owner with a number of members of a relationship.
  private static func relationship(
    _ name: String, _ code: Int, _ words: String, members: Int, deletes: Bool = false
  ) -> Sample {
    Sample(name, code, ["Owner.pets", words]) {
      let pet: NSEntityDescription = World.entity("Pet", [])
      let owner: NSEntityDescription = World.entity("Owner", [])
      let pets = World.relationship("pets", pet, .many, deletes ? .denyDeleteRule : .nullifyDeleteRule)
      (pets.minCount, pets.maxCount) = (deletes ? 0 : 1, 2)
      pets.isOptional = deletes
      owner.properties = [pets]
      let model = NSManagedObjectModel()
      model.entities = [owner, pet]
      try Stack(.inMemory, model: model).run { context in
        let made: NSManagedObject = context.make("Owner")
        made.setValue(NSSet(array: (0..<members).map { _ in context.make("Pet") }), forKey: "pets")
        if deletes {
          try context.save()
          context.delete(made)
        }
        try context.save()
      }
    }
  }

  static let relationships: [Sample] = [
    relationship("NSValidationRelationshipLacksMinimumCountError", 1580, "too few", members: 0),
    relationship("NSValidationRelationshipExceedsMaximumCountError", 1590, "too many", members: 3),
    relationship(
      "NSValidationRelationshipDeniedDeleteError", 1600, "must be empty", members: 1, deletes: true),
    Sample("NSManagedObjectExternalRelationshipError", 133010, ["category", "another store"]) {
      let stack = try Stack(.inMemory)
      let second = try stack.coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
      try stack.run { context in
        let category: NSManagedObject = context.category("c")
        context.assign(category, to: second)
        context.assign(context.item("a", category as? Category), to: stack.store)
        try context.save()
      }
    },
  ]

  // MARK: Conflicts

  static let conflicts: [Sample] = [
    Sample("NSManagedObjectReferentialIntegrityError", 133000, ["Item/p1"]) {
      let stack = try Stack(.sqlite)
      let id: NSManagedObjectID = try stack.run { context in
        let item: NSManagedObject = context.item("a")
        try context.save()
        let id: NSManagedObjectID = item.objectID
        context.delete(item)
        try context.save()
        return id
      }
      try stack.elsewhere { _ = try $0.existingObject(with: id) }
    },
    Sample("NSManagedObjectMergeError", 133020, ["Item"]) {
      let stack = try Stack(.sqlite)
      try stack.run { context in
        let item: Item = context.item("a")
        try context.save()
        try stack.elsewhere { other in
          try other.all(Item.self, "Item").first?.title = "b"
          try other.save()
        }
        item.title = "c"
        try context.save()
      }
    },
    Sample("NSManagedObjectConstraintMergeError", 133021, ["Unique", "code"]) {
      try Stack(.sqlite).run { context in
        for _ in 0..<2 { _ = context.make("Unique", ["code": "x"]) }
        try context.save()
      }
    },
    Sample("NSPersistentStoreIncompleteSaveError", 134040, ["Unique", "Some of the stores"]) {
      let stack = try Stack(.inMemory)
      let second = try stack.coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
      try stack.run { context in
        context.assign(context.make("Unique", ["code": "x"]), to: second)
        try context.save()
        context.assign(context.item("a"), to: stack.store)
        context.assign(context.make("Unique", ["code": "x"]), to: second)
        try context.save()
      }
    },
  ]

  // MARK: Stores

  private static func add(
    _ url: URL, _ options: [AnyHashable: Any]? = nil, model: NSManagedObjectModel = World.shared
  ) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func model(_ attributes: String...) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = [
      World.entity("Thing", attributes.map { World.attribute($0, .stringAttributeType) })
    ]
    return model
  }

  static let stores: [Sample] = [
    Sample("NSPersistentStoreInvalidTypeError", 134000, ["text.sqlite"]) {
      let url: URL = try TemporaryFolder().file("text.sqlite")
      try Data("just words".utf8).write(to: url)
      _ = try add(url)
    },
    Sample("NSPersistentStoreIncompatibleSchemaError", 134020, ["Thing", "code points"]) {
      _ = try add(try TemporaryFolder().file("a.sqlite"), model: model("\u{E9}", "e\u{301}"))
    },
    Sample("NSPersistentStoreIncompatibleVersionHashError", 134100, ["a.sqlite", "Thing"]) {
      let url: URL = try TemporaryFolder().file("a.sqlite")
      _ = try add(url, model: model("a"))
      _ = try add(url, model: model("a", "b"))
    },
    Sample("NSFileWriteNoPermissionError", 513, ["World.sqlite", "read-only"]) {
      let stack = try Stack(.sqlite)
      try stack.run { context in
        _ = context.item("a")
        try context.save()
      }
      let context = try add(stack.folder.file("World.sqlite"), [NSReadOnlyPersistentStoreOption: true])
      try context.performAndWait {
        try context.all(Item.self, "Item").first?.title = "b"
        try context.save()
      }
    },
    Sample("NSPersistentStoreOpenError", 134080, ["World.sqlite", "persistent history"]) {
      let url: URL = try TemporaryFolder().file("World.sqlite")
      try HistoryTests.makeTracked(url)
      _ = try add(url, [NSPersistentHistoryTrackingKey: true])
    },
    Sample("NSManagedObjectConstraintValidationError", 1551, ["a.sqlite", "Unique", "code", "/Unique/p1"]) {
      let folder = try TemporaryFolder()
      let url: URL = folder.file("a.sqlite")
      let context: NSManagedObjectContext = try add(url)
      try context.performAndWait {
        for code in ["a", "b"] { _ = context.make("Unique", ["code": code]) }
        try context.save()
      }
      // As another program may have left them: the model's index does not allow it.
      try DatabaseQueue(path: url.path).write { database in
        let index: String? = try String.fetchOne(
          database, sql: "SELECT name FROM sqlite_master WHERE type = 'index' AND sql LIKE '%UNIQUE%ZCODE%'")
        try database.execute(sql: "DROP INDEX \(index ?? ""); UPDATE ZUNIQUE SET ZCODE = 'a'")
      }
      let coordinator: NSPersistentStoreCoordinator = try #require(context.persistentStoreCoordinator)
      _ = try coordinator.migratePersistentStore(
        try #require(coordinator.persistentStores.first), to: folder.file("b.xml"), options: nil,
        withType: NSXMLStoreType)
    },
    Sample("NSPersistentStoreOperationError", 134070, ["World.sqlite", "removed"]) {
      let stack = try Stack(.sqlite)
      try stack.run { context in
        _ = context.item("a")
        try context.save()
        for file in try FileManager.default.contentsOfDirectory(
          at: stack.folder.url, includingPropertiesForKeys: nil)
        { try FileManager.default.removeItem(at: file) }
        _ = context.item("b")
        try context.save()
      }
    },
    Sample("NSCoreDataError", 134060, ["titel", "Item", "title"]) {
      try Stack(.sqlite).run { context in
        _ = try context.all(Item.self, "Item", NSPredicate(format: "titel == 1"))
      }
    },
    Sample("NSPersistentStoreUnsupportedRequestTypeError", 134091, ["NSPersistentStoreRequest"]) {
      try Stack(.sqlite).run { context in _ = try context.execute(NSPersistentStoreRequest()) }
    },
    Sample("NSPersistentStoreTimeoutError", 134090, ["World.sqlite", "locked"]) {
      let url: URL = try TemporaryFolder().file("World.sqlite")
      _ = try add(url)
      let other = try DatabaseQueue(path: url.path)
      try other.writeWithoutTransaction { database in
        try database.execute(sql: "BEGIN IMMEDIATE")
        defer { try? database.execute(sql: "ROLLBACK") }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
        try coordinator.destroyPersistentStore(
          at: url, type: .sqlite, options: [NSPersistentStoreTimeoutOption: 0.1])
      }
    },
    Sample("NSSQLiteError", 134180, ["World.sqlite", "locked"]) {
      let url: URL = try TemporaryFolder().file("World.sqlite")
      let context = try add(url, [NSSQLitePragmasOption: ["busy_timeout": "20"]])
      let other = try DatabaseQueue(path: url.path)
      try other.writeWithoutTransaction { database in
        try database.execute(sql: "BEGIN IMMEDIATE")
        defer { try? database.execute(sql: "ROLLBACK") }
        try context.performAndWait {
          _ = context.item("a")
          try context.save()
        }
      }
    },
  ]
}
