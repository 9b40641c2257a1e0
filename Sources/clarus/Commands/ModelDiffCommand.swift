import ArgumentParser
import CoreDataModel

/// `clarus model diff`: what two versions of a model disagree in, and what of it a migration infers.
struct ModelDiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compares two versions of a model and says what a migration infers.",
    discussion: """
      Entities and properties correspond by their renaming identifiers, then by their names. What an entity inherits is told of \
      the entity that declares it. Changes that make older stores unfit are marked with an asterisk: their stores need a migration. \
      With one package name two of its versions.

      EXAMPLES
        clarus model diff Old.momd Shop.xcdatamodeld
        clarus model diff Shop.sqlite Shop.xcdatamodeld            the model that a store carries
        clarus model diff Shop.xcdatamodeld --from 'Shop 2' --to 'Shop 3' --json

      EXIT STATUS
        0 the models are equal, 1 they differ, 2 trouble: a model can't be read, or wrong usage

      JSON
        { "entities": [{"entity", "source", "needsMigration",
                        "changes": [{"subject", "change", "sentence", "needsMigration",
                                     "inferred": true, false, or null where nothing needs to be done}]}],
          "inferable", "refusals": [{"entity", "property", "reason", "advice"}],
          "conditions": [{"entity", "condition"}], "omissions": [sentence],
          "exchanges": [sentence] }
      """)

  @Argument(
    help: "The older model: .xcdatamodeld, .xcdatamodel, its contents file, .momd, .mom, or a store.",
    completion: .file())
  var source: String

  @Argument(help: "The newer model; the same package unless given.", completion: .file())
  var destination: String?

  @Option(
    name: .long, help: ArgumentHelp("A version of the older model, by name.", valueName: "name"))
  var from: String?

  @Option(
    name: .long, help: ArgumentHelp("A version of the newer model, by name.", valueName: "name"))
  var to: String?

  @OptionGroup var formatting: FormatOptions<ReportFormat>

  func validate() throws {
    if destination == nil && from == nil && to == nil {
      throw ValidationError("Name a second model, or two versions of the one with --from and --to.")
    }
  }

  func run() throws {
    let isEqual: Bool
    do {
      isEqual = try compare()
    } catch let error as OutputClosed {
      throw error
    } catch {
      // As of diff(1): 1 means that there are differences.
      throw CommandFailure(ErrorText.line(for: error), status: 2)
    }
    if !isEqual { throw ExitCode(1) }
  }

  private func compare() throws -> Bool {
    let old: ModelVersion = try ModelArgument.load(source, version: from, option: "--from")
    let new: ModelVersion = try ModelArgument.load(destination ?? source, version: to, option: "--to")
    for warning in old.warnings + new.warnings {
      writeToStandardError(ErrorText.oneLine(warning.description))
    }
    let report = ModelDifferenceReport(ModelDifference(from: old.model, to: new.model))
    let output = StandardOutput()
    if formatting.isJSON {
      try output.writeLine(report.json.pretty)
    } else {
      for line in report.lines { try output.writeLine(line) }
    }
    try output.flush()
    return report.isEmpty
  }
}
