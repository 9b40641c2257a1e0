import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

@testable import CoreDataMigration

@Suite("Elements of composite attributes are followed over several versions, and back")
struct CompositeVersionTests {
  /// An element: its name, what it was called in the version before, and its own elements.
  fileprivate indirect enum Element {
    case text(String, String? = nil)
    case group(String, String?, [Element])

    var attribute: NSAttributeDescription {
      switch self {
      case .text(let name, let former):
        let attribute = World.attribute(name, .stringAttributeType)
        if let former { attribute.renamingIdentifier = former }
        return attribute
      case .group(let name, let former, let elements):
        let composite = NSCompositeAttributeDescription()
        composite.name = name
        composite.isOptional = true
        if let former { composite.renamingIdentifier = former }
        composite.elements = elements.map(\.attribute)
        return composite
      }
    }
  }

  private static func version(_ element: Element) -> NSManagedObjectModel {
    let entity = World.entity("Person", [World.attribute("name", .stringAttributeType)])
    entity.properties.append(element.attribute)
    entity.managedObjectClassName = nil
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  /// Everything is renamed in each version but `town`, which is dropped and added again under its name.
  private static let versions: [NSManagedObjectModel] = [
    version(
      .group(
        "address", nil, [.text("street"), .text("town"), .group("place", nil, [.text("x"), .text("y")])])),
    version(
      .group(
        "home", "address",
        [.text("road", "street"), .group("spot", "place", [.text("east", "x"), .text("y")])])),
    version(
      .group(
        "seat", "home",
        [
          .text("way", "road"), .text("town"),
          .group("point", "spot", [.text("longitude", "east"), .text("latitude", "y")]),
        ])),
  ]

  private static let paths: [(old: String, new: String)] = [
    ("address.street", "seat.way"), ("address.place.x", "seat.point.longitude"),
    ("address.place.y", "seat.point.latitude"),
  ]

  private static func makeStore(_ kind: StoreKind, _ url: URL) throws {
    try Versions.using(versions[0], kind, url) { context in
      let place: [String: Any] = ["x": "17", "y": "59"]
      _ = Versions.make(
        "Person",
        ["name": "one", "address": ["street": "Elm", "town": "Bree", "place": place] as [String: Any]],
        context)
      _ = Versions.make("Person", ["name": "two"], context)
      try context.save()
    }
  }

  /// The values of both people at some paths.
  private static func values(_ context: NSManagedObjectContext, _ paths: [String]) throws -> [[String?]] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return try context.fetch(request).map { person in
      paths.map { person.value(forKeyPath: $0) as? String }
    }
  }

  @Test("a mapping model over three versions copies what was renamed twice, and not what was added again")
  func squash() throws {
    let folder = try TemporaryFolder()
    let (url, target): (URL, URL) = (folder.file("old.sqlite"), folder.file("new.sqlite"))
    try Self.makeStore(.sqlite, url)
    let mapping: NSMappingModel = try MappingInference(ModelDifference(through: Self.versions)).mappingModel()
    let archived = folder.file("Shop1to3.cdm")
    try mapping.archivedData().write(to: archived)
    let manager = NSMigrationManager(sourceModel: Self.versions[0], destinationModel: Self.versions[2])
    try manager.migrateStore(
      from: url, type: .sqlite, mapping: try #require(NSMappingModel(contentsOf: archived)), to: target,
      type: .sqlite)
    try Versions.using(Self.versions[2], .sqlite, target) { context in
      let found = try Self.values(context, Self.paths.map(\.new) + ["seat.town"])
      #expect(found == [["Elm", "17", "59", nil], [nil, nil, nil, nil]])
    }
  }

  @Test("a store becomes the newest version at once, in place, and the oldest one again")
  func upAndDown() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    try Self.makeStore(.sqlite, url)
    let squash = ModelDifference(through: Self.versions)
    let up: NSMappingModel = try MappingInference(squash).mappingModel()
    let plan = try MigrationPlan(forStoreAt: url, to: Self.versions[2], mapping: up)
    try plan.run(verifies: true)
    let back: NSMappingModel = try MappingInference(squash.inverse).mappingModel()
    try MigrationPlan(forStoreAt: url, to: Self.versions[0], mapping: back).run(verifies: true)
    try Versions.using(Self.versions[0], .sqlite, url) { context in
      let found = try Self.values(context, Self.paths.map(\.old) + ["address.town"])
      #expect(found == [["Elm", "17", "59", nil], [nil, nil, nil, nil]])
    }
  }

  @Test("a plan down undoes renamings of elements of one version", arguments: [true, false])
  func down(_ isCopied: Bool) throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    try Self.makeStore(.sqlite, url)
    func move(_ from: Int, _ to: Int, isDown: Bool) throws {
      let (old, new) = (Self.versions[from], Self.versions[to])
      let difference: ModelDifference =
        isDown ? ModelDifference(from: new, to: old).inverse : ModelDifference(from: old, to: new)
      let mapping: NSMappingModel = try MappingInference(difference).mappingModel()
      let plan = try MigrationPlan(
        forStoreAt: url, to: new, mapping: isCopied ? mapping : nil, isDown: isDown)
      #expect((plan.steps[0].statements == nil) == isCopied)
      try plan.run(verifies: true)
    }
    try move(0, 1, isDown: false)
    try move(1, 2, isDown: false)
    try move(2, 1, isDown: true)
    try move(1, 0, isDown: true)
    try Versions.using(Self.versions[0], .sqlite, url) { context in
      let found = try Self.values(context, Self.paths.map(\.old))
      #expect(found == [["Elm", "17", "59"], [nil, nil, nil]])
    }
  }

  @Test("an inferred migration over a version follows the elements that it renames")
  func chain() throws {
    let direct = ModelDifference(from: Self.versions[0], to: Self.versions[2])
    let found = try #require(RenamingChain(versions: Self.versions).difference(insteadOf: direct))
    let home = try #require(found.entities[0].properties.first { $0.name == "seat" })
    #expect(
      home.elements.map { "\($0.source?.name ?? "-") \($0.name)" }.sorted().prefix(2) == [
        "- town", "place point",
      ])
    #expect(home.changes.map(\.sentence).contains { $0.contains("street") })
  }

  @Test("what is lost is told by the paths of the elements")
  func losses() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("store.sqlite")
    try Self.makeStore(.sqlite, url)
    let plan = try MigrationPlan(forStoreAt: url, to: Self.versions[1])
    #expect(plan.losses == ["Person.address.town"])
  }
}
