import Foundation
import TestSupport
import Testing

/// `clarus model decompile`
struct ModelDecompileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func decompile(_ arguments: String...) throws -> CommandLineRun {
    try CommandLineRun(["model", "decompile"] + arguments)
  }

  private func hashes(_ path: String, _ arguments: String...) throws -> String {
    try CommandLineRun(["model", "hash", path] + arguments).output
  }

  private static let versions: String =
    CommandLineRun.packageRoot.appendingPathComponent("Examples/ToDo/Sources/ToDo/ToDo.xcdatamodeld").path
  private static let store: String =
    CommandLineRun.packageRoot.appendingPathComponent("Examples/Stores/Library.sqlite").path

  @Test func `every version of a package is written, and the current one marked`() throws {
    let output: String = folder.file("New.xcdatamodeld").path
    let run: CommandLineRun = try decompile(Self.versions, "--output", output)
    #expect(run.status == 0 && run.output.contains("2 versions"), "\(run)")
    #expect(try hashes(output) == hashes(Self.versions))
    for version in ["ToDo", "ToDo 2"] {
      let (own, theirs): (String, String) = (
        try hashes(output, "--model-version", version), try hashes(Self.versions, "--model-version", version)
      )
      #expect(own == theirs && !own.isEmpty)
    }
    let diff = try CommandLineRun(["model", "diff", Self.versions, output])
    #expect(diff.status == 0, "\(diff)")
  }

  @Test func `the model of a store becomes a source`() throws {
    let output: String = folder.file("Library.xcdatamodel").path
    let run: CommandLineRun = try decompile(Self.store, "--output", output)
    #expect(run.status == 0, "\(run)")
    #expect(try hashes(output) == hashes(Self.store))
    let again: CommandLineRun = try decompile(Self.store, "--output", output)
    #expect(again.status == 1 && again.errors.contains("There is a file already"), "\(again)")
  }

  @Test func `an output of another ending is refused`() throws {
    let run: CommandLineRun = try decompile(Self.store, "--output", folder.file("Library.mom").path)
    #expect(run.status == 2 && run.errors.contains("the ending .xcdatamodeld or .xcdatamodel"), "\(run)")
  }
}
