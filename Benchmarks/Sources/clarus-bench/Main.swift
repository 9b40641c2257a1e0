import ArgumentParser
import Foundation

/// `clarus-bench`: Clarus beside plain C `sqlite3` and GRDB records, on one schema, in one run.
@main
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clarus-bench",
    abstract: "Measures Clarus beside C sqlite3, GRDB records and hand-written closures.",
    discussion: """
      Three suites. records: rows written and read; every measurement runs in a process of its own, contestants in turn, \
      and checksums over all bytes must agree, or the run stops. predicates: parsed, evaluated in memory and fetched, \
      contestants in turn in one process; all must find as many. graph: objects changed, linked and deleted with \
      cascades, taken back and saved, in one process; the graphs must be the same in the end.
      """,
    subcommands: [
      Run.self, RunPass.self, FilesCommand.self, FilePassCommand.self, MigrationsCommand.self,
      MigrationPassCommand.self,
    ],
    defaultSubcommand: Run.self)
}

struct Run: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Runs the cases and prints a table.")

  @Option(help: "Only this suite: records, predicates or graph (repeatable).")
  var suite: [SuiteName] = []
  @Option(
    help:
      "Only this part: parse, objects, values, fetch, count of predicates; change, undo, save of graph (repeatable)."
  )
  var part: [RacePartName] = []
  @Option(
    help:
      "Rows of the store that is read; half as many are inserted, chosen from by predicates, changed as a graph."
  )
  var rows: Int = 200_000
  @Option(help: "How often each contestant's process is started per case.")
  var rounds: Int = 3
  @Option(help: "How often a process repeats its case.")
  var passes: Int = 3
  @Option(name: .customLong("case"), help: "Only this case (repeatable).")
  var cases: [CaseName] = []
  @Option(name: .customLong("contestant"), help: "Only this contestant (repeatable).")
  var contestants: [ContestantName] = []
  @Flag(help: "Cost per object from 1,000 to 1,000,000 rows instead of the table.")
  var linearity: Bool = false
  @Flag(help: "JSON on standard output, the table's facts with every single time.")
  var json: Bool = false

  mutating func validate() throws {
    guard rows >= 100, rounds >= 1, passes >= 1 else {
      throw ValidationError("--rows must be at least 100, --rounds and --passes at least 1.")
    }
  }

  func run() throws {
    let folder: URL = FileManager.default.temporaryDirectory
      .appendingPathComponent("clarus-bench-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }

    #if DEBUG
      note("This is a debug build: the numbers say nothing. Use `make bench`.")
    #endif
    let suites: [SuiteName] = suite.isEmpty ? SuiteName.allCases : suite
    let wantsPredicates: Bool = suites.contains(.predicates) && !linearity && cases.isEmpty
    let wantsGraph: Bool = suites.contains(.graph) && cases.isEmpty
    let records: [Outcome] = suites.contains(.records) ? try runRecords(folder) : []
    let races: [Race.Outcome] =
      (wantsPredicates ? try runPredicates(folder) : []) + (wantsGraph ? try runGraph(folder) : [])
    let report = Report(outcomes: records, races: races, rounds: rounds, passes: passes)
    print(json ? try report.json() : linearity ? report.linearity : report.table)
  }

  private static let growth: [Int] = [1_000, 10_000, 100_000, 1_000_000]

  private func runRecords(_ folder: URL) throws -> [Outcome] {
    var outcomes: [Outcome] = []
    let sizes: [Int] = linearity ? Self.growth : [rows]
    for size in sizes {
      let place: URL = folder.appendingPathComponent(String(size))
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      outcomes += try runner(rows: size, folder: place).run()
      try FileManager.default.removeItem(at: place)
    }
    return outcomes
  }

  private func runPredicates(_ folder: URL) throws -> [Race.Outcome] {
    try PredicateSuite(
      folder: folder, count: rows / 2, rounds: rounds * passes,
      parts: part.isEmpty ? PredicateSuite.Part.allCases : part.compactMap(PredicateSuite.Part.init),
      progress: { if isatty(STDERR_FILENO) == 1 { note($0) } }
    ).run()
  }

  private func runGraph(_ folder: URL) throws -> [Race.Outcome] {
    try (linearity ? Self.growth : [rows / 2]).flatMap { size in
      try GraphSuite(
        folder: folder, count: size, rounds: rounds * passes,
        parts: part.isEmpty ? GraphSuite.Part.allCases : part.compactMap(GraphSuite.Part.init),
        progress: { if isatty(STDERR_FILENO) == 1 { note($0) } }
      ).run()
    }
  }

  private func runner(rows: Int, folder: URL) -> Runner {
    let usualCases: [CaseName] = linearity ? [.insert, .read] : CaseName.allCases
    let usual: [ContestantName] = linearity ? [.c, .grdb, .clarus] : ContestantName.allCases
    return Runner(
      folder: folder, rows: rows, rounds: rounds, passes: passes,
      contestants: contestants.isEmpty ? usual : contestants, cases: cases.isEmpty ? usualCases : cases,
      progress: { if isatty(STDERR_FILENO) == 1 { note($0) } })
  }

  private func note(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}

/// One process of a run.
struct RunPass: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "pass", shouldDisplay: false)

  @Argument var contestant: ContestantName
  @Argument var name: CaseName
  @Option var rows: Int
  @Option var passes: Int
  @Option var template: String
  @Option var folder: String

  func run() throws {
    let pass = Pass(
      contestant: contestant, name: name, rows: rows, passes: passes,
      template: URL(fileURLWithPath: template), folder: URL(fileURLWithPath: folder))
    try OwnProcess.print(try pass.run())
  }
}

/// The groups of cases.
enum SuiteName: String, CaseIterable, ExpressibleByArgument {
  case records, predicates, graph
}

/// A part of one of the suites that are races.
struct RacePartName: ExpressibleByArgument {
  let name: String

  init?(argument: String) {
    guard PredicateSuite.Part(rawValue: argument) != nil || GraphSuite.Part(rawValue: argument) != nil else {
      return nil
    }
    name = argument
  }
}

extension PredicateSuite.Part {
  init?(_ part: RacePartName) { self.init(rawValue: part.name) }
}

extension GraphSuite.Part {
  init?(_ part: RacePartName) { self.init(rawValue: part.name) }
}

extension CaseName: ExpressibleByArgument {}
extension ContestantName: ExpressibleByArgument {}
