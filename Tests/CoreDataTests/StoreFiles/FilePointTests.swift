import CoreData
import CrashScenarios
import Foundation
import StackSupport
import TestSupport
import Testing

/// A process that replaces, destroys or migrates a store is killed, or finds the disk full, at its n-th call
/// that changes a file. In a soak n is each of them.
@Suite("A process that exchanges stores is stopped at its n-th change of a file", .serialized)
struct FilePointTests {
  private typealias Place = CrashPlace<FileScenario>

  private func names(_ folder: URL) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
      // The log of a store that no context uses any longer goes with the process or before.
      .filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
      // The names of external files are random.
      .map { UUID(uuidString: URL(fileURLWithPath: $0).lastPathComponent) == nil ? $0 : "a value" }
  }

  private func logs(_ folder: URL) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
      .filter { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") }
  }

  /// Whether the process did all its work and ended before the point, because SQLite has left a log: the last
  /// calls are those that remove it, and of two connections that close at once neither does.
  private func isEndedWithLog(_ outcome: CrashRun.Outcome) throws -> Bool {
    try outcome.status == 0 && outcome.noted == 1 && outcome.calls < outcome.point
      && !logs(outcome.folder).isEmpty
  }

  /// Expects old or new stores, whole; then does the work again, and nothing of the stopped process may be
  /// left.
  private func examine(_ outcome: CrashRun.Outcome, _ place: Place, _ note: Comment) throws {
    let scenario: FileScenario = place.scenario
    let isDone: Bool = try Self.isDone(scenario, outcome.folder)
    if outcome.noted == 1 {
      let found: [String] = try names(outcome.folder)
      #expect(isDone, "\(note): \(found)")
    }
    let problems: [String] = try scenario.problems(in: outcome.folder)
    #expect(problems.isEmpty, "\(note): \(problems)")
    try Self.age(outcome.folder)
    if !isDone { try scenario.doWork(in: outcome.folder) }
    #expect(try Self.isDone(scenario, outcome.folder), note)
    let again: [String] = try scenario.problems(in: outcome.folder)
    #expect(again.isEmpty, "\(note), again: \(again)")
    // Examining a destroyed store has made a new one.
    if scenario.work == .destroy { try scenario.doWork(in: outcome.folder) }
    let whole: [String] = try names(place.whole)
    var left: [String] = try names(outcome.folder)
    // Killed after the work, while it removed its hidden folder: the next store made here removes that.
    if isDone { left.removeAll { $0.contains(".new-") } }
    #expect(left == whole, "\(note): \(left) in place of \(whole)")
    try FileManager.default.removeItem(at: outcome.folder)
  }

  /// Lets the unfinished work of the stopped process be old: young one is left to its owner (Decisions/0081).
  private static func age(_ folder: URL) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.contains(".new-")
    {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -3600)],
        ofItemAtPath: folder.appendingPathComponent(name).path)
    }
  }

  /// Whether the work was completed: the new state of a store that is replaced, a new store, or none.
  private static func isDone(_ scenario: FileScenario, _ folder: URL) throws -> Bool {
    let exists: Bool = FileManager.default.fileExists(atPath: scenario.url(in: folder).path)
    switch scenario.work {
    case .copy, .migrate: return exists
    // A destroyed SQLite store is an empty database.
    case .destroy: return try !exists || scenario.state(in: folder).isEmpty
    case .replace: return try scenario.state(in: folder) == scenario.finalState()
    }
  }

  private static let scenarios: [FileScenario] =
    Soak.isOn ? FileScenario.allCases : [.replaceWAL, .replaceXML, .destroyWAL, .moveWAL, .xmlToSQLite]

  @Test(
    "a killed process leaves the old stores or the new ones, whole, and what is done again leaves nothing else",
    .enabled(if: CrashRun.isAvailable, "\(CrashRun.absence)"), arguments: scenarios)
  func killed(_ scenario: FileScenario) throws {
    let place = try Place(scenario)
    for (outcome, note) in try place.outcomes(.kill, .tear, sample: 3) {
      let note = Comment(rawValue: "\(note) (calls: \(outcome.calls), logs: \(try logs(outcome.folder)))")
      #expect(try outcome.status == SIGKILL || isEndedWithLog(outcome), note)
      try examine(outcome, place, note)
    }
    print("\(scenario): \(place.calls) points")
  }

  @Test(
    "a full disk is an error that names the file and changes no store; with space the work is done",
    .enabled(if: CrashRun.isAvailable, "\(CrashRun.absence)"), arguments: scenarios)
  func full(_ scenario: FileScenario) throws {
    let place = try Place(scenario)
    for (outcome, note) in try place.outcomes(.full, .once, sample: 3) {
      let note = Comment(rawValue: note)
      #expect(outcome.status == 0, note)
      #expect(outcome.faults.isEmpty, "\(note): \(outcome.faults)")
      #expect(outcome.noted == 1, note)
      try examine(outcome, place, note)
    }
  }
}
