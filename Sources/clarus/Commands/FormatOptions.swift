import ArgumentParser

/// The format in which a command prints: the same options everywhere.
struct FormatOptions: ParsableArguments {
  @Option(name: .long, help: ArgumentHelp("table or json; fetch also prints csv.", valueName: "format"))
  var format: OutputFormat?

  @Flag(name: .long, help: "The same as --format json.")
  var json = false

  var chosen: OutputFormat { json ? .json : format ?? .table }
  var isJSON: Bool { chosen == .json }

  func validate() throws {
    if json, let format, format != .json {
      throw ValidationError("--json and --format \(format.rawValue) contradict each other.")
    }
  }

  /// For commands that print no rows.
  func refuseCSV() throws {
    if chosen == .csv {
      throw ValidationError(
        "--format csv: CSV has rows of one kind, as fetch prints them; write table or json.")
    }
  }
}
