import CoreDataCodeGeneration
import CoreDataModel
import Foundation

/// Writes the classes of a model.
struct Generation {
  let options: ToolOptions

  private static let noClasses = "// No classes are wanted of this model.\n"
  /// How files begin that this has written.
  private static let heads: [String] = [GeneratedFile.firstLine, noClasses]

  init(_ options: ToolOptions) { self.options = options }

  /// - Parameters:
  ///   - path: a model of any kind; of several versions the current one.
  ///   - output: a folder, or a file if it ends in `.swift`.
  ///   - showsWarnings: whether those of reading the model are written.
  func run(_ path: String, into output: String, showsWarnings: Bool = true) throws {
    let loaded: LoadedModel = try NSManagedObjectModel.load(contentsOf: URL(fileURLWithPath: path))
    if showsWarnings {
      for warning in loaded.warnings { ModelCompiler.report(Message.warning(warning)) }
    }
    let file: URL = loaded.model.file ?? URL(fileURLWithPath: path)
    let lines: ModelSourceLines? =
      file.lastPathComponent == "contents" ? try ModelSourceLines(contentsOf: file) : nil
    let generator = ClassGenerator(options: options.generation)
    if output.hasSuffix(".swift") {
      if options.isWithoutClasses {
        try OutputFile.write(Data(Self.noClasses.utf8), to: output, replacing: Self.heads)
        return
      }
      let (contents, messages) = generator.source(of: loaded.model, file: file.path, lines: lines)
      try report(messages)
      try OutputFile.write(Data(contents.utf8), to: output, replacing: Self.heads)
    } else if !options.isWithoutClasses {
      let classes: GeneratedClasses = generator.classes(of: loaded.model, file: file.path, lines: lines)
      try report(classes.messages)
      for file in classes.files {
        try OutputFile.write(
          Data(file.contents.utf8), to: URL(fileURLWithPath: output).appendingPathComponent(file.name).path,
          replacing: Self.heads)
      }
    }
  }

  private func report(_ messages: [CodeGenerationMessage]) throws {
    for message in messages { ModelCompiler.report("\(message)") }
    if messages.contains(where: { $0.severity == .error }) { throw ReportedFailure() }
  }
}
