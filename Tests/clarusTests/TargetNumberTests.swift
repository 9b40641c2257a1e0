import CoreDataModel
import CoreDataSQLite
import CoreDataStorage
import Foundation
import TestSupport
import Testing

/// References of a SQLite store have the key of their object, and beside it the number of its entity. What
/// the commands do where that is wrong, and with rows that have the number of no entity.
@Suite struct TargetNumberTests {
  private let folder: TemporaryFolder
  private var store: URL { folder.file("Shop.sqlite") }

  private static func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = properties
    return entity
  }

  /// Things and sub-things, named by items; and a Zone beside them.
  private static func model() -> NSManagedObjectModel {
    func name() -> NSAttributeDescription {
      let name = NSAttributeDescription()
      name.name = "name"
      name.attributeType = .stringAttributeType
      return name
    }
    let thing: NSEntityDescription = entity("Thing", [name()])
    thing.subentities = [entity("Tool", []), entity("Toy", [])]
    let reference = NSRelationshipDescription()
    reference.name = "thing"
    reference.destinationEntity = thing
    reference.maxCount = 1
    let model = NSManagedObjectModel()
    model.entities =
      [entity("Item", [name(), reference]), thing] + thing.subentities + [entity("Zone", [name()])]
    return model
  }

  /// Two items, each with a tool, which have the keys 1 and 2.
  init() throws {
    folder = try TemporaryFolder()
    let layout = ModelLayout(model: Self.model())
    let engine: SQLiteEngine = try SQLiteEngine.open(url: folder.file("Shop.sqlite"), layout: layout)
    let item: EntityLayout = try #require(layout.byName["Item"])
    let tool: EntityLayout = try #require(layout.byName["Tool"])
    let zone: EntityLayout = try #require(layout.byName["Zone"])
    var plan = SavePlan()
    func rows(
      _ entity: EntityLayout, _ fill: (RowSlab, UnsafeMutableRawPointer, Int) -> Void = { _, _, _ in }
    )
      -> [Int64]
    {
      let slab = RowSlab(layout: entity, family: false, rowCapacity: 2)
      let keys: [Int64] = (0..<2).map { number in
        let key: Int64 = plan.provisionalKey(in: entity)
        fill(slab, slab.appendRow(key: key, entity: entity.index, version: 1), number)
        return key
      }
      plan.inserts.append((entity, RowBatch(slabs: [slab])))
      return keys
    }
    _ = rows(zone)
    let tools: [Int64] = rows(tool)
    guard case .stored(.toOne, let word)? = item.slot(named: "thing")?.role else { return }
    _ = rows(item) { slab, row, number in
      slab.set(row, word: word, toTarget: RowID(entity: tool.index, key: tools[number]))
    }
    _ = try engine.save(plan)
    try engine.close()
  }

  private func run(_ arguments: String...) throws -> CommandLineRun { try CommandLineRun(arguments) }

  /// The number of an entity in the store.
  private static func number(_ name: String) -> String {
    "(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(name)')"
  }

  @Test(arguments: ["Toy", "Zone"])
  func `the number of a wrong entity beside a reference is found and mended, and misleads no command`(
    wrong: String
  ) throws {
    let column: String = try #require(
      try columns(of: "ZITEM").first { $0.hasSuffix("_THING") && $0 != "Z_FOK_THING" })
    try makeDatabase(
      store, ["UPDATE ZITEM SET \(column) = \(Self.number(wrong)) WHERE Z_PK = 1"])
    let said: String =
      "Item.thing has beside the key of an object the number of another entity than the object's."
    let check = try run("check", store.path)
    #expect(check.status == 1 && check.output.contains("error: \(said) Item/p1\n"), "\(check.output)")
    for kind in ["sqlite", "xml"] {
      let new: String = folder.file("New.\(kind)").path
      let repair = try run("check", store.path, "--repair", new)
      #expect(repair.output.contains("\(said) The new store has the object's. Item/p1"), "\(repair.output)")
      #expect(try run("check", new, "--model", store.path).status == 0)
      let convert = try run("convert", store.path, folder.file("Copy.\(kind)").path, "--verify")
      #expect(
        convert.status == 0 && convert.output.contains("Verified"), "\(convert.output)\(convert.errors)")
    }
    let export = try run("export", store.path, "--entity", "Item")
    #expect(export.output.contains("\"thing\": \"Tool/p1\""), "\(export.output)")
    let fetch = try run("fetch", store.path, "Item", "--columns", "thing", "--format", "table")
    #expect(fetch.output.contains("Tool/p1") && !fetch.output.contains(wrong), "\(fetch.output)")
    let diff = try run("diff", store.path, folder.file("New.sqlite").path)
    #expect(diff.status == 0, "\(diff.output)")
  }

  private func columns(of table: String) throws -> [String] {
    let text: String = try run("info", store.path, "--entity", "Item").output
    return text.split(whereSeparator: { " ,\n".contains($0) }).map(String.init)
  }

  @Test func `a conversion lists rows that have the number of no entity, and has exit status 1`() throws {
    try makeDatabase(store, ["UPDATE ZTHING SET Z_ENT = 77 WHERE Z_PK = 2"])
    let out: String = folder.file("Out.xml").path
    let run = try run("convert", store.path, out, "--json")
    #expect(run.status == 1, "\(run.output)\(run.errors)")
    let left = try #require((try run.json() as? [String: Any])?["leftOut"] as? [[String: Any]])
    let rows: [[String: Any]] = left.filter { $0["property"] is NSNull }
    #expect(rows.count == 1 && rows[0]["entity"] as? String == "Thing" && rows[0]["count"] as? Int == 1)
    #expect((rows.first?["message"] as? String)?.contains("have the number of no entity") == true, "\(left)")
    #expect(left.contains { $0["property"] as? String == "thing" }, "\(left)")
    #expect(FileManager.default.fileExists(atPath: out))
    // A file that is copied as it is has them still.
    let copy = try CommandLineRun(["convert", store.path, folder.file("Out.sqlite").path])
    #expect(copy.status == 0, "\(copy.output)\(copy.errors)")
  }
}
