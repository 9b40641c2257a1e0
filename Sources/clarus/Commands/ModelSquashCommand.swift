import ArgumentParser
import CoreDataModel
import Foundation

/// `clarus model squash`: one mapping model over several versions.
struct ModelSquashCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "squash",
    abstract: "Makes one mapping model over several versions, so that those between can be removed.",
    discussion: """
      Entities and properties are matched from version to version: what was renamed twice is still the same, what was removed and \
      added again under its former name is not. The result is a compiled mapping model (.cdm) from the first version to the last \
      one. Beside the model, or among a program's resources, it is found when a store of the first version is added. Then the \
      versions between are needed for no such store.

      EXAMPLES
        clarus model squash Shop.xcdatamodeld --output Shop1to3.cdm                all versions, by number
        clarus model squash Shop.xcdatamodeld --through Shop --through 'Shop 2' --through 'Shop 4' --output Shop1to4.cdm
      """)

  @Argument(help: "The model: .xcdatamodeld or .momd.", completion: .file())
  var model: String

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A version; give all that a store goes through, the oldest first.", valueName: "name"))
  var through: [String] = []

  @Option(
    name: .long, help: ArgumentHelp("The new mapping model. There must be no such file.", valueName: "path"),
    completion: .file())
  var output: String

  func validate() throws {
    if through.count == 1 { throw ValidationError("Name a second version with --through.") }
  }

  func run() throws {
    let versions: [ModelVersion] =
      through.isEmpty
      ? try ModelArgument.versions(at: model).sorted {
        VersionNames.areInOrder($0.name, $1.name)
      }
      : try through.map { try ModelArgument.load(model, version: $0, option: "--through") }
    guard versions.count > 1, let first = versions.first, let last = versions.last else {
      throw CommandFailure("\(model): There is one version, so there is nothing to squash.")
    }
    let inference = MappingInference(ModelDifference(through: versions.map(\.model)))
    let mapping: NSMappingModel = try inference.mappingModel()
    let data: Data = try mapping.archivedData()
    try NewFile.folder(output) { url in try data.write(to: url) }
    let standard = StandardOutput()
    try standard.writeLine(
      DisplayWidth.escaped(
        "\(output): \(first.name) → \(last.name), over \(Counted.text(versions.count - 2, "version", "versions"))"
      ))
    for condition in inference.conditions {
      try standard.writeLine(DisplayWidth.escaped("needed: \(condition)"))
    }
    for omission in inference.omissions { try standard.writeLine(DisplayWidth.escaped("lost: \(omission)")) }
    try standard.flush()
  }
}
