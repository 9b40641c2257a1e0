import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

@Suite("Without a direct way a store goes over other versions of its model, the fewest that lead there")
struct ChainTests {
  static let kinds: [StoreKind] = [.sqlite, .xml, .binary]

  /// A required `code` without a default: nothing can be inferred from versions without it.
  private static func coded(_ change: (NSManagedObjectModel) -> Void = { _ in }) -> NSManagedObjectModel {
    Versions.first { model in
      model.entitiesByName["Person"]!.properties.append(
        World.attribute("code", .stringAttributeType, optional: false))
      change(model)
    }
  }

  private static func noted(_ name: String) -> NSManagedObjectModel {
    coded { $0.entitiesByName["Person"]!.properties.append(World.attribute(name, .stringAttributeType)) }
  }

  @Test("a mapping model to the next version, then an inferred one", arguments: kinds)
  func twoSteps(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([Versions.first(), Self.coded(), Self.noted("note")], in: folder)
    try Versions.writeCoding(from: Versions.first(), to: Self.coded(), in: folder)
    let url: URL = try Versions.makeStore(kind, in: folder, people: 7)
    let before: [String] = try Versions.using(Versions.first(), kind, url) { try Versions.people($0) }

    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(plan.steps.map(\.isInferred) == [false, true])
    #expect(plan.steps.map(\.source) == ["Shop 1", "Shop 2"])
    #expect(plan.obstaclesToReturn.count == 1)

    try Versions.using(program, kind, url, Versions.automatic) { context in
      #expect(try Versions.people(context) == before)
      for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
        #expect(person.value(forKey: "code") as? String == person.value(forKey: "name") as? String)
        #expect(person.value(forKey: "note") == nil)
      }
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy {
        !$0.contains("migrat")
      })
  }

  @Test("of two ways the one with fewer steps is taken, whatever the order of the versions")
  func shortest() throws {
    let folder = try TemporaryFolder()
    let long: NSManagedObjectModel = Versions.first { model in
      model.entitiesByName["Pet"]!.properties.append(World.attribute("weight", .doubleAttributeType))
    }
    let program = try SourceModel.write(
      [Versions.first(), long, Self.noted("aside"), Self.coded(), Self.noted("note")], in: folder)
    try Versions.writeCoding(from: Versions.first(), to: Self.coded(), in: folder)
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(plan.steps.map(\.destination) == ["Shop 4", "Shop 5"])
  }

  @Test("versions that only inference connects are no chain: it would lead around any refusal")
  func noWayAround() throws {
    let folder = try TemporaryFolder()
    let empty: NSManagedObjectModel = Versions.first { model in
      model.entitiesByName["Person"]!.properties.removeAll { $0.name == "age" }
    }
    let retyped: NSManagedObjectModel = Versions.first { model in
      model.entitiesByName["Person"]!.attributesByName["age"]!.attributeType = .dateAttributeType
    }
    let program = try SourceModel.write([Versions.first(), empty, retyped], in: folder)
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let error = errorThrown { _ = try MigrationPlan(forStoreAt: url, to: program) }
    #expect(error?.code == NSInferredMappingModelError)
    #expect(error?.localizedDescription.contains("Person.age") == true)
  }

  @Test("without inference the chain needs a mapping model for each step")
  func withoutInference() throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([Versions.first(), Self.coded(), Self.noted("note")], in: folder)
    try Versions.writeCoding(from: Versions.first(), to: Self.coded(), in: folder)
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let options: [AnyHashable: Any] = [NSMigratePersistentStoresAutomaticallyOption: true]
    let error = errorThrown { try Versions.using(program, .sqlite, url, options) { _ in } }
    #expect(error?.code == NSMigrationMissingMappingModelError)
    let second: NSMappingModel = try .inferredMappingModel(
      forSourceModel: Self.coded(), destinationModel: Self.noted("note"))
    try second.archivedData().write(to: folder.file("Noting.cdm"))
    #expect(try Versions.using(program, .sqlite, url, options) { try Versions.people($0).count } == 3)
  }

  /// What a version in between lacks, and the destination has.
  enum Gap: CaseIterable, Sendable {
    case attribute, renamed, entity, order, relationship

    func lacking(_ model: NSManagedObjectModel) {
      let person: NSEntityDescription = model.entitiesByName["Person"]!
      switch self {
      case .attribute: person.properties.removeAll { $0.name == "photo" }
      case .renamed: model.entitiesByName["Tag"]!.properties.removeAll { $0.name == "title" }
      case .entity:
        person.properties.removeAll { $0.name == "tags" }
        model.entities.removeAll { $0.name == "Tag" }
      case .order: person.relationshipsByName["pets"]!.isOrdered = false
      case .relationship:
        person.properties.removeAll { $0.name == "tags" }
        model.entitiesByName["Tag"]!.properties.removeAll { $0.name == "people" }
      }
    }

    func destination(_ model: NSManagedObjectModel) {
      guard self == .renamed else { return }
      let title: NSAttributeDescription = model.entitiesByName["Tag"]!.attributesByName["title"]!
      (title.name, title.renamingIdentifier) = ("label", "title")
    }

    var words: String {
      switch self {
      case .attribute: "Shop 1 to Shop 2 drops Person.photo, for which Shop 4 has a place"
      case .renamed: "drops Tag.title, for which"
      case .entity: "the objects of Tag"
      case .order: "drops the order of Person.pets, for which"
      case .relationship: "drops Person.tags, Tag.people, for which"
      }
    }
  }

  /// The versions 1; 2, which lacks something; 3, which has all; 4 with a code. Mapping models lead from 2
  /// to 4, and, if `keeps`, from 3.
  private static func program(_ gap: Gap, keeps: Bool, in folder: TemporaryFolder) throws
    -> NSManagedObjectModel
  {
    let lacking: NSManagedObjectModel = Versions.first { gap.lacking($0) }
    let whole: NSManagedObjectModel = Versions.first { model in
      model.entitiesByName["Pet"]!.properties.append(World.attribute("weight", .doubleAttributeType))
    }
    let last: NSManagedObjectModel = coded { gap.destination($0) }
    for (name, source) in [("A", lacking)] + (keeps ? [("B", whole)] : []) {
      try Versions.writeCoding(
        name, from: source, to: last, uncoded: Versions.first { gap.destination($0) }, in: folder)
    }
    return try SourceModel.write([Versions.first(), lacking, whole, last], in: folder)
  }

  @Test(
    "a way over a version that lacks what the new one has is refused with what it would lose",
    arguments: Gap.allCases, [StoreKind.sqlite, .xml])
  func losingWay(_ gap: Gap, _ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let program = try Self.program(gap, keeps: false, in: folder)
    let url: URL = try Versions.makeStore(kind, in: folder)
    let bytes: Data = try Data(contentsOf: url)
    let error = errorThrown { try Versions.using(program, kind, url, Versions.automatic) { _ in } }
    #expect(error?.code == NSInferredMappingModelError)
    for words in ["Person.code", "The way over Shop 2 is not taken", gap.words, "Shop 1 to Shop 4 keeps"] {
      #expect(error?.localizedDescription.contains(words) == true, "\(error as Any)")
    }
    #expect(try Data(contentsOf: url) == bytes)
  }

  @Test("of two ways that one is taken which keeps what the new version has", arguments: Gap.allCases)
  func keepingWay(_ gap: Gap) throws {
    let folder = try TemporaryFolder()
    let program = try Self.program(gap, keeps: true, in: folder)
    let url: URL = try Versions.makeStore(.sqlite, in: folder, people: 7)
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(plan.steps.map(\.destination) == ["Shop 3", "Shop 4"])
    #expect(plan.losses.allSatisfy { $0.hasPrefix("Pet.weight") }, "\(plan.losses)")
  }

  @Test("behind a mapping model too no inferred steps lead around a refusal over a version without the data")
  func aroundARefusal() throws {
    let folder = try TemporaryFolder()
    let aged: NSManagedObjectModel = Self.coded {
      $0.entitiesByName["Person"]!.attributesByName["age"]!.attributeType = .dateAttributeType
    }
    let ageless: NSManagedObjectModel = Self.coded {
      $0.entitiesByName["Person"]!.properties.removeAll { $0.name == "age" }
    }
    let program = try SourceModel.write([Versions.first(), Self.coded(), ageless, aged], in: folder)
    try Versions.writeCoding(from: Versions.first(), to: Self.coded(), in: folder)
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let error = errorThrown { _ = try MigrationPlan(forStoreAt: url, to: program) }
    #expect(error?.code == NSInferredMappingModelError)
    #expect(
      error?.localizedDescription.contains("from Shop 2 to Shop 3 drops Person.age") == true,
      "\(error as Any)")
  }

  @Test("what a mapping model of a chain leaves out is lost by its author's word, and the plan says where")
  func lossInTheChain() throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([Versions.first(), Self.coded(), Self.noted("note")], in: folder)
    try Versions.writeCoding(from: Versions.first(), to: Self.coded(), in: folder)
    let mapping: NSMappingModel = try .load(contentsOf: folder.file("Coding.cdm"))
    mapping.entityMappingsByName["IEM_Copy_Person"]?.attributeMappings?.removeAll { $0.name == "age" }
    try mapping.archivedData().write(to: folder.file("Coding.cdm"))
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(plan.losses == ["Person.age (in the step from Shop 1 to Shop 2)"])
  }

  @Test("a mapping model that is given is used for the versions that it was made for, and for no others")
  func givenMapping() throws {
    let folder = try TemporaryFolder()
    let last: NSManagedObjectModel = Self.noted("note")
    last.entitiesByName["Pet"]!.properties.append(World.attribute("weight", .doubleAttributeType))
    let versions: [NSManagedObjectModel] = [Self.coded(), Self.noted("note"), last]
    let program = try SourceModel.write(versions, in: folder)
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: versions[1], destinationModel: versions[2])
    mapping.entityMappingsByName["IEM_Copy_Person"]?.attributeMappings?.first { $0.name == "note" }?
      .valueExpression = NSExpression(format: "$source.code")
    let url: URL = folder.file("store.sqlite")
    try Versions.using(versions[0], .sqlite, url) { context in
      _ = Versions.make("Person", ["name": "ann", "code": "A"], context)
      try context.save()
    }
    let plan = try MigrationPlan(forStoreAt: url, to: program, mapping: mapping)
    #expect(plan.steps.map(\.destination) == ["Shop 2", "Shop 3"])
    #expect(plan.steps.map(\.isInferred) == [true, false])
    #expect(
      plan.warnings.contains(
        "The mapping model that was given leads from Shop 2 to Shop 3; the store goes from Shop 1 to Shop 2 without it."
      ), "\(plan.warnings)")
    try plan.run()
    let notes: [String?] = try Versions.using(program, .sqlite, url) {
      try $0.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).map {
        $0.value(forKey: "note") as? String
      }
    }
    #expect(notes == ["A"])

    // No way leads to where it begins.
    let elsewhere = try TemporaryFolder()
    let other: URL = try Versions.makeStore(.sqlite, in: elsewhere)
    let bytes: Data = try Data(contentsOf: other)
    let error = errorThrown { _ = try MigrationPlan(forStoreAt: other, to: program, mapping: mapping) }
    #expect(error?.code == NSMigrationError)
    for words in [
      "The mapping model that was given is not for", "Person is another version in the source model",
      "It leads from Shop 2 to Shop 3", "Migrate the store to the version that it begins with first",
    ] {
      #expect(error?.localizedDescription.contains(words) == true, "\(error as Any)")
    }
    #expect(try Data(contentsOf: other) == bytes)
  }
}
