/// Runs what an option asks for; what is wrong with it is told under the option's name: `--where: …`.
func naming<Result>(_ option: String, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch {
    let line: String = ErrorText.line(for: error)
    throw CommandFailure(line.hasPrefix("\(option): ") ? line : "\(option): \(line)")
  }
}
