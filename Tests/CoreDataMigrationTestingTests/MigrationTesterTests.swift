import CoreData
import Testing

@testable import CoreDataMigrationTesting

@Suite struct MigrationTesterTests {
  @Test(arguments: [NSPersistentStore.StoreType.sqlite, .xml, .binary])
  func `everything that a model can have is filled, migrated and compared`(
    type: NSPersistentStore.StoreType
  ) throws {
    var tester = MigrationTester(
      from: ModelParts.everything(isSecond: false, hasComposite: type == .sqlite),
      to: ModelParts.everything(isSecond: true, hasComposite: type == .sqlite))
    tester.storeTypes = [type]
    tester.work = .both
    var names: Set<String> = []
    tester.examine = { context, version in
      let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Human"))
      names.formUnion(all.compactMap { $0.value(forKey: "name") as? String })
      #expect(version.name == "Two")
      #expect(all.allSatisfy { $0.value(forKey: "rank") as? Int == 7 })
    }
    let report: MigrationTestReport = try tester.run()
    #expect(report.failures == [], "\(report)")
    #expect(report.unfilled == [], "\(report)")
    #expect(report.steps.map(\.outcome) == (type == .sqlite ? [.migratedInPlace, .copied] : [.copied]))
    for step in report.steps {
      #expect(step.entities == 5)
      #expect(step.objects >= 25 && step.objectsCompared == step.objects, "\(step)")
      #expect(step.valuesCompared >= 200 && step.linksCompared > 60, "\(step)")
      #expect(step.losses == ["Person.nick", "Student.nick"])
      #expect(step.notCompared == [])
    }
    #expect(names.count >= 10)
  }

  @Test func `the same seed gives the same objects, and another one others`() throws {
    func contents(seed: UInt64) throws -> Set<String> {
      var tester = MigrationTester(
        from: ModelParts.everything(isSecond: false), to: ModelParts.everything(isSecond: true))
      tester.seed = seed
      var found: Set<String> = []
      tester.customize = { object in
        let attributes = object.entity.attributesByName.keys.sorted()
        found.insert(
          attributes.map { name in
            CanonicalValue.text(
              object.value(forKey: name), as: object.entity.attributesByName[name]!.attributeType)
          }.joined(separator: "|"))
      }
      _ = try tester.run()
      return found
    }
    let first: Set<String> = try contents(seed: 3)
    #expect(try contents(seed: 3) == first)
    #expect(try contents(seed: 4) != first)
  }

  /// What goes wrong in a migration, and what the comparison says of it.
  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let message: String
    let change: @Sendable (inout StoreSnapshot) -> Void

    init(_ name: String, _ message: String, _ change: @escaping @Sendable (inout StoreSnapshot) -> Void) {
      (testDescription, self.message, self.change) = (name, message, change)
    }

    static func place(_ snapshot: StoreSnapshot, _ entity: String, where body: (StoreSnapshot.Node) -> Bool)
      -> Int
    {
      snapshot.nodes.firstIndex { $0.entity == entity && body($0) } ?? 0
    }
  }

  static let faults: [Fault] = [
    Fault("a value is another", ".name, made of Person/") {
      $0.nodes[Fault.place($0, "Human") { _ in true }].values["name"] = "other"
    },
    Fault("a value is gone", ".picture, made of Person/") {
      $0.nodes[Fault.place($0, "Human") { $0.values["picture"] != nil }].values["picture"] = nil
    },
    Fault("an element of a composite is gone", ".address.street, made of ") {
      $0.nodes[Fault.place($0, "Human") { $0.values["address.street"] != nil }].values["address.street"] = nil
    },
    Fault("a default is missing", ".rank, made of ") {
      $0.nodes[Fault.place($0, "Student") { _ in true }].values["rank"] = nil
    },
    Fault("an object is gone", "Lock has ") { snapshot in
      let place: Int = Fault.place(snapshot, "Lock") { _ in true }
      for node in snapshot.nodes.indices {
        for (name, members) in snapshot.nodes[node].links {
          snapshot.nodes[node].links[name] = members.filter { $0 != place }
        }
      }
      // The last place, so that the others stay.
      snapshot.nodes[place] = StoreSnapshot.Node(entity: "Gone", name: "Gone/p1")
    },
    Fault("an object is there twice", "Tag has ") {
      $0.nodes.append(StoreSnapshot.Node(entity: "Tag", name: "Tag/p99", values: ["text": "x"]))
    },
    Fault("a to-one relationship leads elsewhere", ".home, made of ") { snapshot in
      let place: Int = Fault.place(snapshot, "Human") { !($0.links["home"] ?? []).isEmpty }
      let home: [Int]? = snapshot.nodes[place].links["home"]
      let other: Int =
        snapshot.nodes.indices.first {
          snapshot.nodes[$0].entity == "House" && [$0] != home
        } ?? 0
      snapshot.nodes[place].links["home"] = [other]
    },
    Fault("a member of a to-many relationship is gone", ".tags, made of ") {
      $0.nodes[Fault.place($0, "Human") { !($0.links["tags"] ?? []).isEmpty }].links["tags"]?.removeLast()
    },
    Fault("members have another order", ".people, made of House/") {
      $0.nodes[Fault.place($0, "House") { ($0.links["people"] ?? []).count > 1 }].links["people"]?.reverse()
    },
  ]

  @Test(arguments: faults)
  func `what a migration does wrong is found, and named`(fault: Fault) throws {
    let (old, new) = (ModelParts.everything(isSecond: false), ModelParts.everything(isSecond: true))
    let version = MigrationTester.Version("One", old)
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite")
    defer {
      try? NSPersistentStoreCoordinator(managedObjectModel: old).destroyPersistentStore(
        at: url, type: .sqlite)
    }
    let stack = try TestStack(old, url, .sqlite)
    try stack.context.performAndWait {
      var generator = ObjectGenerator(
        version, ModelDemands(of: old, in: [new]), stack.context, count: 5, random: SeededNumbers(seed: 1))
      _ = try generator.run { _ in }
    }
    stack.end()
    let before = try StoreSnapshot.read(url, old, .sqlite, [:])
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    let outline = MappingOutline(mapping, from: old, to: new)
    var after: StoreSnapshot = outline.expected(before)
    #expect(SnapshotComparison(expected: outline.expected(before), found: after, outline).differences == [])
    fault.change(&after)
    let found = SnapshotComparison(expected: outline.expected(before), found: after, outline).differences
    #expect(found.contains { $0.contains(fault.message) }, "\(found)")
    #expect(found.count <= 4, "\(found)")
  }

  /// A store of the first one can't become one of the others by inference.
  private static func refusing() -> MigrationTester {
    let types: [NSAttributeType] = [.stringAttributeType, .integer32AttributeType, .integer64AttributeType]
    return MigrationTester(
      versions: types.enumerated().map { number, type in
        .init(
          "V\(number)",
          ModelParts.model([ModelParts.entity("A", [ModelParts.attribute("a", type)])], version: ""))
      })
  }

  @Test func `a version that can't be migrated is a failure that names the cures`() throws {
    let tester: MigrationTester = Self.refusing()
    let report: MigrationTestReport = try tester.run()
    #expect(report.steps.count == 5)
    #expect(report.failures.count == 3, "\(report)")
    #expect(report.failures.prefix(2).allSatisfy { $0.hasPrefix("V0 → V1, SQLite: A.a is ") })
    let last: String = report.failures.last ?? ""
    #expect(last.hasPrefix("V0 → V2, SQLite: A store of V0 can't be opened with V2, because "), "\(last)")
    for cure in ["A.a is ", "mapping model from V0 to V2", "clarus model squash", "stages", "unsupported"] {
      #expect(last.contains(cure), "\(last)")
    }
    guard case .refused = report.steps.last?.outcome else { return #expect(Bool(false), "\(report)") }
    #expect(report.steps[3].outcome == .migratedInPlace, "the rest of the way is tested nevertheless")
    #expect("\(report)".contains("V1 → V2 | SQLite | in place | 5 objects of 1 entities, 5 found"))
  }

  @Test func `a version between that can't be migrated is a failure, without a store of it`() throws {
    var tester: MigrationTester = Self.refusing()
    tester.versions.insert(.init("V-1", tester.versions[1].model), at: 0)
    tester.routes = .atOnce
    let report: MigrationTestReport = try tester.run()
    #expect(report.steps.map(\.source) == ["V-1", "V0"], "\(report)")
    #expect(report.failures.count == 1 && report.failures[0].hasPrefix("V0 → V2, "), "\(report)")
  }

  @Test func `a version that is no longer supported may be refused`() throws {
    var tester: MigrationTester = Self.refusing()
    tester.unsupported = ["V0"]
    let report: MigrationTestReport = try tester.run()
    #expect(report.failures == [], "\(report)")
    #expect(report.steps.filter(\.isUnsupported).count == 3, "\(report)")
    tester.unsupported = ["V1"]
    #expect(try tester.run().failures.count == 3)
    tester.unsupported = ["V7"]
    #expect(throws: MigrationTestError.self) { try tester.run() }
  }

  @Test func `a chain with a mapping model of the program leads to the newest version`() throws {
    var tester: MigrationTester = Self.refusing()
    let old: NSManagedObjectModel = tester.versions[0].model
    let copy = NSEntityMapping()
    copy.name = "A"
    copy.mappingType = .customEntityMappingType
    copy.sourceEntityName = "A"
    copy.destinationEntityName = "A"
    copy.sourceEntityVersionHash = old.entityVersionHashesByName["A"]
    copy.destinationEntityVersionHash = tester.versions[1].model.entityVersionHashesByName["A"]
    copy.sourceExpression = NSExpression(
      format: "FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'A', "
        + "'TRUEPREDICATE'), FUNCTION($manager, 'sourceContext'), NO)")
    let value = NSPropertyMapping()
    value.name = "a"
    value.valueExpression = NSExpression(forConstantValue: 4)
    copy.attributeMappings = [value]
    let mapping = NSMappingModel()
    mapping.entityMappings = [copy]
    tester.mapping = { source, destination in
      source.name == "V0" && destination.name == "V1" ? mapping : nil
    }
    tester.routes = .atOnce
    let report: MigrationTestReport = try tester.run()
    #expect(report.failures == [], "\(report)")
    #expect(report.steps.map(\.destination) == ["V1", "V2"], "\(report)")
  }

  @Test func `a property that can't be filled is named, and customize fills it`() throws {
    func tester(isOptional: Bool) -> MigrationTester {
      func model(_ version: String) -> NSManagedObjectModel {
        ModelParts.model(
          [
            ModelParts.entity(
              "A",
              [
                ModelParts.attribute(
                  "a", isOptional: isOptional, valid: "SELF BEGINSWITH 'x' AND SELF ENDSWITH 'y'"),
                ModelParts.attribute(version == "2" ? "c" : "b"),
              ])
          ], version: version)
      }
      return MigrationTester(from: model("1"), to: model("2"))
    }
    let unfilled = "1: A.a: no value was found that satisfies SELF BEGINSWITH"
    let report: MigrationTestReport = try tester(isOptional: true).run()
    #expect(report.failures == [])
    #expect(report.unfilled.count == 1 && report.unfilled[0].hasPrefix(unfilled), "\(report.unfilled)")
    #expect(throws: MigrationTestError.self) { try tester(isOptional: false).run() }
    var filled: MigrationTester = tester(isOptional: false)
    filled.customize = { $0.setValue("x and y", forKey: "a") }
    #expect(try filled.run().failures == [])
  }

  @Test func `what a policy makes is not compared, and can be examined`() throws {
    func model(_ names: [String]) -> NSManagedObjectModel {
      ModelParts.model(
        ["A", "B"].map { ModelParts.entity($0, names.map { ModelParts.attribute($0) }) }, version: "")
    }
    let (old, new) = (model(["a"]), model(["a", "b"]))
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    let first = try #require(mapping.entityMappingsByName["IEM_Transform_A"])
    first.entityMigrationPolicyClassName = NSStringFromClass(NamingPolicy.self)
    let second = try #require(mapping.entityMappingsByName["IEM_Transform_B"])
    second.attributeMappings?.first { $0.name == "b" }?.valueExpression = NSExpression(
      format: "uppercase:($source.a)")
    var tester = MigrationTester(from: old, to: new, mapping: mapping)
    var names: [String] = []
    tester.examine = { context, _ in
      names = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "A")).map {
        "\($0.value(forKey: "b") ?? "nil")"
      }
    }
    let report: MigrationTestReport = try tester.run()
    #expect(report.failures == [])
    #expect(names == Array(repeating: "by the policy", count: 5))
    #expect(report.steps[0].objectsCompared == 5 && report.steps[0].valuesCompared == 5)
    #expect(report.steps[0].notCompared.count == 2, "\(report)")
    #expect(report.steps[0].notCompared.contains { $0.hasPrefix("the objects of A, which ") })
    #expect(report.steps[0].notCompared.contains { $0.hasPrefix("B.b, which is ") })
  }

  @Test(arguments: [
    "[A-Z]{3}-[0-9]{2,4}", "\\A[^@]+@([^@\\.]+\\.)+[^@\\.]+\\z", "^(a|bc|)d?$", "\\d+(\\.\\d{2})?",
    "(?:x|y){2}[^a-z]",
    "[\\w-]+ \\(\\)", "a{2}b{1,}c*?", "[]a]", "(?i)abc", "\\{\\}",
  ])
  func `texts for a pattern match it`(pattern: String) throws {
    let predicate = NSPredicate(format: "SELF MATCHES %@", pattern)
    var random = SeededNumbers(seed: 1)
    for _ in 0..<50 {
      let text: String = PatternText(pattern).make(&random)
      #expect(predicate.evaluate(with: text), "\(text)")
    }
  }

  @Test(arguments: ["(", "[", "a{", "\\", "((((((", "(?<", "[a-", "{1}", "a{99999999999}", "*", "(?=a)b"])
  func `a pattern that is none gives some text`(pattern: String) {
    var random = SeededNumbers(seed: 1)
    #expect(PatternText(pattern).make(&random).count < 200)
  }

  @Test func `objects fulfil what later versions ask of them`() throws {
    func model(isSecond: Bool) -> NSManagedObjectModel {
      let one = ModelParts.entity(
        "One",
        [
          ModelParts.attribute("name", valid: isSecond ? "length <= 4" : nil),
          ModelParts.attribute("flag", .booleanAttributeType),
          ModelParts.attribute("number", .integer16AttributeType),
        ])
      let two = ModelParts.entity("Two", [ModelParts.attribute("label")])
      if isSecond { one.uniquenessConstraints = [["number", "flag"]] }
      ModelParts.invert(
        ModelParts.relate(one, "two", two, (1, 1), isOptional: !isSecond),
        ModelParts.relate(two, "ones", one, (0, isSecond ? 2 : 0)))
      return ModelParts.model([one, two], version: isSecond ? "2" : "1")
    }
    var tester = MigrationTester(from: model(isSecond: false), to: model(isSecond: true))
    tester.objectsPerEntity = 8
    tester.work = .both
    let report: MigrationTestReport = try tester.run()
    #expect(report.failures == [], "\(report)")
    #expect(report.steps[0].conditions.count == 3, "\(report.steps[0].conditions)")
  }
}

final class NamingPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    for made in manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source]) {
      made.setValue("by the policy", forKey: "b")
    }
  }
}
