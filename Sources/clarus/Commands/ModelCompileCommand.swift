import ArgumentParser
import CoreDataModel
import Foundation

/// `clarus model compile`: the compiled form of a source.
struct ModelCompileCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compile",
    abstract: "Compiles the source of a model or of a mapping model.",
    discussion: """
      Shop.xcdatamodeld becomes Shop.momd with every version, Shop.xcdatamodel becomes Shop.mom, Shop1to2.xcmappingmodel becomes \
      Shop1to2.cdm: what Xcode's compilers make, without the .omo, which frameworks do without. What is at the output already is \
      replaced if it is a compiled model, and left alone if it would not change; anything else there is an error. Packages need not run \
      this: CoreDataModelPlugin does it in their build.

      EXAMPLES
        clarus model compile Shop.xcdatamodeld
        clarus model compile Shop.xcdatamodeld Resources/Shop.momd
        clarus model compile Shop1to2.xcmappingmodel Resources
        clarus model compile Shop.xcdatamodeld --module Shop
      """)

  @Argument(help: "The source: .xcdatamodeld, .xcdatamodel or .xcmappingmodel.", completion: .file())
  var source: String

  @Argument(
    help:
      "The compiled .momd, .mom or .cdm, or the folder to put it in. By default the folder you are in.",
    completion: .file())
  var output: String?

  @Option(
    help: ArgumentHelp(
      "The module that a class of the \"Current Product Module\" is in; without it the class is found by its name alone.",
      valueName: "name"))
  var module: String?

  func run() throws {
    let compilation = try ModelCompilation(of: URL(fileURLWithPath: source), module: module)
    for warning in compilation.warnings { writeToStandardError(ErrorText.oneLine(warning.description)) }
    let place: String = try place(of: compilation)
    let isWritten: Bool = try compilation.write(to: URL(fileURLWithPath: place))
    let standard = StandardOutput()
    try standard.writeLine(DisplayWidth.escaped("\(isWritten ? "written   " : "unchanged ") \(place)"))
    try standard.flush()
  }

  private func place(of compilation: ModelCompilation) throws -> String {
    guard let output else { return compilation.fileName }
    let wanted: String = URL(fileURLWithPath: compilation.fileName).pathExtension
    if URL(fileURLWithPath: output).pathExtension == wanted { return output }
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: output, isDirectory: &isFolder), isFolder.boolValue else {
      throw ValidationError("\(output): Give the output the ending .\(wanted), or name a folder.")
    }
    return URL(fileURLWithPath: output).appendingPathComponent(compilation.fileName).relativePath
  }
}
