import CoreDataModel
import CoreDataStorage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CoreDataSQLite

/// R-tree indexes, as Apple's Photos libraries have them. Finding C3.
@Suite struct RTreeTests {
  private let folder: TemporaryFolder
  private let layout: ModelLayout

  init() throws {
    folder = try TemporaryFolder()
    let asset: NSEntityDescription = entity("Asset")
    let place: NSAttributeDescription = attribute("place", .undefinedAttributeType)
    place.isTransient = true
    place.userInfo = ["_NSLocationAttributeDerivedComponents": "latitude, longitude"]
    asset.properties = [
      attribute("latitude", .doubleAttributeType), attribute("longitude", .doubleAttributeType),
      attribute("title", .stringAttributeType), place,
    ]
    let model = NSManagedObjectModel()
    model.entities = [asset]
    layout = ModelLayout(model: model)
  }

  private var url: URL { folder.file("a.sqlite") }

  private func open() throws -> SQLiteEngine { try SQLiteEngine.open(url: url, layout: layout) }

  /// Rows of the tree: key and bounds.
  private func tree(_ engine: SQLiteEngine) throws -> [[Double]] {
    try engine.read { database in
      try Row.fetchAll(database, sql: "SELECT * FROM Z_RT_Asset_place ORDER BY Z_PK")
        .map { row in (0..<row.count).map { row[$0] as Double } }
    }
  }

  private func checkFollows(_ engine: SQLiteEngine) throws {
    let before: [[Double]] = try tree(engine)
    let ids: [RowID] = try engine.insert(
      "Asset", [["latitude": .real(1.5), "longitude": .real(-2)], ["title": .text("nowhere")]])
    let (first, second) = (Double(ids[0].key), Double(ids[1].key))
    #expect(try tree(engine) == before + [[first, 1.5, 1.5, -2, -2], [second, 0, 0, 0, 0]])
    let update: RowUpdate = try engine.update(ids[0], ["latitude": .real(4)])
    try engine.save { $0.updates = [update] }
    #expect(try tree(engine) == before + [[first, 4, 4, -2, -2], [second, 0, 0, 0, 0]])
    try engine.save { $0.deletes = [RowDelete(id: ids[1], expectedVersion: 1)] }
    #expect(try tree(engine) == before + [[first, 4, 4, -2, -2]])
  }

  @Test func `a new store has the tree, and its triggers keep it up`() throws {
    let engine: SQLiteEngine = try open()
    try checkFollows(engine)
  }

  @Test
  func
    `a tree whose triggers the file lacks is kept up while the store is open, and the file stays as it is`()
    throws
  {
    try open().close()
    try DatabaseQueue(path: url.path).write { database in
      for event in ["INSERT", "UPDATE", "DELETE"] {
        try database.execute(sql: "DROP TRIGGER Z_RT_Asset_place_\(event)")
      }
    }
    for _ in 0..<2 {
      let engine: SQLiteEngine = try open()
      try checkFollows(engine)
      try engine.close()
    }
    let triggers: Int? = try DatabaseQueue(path: url.path).read {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'")
    }
    #expect(triggers == 0)
  }

  @Test func `a tree that nothing tells how to keep up stops a save, by name`() throws {
    try open().close()
    try DatabaseQueue(path: url.path).write {
      try $0.execute(sql: "CREATE VIRTUAL TABLE Z_RT_Asset_odd USING RTREE (Z_PK, LOW, HIGH)")
    }
    let engine: SQLiteEngine = try open()
    let error: (any Error)? = #expect(throws: StoreError.self) { try engine.insert("Asset", [[:]]) }
    #expect("\(String(describing: error))".contains("Z_RT_Asset_odd"))
  }
}
