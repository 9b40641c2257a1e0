import CoreDataArchives
import CoreDataModel
import CoreDataStorage
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Held by the one process that migrates a store; others wait, and then find the store migrated. The system
/// releases it when its process ends, in whatever way.
struct MigrationLock {
  private let path: String
  private let file: Int32

  private init(path: String, file: Int32) { (self.path, self.file) = (path, file) }

  /// Waits for other migrations of the store. Throws if the folder can't be written.
  init(of store: URL) throws {
    guard let lock = try Self.take(store, waits: true) else { throw StoreError.inUse(url: store) }
    self = lock
  }

  /// nil if the store is being migrated, or the folder can't be written.
  init?(ifFree store: URL) {
    guard let lock = try? Self.take(store, waits: false) else { return nil }
    self = lock
  }

  /// Beside the file itself, whatever link leads to it.
  private static func path(of store: URL) -> String {
    let store: URL = store.followingLinks
    return store.deletingLastPathComponent().appendingPathComponent(name(of: store)).path
  }

  private static func name(of store: URL) -> String { ".\(store.lastPathComponent).migrating" }

  /// The names beside a store that its migrations use.
  static func names(of store: URL) -> [String] {
    let store: URL = store.followingLinks
    return [name(of: store), StagingFolder.name(of: store)]
  }

  /// Whether there is a file: of a migration, or of one that was killed.
  static func exists(for store: URL) -> Bool { FileStamp(path: path(of: store)) != nil }

  private static func take(_ store: URL, waits: Bool) throws -> MigrationLock? {
    let path: String = path(of: store)
    if waits, HeldLocks.all.isHeldByThisThread(path) {
      throw MigrationFailure.sourceStore(
        store,
        "This thread is migrating it. A policy, a handler of a stage or a progress block can't add it with the "
          + "options for migration.")
    }
    while true {
      let file: Int32 = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard file >= 0 else {
        throw StoreError.file(url: store, operation: "creating a file beside it to migrate it", code: errno)
      }
      while flock(file, waits ? LOCK_EX : LOCK_EX | LOCK_NB) != 0 {
        if errno == EINTR { continue }
        close(file)
        if !waits { return nil }
        throw StoreError.file(url: store, operation: "locking a file beside it to migrate it", code: errno)
      }
      // Whoever held the lock before has removed the file.
      var (own, present) = (stat(), stat())
      if fstat(file, &own) == 0, stat(path, &present) == 0, own.st_ino == present.st_ino,
        own.st_dev == present.st_dev
      {
        HeldLocks.all.add(path)
        return MigrationLock(path: path, file: file)
      }
      close(file)
    }
  }

  func release() {
    HeldLocks.all.remove(path)
    unlink(path)
    close(file)
  }
}

/// The locks of this process with the threads that hold them: a thread would wait for itself for ever.
private final class HeldLocks: @unchecked Sendable {
  // Sendable: the table is only used under the lock.

  static let all = HeldLocks()
  private let lock = NSLock()
  private var threads: [String: ObjectIdentifier] = [:]

  func isHeldByThisThread(_ path: String) -> Bool {
    lock.withLock { threads[path] == ObjectIdentifier(Thread.current) }
  }
  func add(_ path: String) { lock.withLock { threads[path] = ObjectIdentifier(Thread.current) } }
  func remove(_ path: String) { lock.withLock { threads[path] = nil } }
}

/// A hidden folder beside a store, in which a migration makes its files. What a killed process has left there
/// the next migration uses, or removes. Used under the store's ``MigrationLock``.
struct StagingFolder {
  private let store: URL
  private let folder: URL

  init(for store: URL) {
    let store: URL = store.followingLinks
    self.store = store
    folder = store.deletingLastPathComponent()
      .appendingPathComponent(Self.name(of: store), isDirectory: true)
  }

  fileprivate static func name(of store: URL) -> String { ".\(store.lastPathComponent).migration" }

  var exists: Bool { FileStamp(path: folder.path) != nil }

  /// How far a process has come that was killed; nil if there is none, or no telling.
  var journal: MigrationJournal? {
    // Foundation's reader of property lists recurses as deep as they nest.
    guard let size = FileStamp(path: journalFile.path)?.size, size <= Self.longestJournal,
      let data = try? Data(contentsOf: journalFile), (try? XMLPlistNesting.check(data)) != nil
    else { return nil }
    return try? PropertyListDecoder().decode(MigrationJournal.self, from: data)
  }

  private static let longestJournal: Int64 = 1 << 20

  private var journalFile: URL { folder.appendingPathComponent("journal.plist") }

  /// Begins a migration in an empty folder; without a journal no other process can go on with it.
  func begin(_ journal: MigrationJournal? = nil) throws {
    discard()
    guard mkdir(folder.path, 0o700) == 0 else {
      throw StoreError.file(url: store, operation: "creating a folder beside it to migrate it", code: errno)
    }
    if let journal { try write(journal) }
  }

  /// The store that a step has made: under the store's own name, in a folder of its own, so that files beside
  /// it keep the names by which it finds them.
  func made(byStep number: Int) -> URL { place(number).appendingPathComponent(store.lastPathComponent) }

  private func place(_ number: Int) -> URL {
    folder.appendingPathComponent("\(number)", isDirectory: true)
  }

  /// An empty folder for the store of a step.
  func prepare(step number: Int) throws {
    try? FileManager.default.removeItem(at: place(number))
    guard mkdir(place(number).path, 0o700) == 0 else {
      throw StoreError.file(url: store, operation: "creating a folder beside it to migrate it", code: errno)
    }
  }

  /// Writes down that the store of the journal's last step is complete, when all of it is on the disk. The
  /// one of the step before is not needed any more.
  func complete(_ journal: MigrationJournal) throws {
    let made: URL = place(journal.completed)
    do {
      for path in FileManager.default.subpaths(atPath: made.path) ?? [] {
        try DurableFile.synchronize(folder: made.appendingPathComponent(path))
      }
      for folder in [made, folder] { try DurableFile.synchronize(folder: folder) }
    } catch { throw failure(error) }
    try write(journal)
    try? FileManager.default.removeItem(at: place(journal.completed - 1))
  }

  private func write(_ journal: MigrationJournal) throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .xml
    let new: URL = journalFile.appendingPathExtension("new")
    unlink(new.path)
    do {
      try encoder.encode(journal).withUnsafeBytes { try DurableFile.write($0, to: new) }
      guard rename(new.path, journalFile.path) == 0 else { throw DurableFile.failure("rename") }
      try DurableFile.synchronize(folder: folder)
    } catch { throw failure(error) }
  }

  private func failure(_ error: any Error) -> StoreError {
    .file(
      url: store, operation: "writing its migrated copy in \(folder.path)",
      code: DurableFile.code(of: error))
  }

  func discard() { try? FileManager.default.removeItem(at: folder) }
}
