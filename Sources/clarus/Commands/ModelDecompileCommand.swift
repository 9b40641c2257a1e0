import ArgumentParser
import CoreDataModel

/// `clarus model decompile`: the source of a compiled model, or of a store's own.
struct ModelDecompileCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decompile",
    abstract: "Writes the source of a compiled model, or of the model that a store carries.",
    discussion: """
      The result reads to an equal model, with the same version hashes, and opens in Xcode's editor. The ending of the output says what \
      is written: .xcdatamodeld with every version and the current one marked, .xcdatamodel with one version. What a source can't say \
      is an error that names it. A compiled model does not tell which classes Xcode is to generate, nor the diagram.

      EXAMPLES
        clarus model decompile Shop.momd --output Shop.xcdatamodeld
        clarus model decompile Shop.momd --model-version 'Shop 2' --output Shop2.xcdatamodel
        clarus model decompile Shop.sqlite --output Shop.xcdatamodeld
      """)

  @Argument(
    help: "The model: .momd, .mom, a store that carries its model, or a source, which is written anew.",
    completion: .file())
  var model: String

  @Option(name: .long, help: ArgumentHelp("One version by name.", valueName: "name"))
  var modelVersion: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The new .xcdatamodeld or .xcdatamodel. There must be none yet.", valueName: "path"),
    completion: .file())
  var output: String

  func validate() throws { try SourceOutput.check(output) }

  func run() throws {
    let current: ModelVersion = try ModelArgument.load(model, version: modelVersion)
    let all: [ModelVersion] =
      SourceOutput.isPackage(output) && modelVersion == nil
      ? try ModelArgument.versions(at: model) : [current]
    try SourceOutput.write(all, current: current, of: model, to: output)
  }
}
