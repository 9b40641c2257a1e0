import Foundation
import TestSupport

/// One run of the built `clarus`, as a process.
struct CommandLineRun {
  let output: String
  let errors: String
  let status: Int32

  /// The executable lies where the test bundle lies.
  static let executable: URL = {
    let name: String = "clarus"
    let candidates: [URL] = [
      URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
      Bundle.main.bundleURL.deletingLastPathComponent(),
      packageRoot.appendingPathComponent(".build/debug"),
    ].map { $0.appendingPathComponent(name) }
    return candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) } ?? candidates[0]
  }()

  static let packageRoot = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  init(_ arguments: [String]) throws {
    try self.init(executable: Self.executable.path, arguments)
  }

  /// Runs a line of the shell in which `$CLARUS` is the executable.
  init(shell line: String) throws {
    try self.init(executable: "/bin/bash", ["-c", line], environment: ["CLARUS": Self.executable.path])
  }

  private init(executable: String, _ arguments: [String], environment: [String: String] = [:]) throws {
    // Files, not pipes: nothing has to be drained while the process runs.
    let folder: URL = try TemporaryFolder().url
    defer { try? FileManager.default.removeItem(at: folder) }
    let files: [URL] = ["out", "err"].map { folder.appendingPathComponent($0) }
    for file in files { try Data().write(to: file) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: files[0])
    process.standardError = try FileHandle(forWritingTo: files[1])
    try process.run()
    process.waitUntilExit()
    output = String(decoding: try Data(contentsOf: files[0]), as: UTF8.self)
    errors = String(decoding: try Data(contentsOf: files[1]), as: UTF8.self)
    status = process.terminationReason == .exit ? process.terminationStatus : 1000 + process.terminationStatus
  }

  /// The output as JSON.
  func json() throws -> Any {
    try JSONSerialization.jsonObject(with: Data(output.utf8), options: [.fragmentsAllowed])
  }
}

/// What a folder holds, to the byte.
struct FolderState: Equatable {
  private(set) var contents: [String: Data] = [:]
  private var modified: [String: Date] = [:]

  init(_ folder: URL) throws {
    let files: FileManager.DirectoryEnumerator? = FileManager.default.enumerator(atPath: folder.path)
    while let name = files?.nextObject() as? String {
      let path: String = folder.appendingPathComponent(name).path
      let attributes: [FileAttributeKey: Any] = try FileManager.default.attributesOfItem(atPath: path)
      contents[name] =
        attributes[.type] as? FileAttributeType == .typeDirectory
        ? Data()
        : try Data(
          contentsOf: URL(fileURLWithPath: path))
      modified[name] = attributes[.modificationDate] as? Date
    }
  }
}
