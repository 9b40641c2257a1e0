import Foundation
import GRDBSQLite

/// What a run was measured on. No name of the machine.
struct Machine {
  /// How many processes wanted to run when the run began; more than the cores means that times are too long.
  let load: String =
    (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8))?
    .split(separator: " ").first.map(String.init) ?? "unknown"

  var lines: [(String, String)] {
    let memory = Double(ProcessInfo.processInfo.physicalMemory) / 1_073_741_824
    return [
      ("processor", "\(processor), \(ProcessInfo.processInfo.processorCount) cores"),
      ("memory", "\(memory.fixed(0)) GiB"),
      ("system", system),
      ("Swift", Self.output("swift", "--version").split(separator: "\n").first.map(String.init) ?? "unknown"),
      ("SQLite", String(cString: sqlite3_libversion())),
      ("load at the start", load),
    ]
  }

  private var processor: String {
    let text: String = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let line: Substring? = text.split(separator: "\n").first { $0.hasPrefix("model name") }
    return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
  }

  private var system: String {
    let text: String = (try? String(contentsOfFile: "/etc/os-release", encoding: .utf8)) ?? ""
    let line: Substring? = text.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
    let name: String? = line?.split(separator: "\"").dropFirst().first.map(String.init)
    let kernel: Substring? = Self.output("uname", "-r").split(whereSeparator: { $0 == "-" || $0 == "\n" })
      .first
    return "\(name ?? ProcessInfo.processInfo.operatingSystemVersionString), kernel \(kernel ?? "unknown")"
  }

  /// What a command prints; empty if it can't be run.
  static func output(_ command: String...) -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return "" }
    let data: Data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }
}

/// The document `RESULTS.md`.
struct ResultDocument {
  var table: ResultTable
  var machine: Machine
  /// The options of the run, and what is missing from it.
  var notes: [String]
  var seconds: Double
  var peak: Int
  var requirements: String?

  var text: String {
    let date: String = Date.now.formatted(.iso8601.year().month().day())
    var lines: [String] = [
      "# Results of the benchmarks", "",
      "Written by `make bench` on \(date); [README.md](README.md) says what is measured and how.", "",
      "| | |", "|---|---|",
    ]
    lines += machine.lines.map { "| \($0.0) | \($0.1) |" }
    if let requirements { lines.append("| Python | \(requirements) |") }
    lines.append("| the whole run | \(seconds.fixed(0)) s, \(peak / 1_048_576) MiB in the largest process |")
    lines +=
      [""] + notes + [
        "",
        "`min`, `median`: of all passes. `ratio`: of minimums. `statements`: SQL statements of one pass, counted "
          + "by SQLite. `peak`: resident memory, where a measurement has a process of its own.",
        "", table.markdown, "",
      ]
    return lines.joined(separator: "\n")
  }
}
