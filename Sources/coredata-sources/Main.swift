import Foundation
import SwiftSources

/// The tool of CoreDataSourcesPlugin. It has two commands:
///
///     coredata-sources rewrite --output FOLDER [--import MODULE]… FILE…
///     coredata-sources accessors --module MODULE --work FOLDER --output FILE [--compiler SWIFTC]
///       [--source MODULE=FILE]… [--beside FILE]… FILE…
///
/// Messages are written as compilers write them. The exit status is 1 after an error.
@main
enum Main {
  static func main() {
    do {
      var arguments = Array(CommandLine.arguments.dropFirst())
      guard !arguments.isEmpty else { throw Failure(usage) }
      let command: String = arguments.removeFirst()
      let options = try Options(arguments)
      switch command {
      case "rewrite": try rewrite(options)
      case "accessors": try writeAccessors(options)
      default: throw Failure(usage)
      }
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  private static let usage: String = """
    error: usage: coredata-sources rewrite --output FOLDER [--import MODULE]… FILE…
           coredata-sources accessors --module MODULE --work FOLDER --output FILE [--compiler SWIFTC]
             [--source MODULE=FILE]… [--beside FILE]… FILE…
    """

  struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  struct Options {
    private var values: [String: [String]] = [:]
    private(set) var files: [String] = []

    init(_ arguments: [String]) throws {
      var index: Int = 0
      while index < arguments.count {
        let argument: String = arguments[index]
        guard argument.hasPrefix("--") else {
          files.append(argument)
          index += 1
          continue
        }
        guard
          ["--output", "--import", "--module", "--work", "--compiler", "--source", "--beside"].contains(
            argument),
          index + 1 < arguments.count
        else {
          throw Failure("error: \(argument): there is no such option, or its value is missing.\n\(usage)")
        }
        values[argument, default: []].append(arguments[index + 1])
        index += 2
      }
    }

    func all(_ name: String) -> [String] { values[name] ?? [] }

    func required(_ name: String) throws -> String {
      guard let value = values[name]?.last else { throw Failure("error: \(name) is missing.\n\(usage)") }
      return value
    }
  }

  /// Writes each file into the folder, with its lines in the same places: `Item.swift` as `Built_Item.swift`.
  private static func rewrite(_ options: Options) throws {
    let folder = URL(fileURLWithPath: try options.required("--output"))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let sources: [SourceText] = try options.files.map { try SourceText(contentsOf: URL(fileURLWithPath: $0)) }
    let porter = try Porter(sources, modules: Set(options.all("--import")), style: .built)
    let results: [Porter.Result] = try porter.results()
    var errors: Int = 0
    for result in results {
      for finding in result.findings where finding.rule.outcome == .left {
        errors += 1
        FileHandle.standardError.write(Data("\(finding)\n".utf8))
      }
      let path: String = result.source.path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      // The file with the program's code has its name, and the compiler warns where two files have one.
      let isMain: Bool = result.source.fileName == "main.swift"
      let place: String = isMain ? "" : "#sourceLocation(file: \"\(path)\", line: 1)\n"
      let name: String = isMain ? "main.swift" : "Built_\(result.source.fileName)"
      try write(place + result.text, to: folder.appendingPathComponent(name))
    }
    if errors > 0 { exit(1) }
  }

  private static func writeAccessors(_ options: Options) throws {
    let compiler: SwiftCompiler? =
      options.all("--compiler").last.map { SwiftCompiler(executable: URL(fileURLWithPath: $0)) }
      ?? SwiftCompiler.found(inPath: ProcessInfo.processInfo.environment["PATH"] ?? "")
    guard let compiler else {
      throw Failure("error: swiftc is in no folder of PATH. Give its path with --compiler.")
    }
    let accessors = try ManagedAccessors(
      module: options.required("--module"),
      sources: try options.files.map { try SourceText(contentsOf: URL(fileURLWithPath: $0)) },
      beside: try options.all("--beside").map { try SourceText(contentsOf: URL(fileURLWithPath: $0)) },
      dependencies: try dependencies(options.all("--source")), compiler: compiler,
      folder: URL(fileURLWithPath: try options.required("--work")))
    for remark in accessors.remarks { FileHandle.standardError.write(Data("\(remark)\n".utf8)) }
    try write(accessors.text, to: URL(fileURLWithPath: try options.required("--output")))
  }

  /// `MODULE=FILE`, once for each file.
  private static func dependencies(_ values: [String]) throws -> [ManagedAccessors.Dependency] {
    var sources: [String: [SourceText]] = [:]
    var order: [String] = []
    for value in values {
      guard let sign = value.firstIndex(of: "=") else {
        throw Failure("error: --source \(value): MODULE=FILE is meant.")
      }
      let module = String(value[..<sign])
      if sources[module] == nil { order.append(module) }
      let file = URL(fileURLWithPath: String(value[value.index(after: sign)...]))
      // A file that can't be read has no types for this module.
      if let source = try? SourceText(contentsOf: file) { sources[module, default: []].append(source) }
    }
    return order.map { ManagedAccessors.Dependency(name: $0, sources: sources[$0] ?? []) }
  }

  /// A file that stays the same keeps its date, so that nothing is compiled again.
  private static func write(_ text: String, to file: URL) throws {
    if let old = try? Data(contentsOf: file), old == Data(text.utf8) { return }
    try Data(text.utf8).write(to: file, options: .atomic)
  }
}
