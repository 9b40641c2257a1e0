import CoreDataStorage

/// The output of `--sql`: the statement, its values and the database's plan.
struct StatementText {
  private let lines: [String]

  init(_ statement: ExplainedStatement?) {
    guard let statement else {
      lines = []
      return
    }
    let values: [String] =
      statement.bindings.isEmpty ? [] : ["values: " + statement.bindings.joined(separator: ", ")]
    lines = ([statement.sql] + values + statement.queryPlan.map { "plan: \($0)" }).map(DisplayWidth.escaped)
  }

  /// Before a table; on standard error for formats that programs read.
  func write(_ format: RowFormat, _ output: StandardOutput) throws {
    if lines.isEmpty { return }
    for line in lines {
      if format == .table { try output.writeLine(line) } else { writeToStandardError(line) }
    }
    if format == .table { try output.writeLine() }
  }
}
