import CoreDataSQLite
import CoreDataStorage
import Foundation
import StoreConformance
import TestSupport

/// A small store, written by the engine, in a folder of its own.
struct ShopStore {
  let folder: URL
  let url: URL
  let uuid: String

  var path: String { url.path }

  init() throws {
    let folder: URL = try TemporaryFolder().url
    let url: URL = folder.appendingPathComponent("Shop.sqlite")
    self.folder = folder
    self.url = url
    let world: StoreWorld = try ShopStore.world(url)
    uuid = world.engine.identifier
    let categories: [RowID] = try world.insert(
      "Category", [["name": "fruit", "rank": 1], ["name": "tools"]])
    let items: [RowID] = try world.insert(
      "Item",
      [
        [
          "title": "Apple, \"red\"", "priority": 3, "isDone": true, "price": 1.5,
          "due": Date(timeIntervalSinceReferenceDate: 800_000_000.25), "category": categories[0],
        ],
        ["title": "日本梨", "priority": 12, "isDone": false, "price": 2.0, "category": categories[0]],
        ["title": "line\nbreak \u{1B}[31m"],
      ])
    let tags: [RowID] = try world.insert("Tag", [["label": "a"], ["label": "b"]])
    try world.edit(items[0], "tags", add: tags)
    try world.insert("Cat", [["name": "Tom", "lives": 9]])
    try world.insert("HouseCat", [["name": "Kit", "lives": 7, "sofa": "red"]])
    try world.insert(
      "Everything",
      [
        [
          "int16": -5, "int32": 70_000, "int64": Int.max, "bool": true, "double": 0.1, "float": 0.1,
          "date": Date(timeIntervalSinceReferenceDate: -1), "decimal": Decimal(string: "12.50")!,
          "string": "x",
          "uri": URL(string: "https://example.org/a")!,
          "uuid": UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF")!,
          "data": Data([1, 2, 255]),
        ],
        ["decimal": Decimal(string: "12345678901234567.89")!, "double": Double.infinity],
      ])
    try world.engine.close()
  }

  /// An empty store with the shop's model, to be filled.
  static func world(_ url: URL) throws -> StoreWorld {
    try StoreWorld(StoreMaker { layout in try SQLiteEngine.open(url: url, layout: layout) })
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  /// Runs `clarus` with the store's path for `STORE`, and the store's UUID replaced in what it prints.
  func run(_ arguments: [String]) throws -> (output: String, errors: String, status: Int32) {
    let run = try CommandLineRun(arguments.map { $0 == "STORE" ? path : $0 })
    func masked(_ text: String) -> String {
      text.replacingOccurrences(of: uuid, with: "UUID").replacingOccurrences(of: path, with: "STORE")
    }
    return (masked(run.output), masked(run.errors), run.status)
  }
}
