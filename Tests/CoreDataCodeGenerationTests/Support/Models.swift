import CoreDataCodeGeneration
import CoreDataModel
import Foundation
import TestSupport

/// A model from the text of the elements within `<model>`, with the lines of its parts.
struct TextModel {
  let model: NSManagedObjectModel
  let lines: ModelSourceLines
  let file: String

  init(_ elements: String) throws {
    let folder = try TemporaryFolder()
    let url: URL = try Self.write(elements, to: folder.url.appendingPathComponent("Model.xcdatamodel"))
    model = try NSManagedObjectModel.load(contentsOf: url).model
    file = url.appendingPathComponent("contents").path
    lines = try ModelSourceLines(contentsOf: url.appendingPathComponent("contents"))
  }

  /// Writes a model; the elements begin in line 2.
  @discardableResult
  static func write(_ elements: String, to url: URL) throws -> URL {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let text =
      "<model type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\">\n\(elements)\n</model>\n"
    try Data(text.utf8).write(to: url.appendingPathComponent("contents"))
    return url
  }

  func source(_ options: CodeGenerationOptions = CodeGenerationOptions()) -> String {
    ClassGenerator(options: options).source(of: model, file: file, lines: lines).contents
  }

  /// The messages without the path of the file.
  func messages(_ options: CodeGenerationOptions = CodeGenerationOptions()) -> [String] {
    ClassGenerator(options: options).source(of: model, file: file, lines: lines).messages
      .map { $0.description.replacing(file, with: "contents") }
  }
}

enum OwnFixtures {
  /// A model with every kind of property; the tests of the plugin run what is generated from it.
  static let kitchen: URL = SharedFiles.package.appendingPathComponent(
    "Tests/CoreDataModelPluginTests/Kitchen.xcdatamodeld")

  static func url(_ name: String) -> URL {
    SharedFiles.package.appendingPathComponent("Tests/CoreDataCodeGenerationTests/Fixtures/\(name)")
  }
}
