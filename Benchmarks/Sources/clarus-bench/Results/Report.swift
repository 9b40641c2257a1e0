import Foundation

/// The outcomes as tables and as JSON.
struct Report {
  private static let table = TextColumns(first: 18, other: 10)

  var outcomes: [Outcome]
  var races: [Race.Outcome]
  var rounds: Int
  var passes: Int

  var table: ResultTable { ResultTable(records: outcomes, races: races) }

  /// How the numbers of the table are to be read.
  var legend: String {
    """
    Minimum and median of all passes. Ratios are of minimums. Records: \(rounds) × \(passes) passes (processes in turn
    × passes in each), a fresh file and connection per pass; opening is not timed; peak: resident memory of the
    first pass. The rest: contestants in turn. Checksums agree. Benchmarks/README.md tells more.
    """
  }

  /// Microseconds per object, one line for each contestant and case, one column for each size.
  var linearity: String {
    var lines: [String] = []
    let sizes: [Int] = Set(outcomes.map(\.rows)).sorted()
    var names: [CaseName] = []
    for outcome in outcomes where !names.contains(outcome.name) { names.append(outcome.name) }
    for name in names {
      let ofCase: [Outcome] = outcomes.filter { $0.name == name }
      lines.append(
        Self.table.row("\(name.rawValue), µs each", sizes.map { name.operations(rows: $0).formatted }))
      for contestant in ofCase.first?.lines.map(\.contestant) ?? [] {
        let cells: [String] = sizes.map { size in
          guard let outcome = ofCase.first(where: { $0.rows == size }) else { return "–" }
          let seconds: Double = outcome.minimum(of: contestant) ?? 0
          return (seconds * 1e6 / Double(outcome.operations)).fixed(2)
        }
        lines.append(Self.table.row("  " + contestant.title, cells))
      }
      lines.append("")
    }
    if !races.isEmpty { lines.append(RaceReport(outcomes: races).linearity) }
    return lines.joined(separator: "\n")
  }

  /// `{"cases": [{"case", "rows", "operations", "results": [{"contestant", "seconds": […], "ratioToC", …}]}],
  /// "races": [{"part", "heading", "title", "operations", "found", "lines": [{"contestant", "seconds",
  /// "base", "statements", "peak"}]}]}`
  func json() throws -> String {
    let cases: [JSONCase] = outcomes.map { outcome in
      JSONCase(
        name: outcome.name.rawValue, title: outcome.name.title(rows: outcome.rows), rows: outcome.rows,
        operations: outcome.operations,
        results: outcome.lines.map { line in
          JSONCase.Result(
            contestant: line.contestant.rawValue, minimumSeconds: line.minimum, medianSeconds: line.median,
            seconds: line.seconds, ratioToC: outcome.minimum(of: .c).map { line.minimum / $0 },
            ratioToGRDB: outcome.minimum(of: .grdb).map { line.minimum / $0 }, peakBytes: line.peak,
            growthBytes: line.growth)
        })
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return String(
      decoding: try encoder.encode(JSONReport(cases: cases, races: races)), as: UTF8.self)
  }

  private struct JSONReport: Encodable {
    var cases: [JSONCase]
    var races: [Race.Outcome]
  }

  private struct JSONCase: Encodable {
    struct Result: Encodable {
      var contestant: String
      var minimumSeconds: Double
      var medianSeconds: Double
      var seconds: [Double]
      var ratioToC: Double?
      var ratioToGRDB: Double?
      var peakBytes: Int
      var growthBytes: Int
    }

    var name: String
    var title: String
    var rows: Int
    var operations: Int
    var results: [Result]
  }
}
