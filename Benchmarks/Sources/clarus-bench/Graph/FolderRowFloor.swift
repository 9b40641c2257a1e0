import Foundation
import GRDBSQLite

/// C that deletes folders and their documents row by row, each in the version that was read: what a save of
/// objects promises. It reads the documents of each folder with all their values, unless it knows them.
struct FolderRowFloor: GraphSaver {
  private let database: OpaquePointer
  private let folders: [(key: Int64, version: Int64)]
  private let documents: [(key: Int64, version: Int64)]?

  init(store: URL, knowsDocuments: Bool) throws {
    database = try FolderFloor.open(store)
    folders = try FolderFloor.read(database, "SELECT Z_PK, Z_OPT FROM ZFOLDER").map { ($0.0, $0.1) }
    documents =
      knowsDocuments
      ? try FolderFloor.read(database, "SELECT Z_PK, Z_OPT FROM ZDOCUMENT").map { ($0.0, $0.1) } : nil
  }

  func run() throws {
    let documents: [(key: Int64, version: Int64)] = try self.documents ?? readDocuments()
    try FolderFloor.execute(database, "BEGIN IMMEDIATE")
    try delete(documents, "DELETE FROM ZDOCUMENT WHERE Z_PK = ? AND Z_OPT = ?")
    try delete(folders, "DELETE FROM ZFOLDER WHERE Z_PK = ? AND Z_OPT = ?")
    try FolderFloor.execute(database, "COMMIT")
  }

  func close() { sqlite3_close_v2(database) }

  private func readDocuments() throws -> [(key: Int64, version: Int64)] {
    let select: OpaquePointer = try prepared(
      "SELECT Z_PK, Z_OPT, Z_ENT, ZNUMBER, ZFOLDER, ZTITLE FROM ZDOCUMENT WHERE ZFOLDER = ?")
    defer { sqlite3_finalize(select) }
    var documents: [(key: Int64, version: Int64)] = []
    // The bytes of all titles, one after the other, as a program in C would keep them.
    var titles: [UInt8] = []
    var numbers: [Int64] = []
    for folder in folders {
      sqlite3_bind_int64(select, 1, folder.key)
      while sqlite3_step(select) == SQLITE_ROW {
        documents.append((sqlite3_column_int64(select, 0), sqlite3_column_int64(select, 1)))
        for column: Int32 in 2...4 { numbers.append(sqlite3_column_int64(select, column)) }
        if let title = sqlite3_column_text(select, 5) {
          titles.append(
            contentsOf: UnsafeBufferPointer(start: title, count: Int(sqlite3_column_bytes(select, 5))))
        }
      }
      sqlite3_reset(select)
    }
    guard numbers.count == 3 * documents.count, !titles.isEmpty else {
      throw BenchmarkError("documents without values")
    }
    return documents
  }

  private func delete(_ rows: [(key: Int64, version: Int64)], _ sql: String) throws {
    let statement: OpaquePointer = try prepared(sql)
    defer { sqlite3_finalize(statement) }
    for row in rows {
      sqlite3_bind_int64(statement, 1, row.key)
      sqlite3_bind_int64(statement, 2, row.version)
      guard sqlite3_step(statement) == SQLITE_DONE, sqlite3_changes(database) == 1 else {
        throw FolderFloor.failure(database)
      }
      sqlite3_reset(statement)
    }
  }

  private func prepared(_ sql: String) throws -> OpaquePointer {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw FolderFloor.failure(database)
    }
    return statement
  }
}
