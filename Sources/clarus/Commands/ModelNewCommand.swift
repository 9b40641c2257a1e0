import ArgumentParser
import CoreDataModel
import CoreDataModelEditing
import Foundation

/// `clarus model new`: a model from nothing.
struct ModelNewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new",
    abstract: "Makes a new model, as Xcode's editor does.",
    discussion: """
      Shop.xcdatamodeld, with a version Shop that is marked as the current one. `clarus model add` fills it. There must be no such \
      model yet.

      EXAMPLES
        clarus model new Shop
        clarus model new Sources/App/Shop --entity Item --entity Category
      """)

  @Argument(help: "The name, or the path, with or without the ending .xcdatamodeld.")
  var name: String

  @Option(
    name: .long,
    help: ArgumentHelp("An entity that the model begins with; may be repeated.", valueName: "name"))
  var entity: [String] = []

  func run() throws {
    let ending: String = ".xcdatamodeld"
    // A single version can't get others, so that a package is made in any case.
    let bare: String = name.hasSuffix(".xcdatamodel") ? String(name.dropLast(".xcdatamodel".count)) : name
    let path: String = bare.hasSuffix(ending) ? bare : bare + ending
    let stem = String(URL(fileURLWithPath: path).lastPathComponent.dropLast(ending.count))
    try SourcePackage.checkName(stem, file: path)
    var edit = ModelEdit(try ModelEdit.emptyModel(file: path))
    for entity in entity { try edit.add(NewEntity(name: entity)) }
    try NewFile.folder(path) { url in
      let version: URL = url.appendingPathComponent("\(stem).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      try edit.document.data.write(to: version.appendingPathComponent("contents"))
      try CurrentVersion(name: stem).data.write(to: url.appendingPathComponent(".xccurrentversion"))
    }
    for warning in edit.warnings { writeToStandardError(ErrorText.oneLine(warning.description)) }
    let standard = StandardOutput()
    try standard.writeLine(
      DisplayWidth.escaped("\(path): \(Counted.text(entity.count, "entity", "entities"))"))
    try standard.flush()
  }
}
