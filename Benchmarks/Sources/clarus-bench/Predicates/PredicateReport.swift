import Foundation

/// The outcomes of the predicate suite as a table for people.
struct PredicateReport {
  var outcomes: [PredicateSuite.Outcome]
  var rounds: Int

  var table: String {
    var lines: [String] = [row("", ["min ms", "median", "ns each", "ratio"])]
    for part in PredicateSuite.Part.allCases {
      let ofPart: [PredicateSuite.Outcome] = outcomes.filter { $0.part == part }
      if ofPart.isEmpty { continue }
      lines += ["", part.title]
      for outcome in ofPart {
        lines.append(
          "  \(outcome.title)   (\(outcome.matches.formatted) of \(outcome.operations.formatted))")
        for line in outcome.lines {
          lines.append(
            row(
              "    " + line.contestant,
              [
                fixed(line.minimum * 1e3, 2), fixed(line.median * 1e3, 2),
                fixed(line.minimum * 1e9 / Double(outcome.operations), 1),
                outcome.ratio(of: line).map { fixed($0, 2) } ?? "–",
              ]))
        }
      }
    }
    lines += [
      "",
      "Minimum and median of \(rounds) passes, contestants in turn in one process. Ratios are of minimums.",
    ]
    return lines.joined(separator: "\n")
  }

  private func row(_ title: String, _ cells: [String]) -> String {
    title.padding(toLength: 26, withPad: " ", startingAt: 0)
      + cells.map { String(repeating: " ", count: max(1, 10 - $0.count)) + $0 }.joined()
  }

  private func fixed(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
}
