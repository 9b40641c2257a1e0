import Foundation
import TestSupport

/// Runs `clarus` on a disk that is full from its n-th call on that changes a file in a folder.
///
/// The calls are counted by a library of `Tests/CCrashPoints`, which is compiled here and loaded before the C
/// library's own functions: the command itself knows nothing of it.
struct FullDisk {
  private let library: String

  struct Failure: Error { let reason: String }

  /// One run.
  struct Run {
    let run: CommandLineRun
    /// How many calls changed files.
    let calls: Int
    /// The first call that had no space, with its path in the folder; empty if it was not reached.
    let call: String
  }

  /// Linux with glibc, outside a sanitizer.
  static var isAvailable: Bool {
    #if os(Linux) && canImport(Glibc)
      return ProcessInfo.processInfo.environment["TSAN_OPTIONS"] == nil && compiler != nil
    #else
      return false
    #endif
  }

  /// The compiler that Swift brings along.
  private static var compiler: String? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/clang" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  init(in folder: TemporaryFolder) throws {
    library = folder.url.appendingPathComponent("fulldisk.so").path
    let sources: URL = CommandLineRun.packageRoot.appendingPathComponent("Tests/CCrashPoints")
    guard let compiler = Self.compiler else { throw Failure(reason: "There is no clang in PATH.") }
    let built = try CommandLineRun(
      shell:
        "'\(compiler)' -shared -fPIC -O1 -DCRASH_PRELOAD -I '\(sources.path)/include' -o '\(library)' '\(sources.path)/CCrashPoints.c' -ldl"
    )
    if built.status != 0 { throw Failure(reason: built.errors) }
  }

  /// `point`: the first call that has no space; 0 for a disk with space.
  func run(_ arguments: [String], in folder: URL, point: Int) throws -> Run {
    let report: URL = try TemporaryFolder().url.appendingPathComponent("report")
    defer { try? FileManager.default.removeItem(at: report.deletingLastPathComponent()) }
    let words: [String] =
      [
        "env", "LD_PRELOAD=\(library)", "CRASH_FOLDER=\(folder.resolvingSymlinksInPath().path)",
        "CRASH_POINT=\(point)", "CRASH_REPORT=\(report.path)", CommandLineRun.executable.path,
      ] + arguments
    let run = try CommandLineRun(shell: words.map { "'\($0)'" }.joined(separator: " "))
    let lines: [Substring] = try String(contentsOf: report, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
    guard let first = lines.first, let calls = Int(first) else { throw Failure(reason: run.errors) }
    return Run(run: run, calls: calls, call: lines.count > 1 ? String(lines[1]) : "")
  }
}
