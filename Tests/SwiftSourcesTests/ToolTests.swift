import Foundation
import TestSupport
import Testing

@testable import SwiftSources

/// `coredata-sources`, which CoreDataSourcesPlugin runs.
struct ToolTests {
  private func rewrite(_ arguments: [String], in folder: TemporaryFolder) throws
    -> ManagedAccessorTests.Output
  {
    let tool: String = ManagedAccessorTests.build.appendingPathComponent("coredata-sources").path
    return try ManagedAccessorTests.run(
      [tool, "rewrite", "--output", folder.file("Built").path] + arguments, in: folder.url)
  }

  // Finding: what compiles and does something else here was told by `clarus port` alone.
  @Test func `what has to be looked at is a warning at its place, and the file is built`() throws {
    let folder = try TemporaryFolder()
    let file: URL = folder.file("A.swift")
    try "let a = 1\nlet b = Bundle(identifier: \"a\")\n".write(to: file, atomically: true, encoding: .utf8)
    let run = try rewrite([file.path], in: folder)
    #expect(run.status == 0, "\(run.text)")
    #expect(
      run.text.hasPrefix("\(file.path):2:9: warning: 'Bundle(identifier': Bundle(identifier:) is nil here"),
      "\(run.text)")
    #expect(run.text.hasSuffix("See Documentation/porting.md\n"), "\(run.text)")
    #expect(FileManager.default.fileExists(atPath: folder.file("Built/Built_A.swift").path))
  }

  @Test func `a model that nothing compiles is a warning, unless the options name its folder`() throws {
    let folder = try TemporaryFolder()
    let file: URL = folder.file("A.swift")
    try "let a = 1\n".write(to: file, atomically: true, encoding: .utf8)
    let model: String = folder.file("Shared/Shop.xcdatamodeld").path
    let stray = try rewrite(["--model", model, file.path], in: folder)
    #expect(
      stray.status == 0 && stray.text.hasPrefix("\(model): warning: Nothing compiles this model"),
      "\(stray.text)")
    #expect(stray.text.contains("{\"folders\": [\"Shared\"]}"), "\(stray.text)")
    let options: URL = folder.file("coredata-modelc.json")
    try "{\"folders\": [\"Shared\"]}".write(to: options, atomically: true, encoding: .utf8)
    let named = try rewrite(["--model", model, "--options", options.path, file.path], in: folder)
    #expect(named.status == 0 && named.text.isEmpty, "\(named.text)")
  }
}
