import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

@Suite("What the new version requires and a mapping model gives no value is told before, and by the error")
struct RequiredValueTests {
  static let kinds: [StoreKind] = [.sqlite, .xml, .binary]

  /// The same with a required `code` of people and a required `keeper` of pets, neither with a value.
  private static func second(keeper: Bool = false) -> NSManagedObjectModel {
    Versions.first { model in
      let (person, pet) = (model.entitiesByName["Person"]!, model.entitiesByName["Pet"]!)
      person.properties.append(World.attribute("code", .stringAttributeType, optional: false))
      guard keeper else { return }
      World.pair(
        pet, "keeper", .one, .nullifyDeleteRule, person, "kept", .many, .nullifyDeleteRule)
      pet.relationshipsByName["keeper"]!.isOptional = false
    }
  }

  /// Made for the two versions as Xcode makes it: the new attribute without a value.
  private static func mapping(to second: NSManagedObjectModel) throws -> NSMappingModel {
    let mapping: NSMappingModel = try .inferredMappingModel(
      forSourceModel: Versions.first(), destinationModel: Versions.first())
    for name in ["Person", "Pet"] {
      let entity = try #require(mapping.entityMappingsByName["IEM_Copy_\(name)"])
      entity.destinationEntityVersionHash = second.entityVersionHashesByName[name]
      entity.mappingType = .transformEntityMappingType
    }
    let code = NSPropertyMapping()
    code.name = "code"
    mapping.entityMappingsByName["IEM_Copy_Person"]?.attributeMappings?.append(code)
    return mapping
  }

  @Test(
    "the plan names mapping, property and objects; the error names store, step and what to do",
    arguments: kinds)
  func attribute(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([Versions.first(), Self.second()], in: folder)
    try Self.mapping(to: Self.second()).archivedData().write(to: folder.file("Shop.cdm"))
    let url: URL = try Versions.makeStore(kind, in: folder)
    let bytes: Data = try Data(contentsOf: url)
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(
      plan.steps[0].problems == [
        "Person.code is required and has no default value, and the entity mapping 'IEM_Copy_Person' gives it no value, so "
          + "that 3 objects of Person can't be migrated. Give it a value expression in the mapping model, a default value in "
          + "the new model, or name a policy that sets it."
      ])
    let original: URL = folder.file("original")
    let error = errorThrown { try plan.run(keepingOriginalAt: original) }
    #expect(error?.code == NSValidationMultipleErrorsError)
    #expect((error?.userInfo[NSDetailedErrorsKey] as? [any Error])?.count == 3)
    #expect(
      error?.localizedDescription
        == "The store \(url.path) can't be migrated from Shop 1 to Shop 2, because 3 of the objects would not be valid. "
        + "Person.code is required, and 3 objects would have no value of it. Give the property a value expression in the "
        + "mapping model, or a default value in the new model, or set it in a migration policy.")
    #expect(try Data(contentsOf: url) == bytes)
    // Neither the copy of the original nor anything else is left.
    let left: [String] = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    #expect(
      left.filter { $0 != ".store_SUPPORT" } == ["Shop.cdm", "Shop.xcdatamodeld", url.lastPathComponent])
  }

  @Test("of a relationship that no side of is mapped; not of an entity that has no objects")
  func relationship() throws {
    let folder = try TemporaryFolder()
    let second: NSManagedObjectModel = Self.second(keeper: true)
    let mapping: NSMappingModel = try Self.mapping(to: second)
    let url: URL = try Versions.makeStore(.sqlite, in: folder, people: 4)
    let problems: [String] = try MigrationPlan(forStoreAt: url, to: second, mapping: mapping).steps[0]
      .problems
    #expect(problems.count == 2)
    #expect(
      problems.contains {
        $0.hasPrefix(
          "Pet.keeper is required, and the entity mapping 'IEM_Copy_Pet' gives it no value, so that 6 objects"
        )
      }, "\(problems)")
    let kept = NSPropertyMapping()
    kept.name = "kept"
    kept.valueExpression = NSExpression(
      format:
        #"FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:", "pets", $source.pets)"#
    )
    mapping.entityMappingsByName["IEM_Copy_Person"]?.relationshipMappings?.append(kept)
    let mapped = try MigrationPlan(forStoreAt: url, to: second, mapping: mapping)
    #expect(mapped.steps[0].problems.count == 1)
    let elsewhere = try TemporaryFolder()
    let empty: URL = try Versions.makeStore(.sqlite, in: elsewhere, people: 0)
    #expect(try MigrationPlan(forStoreAt: empty, to: second, mapping: mapping).steps[0].problems == [])
  }

  @Test("a policy may set it: the plan says so")
  func policy() throws {
    let mapping: NSMappingModel = try Self.mapping(to: Self.second())
    mapping.entityMappingsByName["IEM_Copy_Person"]?.entityMigrationPolicyClassName =
      NSStringFromClass(IdlePolicy.self)
    let folder = try TemporaryFolder()
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    let plan = try MigrationPlan(forStoreAt: url, to: Self.second(), mapping: mapping)
    #expect(plan.steps[0].problems == [])
    #expect(
      plan.warnings.contains {
        $0.contains("Person.code is required") && $0.contains("IdlePolicy has to set it.")
      },
      "\(plan.warnings)")
  }

  @Test("objects without the value from which a required one is made are counted before")
  func sourceValue() throws {
    let folder = try TemporaryFolder()
    let second: NSManagedObjectModel = Versions.first {
      $0.entitiesByName["Pet"]!.attributesByName["name"]!.isOptional = false
    }
    let url: URL = try Versions.makeStore(.sqlite, in: folder)
    try Versions.using(Versions.first(), .sqlite, url) { context in
      _ = Versions.make("Pet", [:], context)
      try context.save()
    }
    let mapping: NSMappingModel = try Self.mapping(to: second)
    mapping.entityMappingsByName["IEM_Copy_Person"]?.attributeMappings?.removeLast()
    let plan = try MigrationPlan(forStoreAt: url, to: second, mapping: mapping)
    #expect(plan.steps[0].problems.count == 1)
    #expect(
      plan.steps[0].problems.first?.hasPrefix(
        "1 object(s) of Pet have no value of name, from which Pet.name is made, and the new model does not allow that."
      ) == true,
      "\(plan.steps[0].problems)")
    let error = errorThrown { try plan.run() }
    #expect(error?.code == NSValidationMissingMandatoryPropertyError)
    #expect(
      error?.localizedDescription.contains("Pet.name is required, and 1 object would have no value of it.")
        == true,
      "\(error as Any)")
  }
}

/// Which does what the default policy does.
final class IdlePolicy: NSEntityMigrationPolicy {}
