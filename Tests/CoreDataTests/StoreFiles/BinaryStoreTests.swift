import CoreData
import CoreDataArchives
import Foundation
import StackSupport
import TestSupport
import Testing

/// Counts its instances that are decoded.
final class BinaryTrap: NSObject, NSSecureCoding {
  nonisolated(unsafe) static var count: Int = 0
  static let name = NSStringFromClass(BinaryTrap.self)
  static let supportsSecureCoding = true
  override init() {}
  init?(coder: NSCoder) { Self.count += 1 }
  func encode(with coder: NSCoder) {}
}

/// What is particular to binary stores: archived values, and files that are archives.
@Suite
struct BinaryStoreTests {
  private static func open(
    _ url: URL, model: NSManagedObjectModel = World.shared, options: [AnyHashable: Any]? = nil
  ) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSBinaryStoreType, configurationName: nil, at: url, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  // MARK: Transformable values

  nonisolated(unsafe) private static let things: [NSObject] = [
    "text" as NSString, 5 as NSNumber, 0.25 as NSNumber, true as NSNumber,
    Data([1, 2, 3]) as NSData, Data() as NSData, Date(timeIntervalSinceReferenceDate: 1) as NSDate,
    UUID() as NSUUID, URL(string: "https://a.invalid/b")! as NSURL, ["a", ["b": 1]] as NSArray,
    ["k": ["l": Data([9])]] as NSDictionary, NSSet(array: ["x", "y"]),
  ]

  @Test(arguments: things.indices)
  func `a transformable value comes back equal, whatever its class`(place: Int) throws {
    let folder = try TemporaryFolder()
    let first: NSManagedObjectContext = try Self.open(folder.file("a.binary"))
    try first.performAndWait {
      _ = first.make("Kinds", ["thing": Self.things[place]])
      try first.save()
    }
    for _ in 0..<2 {
      let next: NSManagedObjectContext = try Self.open(folder.file("a.binary"))
      try next.performAndWait {
        let object: NSManagedObject = try #require(try next.all(NSManagedObject.self, "Kinds").first)
        #expect((object.value(forKey: "thing") as? NSObject)?.isEqual(Self.things[place]) == true)
        object.setValue(Int16(1), forKey: "i16")
        try next.save()
      }
    }
  }

  /// Archives the value as an object of the store's archive, as Apple's framework does.
  @Test func `the objects of a transformable value are objects of the store's archive`() throws {
    let folder = try TemporaryFolder()
    let context: NSManagedObjectContext = try Self.open(folder.file("a.binary"))
    try context.performAndWait {
      _ = context.make("Kinds", ["thing": ["needle"] as NSArray])
      try context.save()
    }
    let file = try BinaryFile(try Data(contentsOf: folder.file("a.binary")))
    #expect(file.nodes.values.first?.values.contains { $0?.contains("needle") == true } == true)
  }

  private final class Reversed: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? {
      (value as? String).map { Data($0.utf8.reversed()) }
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
      (value as? Data).map { String(decoding: $0.reversed(), as: UTF8.self) }
    }
  }

  @Test func `data of a program's transformer stays as it is`() throws {
    ValueTransformer.setValueTransformer(Reversed(), forName: NSValueTransformerName("ReversedInBinary"))
    let model: NSManagedObjectModel = World.model()
    model.entitiesByName["Kinds"]?.attributesByName["thing"]?.valueTransformerName = "ReversedInBinary"
    let folder = try TemporaryFolder()
    let first: NSManagedObjectContext = try Self.open(folder.file("a.binary"), model: model)
    try first.performAndWait {
      _ = first.make("Kinds", ["thing": "some text"])
      try first.save()
    }
    let second: NSManagedObjectContext = try Self.open(folder.file("a.binary"), model: model)
    try second.performAndWait {
      let object: NSManagedObject = try #require(try second.all(NSManagedObject.self, "Kinds").first)
      #expect(object.value(forKey: "thing") as? String == "some text")
    }
  }

  // MARK: Classes

  /// A file whose archive is changed by `change`, which gets its objects and one value's place.
  private static func rewritten(
    in folder: TemporaryFolder, _ key: String, _ value: Any,
    _ change: (inout [PlistNode], _ place: Int) -> Void
  ) throws -> URL {
    let url: URL = folder.file("a.binary")
    let context: NSManagedObjectContext = try open(url)
    try context.performAndWait {
      _ = context.make("Kinds", [key: value])
      try context.save()
    }
    let bytes = try Data(contentsOf: url)
    let size = Int(bytes[40..<48].reduce(0) { $0 << 8 | UInt64($1) })
    let archive = try KeyedArchive(bytes[64..<64 + size])
    var objects: [PlistNode] = archive.objects
    // The values of the one object: the longest list.
    let list: [PlistNode] =
      objects.compactMap { node in
        if case .dictionary(let fields) = node, case .array(let list)? = fields["NS.objects"] {
          list
        } else {
          nil
        }
      }.max { $0.count < $1.count } ?? []
    let place: Int =
      list.compactMap { node -> Int? in
        guard case .uid(let number) = node, case .dictionary(let fields) = objects[number],
          case .uid(let described)? = fields["$class"], case .dictionary(let description) = objects[described]
        else { if case .uid(let number) = node { return number } else { return nil } }
        return description["$classname"] == .string("NSNull") ? nil : number
      }.first ?? 0
    change(&objects, place)
    let root: PlistNode = archive.top["mapData"] ?? .uid(0)
    let data: Data = KeyedArchive.data(objects: objects, root: root, name: "mapData")
    var made: Data = bytes[0..<16]
    for number in [64 + data.count, bytes.count - 64 - size, 64, data.count, 1, 0] {
      withUnsafeBytes(of: UInt64(number).bigEndian) { made.append(contentsOf: $0) }
    }
    made += data + bytes[(64 + size)...]
    let target: URL = folder.file("b.binary")
    try made.write(to: target)
    return target
  }

  private static func instance(_ name: String, in objects: inout [PlistNode]) -> PlistNode {
    objects.append(
      .dictionary(["$classname": .string(name), "$classes": .array([.string(name), .string("NSObject")])]))
    return .dictionary(["$class": .uid(objects.count - 1)])
  }

  @Test(arguments: ["text", "date", "uuid", "bytes", "decimal", "uri", "thing"])
  func `no instance is made of a class that only the file names`(key: String) throws {
    let folder = try TemporaryFolder()
    let values: [String: Any] = [
      "text": "t", "date": Date(), "uuid": UUID(), "bytes": Data([1]), "decimal": NSDecimalNumber(value: 1),
      "uri": url("https://a.invalid"), "thing": "t",
    ]
    let target: URL = try Self.rewritten(in: folder, key, try #require(values[key])) { objects, place in
      objects[place] = Self.instance(BinaryTrap.name, in: &objects)
    }
    #expect(NSClassFromString(BinaryTrap.name) != nil)
    let error: NSError? = errorThrown {
      let context: NSManagedObjectContext = try Self.open(target)
      try context.performAndWait {
        let request = NSFetchRequest<NSDictionary>(entityName: "Kinds")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["thing"]
        _ = try context.fetch(request)
      }
    }
    #expect(error?.localizedDescription.contains(BinaryTrap.name) == true, "\(String(describing: error))")
    #expect(key == "thing" || error?.localizedDescription.contains(target.path) == true)
    #expect(key == "thing" || error?.localizedDescription.contains("the Kinds 1 has in '\(key)'") == true)
    #expect(BinaryTrap.count == 0)
  }

  @Test func `classes of an option are accepted, others are refused by name when the store is opened`() throws
  {
    let folder = try TemporaryFolder()
    let target: URL = try Self.rewritten(in: folder, "thing", "t") { objects, place in
      objects[place] = Self.instance(BinaryTrap.name, in: &objects)
    }
    func message(_ options: [AnyHashable: Any]) -> String? {
      errorThrown { _ = try Self.open(target, options: options) }?.localizedDescription
    }
    #expect(message([:]) == nil)
    #expect(message([NSBinaryStoreSecureDecodingClasses: [BinaryTrap.self] as [AnyClass]]) == nil)
    #expect(message([NSBinaryStoreSecureDecodingClasses: NSSet(array: [BinaryTrap.self])]) == nil)
    let refusal: String? = message([NSBinaryStoreSecureDecodingClasses: NSSet()])
    #expect(refusal?.contains("an instance of \(BinaryTrap.name)") == true, "\(refusal ?? "")")
    #expect(refusal?.contains("the Kinds 1 has in 'thing'") == true)
    #expect(
      message([
        NSBinaryStoreSecureDecodingClasses: NSSet(), NSBinaryStoreInsecureDecodingCompatibilityOption: true,
      ]) == nil)
    #expect(BinaryTrap.count == 0)
  }

  // MARK: Damage

  @Test func `wrong values are errors that name the object and the file`() throws {
    for (key, value, node, words) in [
      ("text", "t" as Any, PlistNode.integer(5), "has in 'text' an integer"),
      ("i16", 1, .integer(70_000), "has in 'i16' 70000"), ("i32", 1, .string("x"), "has in 'i32' a text"),
      ("flag", true, .string("YES"), "has in 'flag' a text"),
      ("bytes", Data([1]), .string("x"), "has in 'bytes' a text"),
    ] {
      let folder = try TemporaryFolder()
      let target: URL = try Self.rewritten(in: folder, key, value) { objects, place in objects[place] = node }
      let error: NSError? = errorThrown { _ = try Self.open(target) }
      #expect(error?.localizedDescription.contains(words) == true, "\(key): \(String(describing: error))")
      #expect(error?.localizedDescription.contains("the Kinds 1") == true)
      #expect(error?.localizedDescription.contains(target.path) == true)
    }
  }

  @Test func `a model with another number of properties is refused, though versions are ignored`() throws {
    let folder = try TemporaryFolder()
    let context: NSManagedObjectContext = try Self.open(folder.file("a.binary"))
    try context.performAndWait {
      _ = context.item("a")
      try context.save()
    }
    let model: NSManagedObjectModel = World.model()
    model.entitiesByName["Item"]?.properties.append(World.attribute("more", .stringAttributeType))
    let error: NSError? = errorThrown {
      _ = try Self.open(
        folder.file("a.binary"), model: model, options: [NSIgnorePersistentStoreVersioningOption: true])
    }
    #expect(error?.localizedDescription.contains("the Item 1 has") == true, "\(String(describing: error))")
  }
}
