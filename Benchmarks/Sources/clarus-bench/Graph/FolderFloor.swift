import Foundation
import GRDB
import GRDBSQLite

/// The floor: one prepared statement, keys and values known beforehand.
struct FolderFloor: GraphSaver {
  private let database: OpaquePointer
  private let change: GraphChange
  private let folders: [Int64]
  private let documents: [(key: Int64, number: Int64)]

  init(store: URL, change: GraphChange) throws {
    database = try Self.open(store)
    self.change = change
    folders = try Self.read(database, "SELECT Z_PK, 0 FROM ZFOLDER ORDER BY ZNUMBER").map(\.0)
    documents = try Self.read(database, "SELECT Z_PK, ZNUMBER FROM ZDOCUMENT ORDER BY ZNUMBER")
  }

  func run() throws {
    try Self.execute(database, "BEGIN IMMEDIATE")
    switch change {
    case .set:
      try step("UPDATE ZDOCUMENT SET ZNUMBER = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?", documents.count) {
        (documents[$0].number + 1, documents[$0].key)
      }
    case .move:
      try step("UPDATE ZDOCUMENT SET ZFOLDER = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?", documents.count) {
        (folders[GraphChange.newFolder(of: $0, among: folders.count)], documents[$0].key)
      }
    case .link:
      let (count, most): (Int, Int64) = (documents.count, documents.map(\.key).max() ?? 0)
      try Self.execute(
        database, "UPDATE Z_PRIMARYKEY SET Z_MAX = \(most + Int64(count)) WHERE Z_NAME = 'Document'")
      try step(Self.insertion(after: most - Int64(count)), count) {
        (Int64(count + $0), folders[GraphChange.newFolder(of: $0, among: folders.count)])
      }
    case .delete:
      try step("DELETE FROM ZDOCUMENT WHERE ZFOLDER = ?", folders.count) { (folders[$0], nil) }
      try step("DELETE FROM ZFOLDER WHERE Z_PK = ?", folders.count) { (folders[$0], nil) }
    }
    try Self.execute(database, "COMMIT")
  }

  func close() { sqlite3_close_v2(database) }

  /// Numbers rise with keys.
  private static func insertion(after offset: Int64) -> String {
    """
    INSERT INTO ZDOCUMENT (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZFOLDER, ZTITLE)
    VALUES (?1 + 1 + \(offset), (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Document'), 1, ?1, ?2,
      '\(NewDocument.title)')
    """
  }

  /// A checksum of the store.
  static func sum(of store: URL) throws -> Int {
    let database: OpaquePointer = try open(store)
    defer { sqlite3_close_v2(database) }
    let rows: [(Int64, Int64)] = try read(
      database,
      "SELECT d.ZNUMBER, f.ZNUMBER FROM ZDOCUMENT d JOIN ZFOLDER f ON f.Z_PK = d.ZFOLDER ORDER BY d.ZNUMBER")
    var sum = GraphSum()
    for (place, row) in rows.enumerated() { sum.add(place, number: row.0, folder: row.1) }
    return sum.value
  }

  private func step(_ sql: String, _ count: Int, _ values: (Int) -> (Int64, Int64?)) throws {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw Self.failure(database)
    }
    defer { sqlite3_finalize(statement) }
    for place in 0..<count {
      let (first, second): (Int64, Int64?) = values(place)
      sqlite3_bind_int64(statement, 1, first)
      if let second { sqlite3_bind_int64(statement, 2, second) }
      guard sqlite3_step(statement) == SQLITE_DONE else { throw Self.failure(database) }
      sqlite3_reset(statement)
    }
  }

  static func open(_ store: URL) throws -> OpaquePointer {
    var handle: OpaquePointer?
    let code: Int32 = sqlite3_open_v2(
      store.path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let handle else { throw BenchmarkError("sqlite3_open: \(code)") }
    try execute(handle, Schema.pragmas)
    return handle
  }

  static func execute(_ database: OpaquePointer, _ sql: String) throws {
    guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else { throw failure(database) }
  }

  static func read(_ database: OpaquePointer, _ sql: String) throws -> [(Int64, Int64)] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw failure(database)
    }
    defer { sqlite3_finalize(statement) }
    var rows: [(Int64, Int64)] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      rows.append((sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1)))
    }
    return rows
  }

  static func failure(_ database: OpaquePointer) -> BenchmarkError {
    BenchmarkError("C sqlite3: \(String(cString: sqlite3_errmsg(database)))")
  }
}

/// GRDB: records in memory, changed and written one by one in one transaction.
struct FolderRecords: GraphSaver {
  private let queue: DatabaseQueue
  private let change: GraphChange
  private let folders: [FolderRecord]
  private let documents: [DocumentRecord]

  init(store: URL, change: GraphChange) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: Schema.pragmas) }
    queue = try DatabaseQueue(path: store.path, configuration: configuration)
    self.change = change
    (folders, documents) = try queue.read {
      (
        try FolderRecord.order(Column("ZNUMBER")).fetchAll($0),
        try DocumentRecord.order(Column("ZNUMBER")).fetchAll($0)
      )
    }
  }

  func run() throws {
    try queue.write { database in
      switch change {
      case .set:
        for var document in documents {
          document.number += 1
          document.version += 1
          try document.update(database, columns: ["ZNUMBER", "Z_OPT"])
        }
      case .move:
        for (place, var document) in documents.enumerated() {
          document.folder = folders[GraphChange.newFolder(of: place, among: folders.count)].key
          document.version += 1
          try document.update(database, columns: ["ZFOLDER", "Z_OPT"])
        }
      case .link:
        var key: Int64 = documents.map(\.key).max() ?? 0
        for place in documents.indices {
          key += 1
          try DocumentRecord(
            key: key, entity: documents[place].entity, version: 1, number: Int64(documents.count + place),
            title: NewDocument.title,
            folder: folders[GraphChange.newFolder(of: place, among: folders.count)].key
          ).insert(database)
        }
        try database.execute(
          sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME = 'Document'", arguments: [key])
      case .delete:
        for document in documents { try document.delete(database) }
        for folder in folders { try folder.delete(database) }
      }
    }
  }

  func close() throws { try queue.close() }
}

private struct FolderRecord: FetchableRecord, PersistableRecord {
  static let databaseTableName = "ZFOLDER"

  var key: Int64

  init(row: Row) { key = row["Z_PK"] }

  func encode(to container: inout PersistenceContainer) { container["Z_PK"] = key }
}

private struct DocumentRecord: FetchableRecord, PersistableRecord {
  static let databaseTableName = "ZDOCUMENT"

  var key: Int64
  var entity: Int64
  var version: Int64
  var number: Int64
  var title: String
  var folder: Int64

  func encode(to container: inout PersistenceContainer) {
    container["Z_PK"] = key
    container["Z_ENT"] = entity
    container["Z_OPT"] = version
    container["ZNUMBER"] = number
    container["ZTITLE"] = title
    container["ZFOLDER"] = folder
  }
}

extension DocumentRecord {
  init(row: Row) {
    (key, entity, version, number) = (row["Z_PK"], row["Z_ENT"], row["Z_OPT"], row["ZNUMBER"])
    (title, folder) = (row["ZTITLE"], row["ZFOLDER"])
  }
}
