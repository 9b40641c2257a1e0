import ArgumentParser
import CoreDataCodeGeneration
import CoreDataModel
import CoreDataModelChecking

/// `clarus model lint`
struct ModelLintCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lint",
    abstract: "Reports what is wrong with a model.",
    discussion: """
      Errors are what will fail when the model is used; warnings work but are probably not meant; notes are often meant, and only \
      shown with --notes. Each message ends with the code of its rule, which Documentation/lint.md explains. Of a source model \
      messages begin with file, line and column, as those of a compiler. A model that can't be read has one error, of the code unreadable.

      A rule is ignored for one entity or property by its user info, with the key clarus.lint.ignore and codes as the value; for a \
      whole model with --ignore or by a file .clarus-lint in the package, which has a code a line.

      EXAMPLES
        clarus model lint Shop.xcdatamodeld
        clarus model lint Shop.xcdatamodeld --notes --ignore no-inverse
        clarus model lint Shop.xcdatamodeld --strict          for continuous integration

      EXIT STATUS
        0 no error, 1 an error, or with --strict a warning

      JSON
        { "problems": [{"severity": "error", "warning" or "note", "code", "entity", "part", "message",
                        "file", "line", "column", "page"}],
          "unread": [{"file", "line", "message"}] }
      """)

  @OptionGroup var options: ModelOptions

  @Flag(name: .long, help: "Shows notes too.")
  var notes = false

  @Option(
    name: .long, help: ArgumentHelp("Leaves out the rule of this code; may be repeated.", valueName: "code"))
  var ignore: [String] = []

  @Flag(name: .long, help: "Fails if there is a warning, too.")
  var strict = false

  func validate() throws {
    for code in ignore where !LintIgnoring.known.contains(code) {
      throw ValidationError("--ignore: There is no rule '\(code)'. \(LintIgnoring.knownCodes)")
    }
  }

  func run() throws {
    let version: ModelVersion
    do {
      version = try ModelArgument.load(options.model, version: options.modelVersion)
    } catch let error as ModelFileError {
      try report(error)
      throw CommandFailure("\(options.model): The model can't be read.")
    }
    let ignored: Set<String> = try LintIgnoring.codes(for: version.model).union(ignore)
    let problems: [ModelProblem] = version.model.problems(
      downTo: notes ? .note : .warning, ignoring: ignored)
    let places = try LintPlaces(version)
    let messages: [CodeGenerationMessage] =
      ignored.contains(Self.generatedCode) || ignored.contains("*")
      ? [] : Self.messages(of: version.model, places, beside: problems)
    let output = StandardOutput()
    if options.json {
      try output.writeLine(Self.json(problems, messages, places, version.warnings).pretty)
    } else {
      for warning in version.warnings { try output.writeLine(ErrorText.oneLine(warning.description)) }
      for problem in problems {
        try output.writeLine(ErrorText.oneLine("\(places.prefix(of: problem)): \(problem)"))
      }
      for message in messages {
        try output.writeLine(ErrorText.oneLine("\(message) [\(Self.generatedCode)]"))
      }
      if problems.isEmpty && messages.isEmpty && version.warnings.isEmpty {
        try output.writeLine("No problems found.")
      }
    }
    try output.flush()
    try check(problems, messages, version.warnings)
  }

  /// What the build of the classes will say.
  static let generatedCode = "generated-code"

  /// The messages of the generator at lines of which the rules have said nothing.
  private static func messages(
    of model: NSManagedObjectModel, _ places: LintPlaces, beside problems: [ModelProblem]
  ) -> [CodeGenerationMessage] {
    let told: Set<Int?> = Set(problems.map { places.line(of: $0) })
    return ClassGenerator().classes(of: model, file: places.file, lines: places.lines).messages
      .filter { $0.line == nil || !told.contains($0.line) }
  }

  /// A model that can't be read, as a problem.
  private func report(_ error: ModelFileError) throws {
    let output = StandardOutput()
    if options.json {
      let problem = Self.json(
        "error", code: "unreadable", error.reason, file: error.file, line: error.line, column: nil,
        hasPage: false)
      try output.writeLine(
        JSONText.object([("problems", .array([problem])), ("unread", .array([]))]).pretty)
    } else {
      let place: String = error.line.map { "\(error.file):\($0)" } ?? error.file
      try output.writeLine(ErrorText.oneLine("\(place): error: \(error.reason) [unreadable]"))
    }
    try output.flush()
  }

  /// Throws if the exit status is to be 1.
  private func check(
    _ problems: [ModelProblem], _ messages: [CodeGenerationMessage], _ unread: [ModelWarning]
  ) throws {
    let errors: Int =
      problems.count { $0.severity == .error } + messages.count { $0.severity == .error }
    let warnings: Int =
      problems.count { $0.severity == .warning } + messages.count { $0.severity == .warning } + unread.count
    var counts: [String] = []
    if errors > 0 { counts.append(Counted.text(errors, "error", "errors")) }
    if strict, warnings > 0 { counts.append(Counted.text(warnings, "warning", "warnings")) }
    guard !counts.isEmpty else { return }
    throw CommandFailure("\(options.model): The model has \(counts.joined(separator: " and ")).")
  }

  private static func json(
    _ problems: [ModelProblem], _ messages: [CodeGenerationMessage], _ places: LintPlaces,
    _ warnings: [ModelWarning]
  ) -> JSONText {
    let generated: [JSONText] = messages.map { message in
      json(
        message.severity.rawValue, code: generatedCode, message.text, file: message.file, line: message.line,
        column: message.line.flatMap(places.column))
    }
    let problems: [JSONText] = problems.map { problem in
      let line: Int? = places.line(of: problem)
      return json(
        problem.severity.rawValue, code: problem.code, entity: problem.entity, part: problem.part,
        problem.message, file: places.file, line: line, column: line.flatMap(places.column))
    }
    let unread: [JSONText] = warnings.map {
      .object([
        ("file", .string($0.file)), ("line", .optional($0.line)), ("message", .string($0.message)),
      ])
    }
    return .object([("problems", .array(problems + generated)), ("unread", .array(unread))])
  }

  private static func json(
    _ severity: String, code: String, entity: String? = nil, part: String? = nil, _ message: String,
    file: String, line: Int?, column: Int?, hasPage: Bool = true
  ) -> JSONText {
    .object([
      ("severity", .string(severity)), ("code", .string(code)), ("entity", .optional(entity)),
      ("part", .optional(part)), ("message", .string(message)), ("file", .string(file)),
      ("line", .optional(line)), ("column", .optional(column)),
      ("page", hasPage ? .string("Documentation/lint.md#\(code)") : .null),
    ])
  }

}
