/// Runs the work of an option; an error names the option: `--where: …`.
func naming<Result>(_ option: String, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch {
    let line: String = ErrorText.line(for: error)
    throw CommandFailure(line.hasPrefix("\(option): ") ? line : "\(option): \(line)")
  }
}
