/// Writes records, one after the other, in one of the formats.
///
/// Tables and CSV have the same columns throughout; a JSON object has the names of its record.
struct RecordWriter {
  private let format: RowFormat
  private let printer: ValuePrinter
  private let output: StandardOutput
  private let titles: [String]
  private var table: TextTable
  private var count: Int = 0

  init(
    _ columns: [(title: String, isNumeric: Bool)], format: RowFormat, printer: ValuePrinter,
    output: StandardOutput
  ) {
    self.format = format
    self.printer = printer
    self.output = output
    titles = columns.map(\.title)
    table = TextTable(columns.map { .init(title: $0.title, alignment: $0.isNumeric ? .right : .left) })
  }

  func begin() throws {
    switch format {
    case .table: break
    case .csv: try writeCSV(titles)
    case .json: try output.write("[")
    }
  }

  mutating func write(_ record: [(name: String, value: OutputValue)]) throws {
    switch format {
    case .table: try table.add(record.map { printer.cell($0.value) }, to: output)
    case .csv: try writeCSV(record.map { printer.field($0.value) })
    case .json:
      let object: JSONText = .object(record.map { ($0.name, printer.json($0.value)) })
      try output.write((count == 0 ? "\n  " : ",\n  ") + object.compact)
    }
    count += 1
  }

  /// `noun` is the counted thing in the table's last line.
  mutating func end(_ noun: String = "row") throws {
    switch format {
    case .table:
      try table.finish(output)
      try output.writeLine(count == 1 ? "1 \(noun)" : "\(count) \(noun)s")
    case .csv: break
    case .json: try output.writeLine(count == 0 ? "]" : "\n]")
    }
  }

  /// In a file text is not escaped; on a terminal characters that move the cursor are.
  private func writeCSV(_ fields: [String]) throws {
    try output.write(CSVText.line(output.isTerminal ? fields.map(DisplayWidth.escaped) : fields))
  }
}
