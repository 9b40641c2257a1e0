import Foundation

/// Starts a process for each measurement, contestants in turn, and collects their output.
struct Runner {
  var folder: URL
  var rows: Int
  var rounds: Int
  var passes: Int
  var contestants: [ContestantName]
  var cases: [CaseName]
  var progress: (String) -> Void = { _ in }

  func run() throws -> [Outcome] {
    let templates: Templates = try Templates(in: folder, rows: rows, progress: progress)

    var outcomes: [Outcome] = []
    for name in cases {
      var results: [ContestantName: [Measurement]] = [:]
      for round in 1...rounds {
        for contestant in contestants {
          progress("\(name.rawValue), round \(round) of \(rounds): \(contestant.title)")
          results[contestant, default: []].append(
            try measure(contestant, name, template: templates.of(name)))
        }
      }
      try agree(results, in: name)
      outcomes.append(
        Outcome(
          name: name, rows: rows,
          lines: contestants.compactMap { contestant in
            results[contestant].map { Outcome.Line(contestant: contestant, measurements: $0) }
          }))
    }
    return outcomes
  }

  private func measure(
    _ contestant: ContestantName, _ name: CaseName, template: URL
  ) throws -> Measurement {
    try OwnProcess.measure(
      Measurement.self, label: "\(contestant.title) in case \(name.rawValue)", "pass", contestant.rawValue,
      name.rawValue, "--rows", String(rows), "--passes", String(passes), "--template", template.path,
      "--folder", folder.path)
  }

  /// Every contestant must have read the same values, otherwise the times can't be compared.
  private func agree(_ results: [ContestantName: [Measurement]], in name: CaseName) throws {
    let all: [(ContestantName, Measurement)] = contestants.flatMap { contestant in
      (results[contestant] ?? []).map { (contestant, $0) }
    }
    guard let (first, expected) = all.first else { return }
    for (contestant, measured) in all
    where measured.checksum != expected.checksum || measured.rows != expected.rows
      || measured.thoroughChecksum != expected.thoroughChecksum
    {
      throw BenchmarkError(
        "\(contestant.title) and \(first.title) differ in case \(name.rawValue): "
          + "\(measured.rows) rows, sums \(measured.checksum) and \(measured.thoroughChecksum), against "
          + "\(expected.rows) rows, sums \(expected.checksum) and \(expected.thoroughChecksum)")
    }
  }
}

/// The stores that the measurements copy.
struct Templates {
  private let empty: URL
  /// All rows, written by C into a file that Clarus created, without a journal.
  private let full: URL

  init(in folder: URL, rows: Int, progress: (String) -> Void) throws {
    empty = folder.appendingPathComponent("empty.sqlite")
    full = folder.appendingPathComponent("full.sqlite")
    try ClarusContestant.makeStore(at: empty)
    try FileManager.default.copyItem(at: empty, to: full)
    progress("writing \(rows.formatted) rows to read")
    var writer = try SQLiteContestant(store: full)
    writer.prepare(Sample.make(count: rows))
    try writer.insert()
    try writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    writer.close()
  }

  func of(_ name: CaseName) -> URL { name == .insert ? empty : full }
}

/// The results of a case.
struct Outcome {
  struct Line {
    var contestant: ContestantName
    var seconds: [Double]
    var peak: Int
    var growth: Int

    init(contestant: ContestantName, measurements: [Measurement]) {
      self.contestant = contestant
      seconds = measurements.flatMap(\.seconds).sorted()
      peak = measurements.map(\.peak).max() ?? 0
      growth = measurements.map(\.growth).max() ?? 0
    }

    var minimum: Double { seconds.first ?? 0 }
    var median: Double { seconds[seconds.count / 2] }
  }

  var name: CaseName
  var rows: Int
  var lines: [Line]

  var operations: Int { name.operations(rows: rows) }

  func minimum(of contestant: ContestantName) -> Double? {
    lines.first { $0.contestant == contestant }?.minimum
  }
}
