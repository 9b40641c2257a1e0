/// Rows in aligned columns, for people.
///
/// Widths are computed from the heading and the first rows; then each line is written at once, so a table of
/// a million rows needs no more memory than one of a hundred. A later cell that is wider than its column is
/// truncated.
struct TextTable {
  enum Alignment {
    case left
    case right
  }

  struct Column {
    var title: String
    var alignment: Alignment = .left
    /// Cells of the column never get wider than this.
    var widest: Int = TextTable.widestCell
    /// The width that the column has at least.
    var narrowest: Int = 0

    /// As wide as its widest cell, whatever row that is in: nothing is truncated.
    static func whole(title: String, _ cells: some Sequence<String>) -> Column {
      let width: Int = cells.map { DisplayWidth.of(DisplayWidth.escaped($0)) }.max() ?? 0
      return Column(title: title, widest: width, narrowest: width)
    }
  }

  /// Cells of values.
  static let widestCell: Int = 60
  /// How many rows decide the widths.
  static let sampleSize: Int = 500

  private let columns: [Column]
  private let indent: String
  private var waiting: [[String]] = []
  private var widths: [Int]?

  init(_ columns: [Column], indent: String = "") {
    self.columns = columns
    self.indent = indent
  }

  /// Adds a row; writes it and the buffered rows when the widths are known.
  mutating func add(_ cells: [String], to output: StandardOutput) throws {
    let safe: [String] = cells.enumerated().map { column, cell in
      DisplayWidth.truncated(DisplayWidth.escaped(cell), to: columns[column].widest)
    }
    if widths != nil {
      try writeRow(safe, to: output)
    } else {
      waiting.append(safe)
      if waiting.count == Self.sampleSize { try fixWidths(output) }
    }
  }

  /// Writes the buffered rows. A table without rows gets its heading too.
  mutating func finish(_ output: StandardOutput) throws {
    if widths == nil { try fixWidths(output) }
  }

  private mutating func fixWidths(_ output: StandardOutput) throws {
    let titles: [String] = columns.map { DisplayWidth.escaped($0.title) }
    widths = columns.indices.map { column in
      max(columns[column].narrowest, ([titles] + waiting).map { DisplayWidth.of($0[column]) }.max() ?? 0)
    }
    try writeRow(titles, to: output)
    try writeRow(widths!.map { String(repeating: "─", count: max(1, $0)) }, to: output)
    for row in waiting { try writeRow(row, to: output) }
    waiting = []
  }

  private func writeRow(_ cells: [String], to output: StandardOutput) throws {
    guard let widths else { return }
    var line: String = indent
    for (column, cell) in cells.enumerated() {
      let cell: String =
        DisplayWidth.of(cell) > widths[column]
        ? DisplayWidth.truncated(cell, to: max(1, widths[column])) : cell
      let space = String(repeating: " ", count: max(0, widths[column] - DisplayWidth.of(cell)))
      if column > 0 { line += "  " }
      line += columns[column].alignment == .right ? space + cell : cell + space
    }
    while line.last == " " { line.removeLast() }
    try output.writeLine(line)
  }
}
