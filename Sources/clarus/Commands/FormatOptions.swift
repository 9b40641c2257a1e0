import ArgumentParser

/// The format in which a command prints: the same options everywhere.
struct FormatOptions<Format: OutputFormatChoice>: ParsableArguments {
  @Option(name: .long, help: ArgumentHelp("The format of what is printed.", valueName: "format"))
  var format: Format?

  @Flag(name: .long, help: "The same as --format json.")
  var json = false

  var chosen: Format { json ? .json : format ?? .table }
  var isJSON: Bool { chosen == .json }

  func validate() throws {
    if json, let format, format != .json {
      throw ValidationError("--json and --format \(format) contradict each other.")
    }
  }
}
