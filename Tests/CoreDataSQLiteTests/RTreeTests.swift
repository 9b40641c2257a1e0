import CoreDataModel
import CoreDataPredicates
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

  // MARK: Fetches

  private func plan(_ engine: SQLiteEngine, _ format: String, _ arguments: [Any]) throws -> FetchPlan {
    var plan = FetchPlan(entity: engine.entity("Asset"))
    plan.predicate = try NSPredicate(parsing: format, arguments: arguments).predicateNode()
    return plan
  }

  private func usesTree(_ engine: SQLiteEngine, _ plan: FetchPlan) throws -> Bool {
    let explained: ExplainedStatement = try #require(try engine.explain(plan))
    let isSearched: Bool = explained.queryPlan.contains { $0.contains("VIRTUAL TABLE INDEX") }
    #expect(isSearched == explained.sql.contains("Z_RT_Asset_place"), "\(explained.queryPlan)")
    return isSearched
  }

  @Test func `a fetch over a box searches the tree, others read the table`() throws {
    let engine: SQLiteEngine = try open()
    try engine.insert("Asset", [["latitude": .real(51.5), "longitude": .real(-0.1)]])
    let cases: [(String, Bool)] = [
      ("latitude BETWEEN {51, 52} AND longitude BETWEEN {-1, 1}", true),
      ("latitude >= 51 AND 52 > latitude AND longitude > -1 AND longitude <= 1 AND title == nil", true),
      ("latitude BETWEEN {51, 52}", false),
      ("latitude > 51 AND longitude > -1", false),
      ("latitude BETWEEN {51, 52} OR longitude BETWEEN {-1, 1}", false),
      ("NOT (latitude BETWEEN {51, 52} AND longitude BETWEEN {-1, 1})", false),
    ]
    for (format, uses) in cases {
      let plan: FetchPlan = try plan(engine, format, [])
      #expect(try usesTree(engine, plan) == uses, "\(format)")
      #expect(try engine.count(plan) == (format.hasPrefix("NOT") ? 0 : 1), "\(format)")
      #expect(try engine.fetch(plan).count == (format.hasPrefix("NOT") ? 0 : 1), "\(format)")
    }
    // The same statement serves other numbers.
    for (low, high, count) in [(51.0, 52.0, 1), (51.6, 52, 0), (-1e300, 1e300, 1), (52, 51, 0)] {
      let plan: FetchPlan = try plan(
        engine, "latitude BETWEEN {%@, %@} AND longitude >= %@ AND longitude <= %@", [low, high, -1, 1])
      #expect(try engine.count(plan) == count, "\(low) to \(high)")
    }
  }

  @Test func `the tree finds what the table has, for numbers of any size and missing ones`() throws {
    let engine: SQLiteEngine = try open()
    var random = SeededRandom(seed: 4711)
    let extremes: [Double] = [
      0, -0.0, 0.1, 1e300, -1e300, 3.4e38, 3.5e38, -3.5e38, 1e-300, 1e-40, -1e-40, 2e-45, -2e-45, 16_777_217,
      1e39, .infinity, -.infinity,
    ]
    func number() -> Double {
      Bool.random(using: &random)
        ? extremes[Int.random(in: 0..<extremes.count, using: &random)]
        : Double.random(in: -180...180, using: &random)
    }
    var places: [(latitude: Double?, longitude: Double?)] = []
    for _ in 0..<400 {
      places.append(
        (
          Int.random(in: 0..<10, using: &random) == 0 ? nil : number(),
          Int.random(in: 0..<10, using: &random) == 0 ? nil : number()
        ))
    }
    try engine.insert(
      "Asset",
      places.map { place in
        var values: [String: Value] = [:]
        values["latitude"] = place.latitude.map(Value.real)
        values["longitude"] = place.longitude.map(Value.real)
        return values
      })
    for round in 0..<200 {
      let (south, north, west, east) = (number(), number(), number(), number())
      let plan: FetchPlan = try plan(
        engine, "latitude >= %@ AND latitude < %@ AND longitude BETWEEN {%@, %@}", [south, north, west, east])
      if round == 0 { #expect(try usesTree(engine, plan)) }
      let expected: Int = places.count { place in
        guard let latitude = place.latitude, let longitude = place.longitude else { return false }
        return latitude >= south && latitude < north && longitude >= west && longitude <= east
      }
      #expect(try engine.count(plan) == expected, "\(south) \(north) \(west) \(east)")
    }
  }

  @Test func `a tree whose triggers watch another table, or some entities only, is not searched`() throws {
    let changes: [(String, Bool)] = [
      // The same triggers, written anew.
      (" ON ZASSET ", true), (" ON ZOTHER ", false), (" ON ZASSET WHEN NEW.Z_ENT IN (1) ", true),
      (" ON ZASSET WHEN NEW.Z_ENT IN (2, 13) ", false),
    ]
    for (place, isSearched) in changes {
      try? FileManager.default.removeItem(at: url)
      let new: SQLiteEngine = try open()
      try new.insert("Asset", [["latitude": .real(51.5), "longitude": .real(-0.1)]])
      try new.close()
      try DatabaseQueue(path: url.path).write { database in
        try database.execute(sql: "CREATE TABLE ZOTHER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER)")
        for event in ["INSERT", "UPDATE", "DELETE"] {
          let row: String = event == "DELETE" ? place.replacingOccurrences(of: "NEW", with: "OLD") : place
          try database.execute(
            sql: """
              DROP TRIGGER Z_RT_Asset_place_\(event);
              CREATE TRIGGER Z_RT_Asset_place_\(event) AFTER \(event)\(row)BEGIN DELETE FROM Z_RT_Asset_place; END
              """)
        }
        try database.execute(sql: "DELETE FROM Z_RT_Asset_place")
      }
      let engine: SQLiteEngine = try open()
      let plan: FetchPlan = try plan(engine, "latitude BETWEEN {51, 52} AND longitude BETWEEN {-1, 1}", [])
      #expect(try usesTree(engine, plan) == isSearched, "\(place)")
      #expect(try engine.count(plan) == (isSearched ? 0 : 1), "\(place)")
      let kinds: [StoreProblem.Kind] = try engine.ownProblems().map(\.kind).filter { $0 != .structure }
      #expect(kinds == (isSearched ? [.index] : []), "\(place)")
      try engine.close()
    }
  }

  @Test func `a check names the rows that a tree lacks, and no others`() throws {
    let engine: SQLiteEngine = try open()
    let extremes: [Double] = [
      0, -0.0, 0.1, 1e300, -1e300, 3.5e38, 1e-40, -1e-40, 16_777_217, .infinity, -.infinity,
    ]
    for number in extremes {
      try engine.insert(
        "Asset", [["latitude": .real(number), "longitude": .real(1)], ["longitude": .real(number)], [:]])
    }
    #expect(try engine.ownProblems().isEmpty)
    try engine.close()
    try DatabaseQueue(path: url.path).write { database in
      // Behind the back of the triggers: two are gone, one has former numbers, one is left of a deleted row.
      try database.execute(
        sql: """
          DELETE FROM Z_RT_Asset_place WHERE Z_PK IN (1, 2);
          UPDATE Z_RT_Asset_place SET ZLONGITUDE_MIN = 7, ZLONGITUDE_MAX = 8 WHERE Z_PK = 4;
          INSERT INTO Z_RT_Asset_place VALUES (999, 1, 1, 1, 1)
          """)
    }
    let problem: StoreProblem = try #require(try open().ownProblems().first)
    #expect(problem.kind == .index && problem.entity == "Asset" && problem.count == 3)
    #expect(problem.objects.map(\.key) == [1, 2, 4])
    #expect(problem.message.contains("Z_RT_Asset_place"))
  }

  @Test func `a tree that no trigger keeps up is not searched`() throws {
    try open().close()
    try DatabaseQueue(path: url.path).write { try $0.execute(sql: "DROP TRIGGER Z_RT_Asset_place_UPDATE") }
    let engine: SQLiteEngine = try open()
    let plan: FetchPlan = try plan(
      engine, "latitude BETWEEN {51, 52} AND longitude BETWEEN {-1, 1}", [])
    #expect(try !usesTree(engine, plan))
  }
}
