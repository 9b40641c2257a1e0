import CoreDataStorage
import Foundation
import GRDB
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CoreDataSQLite

/// A replacement that is begun before the contents are read of which the new ones are made: whatever program
/// saves in between, it is not lost.
@Suite struct ReplacementTests {
  enum Journal: String, CaseIterable, Sendable { case wal, delete }

  private let folder: TemporaryFolder
  private let url: URL
  private let made: URL

  init() throws {
    folder = try TemporaryFolder()
    url = folder.file("store.sqlite")
    made = folder.file("made.sqlite")
    try fill(url, "old")
    try fill(made, "new")
  }

  private func fill(_ url: URL, _ title: String) throws {
    let world = try StoreWorld(
      StoreMaker { try SQLiteEngine.open(url: url, layout: $0, options: SQLiteOptions()) })
    try world.insert("Item", [["title": title]])
    try world.engine.close()
    // Another program's table, which is copied like everything else.
    try DatabaseQueue(path: url.path).write { try $0.execute(sql: "CREATE TABLE noted (number INTEGER)") }
  }

  private func set(_ journal: Journal, pageSize: Int? = nil) throws {
    let queue = try DatabaseQueue(path: url.path)
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA journal_mode = delete")
      if let pageSize { try database.execute(sql: "PRAGMA page_size = \(pageSize); VACUUM") }
      try database.execute(sql: "PRAGMA journal_mode = \(journal.rawValue)")
    }
    try queue.close()
  }

  private func begin() throws -> any StoreReplacement {
    try SQLiteKind().beginReplacement(at: url, options: StoreOpeningOptions())
  }

  private func titles() throws -> [String] {
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    return try queue.read { try String.fetchAll($0, sql: "SELECT ZTITLE FROM ZITEM ORDER BY ZTITLE") }
  }

  private func update(_ queue: DatabaseQueue, to title: String) throws {
    try queue.write { try $0.execute(sql: "UPDATE ZITEM SET ZTITLE = ?", arguments: [title]) }
  }

  @Test(arguments: Journal.allCases, [1024, 4096])
  func `it replaces contents that are as they were, and stores that have them open notice it`(
    _ journal: Journal, _ pageSize: Int
  ) throws {
    try set(journal, pageSize: pageSize)
    let reader = try StoreWorld(
      StoreMaker { try SQLiteEngine.open(url: url, layout: $0, options: SQLiteOptions()) })
    let replacement: any StoreReplacement = try begin()
    defer { replacement.end() }
    // Reading is no change.
    #expect(try titles() == ["old"])
    try replacement.complete(with: made)
    #expect(try titles() == ["new"])
    #expect(throws: StoreError.self) { try reader.insert("Item", [["title": "late"]]) }
    #expect(try titles() == ["new"])
  }

  @Test(arguments: Journal.allCases)
  func `it leaves contents that others have saved to, also if nobody sees that in size or time`(
    _ journal: Journal
  ) throws {
    try set(journal)
    let other = try DatabaseQueue(path: url.path)
    defer { try? other.close() }
    try update(other, to: "older")
    let stamp: FileStamp? = FileStamp(path: url.path)
    let replacement: any StoreReplacement = try begin()
    defer { replacement.end() }
    try update(other, to: "newer")
    if journal == .delete, let stamp {
      var times: [timespec] = [timespec(), timespec()]
      for place in 0...1 {
        times[place] = timespec(tv_sec: stamp.modifiedSeconds, tv_nsec: stamp.modifiedNanoseconds)
      }
      #expect(utimensat(AT_FDCWD, url.path, times, 0) == 0)
      #expect(FileStamp(path: url.path) == stamp)
    }
    let version: Int? = try other.read { try Int.fetchOne($0, sql: "PRAGMA schema_version") }
    do {
      try replacement.complete(with: made)
      Issue.record("what was saved is lost")
    } catch StoreError.savedByOthers(let place) {
      #expect(place == url)
    }
    #expect(try titles() == ["newer"])
    // Stores that have it open go on.
    #expect(try other.read { try Int.fetchOne($0, sql: "PRAGMA schema_version") } == version)
  }

  @Test func `another file in the place is not replaced`() throws {
    let replacement: any StoreReplacement = try begin()
    defer { replacement.end() }
    try FileManager.default.removeItem(at: url)
    try fill(url, "other")
    #expect(throws: StoreError.self) { try replacement.complete(with: made) }
    #expect(try titles() == ["other"])
  }

  private final class Writer: Sendable {
    let isDone = Atomic(false)
    let saved = Mutex<[Int]>([])
  }

  /// When another program saves, while a copy is to take the store's place.
  enum Moment: CaseIterable, Sendable {
    case afterTheCopy
    /// The exchange has told of itself, in a transaction of its own, and has not begun that which writes.
    case afterTheAnnouncement
  }

  @Test(arguments: Journal.allCases, Moment.allCases)
  func `no save is lost between the copy and the exchange`(_ journal: Journal, _ moment: Moment) throws {
    try set(journal)
    let other = try DatabaseQueue(path: url.path)
    defer { try? other.close() }
    let unchanged = try UnchangedStore(url, SQLiteOptions())
    defer { unchanged.close() }
    let copy: URL = folder.file("copy.sqlite")
    try StoreExchange(url: copy, options: SQLiteOptions()).replace(with: url)
    var isAnnounced = false
    var saves: Int = 0
    func save() throws {
      try update(other, to: "newer")
      saves += 1
    }
    switch moment {
    case .afterTheCopy: try save()
    case .afterTheAnnouncement:
      // Called when a statement has ended: the lock is free again, and the exchange goes on afterwards.
      unchanged.queue.inDatabase { database in
        database.trace(options: .profile) { event in
          guard case .profile(let statement, _) = event else { return }
          if statement.sql.hasPrefix("PRAGMA schema_version =") { isAnnounced = true }
          if !isAnnounced || saves > 0 || !statement.sql.hasPrefix("COMMIT") { return }
          do { try save() } catch { Issue.record(error) }
        }
      }
    }
    let exchange = StoreExchange(url: url, options: SQLiteOptions(), unchanged: unchanged)
    do {
      try exchange.replace(with: copy)
      Issue.record("what was saved is lost")
    } catch StoreError.savedByOthers(let place) {
      #expect(place == url)
    }
    #expect(saves == 1)
    #expect(try titles() == ["newer"])
  }

  /// A program that saves all the time, and knows nothing of announcements, against copies that take the
  /// store's place: every number that it has saved is there in the end.
  @Test(.enabled(if: Soak.isOn), arguments: Journal.allCases)
  func `nothing that a program saves all the time is lost to exchanges`(_ journal: Journal) throws {
    try set(journal)
    let writer = Writer()
    let path: String = url.path
    let writing = DispatchGroup()
    DispatchQueue.global().async(group: writing) {
      var number: Int = 0
      while !writer.isDone.load(ordering: .sequentiallyConsistent) {
        number += 1
        var configuration = Configuration()
        configuration.busyMode = .timeout(20)
        guard let queue = try? DatabaseQueue(path: path, configuration: configuration) else { continue }
        for _ in 0..<20 {
          number += 1
          let next: Int = number
          let done: Bool =
            (try? queue.write { try $0.execute(sql: "INSERT INTO noted VALUES (?)", arguments: [next]) })
            != nil
          if done { writer.saved.withLock { $0.append(next) } }
        }
        try? queue.close()
      }
    }
    var (replaced, refused): (Int, Int) = (0, 0)
    let wanted: Int = 300
    while replaced < wanted, replaced + refused < wanted * 200 {
      let copy: URL = folder.file("copy\(replaced + refused).sqlite")
      let replacement: any StoreReplacement = try begin()
      defer { replacement.end() }
      try StoreExchange(url: copy, options: SQLiteOptions()).replace(with: url)
      do {
        try replacement.complete(with: copy)
        replaced += 1
      } catch StoreError.savedByOthers {
        refused += 1
      } catch StoreError.inUse {
        refused += 1
      }
      try? FileManager.default.removeItem(at: copy)
    }
    writer.isDone.store(true, ordering: .sequentiallyConsistent)
    writing.wait()
    let queue = try DatabaseQueue(path: url.path)
    let found: Set<Int> = Set(try queue.read { try Int.fetchAll($0, sql: "SELECT number FROM noted") })
    try queue.close()
    let lost: [Int] = writer.saved.withLock { $0 }.filter { !found.contains($0) }
    #expect(lost == [], "\(replaced) exchanges, \(refused) refused")
    print("\(journal): \(replaced) exchanges, \(refused) refused, \(found.count) numbers saved")
  }
}
