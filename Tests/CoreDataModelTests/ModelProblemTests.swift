import CoreDataModelChecking
import CoreDataPredicates
import Foundation
import Testing

@testable import CoreDataModel

struct ModelProblemTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    var name: String
    var says: String
    var severity = ModelProblem.Severity.error
    /// Spoils a sound model of two entities, Owner.pets ↔ Pet.owner.
    var spoil: @Sendable (_ owner: NSEntityDescription, _ pet: NSEntityDescription) throws -> Void
    var testDescription: String { name }
  }

  private static func sound() -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    let (owner, pet) = (NSEntityDescription(), NSEntityDescription())
    owner.name = "Owner"
    pet.name = "Pet"
    let name = NSAttributeDescription()
    name.name = "name"
    name.attributeType = .stringAttributeType
    let (pets, back) = (NSRelationshipDescription(), NSRelationshipDescription())
    pets.name = "pets"
    pets.destinationEntity = pet
    back.name = "owner"
    back.maxCount = 1
    back.destinationEntity = owner
    pets.inverseRelationship = back
    back.inverseRelationship = pets
    owner.properties = [name, pets]
    pet.properties = [back]
    model.entities = [owner, pet]
    return model
  }

  @Test func `a sound model has no problems`() throws {
    #expect(Self.sound().problems() == [])
  }

  static let samples: [Sample] = [
    Sample(name: "entities of one name", says: "two entities of this name") { $1.name = "Owner" },
    Sample(name: "entities that differ in case", says: "in case only") { $1.name = "OWNER" },
    Sample(name: "a bad entity name", says: "starts with a letter") { $1.name = "My Pet" },
    Sample(name: "an abstract leaf", says: "can never have objects", severity: .warning) {
      $1.isAbstract = true
    },
    Sample(name: "an empty entity", says: "no properties", severity: .warning) { owner, pet in
      pet.properties = []
      owner.relationshipsByName["pets"]?.inverseRelationship = nil
    },
    Sample(name: "a reserved name", says: "already") { owner, _ in
      owner.attributesByName["name"]?.name = "objectID"
    },
    // Finding: an attribute that no format names, since the word means the object.
    Sample(
      name: "an attribute SELF", says: "SELF is the object itself, so the property has to be written #SELF",
      severity: .warning
    ) {
      owner, _ in owner.attributesByName["name"]?.name = "SELF"
    },
    Sample(name: "an attribute In", says: "has to be written #In", severity: .warning) { owner, _ in
      owner.attributesByName["name"]?.name = "In"
    },
    Sample(name: "a bad property name", says: "starts with a letter") { owner, _ in
      owner.attributesByName["name"]?.name = "first-name"
    },
    Sample(name: "columns that differ in case", says: "in case only") { owner, _ in
      let twin = NSAttributeDescription()
      twin.name = "NAME"
      twin.attributeType = .dateAttributeType
      owner.properties.append(twin)
    },
    Sample(name: "a stored attribute without type", says: "must be transient") { owner, _ in
      owner.attributesByName["name"]?.attributeType = .undefinedAttributeType
    },
    Sample(name: "a default of another type", says: "default value is no string") { owner, _ in
      owner.attributesByName["name"]?.defaultValue = 3
    },
    Sample(name: "external storage of text", says: "only binary data", severity: .warning) { owner, _ in
      owner.attributesByName["name"]?.allowsExternalBinaryDataStorage = true
    },
    Sample(name: "no inverse", says: "has no inverse", severity: .warning) { owner, pet in
      owner.relationshipsByName["pets"]?.inverseRelationship = nil
      pet.relationshipsByName["owner"]?.inverseRelationship = nil
    },
    Sample(name: "a one-sided inverse", says: "make the two agree") { _, pet in
      pet.relationshipsByName["owner"]?.inverseRelationship = nil
    },
    Sample(name: "an inverse of another entity", says: "not to the destination") { owner, _ in
      owner.relationshipsByName["pets"]?.destinationEntity = owner
    },
    Sample(name: "no destination", says: "no destination entity") { owner, _ in
      owner.relationshipsByName["pets"]?.destinationEntity = nil
    },
    Sample(name: "a destination outside the model", says: "not in the model") { owner, _ in
      let stray = NSEntityDescription()
      stray.name = "Stray"
      owner.relationshipsByName["pets"]?.destinationEntity = stray
    },
    Sample(name: "counts that cross", says: "above its maximum") { owner, _ in
      owner.relationshipsByName["pets"]?.maxCount = 2
      owner.relationshipsByName["pets"]?.minCount = 3
    },
    Sample(name: "an ordered to-one", says: "no order", severity: .warning) { _, pet in
      pet.relationshipsByName["owner"]?.isOrdered = true
    },
    Sample(name: "no action", says: "No Action", severity: .warning) { owner, _ in
      owner.relationshipsByName["pets"]?.deleteRule = .noActionDeleteRule
    },
    Sample(name: "a constraint on nothing", says: "names 'email'") { owner, _ in
      owner.uniquenessConstraints = [["email"]]
    },
    Sample(name: "a constraint on a to-many", says: "needs stored attributes") { owner, _ in
      owner.uniquenessConstraints = [["pets"]]
    },
    Sample(name: "an index on nothing", says: "the index names 'email'") { owner, _ in
      let element = NSFetchIndexElementDescription(propertyName: "email", collationType: .binary)
      owner.indexes = [NSFetchIndexDescription(name: "byEmail", elements: [element])]
    },
    Sample(name: "a template for no entity", says: "asks for 'Ghost'") { owner, _ in
      owner.managedObjectModel.setFetchRequestTemplate(NSFetchRequest(entityName: "Ghost"), forName: "ghosts")
    },
    Sample(name: "a template with a wrong key", says: "Pet has no property 'size'") { owner, _ in
      let request = NSFetchRequest<any NSFetchRequestResult>()
      request.entity = owner
      request.predicate = try NSPredicate(parsing: "name != nil AND ANY pets.size > 3", arguments: [])
      owner.managedObjectModel.setFetchRequestTemplate(request, forName: "big")
    },
    Sample(name: "a fetched property without request", says: "no fetch request") { owner, _ in
      let fetched = NSFetchedPropertyDescription()
      fetched.name = "found"
      owner.properties.append(fetched)
    },
    Sample(name: "a relationship between configurations", says: "can't cross stores", severity: .warning) {
      owner, pet in
      owner.managedObjectModel.setEntities([owner], forConfigurationName: "a")
      owner.managedObjectModel.setEntities([pet], forConfigurationName: "b")
    },
    Sample(name: "a transformable without transformer", says: "no value transformer", severity: .warning) {
      owner, _ in
      owner.attributesByName["name"]?.attributeType = .transformableAttributeType
    },
  ]

  @Test(arguments: samples) func `each problem is found and explained`(sample: Sample) throws {
    let model = Self.sound()
    try sample.spoil(model.entities[0], model.entities[1])
    let problems = model.problems()
    #expect(
      problems.contains { $0.message.contains(sample.says) && $0.severity == sample.severity },
      "\(problems.map(\.description))")
  }

  @Test(
    .enabled(
      if: FixtureFolder.isPresent, "\(FixtureFolder.absence)"))
  func `the only errors in real models are real mistakes`() throws {
    // An inverse that points at itself, and predicates that name keys of other entities.
    let mistakes = ["Image.artist", "UserEntity.detectionSensorMessages", "UnreadNotes"]
    var warnings: [String: Int] = [:]
    for url in FixtureFolder.find(["xcdatamodel"], under: "models")
      + FixtureFolder.find(["mom"], under: "mom")
    {
      guard let model = NSManagedObjectModel(contentsOf: url) else { continue }
      for problem in model.problems() {
        if problem.severity == .error {
          #expect(
            mistakes.contains { problem.description.contains($0) },
            "\(FixtureFolder.relative(url)): \(problem)")
        } else {
          warnings[problem.message.prefix(30).description, default: 0] += 1
        }
      }
    }
    print("warnings over all real models: \(warnings)")
    #expect(warnings.values.reduce(0, +) > 0)
  }
}
