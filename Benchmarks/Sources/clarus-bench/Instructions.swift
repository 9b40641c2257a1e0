import ArgumentParser
import Foundation

/// `clarus-bench instructions`: what a row costs, counted by callgrind. Other programs on the machine change
/// times, not counts; so counts of two versions can be compared.
struct InstructionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "instructions", abstract: "Counts the instructions a row of each case (needs valgrind).",
    discussion: """
      Each case runs in two processes under callgrind. Both open the store three times; one does the case each \
      time, the other one only the last time. Half of the difference is the case alone, warm: without the \
      start of the process, and without opening the store. SQLite is counted with everybody, since it is \
      linked into the program.
      """)

  @Option(help: "Rows of the store that is read; half as many are inserted and updated.")
  var rows: Int = 20_000
  @Option(name: .customLong("case"), help: "Only this case (repeatable).")
  var cases: [CaseName] = []
  @Option(name: .customLong("contestant"), help: "Only this contestant (repeatable).")
  var contestants: [ContestantName] = []
  @Option(help: "Keeps callgrind's files in this folder, for callgrind_annotate.")
  var keep: String?
  @Option(help: "The program that counts.")
  var valgrind: String = "/usr/bin/valgrind"

  mutating func validate() throws {
    guard rows >= 100 else { throw ValidationError("--rows must be at least 100.") }
    guard FileManager.default.isExecutableFile(atPath: valgrind) else {
      throw ValidationError("There is no \(valgrind): install the package valgrind, or give --valgrind.")
    }
  }

  func run() throws {
    let folder: URL = try OwnProcess.makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let templates = try Templates(in: folder, rows: rows, progress: { _ in })
    let all: [ContestantName] = contestants.isEmpty ? [.c, .grdb, .clarus] : contestants
    let table = TextColumns(first: 70, other: 15)
    print(table.row("instructions a row, \(rows.formatted) rows", all.map(\.title)))
    for name in cases.isEmpty ? CaseName.allCases : cases {
      let counts: [String] = try all.map { contestant in
        let once: Int = try count(contestant, name, played: 1, templates, folder)
        let thrice: Int = try count(contestant, name, played: 3, templates, folder)
        return ((thrice - once) / 2 / name.operations(rows: rows)).formatted
      }
      print(table.row("  " + name.title(rows: rows), counts))
    }
  }

  /// The instructions of one process.
  private func count(
    _ contestant: ContestantName, _ name: CaseName, played: Int, _ templates: Templates, _ folder: URL
  ) throws -> Int {
    let place: URL = keep.map { URL(fileURLWithPath: $0) } ?? folder
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let output: URL = place.appendingPathComponent(
      "\(contestant.rawValue)-\(name.rawValue)-\(played).callgrind")
    _ = try OwnProcess.measure(
      Measurement.self, label: "\(contestant.title) in case \(name.rawValue), under \(valgrind),",
      program: URL(fileURLWithPath: valgrind), "--tool=callgrind", "--callgrind-out-file=\(output.path)",
      "--log-file=\(folder.appendingPathComponent("valgrind.log").path)", OwnProcess.own.path, "pass",
      contestant.rawValue, name.rawValue, "--rows", String(rows), "--passes", "3", "--played", String(played),
      "--template", templates.of(name).path, "--folder", folder.path)
    let text: String = String(decoding: try Data(contentsOf: output), as: UTF8.self)
    guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("totals: ") }),
      let total = line.split(separator: " ").last.flatMap({ Int($0) })
    else { throw BenchmarkError("\(output.path) has no line of totals") }
    return total
  }
}
