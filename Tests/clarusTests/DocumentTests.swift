import Foundation
import TestSupport
import Testing

/// The commands in the documents print what the documents say, over the store in `Examples/Stores`.
///
/// In a block of code, a line that begins with `$ clarus` is a command, and what follows up to the next one
/// is its output; a last line `…` stands for the rest.
@Suite struct DocumentTests {
  struct Example: Sendable, CustomTestStringConvertible {
    var document: String
    var command: String
    var output: [String] = []
    var testDescription: String { "\(document): \(command)" }
  }

  static let examples: [Example] = ["Documentation/command-line.md", "Documentation/debugging.md"].flatMap(
    examples)

  static func examples(in document: String) -> [Example] {
    let file: URL = CommandLineRun.packageRoot.appendingPathComponent(document)
    var examples: [Example] = []
    var isCode = false
    var isExample = false
    for line in ((try? String(contentsOf: file, encoding: .utf8)) ?? "").components(separatedBy: "\n") {
      if line.hasPrefix("```") {
        isCode.toggle()
        isExample = false
      } else if isCode, line.hasPrefix("$ clarus") {
        examples.append(Example(document: document, command: String(line.dropFirst(2))))
        isExample = true
      } else if isExample {
        examples[examples.count - 1].output.append(line)
      }
    }
    return examples
  }

  @Test func `the documents have examples`() {
    #expect(Self.examples.count >= 10)
  }

  @Test(arguments: examples)
  func `an example prints what its document says`(example: Example) throws {
    let stores: URL = CommandLineRun.packageRoot.appendingPathComponent("Examples/Stores")
    let before = try FolderState(stores)
    let run = try CommandLineRun(
      shell: "cd '\(stores.path)' && clarus() { \"$CLARUS\" \"$@\"; } && \(example.command) 2>&1")
    var lines: [String] = run.output.components(separatedBy: "\n").dropLast()
    var expected: [String] = example.output
    if expected.last == "…" {
      expected.removeLast()
      lines = Array(lines.prefix(expected.count))
    }
    #expect(lines == expected)
    #expect(try FolderState(stores) == before)
  }
}

/// The commands of `Documentation/models.md` build on one another: they run in one folder, in their order.
@Suite struct ModelPageTests {
  @Test func `the commands of the page on models print what the page says`() throws {
    let folder = try TemporaryFolder()
    let store: URL = CommandLineRun.packageRoot.appendingPathComponent("Examples/Stores/Library.sqlite")
    try FileManager.default.copyItem(at: store, to: folder.file("Library.sqlite"))
    let examples: [DocumentTests.Example] = DocumentTests.examples(in: "Documentation/models.md")
    #expect(examples.count >= 12)
    for example in examples {
      let run = try CommandLineRun(
        shell: "cd '\(folder.url.path)' && clarus() { \"$CLARUS\" \"$@\"; } && \(example.command) 2>&1")
      #expect(
        run.output.components(separatedBy: "\n").dropLast() == example.output[...], "\(example.command)")
    }
  }

  /// A picture of the pages is what the command draws now.
  @Test func `the picture of the page is the one that the command draws`() throws {
    let run = try CommandLineRun(
      shell:
        "cd '\(CommandLineRun.packageRoot.path)/Examples/Stores' && \"$CLARUS\" model graph Library.sqlite")
    let picture: URL = CommandLineRun.packageRoot.appendingPathComponent("Documentation/pictures/Library.svg")
    #expect(try String(contentsOf: picture, encoding: .utf8) == run.output)
  }
}
