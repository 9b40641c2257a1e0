import CoreData
import Foundation
import GRDB
import GRDBSQLite

// What a list shows: a page of rows in an order. All contestants run the same statement, except that each
// chooses how it is prepared: C prepares it once, GRDB takes it from its cache, Clarus does as it does for
// any request.

extension Schema {
  static let page: String = select + " ORDER BY ZNUMBER LIMIT ? OFFSET ?"
  static let sortedPage: String = select + " ORDER BY ZPRICE, ZNUMBER LIMIT ?"
}

extension SQLiteContestant {
  func readPages(_ pages: Range<Int>, into sum: inout Checksum) throws {
    let statement: OpaquePointer = try prepared(Schema.page)
    defer { sqlite3_finalize(statement) }
    for page in pages {
      sqlite3_bind_int64(statement, 1, Int64(CaseName.pageSize))
      sqlite3_bind_int64(statement, 2, Int64(page * CaseName.pageSize))
      try read(statement, into: &sum)
      sqlite3_reset(statement)
    }
  }

  func readSortedPage(into sum: inout Checksum) throws {
    let statement: OpaquePointer = try prepared(Schema.sortedPage)
    defer { sqlite3_finalize(statement) }
    sqlite3_bind_int64(statement, 1, Int64(CaseName.pageSize))
    try read(statement, into: &sum)
  }
}

extension GRDBContestant {
  func readPages(_ pages: Range<Int>, into sum: inout Checksum) throws {
    for page in pages {
      let records: [Record] = try queue.read {
        try Record.fetchAll(
          $0.cachedStatement(sql: Schema.page), arguments: [CaseName.pageSize, page * CaseName.pageSize])
      }
      for record in records { record.add(to: &sum) }
    }
  }

  func readSortedPage(into sum: inout Checksum) throws {
    let records: [Record] = try queue.read {
      try Record.fetchAll($0, sql: Schema.sortedPage, arguments: [CaseName.pageSize])
    }
    for record in records { record.add(to: &sum) }
  }
}

extension ClarusContestant {
  func readPages(_ pages: Range<Int>, into sum: inout Checksum) throws {
    try context.performAndWait {
      for page in pages {
        let request: NSFetchRequest<BenchItem> = BenchItem.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        request.fetchLimit = CaseName.pageSize
        request.fetchOffset = page * CaseName.pageSize
        for item in try context.fetch(request) { item.add(to: &sum) }
      }
    }
  }

  func readSortedPage(into sum: inout Checksum) throws {
    try context.performAndWait {
      let request: NSFetchRequest<BenchItem> = BenchItem.fetchRequest()
      request.sortDescriptors = [
        NSSortDescriptor(key: "price", ascending: true), NSSortDescriptor(key: "number", ascending: true),
      ]
      request.fetchLimit = CaseName.pageSize
      for item in try context.fetch(request) { item.add(to: &sum) }
    }
  }
}
