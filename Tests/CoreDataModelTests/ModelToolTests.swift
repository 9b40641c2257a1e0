import Foundation
import TestSupport
import Testing

/// A program that depends on the model alone, linked without evaluator, SQL and stores (`Tests/ModelTool`).
struct ModelToolTests {
  @Test func `a program without the evaluator reads models and their predicates`() throws {
    let lines: [String] = try run([OwnFixtures.file("Shop.xcdatamodeld").path])
    #expect(lines.contains { $0.hasPrefix("entity ") }, "\(lines)")
    #expect(!lines.contains { $0.hasPrefix("error") }, "\(lines)")
  }

  @Test func `a program without the evaluator says which module evaluates`() throws {
    let lines: [String] = try run([])
    #expect(lines.count == 3)
    for line in lines {
      #expect(line.hasPrefix("error ") && line.contains("add CoreDataEvaluation to the target"), "\(line)")
    }
  }

  private func run(_ arguments: [String]) throws -> [String] {
    let folder = try TemporaryFolder()
    // A file, not a pipe: nothing has to be drained while the process runs.
    let output: URL = folder.url.appendingPathComponent("out")
    try Data().write(to: output)
    let process = Process()
    process.executableURL = Self.executable
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: try Data(contentsOf: output), as: UTF8.self)
      .split(separator: "\n").map(String.init)
  }

  /// The executable lies where the test bundle lies.
  private static let executable: URL = {
    let folders: [URL] = [
      URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
      Bundle.main.bundleURL.deletingLastPathComponent(),
    ]
    let candidates: [URL] = folders.map { $0.appendingPathComponent("ModelTool") }
    return candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) } ?? candidates[0]
  }()
}
