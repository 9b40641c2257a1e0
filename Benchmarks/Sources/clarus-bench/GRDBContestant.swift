import Foundation
import GRDB

/// GRDB's records, through a queue with GRDB's own defaults.
struct GRDBContestant<Record: BenchmarkRecord>: Contestant {
  let queue: DatabaseQueue
  var records: [Record] = []

  init(store: URL) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: Schema.pragmas) }
    queue = try DatabaseQueue(path: store.path, configuration: configuration)
  }

  mutating func prepare(_ samples: [Sample]) {
    records = samples.enumerated().map { Record(key: Int64($0 + 1), $1) }
  }

  mutating func insert() throws {
    try queue.write { database in
      for record in records { try record.insert(database) }
      try database.execute(sql: Schema.keysTaken(records.count))
    }
  }

  func readAll(into sum: inout Checksum) throws {
    for record in try queue.read({ try Record.fetchAll($0, sql: Schema.select) }) { record.add(to: &sum) }
  }

  func readNothing(into sum: inout Checksum) throws {
    for _ in try queue.read({ try Record.fetchAll($0, sql: Schema.select) }) { sum.addRow() }
  }

  func walk(into sum: inout Checksum) throws {
    try queue.read { database in
      let cursor: RecordCursor<Record> = try Record.fetchCursor(database, sql: Schema.select)
      while let record = try cursor.next() { record.add(to: &sum) }
    }
  }

  func readSection(_ section: Int32, into sum: inout Checksum) throws {
    let records: [Record] = try queue.read {
      try Record.fetchAll($0, sql: Schema.select + " WHERE ZSECTION = ?", arguments: [section])
    }
    for record in records { record.add(to: &sum) }
  }

  func lookUp(_ numbers: [Int64], into sum: inout Checksum) throws {
    let sql: String = Schema.select + " WHERE ZNUMBER = ?"
    for number in numbers {
      let records: [Record] = try queue.read {
        try Record.fetchAll($0.cachedStatement(sql: sql), arguments: [number])
      }
      for record in records { record.add(to: &sum) }
    }
  }

  func close() throws { try queue.close() }
}

protocol BenchmarkRecord: FetchableRecord, PersistableRecord, Sendable {
  init(key: Int64, _ sample: Sample)
  mutating func addToQuantity()
  func add(to sum: inout Checksum)
}

/// Encoding and decoding by hand: GRDB's fastest kind of record.
struct HandRecord: BenchmarkRecord {
  static let databaseTableName = "ZITEM"

  var key: Int64
  var version: Int64
  var sample: HandSample

  struct HandSample {
    var number: Int64
    var section: Int32
    var quantity: Int32
    var priority: Int16
    var price: Double
    var weight: Double
    var code: String
    var title: String
    var note: String
    var done: Bool
  }

  init(key: Int64, _ sample: Sample) {
    self.key = key
    version = 1
    self.sample = HandSample(
      number: sample.number, section: sample.section, quantity: sample.quantity,
      priority: sample.priority, price: sample.price, weight: sample.weight, code: sample.code,
      title: sample.title, note: sample.note, done: sample.done)
  }

  init(row: Row) {
    key = row[0]
    version = row[2]
    sample = HandSample(
      number: row[3], section: row[4], quantity: row[5], priority: row[6], price: row[7], weight: row[8],
      code: row[9], title: row[10], note: row[11], done: row[12])
  }

  func encode(to container: inout PersistenceContainer) {
    container["Z_PK"] = key
    container["Z_ENT"] = Schema.entity
    container["Z_OPT"] = version
    container["ZNUMBER"] = sample.number
    container["ZSECTION"] = sample.section
    container["ZQUANTITY"] = sample.quantity
    container["ZPRIORITY"] = sample.priority
    container["ZPRICE"] = sample.price
    container["ZWEIGHT"] = sample.weight
    container["ZCODE"] = sample.code
    container["ZTITLE"] = sample.title
    container["ZNOTE"] = sample.note
    container["ZDONE"] = sample.done
  }

  func add(to sum: inout Checksum) {
    sum.addRow()
    sum.add(sample.number)
    sum.add(sample.section)
    sum.add(sample.quantity)
    sum.add(sample.priority)
    sum.add(sample.price)
    sum.add(sample.weight)
    sum.add(sample.code)
    sum.add(sample.title)
    sum.add(sample.note)
    sum.add(sample.done)
  }
}

/// The usual kind of record.
struct CodableRecord: BenchmarkRecord, Codable {
  static let databaseTableName = "ZITEM"

  var key: Int64
  var entity: Int32
  var version: Int32
  var number: Int64
  var section: Int32
  var quantity: Int32
  var priority: Int16
  var price: Double
  var weight: Double
  var code: String
  var title: String
  var note: String
  var done: Bool

  enum CodingKeys: String, CodingKey {
    case key = "Z_PK"
    case entity = "Z_ENT"
    case version = "Z_OPT"
    case number = "ZNUMBER"
    case section = "ZSECTION"
    case quantity = "ZQUANTITY"
    case priority = "ZPRIORITY"
    case price = "ZPRICE"
    case weight = "ZWEIGHT"
    case code = "ZCODE"
    case title = "ZTITLE"
    case note = "ZNOTE"
    case done = "ZDONE"
  }

  init(key: Int64, _ sample: Sample) {
    self.key = key
    entity = Schema.entity
    version = 1
    number = sample.number
    section = sample.section
    quantity = sample.quantity
    priority = sample.priority
    price = sample.price
    weight = sample.weight
    code = sample.code
    title = sample.title
    note = sample.note
    done = sample.done
  }

  func add(to sum: inout Checksum) {
    sum.addRow()
    sum.add(number)
    sum.add(section)
    sum.add(quantity)
    sum.add(priority)
    sum.add(price)
    sum.add(weight)
    sum.add(code)
    sum.add(title)
    sum.add(note)
    sum.add(done)
  }
}
