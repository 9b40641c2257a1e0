import CoreDataModel
import CoreDataStorage
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import CoreDataSQLite

/// Everything about a folder that a reader could disturb.
struct FolderState: Equatable {
  var contents: [String: Data] = [:]
  var stamps: [String: FileStamp] = [:]
  var folder: FileStamp?

  init(_ url: URL) throws {
    folder = FileStamp(path: url.path)
    for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
      let path: String = url.appendingPathComponent(name).path
      contents[name] = FileManager.default.contents(atPath: path)
      stamps[name] = FileStamp(path: path)
    }
  }
}

@Suite
struct ReadOnlyTests {
  let folder: TemporaryFolder
  let layout = ModelLayout(model: Zoo.model())

  init() throws { folder = try TemporaryFolder() }

  /// A store with three owners, left in the state its journal mode and a crash would leave it in.
  private func make(_ name: String, mode: String, crash: Bool) throws -> URL {
    let url: URL = folder.file(name)
    var options = SQLiteOptions()
    options.pragmas = ["journal_mode": mode]
    let engine = try SQLiteEngine.open(url: url, layout: layout, options: options)
    try engine.insert("Owner", (1...3).map { ["name": .text("owner \($0)")] })
    if crash, mode == "WAL" {
      // As after kill -9: the companions stay.
      let saved: [(String, Data)] = ["", "-wal"].compactMap { suffix in
        FileManager.default.contents(atPath: url.path + suffix).map { (suffix, $0) }
      }
      try engine.close()
      for (suffix, data) in saved { try data.write(to: URL(fileURLWithPath: url.path + suffix)) }
      return url
    }
    if crash {
      // A transaction that spilled pages into the file and never ended.
      let copy: URL = folder.file("hot-\(name)")
      try engine.execute("PRAGMA cache_size = 1; PRAGMA cache_spill = 1")
      guard case .writable(let writer) = try engine.currentAccess() else { return url }
      try writer.writeWithoutTransaction { database in
        try database.inTransaction(.immediate) {
          try database.execute(sql: "UPDATE ZOWNER SET ZNAME = 'half done'")
          for _ in 0..<300 {
            try database.execute(sql: "INSERT INTO ZKINDS (Z_ENT, ZBYTES) VALUES (4, randomblob(4000))")
          }
          for suffix in ["", "-journal"] {
            let data: Data = try #require(FileManager.default.contents(atPath: url.path + suffix))
            try data.write(to: URL(fileURLWithPath: copy.path + suffix))
          }
          return .rollback
        }
      }
      try engine.close()
      return copy
    }
    try engine.close()
    return url
  }

  @Test(arguments: ["WAL", "DELETE"], [false, true])
  func `reading leaves every byte and time stamp as it was`(mode: String, crash: Bool) throws {
    let url: URL = try make("a b?c#d%20é.sqlite", mode: mode, crash: crash)
    let state = StoreFileState(url: url)
    #expect(state.hasWAL == (crash && mode == "WAL"))
    #expect(state.hasHotJournal == (crash && mode == "DELETE"))
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.url.path)
    defer {
      try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url.path)
    }
    let before: FolderState = try FolderState(folder.url)
    let engine = try SQLiteEngine.open(url: url, layout: layout, options: SQLiteOptions(isReadOnly: true))
    #expect(engine.isReadOnly)
    let rows: RowBatch = try engine.fetch(FetchPlan(entity: engine.entity("Owner")))
    #expect(
      rows.rows.map { $0.values(engine.entity("Owner"))["name"]! }
        == [.text("owner 1"), .text("owner 2"), .text("owner 3")])
    let file: SQLiteStoreFile = try SQLiteStoreFile.inspect(url: url)
    #expect(file.uuid == engine.identifier)
    #expect(file.entities.first { $0.name == "Owner" }?.rows == 3)
    #expect(try FolderState(folder.url) == before)
    try engine.close()
    #expect(try FolderState(folder.url) == before)
  }

  @Test func `a log beside a store without one is left as it is, and gets no index`() throws {
    let url: URL = try make("stray.sqlite", mode: "DELETE", crash: false)
    try Data((0..<9000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
      .write(to: URL(fileURLWithPath: url.path + "-wal"))
    let before: FolderState = try FolderState(folder.url)
    let engine = try SQLiteEngine.open(url: url, layout: layout, options: SQLiteOptions(isReadOnly: true))
    #expect(try engine.count(FetchPlan(entity: engine.entity("Owner"))) == 3)
    #expect(try SQLiteStoreFile.inspect(url: url).uuid == engine.identifier)
    try engine.close()
    #expect(try FolderState(folder.url) == before)
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `a reader sees what another connection saved since its last read`(mode: String) throws {
    let url: URL = try make("live.sqlite", mode: mode, crash: false)
    let reader = try SQLiteEngine.open(url: url, layout: layout, options: SQLiteOptions(isReadOnly: true))
    let plan = FetchPlan(entity: reader.entity("Owner"))
    #expect(try reader.count(plan) == 3)
    var options = SQLiteOptions()
    options.pragmas = ["journal_mode": mode]
    let writer = try SQLiteEngine.open(url: url, layout: layout, options: options)
    for count in 4...8 {
      try writer.insert("Owner", [[:]])
      #expect(try reader.count(plan) == count)
    }
    try writer.close()
    #expect(try reader.count(plan) == 8)
  }

  private static func makePair(_ url: URL) throws -> DatabaseQueue {
    let writer = try DatabaseQueue(path: url.path)
    try writer.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
      try $0.execute(sql: "CREATE TABLE pair (one INTEGER, two INTEGER)")
      try $0.execute(sql: "INSERT INTO pair VALUES (0, 0)")
      // A copy takes longer than several transactions.
      try $0.execute(sql: "CREATE TABLE padding (bytes BLOB)")
      try $0.execute(sql: "INSERT INTO padding VALUES (zeroblob(8000000))")
    }
    return writer
  }

  private static func count(_ writer: DatabaseQueue) throws {
    try writer.write { try $0.execute(sql: "UPDATE pair SET one = one + 1, two = two + 1") }
  }

  // Finding: a copy of a log that was written to meanwhile was dropped, and a migration gave up.
  @Test func `a store that another connection writes to without a pause is read, one state at a time`() throws
  {
    let url: URL = try make("busy.sqlite", mode: "WAL", crash: false)
    let writer: DatabaseQueue = try Self.makePair(url)
    let isDone = Mutex(false)
    let written = Mutex(0)
    let thread = Thread {
      while !isDone.withLock({ $0 }) {
        try? Self.count(writer)
        written.withLock { $0 += 1 }
      }
    }
    thread.start()
    defer { isDone.withLock { $0 = true } }
    var last: Int = -1
    for _ in 0..<5 {
      let before: Int = written.withLock { $0 }
      while written.withLock({ $0 }) < before + 2 { sched_yield() }
      let access = ReadOnlyAccess(url: url, configuration: Configuration())
      defer { try? access.close() }
      let (pair, damage): ([Int], String?) = try access.read { database in
        let row = try #require(try Row.fetchOne(database, sql: "SELECT one, two FROM pair"))
        return ([row[0], row[1]], try String.fetchOne(database, sql: "PRAGMA integrity_check"))
      }
      #expect(pair[0] == pair[1] && damage == "ok")
      // What was committed before is read.
      #expect(pair[0] > last && pair[0] >= before)
      last = pair[0]
    }
  }

  @Test func `a log that has grown is the same, and one that has begun anew is not`() throws {
    let url: URL = try make("log.sqlite", mode: "WAL", crash: false)
    let writer: DatabaseQueue = try Self.makePair(url)
    let state = StoreFileState(url: url)
    let header: [UInt8] = state.walHeader
    #expect(header.count == 32 && state.isSame(as: state, walHeader: header))
    try Self.count(writer)
    let grown = StoreFileState(url: url)
    #expect(grown != state && grown.isSame(as: state, walHeader: header))
    try writer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(RESTART)") }
    let written = StoreFileState(url: url)
    #expect(!written.isSame(as: grown, walHeader: header))
    // The log has its new header with the first frame, and is as long as before.
    let settled: [UInt8] = written.walHeader
    try Self.count(writer)
    #expect(!StoreFileState(url: url).isSame(as: written, walHeader: settled))
    try writer.close()
    #expect(!StoreFileState(url: url).isSame(as: grown, walHeader: header))
  }

  @Test func `a read-only engine refuses to write`() throws {
    let url: URL = try make("a.sqlite", mode: "WAL", crash: false)
    let engine = try SQLiteEngine.open(url: url, layout: layout, options: SQLiteOptions(isReadOnly: true))
    for body in [
      {
        try engine.insert("Owner", [[:]])
        return
      }, { try engine.setMetadata([:]) },
      { _ = try engine.allocateKeys(for: engine.entity("Owner"), count: 1) },
    ] as [() throws -> Void] {
      do {
        try body()
        Issue.record("it was written")
      } catch StoreError.readOnly(let place, let reason) {
        #expect(place == url && reason == .requested)
      }
    }
  }

  @Test func `temporary copies are removed on closing`() throws {
    let url: URL = try make("a.sqlite", mode: "WAL", crash: true)
    let engine = try SQLiteEngine.open(url: url, layout: layout, options: SQLiteOptions(isReadOnly: true))
    guard case .readOnly(let access) = try engine.currentAccess() else {
      Issue.record("the engine can write")
      return
    }
    let copy: URL = try #require(access.copyFolder)
    #expect(FileManager.default.fileExists(atPath: copy.appendingPathComponent("store.sqlite").path))
    try engine.close()
    #expect(!FileManager.default.fileExists(atPath: copy.path))
  }
}
