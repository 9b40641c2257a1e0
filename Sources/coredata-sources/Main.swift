import Foundation
import SwiftSources

/// The tool of CoreDataSourcesPlugin. It has two commands:
///
///     coredata-sources rewrite --output FOLDER [--import MODULE]… [--beside FILE]… [--model PATH]…
///                              [--options FILE] FILE…
///     coredata-sources accessors …, as ``AccessorsCommand`` describes it
///
/// Messages are written as compilers write them. The exit status is 1 after an error.
@main
enum Main {
  static func main() {
    do {
      var arguments = Array(CommandLine.arguments.dropFirst())
      guard !arguments.isEmpty else { throw CommandOptions.Failure("No command is given.") }
      let command: String = arguments.removeFirst()
      switch command {
      case "rewrite":
        try rewrite(
          CommandOptions(arguments, known: ["--output", "--import", "--beside", "--model", "--options"]))
      case "accessors":
        let options = try CommandOptions(arguments, known: AccessorsCommand.options)
        for remark in try AccessorsCommand(options).run() { report("\(remark)") }
      default: throw CommandOptions.Failure("There is no command '\(command)'.")
      }
    } catch let failure as CommandOptions.Failure {
      report("coredata-sources: error: \(failure)\n\n\(usage)")
      exit(1)
    } catch {
      report("\(error)")
      exit(1)
    }
  }

  private static let usage: String = """
    coredata-sources rewrite --output FOLDER [--import MODULE]… [--beside FILE]… [--model PATH]… [--options FILE] FILE…
    coredata-sources \(AccessorsCommand.usage)
    """

  private static func report(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
  }

  /// Writes each file into the folder, with its lines in the same places: `Item.swift` as `Built_Item.swift`.
  private static func rewrite(_ options: CommandOptions) throws {
    let folder = URL(fileURLWithPath: try options.required("--output"))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let sources: [SourceText] = try options.files.map { try SourceText(contentsOf: URL(fileURLWithPath: $0)) }
    let beside: [SourceText] = try options.all("--beside").map {
      try SourceText(contentsOf: URL(fileURLWithPath: $0))
    }
    let porter = try Porter(
      sources, beside: beside, modules: Set(options.all("--import")), style: .built)
    let results: [Porter.Result] = try porter.results()
    let models = StrayModels(models: options.all("--model"), options: options.all("--options").first)
    for warning in models.warnings { report(warning) }
    var errors: Int = 0
    for result in results {
      for finding in result.findings where finding.rule.outcome != .rewritten {
        if finding.rule.outcome == .left { errors += 1 }
        report("\(finding)")
      }
      let path: String = result.source.path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      // The file with the program's code has its name, and the compiler warns where two files have one.
      let isMain: Bool = result.source.fileName == "main.swift"
      let place: String = isMain ? "" : "#sourceLocation(file: \"\(path)\", line: 1)\n"
      let name: String = isMain ? "main.swift" : "Built_\(result.source.fileName)"
      try AccessorsCommand.write(
        place + result.text, to: folder.appendingPathComponent(name))
    }
    if errors > 0 { exit(1) }
  }
}
