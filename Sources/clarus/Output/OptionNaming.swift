import ArgumentParser

/// Runs what checks options together. What is wrong is wrong usage, with the place of the help.
///
/// For `run()`: what `validate()` throws hides that an option is unknown.
func usageErrors<Result>(of command: String, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch let error as ValidationError {
    throw CommandFailure(
      "\(error.message) See 'clarus \(command) --help' for more information.", status: 2)
  }
}

/// Runs the work of an option; an error names the option: `--where: …`. One that names another option
/// already, such as `--model-version`, stays as it is.
func naming<Result>(_ option: String, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch {
    let line: String = ErrorText.line(for: error)
    throw CommandFailure(line.hasPrefix("--") ? line : "\(option): \(line)")
  }
}
