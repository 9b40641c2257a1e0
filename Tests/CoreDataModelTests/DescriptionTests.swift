import CoreDataPredicates
import Foundation
import Testing

@testable import CoreDataModel

/// Descriptions built in code: Apple's defaults, hierarchies, copies, and what may not be changed any more.
struct DescriptionTests {
  private func attribute(_ name: String, _ type: NSAttributeType = .stringAttributeType)
    -> NSAttributeDescription
  {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    return attribute
  }

  private func entity(_ name: String, _ properties: [NSPropertyDescription] = []) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = properties
    return entity
  }

  /// Person (abstract) with a name; Employee and Boss below it; Boss.team ↔ Employee.boss.
  private func company() -> NSManagedObjectModel {
    let person = entity("Person", [attribute("name")])
    person.isAbstract = true
    let boss = NSRelationshipDescription()
    boss.name = "boss"
    boss.maxCount = 1
    let team = NSRelationshipDescription()
    team.name = "team"
    let employee = entity("Employee", [attribute("wage", .decimalAttributeType), boss])
    let chief = entity("Boss", [team])
    boss.destinationEntity = chief
    boss.inverseRelationship = team
    team.destinationEntity = employee
    team.inverseRelationship = boss
    person.subentities = [employee, chief]
    let model = NSManagedObjectModel()
    model.entities = [person, employee, chief]
    return model
  }

  @Test func `new descriptions have Apple's defaults`() {
    let property = NSPropertyDescription()
    #expect(property.isOptional && !property.isTransient && !property.isIndexed)
    #expect(property.name == "" && property.versionHashModifier == nil)
    #expect(property.userInfo?.isEmpty == true && NSEntityDescription().userInfo?.isEmpty == true)
    property.userInfo?["key"] = 1
    #expect(property.userInfo as? [String: Int] == ["key": 1])
    let attribute = NSAttributeDescription()
    #expect(attribute.attributeType == .undefinedAttributeType && attribute.type == .undefined)
    #expect(attribute.attributeValueClassName == nil && attribute.defaultValue == nil)
    let relationship = NSRelationshipDescription()
    #expect(relationship.minCount == 0 && relationship.maxCount == 0 && relationship.isToMany)
    #expect(relationship.deleteRule == .nullifyDeleteRule && !relationship.isOrdered)
    let entity = NSEntityDescription()
    #expect(
      entity.managedObjectClassName == "NSManagedObject" && !entity.isAbstract && entity.superentity == nil)
    #expect(NSCompositeAttributeDescription().attributeType == .compositeAttributeType)
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "A")
    #expect(request.includesSubentities && request.includesPropertyValues && request.returnsObjectsAsFaults)
    #expect(
      request.includesPendingChanges && !request.returnsDistinctResults
        && !request.shouldRefreshRefetchedObjects)
    #expect(request.fetchLimit == 0 && request.fetchOffset == 0 && request.fetchBatchSize == 0)
    #expect(request.resultType == .managedObjectResultType && request.requestType == .fetchRequestType)
    #expect(request.entityName == "A" && request.entity == nil)
    #expect(NSManagedObjectModel().configurations == ["PF_DEFAULT_CONFIGURATION_NAME"])
  }

  @Test(arguments: NSAttributeType.allCases) func `the two spellings of attribute types agree`(
    type: NSAttributeType
  ) {
    let attribute = NSAttributeDescription()
    attribute.type = NSAttributeDescription.AttributeType(rawValue: type.rawValue)
    #expect(attribute.attributeType == type)
    #expect(attribute.type.rawValue == type.rawValue)
    #expect(NSAttributeType(editorName: type.editorName) == type)
  }

  @Test func `sub-entities have the properties of their ancestors`() throws {
    let model = company()
    let employee = try #require(model.entitiesByName["Employee"])
    let person = try #require(model.entitiesByName["Person"])
    #expect(employee.superentity === person)
    #expect(employee.properties.map(\.name) == ["name", "wage", "boss"])
    #expect(employee.attributesByName.keys.sorted() == ["name", "wage"])
    #expect(employee.relationshipsByName.keys.sorted() == ["boss"])
    #expect(
      employee.isKindOf(entity: person) && employee.isKindOf(entity: employee)
        && !person.isKindOf(entity: employee))
    #expect(person.subentitiesByName.keys.sorted() == ["Boss", "Employee"])
    #expect(employee.managedObjectModel === model)
    employee.properties.append(attribute("desk"))
    #expect(employee.ownProperties.map(\.name) == ["wage", "boss", "desk"])
    #expect(person.ownProperties.map(\.name) == ["name"])
    #expect(person.properties[0].entity === person)
  }

  @Test func `an own property hides an inherited one of its name`() throws {
    let parent = entity("P", [attribute("x", .dateAttributeType)])
    let child = entity("C", [attribute("x", .doubleAttributeType)])
    parent.subentities = [child]
    #expect(child.properties.count == 1)
    #expect(child.attributesByName["x"]?.attributeType == .doubleAttributeType)
  }

  @Test func `store order is depth first by name whatever the case`() {
    let model = NSManagedObjectModel()
    let parent = entity("syncFeatureEntity")
    parent.subentities = [entity("b"), entity("C"), entity("A")]
    model.entities = [entity("Zebra"), parent, entity("SyncableSettings")]
    #expect(
      model.entitiesInStoreOrder.compactMap(\.name) == [
        "SyncableSettings", "syncFeatureEntity", "A", "b", "C", "Zebra",
      ])
  }

  @Test func `a copy of a model is a graph of its own`() throws {
    let model = company()
    model.setEntities([model.entities[0]], forConfigurationName: "People")
    let template = NSFetchRequest<any NSFetchRequestResult>()
    template.entity = model.entitiesByName["Employee"]
    model.setFetchRequestTemplate(template, forName: "all")
    model.freeze()
    let copy = model.copy() as! NSManagedObjectModel
    #expect(copy == model && copy !== model)
    let originals = Set(model.entities.map(ObjectIdentifier.init))
    for entity in copy.entities {
      #expect(!originals.contains(ObjectIdentifier(entity)))
      #expect(entity.managedObjectModel === copy)
      if let parent = entity.superentity { #expect(!originals.contains(ObjectIdentifier(parent))) }
      for relationship in entity.relationshipsByName.values {
        #expect(relationship.destinationEntity.map { copy.entities.contains($0) } == true)
        #expect(relationship.destinationEntity?.managedObjectModel === copy)
        #expect(relationship.inverseRelationship?.inverseRelationship === relationship)
      }
    }
    #expect(copy.fetchRequestTemplate(forName: "all")?.entity === copy.entitiesByName["Employee"])
    copy.entitiesByName["Person"]?.name = "Human"
    copy.fetchRequestTemplate(forName: "all")?.fetchLimit = 3
    #expect(model.entitiesByName["Person"] != nil)
    #expect(copy != model)
  }

  @Test func `a frozen model answers as before`() throws {
    let model = company()
    let before = model.entities.map { ($0.versionHash, $0.propertiesByName.keys.sorted()) }
    model.freeze()
    let after = model.entities.map { ($0.versionHash, $0.propertiesByName.keys.sorted()) }
    #expect(before.map(\.0) == after.map(\.0))
    #expect(before.map(\.1) == after.map(\.1))
    #expect(model.isFrozen)
  }

  @Test func `user info of a frozen model is set`() throws {
    let model = company()
    model.freeze()
    let entity = try #require(model.entitiesByName["Person"])
    let property = try #require(entity.properties.first)
    let hash: Data = entity.versionHash
    entity.userInfo = ["key": 1]
    property.userInfo?["key"] = 2
    #expect(entity.userInfo?["key"] as? Int == 1)
    #expect(property.userInfo?["key"] as? Int == 2)
    #expect(entity.versionHash == hash)
  }

  @Test func `changing a frozen property stops with its name and the cure`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let attribute = NSAttributeDescription()
      attribute.name = "age"
      let entity = NSEntityDescription()
      entity.name = "Person"
      entity.properties = [attribute]
      let model = NSManagedObjectModel()
      model.entities = [entity]
      model.freeze()
      attribute.isOptional = false
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Can't modify an immutable model."))
    #expect(text.contains("attribute 'age' of entity 'Person'"))
    #expect(text.contains("model.copy()"))
  }

  @Test func `adding an entity to a frozen model stops`() async {
    await #expect(processExitsWith: .failure) {
      let model = NSManagedObjectModel()
      model.freeze()
      model.entities = [NSEntityDescription()]
    }
  }

  @Test func `a template without all its values stops and names the missing ones`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let model = NSManagedObjectModel()
      let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "A")
      template.predicate = try NSPredicate(parsing: "a == $x AND b == $y", arguments: [])
      model.setFetchRequestTemplate(template, forName: "t")
      _ = model.fetchRequestFromTemplate(withName: "t", substitutionVariables: ["x": 1])
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("'t' needs values for $y"))
  }

  // MARK: Merging

  @Test func `merging joins models and connects what leads from one to the other`() throws {
    let first = NSManagedObjectModel()
    let dog = entity("Dog", [attribute("name")])
    first.entities = [dog]
    let second = NSManagedObjectModel()
    let stub = entity("Dog", [attribute("name")])
    let owner = NSRelationshipDescription()
    owner.name = "dog"
    owner.maxCount = 1
    owner.destinationEntity = stub
    second.entities = [entity("Person", [owner]), stub]
    let merged = try #require(NSManagedObjectModel(byMerging: [first, second]))
    #expect(merged.entitiesByName.keys.sorted() == ["Dog", "Person"])
    #expect(
      merged.entitiesByName["Person"]?.relationshipsByName["dog"]?.destinationEntity
        === merged.entitiesByName["Dog"])
    #expect(first.entities[0].managedObjectModel === first)
  }

  @Test func `models that define one entity differently can't be merged`() {
    let first = NSManagedObjectModel()
    first.entities = [entity("Dog", [attribute("name")])]
    let second = NSManagedObjectModel()
    second.entities = [entity("Dog", [attribute("age", .integer16AttributeType)])]
    #expect(NSManagedObjectModel(byMerging: [first, second]) == nil)
    let metadata: [String: Any] = ["NSStoreModelVersionHashes": second.entityVersionHashesByName]
    let fitting = NSManagedObjectModel(byMerging: [first, second], forStoreMetadata: metadata)
    #expect(fitting == second)
    #expect(second.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(!first.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(!second.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
  }

  @Test func `a bundle's models are found in the resource bundles within it`() throws {
    let (bundle, folder) = try bundleWithShop()
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = try #require(NSManagedObjectModel.mergedModel(from: [bundle]))
    #expect(model.entitiesByName.keys.contains("Product"))
    let old = try NSManagedObjectModel.load(
      contentsOf: SourceModelTests.shop.appendingPathComponent("Shop.xcdatamodel")
    ).model
    let metadata: [String: Any] = ["NSStoreModelVersionHashes": old.entityVersionHashesByName]
    #expect(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata) == old)
  }

  /// A bundle with a resource bundle inside that holds the shipped model, as SwiftPM lays them out.
  private func bundleWithShop() throws -> (Bundle, URL) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    let inner = folder.appendingPathComponent("App_Models.resources")
    try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: SourceModelTests.shop, to: inner.appendingPathComponent("Shop.xcdatamodeld"))
    return (try #require(Bundle(path: folder.path)), folder)
  }

  // MARK: References

  @Test func `a reference gives the model of its checksum and explains any other`() throws {
    let versions = try NSManagedObjectModel.loadVersions(contentsOf: SourceModelTests.shop)
    let old = try #require(versions["Shop"]?.model)
    let byFile = NSManagedObjectModelReference(
      fileURL: SourceModelTests.shop, versionChecksum: old.versionChecksum)
    #expect(try byFile.resolve() == old)
    #expect(byFile.resolvedModel == old)
    let (bundle, folder) = try bundleWithShop()
    defer { try? FileManager.default.removeItem(at: folder) }
    let byName = NSManagedObjectModelReference(
      name: "Shop", in: bundle, versionChecksum: old.versionChecksum)
    #expect(try byName.resolve() == old)
    let byHash = NSManagedObjectModelReference(
      entityVersionHashes: old.entityVersionHashesByName, in: bundle, versionChecksum: old.versionChecksum)
    #expect(try byHash.resolve() == old)
    let wrong = NSManagedObjectModelReference(model: old, versionChecksum: "other")
    #expect(
      try #require(throws: ModelFileError.self) { try wrong.resolve() }.reason.contains(old.versionChecksum))
    let absent = NSManagedObjectModelReference(name: "Shed", in: bundle, versionChecksum: "x")
    #expect(
      try #require(throws: ModelFileError.self) { try absent.resolve() }.reason.contains("no such model"))
  }
}
