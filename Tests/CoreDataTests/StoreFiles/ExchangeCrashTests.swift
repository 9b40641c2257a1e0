import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A process that replaces or destroys a store is killed at random moments: the old contents are there, or
/// the new ones (Decisions/0048).
@Suite(.serialized)
struct ExchangeCrashTests {
  /// What the child does, again and again.
  enum Deed: String, CaseIterable, Codable, Sendable { case replace, destroy }

  private static func fill(_ photos: PhotoStore, _ letter: String, _ count: Int, _ mode: String) throws {
    let context: NSManagedObjectContext = try photos.open([NSSQLitePragmasOption: ["journal_mode": mode]])
    try context.performAndWait {
      for number in 0..<count {
        let data: Data = Data("\(letter)\(number)".utf8) + Data(count: PhotoStore.size)
        // Small values fill pages of the database, large ones files.
        _ = context.make(
          "Photo", ["title": "\(letter)\(number)", "data": number % 4 == 0 ? data : data.prefix(20_000)])
      }
      try context.save()
    }
    try photos.close(context)
  }

  /// The child.
  static func act(_ deed: Deed, _ folder: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
    let target: URL = folder.appendingPathComponent("Target.sqlite")
    while true {
      for name in ["A", "B"] {
        if deed == .destroy { try coordinator.destroyPersistentStore(at: target, type: .sqlite) }
        try coordinator.replacePersistentStore(
          at: target, withPersistentStoreFrom: folder.appendingPathComponent("\(name).sqlite"), type: .sqlite)
      }
    }
  }

  @Test(arguments: Deed.allCases, ["WAL", "DELETE"])
  func `a killed process leaves what was there, or what was to come`(deed: Deed, mode: String) async throws {
    let folder = try TemporaryFolder()
    try Self.fill(PhotoStore(url: folder.file("A.sqlite")), "A", 12, mode)
    try Self.fill(PhotoStore(url: folder.file("B.sqlite")), "B", 40, mode)
    let target = PhotoStore(url: folder.file("Target.sqlite"))
    try Self.fill(target, "A", 12, mode)
    let wanted: [String: Int] = ["A": 12, "B": 40, "": 0]
    var random = SeededRandom(seed: Crash.seed)
    var seen: Set<String> = []
    for round in 0..<(Soak.isOn ? 60 : 3) {
      let path: String = folder.url.path
      let microseconds: UInt32 = UInt32.random(in: 20_000...250_000, using: &random)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, microseconds = microseconds as UInt32, deed = deed as Deed] in
        Crash.comes(afterMicroseconds: microseconds)
        try ExchangeCrashTests.act(deed, URL(fileURLWithPath: path))
      }
      let note: Comment =
        "seed \(Crash.seed), round \(round), \(deed), \(mode), killed after \(microseconds) µs"
      let context: NSManagedObjectContext = try target.open()
      try context.performAndWait {
        let photos: [NSManagedObject] = try context.all(NSManagedObject.self, "Photo")
        let titles: [String] = photos.compactMap { $0.value(forKey: "title") as? String }
        let letters: Set<Character> = Set(titles.compactMap(\.first))
        #expect(letters.count <= 1, note)
        let letter: String = letters.first.map(String.init) ?? ""
        seen.insert(letter)
        #expect(titles.count == wanted[letter], note)
        #expect(deed == .destroy || !letter.isEmpty, note)
        for photo in photos {
          let title: String = try #require(photo.value(forKey: "title") as? String)
          let data: Data = try #require(photo.value(forKey: "data") as? Data, note)
          #expect(data.starts(with: Data(title.utf8)), note)
        }
      }
      #expect(target.names == (try target.referredNames()), note)
      #expect(target.notes.isEmpty, note)
      try target.close(context)
      #expect(try FileContents(target.url).integrity == "ok", note)
    }
    #expect(!seen.isEmpty)
  }

  /// The child that migrates.
  static func migrate(_ folder: URL) throws {
    let target: URL = folder.appendingPathComponent("Target.sqlite")
    while true {
      let context: NSManagedObjectContext = try PhotoStore(url: folder.appendingPathComponent("A.sqlite"))
        .open()
      guard let coordinator = context.persistentStoreCoordinator else { return }
      try coordinator.migratePersistentStore(coordinator.persistentStores[0], to: target, type: .sqlite)
      try coordinator.destroyPersistentStore(at: target, type: .sqlite)
    }
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `a killed migration leaves no store, or a whole one with a UUID of its own`(mode: String) async throws
  {
    let folder = try TemporaryFolder()
    let source = PhotoStore(url: folder.file("A.sqlite"))
    try Self.fill(source, "A", 40, mode)
    func identifier(_ url: URL) -> String? {
      (try? NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url))?[NSStoreUUIDKey]
        as? String
    }
    let target = PhotoStore(url: folder.file("Target.sqlite"))
    var random = SeededRandom(seed: Crash.seed)
    for round in 0..<(Soak.isOn ? 60 : 3) {
      let path: String = folder.url.path
      let microseconds: UInt32 = UInt32.random(in: 20_000...250_000, using: &random)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, microseconds = microseconds as UInt32] in
        Crash.comes(afterMicroseconds: microseconds)
        try ExchangeCrashTests.migrate(URL(fileURLWithPath: path))
      }
      let note: Comment = "seed \(Crash.seed), round \(round), \(mode), killed after \(microseconds) µs"
      let left: String? = identifier(target.url)
      #expect(left == nil || left != identifier(source.url), note)
      let context: NSManagedObjectContext = try target.open()
      let count: Int = try context.performAndWait { try context.all(NSManagedObject.self, "Photo").count }
      #expect(count == (left == nil ? 0 : 40), note)
      #expect(target.names == (try target.referredNames()), note)
      #expect(target.notes.isEmpty, note)
      try target.close(context)
      try NSPersistentStoreCoordinator(managedObjectModel: PhotoStore.model)
        .destroyPersistentStore(at: target.url, type: .sqlite)
      #expect(try FileContents(source.url).integrity == "ok", note)
    }
  }

  /// What a kill leaves between the end of SQLite's transaction and the cutting of the file.
  @Test func `a file that was emptied and not cut is no store, and a store can be made in it`() throws {
    let folder = try TemporaryFolder()
    let target = PhotoStore(url: folder.file("Target.sqlite"))
    try Self.fill(target, "A", 4, "DELETE")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
    try coordinator.destroyPersistentStore(at: target.url, type: .sqlite)
    let handle = try FileHandle(forWritingTo: target.url)
    #expect(try handle.seekToEnd() > 0)
    try handle.write(contentsOf: Data(repeating: 7, count: 40_960))
    try handle.close()
    try Self.fill(target, "B", 3, "DELETE")
    let context: NSManagedObjectContext = try target.open()
    #expect(try context.performAndWait { try context.all(NSManagedObject.self, "Photo").count } == 3)
    try target.close(context)
    #expect(try FileContents(target.url).integrity == "ok")
  }
}
