import CCrashPoints
import Foundation
import TestSupport

/// Processes that are stopped at a point, as tests start them.
///
/// The points are the calls that change a file in the process's folder: n = 1 is the first one.
public enum CrashRun {
  public enum Kind: String, Sendable, CaseIterable {
    case never, kill, tear, full, once

    var code: CrashKind {
      switch self {
      case .never: CRASH_NEVER
      case .kill: CRASH_KILL
      case .tear: CRASH_TEAR
      case .full: CRASH_FULL
      case .once: CRASH_FAIL_ONCE
      }
    }
  }

  public struct Outcome: Sendable {
    public let point: Int
    /// As `waitpid` returns it: 0 for a process that has ended, SIGKILL for one that was killed.
    public let status: Int
    /// How many calls there were.
    public let calls: Int
    public let noted: Int
    /// The call at the point; empty if there were fewer.
    public let call: String
    public let report: [String]
    /// Where the process has worked.
    public let folder: URL
    public var faults: [String] { report.filter { $0.hasPrefix(faultMark) } }
  }

  public static let isAvailable: Bool = crash_points_are_available()
  public static let absence =
    "needs Linux with glibc, and no sanitizer: calls are counted by functions of glibc's names"

  /// All points in a soak, else some of them, spread from the first to the last.
  public static func points(of calls: Int, sample: Int) -> [Int] {
    if Soak.isOn || calls <= sample { return Array(1...max(1, calls)) }
    return (0..<sample).map { 1 + $0 * (calls - 1) / (sample - 1) }
  }

  /// How many calls the work has when nothing stops it.
  public static func calls(of scenario: some CrashScenario, template: URL, in results: URL) throws -> Int {
    let whole: [Outcome] = try run(scenario, .never, points: [0], template: template, in: results)
    guard whole.count == 1, whole[0].status == 0, whole[0].faults.isEmpty else {
      throw CocoaError(
        .featureUnsupported,
        userInfo: [NSLocalizedDescriptionKey: "\(scenario) fails by itself: \(whole)"])
    }
    return whole[0].calls
  }

  /// Runs a process for each point, in a copy of the template, `results/kind-point`. Without a template it
  /// runs in the folders that are there.
  public static func run(
    _ scenario: some CrashScenario, _ kind: Kind, points: [Int], template: URL?, in results: URL,
    folders: Kind? = nil
  ) throws -> [Outcome] {
    let process = Process()
    process.executableURL = executable
    process.arguments = [
      "\(scenario)", kind.rawValue, results.path, (folders ?? kind).rawValue, template?.path ?? "-",
      points.map(String.init).joined(separator: ","),
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let lines = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    let outcomes: [Outcome] = lines.split(separator: "\n").compactMap {
      outcome($0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init), results)
    }
    guard process.terminationStatus == 0, outcomes.count == points.count else {
      throw CocoaError(
        .featureUnsupported, userInfo: [NSLocalizedDescriptionKey: "CrashTool has ended early: \(lines)"])
    }
    return outcomes
  }

  private static func outcome(_ fields: [String], _ results: URL) -> Outcome? {
    guard fields.count == 6, let point = Int(fields[0]), let status = Int(fields[1]),
      let calls = Int(fields[2]), let noted = Int(fields[3])
    else { return nil }
    let folder: URL = results.appendingPathComponent(fields[5], isDirectory: true)
    let report: String =
      (try? String(contentsOf: results.appendingPathComponent(fields[5] + ".report"), encoding: .utf8)) ?? ""
    return Outcome(
      point: point, status: status, calls: calls, noted: noted, call: fields[4],
      report: report.split(separator: "\n").map(String.init), folder: folder)
  }

  /// The executable lies where the test bundle lies.
  private static let executable: URL = {
    let folders: [URL] = [
      URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
      Bundle.main.bundleURL.deletingLastPathComponent(),
    ]
    let candidates: [URL] = folders.map { $0.appendingPathComponent("CrashTool") }
    return candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) } ?? candidates[0]
  }()
}

/// The program that tests start: runs a scenario at each point in a process of its own.
public enum CrashTool {
  /// The arguments: scenario, kind, folder of the results, the first part of the names of folders in it, the
  /// template or `-`, the points with commas. Prints a line a point.
  public static func main(_ arguments: [String]) -> Int32 {
    guard arguments.count == 7, let kind = CrashRun.Kind(rawValue: arguments[2]),
      crashScenario(named: arguments[1]) != nil
    else {
      FileHandle.standardError.write(Data("CrashTool is for the tests.\n".utf8))
      return 64
    }
    for point in arguments[6].split(separator: ",").compactMap({ Int($0) }) {
      let job = Job(
        scenario: arguments[1], results: arguments[3], name: "\(arguments[4])-\(point)",
        template: arguments[5] == "-" ? nil : arguments[5])
      var outcome: CrashOutcome = crash_points_run(
        kind.code, point,
        { context in
          guard let context else { return 1 }
          return Unmanaged<Job>.fromOpaque(context).takeUnretainedValue().run()
        }, Unmanaged.passUnretained(job).toOpaque())
      let call: String = withUnsafePointer(to: &outcome.call) {
        $0.withMemoryRebound(to: CChar.self, capacity: 512) { String(cString: $0) }
      }
      print(point, outcome.status, outcome.calls, outcome.noted, call, job.name, separator: "\t")
    }
    return 0
  }
}

/// What one process does.
private final class Job {
  let scenario: String
  let results: String
  let name: String
  let template: String?

  init(scenario: String, results: String, name: String, template: String?) {
    (self.scenario, self.results, self.name, self.template) = (scenario, results, name, template)
  }

  func run() -> Int32 {
    let folder = URL(fileURLWithPath: results).resolvingSymlinksInPath().appendingPathComponent(
      name, isDirectory: true)
    var report: [String]
    do {
      if let template {
        try FileManager.default.copyItem(atPath: template, toPath: folder.path)
      }
      guard let scenario = crashScenario(named: scenario) else { return 1 }
      crash_points_begin(folder.path)
      report = try scenario.run(in: folder)
    } catch {
      report = ["\(faultMark) \(text(of: error))"]
    }
    _ = crash_points_lift()
    try? Data(report.joined(separator: "\n").utf8).write(
      to: URL(fileURLWithPath: "\(results)/\(name).report"))
    return 0
  }
}
