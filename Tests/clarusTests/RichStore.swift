import CoreDataModel
import CoreDataSQLite
import CoreDataStorage
import Foundation
import StoreConformance
import TestSupport

/// A store with every form of relationship, a hierarchy, metadata of a program, and every type of attribute.
struct RichStore {
  let folder: URL
  let url: URL
  var path: String { url.path }

  init(_ name: String = "Rich.sqlite") throws {
    let folder: URL = try TemporaryFolder().url
    self.folder = folder
    url = folder.appendingPathComponent(name)
    let world: StoreWorld = try ShopStore.world(url)
    let categories: [RowID] = try world.insert("Category", [["name": "fruit"], ["name": "tools"]])
    let items: [RowID] = try world.insert(
      "Item",
      (0..<7).map { number in
        var values: [String: any Sendable] = ["title": "item \(number)", "priority": number, "price": 0.1]
        if number < 5 { values["category"] = categories[number % 2] }
        return values
      })
    let tags: [RowID] = try world.insert("Tag", [["label": "a"], ["label": "b"], ["label": "\"c\",\n; d"]])
    for (number, item) in items.enumerated() {
      try world.edit(item, "tags", add: Array(tags.prefix(number % 4)))
    }
    let album: RowID = try world.insertOne("Album", ["name": "first"])
    let tracks: [RowID] = try world.insert("Track", (0..<5).map { ["name": "track \($0)", "album": album] })
    try world.edit(album, "tracks", order: [3, 1, 4, 0, 2].map { tracks[$0] })
    let playlist: RowID = try world.insertOne("Playlist", ["name": "mine"])
    try world.edit(playlist, "songs", add: tracks, order: tracks.reversed())
    let people: [RowID] = try world.insert("Person", [["name": "Ann"], ["name": "Bob"], ["name": "Cy"]])
    try world.edit(people[0], "friends", add: [people[1], people[2]])
    let notes: [RowID] = try world.insert("Note", [["text": "one"], ["text": "two"]])
    try world.edit(people[0], "notes", add: notes)
    try world.insert("Dog", [["name": "Rex", "breed": "pug", "owner": people[1]]])
    try world.insert("HouseCat", [["name": "Kit", "lives": 7, "sofa": "red", "owner": people[0]]])
    try world.insert(
      "Everything",
      [
        [
          "int16": -5, "int32": 70_000, "int64": Int.min, "bool": true, "double": -0.1, "float": 0.1,
          "date": Date(timeIntervalSinceReferenceDate: -1.000_000_25),
          "decimal": Decimal(string: "-12345678901234567.89")!, "string": "x\u{0}y\u{1F}é\r\n",
          "uri": URL(string: "https://example.org/a?b=c")!,
          "uuid": UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF")!,
          "data": Data((0...255).map { UInt8($0) }),
        ],
        ["double": Double.infinity, "string": "", "data": Data(), "decimal": Decimal(string: "0.1")!],
        ["int64": Int.max, "double": Double.leastNonzeroMagnitude, "float": 3.4028234663852886e38],
      ])
    var metadata: [String: Any] = world.engine.metadata
    metadata["launches"] = 42
    try world.engine.setMetadata(metadata)
    _ = try world.engine.save(SavePlan())
    try world.engine.close()
  }

  func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

  /// What is in the folder, hidden files too.
  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }
}

/// A store with values in files beside it.
struct PhotoStore {
  let folder: URL
  let url: URL
  var path: String { url.path }
  var support: URL { folder.appendingPathComponent(".Photos_SUPPORT/_EXTERNAL_DATA") }

  /// The names of the files of values.
  var valueFiles: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: support.path)) ?? []).sorted()
  }

  static func model() -> NSManagedObjectModel {
    func attribute(_ name: String, _ type: NSAttributeType, isOptional: Bool) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      attribute.isOptional = isOptional
      return attribute
    }
    let photo = NSEntityDescription()
    photo.name = "Photo"
    let image: NSAttributeDescription = attribute("image", .binaryDataAttributeType, isOptional: true)
    image.allowsExternalBinaryDataStorage = true
    let next = NSRelationshipDescription()
    next.name = "next"
    next.destinationEntity = photo
    next.maxCount = 1
    let former = NSRelationshipDescription()
    former.name = "former"
    former.destinationEntity = photo
    former.maxCount = 1
    next.inverseRelationship = former
    former.inverseRelationship = next
    photo.properties = [attribute("name", .stringAttributeType, isOptional: false), image, next, former]
    let model = NSManagedObjectModel()
    model.entities = [photo]
    return model
  }

  /// Three photos: each is the former one of the next. `sizes`: of their images.
  init(sizes: [Int] = [10, 200_000, 300_000]) throws {
    let folder: URL = try TemporaryFolder().url
    self.folder = folder
    url = folder.appendingPathComponent("Photos.sqlite")
    let layout = ModelLayout(model: Self.model())
    let engine: SQLiteEngine = try SQLiteEngine.open(url: url, layout: layout)
    let photo: EntityLayout = layout.entities[0]
    func word(_ name: String) -> Int {
      guard case .stored(_, let word)? = photo.slot(named: name)?.role else { preconditionFailure() }
      return word
    }
    var plan = SavePlan()
    let slab = RowSlab(layout: photo, family: false, rowCapacity: sizes.count)
    for (number, size) in sizes.enumerated() {
      let row = slab.appendRow(key: plan.provisionalKey(in: photo), entity: photo.index, version: 1)
      let name: [UInt8] = Array("photo \(number)".utf8)
      slab.set(
        row, word: word("name"), to: name.withUnsafeBytes { slab.appendTail($0.baseAddress, count: $0.count) }
      )
      let image = [UInt8](repeating: UInt8(number + 1), count: size)
      slab.set(
        row, word: word("image"),
        to: image.withUnsafeBytes { slab.appendTail($0.baseAddress, count: $0.count) })
      if number > 0 { slab.set(row, word: word("former"), toTarget: RowID(entity: 0, key: -Int64(number))) }
      if number < sizes.count - 1 {
        slab.set(row, word: word("next"), toTarget: RowID(entity: 0, key: -Int64(number) - 2))
      }
    }
    plan.inserts = [(photo, RowBatch(slabs: [slab]))]
    _ = try engine.save(plan)
    try engine.close()
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }
}
