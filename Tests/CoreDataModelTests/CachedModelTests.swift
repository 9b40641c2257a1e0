import CoreDataArchives
import CoreDataModelChecking
import CoreDataPredicates
import Foundation
import Testing

@testable import CoreDataModel

/// The form that a model has in a store, and in a `.mom` file.
@Suite struct CachedModelTests {
  /// The objects of an archive whose class is a kind of property, with their fields.
  private func properties(_ archive: KeyedArchive) throws -> [KeyedArchive.Record] {
    try archive.objects.indices.compactMap { try archive.record(at: $0) }
      .filter { $0.isKind(of: "NSPropertyDescription") }
  }

  private func archive(_ model: NSManagedObjectModel, _ form: ModelArchiveWriter.Form) throws -> KeyedArchive
  {
    try KeyedArchive(ModelArchiveWriter.write(model, as: form))
  }

  private func entity(_ name: String, in archive: KeyedArchive) throws -> KeyedArchive.Record {
    try #require(
      archive.objects.indices.compactMap { try archive.record(at: $0) }.first { record in
        record.className == "NSEntityDescription" && (try? text(record, "NSEntityName", archive)) == name
      })
  }

  private func text(_ record: KeyedArchive.Record, _ key: String, _ archive: KeyedArchive) throws -> String? {
    guard case .string(let text)? = try archive.resolve(record.fields[key]) else { return nil }
    return text
  }

  /// The properties that an entity lists, by name.
  private func listed(_ name: String, in archive: KeyedArchive) throws -> [String: KeyedArchive.Record] {
    let index: Int = try archive.index(entity(name, in: archive).fields["NSProperties"]) ?? 0
    var result: [String: KeyedArchive.Record] = [:]
    let table: KeyedArchive.Record = try #require(try archive.record(at: index))
    for (_, node) in try archive.pairs(table) {
      let place: Int = try archive.index(node) ?? 0
      let property: KeyedArchive.Record = try #require(try archive.record(at: place))
      result[try text(property, "NSPropertyName", archive) ?? ""] = property
    }
    return result
  }

  // MARK: Flags

  /// Finding C1: in Apple's archives, without exception, each bit agrees with the key beside it.
  private func disagreements(_ archive: KeyedArchive) throws -> [String] {
    let bits: [(key: String, bit: Int64, whenPresent: Bool)] = [
      ("NSIsOptional", 0x2, true), ("NSIsReadOnly", 0x4, true), ("NSIsTransient", 0x8, true),
      ("NSValidationPredicates", 0x10, false), ("NSValidationWarnings", 0x20, false),
      ("NSUserInfo", 0x40, false), ("NSVersionHashModifier", 0x80, false),
      ("NSIndexedBySpotlight", 0x100, true), ("NSIsOrdered", 0x400, true),
      ("NSAllowsCloudEncryption", 0x800, true),
    ]
    var result: [String] = []
    for property in try properties(archive) {
      guard case .integer(let flags)? = property.fields["_P"] else { continue }
      // Older compilers leave the bit for user info out, which denies nothing.
      for (key, bit, whenPresent) in bits {
        let isThere: Bool = property.fields[key] != nil
        let isClaimed: Bool = (flags & bit != 0) == whenPresent
        guard isClaimed != isThere else { continue }
        if bit == 0x40, !isThere { continue }
        result.append("\(property.className) \(property.index): \(key), flags \(flags)")
      }
    }
    return result
  }

  private func richModel() -> NSManagedObjectModel {
    let model: NSManagedObjectModel = PeopleModel.make()
    let person: NSEntityDescription = model.entitiesByName["Person"]!
    person.attributesByName["name"]!.versionHashModifier = "2"
    person.attributesByName["name"]!.userInfo = ["note": "x"]
    person.attributesByName["age"]!.setValidationPredicates(
      [NSPredicate(format: "SELF >= 0")], withValidationWarnings: ["too young"])
    person.attributesByName["age"]!.isIndexedBySpotlight = true
    person.attributesByName["site"]!.allowsCloudEncryption = true
    person.attributesByName["site"]!.isOptional = false
    return model
  }

  @Test(arguments: [ModelArchiveWriter.Form.file, .cache])
  func `the flags of a property deny no key that is there`(form: ModelArchiveWriter.Form) throws {
    #expect(try disagreements(archive(richModel(), form)) == [])
  }

  @Test(.enabled(if: FixtureFolder.isPresent && StoreBlobs.isPossible, "\(FixtureFolder.absence)"))
  func `the flags of Apple's archives follow the same rule, and so do ours of the same models`() throws {
    var count: Int = 0
    for url in StoreBlobs.stores() {
      guard let blob = try StoreBlobs.read(url)?.model else { continue }
      #expect(try disagreements(KeyedArchive(RawDeflate.expand(blob))) == [], "\(url.lastPathComponent)")
      let model: NSManagedObjectModel = try NSManagedObjectModel.load(cachedModelBlob: blob, source: "a")
        .model
      #expect(try disagreements(archive(model, .cache)) == [], "\(url.lastPathComponent)")
      count += 1
    }
    #expect(count > 15)
  }

  // MARK: Inheritance

  // Finding C9: repeated in caches (267 of 267), not in .mom files (0 of 34).
  @Test func `a cache repeats inherited properties under sub-entities, a file doesn't`() throws {
    let model: NSManagedObjectModel = richModel()
    #expect(Set(try listed("Employee", in: archive(model, .file)).keys) == ["title", "reports"])
    let cache: KeyedArchive = try archive(model, .cache)
    let person: [String: KeyedArchive.Record] = try listed("Person", in: cache)
    let chief: [String: KeyedArchive.Record] = try listed("Chief", in: cache)
    #expect(Set(chief.keys) == Set(person.keys).union(["title", "reports", "perks"]))
    for (name, property) in person {
      let repeated: KeyedArchive.Record = try #require(chief[name])
      #expect(repeated.index != property.index)
      #expect(
        try cache.areEqual(
          property.index, repeated.index, ignoring: ["NSEntity"],
          limits: ["NSEntityDescription", "NSRelationshipDescription"]),
        "\(name)")
      #expect(repeated.fields["NSEntity"] == .uid(try entity("Chief", in: cache).index))
    }
  }

  @Test(arguments: [ModelArchiveWriter.Form.file, .cache])
  func `a model comes back from its archive with each property declared once`(form: ModelArchiveWriter.Form)
    throws
  {
    let model: NSManagedObjectModel = richModel()
    let again = try ModelArchiveReader.read(try ModelArchiveWriter.write(model, as: form), file: "again")
    #expect(again.warnings == [])
    #expect(ModelComparison.differences(model, again.model) == [])
    #expect(again.model.entityVersionHashesByName == model.entityVersionHashesByName)
  }

  @Test func `a relationship to a sub-entity has that entity's own object as its inverse`() throws {
    let model: NSManagedObjectModel = richModel()
    let person: NSEntityDescription = model.entitiesByName["Person"]!
    let pet: NSEntityDescription = model.entitiesByName["Pet"]!
    // Pet.owner leads to the sub-entity, though Person declares the inverse.
    pet.relationshipsByName["owner"]!.destinationEntity = model.entitiesByName["Employee"]!
    let cache: KeyedArchive = try archive(model, .cache)
    let owner: KeyedArchive.Record = try #require(try listed("Pet", in: cache)["owner"])
    #expect(
      try cache.index(owner.fields["NSInverseRelationship"]) == listed("Employee", in: cache)["pets"]?.index)
    let again = try ModelArchiveReader.read(try ModelArchiveWriter.write(model, as: .cache), file: "again")
      .model
    let inverse: NSRelationshipDescription? =
      again.entitiesByName["Pet"]?.relationshipsByName["owner"]?.inverseRelationship
    #expect(inverse?.entity?.name == person.name)
  }

  @Test func `a property of a sub-entity that differs from the inherited one hides it`() throws {
    let model: NSManagedObjectModel = richModel()
    let hidden = NSAttributeDescription()
    hidden.name = "name"
    hidden.attributeType = .stringAttributeType
    hidden.isOptional = false
    model.entitiesByName["Chief"]!.properties.append(hidden)
    let again = try ModelArchiveReader.read(try ModelArchiveWriter.write(model, as: .cache), file: "again")
      .model
    #expect(again.entitiesByName["Chief"]?.ownProperties.map(\.name).sorted() == ["name", "perks"])
    #expect(again.entitiesByName["Employee"]?.ownProperties.map(\.name).sorted() == ["reports", "title"])
  }

  // Finding B14: what Apple's framework wrote has no errors.
  @Test(.enabled(if: FixtureFolder.isPresent && StoreBlobs.isPossible, "\(FixtureFolder.absence)"))
  func `models that Apple's framework wrote into stores have no errors`() throws {
    for url in StoreBlobs.stores() {
      guard let blob = try StoreBlobs.read(url)?.model else { continue }
      let loaded: LoadedModel = try NSManagedObjectModel.load(cachedModelBlob: blob, source: url.path)
      let errors: [ModelProblem] = loaded.model.problems().filter { $0.severity == .error }
      #expect(errors.map(\.description) == [], "\(url.lastPathComponent)")
      // What is inherited is declared once, so nothing is said to be there twice.
      #expect(
        !loaded.model.problems().contains { $0.message.contains("an ancestor has") },
        "\(url.lastPathComponent)")
    }
  }

  // MARK: Classes

  // Finding C10.
  @Test func `classes of a cache are those of Apple's caches`() throws {
    let model: NSManagedObjectModel = richModel()
    model.entitiesByName["Toy"]!.managedObjectClassName = "Shop.Toy"
    let cache: KeyedArchive = try archive(model, .cache)
    let rootIndex: Int = try cache.index(cache.top["root"]) ?? 0
    let root: KeyedArchive.Record = try #require(try cache.record(at: rootIndex))
    let tableIndex: Int = try cache.index(root.fields["NSEntities"]) ?? 0
    let entities: KeyedArchive.Record = try #require(try cache.record(at: tableIndex))
    #expect(entities.className == "NSKnownKeysDictionary1")
    #expect(entities.fields["version"] == .integer(1))
    #expect(try cache.pairs(entities).count == 5)
    #expect(try text(entity("Toy", in: cache), "NSClassNameForEntity", cache) == "Shop.Toy")
    #expect(try entity("Pet", in: cache).fields["NSClassNameForEntity"] == .uid(0))
    let file: KeyedArchive = try archive(model, .file)
    #expect(try text(entity("Pet", in: file), "NSClassNameForEntity", file) == "NSManagedObject")
  }

  @Test func `a constant nil is a class that is nil`() throws {
    let model: NSManagedObjectModel = richModel()
    let rule: NSPredicate = NSPredicate(format: "name != nil")
    model.entitiesByName["Person"]!.attributesByName["code"]!.setValidationPredicates(
      [rule], withValidationWarnings: ["no name"])
    let cache: KeyedArchive = try archive(model, .cache)
    let constants: [KeyedArchive.Record] = try cache.objects.indices.compactMap { try cache.record(at: $0) }
      .filter { $0.className == "NSConstantValueExpression" && $0.fields["NSConstantValue"] == nil }
    #expect(constants.count { $0.fields["NSConstantValueClassName"] == .uid(0) } >= 1)
    let again = try ModelArchiveReader.read(try ModelArchiveWriter.write(model, as: .cache), file: "again")
      .model
    let read: NSPredicate? =
      again.entitiesByName["Person"]?.attributesByName["code"]?.validationPredicates.first
    #expect(read?.predicateNode() == rule.predicateNode())
  }

  // MARK: Computed columns

  // Finding C4.
  @Test(arguments: [ModelArchiveWriter.Form.file, .cache])
  func `an index over an expression keeps it`(form: ModelArchiveWriter.Form) throws {
    let model: NSManagedObjectModel = richModel()
    let pet: NSEntityDescription = model.entitiesByName["Pet"]!
    let computed = NSExpressionDescription()
    computed.name = "expression1"
    computed.expression = try NSExpression(parsing: "entity", arguments: [])
    computed.expressionResultType = .objectIDAttributeType
    let index = NSFetchIndexDescription(
      name: "byKind",
      elements: [
        NSFetchIndexElementDescription(property: pet.attributesByName["name"]!, collationType: .binary),
        NSFetchIndexElementDescription(property: computed, collationType: .binary),
      ])
    pet.indexes = [index]
    let again = try ModelArchiveReader.read(try ModelArchiveWriter.write(model, as: form), file: "again")
    #expect(again.warnings == [])
    let element: NSFetchIndexElementDescription = try #require(
      again.model.entitiesByName["Pet"]?.indexes.first?.elements.last)
    #expect(element.property == computed)
    #expect(ModelComparison.differences(model, again.model) == [])
    #expect(model.copy() as? NSManagedObjectModel == model)
    let archive: KeyedArchive = try archive(model, form)
    let record: KeyedArchive.Record = try #require(
      try properties(archive).first { $0.className == "NSExpressionDescription" })
    #expect(record.fields["_P"] == .integer(0xF7))
    #expect(record.fields["NSEntity"] == .uid(0))
    #expect(record.fields["NSExpressionType"] == .integer(2000))
  }
}
