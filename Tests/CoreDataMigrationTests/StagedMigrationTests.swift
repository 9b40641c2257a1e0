import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

@Suite("A staged migration goes through its stages in order, with the program's code between them")
struct StagedMigrationTests {
  static let kinds: [StoreKind] = [.sqlite, .xml]

  /// Version 3 has a number of pets, which code between the stages counts.
  static func third() -> NSManagedObjectModel {
    let model = Versions.second()
    model.entitiesByName["Person"]!.properties.append(World.attribute("petCount", .integer32AttributeType))
    return model
  }

  static func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
    NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
  }

  static func options(_ stages: [NSMigrationStage]) -> [AnyHashable: Any] {
    Versions.automatic.merging([
      NSPersistentStoreStagedMigrationManagerOptionKey: NSStagedMigrationManager(stages)
    ]) { $1 }
  }

  @Test("handlers see the store with the version before and after their stage", arguments: kinds)
  func handlers(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([Versions.first(), Versions.second(), Self.third()], in: folder)
    let url: URL = try Versions.makeStore(kind, in: folder, people: 6)
    let log = CallLog()
    let stage = NSCustomMigrationStage(
      migratingFrom: Self.reference(Versions.second()), to: Self.reference(Self.third()))
    stage.label = "count pets"
    stage.willMigrateHandler = { manager, stage in
      let context = try #require(manager.container).newBackgroundContext()
      try context.performAndWait {
        let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
        log.lines.append("before \(stage.label ?? ""): \(people[0].entity.attributesByName.keys.sorted())")
        for person in people { person.setValue("seen", forKey: "note") }
        try context.save()
      }
    }
    stage.didMigrateHandler = { manager, _ in
      let context = try #require(manager.container).newBackgroundContext()
      try context.performAndWait {
        for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
          person.setValue(person.mutableOrderedSetValue(forKey: "pets").count, forKey: "petCount")
        }
        try context.save()
      }
      log.lines.append("after")
    }
    let light = NSLightweightMigrationStage([
      Versions.first().versionChecksum, Versions.second().versionChecksum,
    ])
    let rows = try Versions.using(program, kind, url, Self.options([light, stage])) { context in
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map {
        "\($0.value(forKey: "fullName")!) \($0.value(forKey: "petCount")!) \($0.value(forKey: "note")!)"
      }.sorted()
    }
    #expect(rows == (0..<6).map { "person \($0) \($0 % 4) seen" })
    #expect(log.lines == ["before count pets: [\"age\", \"fullName\", \"note\", \"photo\"]", "after"])
    // Once migrated, no handler is called any more.
    _ = try Versions.using(program, kind, url, Self.options([light, stage])) { _ in }
    #expect(log.lines.count == 2)
  }

  @Test(
    "a handler that throws leaves nothing of its stage, is named, and is called again", arguments: kinds,
    [true, false])
  func failing(_ kind: StoreKind, _ isBefore: Bool) throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([Versions.first(), Versions.second()], in: folder)
    let url: URL = try Versions.makeStore(kind, in: folder)
    let before: [String] = try Versions.using(Versions.first(), kind, url) { try Versions.people($0) }
    let bytes: Data = try Data(contentsOf: url)
    let files: [String] = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    let stage = NSCustomMigrationStage(
      migratingFrom: Self.reference(Versions.first()), to: Self.reference(Versions.second()))
    stage.label = "rename pets"
    let log = CallLog()
    func handler(_ name: String, fails: Bool, _ person: String) -> NSCustomMigrationStage.Handler {
      { manager, _ in
        log.lines.append(name)
        let context = try #require(manager.container).newBackgroundContext()
        try context.performAndWait {
          _ = Versions.make("Person", [person: name], context)
          try context.save()
        }
        if fails { throw CocoaError(.userCancelled) }
      }
    }
    stage.willMigrateHandler = handler("before", fails: isBefore, "name")
    stage.didMigrateHandler = handler("after", fails: !isBefore, "fullName")
    let error = errorThrown { try Versions.using(program, kind, url, Self.options([stage])) { _ in } }
    #expect(error?.code == NSMigrationError)
    let word: String = isBefore ? "willMigrateHandler" : "didMigrateHandler"
    for word in ["rename pets", url.path, word] {
      #expect(error?.localizedDescription.contains(word) == true, "\(error as Any)")
    }
    #expect(
      (error?.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.code == .userCancelled, "\(error as Any)")
    #expect(try Data(contentsOf: url) == bytes)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == files)
    #expect(log.lines == (isBefore ? ["before"] : ["before", "after"]))
    log.lines = []
    stage.willMigrateHandler = handler("before", fails: false, "name")
    stage.didMigrateHandler = handler("after", fails: false, "fullName")
    let after = try Versions.using(program, kind, url, Self.options([stage])) {
      try Versions.people($0, name: "fullName")
    }
    #expect(log.lines == ["before", "after"])
    #expect(after.filter { !$0.hasPrefix("before ") && !$0.hasPrefix("after ") } == before)
    #expect(after.count == before.count + 2)
  }

  @Test("a stage whose versions can't be migrated says so, and names the stage and the store")
  func refused() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let second: NSManagedObjectModel = Versions.first {
      $0.entitiesByName["Person"]!.attributesByName["age"]!.attributeType = .stringAttributeType
    }
    let stage = NSCustomMigrationStage(
      migratingFrom: Self.reference(Versions.first()), to: Self.reference(second))
    stage.label = "ages"
    stage.willMigrateHandler = { _, _ in }
    let error = errorThrown { try Versions.using(second, .sqlite, url, Self.options([stage])) { _ in } }
    #expect(error?.code == NSInferredMappingModelError)
    for word in ["ages", url.path, "Person.age"] {
      #expect(error?.localizedDescription.contains(word) == true, "\(error as Any)")
    }
    #expect(error?.localizedDescription.contains(".migration") == false, "\(error as Any)")
  }

  @Test("versions that only the stages have are enough, for stores that carry no model too", arguments: kinds)
  func namedModels(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(kind, in: folder)
    let before: [String] = try Versions.using(Versions.first(), kind, url) { try Versions.people($0) }
    let stages: [NSMigrationStage] = [
      NSCustomMigrationStage(
        migratingFrom: Self.reference(Versions.first()), to: Self.reference(Versions.second())),
      NSLightweightMigrationStage([Versions.second().versionChecksum, Self.third().versionChecksum]),
    ]
    let after: [String] = try Versions.using(Self.third(), kind, url, Self.options(stages)) {
      try Versions.people($0, name: "fullName")
    }
    #expect(after == before)
  }

  @Test("an entity with a derived attribute has versions too", arguments: [StoreKind.sqlite, .xml, .binary])
  func derivedAttributes(_ kind: StoreKind) throws {
    func version(isRequired: Bool) -> NSManagedObjectModel {
      Versions.first { model in
        let person: NSEntityDescription = model.entitiesByName["Person"]!
        let upper = NSDerivedAttributeDescription()
        (upper.name, upper.attributeType, upper.isOptional) = ("upper", .stringAttributeType, true)
        upper.derivationExpression = CoreData.NSExpression(format: "uppercase:(name)")
        person.properties.append(upper)
        let age: NSAttributeDescription = person.attributesByName["age"]!
        if isRequired { (age.isOptional, age.defaultValue) = (false, 7) }
      }
    }
    let folder = try TemporaryFolder()
    let url: URL = try #require(kind.url("store", in: folder))
    let (old, new) = (version(isRequired: false), version(isRequired: true))
    try Versions.using(old, kind, url) { context in
      _ = Versions.make("Person", ["name": "ann"], context)
      try context.save()
    }
    #expect(try Versions.using(version(isRequired: false), kind, url) { _ in true })
    let error = errorThrown { try Versions.using(new, kind, url) { _ in } }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError, "\(error as Any)")
    let stage = NSCustomMigrationStage(migratingFrom: Self.reference(old), to: Self.reference(new))
    try Versions.using(new, kind, url, Self.options([stage])) { context in
      let person: NSManagedObject = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))[
        0]
      #expect(person.value(forKey: "age") as? Int == 7)
      #expect(person.value(forKey: "upper") as? String == "ANN")
    }
  }

  @Test("versions between two stages are passed lightly")
  func gap() throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([Versions.first(), Versions.second(), Self.third()], in: folder)
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let stage = NSCustomMigrationStage(
      migratingFrom: Self.reference(Versions.second()), to: Self.reference(Self.third()))
    let log = CallLog()
    stage.willMigrateHandler = { manager, _ in
      let model = try #require(manager.container).managedObjectModel
      log.lines.append(model.entitiesByName["Animal"] == nil ? "first" : "second")
    }
    let light = NSLightweightMigrationStage([Versions.first().versionChecksum])
    let names = try Versions.using(program, .sqlite, url, Self.options([light, stage])) {
      try Versions.people($0, name: "fullName").count
    }
    #expect(names == 3)
    #expect(log.lines == ["second"])
  }

  @Test("a checksum that no version has is refused with the ones that there are")
  func unknown() throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([Versions.first(), Versions.second(), Self.third()], in: folder)
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let light = NSLightweightMigrationStage([
      Versions.first().versionChecksum, "mistyped", Self.third().versionChecksum,
    ])
    light.label = "small steps"
    let error = errorThrown { try Versions.using(program, .sqlite, url, Self.options([light])) { _ in } }
    #expect(error?.code == NSManagedObjectModelReferenceNotFoundError)
    for word in ["small steps", "mistyped", Versions.second().versionChecksum] {
      #expect(error?.localizedDescription.contains(word) == true, "\(error as Any)")
    }
  }

  @Test("stages do not go back, and say which version they lack")
  func wrong() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let (first, second, third) = (
      Versions.first().versionChecksum, Versions.second().versionChecksum, Self.third().versionChecksum
    )
    func error(_ model: NSManagedObjectModel, _ stages: [NSMigrationStage]) -> NSError? {
      errorThrown { try Versions.using(model, .sqlite, url, Self.options(stages)) { _ in } }
    }
    let unknown = error(Self.third(), [NSLightweightMigrationStage([first, second])])
    #expect(unknown?.code == NSMigrationError)
    #expect(unknown?.localizedDescription.contains(third) == true)
    let missing = error(Self.third(), [NSLightweightMigrationStage([second, third])])
    #expect(missing?.code == NSMigrationMissingSourceModelError)
    #expect(missing?.localizedDescription.contains(first) == true)
    let twice = error(
      Self.third(),
      [NSLightweightMigrationStage([first, second]), NSLightweightMigrationStage([first, third])])
    #expect(twice?.code == NSMigrationError)
    _ = try Versions.using(Versions.second(), .sqlite, url, Versions.automatic) { _ in }
    let back = error(Versions.first(), [NSLightweightMigrationStage([first, second])])
    #expect(back?.code == NSStagedMigrationBackwardMigrationError, "\(String(describing: back))")
  }
}
