import Foundation

/// The command that writes the accessors of a module, in the tools of both plugins:
///
///     accessors --module MODULE --work FOLDER --output FILE [--compiler SWIFTC]
///       [--source MODULE=FILE]… [--beside FILE]… FILE…
///
/// The accessors of members with `@NSManaged` in the files are written to `--output`. The files of `--beside`
/// belong to the module too, but their members have accessors of another origin; those of `--source` are the
/// files of modules that it depends on.
package struct AccessorsCommand {
  package static let usage: String = """
    accessors --module MODULE --work FOLDER --output FILE [--compiler SWIFTC]
      [--source MODULE=FILE]… [--beside FILE]… FILE…
    """

  package static let options: Set<String> = [
    "--module", "--work", "--output", "--compiler", "--source", "--beside",
  ]

  private let module: String
  private let sources: [SourceText]
  private let beside: [SourceText]
  private let dependencies: [ManagedAccessors.Dependency]
  private let compiler: SwiftCompiler
  private let folder: URL
  private let output: URL

  /// - Throws: ``CommandOptions/Failure`` where an option is missing or wrong, or there is no compiler;
  ///   Foundation's errors where a file can't be read.
  package init(_ options: CommandOptions) throws {
    module = try options.required("--module")
    folder = URL(fileURLWithPath: try options.required("--work"))
    output = URL(fileURLWithPath: try options.required("--output"))
    sources = try options.files.map { try SourceText(contentsOf: URL(fileURLWithPath: $0)) }
    beside = try options.all("--beside").map { try SourceText(contentsOf: URL(fileURLWithPath: $0)) }
    dependencies = try Self.dependencies(options.all("--source"))
    let compiler: SwiftCompiler? =
      options.all("--compiler").last.map { SwiftCompiler(executable: URL(fileURLWithPath: $0)) }
      ?? SwiftCompiler.found(inPath: ProcessInfo.processInfo.environment["PATH"] ?? "")
    guard let compiler else {
      throw CommandOptions.Failure("swiftc is in no folder of PATH. Give its path with --compiler.")
    }
    self.compiler = compiler
  }

  /// Writes the file. A file that stays the same keeps its date, so that nothing is compiled again.
  ///
  /// - Returns: The members that have no accessors.
  /// - Throws: ``SourceFailure``; Foundation's errors where a file can't be written.
  package func run() throws -> [SourceRemark] {
    let accessors = try ManagedAccessors(
      module: module, sources: sources, beside: beside, dependencies: dependencies, compiler: compiler,
      folder: folder)
    try Self.write(accessors.text, to: output)
    return accessors.remarks
  }

  /// Writes a text if the file has another one.
  package static func write(_ text: String, to file: URL) throws {
    if let old = try? Data(contentsOf: file), old == Data(text.utf8) { return }
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file, options: .atomic)
  }

  /// `MODULE=FILE`, once for each file.
  private static func dependencies(_ values: [String]) throws -> [ManagedAccessors.Dependency] {
    var sources: [String: [SourceText]] = [:]
    var order: [String] = []
    for value in values {
      guard let sign = value.firstIndex(of: "=") else {
        throw CommandOptions.Failure("--source \(value): MODULE=FILE is meant.")
      }
      let module = String(value[..<sign])
      if sources[module] == nil { order.append(module) }
      let file = URL(fileURLWithPath: String(value[value.index(after: sign)...]))
      // A file that can't be read has no types for this module.
      if let source = try? SourceText(contentsOf: file) { sources[module, default: []].append(source) }
    }
    return order.map { ManagedAccessors.Dependency(name: $0, sources: sources[$0] ?? []) }
  }
}
