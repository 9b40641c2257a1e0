import Foundation

/// One way to store and read the rows. A contestant is opened, runs one timed case, and is discarded.
protocol Contestant {
  /// Opens a store that exists; not timed.
  init(store: URL) throws

  /// Stores the rows in one transaction. `prepare` (not timed) converts them to the contestant's own form.
  mutating func prepare(_ samples: [Sample])
  mutating func insert() throws

  /// Every row, all ten values.
  func readAll(into sum: inout Checksum) throws
  /// Every row, fetched as the contestant usually does, no value read.
  func readNothing(into sum: inout Checksum) throws
  /// Every row, all ten values, without holding all of them at a time.
  func walk(into sum: inout Checksum) throws
  /// The same, by what releases each batch before the next one, if the contestant has that beside the usual
  /// walk.
  func stream(into sum: inout Checksum) throws
  /// The rows of one section, all ten values.
  func readSection(_ section: Int32, into sum: inout Checksum) throws
  /// One row per number, each by a query of its own, all ten values.
  func lookUp(_ numbers: [Int64], into sum: inout Checksum) throws

  /// Reads rows to be changed, and keeps them; not timed.
  mutating func load(_ count: Int) throws
  /// Adds 1 to the quantity of each loaded row, and saves all in one transaction.
  mutating func update() throws
  /// Pages of 50 rows by number, which has an index, each page by a query of its own, all ten values.
  func readPages(_ pages: Range<Int>, into sum: inout Checksum) throws
  /// The first page of 50 rows by price, which has no index, all ten values.
  func readSortedPage(into sum: inout Checksum) throws

  /// Ends the use of the store; not timed.
  func close() throws
}

extension Contestant {
  func stream(into sum: inout Checksum) throws { try walk(into: &sum) }
}

/// The contestants, in the order of the table.
enum ContestantName: String, CaseIterable, Codable {
  case c, grdb, grdbCodable, clarus

  var title: String {
    switch self {
    case .c: "C sqlite3"
    case .grdb: "GRDB, by hand"
    case .grdbCodable: "GRDB, Codable"
    case .clarus: "Clarus"
    }
  }

  var type: any Contestant.Type {
    switch self {
    case .c: SQLiteContestant.self
    case .grdb: GRDBContestant<HandRecord>.self
    case .grdbCodable: GRDBContestant<CodableRecord>.self
    case .clarus: ClarusContestant.self
    }
  }
}

/// The measured cases.
enum CaseName: String, CaseIterable, Codable {
  case insert, update, read, faults, walk, stream, section, lookup, page, sort

  /// The number of rows that the case uses, of a store with `rows` rows.
  func operations(rows: Int) -> Int {
    switch self {
    case .insert, .update: max(1, rows / 2)
    case .read, .faults, .walk, .stream: rows
    case .section: max(1, rows / 100)
    case .lookup: min(2000, rows)
    case .page: CaseName.pages(of: rows).count * CaseName.pageSize
    case .sort: min(CaseName.pageSize, rows)
    }
  }

  func title(rows: Int) -> String {
    let count: String = operations(rows: rows).formatted
    return switch self {
    case .insert: "insert and save \(count) objects"
    case .update: "change one property of \(count) objects in memory and save"
    case .read: "fetch \(count) objects, read all 10 properties"
    case .faults: "fetch \(count) objects, read none"
    case .walk: "walk over \(count) objects in batches of 1,000, read all 10"
    case .stream: "walk over \(count) objects in pages of 1,000 that are released, read all 10"
    case .section: "fetch 1 % of \(rows.formatted) by indexed predicate, read all 10"
    case .lookup: "\(count) fetches of one object each, by indexed predicate"
    case .page:
      "\(CaseName.pages(of: rows).count) pages of \(CaseName.pageSize) of \(rows.formatted) in the order of an index, "
        + "read all 10"
    case .sort:
      "the first \(count) of \(rows.formatted) in the order of a property without index, read all 10"
    }
  }
}

extension CaseName {
  static let pageSize: Int = 50

  /// The pages that a list shows first.
  static func pages(of rows: Int) -> Range<Int> { 0..<min(100, rows / pageSize) }
}

extension Int {
  /// `200,000`
  var formatted: String {
    var text: String = ""
    for (place, digit) in String(self).reversed().enumerated() {
      if place > 0, place % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }
}
