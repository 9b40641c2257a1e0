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

  /// Which gives each person its name as code, compiled, beside the models.
  private static func writeMapping(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel, in folder: TemporaryFolder,
    _ name: String = "Coding"
  ) throws {
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: source, destinationModel: Versions.first { _ in })
    let person = try #require(mapping.entityMappings?.first { $0.sourceEntityName == "Person" })
    person.destinationEntityVersionHash = destination.entityVersionHashesByName["Person"]
    person.mappingType = .transformEntityMappingType
    let code = NSPropertyMapping()
    code.name = "code"
    code.valueExpression = NSExpression(format: "$source.name")
    person.attributeMappings?.append(code)
    try mapping.archivedData().write(to: folder.file("\(name).cdm"))
  }

  @Test("a mapping model to the next version, then an inferred one", arguments: kinds)
  func twoSteps(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([Versions.first(), Self.coded(), Self.noted("note")], in: folder)
    try Self.writeMapping(from: Versions.first(), to: Self.coded(), in: folder)
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
    try Self.writeMapping(from: Versions.first(), to: Self.coded(), in: folder)
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
    try Self.writeMapping(from: Versions.first(), to: Self.coded(), in: folder)
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let options: [AnyHashable: Any] = [NSMigratePersistentStoresAutomaticallyOption: true]
    let error = errorThrown { try Versions.using(program, .sqlite, url, options) { _ in } }
    #expect(error?.code == NSMigrationMissingMappingModelError)
    let second: NSMappingModel = try .inferredMappingModel(
      forSourceModel: Self.coded(), destinationModel: Self.noted("note"))
    try second.archivedData().write(to: folder.file("Noting.cdm"))
    #expect(try Versions.using(program, .sqlite, url, options) { try Versions.people($0).count } == 3)
  }
}
