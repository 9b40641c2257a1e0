import Foundation

/// The growth of races' times with the number of objects.
struct RaceReport {
  private static let table = TextColumns(first: 26, other: 10)

  var outcomes: [Race.Outcome]

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
