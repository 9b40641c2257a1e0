import Foundation

/// All results of a run as one table, for a terminal and as Markdown.
struct ResultTable {
  static let columns: [String] = [
    "min ms", "median ms", "µs each", "ratio", "× GRDB", "statements", "peak MiB",
  ]
  private static let text = TextColumns(first: 26, other: 12)

  struct Section {
    var heading: String
    var cases: [Case]
  }

  struct Case {
    var title: String
    var operations: Int
    var lines: [Line]
  }

  struct Line {
    var contestant: String
    var minimum: Double
    var median: Double
    /// The contestant that the ratio refers to.
    var base: String?
    var statements: Int?
    var peak: Int?
  }

  private(set) var sections: [Section] = []

  init(records: [Outcome], races: [Race.Outcome]) {
    let converted: [Case] = records.map { outcome in
      Case(
        title: outcome.name.title(rows: outcome.rows), operations: outcome.operations,
        lines: outcome.lines.map { line in
          Line(
            contestant: line.contestant.title, minimum: line.minimum, median: line.median,
            base: ContestantName.c.title, peak: line.peak)
        })
    }
    if !converted.isEmpty { sections.append(Section(heading: "Rows of ten values", cases: converted)) }
    for race in races {
      if sections.last?.heading != race.heading { sections.append(Section(heading: race.heading, cases: [])) }
      sections[sections.count - 1].cases.append(
        Case(
          title: race.title, operations: race.operations,
          lines: race.lines.map { line in
            Line(
              contestant: line.contestant, minimum: line.minimum, median: line.median, base: line.base,
              statements: line.statements, peak: line.peak)
          }))
    }
  }

  /// The largest of the processes of which that is known.
  var peak: Int { sections.flatMap(\.cases).flatMap(\.lines).compactMap(\.peak).max() ?? 0 }

  var plain: String {
    var lines: [String] = [Self.text.row("", Self.columns)]
    for section in sections {
      lines += ["", section.heading]
      for item in section.cases {
        lines.append("  \(item.title)")
        lines += item.lines.map { Self.text.row("    " + $0.contestant, cells($0, item)) }
      }
    }
    return lines.joined(separator: "\n")
  }

  var markdown: String {
    func row(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
    var lines: [String] = [
      row(["case", "by"] + Self.columns),
      "|---|---|" + String(repeating: "---:|", count: Self.columns.count),
    ]
    for section in sections {
      lines.append(row(["**\(section.heading)**", ""] + Self.columns.map { _ in "" }))
      for item in section.cases {
        for (place, line) in item.lines.enumerated() {
          lines.append(row([place == 0 ? item.title : "", line.contestant] + cells(line, item)))
        }
      }
    }
    return lines.joined(separator: "\n")
  }

  private func cells(_ line: Line, _ item: Case) -> [String] {
    func ratio(to name: String?) -> Double? {
      guard let base = item.lines.first(where: { $0.contestant == name }), base.minimum > 0 else {
        return nil
      }
      return line.minimum / base.minimum
    }
    let toBase: Double? = line.contestant == line.base ? nil : ratio(to: line.base)
    return [
      (line.minimum * 1e3).fixed(2), (line.median * 1e3).fixed(2),
      (line.minimum * 1e6 / Double(max(1, item.operations))).fixed(3),
      toBase.map { "\($0.fixed(2)) × \(Self.short(line.base ?? ""))" } ?? "",
      ratio(to: ContestantName.grdb.title).map { $0.fixed(2) } ?? "",
      line.statements?.formatted ?? "", line.peak.map { (Double($0) / 1_048_576).fixed(0) } ?? "",
    ]
  }

  /// Names of bases as they are in a column.
  private static func short(_ base: String) -> String {
    base.hasPrefix("C ") || base.hasPrefix("C,") ? "C" : base.hasPrefix("Swift objects") ? "Swift" : base
  }
}
