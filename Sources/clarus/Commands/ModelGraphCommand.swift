import ArgumentParser
import CoreDataModel
import CoreDataModelDrawing
import CoreDataModelEditing
import CoreDataPredicates
import Foundation

/// `clarus model graph`: a picture of a model.
struct ModelGraphCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "graph",
    abstract: "Draws a model: entities as boxes, relationships and inheritance as lines.",
    discussion: """
      An SVG image, or a graph in the language of Graphviz (DOT). A relationship and its inverse are one line, which ends at their \
      rows: an arrowhead leads to one object, two lead to many. An open triangle points to the parent entity. Attributes of \
      uniqueness constraints are underlined. Equal models have equal pictures, byte for byte. An image that was drawn before is \
      replaced, another file never.

      EXAMPLES
        clarus model graph Shop.xcdatamodeld --output Documentation/Shop.svg
        clarus model graph Shop.sqlite --entities Item,Category > Shop.svg
        clarus model graph Shop.momd --format dot | dot -Tpdf > Shop.pdf
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable { case svg, dot }

  @Argument(
    help: "The model: .xcdatamodeld, .xcdatamodel, .momd, .mom, or a store that carries its model.",
    completion: .file())
  var model: String

  @Option(
    name: .long, help: ArgumentHelp("A version by name, instead of the current one.", valueName: "name"))
  var modelVersion: String?

  @Option(
    name: .long,
    help: ArgumentHelp("The file, .svg, .dot or .gv; standard output unless given.", valueName: "path"),
    completion: .file())
  var output: String?

  @Option(name: .long, help: "The format where no output's ending tells it.")
  var format: Format?

  @Option(
    name: .long,
    help: ArgumentHelp("Only these entities, between commas; may be repeated.", valueName: "names"))
  var entities: [String] = []

  @Flag(name: .long, help: "Leaves out attributes and fetched properties.")
  var noAttributes: Bool = false

  private static let boxLimit: Int = 500
  private static let lineLimit: Int = 1000

  private var chosen: Format? {
    guard let output else { return format ?? .svg }
    switch URL(fileURLWithPath: output).pathExtension.lowercased() {
    case "svg": return .svg
    case "dot", "gv": return .dot
    default: return nil
    }
  }

  func validate() throws {
    guard let output else { return }
    guard let chosen else {
      throw ValidationError("\(output): Give the output the ending .svg, .dot or .gv.")
    }
    if let format, format != chosen {
      throw ValidationError("--format \(format) and the ending of \(output) contradict each other.")
    }
  }

  func run() throws {
    let version: ModelVersion = try ModelArgument.load(model, version: modelVersion)
    for warning in version.warnings { writeToStandardError(ErrorText.oneLine(warning.description)) }
    let diagram = Diagram(
      version.model, entities: try names(in: version.model), showsAttributes: !noAttributes)
    guard diagram.boxes.count <= Self.boxLimit, diagram.lines.count <= Self.lineLimit else {
      throw CommandFailure(
        "\(model): The model has \(diagram.boxes.count) entities and \(diagram.lines.count) lines between them. Nobody "
          + "could read a picture of more than \(Self.boxLimit) and \(Self.lineLimit); choose some with --entities."
      )
    }
    let drawing = ModelDrawing(diagram, title: version.name)
    let text: String = chosen == .dot ? drawing.dot : drawing.svg
    let standard = StandardOutput()
    if let output {
      let isWritten: Bool = try write(text, to: output)
      try standard.writeLine(DisplayWidth.escaped("\(isWritten ? "written   " : "unchanged ") \(output)"))
    } else {
      try standard.write(text)
    }
    try standard.flush()
  }

  private func names(in model: NSManagedObjectModel) throws -> Set<String>? {
    if entities.isEmpty { return nil }
    let known: [String] = model.entities.compactMap(\.name)
    let wanted: [String] = entities.flatMap { $0.split(separator: ",").map(String.init) }
      .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    if wanted.isEmpty {
      throw CommandFailure(
        "--entities names no entity: write names of entities with commas between them, or leave the option out.",
        status: 2)
    }
    for name in wanted where !known.contains(name) {
      throw CommandFailure(
        "--entities: The model has no entity '\(name)'. \(NearestNames.advice(for: name, among: known))")
    }
    return Set(wanted)
  }

  /// Whether the file was not the same already.
  private func write(_ text: String, to path: String) throws -> Bool {
    let url = URL(fileURLWithPath: path)
    let data = Data(text.utf8)
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
      let present: Data? = isFolder.boolValue ? nil : try? Data(contentsOf: url)
      if present == data { return false }
      guard let present, String(decoding: present.prefix(1000), as: UTF8.self).contains(ModelDrawing.mark)
      else {
        throw CommandFailure(
          "\(path): What is there was not drawn by this command, so it is not replaced. Give another name, or remove it "
            + "first.")
      }
    }
    try FileReplacement.write(data, to: url)
    return true
  }
}
