import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

@Suite("A migration plan says what will be done, changes nothing, and runs")
struct PlanTests {
  static let kinds: [StoreKind] = [.sqlite, .xml]

  @Test(
    "the plan names entities with their objects, new, renamed and dropped properties, and what is lost",
    arguments: kinds)
  func text(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let second = Versions.first { model in
      let person: NSEntityDescription = model.entitiesByName["Person"]!
      person.attributesByName["name"]!.renamingIdentifier = "name"
      person.attributesByName["name"]!.name = "fullName"
      person.properties.removeAll { $0.name == "age" }
      person.properties.append(World.attribute("note", .stringAttributeType))
      model.entities.removeAll { $0.name == "Tag" }
      person.properties.removeAll { $0.name == "tags" }
    }
    let program = try SourceModel.write([Versions.first(), second], in: folder)
    let url: URL = try Versions.makeStore(kind, in: folder, people: 5)
    let bytes: Data = try Data(contentsOf: url)
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(plan.isNeeded)
    let text: String = plan.description
    for words in [
      "Person, 5 objects", "fullName from name", "note is new", "age is dropped", "removed Tag, 3 objects",
    ] {
      #expect(text.contains(words), "\(text)")
    }
    #expect(plan.losses.sorted() == ["3 objects of Tag", "Person.age", "Person.tags"])
    #expect(try Data(contentsOf: url) == bytes)
    let original: URL = folder.file("before.\(kind.rawValue)")
    var calls: Int = 0
    try plan.run(verifies: true, keepingOriginalAt: original) { done, total in
      calls += 1
      #expect(done <= total)
    }
    #expect(calls > 0)
    let people = try Versions.using(program, kind, url) {
      try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Person"))
    }
    #expect(people == 5)
    #expect(try Versions.using(Versions.first(), kind, original) { try Versions.people($0).count } == 5)
    let again = try MigrationPlan(forStoreAt: url, to: program)
    #expect(!again.isNeeded)
  }

  @Test("a mapping model that was found beside the model is named by its file")
  func mappingFile() throws {
    let folder = try TemporaryFolder()
    let noted = Versions.first { model in
      model.entitiesByName["Person"]!.properties.append(World.attribute("note", .stringAttributeType))
    }
    let program = try SourceModel.write([Versions.first(), noted], in: folder)
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let inferred = try MigrationPlan(forStoreAt: url, to: program)
    #expect(inferred.steps[0].mappingFile == nil)
    #expect(inferred.description.contains(", by an inferred mapping model\n"))
    let whole: NSMappingModel = try .inferredMappingModel(
      forSourceModel: Versions.first(), destinationModel: program)
    let given = try MigrationPlan(forStoreAt: url, to: program, mapping: whole)
    #expect(given.steps[0].mappingFile == nil)
    #expect(given.description.contains(", by a mapping model\n"))
    try whole.archivedData().write(to: folder.file("Whole.cdm"))
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(plan.steps[0].mappingFile?.lastPathComponent == "Whole.cdm")
    #expect(plan.description.contains(", by the mapping model \(folder.file("Whole.cdm").path)\n"), "\(plan)")
  }

  @Test("of several mapping models beside the model the one is taken that leaves out the fewest entities")
  func wholeMapping() throws {
    let folder = try TemporaryFolder()
    let noted = Versions.first { model in
      model.entitiesByName["Person"]!.properties.append(World.attribute("note", .stringAttributeType))
    }
    let program = try SourceModel.write([Versions.first(), noted], in: folder)
    let whole: NSMappingModel = try .inferredMappingModel(
      forSourceModel: Versions.first(), destinationModel: program)
    let part: NSMappingModel = try .inferredMappingModel(
      forSourceModel: Versions.first(), destinationModel: program)
    part.entityMappings = part.entityMappings.filter { $0.sourceEntityName == "Tag" }
    try part.archivedData().write(to: folder.file("A.cdm"))
    try whole.archivedData().write(to: folder.file("B.cdm"))
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(!plan.steps[0].isInferred)
    #expect(plan.losses == [])
    try plan.run()
    #expect(try Versions.using(program, .sqlite, url) { try Versions.people($0).count } == 3)
  }

  @Test("what no object has is not lost, and the way back is open", arguments: kinds)
  func nothingLost(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let second: NSManagedObjectModel = Versions.first { model in
      let person: NSEntityDescription = model.entitiesByName["Person"]!
      person.properties.removeAll { ["age", "photo", "tags"].contains($0.name) }
      model.entitiesByName["Pet"]!.properties.removeAll { $0.name == "name" }
      model.entities.removeAll { $0.name == "Tag" }
    }
    let program = try SourceModel.write([Versions.first(), second], in: folder)
    let url: URL = try #require(kind.url("store", in: folder))
    try Versions.using(Versions.first(), kind, url) { context in
      _ = Versions.make("Person", ["name": "one"], context)
      try context.save()
    }
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(plan.losses == [])
    #expect(plan.obstaclesToReturn == [])
    #expect(plan.description.contains("age is dropped"))
    try Versions.using(Versions.first(), kind, url) { context in
      let person = try #require(
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first)
      person.setValue(7, forKey: "age")
      person.setValue(NSSet(object: Versions.make("Tag", ["title": "tag"], context)), forKey: "tags")
      try context.save()
    }
    let later = try MigrationPlan(forStoreAt: url, to: program)
    #expect(later.losses.sorted() == ["1 objects of Tag", "Person.age", "Person.tags"])
    #expect(later.obstaclesToReturn.count == 3)
  }

  @Test("a copy that can't read the file of a value is told before, and a migration in place keeps it")
  func missingFile() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder, people: 2)
    let values: URL = folder.file(".store_SUPPORT/_EXTERNAL_DATA")
    let names: [String] = try FileManager.default.contentsOfDirectory(atPath: values.path)
    #expect(names.count == 1)
    for name in names { try FileManager.default.removeItem(at: values.appendingPathComponent(name)) }
    let second: NSManagedObjectModel = Versions.first { model in
      model.entitiesByName["Person"]!.properties.append(World.attribute("note", .stringAttributeType))
    }
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: Versions.first(), destinationModel: second)
    let copy = try MigrationPlan(forStoreAt: url, to: second, mapping: mapping)
    #expect(copy.steps[0].problems.count == 1)
    #expect(copy.steps[0].problems.first?.hasPrefix("1 object(s): Person.photo") == true, "\(copy)")
    #expect(errorThrown { try copy.run() } != nil)
    let inPlace = try MigrationPlan(forStoreAt: url, to: second)
    #expect(inPlace.steps[0].problems == [])
    try inPlace.run()
  }

  @Test("an error of the progress ends the migration, and the store is as it was", arguments: kinds)
  func interrupted(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([Versions.first(), Versions.second()], in: folder)
    let url: URL = try Versions.makeStore(kind, in: folder, people: 700, photoSize: 2000)
    let bytes: Data = try Data(contentsOf: url)
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect((plan.steps[0].statements != nil) == (kind == .sqlite))
    let error = errorThrown {
      try plan.run { done, total in if done * 2 > total { throw CocoaError(.userCancelled) } }
    }
    #expect(error?.code == CocoaError.Code.userCancelled.rawValue)
    #expect(try Data(contentsOf: url) == bytes)
    let people: [String] = try Versions.using(Versions.first(), kind, url) { try Versions.people($0) }
    #expect(people.count == 700)
  }

  @Test(
    "a store that is kept locked is named with what to do; the copy of the original is removed",
    arguments: [true, false])
  func locked(_ isInPlace: Bool) throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let second: NSManagedObjectModel = Versions.first { model in
      model.entitiesByName["Person"]!.properties.append(World.attribute("note", .stringAttributeType))
    }
    let mapping: NSMappingModel? =
      try isInPlace
      ? nil : .inferredMappingModel(forSourceModel: Versions.first(), destinationModel: second)
    let plan = try MigrationPlan(
      forStoreAt: url, to: second, mapping: mapping, options: [NSPersistentStoreTimeoutOption: 0.05])
    let other = try DatabaseQueue(path: url.path)
    let error = try other.writeWithoutTransaction { database in
      try database.execute(sql: "BEGIN IMMEDIATE")
      defer { try? database.execute(sql: "ROLLBACK") }
      return errorThrown { try plan.run(keepingOriginalAt: folder.file("original.sqlite")) }
    }
    try other.close()
    #expect(
      error?.localizedDescription
        == "The store \(url.path) can't be migrated: Another process or connection has kept it locked for the whole waiting "
        + "time. End that process, or let it finish, and migrate again. The store is as that process has it.")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == [
        ".store_SUPPORT", "store.sqlite",
      ])
    try plan.run()
  }
}
