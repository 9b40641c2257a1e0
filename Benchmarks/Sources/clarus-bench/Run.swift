import ArgumentParser
import Foundation

struct Run: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Runs the cases and prints a table.")

  @Option(
    help: "Only this suite: records, predicates, graph, oo7, grdb, lighter or mappers (repeatable).")
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
  var rows: Int = 100_000
  @Option(help: "How often each contestant's process is started per case.")
  var rounds: Int = 3
  @Option(help: "How often a process repeats its case.")
  var passes: Int = 3
  @Option(name: .customLong("case"), help: "Only this case (repeatable).")
  var cases: [CaseName] = []
  @Option(name: .customLong("contestant"), help: "Only this contestant (repeatable).")
  var contestants: [ContestantName] = []
  @Option(help: "Only this size of OO7: small or medium (repeatable).")
  var size: [OO7Size] = []
  @Option(help: "Only this operation of OO7: t1, t2a … q8, insert, delete (repeatable).")
  var operation: [OO7Operation] = []
  @Option(help: "Only this part of OO7: create, cold or warm (repeatable).")
  var temperature: [OO7Suite.Part] = []
  @Option(help: "Rows of the suite mappers.")
  var mapperRows: Int = 20_000
  @Option(help: "Python with SQLAlchemy and Django, as Benchmarks/Python/setup prints it.")
  var python: String?
  @Option(help: "The folder with mappers.py.")
  var scripts: String = "Benchmarks/Python"
  @Option(help: "Writes the table, the machine and the date to this file, as Markdown.")
  var results: String?
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
    let folder: URL = try OwnProcess.makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }

    #if DEBUG
      note("This is a debug build: the numbers say nothing. Use `make bench`.")
    #endif
    let start = ContinuousClock.now
    let machine = Machine()
    let records: [Outcome] = wants(.records) ? try runRecords(folder) : []
    let others: [Race.Outcome] = try SuiteName.allCases.flatMap { wants($0) ? try races(of: $0, folder) : [] }
    let report = Report(outcomes: records, races: others, rounds: rounds, passes: passes)
    if json { return print(try report.json()) }
    if linearity { return print(report.linearity) }
    let table: ResultTable = report.table
    let seconds: Double = (ContinuousClock.now - start) / .seconds(1)
    let peak: Int = max(try Memory.peak(), table.peak)
    print(table.plain, "", report.legend, separator: "\n")
    print("\(seconds.fixed(0)) s, \(peak / 1_048_576) MiB in the largest process.")
    if let results {
      let document = ResultDocument(
        table: table, machine: machine, notes: notes, seconds: seconds, peak: peak, requirements: requirements
      )
      try document.text.write(toFile: results, atomically: true, encoding: .utf8)
      note("Written: \(results)")
    }
  }

  private func wants(_ name: SuiteName) -> Bool {
    guard suite.isEmpty || suite.contains(name) else { return false }
    // Options of one suite leave the others out, unless they are named.
    if linearity { return name == .records || name == .graph }
    if !cases.isEmpty || !contestants.isEmpty { return name == .records }
    if !size.isEmpty || !operation.isEmpty || !temperature.isEmpty { return name == .oo7 || !suite.isEmpty }
    if !part.isEmpty { return name == .predicates || name == .graph }
    return true
  }

  private func races(of name: SuiteName, _ folder: URL) throws -> [Race.Outcome] {
    switch name {
    case .records: return []
    case .predicates: return try runPredicates(folder)
    case .graph: return try runGraph(folder)
    case .oo7:
      return try (size.isEmpty ? OO7Size.allCases : size).flatMap { size in
        try OO7Suite(
          folder: folder, size: size, rounds: rounds,
          operations: operation.isEmpty ? OO7Operation.allCases : operation,
          parts: temperature.isEmpty ? OO7Suite.Part.allCases : temperature, progress: progress
        ).run()
      }
    case .grdb:
      return try NumbersSuite(folder: folder, rows: rows, rounds: rounds * passes, progress: progress).run()
    case .lighter: return try OrdersSuite(folder: folder, rounds: rounds * passes, progress: progress).run()
    case .mappers:
      if interpreter == nil { note("SQLAlchemy and Django are left out: no --python.") }
      return try MapperSuite(
        folder: folder, rows: mapperRows, rounds: rounds, passes: passes, python: interpreter,
        scripts: URL(fileURLWithPath: scripts), progress: progress
      ).run()
    }
  }

  /// An empty text is what a failed set-up leaves.
  private var interpreter: String? { python.flatMap { $0.isEmpty ? nil : $0 } }

  private var notes: [String] {
    var notes: [String] = [
      "\(rows.formatted) rows, \(rounds) rounds of \(passes) passes; mappers: \(mapperRows.formatted) rows."
    ]
    if wants(.mappers), interpreter == nil {
      notes.append("Without SQLAlchemy and Django: no Python environment.")
    }
    return notes
  }

  /// The versions of Python and of the packages, as they are pinned.
  private var requirements: String? {
    guard wants(.mappers), let interpreter else { return nil }
    let pinned: String? = try? String(contentsOfFile: scripts + "/requirements.txt", encoding: .utf8)
    let packages: [Substring] = (pinned ?? "").split(separator: "\n").prefix(2).map { $0 }
    let version: String = Machine.output(interpreter, "--version").trimmingCharacters(
      in: .whitespacesAndNewlines)
    return ([version] + packages.map { $0.replacingOccurrences(of: "==", with: " ") }).joined(separator: ", ")
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
      progress: progress
    ).run()
  }

  private func runGraph(_ folder: URL) throws -> [Race.Outcome] {
    try (linearity ? Self.growth : [rows / 2]).flatMap { size in
      try GraphSuite(
        folder: folder, count: size, rounds: rounds * passes,
        parts: part.isEmpty ? GraphSuite.Part.allCases : part.compactMap(GraphSuite.Part.init),
        progress: progress
      ).run()
    }
  }

  private func runner(rows: Int, folder: URL) -> Runner {
    let usualCases: [CaseName] = linearity ? [.insert, .read] : CaseName.allCases
    let usual: [ContestantName] = linearity ? [.c, .grdb, .clarus] : ContestantName.allCases
    return Runner(
      folder: folder, rows: rows, rounds: rounds, passes: passes,
      contestants: contestants.isEmpty ? usual : contestants, cases: cases.isEmpty ? usualCases : cases,
      progress: progress)
  }

  private var progress: (String) -> Void {
    { if isatty(STDERR_FILENO) == 1 { note($0) } }
  }

  private func note(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
