import CoreDataArchives
import CoreDataModelChecking
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataPredicates

struct ArchiveTests {
  private func shop() throws -> NSManagedObjectModel {
    try NSManagedObjectModel.load(contentsOf: SourceModelTests.shop).model
  }

  @Test func `a model written as an archive and read again is the same`() throws {
    let model = try shop()
    let again = try ModelArchiveReader.read(try NSManagedObjectModel.archivedModelData(model), file: "again")
    #expect(again.warnings == [])
    #expect(ModelComparison.differences(model, again.model) == [])
    #expect(again.model.versionChecksum == model.versionChecksum)
    #expect(again.model == model)
  }

  @Test func `a default date that is no number is refused, in archives as in models`() throws {
    let date = NSAttributeDescription()
    date.name = "due"
    date.attributeType = .dateAttributeType
    date.defaultValue = Date(timeIntervalSinceReferenceDate: 86_400.5)
    let item = NSEntityDescription()
    item.name = "Item"
    item.properties = [date]
    let model = NSManagedObjectModel()
    model.entities = [item]
    let archive: PlistNode = try PlistNode.read(NSManagedObjectModel.archivedModelData(model))
    func damaged(_ node: PlistNode) -> PlistNode {
      switch node {
      case .real(86_400.5): .real(.nan)
      case .array(let list): .array(list.map(damaged))
      case .dictionary(let content): .dictionary(content.mapValues(damaged))
      default: node
      }
    }
    let error: ModelFileError = try #require(throws: ModelFileError.self) {
      try ModelArchiveReader.read(BinaryPlistWriter.write(damaged(archive)), file: "damaged")
    }
    #expect(error.reason.contains("a date that is no number"), "\(error)")
    date.defaultValue = Date(timeIntervalSinceReferenceDate: .nan)
    let refusal: any Error = try #require(throws: (any Error).self) {
      try NSManagedObjectModel.archivedModelData(model)
    }
    #expect("\(refusal)".contains("due"), "\(refusal)")
  }

  @Test func `equal models give equal archives`() throws {
    let first = try NSManagedObjectModel.archivedModelData(try shop())
    let second = try NSManagedObjectModel.archivedModelData(try shop())
    #expect(first == second)
  }

  @Test func `Foundation reads the archive as a property list and gives it back unchanged`() throws {
    let archive = try NSManagedObjectModel.archivedModelData(try shop())
    let content = try #require(
      try PropertyListSerialization.propertyList(from: archive, format: nil) as? [String: Any])
    #expect(content["$archiver"] as? String == "NSKeyedArchiver")
    #expect(content["$version"] as? Int == 100_000)
    let xml = try PropertyListSerialization.data(fromPropertyList: content, format: .xml, options: 0)
    let fromXML = try ModelArchiveReader.read(xml, file: "xml")
    #expect(ModelComparison.differences(try shop(), fromXML.model) == [])
  }

  @Test func `the cached form is a raw deflate stream of the archive`() throws {
    let model = try shop()
    let blob = try model.cachedModelBlob()
    #expect(try RawDeflate.expand(blob) == ModelArchiveWriter.write(model, as: .cache))
    let loaded = try NSManagedObjectModel.load(cachedModelBlob: blob, source: "store")
    #expect(ModelComparison.differences(model, loaded.model) == [])
  }

  @Test func `NSKeyedArchiver carries a model`() throws {
    let model = try shop()
    let data = try NSKeyedArchiver.archivedData(withRootObject: model, requiringSecureCoding: true)
    let again = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: NSManagedObjectModel.self, from: data))
    #expect(again == model)
  }

  @Test func `a cache that unpacks without end is refused`() throws {
    let bomb = try RawDeflate.compress(Data(count: 80 << 20))
    #expect(bomb.count < 1 << 20)
    let error = try #require(throws: ModelFileError.self) {
      try NSManagedObjectModel.load(cachedModelBlob: bomb, source: "store")
    }
    #expect(error.reason.contains("64 MB"))
  }

  // MARK: Hostile archives

  /// Reads bytes that may be anything. What is read must also bear everything that is done with models.
  private func survives(_ data: Data) -> Bool {
    do {
      let model = try ModelArchiveReader.read(data, file: "hostile").model
      _ = model.versionChecksum
      _ = model.problems()
      _ = model.copy()
      _ = model.entitiesInStoreOrder
      _ = try? NSManagedObjectModel.archivedModelData(model)
      return true
    } catch {
      return error is ModelFileError
    }
  }

  @Test func `an archive cut off anywhere is an explained error`() throws {
    let archive = try NSManagedObjectModel.archivedModelData(try shop())
    for length in stride(from: 0, to: archive.count, by: 97) {
      let error = #expect(throws: ModelFileError.self) {
        try ModelArchiveReader.read(archive.prefix(length), file: "cut")
      }
      #expect(error?.reason.contains("not a readable compiled model") == true)
    }
  }

  @Test(arguments: [11, 23, 47]) func `random changes to an archive never crash a reader`(seed: UInt64) throws
  {
    print("seed \(seed)")
    let archive = Array(try NSManagedObjectModel.archivedModelData(try shop()))
    var random = SeededRandom(seed: seed)
    for _ in 0..<150 {
      var bytes = archive
      for _ in 0...Int(random.next() % 6) {
        let position = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 3 {
        case 0: bytes[position] ^= 1 << UInt8(random.next() % 8)
        case 1: bytes[position] = UInt8(truncatingIfNeeded: random.next())
        default: bytes[position] = bytes[Int(random.next() % UInt64(bytes.count))]
        }
      }
      #expect(survives(Data(bytes)), "seed \(seed)")
    }
  }

  @Test(arguments: [5, 6, 7]) func `random exchanges of an archive's objects never crash a reader`(
    seed: UInt64
  ) throws {
    print("seed \(seed)")
    guard
      case .dictionary(let top) = try BinaryPlistReader.read(
        try NSManagedObjectModel.archivedModelData(try shop())),
      case .array(let objects) = top["$objects"]
    else {
      Issue.record("no archive")
      return
    }
    var random = SeededRandom(seed: seed)
    for _ in 0..<100 {
      var changed = objects
      for _ in 0...Int(random.next() % 4) {
        let position = Int(random.next() % UInt64(changed.count))
        guard case .dictionary(var fields) = changed[position],
          let key = fields.keys.sorted().randomElement(using: &random)
        else { continue }
        let values: [PlistNode] = [
          .uid(Int(random.next() % UInt64(changed.count))), .uid(1 << 30), .integer(.max), .integer(.min),
          .string("?"), .array([.uid(position)]), .real(.nan), .boolean(true), .data(Data()),
          .dictionary([:]),
        ]
        fields[key] = values.randomElement(using: &random)
        changed[position] = .dictionary(fields)
      }
      var archive = top
      archive["$objects"] = .array(changed)
      #expect(survives(BinaryPlistWriter.write(.dictionary(archive))), "seed \(seed)")
    }
  }

  struct Hostile: Sendable, CustomTestStringConvertible {
    var name: String
    var says: String
    var make: @Sendable (inout KeyedArchiveWriter) -> PlistNode
    var testDescription: String { name }
  }

  private static func entity(
    _ archive: inout KeyedArchiveWriter, _ place: Int, _ name: String, _ more: [String: PlistNode] = [:]
  ) {
    var fields: [String: PlistNode] = ["NSEntityName": archive.string(name)]
    fields.merge(more) { $1 }
    archive.fill(place, ["NSEntityDescription", "NSObject"], fields)
  }

  private static func model(_ archive: inout KeyedArchiveWriter, _ entities: [String: PlistNode]) -> PlistNode
  {
    let table = archive.dictionary(entities)
    return archive.instance(["NSManagedObjectModel", "NSObject"], ["NSEntities": table])
  }

  static let hostile: [Hostile] = [
    Hostile(name: "the root is a string", says: "no root object") { $0.string("model") },
    Hostile(name: "the root is another class", says: "NSSet, not an NSManagedObjectModel") { $0.set([]) },
    Hostile(name: "an entity is its own parent", says: "among its own ancestors") { archive in
      let place = archive.reserve()
      entity(&archive, place, "A", ["NSSuperentity": .uid(place)])
      return model(&archive, ["A": .uid(place)])
    },
    Hostile(name: "two entities are each other's parents", says: "among its own ancestors") { archive in
      let (a, b) = (archive.reserve(), archive.reserve())
      entity(&archive, a, "A", ["NSSuperentity": .uid(b)])
      entity(&archive, b, "B", ["NSSuperentity": .uid(a)])
      return model(&archive, ["A": .uid(a), "B": .uid(b)])
    },
    Hostile(name: "two properties have one name", says: "two properties named 'a'") { archive in
      let name: PlistNode = archive.string("a")
      let attributes: [(PlistNode, PlistNode)] = (0..<2).map { _ in
        let classes: [String] = ["NSAttributeDescription", "NSPropertyDescription", "NSObject"]
        return (name, archive.instance(classes, ["NSPropertyName": name, "NSAttributeType": .integer(700)]))
      }
      let table: PlistNode = archive.dictionary(attributes)
      let place: Int = archive.reserve()
      entity(&archive, place, "A", ["NSProperties": table])
      return model(&archive, ["A": .uid(place)])
    },
    Hostile(name: "a parent is outside the model", says: "parent of entity 'A' is not among") { archive in
      let (a, b) = (archive.reserve(), archive.reserve())
      entity(&archive, a, "A", ["NSSuperentity": .uid(b)])
      entity(&archive, b, "B")
      return model(&archive, ["A": .uid(a)])
    },
    Hostile(name: "a predicate contains itself", says: "nests too deep or contains itself") { archive in
      let (a, x, not) = (archive.reserve(), archive.reserve(), archive.reserve())
      let members = archive.array([.uid(not)])
      archive.fill(
        not, ["NSCompoundPredicate", "NSPredicate", "NSObject"],
        ["NSCompoundPredicateType": .integer(0), "NSSubpredicates": members])
      let rules = archive.array([.uid(not)])
      let name = archive.string("x")
      archive.fill(
        x, ["NSAttributeDescription", "NSPropertyDescription", "NSObject"],
        ["NSPropertyName": name, "NSAttributeType": .integer(700), "NSValidationPredicates": rules])
      let properties = archive.dictionary(["x": .uid(x)])
      entity(&archive, a, "A", ["NSProperties": properties])
      return model(&archive, ["A": .uid(a)])
    },
    Hostile(name: "user info contains itself", says: "contain themselves") { archive in
      let (a, info) = (archive.reserve(), archive.reserve())
      let key = archive.string("k")
      archive.fill(
        info, ["NSDictionary", "NSObject"], ["NS.keys": .array([key]), "NS.objects": .array([.uid(info)])])
      entity(&archive, a, "A", ["NSUserInfo": .uid(info)])
      return model(&archive, ["A": .uid(a)])
    },
    Hostile(name: "user info multiplies", says: "more than a million") { archive in
      let a = archive.reserve()
      var layer = archive.array([archive.string("lol")])
      for _ in 0..<30 { layer = archive.array([PlistNode](repeating: layer, count: 10)) }
      let info = archive.dictionary(["k": layer])
      entity(&archive, a, "A", ["NSUserInfo": info])
      return model(&archive, ["A": .uid(a)])
    },
    Hostile(name: "a composite contains itself", says: "nest deeper than 16") { archive in
      let (a, x) = (archive.reserve(), archive.reserve())
      let name = archive.string("x")
      let elements = archive.array([.uid(x)])
      archive.fill(
        x,
        ["NSCompositeAttributeDescription", "NSAttributeDescription", "NSPropertyDescription", "NSObject"],
        ["NSPropertyName": name, "NSAttributeType": .integer(2100), "NSElements": elements])
      let properties = archive.dictionary(["x": .uid(x)])
      entity(&archive, a, "A", ["NSProperties": properties])
      return model(&archive, ["A": .uid(a)])
    },
    Hostile(name: "an attribute has no known type", says: "unknown attribute type 701") { archive in
      let (a, x) = (archive.reserve(), archive.reserve())
      let name = archive.string("x")
      archive.fill(
        x, ["NSAttributeDescription", "NSPropertyDescription", "NSObject"],
        ["NSPropertyName": name, "NSAttributeType": .integer(701)])
      let properties = archive.dictionary(["x": .uid(x)])
      entity(&archive, a, "A", ["NSProperties": properties])
      return model(&archive, ["A": .uid(a)])
    },
  ]

  @Test(arguments: hostile) func `a hostile archive is an explained error`(sample: Hostile) throws {
    var archive = KeyedArchiveWriter()
    let root = sample.make(&archive)
    let error = try #require(throws: ModelFileError.self) {
      try ModelArchiveReader.read(archive.data(root: root), file: "hostile.mom")
    }
    #expect(error.file == "hostile.mom")
    #expect(error.reason.contains(sample.says), "\(error)")
  }

  @Test func `a decimal number in a set is read, although Foundation can't hash it`() throws {
    var archive = KeyedArchiveWriter()
    let place = archive.reserve()
    let number = try archive.value(NSDecimalNumber(string: "1.5"), of: "test")
    let info = archive.dictionary(["k": archive.set([number])])
    Self.entity(&archive, place, "A", ["NSUserInfo": info])
    let root = Self.model(&archive, ["A": .uid(place)])
    let model = try ModelArchiveReader.read(archive.data(root: root), file: "t").model
    #expect(model.entitiesByName["A"]?.userInfo?["k"] as? Set<Decimal> == [Decimal(string: "1.5")!])
  }

  @Test(arguments: [
    "0", "1", "-1", "12345678901234567890.12345", "-0.000001", "65536",
    "340282366920938463463374607431768211455",
  ])
  func `decimal numbers keep their digits`(text: String) throws {
    var archive = KeyedArchiveWriter()
    let value = try #require(Decimal(string: text))
    let root = try archive.value(value, of: "test")
    let read = try KeyedArchive(archive.data(root: root))
    var decoder = KeyedArchive.ValueDecoder(read)
    #expect((try decoder.value(read.top["root"]) as? NSDecimalNumber)?.decimalValue == value)
  }
}
