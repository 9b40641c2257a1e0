import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// XML stores that Apple's framework wrote, and damaged ones.
@Suite
struct HostileXMLTests {
  // MARK: Files of Apple's framework

  private static let fixtures: [URL] = {
    guard let folder = SharedFiles.fixtures?.appendingPathComponent("stores-xml") else { return [] }
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
    return (files?.allObjects as? [URL] ?? []).filter {
      (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true
    }.sorted { $0.path < $1.path }
  }()

  /// A model that fits a document, made of the types that the document names; without inverses. A document
  /// does not tell which entities are sub-entities: all of them have one parent, to which relationships lead.
  private static func model(of text: String) throws -> NSManagedObjectModel {
    let types: [String: NSAttributeType] = [
      "string": .stringAttributeType, "bool": .booleanAttributeType, "int16": .integer16AttributeType,
      "int32": .integer32AttributeType, "int64": .integer64AttributeType, "float": .floatAttributeType,
      "date": .dateAttributeType, "binary": .binaryDataAttributeType,
    ]
    let root = NSEntityDescription()
    root.name = "ROOT"
    root.isAbstract = true
    var entities: [String: NSEntityDescription] = [:]
    func entity(_ name: String) -> NSEntityDescription {
      if let known = entities[name] { return known }
      let made = NSEntityDescription()
      made.name = name
      entities[name] = made
      return made
    }
    var current: NSEntityDescription?
    let tag = try Regex(#"<(object|attribute|relationship) ([^>]*)>"#)
    let pair = try Regex(#"([a-z]+)="([^"]*)""#)
    for match in text.matches(of: tag) {
      var values: [String: String] = [:]
      for found in String(match.output[2].substring ?? "").matches(of: pair) {
        values[String(found.output[1].substring ?? "")] = String(found.output[2].substring ?? "")
      }
      switch match.output[1].substring {
      case "object": current = entity(values["type"] ?? "")
      case "attribute":
        guard let current, let name = values["name"], current.propertiesByName[name] == nil else { continue }
        current.properties.append(World.attribute(name, types[values["type"] ?? ""] ?? .stringAttributeType))
      default:
        guard let current, let name = values["name"], current.propertiesByName[name] == nil else { continue }
        let made = NSRelationshipDescription()
        made.name = name
        made.isOptional = true
        made.destinationEntity = root
        made.maxCount = values["type"]?.hasSuffix("/1") == true ? 1 : 0
        current.properties.append(made)
      }
    }
    let model = NSManagedObjectModel()
    root.subentities = entities.values.sorted { ($0.name ?? "") < ($1.name ?? "") }
    model.entities = [root] + root.subentities
    return model
  }

  @Test(
    .enabled(if: !fixtures.isEmpty, "There are no fixtures; set CLARUS_FIXTURES to their folder."),
    arguments: fixtures)
  func `a document of Apple's framework is read whole, and written again without loss`(url: URL) throws {
    let folder = try TemporaryFolder()
    let copy: URL = folder.file("a.xml")
    let text = try String(contentsOf: url, encoding: .utf8)
    try Data(text.utf8).write(to: copy)
    let model: NSManagedObjectModel = try Self.model(of: text)
    let values: Set<String> = Set(Self.attributes(text))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let options: [AnyHashable: Any] = [NSIgnorePersistentStoreVersioningOption: true]
    try coordinator.addPersistentStore(
      ofType: NSXMLStoreType, configurationName: nil, at: copy, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let all: [NSManagedObject] = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "ROOT"))
      #expect(all.count == text.components(separatedBy: "<object ").count - 1)
      let any: NSManagedObject = try #require(all.first)
      let key: String = try #require(any.entity.attributesByName.keys.sorted().first)
      let old: Any? = any.value(forKey: key)
      any.setValue(nil, forKey: key)
      try context.save()
      any.setValue(old, forKey: key)
      try context.save()
    }
    #expect(Set(Self.attributes(try String(contentsOf: copy, encoding: .utf8))) == values)
  }

  /// Each attribute as text, the same for values that are spelled differently.
  private static func attributes(_ text: String) -> [String] {
    text.components(separatedBy: "<attribute ").dropFirst().compactMap { part in
      guard let end = part.range(of: "</attribute>") else { return nil }
      let line = String(part[..<end.lowerBound])
      guard line.contains("type=\"date\""), let start = line.range(of: ">"),
        let seconds = Double(line[start.upperBound...])
      else { return line }
      return "\(line[..<start.upperBound])\(seconds)"
    }
  }

  // MARK: Damage

  private static let seeds: Int = Soak.isOn ? 10_000 : 400

  @Test func `damaged documents are read or refused with words, and saves to them lose nothing`() throws {
    let folder = try TemporaryFolder()
    let (url, damaged): (URL, URL) = (folder.file("a.xml"), folder.file("d.xml"))
    let context: NSManagedObjectContext = try Self.open(url)
    try context.performAndWait {
      for title in ["a<b", "c\\d", "e"] {
        let item: Item = context.item(title, context.category(title))
        item.tags = [Tag(context: context)]
        _ = context.make("Kinds", ["date": Date(), "bytes": Data(title.utf8), "uuid": UUID(), "i16": 3])
      }
      try context.save()
    }
    let whole = [UInt8](try Data(contentsOf: url))
    var refused: Int = 0
    for seed in 0..<Self.seeds {
      var random = SeededRandom(seed: UInt64(seed))
      var bytes: [UInt8] = whole
      for _ in 0...Int.random(in: 0..<3, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1:
          bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1..<400, using: &random)))
        case 2: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 300)], at: place)
        case 3: bytes.removeSubrange(place...)
        default: bytes.insert(contentsOf: Array("<a><b c='d'>&#0;&x;]]>".utf8), at: place)
        }
        if bytes.isEmpty { break }
      }
      try Data(bytes).write(to: damaged)
      do {
        let opened: NSManagedObjectContext = try Self.open(damaged)
        try opened.performAndWait {
          for name in ["Item", "Category", "Tag", "Kinds"] {
            for object in try opened.all(NSManagedObject.self, name) {
              for key in object.entity.propertiesByName.keys { _ = object.value(forKey: key) }
            }
          }
          _ = opened.item("new")
          try opened.save()
        }
        let again: NSManagedObjectContext = try Self.open(damaged)
        let titles: [String?] = try again.performAndWait { try again.all(Item.self, "Item").map(\.title) }
        #expect(titles.contains("new"), "seed \(seed)")
      } catch let error as NSError {
        refused += 1
        #expect(error.domain == NSCocoaErrorDomain, "seed \(seed): \(error)")
      }
    }
    #expect(refused > Self.seeds / 4)
  }

  private static func open(_ url: URL) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    try coordinator.addPersistentStore(ofType: NSXMLStoreType, configurationName: nil, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }
}
