import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// Throws an error of the program's own domain, with the code of one of the framework's.
final class RefusingPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    throw NSError(
      domain: "Shop", code: NSInferredMappingModelError,
      userInfo: [NSLocalizedDescriptionKey: "The price list is missing."])
  }
}

@Suite("A plan says why, and what is in the way")
struct PlanReasonTests {
  private func change(_ url: URL, _ statements: String...) throws {
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    try queue.write { database in
      for sql in statements { try database.execute(sql: sql) }
    }
  }

  private func person(_ change: @escaping (NSEntityDescription) -> Void) -> NSManagedObjectModel {
    Versions.first { change($0.entitiesByName["Person"]!) }
  }

  private func noted() -> NSManagedObjectModel {
    person { $0.properties.append(World.attribute("note", .stringAttributeType)) }
  }

  // MARK: Directions

  @Test("a migration to an earlier version is refused unless it is said to be one", arguments: [true, false])
  func earlier(_ isRenamed: Bool) throws {
    let folder = try TemporaryFolder()
    let second = try SourceModel.write(
      [Versions.first(), isRenamed ? Versions.second() : noted()], in: folder)
    let first = try #require(
      try NSManagedObjectModel.loadVersions(contentsOf: folder.file("Shop.xcdatamodeld"))["Shop 1"]?.model)
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    try MigrationPlan(forStoreAt: url, to: second).run()
    let error = errorThrown { _ = try MigrationPlan(forStoreAt: url, to: first) }
    for words in ["isDown: true", "Shop 1", "Shop 2", url.path] {
      #expect(error?.localizedDescription.contains(words) == true, "\(error as Any)")
    }
    try MigrationPlan(forStoreAt: url, to: first, isDown: true).run()
    #expect(try Versions.using(first, .sqlite, url) { try Versions.people($0).count } == 3)
  }

  @Test("a version with the hashes of an earlier one is no earlier one")
  func returned() throws {
    let folder = try TemporaryFolder()
    let third = try SourceModel.write([Versions.first(), noted(), Versions.first()], in: folder)
    let second = try #require(
      try NSManagedObjectModel.loadVersions(contentsOf: folder.file("Shop.xcdatamodeld"))["Shop 2"]?.model)
    let url: URL = folder.file("store.sqlite")
    try Versions.using(second, .sqlite, url) { context in
      _ = Versions.make("Person", ["name": "one"], context)
      try context.save()
    }
    try MigrationPlan(forStoreAt: url, to: third).run()
    #expect(try !MigrationPlan(forStoreAt: url, to: third).isNeeded)
  }

  // Finding: of "V22" and "V 23" the second was taken for the earlier one (Meshtastic).
  @Test("a space before the number does not change the order of versions", arguments: ["ShopV 3", "ShopV3"])
  func spaces(_ name: String) throws {
    let folder = try TemporaryFolder()
    let second = try SourceModel.write([Versions.first(), noted()], in: folder) { $0 == 1 ? "ShopV2" : name }
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    try MigrationPlan(forStoreAt: url, to: second).run()
    let first = try #require(
      try NSManagedObjectModel.loadVersions(contentsOf: folder.file("Shop.xcdatamodeld"))["ShopV2"]?.model)
    let error = errorThrown { _ = try MigrationPlan(forStoreAt: url, to: first) }
    #expect(error?.localizedDescription.contains("is an earlier one") == true, "\(error as Any)")
  }

  @Test("the names of versions tell their order only where they differ in the number alone")
  func otherNames() throws {
    let folder = try TemporaryFolder()
    _ = try SourceModel.write([Versions.first(), noted()], in: folder)
    let package: URL = folder.file("Shop.xcdatamodeld")
    try FileManager.default.moveItem(
      at: package.appendingPathComponent("Shop 2.xcdatamodel"),
      to: package.appendingPathComponent("1.4.xcdatamodel"))
    let versions = try NSManagedObjectModel.loadVersions(contentsOf: package)
    let second = try #require(versions["1.4"]?.model)
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    try MigrationPlan(forStoreAt: url, to: second).run()
    #expect(try !MigrationPlan(forStoreAt: url, to: second).isNeeded)
    let first = try #require(versions["Shop 1"]?.model)
    try MigrationPlan(forStoreAt: url, to: first, isDown: true).run()
  }

  // MARK: Copies

  @Test("a view on a table that changes makes it a copy, and the plan names it")
  func view() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let inPlace = try MigrationPlan(forStoreAt: url, to: Versions.second())
    #expect(inPlace.steps[0].reasonsForCopy == [])
    try change(url, "CREATE VIEW names AS SELECT ZNAME FROM ZPERSON")
    let plan = try MigrationPlan(forStoreAt: url, to: Versions.second())
    #expect(plan.steps[0].statements == nil)
    let reasons: [String] = plan.steps[0].reasonsForCopy
    #expect(reasons.count == 1 && reasons[0].contains("The view names"), "\(reasons)")
    #expect(plan.description.contains("because:\n    \(reasons.first ?? "")\n"), "\(plan)")
  }

  @Test("a mapping model of the program's, and a store that is written as a whole, are reasons too")
  func reasons() throws {
    let folder = try TemporaryFolder()
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: Versions.first(), destinationModel: noted())
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let given = try MigrationPlan(forStoreAt: url, to: noted(), mapping: mapping)
    #expect(given.steps[0].reasonsForCopy.joined().contains("not inferred"))
    let file: URL = try Versions.makeStore(.xml, in: folder)
    let whole = try MigrationPlan(forStoreAt: file, to: noted())
    #expect(whole.steps[0].reasonsForCopy.joined().contains("XML"), "\(whole)")
  }

  @Test("what becomes of properties is told in words")
  func forms() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let second = person { person in
      let age: NSAttributeDescription = person.attributesByName["age"]!
      age.attributeType = .integer32AttributeType
      age.isOptional = false
      age.defaultValue = 7
      person.attributesByName["name"]?.isOptional = true
      person.relationshipsByName["pets"]?.isOrdered = false
    }
    let changes: [String] =
      try MigrationPlan(forStoreAt: url, to: second).steps[0].entities
      .first { $0.source == "Person" }?.changes ?? []
    #expect(
      Set(changes) == [
        "age becomes required; objects without a value get 7", "age becomes Integer 32, from Integer 16",
        "name becomes optional", "pets becomes unordered",
      ], "\(changes)")
  }

  @Test("references that lead nowhere are nil in a copy, and end it where the new model requires an object")
  func lostReferences() throws {
    let folder = try TemporaryFolder()
    func version(isOptional: Bool) -> NSManagedObjectModel {
      Versions.first { model in
        model.entitiesByName["Pet"]?.versionHashModifier = "2"
        model.entitiesByName["Pet"]?.relationshipsByName["owner"]?.isOptional = isOptional
      }
    }
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    try change(url, "DELETE FROM ZPERSON WHERE ZNAME = 'person 1'")
    func plan(isOptional: Bool) throws -> MigrationPlan {
      let second = version(isOptional: isOptional)
      let mapping: NSMappingModel = try .inferredMappingModel(
        forSourceModel: Versions.first(), destinationModel: version(isOptional: true))
      for entity in mapping.entityMappings {
        entity.destinationEntityVersionHash = entity.destinationEntityName.flatMap {
          second.entityVersionHashesByName[$0]
        }
      }
      return try MigrationPlan(forStoreAt: url, to: second, mapping: mapping)
    }
    let kept = try plan(isOptional: true)
    #expect(kept.steps[0].problems == [])
    #expect(
      kept.losses.contains {
        $0.contains("1 reference(s) of Pet.owner") && $0.contains("will be nil")
      }, "\(kept)")
    let refused = try plan(isOptional: false)
    #expect(
      refused.steps[0].problems.contains { $0.contains("Pet.owner is required in the new model") },
      "\(refused)")
    #expect(errorThrown { try refused.run() } != nil)
    try kept.run()
  }

  @Test("references of an XML store that lead nowhere are told too")
  func lostReferencesOfFiles() throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([Versions.first(), noted()], in: folder)
    let url: URL = try Versions.makeStore(.xml, in: folder)
    let before = try MigrationPlan(forStoreAt: url, to: program)
    #expect(before.warnings == [] && before.losses == [])
    let text: String = try String(contentsOf: url, encoding: .utf8)
    let person = try #require(text.range(of: ">person 1<"))
    let start = try #require(
      text.range(of: "<object", options: .backwards, range: text.startIndex..<person.lowerBound))
    let end = try #require(text.range(of: "</object>", range: person.upperBound..<text.endIndex))
    try Data((text[..<start.lowerBound] + text[end.upperBound...]).utf8).write(to: url)
    #expect(
      try MigrationPlan(forStoreAt: url, to: program).losses == [
        "1 reference(s) of Pet.owner lead to objects that are not in the store, and will be nil.",
        "1 reference(s) of Tag.people lead to objects that are not in the store, and will be left out.",
      ])
  }

  @Test("an index over the same columns counts, also under the name that earlier frameworks gave it")
  func formerIndex() throws {
    let folder = try TemporaryFolder()
    func indexed(_ hasNote: Bool) -> NSManagedObjectModel {
      person { person in
        person.indexes = [
          NSFetchIndexDescription(
            name: "byAge",
            elements: [
              NSFetchIndexElementDescription(
                property: person.attributesByName["age"]!, collationType: .binary)
            ])
        ]
        if hasNote { person.properties.append(World.attribute("note", .stringAttributeType)) }
      }
    }
    let url: URL = folder.file("store.sqlite")
    try Versions.using(indexed(false), .sqlite, url) { try $0.save() }
    try change(
      url, "DROP INDEX Z_Person_byAge", "CREATE INDEX ZPERSON_ZAGE_INDEX ON ZPERSON (ZAGE)")
    let plan = try MigrationPlan(forStoreAt: url, to: indexed(true))
    #expect(plan.warnings == [] && plan.steps[0].reasonsForCopy == [], "\(plan)")
    try plan.run(verifies: true)
    #expect(try !MigrationPlan(forStoreAt: url, to: indexed(true)).isNeeded)
    // One that earlier frameworks made for a unique attribute that is indexed too.
    let unique: URL = folder.file("unique.sqlite")
    try Versions.using(indexed(false), .sqlite, unique) { try $0.save() }
    try change(
      unique, "DROP INDEX Z_Person_byAge", "CREATE UNIQUE INDEX ZPERSON_ZAGE_INDEX ON ZPERSON (ZAGE)")
    #expect(try MigrationPlan(forStoreAt: unique, to: indexed(true)).warnings == [])
  }

  // MARK: Exchanged names

  private func exchange(_ change: (NSEntityDescription) -> Void = { _ in }) -> NSManagedObjectModel {
    let entity = World.entity(
      "Card", [World.attribute("front", .stringAttributeType), World.attribute("back", .stringAttributeType)])
    entity.managedObjectClassName = nil
    change(entity)
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  private func exchanged() -> NSManagedObjectModel {
    exchange { entity in
      entity.attributesByName["front"]?.renamingIdentifier = "back"
      entity.attributesByName["back"]?.renamingIdentifier = "front"
    }
  }

  @Test(
    "names that are exchanged without a trace in the hashes are told, of stores that were written before",
    arguments: [StoreKind.sqlite, .xml])
  func exchangedNames(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([exchange(), exchanged()], in: folder)
    let url: URL = try #require(kind.url("store", in: folder))
    try Versions.using(exchange(), kind, url) { context in
      _ = Versions.make("Card", ["front": "a", "back": "b"], context)
      try context.save()
    }
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(!plan.isNeeded)
    #expect(
      plan.warnings.count == 1 && plan.warnings[0].hasPrefix("Card: 'back' and 'front' exchange their names"),
      "\(plan)")
    #expect(plan.description.contains("Beware: Card"), "\(plan)")
    if kind == .sqlite {
      let new: URL = folder.file("new.sqlite")
      try Versions.using(program, kind, new) { try $0.save() }
      #expect(try MigrationPlan(forStoreAt: new, to: program).warnings == [])
    }
  }

  @Test("lint warns of such names, unless a hash modifier makes another version of them")
  func lint() {
    func codes(_ model: NSManagedObjectModel) -> [String] {
      model.problems().map(\.code).filter { $0 == "renaming-exchange" }
    }
    #expect(codes(exchanged()) == ["renaming-exchange"])
    #expect(codes(exchange()) == [])
    let marked = exchanged()
    marked.entitiesByName["Card"]?.attributesByName["front"]?.versionHashModifier = "2"
    #expect(codes(marked) == [])
    let typed = exchanged()
    typed.entitiesByName["Card"]?.attributesByName["front"]?.attributeType = .integer16AttributeType
    #expect(codes(typed) == [])
    // A name that was given up, and one that is new.
    let chain = exchange { $0.attributesByName["front"]?.renamingIdentifier = "back" }
    #expect(codes(chain) == [])
    let parts = exchange { entity in
      let place = NSCompositeAttributeDescription()
      place.name = "place"
      place.elements = [("x", "y"), ("y", "x")].map { name, former in
        let element = World.attribute(name, .doubleAttributeType)
        element.renamingIdentifier = former
        return element
      }
      entity.properties.append(place)
    }
    #expect(codes(parts) == ["renaming-exchange"])
    #expect(parts.problems().contains { $0.part == "place.x" })
    let entities = NSManagedObjectModel()
    entities.entities = ["A", "B", "C"].map { World.entity($0, [World.attribute("x", .stringAttributeType)]) }
    for (entity, former) in zip(entities.entities, ["B", "C", "A"]) { entity.renamingIdentifier = former }
    #expect(codes(entities) == ["renaming-exchange"])
  }

  // MARK: The original

  @Test("a place where the original can't be kept is refused with the reason, before anything is done")
  func original() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let files = FileManager.default
    try Data("x".utf8).write(to: folder.file("taken.sqlite"))
    try Data().write(to: folder.file("free.sqlite-wal"))
    try files.createSymbolicLink(at: folder.file("link.sqlite"), withDestinationURL: folder.file("none"))
    try files.createDirectory(at: folder.file("folder"), withIntermediateDirectories: false)
    let bytes: Data = try Data(contentsOf: url)
    let names: [String] = try files.contentsOfDirectory(atPath: folder.url.path).sorted()
    for (place, words) in [
      ("taken.sqlite", "There is a file already, and it is no copy of the store as it is now."),
      ("folder", "It is a folder."),
      ("link.sqlite", "It is a link that leads to no file."),
      (url.lastPathComponent, "It is the store itself."),
      ("none/copy.sqlite", "There is no folder"), ("taken.sqlite/copy.sqlite", "is no folder"),
      ("free.sqlite", "free.sqlite-wal"), (".\(url.lastPathComponent).migration", "Migrations of the store"),
      (".\(url.lastPathComponent).migrating", "Migrations of the store"),
    ] {
      let error = errorThrown {
        try MigrationPlan(forStoreAt: url, to: noted()).run(keepingOriginalAt: folder.file(place))
      }
      #expect(error?.code == NSMigrationManagerDestinationStoreError, "\(place): \(error as Any)")
      #expect(error?.localizedDescription.contains(words) == true, "\(place): \(error as Any)")
    }
    #expect(try Data(contentsOf: url) == bytes)
    #expect(try files.contentsOfDirectory(atPath: folder.url.path).sorted() == names)
    try MigrationPlan(forStoreAt: url, to: noted()).run(keepingOriginalAt: folder.file("copy.sqlite"))
    #expect(
      try Versions.using(Versions.first(), .sqlite, folder.file("copy.sqlite")) {
        try Versions.people($0).count
      } == 3)
  }

  @Test(
    "a copy of the store as it is, which a killed process has left, is the original",
    arguments: [
      StoreKind.sqlite, .xml,
    ])
  func keptOriginal(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(kind, in: folder)
    let place: URL = folder.file("copy.store")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
    try coordinator.replacePersistentStore(at: place, withPersistentStoreFrom: url, ofType: kind.type)
    if kind == .sqlite {
      // What the log has is in the copy's file.
      try change(url, "PRAGMA user_version = 5")
      let error = errorThrown {
        try MigrationPlan(forStoreAt: url, to: noted()).run(keepingOriginalAt: place)
      }
      #expect(error?.localizedDescription.contains("no copy of the store as it is now") == true)
      try change(url, "PRAGMA user_version = 0")
    }
    struct Stopped: Error {}
    let bytes: Data = try Data(contentsOf: place)
    let names: [String] = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    if kind == .xml {
      // An error does not remove what was there before.
      #expect(
        errorThrown {
          try MigrationPlan(forStoreAt: url, to: noted()).run(keepingOriginalAt: place) { _, _ in
            throw Stopped()
          }
        } != nil)
    }
    try MigrationPlan(forStoreAt: url, to: noted()).run(keepingOriginalAt: place)
    #expect(try Versions.using(noted(), kind, url) { try Versions.people($0).count } == 3)
    #expect(try Data(contentsOf: place) == bytes)
    let now: [String] = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    #expect(
      now.filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
        == names.filter {
          !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
        })
  }

  @Test("rows that stand for no object are a problem of a copy, which ends with the same words")
  func unreachableRows() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: Versions.first(), destinationModel: noted())
    try change(url, "UPDATE ZPERSON SET Z_ENT = 77 WHERE ZNAME = 'person 1'")
    let plan = try MigrationPlan(forStoreAt: url, to: noted(), mapping: mapping)
    let problem: String = plan.steps[0].problems.first { $0.contains("number of no entity") } ?? ""
    #expect(problem.hasPrefix("1 row(s) in the table of Person have"), "\(plan)")
    #expect(problem.contains("clarus check \(url.path) --repair OUT"), "\(plan)")
    let error = errorThrown { try plan.run() }
    #expect(error?.localizedDescription.contains(problem) == true, "\(error as Any)")
  }

  // MARK: Verification

  @Test("what is verified of a store that is written as a whole is what its file gives back")
  func reopened() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.xml, in: folder)
    let bytes: Data = try Data(contentsOf: url)
    let made: URL = folder.file(".\(url.lastPathComponent).migration/1/\(url.lastPathComponent)")
    var isChanged: Bool = false
    let error = errorThrown {
      try MigrationPlan(forStoreAt: url, to: noted()).run(verifies: true) { _, _ in
        guard !isChanged, let text = try? String(contentsOf: made, encoding: .utf8),
          text.contains("person 1"), !text.contains("ClarusUnfinishedMigration")
        else { return }
        isChanged = true
        try Data(text.replacing("person 1", with: "person X").utf8).write(to: made)
      }
    }
    #expect(isChanged)
    #expect(error?.localizedDescription.contains("person X in place of person 1") == true, "\(error as Any)")
    #expect(try Data(contentsOf: url) == bytes)
    try MigrationPlan(forStoreAt: url, to: noted()).run(verifies: true)
    #expect(try Versions.using(noted(), .xml, url) { try Versions.people($0).count } == 3)
  }

  // MARK: Errors of the program

  @Test("an error that a policy throws keeps its domain", arguments: [StoreKind.sqlite, .xml])
  func domain(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([Versions.first(), noted()], in: folder)
    let url: URL = try Versions.makeStore(kind, in: folder)
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: Versions.first(), destinationModel: program)
    mapping.entityMappings.first { $0.sourceEntityName == "Person" }?.entityMigrationPolicyClassName =
      NSStringFromClass(RefusingPolicy.self)
    let error = errorThrown { try MigrationPlan(forStoreAt: url, to: program, mapping: mapping).run() }
    #expect(error?.domain == "Shop" && error?.code == NSInferredMappingModelError, "\(error as Any)")
    #expect(error?.localizedDescription == "The price list is missing.")
  }
}
