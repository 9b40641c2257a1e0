import CoreData
import CrashScenarios
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

/// A process that migrates a store when it adds it is killed, or finds the disk full, at its n-th call that
/// changes a file. In a soak n is each of them.
@Suite("A process that migrates is stopped at its n-th change of a file", .serialized)
struct MigrationPointTests {
  struct Place {
    let scenario: MigrationScenario
    let template: URL
    let results: URL
    let calls: Int
    let versions: [NSManagedObjectModel]
    let state: [String]
    /// What the store's plan says it needs beside it.
    let neededSpace: Int64

    init(_ scenario: MigrationScenario) throws {
      self.scenario = scenario
      template = try TemporaryFolder().url
      results = try TemporaryFolder().url
      try scenario.prepare(template)
      versions = scenario.versions
      state = try scenario.using(versions[0], template) { try MigrationScenario.state($0) }
      calls = try CrashRun.calls(of: scenario, template: template, in: results)
      neededSpace = try MigrationPlan(
        forStoreAt: scenario.url(in: template), to: MigrationScenario.program(template)
      ).neededSpace
    }

    func run(_ kind: CrashRun.Kind, _ points: [Int]) throws -> [CrashRun.Outcome] {
      try CrashRun.run(scenario, kind, points: points, template: template, in: results)
    }

    /// The program is started again, in the folders that the processes have left.
    func again(_ outcomes: [CrashRun.Outcome], _ kind: CrashRun.Kind) throws -> [CrashRun.Outcome] {
      try CrashRun.run(
        scenario, .never, points: outcomes.map(\.point), template: nil, in: results, folders: kind)
    }

    /// Whether the store has the first version, not the last one; throws for any other.
    func isOld(_ folder: URL) throws -> Bool {
      let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: scenario.type, at: scenario.url(in: folder), options: nil)
      let fitting: [Int] = versions.indices.filter {
        versions[$0].isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
      }
      #expect(fitting == [0] || fitting == [versions.count - 1], "versions \(fitting)")
      return fitting == [0]
    }

    func expectWhole(_ folder: URL, isOld: Bool, _ note: Comment) throws {
      let model: NSManagedObjectModel = isOld ? versions[0] : versions[versions.count - 1]
      let found: [String] = try scenario.using(model, folder) { try MigrationScenario.state($0) }
      #expect(found == state, note)
      if scenario.type == NSSQLiteStoreType {
        #expect(try FileContents(scenario.url(in: folder)).integrity == "ok", note)
      }
    }

    /// What lies in a folder, also in the hidden one of large values, but for their names.
    func names(_ folder: URL) throws -> [String] {
      let values: String = ".People_SUPPORT/_EXTERNAL_DATA"
      let count: Int? = try? FileManager.default.contentsOfDirectory(
        atPath: folder.appendingPathComponent(values).path
      ).count
      return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() + [
        "\(count ?? 0) values"
      ]
    }

    /// The bytes of all files in a folder.
    static func size(_ folder: URL) -> Int64 {
      (FileManager.default.subpaths(atPath: folder.path) ?? []).reduce(0) { sum, path in
        let stamp: FileAttributes? = try? FileManager.default.attributesOfItem(
          atPath: folder.appendingPathComponent(path).path)
        guard stamp?[.type] as? FileAttributeType == .typeRegular else { return sum }
        return sum + ((stamp?[.size] as? NSNumber)?.int64Value ?? 0)
      }
    }
    typealias FileAttributes = [FileAttributeKey: Any]

    func bytes(_ folder: URL) throws -> Data { try Data(contentsOf: scenario.url(in: folder)) }
  }

  /// How many points are taken unless it is a soak.
  static func sample(_ scenario: MigrationScenario) -> Int { scenario == .inPlace ? 5 : 3 }

  static func note(_ place: Place, _ kind: CrashRun.Kind, _ outcome: CrashRun.Outcome) -> Comment {
    "\(place.scenario), \(kind) at \(outcome.point) of \(place.calls): \(outcome.call)"
  }

  @Test(
    "a killed process leaves the old store or the new one, and the next one completes its work",
    .enabled(if: CrashRun.isAvailable, "\(CrashRun.absence)"), arguments: MigrationScenario.allCases)
  func killed(_ scenario: MigrationScenario) throws {
    let place = try Place(scenario)
    let whole: [String] = try place.names(place.results.appendingPathComponent("never-0"))
    var steps: [Int] = []
    var most: Int64 = 0
    for kind in Soak.isOn ? [CrashRun.Kind.kill, .tear] : [.kill] {
      var points: [Int] = CrashRun.points(of: place.calls, sample: Self.sample(scenario))
      // Where the new store is complete, and the exchange with the old one is near.
      if scenario == .xml {
        points = Set(points).union([14, 12, 10, 8].map { place.calls - $0 }).sorted()
      }
      let outcomes: [CrashRun.Outcome] = try place.run(kind, points)
      var old: [Int: Bool] = [:]
      for outcome in outcomes {
        let note: Comment = Self.note(place, kind, outcome)
        #expect(outcome.status == SIGKILL, note)
        let used: Int64 = Place.size(outcome.folder) - Place.size(place.template)
        most = max(most, used)
        #expect(used <= place.neededSpace, note)
        // Half of the stores are opened with the version that they have in between.
        let isOld: Bool = try place.isOld(outcome.folder)
        old[outcome.point] = isOld
        if outcome.noted == 1 { #expect(!isOld, note) }
        if outcome.point % 2 == 0 || !isOld { try place.expectWhole(outcome.folder, isOld: isOld, note) }
      }
      for outcome in try place.again(outcomes, kind) {
        let note: Comment = Self.note(place, kind, outcome)
        #expect(outcome.status == 0 && outcome.faults.isEmpty, "\(note): \(outcome.report)")
        #expect(try !place.isOld(outcome.folder), note)
        try place.expectWhole(outcome.folder, isOld: false, note)
        #expect(try place.names(outcome.folder) == whole, note)
        if old[outcome.point] == true, scenario != .inPlace {
          let done: Int = try #require(Self.number("steps", outcome), note)
          let planned: Int = try #require(Self.number("planned", outcome), note)
          // The plan can't compare a store that has a log with what it was, and the migration can.
          #expect(scenario == .sqlite ? planned >= done : planned == done, note)
          steps.append(done)
        }
        try FileManager.default.removeItem(at: outcome.folder)
      }
    }
    let counts: [Int] = (0...2).map { count in steps.count { $0 == count } }
    print("\(scenario): at most \(most) bytes beside the store, the plan says \(place.neededSpace)")
    print("\(scenario): \(place.calls) points; after kills 0, 1 and 2 steps were done \(counts) times")
    if scenario != .inPlace {
      // It had only to put what was made in the store's place, went on with the second step, or began anew.
      #expect(Soak.isOn ? counts.allSatisfy { $0 > 0 } : !steps.isEmpty)
    }
  }

  private static func number(_ name: String, _ outcome: CrashRun.Outcome) -> Int? {
    outcome.report.first { $0.hasPrefix(name + " ") }.flatMap { Int($0.dropFirst(name.count + 1)) }
  }

  @Test(
    "a full disk is an error that names the file; the store is as it was, and is migrated when there is space",
    .enabled(if: CrashRun.isAvailable, "\(CrashRun.absence)"), arguments: MigrationScenario.allCases)
  func full(_ scenario: MigrationScenario) throws {
    let place = try Place(scenario)
    let before: Data = try place.bytes(place.template)
    let names: [String] = try place.names(place.template)
    let whole: [String] = try place.names(place.results.appendingPathComponent("never-0"))
    for kind in Soak.isOn ? [CrashRun.Kind.full, .once] : [.full] {
      // The 20th call is among those that open the store's log.
      let points: [Int] = CrashRun.points(of: place.calls, sample: Self.sample(scenario)) + [20]
      let outcomes: [CrashRun.Outcome] = try place.run(kind, Set(points).sorted())
      var failed: Int = 0
      for outcome in outcomes {
        let note: Comment = Self.note(place, kind, outcome)
        #expect(outcome.status == 0 && outcome.faults.isEmpty, "\(note): \(outcome.report)")
        guard outcome.report.contains("failed") else { continue }
        failed += 1
        // The store may be migrated, and opening it then fails for want of space.
        guard try place.isOld(outcome.folder) else {
          try place.expectWhole(outcome.folder, isOld: false, note)
          continue
        }
        // The pages of a SQLite file may lie elsewhere; its contents are compared.
        if scenario.type != NSSQLiteStoreType { #expect(try place.bytes(outcome.folder) == before, note) }
        try place.expectWhole(outcome.folder, isOld: true, note)
        #expect(try place.names(outcome.folder) == names, note)
      }
      #expect(failed > 0, "no process has failed")
      for outcome in try place.again(outcomes, kind) {
        let note: Comment = Self.note(place, kind, outcome)
        #expect(outcome.status == 0 && outcome.faults.isEmpty, "\(note): \(outcome.report)")
        try place.expectWhole(outcome.folder, isOld: false, note)
        #expect(try place.names(outcome.folder) == whole, note)
        try FileManager.default.removeItem(at: outcome.folder)
      }
    }
  }
}
