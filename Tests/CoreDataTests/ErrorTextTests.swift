import CoreData
import CoreDataStorage
import Foundation
import StackSupport
import Testing

@testable import CoreDataGraph

/// What errors say, wherever Foundation shows it. (Finding D: errors printed `Code=… "(null)"`.)
@Suite struct ErrorTextTests {
  /// Names in the samples' facts; each text must have one of them, else nobody knows what it is about.
  private static let url = URL(fileURLWithPath: "/stores/Shop.sqlite")

  // MARK: Every case

  /// One for each case of `GraphError`; `kind(of:)` does not compile when one is missing.
  enum Kind: String, CaseIterable, Sendable {
    case unknownKey, unknownEntity, noEntity, severalEntities, noCoordinator, noStores, noStore
    case referentialIntegrity, deletedInParent, unreadable, externalRelationship, unsavedTarget, deletedTarget
    case runawayWillSave, refusedFault, unsupported, unsupportedRequest, predicate, store, transformation
  }

  private static func kind(of error: GraphError) -> Kind {
    switch error {
    case .unknownKey: .unknownKey
    case .unknownEntity: .unknownEntity
    case .noEntity: .noEntity
    case .severalEntities: .severalEntities
    case .noCoordinator: .noCoordinator
    case .noStores: .noStores
    case .noStore: .noStore
    case .referentialIntegrity: .referentialIntegrity
    case .deletedInParent: .deletedInParent
    case .unreadable: .unreadable
    case .externalRelationship: .externalRelationship
    case .unsavedTarget: .unsavedTarget
    case .deletedTarget: .deletedTarget
    case .runawayWillSave: .runawayWillSave
    case .refusedFault: .refusedFault
    case .unsupported: .unsupported
    case .unsupportedRequest: .unsupportedRequest
    case .predicate: .predicate
    case .store: .store
    case .transformation: .transformation
    }
  }

  /// Errors of a kind, each with what its text has to name.
  private static func samples(
    _ kind: Kind, _ item: NSManagedObject
  ) throws -> [(error: GraphError, names: [String])] {
    let id: NSManagedObjectID = item.objectID
    let layout: EntityLayout = item.runtime.layout
    switch kind {
    case .unknownKey: return [(.unknownKey("titel", layout), ["Item", "titel", "title"])]
    case .unknownEntity:
      return [
        (.unknownEntity("Itm", ["Item", "Tag"]), ["Itm", "Item"]), (.unknownEntity("X", []), ["X"]),
        (.unknownEntity(nil, []), ["entityName"]),
      ]
    case .noEntity: return [(.noEntity(of: "Stranger"), ["Stranger"])]
    case .severalEntities: return [(.severalEntities(["A", "B"], of: "Thing"), ["Thing", "A, B"])]
    case .noCoordinator: return [(.noCoordinator, ["persistentStoreCoordinator"])]
    case .noStores: return [(.noStores, ["addPersistentStore"])]
    case .noStore: return [(.noStore(entity: "Item", reason: "every store is read-only"), ["Item"])]
    case .referentialIntegrity: return [(.referentialIntegrity(id), ["Item"])]
    case .deletedInParent: return [(.deletedInParent(id), ["Item"])]
    case .unreadable:
      return [
        (.unreadable(id, property: "tags", cause: StoreError.closed), ["Item.tags"]),
        (.unreadable(id, property: nil, cause: StoreError.closed), ["Item"]),
      ]
    case .externalRelationship:
      return [
        (
          .externalRelationship(object: id, relationship: "tags", target: id, stores: ("/a", "/b")),
          ["Item.tags", "/a", "/b"]
        )
      ]
    case .unsavedTarget:
      return [
        (
          .unsavedTarget(object: id, relationship: "tags", targetDescription: "a Tag"),
          ["Item.tags", "a Tag"]
        )
      ]
    case .deletedTarget:
      return [(.deletedTarget(object: id, relationship: "tags", target: id), ["Item.tags"])]
    case .runawayWillSave: return [(.runawayWillSave(rounds: 1000, object: "\(id)"), ["Item", "1000"])]
    case .refusedFault:
      return [(.refusedFault("Item.tags is read object by object.", advice: "Prefetch it."), ["Item.tags"])]
    case .unsupported: return [(.unsupported("Grouping", advice: "Set resultType."), ["Grouping"])]
    case .unsupportedRequest: return [(.unsupportedRequest("a request", advice: "Use another."), ["request"])]
    case .predicate:
      return PredicateProblem.Kind.allCases.map {
        let problem = PredicateProblem($0, part: "titel", reason: "it is wrong", advice: "Change it.")
        return (.predicate([problem, problem]), ["titel"])
      }
    case .store:
      return try StoreErrorKind.allCases.flatMap { try storeErrors($0, item) }.map {
        (.store($0.0, url), $0.1)
      }
    case .transformation:
      return [(.transformation("Item.thing names no transformer", advice: "register it"), ["Item.thing"])]
    }
  }

  /// The same for `StoreError`.
  enum StoreErrorKind: String, CaseIterable, Sendable {
    case conflicts, uniqueness, duplicates, unsupported, invalid, unknownKeyPath, invalidFile,
      incompatibleModel,
      readOnly, historyKept, inUse, file, migration
    case fileChanged, savedByOthers, missingValue, unwritableValue, unsupportedModel, database, closed
  }

  private static func kind(of error: StoreError) -> StoreErrorKind {
    switch error {
    case .conflicts: .conflicts
    case .uniqueness: .uniqueness
    case .duplicates: .duplicates
    case .unsupported: .unsupported
    case .invalid: .invalid
    case .unknownKeyPath: .unknownKeyPath
    case .invalidFile: .invalidFile
    case .incompatibleModel: .incompatibleModel
    case .readOnly: .readOnly
    case .historyKept: .historyKept
    case .inUse: .inUse
    case .file: .file
    case .migration: .migration
    case .fileChanged: .fileChanged
    case .savedByOthers: .savedByOthers
    case .missingValue: .missingValue
    case .unwritableValue: .unwritableValue
    case .unsupportedModel: .unsupportedModel
    case .database: .database
    case .closed: .closed
    }
  }

  private static func storeErrors(
    _ kind: StoreErrorKind, _ item: NSManagedObject
  ) throws -> [(StoreError, [String])] {
    let file: String = url.path
    switch kind {
    case .conflicts:
      let id = RowID(entity: 0, key: 7)
      return [(.conflicts([RowConflict(id: id, expectedVersion: 1, stored: nil)]), ["p7", file])]
    case .duplicates:
      let error: StoreError = .duplicates(
        url: nil, entity: "Item", constraint: ["code"], values: ["7"], objects: ["Item/p1", "Item/p2"])
      return [(error, ["Item", "code 7", "Item/p1 and Item/p2", file])]
    case .uniqueness:
      return [
        (.uniqueness(entity: "Item", constraint: ["code"], row: nil, database: "main"), ["Item", "code"])
      ]
    case .unsupported:
      return [(.unsupported(part: "title", reason: "it is code", advice: "filter objects"), ["title"])]
    case .invalid: return [(.invalid(part: "$x", reason: "it has no value", advice: "give it one"), ["$x"])]
    case .unknownKeyPath:
      return [(.unknownKeyPath("titel", entity: "Item", advice: "There are none."), ["titel", "Item"])]
    case .migration:
      let problems: [(MigrationProblem, [String])] = [
        (.notInPlace(reasons: ["Item.tags changes."]), ["Item.tags"]),
        (.missingValues(entity: "Item", property: "title", count: 3), ["Item", "title", "3"]),
        (.duplicates(entity: "Item", properties: ["code"], count: 2), ["Item", "code", "2"]),
        (.duplicates(entity: "Item", properties: ["code"], count: nil), ["Item", "code"]),
        (.abstractRows(entity: "Item", count: 4), ["Item", "4"]),
        (.proofFailed("Table ZITEM is missing."), ["ZITEM"]),
      ]
      return problems.map { (.migration(url: url, $0.0), $0.1 + [file]) }
    case .invalidFile:
      return [
        (.invalidFile(url: url, reason: "It is no store"), [file]),
        (.invalidFile(url: url, reason: "It ends early", cure: .restoring), [file, "Restore a copy"]),
        (.invalidFile(url: url, reason: "It is damaged", cure: .repairing), [file, "clarus check"]),
        (
          .invalidFile(url: url, reason: "It is damaged", cure: .destroying),
          [file, "clarus check", "NSPersistentStoreForceDestroyOption"]
        ),
      ]
    case .incompatibleModel:
      return [
        (
          .incompatibleModel(
            url: url,
            ModelMismatch(differing: ["A"], missing: ["B"], unknown: [], details: ["A.x is red in the store"])
          ),
          [
            file, "different: A", "A.x is red in the store", "only in the model: B",
            "NSMigratePersistentStoresAutomaticallyOption",
          ]
        )
      ]
    case .readOnly:
      return ReadOnlyReason.allCases.flatMap { reason -> [(StoreError, [String])] in
        [(.readOnly(url: url, reason), [file]), (.readOnly(url: nil, reason), [file])]
      }
    case .historyKept: return [(.historyKept(url: url), [file, "persistent history"])]
    case .inUse: return [(.inUse(url: url), [file, "NSPersistentStoreForceDestroyOption"])]
    case .file:
      return [ENOENT, ENOSPC, EACCES, EIO].map {
        (
          .file(url: url, operation: "reading it", code: $0),
          [file, "reading it", String(cString: strerror($0))]
        )
      } + [
        (.file(url: url, operation: "creating it", code: EEXIST), [file, "already", "nothing was made"])
      ]
    case .fileChanged: return [(.fileChanged(url: url, path: file + "-wal"), [file + "-wal"])]
    case .savedByOthers: return [(.savedByOthers(url: url), [file, "addPersistentStore"])]
    case .missingValue:
      return [
        (
          .missingValue(
            url: url, property: "Item.data", row: RowID(entity: 0, key: 7), path: "/x/y",
            reason: "it is gone",
            folder: ".x_SUPPORT"), ["Item.data", "p7", "/x/y", ".x_SUPPORT", file]
        ),
        (
          .missingValue(
            url: url, property: "Item.data", row: RowID(entity: 0, key: 7), path: "/x/y",
            reason: "it is locked away", folder: ".x_SUPPORT", isForbidden: true),
          ["Item.data", "p7", "/x/y", "permission", file]
        ),
      ]
    case .unwritableValue:
      return [
        (
          .unwritableValue(
            property: "Item.title", object: "x-coredata://x/Item/p7", type: "XML", reason: "it is no text"),
          ["Item.title", "x-coredata://x/Item/p7", "XML", file]
        )
      ]
    case .unsupportedModel:
      return [
        (
          .unsupportedModel(entity: "Item", property: "title", reason: "it has no column"),
          ["Item.title", file]
        )
      ]
    case .database:
      return [1, 5, 6, 10, 13, 14, 18].flatMap { (code: Int32) -> [(StoreError, [String])] in
        // The statement is named where it may be at fault.
        let statement: [String] = [1, 18].contains(code) ? ["SELECT 1"] : []
        return [
          (.database(code: code, message: "no", sql: "SELECT 1", url: nil), ["\(code)", file] + statement),
          (.database(code: code, message: "no", sql: nil, url: url), [file]),
        ]
      }
    case .closed: return [(.closed, [file])]
    }
  }

  @Test(arguments: Kind.allCases)
  func `every error of the graph and of stores says what is wrong, where, and what to do`(
    kind: Kind
  ) throws {
    let stack = try Stack(.inMemory)
    try stack.run { context in
      let item: NSManagedObject = context.make("Item", ["title": "x"])
      for (error, names) in try Self.samples(kind, item) {
        #expect(Self.kind(of: error) == kind)
        Self.expectText(error.asCocoaError, naming: names)
      }
      for storeKind in StoreErrorKind.allCases where kind == .store {
        for (error, _) in try Self.storeErrors(storeKind, item) { #expect(Self.kind(of: error) == storeKind) }
      }
    }
  }

  // MARK: Errors as they are met

  @Test func `errors of validation name entity and property first`() throws {
    let model: NSManagedObjectModel = Self.validated()
    try Stack(.inMemory, model: model).run { context in
      let person: NSManagedObject = context.make("Person", ["age": 400, "code": "xx"])
      let error = try #require(errorThrown { try context.save() })
      #expect(error.code == NSValidationMultipleErrorsError)
      Self.expectText(error, naming: ["Person.age", "Person.name", "Person.code", "3 validation errors"])
      let details: [NSError] = (error.userInfo[NSDetailedErrorsKey] as? [any Error] ?? []).map {
        $0 as NSError
      }
      #expect(details.count == 3)
      for detail in details {
        Self.expectText(
          detail, naming: ["Person.\(detail.userInfo[NSValidationKeyErrorKey] as? String ?? "no key")"])
        #expect(error.localizedDescription.contains(detail.localizedDescription))
      }
      person.setValue(40, forKey: "age")
      person.setValue("x", forKey: "code")
      let one = try #require(errorThrown { try context.save() })
      #expect(
        "\(one)".hasPrefix("Error Domain=NSCocoaErrorDomain Code=1570 \"Person.name is a required value.\""))
    }
  }

  @Test(arguments: [
    // What follows the name, and sentences of their own. ("Vorname First name must have …" was
    // what people read.)
    ("must have two letters", "Vorname must have two letters."),
    ("must have two letters.", "Vorname must have two letters."),
    ("First name must have two letters", "First name must have two letters."),
    ("First name must have two letters!", "First name must have two letters!"),
    ("firstName must have two letters", "Vorname must have two letters."),
    ("名前は二文字以上です。", "名前は二文字以上です。"), ("%{PROPERTY}@ is too short", "Vorname is too short."),
    ("zu kurz", "Der Vorname braucht zwei Buchstaben."), ("2 letters at least", "2 letters at least."),
  ])
  func `a model's own warning reads as a sentence`(warning: String, expected: String) throws {
    let model: NSManagedObjectModel = Self.warned(warning)
    try Stack(.inMemory, model: model).run { context in
      _ = context.make("Person", ["firstName": "A"])
      let error = try #require(errorThrown { try context.save() })
      #expect(error.localizedDescription == expected)
      #expect(
        error.localizedFailureReason == "Person.firstName is not valid: it does not satisfy length >= 2.")
      #expect(
        "\(error)".hasPrefix("Error Domain=NSCocoaErrorDomain Code=1550 \"Person.firstName is not valid"))
    }
  }

  @Test func `twenty failures are listed and the rest is counted`() throws {
    try Stack(.inMemory, model: Self.validated()).run { context in
      for _ in 0..<25 { _ = context.make("Person", ["age": 1]) }
      let error = try #require(errorThrown { try context.save() })
      Self.expectText(error, naming: ["25 validation errors", "And 5 more."])
      #expect((error.userInfo[NSDetailedErrorsKey] as? [any Error])?.count == 25)
    }
  }

  @Test func `errors of predicates, models, controllers and conflicts say why`() throws {
    for format in ["a ==", "a = %k", "a BETWEEN", "FUNCTION(1)", "'x"] {
      let error: any Error = try #require(throws: (any Error).self) {
        try NSPredicate(parsing: format, arguments: [])
      }
      Self.expectText(error as NSError, naming: [format])
    }
    let model: any Error = try #require(throws: (any Error).self) {
      try NSManagedObjectModel.load(contentsOf: URL(fileURLWithPath: "/nowhere/Shop.momd"))
    }
    Self.expectText(model as NSError, naming: ["/nowhere/Shop.momd"])
    try Stack(.inMemory).run { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      let results = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      Self.expectText(try #require(errorThrown { try results.performFetch() }), naming: ["sort descriptors"])
      request.predicate = NSPredicate(format: "titel == 'x'")
      let unknown = try #require(errorThrown { _ = try context.fetch(request) })
      Self.expectText(unknown, naming: ["titel", "Item", "title"])
    }
  }

  @Test func `a store that can't be opened names its file`() throws {
    let folder: URL = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file: URL = folder.appendingPathComponent("text.sqlite")
    try Data("just words".utf8).write(to: file)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.validated())
    let opened = try #require(
      errorThrown {
        _ = try coordinator.addPersistentStore(
          ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: nil)
      })
    Self.expectText(opened, naming: [file.path])
    // A file where a folder should be.
    let container = NSPersistentContainer(name: "Shop", managedObjectModel: Self.validated())
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: file.appendingPathComponent("inner/Shop.sqlite"))
    ]
    var loading: (any Error)?
    container.loadPersistentStores { loading = $1 }
    Self.expectText(try #require(loading) as NSError, naming: [file.path, "Shop.sqlite"])
  }

  // MARK: Checks and models

  static func expectText(_ given: any Error, naming names: [String]) {
    let error = given as NSError
    let printed: [String] = ["\(given)", "\(error)", String(describing: given)]
    #expect(!printed.contains { $0.contains("(null)") }, "\(given)")
    let description: String = error.localizedDescription
    #expect(given.localizedDescription == description)
    let reason: String = error.localizedFailureReason ?? ""
    for text in [description, reason, error.localizedRecoverySuggestion].compactMap({ $0 }) {
      #expect(!text.contains("The operation could"), "\(text)")
      #expect(!text.contains(".."), "\(text)")
      let last: Character? = text.last { !"\"')".contains($0) }
      #expect(last.map { ".!?".contains($0) } == true, "ends as a sentence: \(text)")
    }
    for name in names { #expect(description.contains(name), "\(name) in: \(description)") }
    if !(given is LocalizedError) {
      #expect("\(given)".hasPrefix("Error Domain=\(error.domain) Code=\(error.code) \"\(reason)\""))
    }
  }

  private static func validated() -> NSManagedObjectModel {
    let name = World.attribute("name", .stringAttributeType)
    name.isOptional = false
    let age = World.attribute("age", .integer16AttributeType)
    age.setValidationPredicates(
      [NSPredicate(format: "SELF <= 150")], withValidationWarnings: ["\(NSValidationNumberTooLargeError)"])
    let code = World.attribute("code", .stringAttributeType)
    code.setValidationPredicates([NSPredicate(format: "length == 1")], withValidationWarnings: nil)
    let model = NSManagedObjectModel()
    model.entities = [World.entity("Person", [name, age, code])]
    return model
  }

  private static func warned(_ warning: String) -> NSManagedObjectModel {
    let name = World.attribute("firstName", .stringAttributeType)
    name.setValidationPredicates([NSPredicate(format: "length >= 2")], withValidationWarnings: [warning])
    let model = NSManagedObjectModel()
    model.entities = [World.entity("Person", [name])]
    model.localizationDictionary = [
      "Property/firstName/Entity/Person": "Vorname",
      "ErrorString/zu kurz": "Der Vorname braucht zwei Buchstaben",
    ]
    return model
  }
}
