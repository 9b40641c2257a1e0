import CoreData
import EasyFetch
import Testing

/// Rows by SQL, which can only read.
@Suite
struct RawRowsTests {
  @Test func `a query gives rows by names of columns, its values bound`() throws {
    let office = try Office(.sqlite)
    try office.shelve()
    try office.employ(hostileTexts)
    try office.run { context throws in
      let years: [[String: Any]] = try MTCDUtilities.rawRows(
        forSQL:
          "SELECT ZYEAR AS year, count(*) AS n, avg(ZID) AS mean FROM ZITEM WHERE ZID > ? GROUP BY ZYEAR ORDER BY ZYEAR",
        1, in: context)
      #expect(years.map { $0["year"] as? Int } == [2002, 2003])
      #expect(years.map { $0["n"] as? Int } == [1, 2])
      #expect(years.map { $0["mean"] as? Double } == [2, 3.5])
      for text in hostileTexts {
        let rows: [[String: Any]] = try MTCDUtilities.rawRows(
          forSQL: "SELECT ZLASTNAME FROM ZEMPLOYEE WHERE ZLASTNAME = ?", text, in: context)
        #expect(rows.map { $0["ZLASTNAME"] as? String } == [text], "\(text.debugDescription)")
      }
      let nothing: [[String: Any]] = try context.rawRows(
        "SELECT ZPUBLISHER FROM ZITEM WHERE ZPUBLISHER IS ?", [nil])
      #expect(nothing.map { $0["ZPUBLISHER"] is NSNull } == [true])
    }
  }

  @Test func `values are bound as stores keep them`() throws {
    let office = try Office(.sqlite)
    try office.run { context throws in
      let badge = UUID()
      let hired = Date(timeIntervalSinceReferenceDate: 1000)
      let team: NSManagedObject = try MTCDUtilities.insertObject(forEntityNamed: "Team", in: context)
      let ann = Employee(context: context)
      for (key, value) in [("hired", hired), ("badge", badge), ("team", team), ("salary", 5.5)]
        as [(String, Any)]
      {
        ann.setValue(value, forKey: key)
      }
      try context.save()
      for (column, value) in [
        ("ZHIRED", hired), ("ZBADGE", badge), ("ZTEAM", team), ("ZTEAM", team.objectID), ("ZSALARY", 5.5),
        ("ZSALARY", NSNumber(value: 5.5)), ("Z_PK", ann),
      ] as [(String, Any)] {
        #expect(
          try context.rawRows("SELECT Z_PK FROM ZEMPLOYEE WHERE \(column) = ?", [value]).count == 1,
          "\(column)")
      }
    }
  }

  @Test func `whatever is no query is refused, and nothing is changed`() throws {
    let office = try Office(.sqlite)
    try office.employ(["Worsley"])
    try office.run { context throws in
      for (sql, values, part) in [
        ("DELETE FROM ZEMPLOYEE", [], "SELECT"), ("", [], "SELECT"), ("-- SELECT 1", [], "SELECT"),
        ("/* SELECT", [], "SELECT"), ("ATTACH 'x' AS y", [], "SELECT"),
        ("PRAGMA query_only = 0", [], "SELECT"),
        ("PRAGMA table_info(ZEMPLOYEE)", [], "SELECT"), ("BEGIN", [], "SELECT"), ("VACUUM", [], "SELECT"),
        ("CREATE TEMP TABLE t (a)", [], "SELECT"), ("EXPLAIN DELETE FROM ZEMPLOYEE", [], "SELECT"),
        ("WITH a AS (SELECT 1) DELETE FROM ZEMPLOYEE", [], "change"),
        ("WITH a AS (SELECT 1) UPDATE ZEMPLOYEE SET ZLASTNAME = 'x' RETURNING *", [], "change"),
        ("SELECT 1 AS a; DELETE FROM ZEMPLOYEE", [], "DELETE"), ("SELECT 1 AS a, 2 AS a", [], "'a'"),
        ("SELECT ?", [], "1 parameter"), ("SELECT 1", [1], "0 parameter"), ("SELECT ?", [[1, 2]], "value 1"),
        ("SELECT ZLASTNAM FROM ZEMPLOYEE", [], "ZLASTNAM"),
        ("SELECT load_extension('x')", [], "load_extension"),
      ] as [(String, [Any?], String)] {
        let error: (any Error)? = #expect(throws: (any Error).self, "\(sql)") {
          try context.rawRows(sql, values)
        }
        #expect("\(error!)".contains(part), "\(sql): \(error!)")
      }
      for sql in [
        "-- why\nSELECT 1 AS a", "/* a */ /* b */ select 1 as a", "VALUES (1)",
        "WITH a AS (SELECT 1) SELECT * FROM a", "SELECT 1;",
      ] {
        #expect(try context.rawRows(sql).count == 1, "\(sql)")
      }
      #expect(try context.fetch(Employee.self).map(\.lastName) == ["Worsley"])
      // The connection still writes.
      _ = Employee(context: context)
      try context.save()
      #expect(try context.count(Employee.self) == 2)
    }
  }

  @Test func `a store that has no SQL says what to do instead`() throws {
    let office = try Office(.inMemory)
    try office.run { context throws in
      let error: (any Error)? = #expect(throws: (any Error).self) { try context.rawRows("SELECT 1") }
      #expect("\(error!)".contains("propertiesToGroupBy"))
    }
  }

  @Test func `of several stores one is named; a pinned context reads its own state`() throws {
    let office = try Office(.sqlite)
    try office.employ(["Worsley"])
    try office.run { context throws in
      let first: NSPersistentStore = try #require(office.coordinator.persistentStores.first)
      let second: NSPersistentStore = try office.coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil,
        at: #require(first.url).deletingLastPathComponent().appendingPathComponent("Second.sqlite"),
        options: nil)
      let error: (any Error)? = #expect(throws: (any Error).self) { try context.rawRows("SELECT 1") }
      #expect("\(error!)".contains("which store"))
      let count: String = "SELECT count(*) AS n FROM ZEMPLOYEE"
      #expect(try context.rawRows(count, in: first).first?["n"] as? Int == 1)
      #expect(try context.rawRows(count, in: second).first?["n"] as? Int == 0)
      try office.coordinator.remove(second)
      try context.setQueryGenerationFrom(.current)
      #expect(try context.count(Employee.self) == 1)
      let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      other.persistentStoreCoordinator = office.coordinator
      try other.performAndWait {
        _ = Employee(context: other)
        try other.save()
      }
      #expect(try context.rawRows(count).first?["n"] as? Int == 1)
      try context.setQueryGenerationFrom(nil)
      #expect(try context.rawRows(count).first?["n"] as? Int == 2)
    }
  }
}
