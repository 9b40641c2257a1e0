import CoreData
import Foundation
import StackSupport

/// A coordinator replaces, destroys or migrates the file of a store. `Photos`, the store concerned, holds the
/// state after the first of `SaveScenario`'s saves; `Backup`, which replaces it, that after all of them.
public enum FileScenario: String, CaseIterable, CrashScenario, CustomStringConvertible, Sendable {
  case replaceWAL, replaceDelete, replaceXML, replaceBinary
  case copyWAL, copyXML
  case destroyWAL, destroyDelete, destroyXML
  case moveWAL, moveDelete, sqliteToXML, xmlToSQLite, binaryToSQLite

  public var description: String { rawValue }

  public enum Work: Sendable { case replace, copy, destroy, migrate }

  public var work: Work {
    switch self {
    case .replaceWAL, .replaceDelete, .replaceXML, .replaceBinary: .replace
    case .copyWAL, .copyXML: .copy
    case .destroyWAL, .destroyDelete, .destroyXML: .destroy
    default: .migrate
    }
  }

  /// How `Photos` is kept.
  private var kind: SaveScenario {
    switch self {
    case .replaceWAL, .copyWAL, .destroyWAL, .moveWAL, .sqliteToXML: .wal
    case .replaceDelete, .destroyDelete, .moveDelete: .delete
    case .replaceXML, .copyXML, .destroyXML, .xmlToSQLite: .xml
    case .replaceBinary, .binaryToSQLite: .binary
    }
  }

  /// How the store is kept that there is in the end.
  private var newKind: SaveScenario {
    switch self {
    case .sqliteToXML: .xml
    case .xmlToSQLite, .binaryToSQLite: .wal
    default: kind
    }
  }

  /// The store that the work makes, changes or removes.
  public func url(in folder: URL) -> URL {
    folder.appendingPathComponent(work == .migrate || work == .copy ? "New.store" : "Photos.store")
  }

  private func source(in folder: URL) -> URL {
    folder.appendingPathComponent(work == .replace ? "Backup.store" : "Photos.store")
  }

  /// The store at a URL; it is created if there is none.
  private func open(_ url: URL, _ kind: SaveScenario) throws -> NSManagedObjectContext {
    try kind.open(at: url)
  }

  // MARK: The work

  public func prepare(_ folder: URL) throws {
    for (name, steps) in [("Photos", [0]), ("Backup", [0, 1, 2, 3])]
    where name == "Photos" || work == .replace {
      let context = try open(folder.appendingPathComponent("\(name).store"), kind)
      for step in steps { try SaveScenario.save(step, context) }
      try SaveScenario.close(context)
    }
  }

  /// What the store holds after the work.
  public func finalState() throws -> [String] {
    switch work {
    case .replace: try kind.states()[3]
    case .copy, .migrate: try kind.states()[0]
    case .destroy: []
    }
  }

  public func doWork(in folder: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SaveScenario.model)
    switch work {
    case .replace, .copy:
      try coordinator.replacePersistentStore(
        at: url(in: folder), withPersistentStoreFrom: source(in: folder), ofType: kind.type)
    case .destroy:
      try coordinator.destroyPersistentStore(at: url(in: folder), ofType: kind.type)
    case .migrate:
      let context = try open(source(in: folder), kind)
      guard let own = context.persistentStoreCoordinator, let store = own.persistentStores.first else {
        return
      }
      do {
        try own.migratePersistentStore(
          store, to: url(in: folder), options: newKind.options, withType: newKind.type)
      } catch {
        try SaveScenario.close(context)
        throw error
      }
      try SaveScenario.close(context)
      waitForLogs(of: [source(in: folder), url(in: folder)])
    }
  }

  /// The old store and the new one are closed on queues of their own, a moment later. Without waiting for it
  /// a process has two calls less now and then: those that remove the log. SQLite may leave a log for ever.
  private func waitForLogs(of stores: [URL]) {
    let logs: [String] = stores.flatMap { [$0.path + "-wal", $0.path + "-shm"] }
    for _ in 0..<500 where logs.contains(where: FileManager.default.fileExists(atPath:)) { usleep(10_000) }
  }

  public func run(in folder: URL) throws -> [String] {
    do {
      try doWork(in: folder)
      CrashPoint.note(1)
      return []
    } catch {
      let text: String = text(of: error)
      guard CrashPoint.lift() else { return ["\(faultMark) \(text)"] }
      var faults: [String] = []
      if !text.contains(folder.path) { faults.append("\(faultMark) the error names no file: \(text)") }
      faults += try problems(in: folder).map { "\(faultMark) after an error: \($0)" }
      try doWork(in: folder)
      CrashPoint.note(1)
      return faults
    }
  }

  // MARK: Checking

  /// What the store holds.
  public func state(in folder: URL) throws -> [String] {
    let context = try open(url(in: folder), newKind)
    defer { try? SaveScenario.close(context) }
    return try SaveScenario.state(context)
  }

  /// What is wrong with the stores after the work was stopped, or has failed: they have the old or the new
  /// state, whole.
  public func problems(in folder: URL) throws -> [String] {
    var found: [String] = []
    let states: [[String]] = try kind.states()
    let files = FileManager.default
    if work != .destroy {
      let context = try open(source(in: folder), kind)
      let state: [String] = try SaveScenario.state(context)
      if state != states[work == .replace ? 3 : 0] { found.append("the source holds \(state)") }
      try SaveScenario.close(context)
    }
    let url: URL = url(in: folder)
    guard files.fileExists(atPath: url.path) else {
      if work == .replace { found.append("there is no store") }
      return found
    }
    let context = try open(url, newKind)
    let state: [String] = try SaveScenario.state(context)
    try SaveScenario.close(context)
    let allowed: [[String]] =
      switch work {
      case .replace: [states[0], states[3]]
      case .copy, .migrate: [states[0]]
      case .destroy: [states[0], []]
      }
    if !allowed.contains(state) { found.append("the store holds \(state)") }
    return found
  }
}
