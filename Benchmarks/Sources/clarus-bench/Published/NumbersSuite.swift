import CoreData
import Foundation
import GRDB

/// GRDB's published workload (its Tests/Performance): rows of ten integers, all ten the row's position; rows
/// fetched as values and as records, inserted as values and as records, in one transaction.
///
/// The table is the one that Clarus makes of an entity with these ten attributes, for all contestants: three
/// columns more than GRDB's own. Every value is read, and added.
struct NumbersSuite {
  var folder: URL
  /// Fetched; a quarter as many are inserted, as in GRDB's (200,000 and 50,000).
  var rows: Int
  var rounds: Int
  var progress: (String) -> Void = { _ in }

  struct Part: RacePart {
    let rawValue: String = "grdb"
    let title: String = "GRDB's workload: ten integers a row"
    init() {}
    init?(rawValue: String) { nil }
  }

  private static let columns: [String] = (0..<10).map { "ZI\($0)" }
  private static let select: String = "SELECT \(columns.joined(separator: ", ")) FROM ZNUMBERS"
  private static let insertion: String =
    "INSERT INTO ZNUMBERS (Z_PK, Z_ENT, Z_OPT, \(columns.joined(separator: ", "))) "
    + "VALUES (?, 1, 1\(String(repeating: ", ?", count: 10)))"

  func run() throws -> [Race.Outcome] {
    let empty: URL = folder.appendingPathComponent("numbers-empty.sqlite")
    try BenchStore.close(try BenchStore.open(empty, BenchStore.model("Numbers")))
    let full: URL = folder.appendingPathComponent("numbers.sqlite")
    try FileManager.default.copyItem(at: empty, to: full)
    try insertByC(into: full, count: rows)
    let count: Int = max(1, rows / 4)
    func race(_ title: String, _ count: Int) -> Race {
      progress("grdb: \(title)")
      return Race(part: Part(), title: title, operations: count, rounds: rounds)
    }
    return [
      try race("fetch \(rows.formatted) rows as values", rows).runCounting { fetchingValues(full) },
      try race("fetch \(rows.formatted) rows as records", rows).runCounting { fetchingRecords(full) },
      try race("insert \(count.formatted) rows of values, save", count).run(
        insertingValues(empty, count)),
      try race("insert \(count.formatted) records, save", count).run(insertingRecords(empty, count)),
    ]
  }

  // MARK: Fetching

  private func fetchingValues(_ store: URL) -> [Race.Contestant] {
    [
      byC(store),
      byGRDB("GRDB, by index", store) { database in
        var sum: Int = 0
        let rows: RowCursor = try Row.fetchCursor(database, sql: Self.select)
        while let row = try rows.next() {
          for column in 0..<10 { sum &+= row[column] as Int }
        }
        return sum
      },
      byGRDB("GRDB, by name", store) { database in
        var sum: Int = 0
        let rows: RowCursor = try Row.fetchCursor(database, sql: Self.select)
        while let row = try rows.next() {
          for column in Self.columns { sum &+= row[column] as Int }
        }
        return sum
      },
      byClarus("Clarus, dictionaries", store) { context in
        let request = NSFetchRequest<NSDictionary>(entityName: "Numbers")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = (0..<10).map { "i\($0)" }
        var sum: Int = 0
        for row in try context.fetch(request) {
          for column in 0..<10 { sum &+= row["i\(column)"] as? Int ?? 0 }
        }
        return sum
      },
    ]
  }

  private func fetchingRecords(_ store: URL) -> [Race.Contestant] {
    [
      byC(store),
      byGRDB("GRDB, by hand", store) { database in
        try NumbersByHand.fetchAll(database).reduce(0) { $0 &+ $1.values.sum }
      },
      byGRDB("GRDB, Codable", store) { database in
        try NumbersByCoding.fetchAll(database).reduce(0) { $0 &+ $1.sum }
      },
      byClarus("Clarus", store) { context in
        try context.fetch(BenchNumbers.fetchRequest()).reduce(0) { $0 &+ $1.sum }
      },
    ]
  }

  private func byC(_ store: URL) -> Race.Contestant {
    var database: CDatabase?
    return Race.Contestant(
      "C",
      prepare: { database = try CDatabase(store) },
      body: {
        var sum: Int = 0
        guard let statement = try database?.prepare(Self.select) else { return sum }
        while try statement.step() {
          for column: Int32 in 0..<10 { sum &+= statement.integer(column) }
        }
        return sum
      },
      finish: {
        database?.close()
        return nil
      })
  }

  private func byGRDB(
    _ name: String, _ store: URL, _ read: @escaping @Sendable (Database) throws -> Int
  ) -> Race.Contestant {
    var queue: DatabaseQueue?
    return Race.Contestant(
      name, against: "C",
      prepare: { queue = try Self.queue(store) },
      body: { try queue?.read(read) ?? 0 },
      finish: {
        try queue?.close()
        return nil
      })
  }

  private func byClarus(
    _ name: String, _ store: URL, _ read: @escaping (NSManagedObjectContext) throws -> Int
  ) -> Race.Contestant {
    var container: NSPersistentContainer?
    return Race.Contestant(
      name, against: "C",
      prepare: { container = try BenchStore.open(store, BenchStore.model("Numbers")) },
      body: {
        guard let context = container?.newBackgroundContext() else { return 0 }
        return try context.performAndWait { try read(context) }
      },
      finish: {
        try container.map(BenchStore.close)
        container = nil
        return nil
      })
  }

  private static func queue(_ store: URL) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: Schema.pragmas) }
    return try DatabaseQueue(path: store.path, configuration: configuration)
  }

  // MARK: Inserting

  private func insertingValues(_ empty: URL, _ count: Int) -> [Race.Contestant] {
    [
      inserting("C", nil, empty) { try insertByC(into: $0, count: count) },
      inserting("GRDB, by index", "C", empty) { store in
        let queue: DatabaseQueue = try Self.queue(store)
        try queue.write { database in
          let statement: Statement = try database.makeStatement(sql: Self.insertion)
          for row in 0..<count {
            try statement.execute(arguments: [row + 1, row, row, row, row, row, row, row, row, row, row])
          }
          try database.execute(sql: Schema.keysTaken(count))
        }
        try queue.close()
      },
    ]
  }

  private func insertingRecords(_ empty: URL, _ count: Int) -> [Race.Contestant] {
    [
      inserting("C", nil, empty) { try insertByC(into: $0, count: count) },
      inserting("GRDB, by hand", "C", empty) { try Self.insert(NumbersByHand.self, count, $0) },
      inserting("GRDB, Codable", "C", empty) { try Self.insert(NumbersByCoding.self, count, $0) },
      inserting("Clarus", "C", empty) { store in
        let container: NSPersistentContainer = try BenchStore.open(store, BenchStore.model("Numbers"))
        let context: NSManagedObjectContext = container.newBackgroundContext()
        try context.performAndWait {
          for row in 0..<count { BenchNumbers(context: context).set(Int64(row)) }
          try context.save()
        }
        try BenchStore.close(container)
      },
    ]
  }

  /// Opening and closing are measured, as in GRDB's own; the sum is read by C afterwards.
  private func inserting(
    _ name: String, _ base: String?, _ empty: URL, _ insert: @escaping (URL) throws -> Void
  ) -> Race.Contestant {
    let store: URL = folder.appendingPathComponent("numbers-copy.sqlite")
    return Race.Contestant(
      name, against: base,
      prepare: {
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: store.path + suffix) {
          try FileManager.default.removeItem(atPath: store.path + suffix)
        }
        try FileManager.default.copyItem(at: empty, to: store)
      },
      body: {
        try insert(store)
        return 0
      },
      finish: {
        let database = try CDatabase(store)
        defer { database.close() }
        return try database.integer(
          "SELECT SUM(\(Self.columns.joined(separator: " + "))) + COUNT(*) + MAX(Z_PK) FROM ZNUMBERS")
      })
  }

  private func insertByC(into store: URL, count: Int) throws {
    let database = try CDatabase(store)
    do {
      try database.execute("BEGIN IMMEDIATE")
      let statement: CStatement = try database.prepare(Self.insertion)
      for row in 0..<count {
        statement.bind(row + 1, row, row, row, row, row, row, row, row, row, row)
        guard try !statement.step() else { throw BenchmarkError("an insertion returned a row") }
      }
      try database.execute(Schema.keysTaken(count))
      try database.execute("COMMIT")
    }
    database.close()
  }

  private static func insert<Record: NumbersRecord>(_ type: Record.Type, _ count: Int, _ store: URL) throws {
    let queue: DatabaseQueue = try Self.queue(store)
    try queue.write { database in
      for row in 0..<count { try Record(key: row + 1, value: row).insert(database) }
      try database.execute(sql: Schema.keysTaken(count))
    }
    try queue.close()
  }
}

extension BenchNumbers {
  fileprivate var sum: Int {
    Int(i0 &+ i1 &+ i2 &+ i3 &+ i4) &+ Int(i5 &+ i6 &+ i7 &+ i8 &+ i9)
  }

  fileprivate func set(_ value: Int64) {
    (i0, i1, i2, i3, i4) = (value, value, value, value, value)
    (i5, i6, i7, i8, i9) = (value, value, value, value, value)
  }
}
