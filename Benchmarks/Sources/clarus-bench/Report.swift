import Foundation

/// The outcomes as a table and as JSON.
struct Report {
  private static let table = TextColumns(first: 18, other: 10)

  var outcomes: [Outcome]
  var races: [Race.Outcome]
  var rounds: Int
  var passes: Int

  var table: String {
    var tables: [String] = outcomes.isEmpty ? [] : [recordTable]
    if !races.isEmpty { tables.append(RaceReport(outcomes: races, rounds: rounds * passes).table) }
    return tables.joined(separator: "\n\n")
  }

  private var recordTable: String {
    var lines: [String] = [
      Self.table.row("", ["min ms", "median", "µs each", "× C", "× GRDB", "peak MiB", "growth"])
    ]
    for outcome in outcomes {
      lines.append("")
      lines.append(outcome.name.title(rows: outcome.rows))
      for line in outcome.lines {
        lines.append(
          Self.table.row(
            "  " + line.contestant.title,
            [
              (line.minimum * 1e3).fixed(1), (line.median * 1e3).fixed(1),
              (line.minimum * 1e6 / Double(outcome.operations)).fixed(2),
              ratio(line.minimum, outcome.minimum(of: .c)),
              ratio(line.minimum, outcome.minimum(of: .grdb)), mebibytes(line.peak), mebibytes(line.growth),
            ]))
      }
    }
    lines.append("")
    lines.append(
      "Minimum and median of \(rounds) × \(passes) passes (processes in turn × passes in each, a fresh file and"
    )
    lines.append(
      "connection per pass; opening is not timed). Ratios are of minimums. Peak and growth: resident memory of the"
    )
    lines.append("first pass, and by how much it exceeds what the process held before. Checksums agree.")
    return lines.joined(separator: "\n")
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
    if !races.isEmpty { lines.append(RaceReport(outcomes: races, rounds: rounds * passes).linearity) }
    return lines.joined(separator: "\n")
  }

  /// `{"cases": [{"case", "rows", "operations", "results": [{"contestant", "seconds": […], "ratioToC", …}]}],
  /// "races": [{"part", "heading", "title", "operations", "found", "lines": [{"contestant", "seconds",
  /// "base"}]}]}`
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

  private func ratio(_ value: Double, _ base: Double?) -> String {
    guard let base, base > 0 else { return "–" }
    return (value / base).fixed(2)
  }

  private func mebibytes(_ bytes: Int) -> String { (Double(bytes) / 1_048_576).fixed(0) }
}
