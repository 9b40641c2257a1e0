import Foundation
import TestSupport

/// A prepared folder, in copies of which the processes of a scenario are stopped, and where the copies lie.
public struct CrashPlace<Scenario: CrashScenario> {
  public let scenario: Scenario
  public let template: URL
  public let results: URL
  /// How many calls the work has that nobody stops.
  public let calls: Int

  public init(_ scenario: Scenario) throws {
    self.scenario = scenario
    template = try TemporaryFolder().url
    results = try TemporaryFolder().url
    try scenario.prepare(template)
    calls = try CrashRun.calls(of: scenario, template: template, in: results)
  }

  /// What a process leaves that nobody stops.
  public var whole: URL { results.appendingPathComponent("never-0") }

  /// A process for each kind and point, with what messages say of it. In a soak at each call, else at so
  /// many.
  public func outcomes(_ kinds: CrashRun.Kind..., sample: Int) throws -> [(
    process: CrashRun.Outcome, note: String
  )] {
    try kinds.flatMap { kind in
      try CrashRun.run(
        scenario, kind, points: CrashRun.points(of: calls, sample: sample), template: template, in: results
      ).map { ($0, "\(scenario), \(kind) at \($0.point) of \(calls): \($0.call)") }
    }
  }
}
