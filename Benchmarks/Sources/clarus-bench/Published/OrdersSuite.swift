import CoreData
import Foundation
import GRDB
import GRDBSQLite

/// Lighter's published workload (its PerformanceTestSuite): all orders of the Northwind database, 14 columns
/// of which most may be nil, loaded into an array again and again over one open connection.
///
/// The orders are generated, dates are numbers. "Swift structs over C" is what Lighter's generator writes: a
/// struct made of the columns of a prepared statement by index. All values of the array are then added, by
/// every contestant.
struct OrdersSuite {
  var folder: URL
  var rounds: Int
  var progress: (String) -> Void = { _ in }

  /// Those of the database that Lighter's numbers are from.
  static let count: Int = 15_889

  struct Part: RacePart {
    let rawValue: String = "lighter"
    let title: String = "Lighter's workload: orders of 14 columns"
    init() {}
    init?(rawValue: String) { nil }
  }

  func run() throws -> [Race.Outcome] {
    progress("lighter: loading all orders")
    let store: URL = folder.appendingPathComponent("orders.sqlite")
    try write(to: store)
    let race = Race(
      part: Part(), title: "load all \(Self.count.formatted) orders", operations: Self.count, rounds: rounds)
    let database = try CDatabase(store)
    let queue: DatabaseQueue = try DatabaseQueue(path: store.path)
    let container: NSPersistentContainer = try BenchStore.open(store, BenchStore.model("Northwind"))
    let outcome: Race.Outcome = try race.run([
      loading("C") { try readBytes(database, &$0) },
      loading("Swift structs over C") { sum in
        for order in try Self.structs(database) { order.add(to: &sum) }
      },
      loading("GRDB, by hand") { sum in
        for order in try queue.read({ try Order.fetchAll($0) }) { order.add(to: &sum) }
      },
      loading("GRDB, Codable") { sum in
        for order in try queue.read({ try CodableOrder.fetchAll($0) }) { order.order.add(to: &sum) }
      },
      loading("Clarus") { sum in
        let context: NSManagedObjectContext = container.newBackgroundContext()
        var inner: Checksum = sum
        try context.performAndWait {
          for order in try context.fetch(BenchOrders.fetchRequest()) { order.add(to: &inner) }
        }
        sum = inner
      },
    ])
    database.close()
    try queue.close()
    try BenchStore.close(container)
    return [outcome]
  }

  private func loading(_ name: String, _ load: @escaping (inout Checksum) throws -> Void) -> Race.Contestant {
    Race.Contestant(
      name, against: name == "C" ? nil : "C",
      body: {
        var sum = Checksum(thorough: false)
        try load(&sum)
        guard sum.rows == Self.count else { throw BenchmarkError("\(name) read \(sum.rows) orders") }
        return Int(truncatingIfNeeded: sum.value)
      })
  }

  private func write(to store: URL) throws {
    let container: NSPersistentContainer = try BenchStore.open(store, BenchStore.model("Northwind"))
    let context: NSManagedObjectContext = container.newBackgroundContext()
    try context.performAndWait {
      for place in 0..<Self.count { BenchOrders(context: context).set(Order(generated: place)) }
      try context.save()
    }
    try BenchStore.close(container)
  }

  // MARK: C

  /// The floor: each value read once, text copied into memory of the program's own.
  private func readBytes(_ database: CDatabase, _ sum: inout Checksum) throws {
    let statement: CStatement = try database.prepare(Order.select)
    let row: OpaquePointer = statement.pointer
    let capacity: Int = 4096
    let owned = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    defer { owned.deallocate() }
    while try statement.step() {
      sum.addRow()
      for column: Int32 in [0, 2, 6] { sum.add(sqlite3_column_int64(row, column)) }
      sum.add(sqlite3_column_double(row, 7))
      for column: Int32 in 3...5 where sqlite3_column_type(row, column) != SQLITE_NULL {
        sum.add(sqlite3_column_double(row, column))
      }
      var used: Int = 0
      for column: Int32 in [1, 8, 9, 10, 11, 12, 13] {
        guard let text = sqlite3_column_text(row, column) else {
          sum.add(UnsafeBufferPointer(start: owned, count: 0))
          continue
        }
        let count = Int(sqlite3_column_bytes(row, column))
        guard used + count <= capacity else { throw BenchmarkError("a text is too long") }
        memcpy(owned + used, text, count)
        sum.add(UnsafeBufferPointer(start: owned + used, count: count))
        used += count
      }
    }
  }

  private static func structs(_ database: CDatabase) throws -> [Order] {
    let statement: CStatement = try database.prepare(Order.select)
    let row: OpaquePointer = statement.pointer
    func isNil(_ column: Int32) -> Bool { sqlite3_column_type(row, column) == SQLITE_NULL }
    func text(_ column: Int32) -> String? { sqlite3_column_text(row, column).map { String(cString: $0) } }
    func integer(_ column: Int32) -> Int? { isNil(column) ? nil : Int(sqlite3_column_int64(row, column)) }
    func double(_ column: Int32) -> Double? { isNil(column) ? nil : sqlite3_column_double(row, column) }
    func date(_ column: Int32) -> Date? { double(column).map { Date(timeIntervalSinceReferenceDate: $0) } }
    var orders: [Order] = []
    while try statement.step() {
      orders.append(
        Order(
          orderID: Int(sqlite3_column_int64(row, 0)), customerID: text(1), employeeID: integer(2),
          orderDate: date(3), requiredDate: date(4), shippedDate: date(5), shipVia: integer(6),
          freight: double(7), shipName: text(8), shipAddress: text(9), shipCity: text(10),
          shipRegion: text(11), shipPostalCode: text(12), shipCountry: text(13)))
    }
    return orders
  }
}

extension BenchOrders {
  fileprivate func set(_ order: Order) {
    orderID = Int64(order.orderID)
    customerID = order.customerID
    employeeID = Int64(order.employeeID ?? 0)
    orderDate = order.orderDate
    requiredDate = order.requiredDate
    shippedDate = order.shippedDate
    shipVia = Int64(order.shipVia ?? 0)
    freight = order.freight ?? 0
    shipName = order.shipName
    shipAddress = order.shipAddress
    shipCity = order.shipCity
    shipRegion = order.shipRegion
    shipPostalCode = order.shipPostalCode
    shipCountry = order.shipCountry
  }

  fileprivate func add(to sum: inout Checksum) {
    sum.addRow()
    sum.add(orderID)
    sum.add(employeeID)
    sum.add(shipVia)
    sum.add(freight)
    for date in [orderDate, requiredDate, shippedDate] {
      if let date { sum.add(date.timeIntervalSinceReferenceDate) }
    }
    sum.add(customerID ?? "")
    sum.add(shipName ?? "")
    sum.add(shipAddress ?? "")
    sum.add(shipCity ?? "")
    sum.add(shipRegion ?? "")
    sum.add(shipPostalCode ?? "")
    sum.add(shipCountry ?? "")
  }
}
