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
    Sample(name: "an entity in lower case", says: "begins with a lower-case letter", severity: .warning) {
      $1.name = "pet"
    },
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
    Sample(name: "a name without accessor", says: "have no accessor for it", severity: .warning) { owner, _ in
      owner.attributesByName["name"]?.name = "hashValue"
    },
    Sample(name: "a misspelt user info", says: "'clarus.case', which means nothing", severity: .warning) {
      owner, _ in owner.attributesByName["name"]?.userInfo = ["clarus.case": "a, b"]
    },
    Sample(name: "a Codegen that is none", says: "its Codegen is 'Class'", severity: .warning) { owner, _ in
      owner.codeGenerationType = "Class"
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
    Sample(name: "a class that can't be", says: "no class can have the name 'a b'") { owner, _ in
      owner.managedObjectClassName = "a b"
    },
    Sample(name: "a pattern that is none", says: "its pattern \"[\" is no regular expression") { owner, _ in
      owner.attributesByName["name"]?.setValidationPredicates(
        [NSPredicate(format: "SELF MATCHES '['")], withValidationWarnings: ["?"])
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
    Sample(
      name: "an index with a condition on nothing",
      says: "its condition doesn't fit: nmae: keypath nmae not found in entity Owner"
    ) { owner, _ in try Self.setIndex(of: owner, condition: "nmae != nil") },
    Sample(name: "an index with a condition on what is not stored", says: "reads 'name', which is not stored")
    {
      owner, _ in
      owner.attributesByName["name"]?.isTransient = true
      try Self.setIndex(of: owner, condition: "name != nil")
    },
    Sample(
      name: "an index with a condition that never holds", says: "its condition doesn't fit",
      severity: .warning
    ) {
      owner, _ in try Self.setIndex(of: owner, condition: "name == 3")
    },
    Sample(
      name: "an index over an expression of nothing",
      says: "its expression 'lowercase:(nmae)' doesn't fit: nmae: keypath nmae not found in entity Owner"
    ) { owner, _ in try Self.setIndex(of: owner, expression: "lowercase:(nmae)") },
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
    // Finding: a value of the one was one of the other, and a migration stopped the program.
    Sample(name: "an inherited name of another type", says: "an ancestor has an attribute of type String") {
      owner, pet in
      owner.subentities = [pet]
      pet.properties.append(Self.attribute("name", .dateAttributeType))
    },
    Sample(name: "an inherited name of another kind", says: "and this is an attribute of type Date") {
      owner, pet in
      owner.subentities = [pet]
      pet.properties.append(Self.attribute("pets", .dateAttributeType))
    },
    Sample(name: "an inherited name", says: "an ancestor has") { owner, pet in
      owner.subentities = [pet]
      pet.properties.append(Self.attribute("name", .stringAttributeType))
    },
    Sample(name: "a parent outside the model", says: "its parent 'Stray' is not in the model") { owner, _ in
      let stray = NSEntityDescription()
      stray.name = "Stray"
      stray.subentities = [owner]
    },
    Sample(name: "an entity that nothing leads to", says: "leads to it", severity: .note) { owner, pet in
      owner.properties = []
      pet.properties = [Self.attribute("name", .stringAttributeType)]
    },
    Sample(name: "a property that is no kind of property", says: "can't be stored") { owner, _ in
      let bare = NSPropertyDescription()
      bare.name = "bare"
      owner.properties.append(bare)
    },
    Sample(name: "a word of Swift", says: "code has to write `default`", severity: .note) { owner, _ in
      owner.properties.append(Self.attribute("default", .stringAttributeType))
    },
    Sample(name: "a class of two entities", says: "can't tell which", severity: .warning) { owner, pet in
      owner.managedObjectClassName = "Being"
      pet.managedObjectClassName = "Being"
    },
    Sample(name: "a class called as a common type", says: "hides the type Task", severity: .note) {
      $1.managedObjectClassName = "Shop.Task"
    },
    Sample(
      name: "two properties that were one", says: "it was 'label' by its renaming identifier",
      severity: .warning
    ) { owner, _ in
      owner.attributesByName["name"]?.renamingIdentifier = "label"
      let title = Self.attribute("title", .stringAttributeType)
      title.renamingIdentifier = "label"
      owner.properties.append(title)
    },
    Sample(
      name: "names that are exchanged", says: "'name' and 'title' exchange their names", severity: .warning
    ) { owner, _ in
      owner.attributesByName["name"]?.renamingIdentifier = "title"
      let title = Self.attribute("title", .stringAttributeType)
      title.renamingIdentifier = "name"
      owner.properties.append(title)
    },
    Sample(name: "a derivation of nothing", says: "has no expression") { owner, _ in
      let derived = NSDerivedAttributeDescription()
      derived.name = "derived"
      derived.attributeType = .stringAttributeType
      owner.properties.append(derived)
    },
    Sample(name: "a composite of nothing", says: "no elements") { owner, _ in
      let composite = NSCompositeAttributeDescription()
      composite.name = "place"
      owner.properties.append(composite)
    },
    Sample(name: "a default that is too large", says: "70000 does not fit into an Integer 16") { owner, _ in
      owner.properties.append(Self.attribute("age", .integer16AttributeType, default: 70000))
    },
    Sample(name: "a default that is no number", says: "its default value is nan, which is no finite number") {
      owner, _ in
      let price = Self.attribute("price", .doubleAttributeType)
      price.defaultValue = NSNumber(value: Double.nan)
      owner.properties.append(price)
    },
    Sample(name: "an infinite default", says: "its default value is inf, which is no finite number") {
      owner, _ in
      let price = Self.attribute("price", .doubleAttributeType)
      price.defaultValue = NSNumber(value: Double.infinity)
      owner.properties.append(price)
    },
    Sample(name: "a decimal default that is no number", says: "which is no finite number") { owner, _ in
      let price = Self.attribute("price", .decimalAttributeType)
      price.defaultValue = NSDecimalNumber.notANumber
      owner.properties.append(price)
    },
    Sample(name: "a default that is too large for a Float", says: "does not fit into a Float") { owner, _ in
      let price = Self.attribute("price", .floatAttributeType)
      price.defaultValue = NSNumber(value: 1e39)
      owner.properties.append(price)
    },
    Sample(name: "a bound that is no number", says: "its bound nan is no finite number") { owner, _ in
      let price = Self.attribute("price", .doubleAttributeType)
      price.setValidationPredicates(
        [NSPredicate(format: "SELF >= %@", NSNumber(value: Double.nan))], withValidationWarnings: ["least"])
      owner.properties.append(price)
    },
    Sample(name: "a default out of bounds", says: "refused by its own validation", severity: .warning) {
      owner, _ in
      let age = Self.attribute("age", .integer16AttributeType, default: 0)
      age.setValidationPredicates([NSPredicate(format: "SELF >= 1")], withValidationWarnings: ["young"])
      owner.properties.append(age)
    },
    Sample(name: "bounds that cross", says: "no value is valid by both") { owner, _ in
      let age = Self.attribute("age", .integer16AttributeType)
      age.setValidationPredicates(
        [NSPredicate(format: "SELF >= 9"), NSPredicate(format: "SELF <= 5")],
        withValidationWarnings: ["young", "old"])
      owner.properties.append(age)
    },
    Sample(name: "a transformer of any class", says: "objects of any class", severity: .warning) { owner, _ in
      owner.attributesByName["name"]?.attributeType = .transformableAttributeType
      owner.attributesByName["name"]?.valueTransformerName = "NSKeyedUnarchiveFromData"
    },
    Sample(name: "an optional Boolean", says: "true, false or nil", severity: .note) { owner, _ in
      owner.properties.append(Self.attribute("isOld", .booleanAttributeType))
    },
    Sample(name: "an optional scalar", says: "reads as 0", severity: .note) { owner, _ in
      let age = Self.attribute("age", .integer16AttributeType)
      age.usesScalarValueType = true
      owner.properties.append(age)
    },
    Sample(
      name: "a required inverse that is nullified", says: "sets Pet.owner to nil, which is required",
      severity: .warning
    ) { $1.relationshipsByName["owner"]?.isOptional = false },
    Sample(name: "a required object that can't be", says: "no object of this entity can be saved") {
      owner, pet in
      owner.isAbstract = true
      pet.relationshipsByName["owner"]?.isOptional = false
    },
    Sample(name: "a required parent", says: "the first object can be saved only", severity: .warning) {
      owner, _ in
      let parent = NSRelationshipDescription()
      parent.name = "parent"
      (parent.maxCount, parent.isOptional, parent.destinationEntity) = (1, false, owner)
      owner.properties.append(parent)
    },
    Sample(name: "denial on both sides", says: "neither side can ever be deleted", severity: .warning) {
      owner, pet in
      for side in [owner.relationshipsByName["pets"], pet.relationshipsByName["owner"]] {
        side?.deleteRule = .denyDeleteRule
        side?.isOptional = false
        side?.minCount = 1
      }
    },
    Sample(name: "a cascade to the owner", says: "deletes the object that it belongs to", severity: .warning)
    {
      $1.relationshipsByName["owner"]?.deleteRule = .cascadeDeleteRule
    },
    Sample(name: "a cascade to shared objects", says: "that others of Owner refer to", severity: .warning) {
      owner, pet in
      owner.relationshipsByName["pets"]?.deleteRule = .cascadeDeleteRule
      pet.relationshipsByName["owner"]?.maxCount = 0
    },
    Sample(name: "a constraint on an optional attribute", says: "in which it is nil", severity: .note) {
      owner, _ in owner.uniquenessConstraints = [["name"]]
    },
    Sample(name: "an index of nothing", says: "the index has no elements", severity: .warning) { owner, _ in
      owner.indexes = [NSFetchIndexDescription(name: "byNothing", elements: [])]
    },
    Sample(
      name: "a template that wants an index", says: "it fetches Owner by name, which no index begins with",
      severity: .warning
    ) { owner, _ in
      let request = NSFetchRequest<any NSFetchRequestResult>()
      request.entity = owner
      request.predicate = try NSPredicate(parsing: "name == $NAME AND pets.@count > 1", arguments: [])
      owner.managedObjectModel.setFetchRequestTemplate(request, forName: "named")
    },
    Sample(name: "a template that is never true", says: "doesn't fit", severity: .warning) { owner, _ in
      let request = NSFetchRequest<any NSFetchRequestResult>()
      request.entity = owner
      request.predicate = try NSPredicate(parsing: "name == 3", arguments: [])
      owner.managedObjectModel.setFetchRequestTemplate(request, forName: "three")
    },
    Sample(name: "a code that is none", says: "names 'no-invers'", severity: .warning) { owner, _ in
      owner.userInfo = [ModelProblem.ignoringKey: "no-invers, no-action"]
    },
  ]

  private static func attribute(_ name: String, _ type: NSAttributeType, default value: Any? = nil)
    -> NSAttributeDescription
  {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.defaultValue = value
    return attribute
  }

  private static func setIndex(
    of owner: NSEntityDescription, condition: String? = nil, expression: String = "lowercase:(name)"
  ) throws {
    let column = NSExpressionDescription()
    column.name = "column"
    column.expression = try NSExpression(parsing: expression)
    column.expressionResultType = .stringAttributeType
    let index = NSFetchIndexDescription(
      name: "byExpression",
      elements: [NSFetchIndexElementDescription(property: column, collationType: .binary)])
    index.partialIndexPredicate = try condition.map { try NSPredicate(parsing: $0, arguments: []) }
    owner.indexes = [index]
  }

  @Test func `an index with a condition and an expression that fit is well`() throws {
    let model = Self.sound()
    try Self.setIndex(of: model.entities[0], condition: "name != nil AND name BEGINSWITH 'a'")
    #expect(model.problems() == [])
  }

  @Test func `each rule is shown by a model and explained by a section`() throws {
    var provoked: Set<String> = []
    for sample in Self.samples {
      let model = Self.sound()
      try sample.spoil(model.entities[0], model.entities[1])
      provoked.formUnion(model.problems(downTo: .note).map(\.code))
    }
    #expect(ModelProblem.codes.filter { !provoked.contains($0) } == [])
    let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Documentation/lint.md")
    let text: String = try String(contentsOf: page, encoding: .utf8)
    let headings: [String] = text.split(separator: "\n").filter { $0.hasPrefix("### ") }
      .map { String($0.dropFirst(4)) }
    // The last one is of the command, which asks the generator.
    #expect(headings.sorted() == (ModelProblem.codes + ["generated-code"]).sorted())
  }

  @Test(arguments: ["Item", ".Item", "Shop.Item", "Outer.Inner.Item", "_TtC4Shop4Item", "Bücherregal"])
  func `a class may be named with its module`(name: String) throws {
    let model = Self.sound()
    model.entities[0].managedObjectClassName = name
    #expect(model.problems() == [])
  }

  @Test func `rules are ignored for a property, an entity or the model`() throws {
    func model() -> NSManagedObjectModel {
      let model = Self.sound()
      for entity in model.entities {
        entity.relationshipsByName.values.first?.deleteRule = .noActionDeleteRule
      }
      return model
    }
    #expect(model().problems().map(\.place) == ["Owner.pets", "Pet.owner"])
    #expect(model().problems(ignoring: ["no-action"]) == [])
    #expect(model().problems(ignoring: ["*"]) == [])
    let one = model()
    one.entitiesByName["Owner"]?.relationshipsByName["pets"]?.userInfo = [
      ModelProblem.ignoringKey: "no-inverse, no-action"
    ]
    #expect(one.problems().map(\.place) == ["Pet.owner"])
    let other = model()
    other.entitiesByName["Pet"]?.userInfo = [ModelProblem.ignoringKey: "*"]
    #expect(other.problems().map(\.place) == ["Owner.pets"])
    #expect(other.problems(downTo: .error) == [])
  }

  @Test(arguments: samples) func `each problem is found and explained`(sample: Sample) throws {
    let model = Self.sound()
    try sample.spoil(model.entities[0], model.entities[1])
    let problems = model.problems(downTo: .note)
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
      for problem in model.problems(downTo: .note) {
        if problem.severity == .error {
          #expect(
            mistakes.contains { problem.description.contains($0) },
            "\(FixtureFolder.relative(url)): \(problem)")
        } else {
          warnings[problem.code, default: 0] += 1
        }
      }
    }
    print("warnings over all real models: \(warnings)")
    #expect(warnings.values.reduce(0, +) > 0)
  }

  @Test(.enabled(if: FixtureFolder.isPresent && StoreBlobs.isPossible, "\(FixtureFolder.absence)"))
  func `no error is found in a model that Apple's framework cached in a store`() throws {
    var counts = (models: 0, entities: 0)
    var found: [String: Int] = [:]
    for url in StoreBlobs.stores() {
      guard let blob = try StoreBlobs.read(url)?.model else { continue }
      let model = try NSManagedObjectModel.load(cachedModelBlob: blob, source: url.lastPathComponent).model
      let problems: [ModelProblem] = model.problems()
      let errors: [ModelProblem] = problems.filter { $0.severity == .error }
      #expect(errors.isEmpty, "\(url.lastPathComponent): \(errors.map(\.description))")
      for problem in problems { found[problem.code, default: 0] += 1 }
      counts.models += 1
      counts.entities += model.entities.count
    }
    print("cached models: \(counts), warnings: \(found)")
    #expect(counts.models == 20)
  }
}
