import ArgumentParser
import CoreDataModel
import CoreDataModelChecking

/// `clarus model lint`
struct ModelLintCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lint",
    abstract: "Reports what is wrong with a model.",
    discussion: """
      Errors are what will fail when the model is used; warnings work but are probably not meant. The exit status is 1 if \
      there is an error.

      EXAMPLES
        clarus model lint Shop.xcdatamodeld

      JSON
        { "problems": [{"severity": "error" or "warning", "entity", "part", "message"}],
          "unread": [{"file", "line", "message"}] }
      """)

  @OptionGroup var options: ModelOptions

  func run() throws {
    let version: ModelVersion = try ModelArgument.load(options.model, version: options.modelVersion)
    let problems: [ModelProblem] = version.model.problems()
    let output = StandardOutput()
    if options.json {
      try output.writeLine(Self.json(problems, version.warnings).pretty)
    } else {
      for warning in version.warnings { try output.writeLine(ErrorText.oneLine(warning.description)) }
      for problem in problems { try output.writeLine(ErrorText.oneLine(problem.description)) }
      if problems.isEmpty && version.warnings.isEmpty { try output.writeLine("No problems found.") }
    }
    try output.flush()
    let errors: Int = problems.count { $0.severity == .error }
    if errors > 0 {
      throw CommandFailure(
        "\(options.model): The model has \(Counted.text(errors, "error", "errors")).")
    }
  }

  private static func json(_ problems: [ModelProblem], _ warnings: [ModelWarning]) -> JSONText {
    let problems: [JSONText] = problems.map {
      .object([
        ("severity", .string($0.severity.rawValue)), ("entity", .optional($0.entity)),
        ("part", .optional($0.part)), ("message", .string($0.message)),
      ])
    }
    let unread: [JSONText] = warnings.map {
      .object([
        ("file", .string($0.file)), ("line", $0.line.map { .integer(Int64($0)) } ?? .null),
        ("message", .string($0.message)),
      ])
    }
    return .object([("problems", .array(problems)), ("unread", .array(unread))])
  }
}
