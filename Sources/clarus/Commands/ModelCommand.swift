import ArgumentParser

/// `clarus model`: the contents of a model.
struct ModelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "model",
    abstract:
      "Shows, draws, hashes, checks, compares, maps, merges, compiles or squashes models, makes, extends, changes and prunes them, and writes "
      + "their classes and sources.",
    subcommands: [
      ModelShowCommand.self, ModelHashCommand.self, ModelLintCommand.self, ModelDiffCommand.self,
      ModelSquashCommand.self, ModelMergeCommand.self, ModelGenerateCommand.self, ModelCompileCommand.self,
      ModelDecompileCommand.self, ModelFromStoreCommand.self, ModelGraphCommand.self, ModelNewCommand.self,
      ModelAddCommand.self, ModelSetCommand.self, ModelRemoveCommand.self, ModelMappingCommand.self,
    ])
}

/// The options that the commands on models share.
struct ModelOptions: ParsableArguments {
  @Argument(
    help:
      "The model: .xcdatamodeld, .xcdatamodel, its contents file, .momd, .mom, or a store that carries its model.",
    completion: .file())
  var model: String

  @Option(
    name: .long, help: ArgumentHelp("A version by name, instead of the current one.", valueName: "name"))
  var modelVersion: String?

  @OptionGroup var formatting: FormatOptions<ReportFormat>

  var json: Bool { formatting.isJSON }

  /// The model. Parts of its file that could not be read are named on standard error.
  func load() throws -> ModelVersion {
    let version: ModelVersion = try ModelArgument.load(model, version: modelVersion)
    for warning in version.warnings { writeToStandardError(ErrorText.oneLine(warning.description)) }
    return version
  }
}
