import Foundation

/// The outcomes of races as a table.
struct RaceReport {
  private static let table = TextColumns(first: 26, other: 10)

  var outcomes: [Race.Outcome]
  var rounds: Int

  var table: String {
    var lines: [String] = [Self.table.row("", ["min ms", "median", "ns each", "ratio"])]
    var heading: String = ""
    for outcome in outcomes {
      if outcome.heading != heading { lines += ["", outcome.heading] }
      heading = outcome.heading
      lines.append(
        "  \(outcome.title)   (\(outcome.found.formatted) of \(outcome.operations.formatted))")
      for line in outcome.lines {
        lines.append(
          Self.table.row(
            "    " + line.contestant,
            [
              (line.minimum * 1e3).fixed(2), (line.median * 1e3).fixed(2),
              (line.minimum * 1e9 / Double(outcome.operations)).fixed(1),
              outcome.ratio(of: line).map { $0.fixed(2) } ?? "–",
            ]))
      }
    }
    lines += [
      "",
      "Minimum and median of \(rounds) passes, contestants in turn in one process. Ratios are of minimums.",
    ]
    return lines.joined(separator: "\n")
  }

  /// Microseconds per operation, one line for each contestant and case, one column for each size.
  var linearity: String {
    let sizes: [Int] = Set(outcomes.map(\.operations)).sorted()
    var cases: [(heading: String, title: String)] = []
    for outcome in outcomes
    where !cases.contains(where: { $0 == (outcome.heading, outcome.title) }) {
      cases.append((outcome.heading, outcome.title))
    }
    var lines: [String] = []
    for (heading, title) in cases {
      let ofCase: [Race.Outcome] = outcomes.filter { $0.heading == heading && $0.title == title }
      lines.append("\(heading): \(title), µs each")
      lines.append(Self.table.row("", sizes.map(\.formatted)))
      for contestant in ofCase.first?.lines.map(\.contestant) ?? [] {
        let cells: [String] = sizes.map { size in
          let line: Race.Line? = ofCase.first { $0.operations == size }?.lines
            .first { $0.contestant == contestant }
          return line.map { ($0.minimum * 1e6 / Double(size)).fixed(3) } ?? "–"
        }
        lines.append(Self.table.row("    " + contestant, cells))
      }
      lines.append("")
    }
    return lines.joined(separator: "\n")
  }
}
