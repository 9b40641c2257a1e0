import CoreData
import Foundation
import StackSupport
import TestSupport

/// A whole file, from which damaged ones are made.
struct DamagedSource {
  let type: String
  let whole: [UInt8]
  let model: NSManagedObjectModel
  /// An entity of which an object is added.
  let newEntity: String

  /// A store with values of every kind, and those that Apple's framework wrote.
  static func all(_ type: String, in folder: TemporaryFolder) throws -> [DamagedSource] {
    let url: URL = folder.file("whole.store")
    let own = DamagedSource(type: type, whole: [], model: World.shared, newEntity: "Item")
    let context: NSManagedObjectContext = try own.open(url)
    try context.performAndWait {
      for title in ["a<b", "c\\d", "e\u{301}"] {
        let item: Item = context.item(title, context.category(title))
        item.tags = [Tag(context: context)]
        _ = context.make(
          "Kinds",
          [
            "date": Date(), "bytes": Data(title.utf8), "uuid": UUID(), "i16": 3, "double": 0.1,
            "decimal": NSDecimalNumber(string: "1.25"), "uri": url,
            "thing": ["k": [title, 5]] as NSDictionary,
          ])
      }
      try context.save()
    }
    let fixtures: [AppleStore] = (type == NSXMLStoreType ? AppleStore.documents : AppleStore.binaries)
      .compactMap { try? AppleStore($0) }
    let apples: [DamagedSource] = try fixtures.map {
      DamagedSource(
        type: type, whole: [UInt8](try Data(contentsOf: $0.url)), model: $0.model,
        newEntity: $0.model.entities.compactMap(\.name).filter { $0 != "ROOT" }.sorted().first ?? "")
    }
    // Large documents take long, and are damaged no differently.
    return [
      DamagedSource(
        type: type, whole: [UInt8](try Data(contentsOf: url)), model: own.model, newEntity: "Item")
    ]
      + apples.filter { $0.whole.count < 40_000 }
  }

  func open(_ url: URL) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: url,
      options: model === World.shared ? nil : [NSIgnorePersistentStoreVersioningOption: true])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  func damagedBytes(_ random: inout SeededRandom) -> Data {
    var bytes: [UInt8] = whole
    for _ in 0...Int.random(in: 0..<3, using: &random) {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      let length = Int.random(in: 1..<400, using: &random)
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 2: bytes.removeSubrange(place..<min(bytes.count, place + length))
      case 3: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + length)], at: place)
      case 4: bytes.removeSubrange(place...)
      case 5: swap(&bytes, place, length, &random)
      case 6: enlarge(&bytes, place, &random)
      default:
        if type == NSXMLStoreType {
          bytes.insert(contentsOf: Array("<a><b c='d'>&#0;&x;]]>".utf8), at: place)
        } else {
          refer(&bytes, place, &random)
        }
      }
      if bytes.isEmpty { break }
    }
    return Data(bytes)
  }

  /// Exchanges two parts.
  private func swap(_ bytes: inout [UInt8], _ place: Int, _ length: Int, _ random: inout SeededRandom) {
    let other = Int.random(in: 0..<bytes.count, using: &random)
    for offset in 0..<min(length, bytes.count - max(place, other)) {
      bytes.swapAt(place + offset, other + offset)
    }
  }

  /// Puts a large number somewhere: at any place, in the header, or in a trailer.
  private func enlarge(_ bytes: inout [UInt8], _ place: Int, _ random: inout SeededRandom) {
    let places: [Int] = [place, Int.random(in: 8..<64, using: &random), bytes.count - 24, bytes.count - 16]
    let start: Int = max(0, places[Int.random(in: 0..<places.count, using: &random)])
    let value: UInt64 = [
      .max, UInt64(Int64.max), 1 << 62, 1 << 32, UInt64(bytes.count), UInt64(UInt16.max),
    ][Int.random(in: 0..<6, using: &random)]
    for (offset, byte) in withUnsafeBytes(of: value.bigEndian, Array.init).enumerated()
    where start + offset < bytes.count {
      bytes[start + offset] = byte
    }
  }

  /// Makes an object of a binary property list contain others, itself perhaps, or many.
  private func refer(_ bytes: inout [UInt8], _ place: Int, _ random: inout SeededRandom) {
    let markers: [UInt8] = [0xA1, 0xAF, 0xD2, 0x80, 0x81, 0x5F, 0x6F, 0x4F, 0x14, 0x00]
    bytes[place] = markers[Int.random(in: 0..<markers.count, using: &random)]
  }
}

/// A store that Apple's framework wrote, with a model that fits.
struct AppleStore {
  let url: URL
  let model: NSManagedObjectModel
  private let type: String

  static let documents: [URL] = files("stores-xml")
  static let binaries: [URL] = files("stores-binary")

  private static func files(_ name: String) -> [URL] {
    guard let folder = SharedFiles.fixtures?.appendingPathComponent(name) else { return [] }
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
    return (files?.allObjects as? [URL] ?? []).filter {
      (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true
    }.sorted { $0.path < $1.path }
  }

  init(_ url: URL) throws {
    self.url = url
    let bytes = try Data(contentsOf: url)
    if bytes.starts(with: Data("CoreData".utf8)) {
      type = NSBinaryStoreType
      model = try BinaryFile(bytes).model()
    } else {
      type = NSXMLStoreType
      model = try Self.model(of: String(decoding: bytes, as: UTF8.self))
    }
  }

  func open(_ copy: URL) throws -> NSManagedObjectContext {
    try DamagedSource(type: type, whole: [], model: model, newEntity: "").open(copy)
  }

  /// A model that fits a document, made of the types that the document names; without inverses. A document
  /// does not tell which entities are sub-entities: all of them have one parent, to which relationships lead.
  private static func model(of text: String) throws -> NSManagedObjectModel {
    let types: [String: NSAttributeType] = [
      "string": .stringAttributeType, "bool": .booleanAttributeType, "int16": .integer16AttributeType,
      "int32": .integer32AttributeType, "int64": .integer64AttributeType, "float": .floatAttributeType,
      "date": .dateAttributeType, "binary": .binaryDataAttributeType,
    ]
    var draft = ModelDraft()
    var current: String = ""
    let tag = try Regex(#"<(object|attribute|relationship) ([^>]*)>"#)
    let pair = try Regex(#"([a-z]+)="([^"]*)""#)
    for match in text.matches(of: tag) {
      var values: [String: String] = [:]
      for found in String(match.output[2].substring ?? "").matches(of: pair) {
        values[String(found.output[1].substring ?? "")] = String(found.output[2].substring ?? "")
      }
      switch match.output[1].substring {
      case "object": current = values["type"] ?? ""
      case "attribute":
        draft.add(
          current, values["name"] ?? "", .attribute(types[values["type"] ?? ""] ?? .stringAttributeType))
      default:
        draft.add(
          current, values["name"] ?? "", .relationship(isToOne: values["type"]?.hasSuffix("/1") == true))
      }
    }
    return draft.model
  }
}

/// Entities with one abstract parent, ROOT, to which all relationships lead.
struct ModelDraft {
  enum Property {
    case attribute(NSAttributeType)
    case relationship(isToOne: Bool)
  }

  private var entities: [String: [String: Property]] = [:]

  mutating func add(_ entity: String, _ name: String, _ property: Property) {
    if entities[entity]?[name] == nil { entities[entity, default: [:]][name] = property }
  }

  var model: NSManagedObjectModel {
    let root = NSEntityDescription()
    root.name = "ROOT"
    root.isAbstract = true
    root.subentities = entities.sorted { $0.key < $1.key }.map { name, properties in
      let entity = NSEntityDescription()
      entity.name = name
      entity.properties = properties.sorted { $0.key < $1.key }.map { name, property in
        switch property {
        case .attribute(let type): return World.attribute(name, type)
        case .relationship(let isToOne):
          let made = NSRelationshipDescription()
          made.name = name
          made.isOptional = true
          made.destinationEntity = root
          made.maxCount = isToOne ? 1 : 0
          return made
        }
      }
      return entity
    }
    let model = NSManagedObjectModel()
    model.entities = [root] + root.subentities
    return model
  }
}
