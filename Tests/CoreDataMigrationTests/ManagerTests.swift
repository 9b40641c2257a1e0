import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Records the calls of all policies of a test.
final class CallLog: @unchecked Sendable {
  static let key: String = "log"
  var lines: [String] = []
}

/// Notes every call, and does the default work.
final class NotingPolicy: NSEntityMigrationPolicy {
  private func note(_ what: String, _ mapping: NSEntityMapping, _ manager: NSMigrationManager) {
    (manager.userInfo?[CallLog.key] as? CallLog)?.lines.append("\(what) \(mapping.name ?? "")")
  }

  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    note("begin", mapping, manager)
    try super.begin(mapping, with: manager)
  }

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    note("create", mapping, manager)
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
  }

  override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    note("endInstances", mapping, manager)
  }

  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    note("relate", mapping, manager)
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
  }

  override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager)
    throws
  {
    note("endRelationships", mapping, manager)
  }

  override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager)
    throws
  {
    note("validate", mapping, manager)
  }

  override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    note("end", mapping, manager)
  }
}

/// Splits a person's name, by functions that the value expressions call.
final class SplittingPolicy: NSEntityMigrationPolicy {
  override class var expressionFunctions: [PolicyFunction] {
    [
      PolicyFunction("firstWordOf:") { (policy: SplittingPolicy, name: String) in policy.words(name).first },
      PolicyFunction("wordOf:at:") { (policy: SplittingPolicy, name: String, place: Int) in
        policy.words(name)[place]
      },
    ]
  }

  private func words(_ name: String) -> [String] { name.split(separator: " ").map(String.init) }
}

/// Fails for one object.
final class FailingPolicy: NSEntityMigrationPolicy {
  struct Failure: Error {}

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    if sInstance.value(forKey: "name") as? String == "person 2" { throw Failure() }
  }
}

/// Makes two animals of each pet, and cancels after some if it is told so.
final class DoublingPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    for number in 1...2 {
      let made = NSEntityDescription.insertNewObject(
        forEntityName: mapping.destinationEntityName!, into: manager.destinationContext)
      made.setValue("\(sInstance.value(forKey: "name") ?? "") #\(number)", forKey: "name")
      manager.associate(sourceInstance: sInstance, withDestinationInstance: made, for: mapping)
    }
    if manager.userInfo?["cancel"] != nil { manager.cancelMigrationWithError(CocoaError(.userCancelled)) }
  }
}

@Suite("A migration manager makes a store of the next version by a mapping model")
struct ManagerTests {
  static let kinds: [StoreKind] = [.sqlite, .xml, .binary]

  /// Person to Person, Pet to Animal, Tag to Tag, written as Xcode writes them.
  static func mappings(_ change: ([NSEntityMapping]) -> Void = { _ in }) -> NSMappingModel {
    func property(_ name: String, _ expression: String) -> NSPropertyMapping {
      let mapping = NSPropertyMapping()
      mapping.name = name
      mapping.valueExpression = CoreData.NSExpression(format: expression)
      return mapping
    }
    func entity(
      _ source: String, _ destination: String, _ attributes: [String: String],
      _ relationships: [String: String]
    ) -> NSEntityMapping {
      let mapping = NSEntityMapping()
      mapping.name = "\(source)To\(destination)"
      mapping.mappingType = .transformEntityMappingType
      mapping.sourceEntityName = source
      mapping.destinationEntityName = destination
      mapping.sourceExpression = CoreData.NSExpression(
        format:
          "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"\(source)\", \"TRUEPREDICATE\"), "
          + "$manager.sourceContext, NO)")
      mapping.attributeMappings = attributes.sorted { $0.key < $1.key }.map { property($0.key, $0.value) }
      mapping.relationshipMappings = relationships.sorted { $0.key < $1.key }.map {
        property($0.key, $0.value)
      }
      return mapping
    }
    func made(_ mapping: String, _ key: String) -> String {
      "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"\(mapping)\", $source.\(key))"
    }
    let model = NSMappingModel()
    let list = [
      entity(
        "Person", "Person", ["fullName": "$source.name", "age": "$source.age", "photo": "$source.photo"],
        ["pets": made("PetToAnimal", "pets"), "tags": made("TagToTag", "tags")]),
      entity("Pet", "Animal", ["name": "$source.name"], ["owner": made("PersonToPerson", "owner")]),
      entity(
        "Tag", "Tag", ["title": "$source.title"],
        [
          "people":
            "FUNCTION($manager, \"destinationInstancesForSourceRelationshipNamed:sourceInstances:\", \"people\", $source.people)"
        ]),
    ]
    change(list)
    model.entityMappings = list
    return model
  }

  static func migrate(
    _ kind: StoreKind, _ url: URL, _ folder: TemporaryFolder, by mapping: NSMappingModel = mappings(),
    userInfo: [AnyHashable: Any] = [:], to second: NSManagedObjectModel = Versions.second()
  ) throws -> URL {
    let target: URL = folder.file("new.\(kind.rawValue)")
    let manager = NSMigrationManager(sourceModel: Versions.first(), destinationModel: second)
    manager.userInfo = userInfo
    try manager.migrateStore(
      from: url, sourceType: kind.type, with: mapping, toDestinationURL: target, destinationType: kind.type)
    #expect(manager.migrationProgress == 1)
    return target
  }

  @Test("objects, orders and members arrive, however many there are", arguments: kinds, [0, 1, 9, 1203])
  func everything(_ kind: StoreKind, _ count: Int) throws {
    let folder = try TemporaryFolder()
    // Files of their own where there are few: many make an XML document of 160 MB.
    let url: URL = try Versions.makeStore(
      kind, in: folder, people: count, photoSize: count > 100 ? 1_000 : 200_000)
    let before: [String] = try Versions.using(Versions.first(), kind, url) { try Versions.people($0) }
    let target: URL = try Self.migrate(kind, url, folder)
    try Versions.using(Versions.second(), kind, target) { context in
      #expect(try Versions.people(context, name: "fullName") == before)
      for animal in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Animal")) {
        #expect(animal.value(forKey: "owner") != nil)
      }
    }
    #expect(try Versions.using(Versions.first(), kind, url) { try Versions.people($0) } == before)
  }

  @Test("a policy is called for each pass in Apple's order")
  func order() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder, people: 2)
    let log = CallLog()
    let mapping = Self.mappings { list in
      for entity in list { entity.entityMigrationPolicyClassName = NSStringFromClass(NotingPolicy.self) }
    }
    _ = try Self.migrate(.sqlite, url, folder, by: mapping, userInfo: [CallLog.key: log])
    let person = "PersonToPerson"
    let pet = "PetToAnimal"
    let tag = "TagToTag"
    var expected: [String] = [
      "begin \(person)", "create \(person)", "create \(person)", "endInstances \(person)",
    ]
    expected += ["begin \(pet)", "create \(pet)", "endInstances \(pet)"]
    expected += ["begin \(tag)", "create \(tag)", "create \(tag)", "create \(tag)", "endInstances \(tag)"]
    expected += ["relate \(person)", "relate \(person)", "endRelationships \(person)"]
    expected += ["relate \(pet)", "endRelationships \(pet)"]
    expected += ["relate \(tag)", "relate \(tag)", "relate \(tag)", "endRelationships \(tag)"]
    for name in [person, pet, tag] { expected += ["validate \(name)", "end \(name)"] }
    #expect(log.lines == expected)
  }

  @Test("value expressions call functions of the policy, with their types checked")
  func functions() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder, people: 3)
    func mapping(_ expression: String) -> NSMappingModel {
      Self.mappings { list in
        list[0].entityMigrationPolicyClassName = "Elsewhere.SplittingPolicy"
        list[0].attributeMappings!.first { $0.name == "fullName" }!.valueExpression =
          CoreData.NSExpression(format: expression)
      }
    }
    let good = mapping("FUNCTION($entityPolicy, \"wordOf:at:\", $source.name, 1)")
    let target: URL = try Self.migrate(.sqlite, url, folder, by: good)
    try Versions.using(Versions.second(), .sqlite, target) { context in
      let names = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).compactMap {
        $0.value(forKey: "fullName") as? String
      }
      #expect(names.sorted() == ["0", "1", "2"])
    }
    try FileManager.default.removeItem(at: target)
    let wrong = errorThrown {
      _ = try Self.migrate(
        .sqlite, url, folder, by: mapping("FUNCTION($entityPolicy, \"firstWordOf:\", $source.age)"))
    }
    #expect(wrong?.code == NSEntityMigrationPolicyError)
    #expect(wrong?.localizedDescription.contains("firstWordOf:") == true)
    #expect(wrong?.localizedDescription.contains("String") == true)
    #expect(!FileManager.default.fileExists(atPath: target.path))
  }

  @Test("several objects may be made from one, and are found again")
  func several() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder, people: 4)
    let mapping = Self.mappings {
      $0[1].entityMigrationPolicyClassName = NSStringFromClass(DoublingPolicy.self)
    }
    let target: URL = try Self.migrate(.sqlite, url, folder, by: mapping)
    try Versions.using(Versions.second(), .sqlite, target) { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.predicate = NSPredicate(format: "fullName == 'person 3'")
      let pets = try context.fetch(request)[0].mutableOrderedSetValue(forKey: "pets").array.map {
        ($0 as! NSManagedObject).value(forKey: "name") as! String
      }
      #expect(pets == ["pet 3.3 #1", "pet 3.3 #2", "pet 3.2 #1", "pet 3.2 #2", "pet 3.1 #1", "pet 3.1 #2"])
    }
  }

  struct Failing: Sendable, CustomTestStringConvertible {
    let name: String
    let code: Int
    let words: [String]
    let change: @Sendable ([NSEntityMapping]) -> Void
    var testDescription: String { name }
  }

  static let failing: [Failing] = [
    Failing(name: "a policy that throws", code: 1, words: []) {
      $0[0].entityMigrationPolicyClassName = NSStringFromClass(FailingPolicy.self)
    },
    Failing(
      name: "a policy that does not exist", code: NSEntityMigrationPolicyError,
      words: ["Shop.NoPolicy", "PersonToPerson"]
    ) { $0[0].entityMigrationPolicyClassName = "Shop.NoPolicy" },
    Failing(
      name: "a source entity that does not exist", code: NSMigrationError, words: ["Persons", "Person"]
    ) {
      $0[0].sourceEntityName = "Persons"
    },
    Failing(name: "a property that does not exist", code: NSMigrationError, words: ["nmae", "name"]) {
      $0[1].attributeMappings![0].name = "nmae"
    },
    Failing(name: "a key path that does not exist", code: NSMigrationError, words: ["Person", "nome"]) {
      $0[0].attributeMappings![1].valueExpression = CoreData.NSExpression(format: "$source.nome")
    },
    Failing(
      name: "a value of another type", code: NSMigrationError,
      words: ["PersonToPerson", "Person/p", "Person.fullName takes a value of type String"]
    ) {
      $0[0].attributeMappings!.first { $0.name == "fullName" }!.valueExpression = CoreData.NSExpression(
        format: "$source.age")
    },
    Failing(name: "objects of another mapping", code: NSMigrationError, words: ["owner", "Person"]) {
      $0[1].relationshipMappings![0].valueExpression = CoreData.NSExpression(
        format:
          "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"PetToAnimal\", $source)"
      )
    },
    Failing(
      name: "a required attribute without a value", code: NSValidationMultipleErrorsError, words: ["fullName"]
    ) {
      $0[0].attributeMappings!.removeAll { $0.name == "fullName" }
    },
    Failing(name: "an unknown function", code: NSMigrationError, words: ["secondWordOf:"]) {
      $0[0].attributeMappings![1].valueExpression = CoreData.NSExpression(
        format: "FUNCTION($entityPolicy, \"secondWordOf:\", $source.name)")
    },
  ]

  @Test("what fails is named, the source stays, and nothing is left at the destination", arguments: failing)
  func failures(_ failing: Failing) throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder, people: 5)
    let bytes: Data = try Data(contentsOf: url)
    let files: [String] = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    let error = errorThrown { _ = try Self.migrate(.sqlite, url, folder, by: Self.mappings(failing.change)) }
    #expect(error?.code == failing.code, "\(String(describing: error))")
    for word in failing.words {
      #expect(
        error?.localizedDescription.contains(word) == true, "\(error?.localizedDescription ?? "no error")")
    }
    #expect(try Data(contentsOf: url) == bytes)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == files)
  }

  @Test("a cancelled migration throws the given error and leaves nothing")
  func cancelled() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder, people: 5)
    let mapping = Self.mappings {
      $0[1].entityMigrationPolicyClassName = NSStringFromClass(DoublingPolicy.self)
    }
    let error = errorThrown {
      _ = try Self.migrate(.sqlite, url, folder, by: mapping, userInfo: ["cancel": true])
    }
    #expect(error?.code == CocoaError.Code.userCancelled.rawValue)
    #expect(!FileManager.default.fileExists(atPath: folder.file("new.sqlite").path))
  }

  @Test("a destination that exists is not touched")
  func taken() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let target: URL = folder.file("new.sqlite")
    try Data("something".utf8).write(to: target)
    let error = errorThrown { _ = try Self.migrate(.sqlite, url, folder) }
    #expect(error?.code == NSMigrationManagerDestinationStoreError)
    #expect(try Data(contentsOf: target) == Data("something".utf8))
  }

  @Test("duplicates of a new uniqueness constraint have Apple's code")
  func duplicates() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder, people: 3)
    let second = Versions.second()
    second.entitiesByName["Animal"]!.uniquenessConstraints = [["name"]]
    let mapping = Self.mappings {
      $0[1].attributeMappings![0].valueExpression = CoreData.NSExpression(forConstantValue: "the same")
    }
    let error = errorThrown { _ = try Self.migrate(.sqlite, url, folder, by: mapping, to: second) }
    #expect(error?.code == NSMigrationConstraintViolationError, "\(String(describing: error))")
    #expect(error?.localizedDescription.contains("Animal") == true)
  }

  @Test("values that no store has, required ones too, are not asked of the objects that were copied")
  func requiredTransient() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder, people: 3)
    let second: NSManagedObjectModel = Versions.second()
    let isShown = NSAttributeDescription()
    (isShown.name, isShown.attributeType, isShown.defaultValue) = ("isShown", .booleanAttributeType, true)
    (isShown.isTransient, isShown.isOptional) = (true, false)
    second.entitiesByName["Person"]?.properties.append(isShown)
    let target: URL = try Self.migrate(.sqlite, url, folder, to: second)
    let count: Int = try Versions.using(second, .sqlite, target) {
      try Versions.people($0, name: "fullName").count
    }
    #expect(count == 3)
  }

  @Test("stores migrate from one kind to another")
  func otherKind() throws {
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.xml, in: folder, people: 7)
    let before: [String] = try Versions.using(Versions.first(), .xml, url) { try Versions.people($0) }
    let manager = NSMigrationManager(sourceModel: Versions.first(), destinationModel: Versions.second())
    try manager.migrateStore(
      from: url, type: .xml, mapping: Self.mappings(), to: folder.file("new.sqlite"), type: .sqlite)
    let after: [String] = try Versions.using(Versions.second(), .sqlite, folder.file("new.sqlite")) {
      try Versions.people($0, name: "fullName")
    }
    #expect(after == before)
  }
}
