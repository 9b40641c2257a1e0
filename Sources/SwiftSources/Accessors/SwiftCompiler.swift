import Foundation

/// The compiler, as far as it is asked for the names of declarations.
package struct SwiftCompiler: Sendable {
  package let executable: URL

  package init(executable: URL) { self.executable = executable }

  /// The first `swiftc` in the folders of `PATH`.
  package static func found(inPath path: String) -> SwiftCompiler? {
    #if os(Windows)
      let (separator, name): (Character, String) = (";", "swiftc.exe")
    #else
      let (separator, name): (Character, String) = (":", "swiftc")
    #endif
    for folder in path.split(separator: separator) {
      let url = URL(fileURLWithPath: String(folder)).appendingPathComponent(name)
      if FileManager.default.isExecutableFile(atPath: url.path) { return SwiftCompiler(executable: url) }
    }
    return nil
  }

  /// What changes when another compiler is installed at the same place.
  var fingerprint: String {
    let file: URL = executable.resolvingSymlinksInPath()
    let attributes: [FileAttributeKey: Any]? = try? FileManager.default.attributesOfItem(atPath: file.path)
    let date: Double = (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
    return "\(file.path) \(date) \(attributes?[.size] as? Int ?? 0)"
  }

  struct Complaint {
    let file: String
    let line: Int
    let message: String
  }

  /// Compiles a module's interface and writes its symbol graphs.
  ///
  /// - Returns: The errors, none if it was compiled.
  func emitModule(
    _ module: String, _ files: [URL], in folder: URL, symbols: URL?
  ) throws -> [Complaint] {
    var arguments: [String] = [
      "-emit-module", "-module-name", module, "-parse-as-library", "-swift-version", "5",
      "-suppress-warnings", "-diagnostic-style", "llvm", "-package-name", "clarus", "-I", folder.path,
      "-emit-module-path", folder.appendingPathComponent("\(module).swiftmodule").path,
    ]
    if let symbols {
      arguments += [
        "-emit-symbol-graph", "-emit-symbol-graph-dir", symbols.path,
        "-symbol-graph-minimum-access-level", "private", "-symbol-graph-skip-synthesized-members",
      ]
    }
    let output: URL = folder.appendingPathComponent("\(module).log")
    try Data().write(to: output)
    let handle: FileHandle = try FileHandle(forWritingTo: output)
    defer { try? handle.close() }
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments + files.map(\.path)
    process.currentDirectoryURL = folder
    process.standardOutput = handle
    process.standardError = handle
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    let text: String = String(decoding: (try? Data(contentsOf: output)) ?? Data(), as: UTF8.self)
    if process.terminationStatus == 0 { return [] }
    let complaints: [Complaint] = text.split(separator: "\n").compactMap(Self.complaint)
    if !complaints.isEmpty { return complaints }
    let start: Substring = text.prefix(400)
    return [
      Complaint(
        file: "", line: 0,
        message: "\(executable.path) ended with status \(process.terminationStatus). \(start)")
    ]
  }

  /// `/folder/Item.swift:3:7: error: cannot find type …`
  private static func complaint(_ line: Substring) -> Complaint? {
    guard let marker = line.range(of: ": error: ") else { return nil }
    let message = String(line[marker.upperBound...])
    let place: [Substring] = line[..<marker.lowerBound].split(
      separator: ":", omittingEmptySubsequences: false)
    guard place.count >= 3, let number = Int(place[place.count - 2]) else {
      return Complaint(file: "", line: 0, message: message)
    }
    let path: String = place.dropLast(2).joined(separator: ":")
    return Complaint(
      file: String(path.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? ""), line: number,
      message: message)
  }
}
