import CoreData
import CrashScenarios
import Foundation
import StackSupport
import TestSupport
import Testing

/// A process that saves is killed, or finds the disk full, at its n-th call that changes a file: from opening
/// the store over three saves to closing it. In a soak n is each of them.
@Suite("A process that saves is stopped at its n-th change of a file", .serialized)
struct SavePointTests {
  private typealias Place = CrashPlace<SaveScenario>

  /// What lies in a folder, hidden files too, but for the new file of a store that is one file and was being
  /// created: another process may be writing it.
  private func names(_ folder: URL, _ scenario: SaveScenario) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      .filter { !$0.hasPrefix(".\(scenario.url(in: folder).lastPathComponent).new-") }
  }

  /// Opens a store that a process has left, expects one of the states, whole, and completes the saves. Then
  /// nothing may be left of the process.
  private func examine(
    _ outcome: CrashRun.Outcome, _ place: Place, _ states: [[String]], atLeast: Int, atMost: Int,
    _ note: Comment
  ) throws {
    let context: NSManagedObjectContext = try place.scenario.open(outcome.folder)
    let state: [String] = try SaveScenario.state(context)
    let done: Int = try #require(states.firstIndex(of: state), "\(note): \(state)")
    #expect(done >= atLeast && done <= atMost, "\(note): \(done) saves")
    let url: URL = place.scenario.url(in: outcome.folder)
    let photos = PhotoStore(url: url)
    if place.scenario.type == NSSQLiteStoreType {
      #expect(try FileContents(url).integrity == "ok", note)
      #expect(photos.names == (try photos.referredNames()), note)
      #expect(photos.notes.isEmpty, note)
    }
    let steps: [Int] = place.scenario.steps
    for step in steps.dropFirst(done) { try SaveScenario.save(step, context) }
    #expect(try SaveScenario.state(context) == states[steps.count], note)
    // A store that is one file is cleaned up by its next save.
    if done == steps.count {
      try context.performAndWait {
        _ = context.make("Album", ["title": "last"])
        try context.save()
      }
    }
    try SaveScenario.close(context)
    #expect(try names(outcome.folder, place.scenario) == names(place.whole, place.scenario), note)
    try FileManager.default.removeItem(at: outcome.folder)
  }

  /// A store is created in a soak and where SQLite does it.
  private static let scenarios: [SaveScenario] =
    Soak.isOn ? SaveScenario.allCases : [.wal, .delete, .xml, .binary, .newWAL]

  @Test(
    "a killed process leaves the state before or after a save, whole, and nothing else",
    .enabled(if: CrashRun.isAvailable, "\(CrashRun.absence)"), arguments: scenarios)
  func killed(_ scenario: SaveScenario) throws {
    let place = try Place(scenario)
    let states: [[String]] = try scenario.states()
    var seen: Set<Int> = []
    for (outcome, note) in try place.outcomes(.kill, .tear, sample: 4) {
      let note = Comment(rawValue: note)
      #expect(outcome.status == SIGKILL, note)
      seen.insert(outcome.noted)
      try examine(outcome, place, states, atLeast: outcome.noted, atMost: outcome.noted + 1, note)
    }
    #expect(seen.count > 1, "the processes died after \(seen) saves")
    print("\(scenario): \(place.calls) points")
  }

  @Test(
    "a full disk is an error that names the file; the store has the old state, and saves work when there is space",
    .enabled(if: CrashRun.isAvailable, "\(CrashRun.absence)"), arguments: scenarios)
  func full(_ scenario: SaveScenario) throws {
    let place = try Place(scenario)
    let states: [[String]] = try scenario.states()
    for (outcome, note) in try place.outcomes(.full, .once, sample: 4) {
      let note = Comment(rawValue: note)
      #expect(outcome.status == 0, note)
      #expect(outcome.faults.isEmpty, "\(note): \(outcome.faults)")
      let all: Int = scenario.steps.count
      try examine(outcome, place, states, atLeast: all, atMost: all, note)
    }
  }
}
