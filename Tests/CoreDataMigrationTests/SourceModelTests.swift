import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Stores whose version nobody has any more, and which carry no model.
@Suite("An XML or binary store of an unknown version is read with the version that its objects fit")
struct SourceModelTests {
  private typealias Attribute = (name: String, type: NSAttributeType, former: String?)

  private static func version(_ attributes: [Attribute], tag: String = "title") -> NSManagedObjectModel {
    let item = World.entity(
      "Item",
      attributes.map { name, type, former in
        let attribute = World.attribute(name, type)
        if let former { attribute.renamingIdentifier = former }
        return attribute
      })
    let tags = World.entity("Tag", [World.attribute(tag, .stringAttributeType)])
    World.pair(item, "tags", .many, .nullifyDeleteRule, tags, "items", .many, .nullifyDeleteRule)
    let model = NSManagedObjectModel()
    model.entities = [item, tags]
    for entity in model.entities { entity.managedObjectClassName = nil }
    return model
  }

  /// The same with other hashes: a version that no file has.
  private static func lost(_ model: NSManagedObjectModel, _ entities: [String]) -> NSManagedObjectModel {
    for name in entities { model.entitiesByName[name]!.versionHashModifier = "lost" }
    return model
  }

  private static let names: [Attribute] = [
    ("name", .stringAttributeType, nil), ("rank", .integer16AttributeType, nil),
  ]
  private static let labels: [Attribute] = [
    ("label", .stringAttributeType, "name"), ("rank", .integer32AttributeType, nil),
  ]

  private static func fill(_ context: NSManagedObjectContext, tags: Bool) throws {
    for number in 1...3 {
      let item = Versions.make("Item", ["name": "item \(number)", "rank": number], context)
      if tags { item.setValue(NSSet(object: Versions.make("Tag", [:], context)), forKey: "tags") }
    }
    try context.save()
  }

  private static func labels(_ context: NSManagedObjectContext) throws -> [String] {
    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).map { item in
      let tags: Int = item.mutableSetValue(forKey: "tags").count
      return "\(item.value(forKey: "label") ?? "nil") \(item.value(forKey: "rank") ?? "nil") \(tags)"
    }.sorted()
  }

  @Test("names whose upper and lower case have other letters are found in a document")
  func caseless() throws {
    let folder = try TemporaryFolder()
    let former: [Attribute] = [("größe", .stringAttributeType, nil)]
    let program = try SourceModel.write(
      [Self.version(former), Self.version([("label", .stringAttributeType, "größe")])], in: folder)
    let url: URL = folder.file("store")
    try Versions.using(Self.lost(Self.version(former), ["Item", "Tag"]), .xml, url) { context in
      _ = Versions.make("Item", ["größe": "XL"], context)
      try context.save()
    }
    let found: [String] = try Versions.using(program, .xml, url, Versions.automatic) { context in
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).map {
        "\($0.value(forKey: "label") ?? "nil")"
      }
    }
    #expect(found == ["XL"])
  }

  @Test("an XML store by the names and types of its document, a binary one by the hashes of its objects")
  func fitting() throws {
    for (kind, entities) in [(StoreKind.xml, ["Item", "Tag"]), (.binary, ["Tag"])] {
      let folder = try TemporaryFolder()
      let program = try SourceModel.write([Self.version(Self.names), Self.version(Self.labels)], in: folder)
      let url: URL = folder.file("store")
      try Versions.using(Self.lost(Self.version(Self.names), entities), kind, url) {
        try Self.fill($0, tags: kind == .xml)
      }
      let plan = try MigrationPlan(forStoreAt: url, to: program)
      #expect(plan.warnings.contains { $0.contains("read as Shop 1") }, "\(plan)")
      #expect(plan.losses == [])
      let found: [String] = try Versions.using(program, kind, url, Versions.automatic) {
        try Self.labels($0)
      }
      let tags: Int = kind == .xml ? 1 : 0
      #expect(found == (1...3).map { "item \($0) \($0) \(tags)" })
    }
  }

  @Test("the program's own version is one of them")
  func own() throws {
    let folder = try TemporaryFolder()
    let program = try SourceModel.write([Self.version(Self.names)], in: folder)
    let url: URL = folder.file("store.xml")
    try Versions.using(Self.lost(Self.version(Self.names), ["Item", "Tag"]), .xml, url) {
      try Self.fill($0, tags: true)
    }
    let count: Int = try Versions.using(program, .xml, url, Versions.automatic) {
      try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
    }
    #expect(count == 3)
    // It has the program's version now.
    #expect(try MigrationPlan(forStoreAt: url, to: program).isNeeded == false)
  }

  @Test("what would be a guess is refused, and the store stays as it is")
  func guesses() throws {
    func refusal(
      _ versions: [NSManagedObjectModel], _ lost: NSManagedObjectModel, _ kind: StoreKind
    ) throws -> String {
      let folder = try TemporaryFolder()
      let program = try SourceModel.write(versions, in: folder)
      let url: URL = folder.file("store")
      try Versions.using(lost, kind, url) { try Self.fill($0, tags: true) }
      let before: Data = try Data(contentsOf: url)
      let error = errorThrown { try Versions.using(program, kind, url, Versions.automatic) { _ in } }
      #expect(error?.code == NSMigrationMissingSourceModelError)
      #expect(try Data(contentsOf: url) == before)
      return error?.localizedDescription ?? ""
    }
    let (first, second) = (Self.version(Self.names), Self.version(Self.labels))
    func lost() -> NSManagedObjectModel { Self.lost(Self.version(Self.names), ["Item", "Tag"]) }
    // A binary store does not name its attributes.
    #expect(try refusal([first, second], lost(), .binary).contains("its Item is another"))
    // Numbers of another type.
    let wide = Self.version([("name", .stringAttributeType, nil), ("rank", .doubleAttributeType, nil)])
    #expect(
      try refusal([wide, second], lost(), .xml).contains("Item.rank is double, and int16 in the store"))
    // In the second version `name` is something new, and the old one has become `label`.
    let both = Self.version(
      [("label", .stringAttributeType, "name"), ("rank", .integer16AttributeType, nil)]
        + [("name", .stringAttributeType, "other")])
    let guess: String = try refusal([Self.version(Self.names), both, second], lost(), .xml)
    #expect(guess.contains("Its objects fit Shop 1, Shop 2, which would make different things"), "\(guess)")
  }
}
