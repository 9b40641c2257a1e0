import ArgumentParser
import CoreDataModel
import CoreDataModelEditing
import Foundation

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

  func validate() throws {
    if !["xcdatamodeld", "xcdatamodel"].contains(URL(fileURLWithPath: output).pathExtension) {
      throw ValidationError("\(output): Give the output the ending .xcdatamodeld or .xcdatamodel.")
    }
  }

  func run() throws {
    let isPackage: Bool = URL(fileURLWithPath: output).pathExtension == "xcdatamodeld"
    let current: ModelVersion = try ModelArgument.load(model, version: modelVersion)
    // A package's own name is not that of its current version.
    let all: [ModelVersion] =
      isPackage && modelVersion == nil ? try ModelArgument.versions(at: model) : [current]
    let name: String =
      all.first { $0.model.versionChecksum == current.model.versionChecksum }?.name ?? current.name
    let sources: [(name: String, data: Data)] = try all.map { version in
      do { return (version.name, try version.model.sourceData()) } catch let error as ModelFileError {
        throw CommandFailure("\(model), version \"\(version.name)\": \(error.reason)")
      }
    }
    try NewFile.folder(output) { url in
      let files = FileManager.default
      for source in sources {
        let folder: URL = isPackage ? url.appendingPathComponent("\(source.name).xcdatamodel") : url
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        try source.data.write(to: folder.appendingPathComponent("contents"))
      }
      guard isPackage else { return }
      try CurrentVersion(name: name).data.write(to: url.appendingPathComponent(".xccurrentversion"))
    }
    let standard = StandardOutput()
    try standard.writeLine(
      DisplayWidth.escaped("\(output): \(Counted.text(sources.count, "version", "versions"))"))
    try standard.flush()
  }
}
