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

/// Saves to a store that is one file, stopped in the middle: by a full disk, or by the end of the process.
///
/// The limit of a file's size stands for both: a write beyond it is an error, as on a full disk, or kills the
/// process at exactly that byte.
@Suite(.serialized)
struct AtomicCrashTests {
  static func open(_ path: String, _ type: String) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.model())
    try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: URL(fileURLWithPath: path))
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// A store with ten items. Returns the size that its file has with twice as many.
  private static func fill(_ path: String, _ type: String) throws -> Int {
    let context: NSManagedObjectContext = try open(path, type)
    try context.performAndWait {
      let category: Category = context.category("old")
      for number in 0..<10 { _ = context.item("\(number)", category) }
      try context.save()
    }
    let copy: String = path + ".grown"
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    try grow(try open(copy, type))
    defer { try? FileManager.default.removeItem(atPath: copy) }
    return try Data(contentsOf: URL(fileURLWithPath: copy)).count
  }

  /// Doubles the items, in one save.
  static func grow(_ context: NSManagedObjectContext) throws {
    try context.performAndWait {
      // Threads of a queue block all signals.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGXFSZ)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      let category: Category = context.category("new")
      for number in 0..<10 { _ = context.item("new \(number)", category) }
      try context.save()
    }
  }

  static func limitFiles(to size: Int) {
    var limit = rlimit()
    getrlimit(limitedSize, &limit)
    limit.rlim_cur = min(rlim_t(size), limit.rlim_max)
    setrlimit(limitedSize, &limit)
  }

  /// A value of an enumeration of its own in Glibc.
  #if canImport(Glibc)
    private static let limitedSize = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
  #else
    private static let limitedSize: Int32 = RLIMIT_FSIZE
  #endif

  /// How much of the new file can be written: from nothing to all but one byte.
  private static func places(_ size: Int, count: Int) -> [Int] {
    (0..<count).map { $0 * (size - 1) / (count - 1) }
  }

  @Test(arguments: [NSXMLStoreType, NSBinaryStoreType])
  func `a writer that is killed within a write leaves the old file or the new one`(type: String) async throws
  {
    let folder = try TemporaryFolder()
    let path: String = folder.file("crash.store").path
    let size: Int = try Self.fill(path, type)
    let whole: Data = try Data(contentsOf: URL(fileURLWithPath: path))
    for place in Self.places(size, count: Soak.isOn ? 150 : 3) {
      let limit: Int = place
      await #expect(processExitsWith: .signal(SIGXFSZ)) {
        [path = path as String, type = type as String, limit = limit as Int] in
        let context: NSManagedObjectContext = try AtomicCrashTests.open(path, type)
        signal(SIGXFSZ, SIG_DFL)
        AtomicCrashTests.limitFiles(to: limit)
        try AtomicCrashTests.grow(context)
      }
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == whole, "at byte \(place)")
    }
    // What the killed processes left is replaced by the next save.
    try Self.grow(try Self.open(path, type))
    let context: NSManagedObjectContext = try Self.open(path, type)
    #expect(try context.performAndWait { try context.all(Item.self, "Item").count } == 20)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["crash.store"])
  }

  @Test(arguments: [NSXMLStoreType, NSBinaryStoreType])
  func `a full disk is an error that names the file, which stays as it was`(type: String) async throws {
    let folder = try TemporaryFolder()
    let path: String = folder.file("full.store").path
    let size: Int = try Self.fill(path, type)
    let places: [Int] = Self.places(size, count: Soak.isOn ? 300 : 15)
    await #expect(processExitsWith: .success) {
      [path = path as String, type = type as String, places = places as [Int]] in
      signal(SIGXFSZ, SIG_IGN)
      let url = URL(fileURLWithPath: path)
      let whole: Data = try Data(contentsOf: url)
      let context: NSManagedObjectContext = try AtomicCrashTests.open(path, type)
      for place in places {
        AtomicCrashTests.limitFiles(to: place)
        let error: NSError? = errorThrown { try AtomicCrashTests.grow(context) }
        AtomicCrashTests.limitFiles(to: .max)
        guard error?.localizedDescription.contains(path) == true else {
          fatalError("at byte \(place): \(String(describing: error))")
        }
        context.performAndWait { context.rollback() }
        guard try Data(contentsOf: url) == whole else { fatalError("at byte \(place): the file changed") }
        let names: [String] = try FileManager.default.contentsOfDirectory(
          atPath: url.deletingLastPathComponent().path)
        guard names == [url.lastPathComponent] else { fatalError("at byte \(place): \(names)") }
      }
      try AtomicCrashTests.grow(context)
    }
    let context: NSManagedObjectContext = try Self.open(path, type)
    #expect(try context.performAndWait { try context.all(Item.self, "Item").count } == 20)
  }

  // MARK: Two processes

  /// The child: adds an item again and again, and opens the store anew when another one has saved.
  static func add(_ name: String, _ count: Int, _ path: String, _ type: String) throws {
    var context: NSManagedObjectContext = try open(path, type)
    var number: Int = 0
    var refusals: Int = 0
    while number < count {
      do {
        try context.performAndWait {
          _ = context.item("\(name) \(number)")
          try context.save()
        }
        number += 1
      } catch let error as NSError {
        guard error.code == NSPersistentStoreOperationError, error.localizedDescription.contains(path),
          refusals < 100_000
        else { throw error }
        refusals += 1
        context = try open(path, type)
      }
    }
  }

  @Test(arguments: [NSXMLStoreType, NSBinaryStoreType])
  func `two processes that save one file are told, and every save that succeeds stays`(
    type: String
  ) async throws {
    let folder = try TemporaryFolder()
    let path: String = folder.file("shared.store").path
    _ = try Self.open(path, type)
    let count: Int = Soak.isOn ? 200 : 6
    await withTaskGroup(of: Void.self) { group in
      for name in ["one", "two"] {
        group.addTask {
          await #expect(processExitsWith: .success) {
            [path = path as String, type = type as String, name = name as String, count = count as Int] in
            try AtomicCrashTests.add(name, count, path, type)
          }
        }
      }
    }
    let context: NSManagedObjectContext = try Self.open(path, type)
    let titles: Set<String?> = try context.performAndWait {
      Set(try context.all(Item.self, "Item").map(\.title))
    }
    let expected: [String] = ["one", "two"].flatMap { name in (0..<count).map { "\(name) \($0)" } }
    #expect(titles == Set(expected))
  }
}
