import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

@Suite("Over many versions mapping models, inferred steps and stages of every kind are mixed")
struct LongWayTests {
  static let kinds: [StoreKind] = [.sqlite, .xml, .binary]

  private static func version(
    weight: Bool = true, code: Bool = true, _ note: (name: String, was: String?)? = nil
  ) -> NSManagedObjectModel {
    Versions.first { model in
      if weight {
        model.entitiesByName["Pet"]!.properties.append(World.attribute("weight", .doubleAttributeType))
      }
      let person: NSEntityDescription = model.entitiesByName["Person"]!
      // Without a default: nothing can be inferred from versions without it.
      if code { person.properties.append(World.attribute("code", .stringAttributeType, optional: false)) }
      if let note {
        let attribute = World.attribute(note.name, .stringAttributeType)
        attribute.renamingIdentifier = note.was
        person.properties.append(attribute)
      }
    }
  }

  /// An attribute, a code by a mapping model, a note, another name for it.
  private static let versions: [NSManagedObjectModel] = [
    version(weight: false, code: false), version(code: false), version(), version(("note", nil)),
    version(("remark", "note")),
  ]

  /// From version 2 to 3: each person's name becomes its code.
  private static func writeMapping(in folder: TemporaryFolder) throws {
    try Versions.writeCoding(
      from: version(code: false), to: version(), uncoded: version(code: false), in: folder)
  }

  @Test("inferred steps lead to a mapping model and away from it, and nothing is lost", arguments: kinds)
  func chain(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write(Self.versions, in: folder)
    try Self.writeMapping(in: folder)
    let url: URL = try Versions.makeStore(kind, in: folder, people: 7)
    let before: [String] = try Versions.using(Versions.first(), kind, url) { try Versions.people($0) }
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(plan.steps.map(\.isInferred) == [true, false, true])
    #expect(plan.steps.map(\.destination) == ["Shop 2", "Shop 3", "Shop 5"])
    try Versions.using(program, kind, url, Versions.automatic) { context in
      #expect(try Versions.people(context) == before)
      for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
        #expect(person.value(forKey: "code") as? String == person.value(forKey: "name") as? String)
      }
    }
  }

  @Test("from a version in the middle the way begins there", arguments: kinds)
  func fromTheMiddle(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write(Self.versions, in: folder)
    try Self.writeMapping(in: folder)
    let url: URL = try #require(kind.url("store", in: folder))
    try Versions.using(Self.versions[3], kind, url) { context in
      _ = Versions.make("Person", ["name": "ann", "code": "A", "note": "kept"], context)
      try context.save()
    }
    #expect(try MigrationPlan(forStoreAt: url, to: program).steps.map(\.isInferred) == [true])
    try Versions.using(program, kind, url, Versions.automatic) { context in
      let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
      #expect(people.map { $0.value(forKey: "remark") as? String } == ["kept"])
    }
  }

  @Test(
    "light and custom stages follow each other, from whichever version a store has", arguments: kinds, 0...4)
  func stages(_ kind: StoreKind, _ first: Int) throws {
    let models: [NSManagedObjectModel] = [
      Self.version(weight: false, code: false), Self.version(code: false),
      Self.version(code: false, ("note", nil)), Self.version(code: false, ("remark", "note")),
      Self.version(("remark", "note")),
    ]
    // A custom stage can't make a value required that is nil: the last version's is optional.
    models[4].entitiesByName["Person"]!.attributesByName["code"]!.isOptional = true
    let folder = try TemporaryFolder()
    let program = try SourceModel.write(models, in: folder)
    let url: URL = try #require(kind.url("store", in: folder))
    try Versions.using(models[first], kind, url) { context in
      _ = Versions.make("Person", ["name": "ann"], context)
      try context.save()
    }
    let log = CallLog()
    func custom(_ from: Int) -> NSCustomMigrationStage {
      let stage = NSCustomMigrationStage(
        migratingFrom: StagedMigrationTests.reference(models[from]),
        to: StagedMigrationTests.reference(models[from + 1]))
      stage.willMigrateHandler = { _, _ in log.lines.append("will \(from)") }
      stage.didMigrateHandler = { manager, _ in
        log.lines.append("did \(from)")
        let context = try #require(manager.container).newBackgroundContext()
        try context.performAndWait {
          for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
            person.setValue("\(person.value(forKey: "name") ?? "") \(from)", forKey: "name")
          }
          try context.save()
        }
      }
      return stage
    }
    func light(_ numbers: Int...) -> NSLightweightMigrationStage {
      NSLightweightMigrationStage(numbers.map { models[$0].versionChecksum })
    }
    let stages: [NSMigrationStage] = [light(0, 1), custom(1), light(2, 3), custom(3)]
    let name: String = try Versions.using(program, kind, url, StagedMigrationTests.options(stages)) {
      context in
      let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
      #expect(people.count == 1)
      return try #require(people.first?.value(forKey: "name") as? String)
    }
    let passed: [Int] = [1, 3].filter { $0 >= first }
    #expect(log.lines == passed.flatMap { ["will \($0)", "did \($0)"] })
    #expect(name == (["ann"] + passed.map { "\($0)" }).joined(separator: " "))
  }

  @Test("the option to postpone work changes nothing: all is done at once, and nothing is left to finish")
  func postponing() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let smaller: NSManagedObjectModel = Versions.first { model in
      model.entitiesByName["Person"]!.properties.removeAll { $0.name == "age" }
    }
    let options: [AnyHashable: Any] = Versions.automatic.merging([
      NSPersistentStoreDeferredLightweightMigrationOptionKey: true
    ]) { $1 }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: smaller)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
    try coordinator.finishDeferredLightweightMigrationTask()
    try coordinator.finishDeferredLightweightMigration()
    try coordinator.remove(store)
    let examined = try NSPersistentStoreCoordinator.examineStore(at: url, model: smaller)
    #expect(examined.problems.isEmpty, "\(examined)")
    #expect(try FileContents(url).columns["ZPERSON"]?.contains("ZAGE") == false)
  }
}
