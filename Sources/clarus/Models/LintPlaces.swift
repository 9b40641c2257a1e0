import CoreDataModel
import CoreDataModelChecking
import Foundation

/// Where the parts of a model stand in its source.
struct LintPlaces {
  /// The `contents` file of a source model, otherwise what the user named.
  let file: String
  let lines: ModelSourceLines?

  init(_ version: ModelVersion) throws {
    if let source = version.model.file, source.lastPathComponent == "contents" {
      file = source.relativePath
      lines = try ModelSourceLines(contentsOf: source)
    } else {
      file = version.path
      lines = nil
    }
  }

  /// The line of the part, of its entity where the part has none, or nil for a model without lines.
  func line(of problem: ModelProblem) -> Int? {
    guard let lines else { return nil }
    guard let entity = problem.entity else { return problem.part.flatMap(lines.template) ?? 1 }
    if let part = problem.part {
      let name: String = part.split(separator: ".").first.map(String.init) ?? part
      if let line = lines.property(name, of: entity) ?? lines.index(part, of: entity) { return line }
    }
    return lines.entity(entity) ?? 1
  }

  func column(_ line: Int) -> Int? { lines?.column(inLine: line) }

  /// `file:line:column`, as compilers begin messages.
  func prefix(of problem: ModelProblem) -> String {
    guard let line = line(of: problem) else { return file }
    return "\(file):\(line)" + (column(line).map { ":\($0)" } ?? "")
  }
}

/// The rules that a whole model ignores: a file `.clarus-lint` in its package.
enum LintIgnoring {
  static let fileName: String = ".clarus-lint"

  /// The codes of the rules, and that of the generator's messages.
  static let known: [String] = ModelProblem.codes + [ModelLintCommand.generatedCode]

  static var knownCodes: String { "The codes are \(known.joined(separator: ", "))." }

  /// The codes in the file of the outermost package, a line each; what follows `#` is a comment.
  static func codes(for model: NSManagedObjectModel) throws -> Set<String> {
    guard let source = model.file else { return [] }
    let packages: [URL] = [
      source.deletingLastPathComponent().deletingLastPathComponent(), source.deletingLastPathComponent(),
    ]
    guard let package = packages.first(where: { ["xcdatamodeld", "xcdatamodel"].contains($0.pathExtension) })
    else { return [] }
    let file: URL = package.appendingPathComponent(fileName)
    guard FileManager.default.fileExists(atPath: file.path) else { return [] }
    let text: String
    do {
      text = try String(contentsOf: file, encoding: .utf8)
    } catch {
      throw CommandFailure("\(file.relativePath): The file can't be read: \(error.localizedDescription)")
    }
    var codes: Set<String> = []
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let words: Substring = line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
      for code in words.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
        guard code == "*" || known.contains(String(code)) else {
          throw CommandFailure(
            "\(file.relativePath):\(number + 1): There is no rule '\(code)'. \(knownCodes)")
        }
        codes.insert(String(code))
      }
    }
    return codes
  }
}
