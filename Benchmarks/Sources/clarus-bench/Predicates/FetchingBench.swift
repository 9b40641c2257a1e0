import CoreData
import Foundation
import GRDB
import GRDBSQLite

/// Predicates run by SQLite: objects and counts, beside SQL written by hand.
struct FetchingBench {
  var store: URL
  var count: Int
  var rounds: Int
  /// Objects or counts.
  var part: PredicateSuite.Part

  func run() throws -> [Race.Outcome] {
    let container: NSPersistentContainer = try PeopleStore.open(store)
    let context: NSManagedObjectContext = container.newBackgroundContext()
    let floor = try PeopleFloor(store)
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: Schema.pragmas) }
    let queue = try DatabaseQueue(path: store.path, configuration: configuration)

    let outcomes: [Race.Outcome] = try PredicateCase.allCases.map { name in
      part == .count
        ? try raceCounts(name, floor, context) : try raceObjects(name, floor, queue, context)
    }
    try queue.close()
    floor.close()
    context.performAndWait { context.reset() }
    try BenchStore.close(container)
    return outcomes
  }

  private func raceObjects(
    _ name: PredicateCase, _ floor: PeopleFloor, _ queue: DatabaseQueue, _ context: NSManagedObjectContext
  ) throws -> Race.Outcome {
    let select: String = "SELECT \(PersonRecord.columns) FROM \(name.source)"
    let arguments: StatementArguments = StatementArguments(
      name.values.map { value -> (any DatabaseValueConvertible)? in
        switch value {
        case .integer(let value): value
        case .real(let value): value
        case .text(let value): value
        }
      })
    return try Race(part: PredicateSuite.Part.fetch, title: name.title, operations: count, rounds: rounds)
      .run(
        [
          Race.Contestant("C sqlite3", body: { try floor.readAll(select, name.values) }),
          Race.Contestant(
            "GRDB, by hand", against: "C sqlite3",
            body: {
              try queue.read { try PersonRecord.fetchAll($0, sql: select, arguments: arguments) }.count
            }
          ),
          Race.Contestant(
            "fetch", against: "C sqlite3",
            body: {
              try context.performAndWait {
                let request: NSFetchRequest<BenchPerson> = BenchPerson.fetchRequest()
                request.predicate = name.predicate()
                return try context.fetch(request).count
              }
            }
          ),
        ])
  }

  private func raceCounts(
    _ name: PredicateCase, _ floor: PeopleFloor, _ context: NSManagedObjectContext
  ) throws -> Race.Outcome {
    let select: String = "SELECT COUNT(*) FROM \(name.source)"
    return try Race(part: PredicateSuite.Part.count, title: name.title, operations: count, rounds: rounds)
      .run(
        [
          Race.Contestant("C sqlite3", body: { try floor.count(select, name.values) }),
          Race.Contestant(
            "count(for:)", against: "C sqlite3",
            body: {
              try context.performAndWait {
                let request: NSFetchRequest<BenchPerson> = BenchPerson.fetchRequest()
                request.predicate = name.predicate()
                return try context.count(for: request)
              }
            }
          ),
        ])
  }
}

/// A person as a GRDB record, decoded by hand.
struct PersonRecord: FetchableRecord {
  static let columns: String =
    "p.Z_PK, p.Z_ENT, p.Z_OPT, p.ZAGE, p.ZACTIVE, p.ZSALARY, p.ZRATING, p.ZJOINED, p.ZNAME, p.ZCITY, p.ZNOTE, "
    + "p.ZDEPARTMENT"

  var key: Int64
  var age: Int16
  var active: Bool
  var salary: Double
  var rating: Double
  var joined: Double
  var name: String
  var city: String
  var note: String
  var department: Int64

  init(row: Row) {
    (key, age, active) = (row[0], row[3], row[4])
    (salary, rating, joined) = (row[5], row[6], row[7])
    (name, city, note, department) = (row[8], row[9], row[10], row[11])
  }
}

/// The floor: statements of SQLite's C interface, every column read, text copied out.
final class PeopleFloor {
  private let database: OpaquePointer
  private let owned: UnsafeMutablePointer<UInt8> = .allocate(capacity: 4096)

  init(_ store: URL) throws {
    var handle: OpaquePointer?
    let code: Int32 = sqlite3_open_v2(
      store.path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let handle else { throw BenchmarkError("sqlite3_open: \(code)") }
    database = handle
    guard sqlite3_exec(database, Schema.pragmas, nil, nil, nil) == SQLITE_OK else { throw failure() }
  }

  deinit { owned.deallocate() }

  func close() { sqlite3_close_v2(database) }

  /// Reads rows; the values are summed, so that reading is not optimised away.
  func readAll(_ sql: String, _ values: [PredicateCase.Value]) throws -> Int {
    let statement: OpaquePointer = try prepared(sql, values)
    defer { sqlite3_finalize(statement) }
    var (rows, sum): (Int, Double) = (0, 0)
    var code: Int32 = sqlite3_step(statement)
    while code == SQLITE_ROW {
      rows += 1
      sum += Double(sqlite3_column_int64(statement, 0) & 1)
      for column: Int32 in [1, 2, 3, 4, 11] { sum += Double(sqlite3_column_int64(statement, column) & 1) }
      for column: Int32 in 5...7 { sum += sqlite3_column_double(statement, column) }
      var used: Int = 0
      for column: Int32 in 8...10 {
        let text: UnsafePointer<UInt8>? = sqlite3_column_text(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        guard let text, used + count <= 4096 else { throw BenchmarkError("a text is missing or too long") }
        memcpy(owned + used, text, count)
        used += count
      }
      code = sqlite3_step(statement)
    }
    guard code == SQLITE_DONE, sum >= 0 else { throw failure() }
    return rows
  }

  func count(_ sql: String, _ values: [PredicateCase.Value]) throws -> Int {
    let statement: OpaquePointer = try prepared(sql, values)
    defer { sqlite3_finalize(statement) }
    guard sqlite3_step(statement) == SQLITE_ROW else { throw failure() }
    return Int(sqlite3_column_int64(statement, 0))
  }

  private func prepared(_ sql: String, _ values: [PredicateCase.Value]) throws -> OpaquePointer {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw failure()
    }
    // SQLITE_TRANSIENT: the text is copied.
    let copied: sqlite3_destructor_type = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    for (place, value) in values.enumerated() {
      let parameter = Int32(place + 1)
      switch value {
      case .integer(let value): sqlite3_bind_int64(statement, parameter, value)
      case .real(let value): sqlite3_bind_double(statement, parameter, value)
      case .text(let value): sqlite3_bind_text(statement, parameter, value, -1, copied)
      }
    }
    return statement
  }

  private func failure() -> BenchmarkError {
    BenchmarkError("C sqlite3: \(String(cString: sqlite3_errmsg(database)))")
  }
}
