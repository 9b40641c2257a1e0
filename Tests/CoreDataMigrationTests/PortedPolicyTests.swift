import CoreData
import Foundation
import StackSupport
import Synchronization
import TestSupport
import Testing

/// Finds or makes a group among the context's objects, without a fetch, as many published policies do.
final class GroupingPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let person = manager.destinationInstances(
      forEntityMappingName: mapping.name, sourceInstances: [sInstance])[0]
    let age = (sInstance.value(forKey: "age") as? Int ?? 0) % 3
    group("group \(age)", manager.destinationContext).mutableSetValue(forKey: "people").add(person)
  }

  private func group(_ title: String, _ context: NSManagedObjectContext) -> NSManagedObject {
    for object in context.registeredObjects where !object.isFault && object.entity.name == "Tag" {
      if object.value(forKey: "title") as? String == title { return object }
    }
    let group = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
    group.setValue(title, forKey: "title")
    return group
  }
}

/// Changes its mapping, once or for each object, and lets the default policy do the work.
final class ChangingPolicy: NSEntityMigrationPolicy {
  private static func set(_ property: String, to text: String, in mapping: NSEntityMapping) {
    mapping.attributeMappings?.first { $0.name == property }?.valueExpression =
      NSExpression(forConstantValue: text)
  }

  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    Self.set("title", to: "begun", in: mapping)
  }

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    Self.set("note", to: "of \(sInstance.value(forKey: "name") ?? "")", in: mapping)
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
  }
}

/// A manager with a function for the source expressions of its mappings.
final class ChoosingManager: NSMigrationManager, @unchecked Sendable {
  override class var expressionFunctions: [PolicyFunction] {
    [
      PolicyFunction("objectsOf:where:") { (manager: ChoosingManager, name: String, condition: String) in
        manager.request(name, condition)
      }
    ]
  }

  private func request(_ name: String, _ condition: String) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: name)
    request.predicate = NSPredicate(format: condition)
    return request
  }
}

@Suite("Policies and managers of programs that were written for Apple's framework")
struct PortedPolicyTests {
  @Test("a policy finds what it has made among the registered objects, however many pages ago")
  func registeredObjects() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    try Versions.using(Versions.first(), .sqlite, url) { context in
      for number in 0..<1203 {
        _ = Versions.make("Person", ["name": "person \(number)", "age": number], context)
      }
      try context.save()
    }
    let mapping = ManagerTests.mappings { list in
      list[0].entityMigrationPolicyClassName = NSStringFromClass(GroupingPolicy.self)
      list[0].relationshipMappings = nil
    }
    let target: URL = try ManagerTests.migrate(.sqlite, url, folder, by: mapping)
    let groups: [String] = try Versions.using(Versions.second(), .sqlite, target) { context in
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).map {
        "\($0.value(forKey: "title") ?? "") \($0.mutableSetValue(forKey: "people").count)"
      }
    }
    #expect(groups.sorted() == ["group 0 401", "group 1 401", "group 2 401"])
  }

  // Finding: the expressions were taken before the policy ran, and the values were lost silently.
  @Test("a policy may change the expressions of its mapping", arguments: [StoreKind.sqlite, .xml])
  func changedMapping(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(kind, in: folder)
    let second = Versions.first {
      $0.entitiesByName["Person"]?.properties += ["note", "title"].map {
        World.attribute($0, .stringAttributeType)
      }
    }
    let program = try SourceModel.write([Versions.first(), second], in: folder)
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: Versions.first(), destinationModel: program)
    let person = try #require(mapping.entityMappings?.first { $0.destinationEntityName == "Person" })
    person.entityMigrationPolicyClassName = NSStringFromClass(ChangingPolicy.self)
    try MigrationPlan(forStoreAt: url, to: program, mapping: mapping).run()
    let texts: [String] = try Versions.using(program, kind, url) { context in
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map {
        "\($0.value(forKey: "title") ?? "nil") \($0.value(forKey: "note") ?? "nil")"
      }.sorted()
    }
    #expect(texts == ["begun of person 0", "begun of person 1", "begun of person 2"])
  }

  @Test("the progress of a manager can be observed")
  func progress() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder, people: 5)
    let manager = NSMigrationManager(sourceModel: Versions.first(), destinationModel: Versions.second())
    let seen = Mutex<[(old: Float?, new: Float?)]>([])
    let observation = manager.observe(\.migrationProgress, options: [.old, .new, .initial]) { _, change in
      seen.withLock { $0.append((change.oldValue, change.newValue)) }
    }
    let ended = manager.observe(\.migrationProgress) { _, _ in Issue.record("The observation has ended.") }
    ended.invalidate()
    try manager.migrateStore(
      from: url, type: .sqlite, mapping: ManagerTests.mappings(), to: folder.file("new.sqlite"), type: .sqlite
    )
    observation.invalidate()
    let values = seen.withLock { $0 }
    #expect(values.first?.old == nil && values.first?.new == 0)
    #expect(values.last?.new == 1)
    #expect(values.count > 3)
    for (before, after) in zip(values, values.dropFirst()) {
      #expect(after.old == before.new)
      #expect(after.new ?? 0 > before.new ?? 0)
    }
  }

  private func mapping(_ source: String) -> NSMappingModel {
    ManagerTests.mappings { list in
      list[2].sourceExpression = CoreData.NSExpression(
        format: "FETCH(\(source), $manager.sourceContext, NO)")
      list[0].relationshipMappings?.removeAll { $0.name == "tags" }
      list[2].relationshipMappings = nil
    }
  }

  @Test("expressions call the functions of a manager's subclass")
  func managerFunctions() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder, people: 5)
    let manager = ChoosingManager(sourceModel: Versions.first(), destinationModel: Versions.second())
    let call = "FUNCTION($manager, \"objectsOf:where:\", \"Tag\", \"title != 'tag 1'\")"
    try manager.migrateStore(
      from: url, type: .sqlite, mapping: mapping(call), to: folder.file("new.sqlite"), type: .sqlite)
    let titles = try Versions.using(Versions.second(), .sqlite, folder.file("new.sqlite")) { context in
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).compactMap {
        $0.value(forKey: "title") as? String
      }
    }
    #expect(titles.sorted() == ["tag 0", "tag 2"])
  }

  @Test(
    "a function that is not listed is an error that says where to list it",
    arguments: [
      ("$manager", "subclass of NSMigrationManager"), ("$entityPolicy", "NSEntityMigrationPolicy"),
    ])
  func missingFunction(_ receiver: String, _ word: String) throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder, people: 5)
    let manager = NSMigrationManager(sourceModel: Versions.first(), destinationModel: Versions.second())
    let error = errorThrown {
      try manager.migrateStore(
        from: url, type: .sqlite, mapping: mapping("FUNCTION(\(receiver), \"some:\", \"Tag\")"),
        to: folder.file("new.sqlite"), type: .sqlite)
    }
    for word in ["TagToTag", "some:", "expressionFunctions", word] {
      #expect(error?.localizedDescription.contains(word) == true, "\(error?.localizedDescription ?? "none")")
    }
  }
}
