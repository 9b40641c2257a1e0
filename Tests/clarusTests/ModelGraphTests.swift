import Foundation
import TestSupport
import Testing

/// `clarus model graph`
struct ModelGraphTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func graph(_ arguments: String...) throws -> CommandLineRun {
    try CommandLineRun(["model", "graph"] + arguments)
  }

  private static let store: String =
    CommandLineRun.packageRoot.appendingPathComponent("Examples/Stores/Library.sqlite").path
  private static let source: String =
    CommandLineRun.packageRoot.appendingPathComponent("Examples/ToDo/Sources/ToDo/ToDo.xcdatamodeld").path

  @Test func `the picture of a store's model shows entities, properties, relationships and inheritance`()
    throws
  {
    let run: CommandLineRun = try graph(Self.store)
    #expect(run.status == 0 && run.errors.isEmpty && run.output.hasPrefix("<svg "), "\(run)")
    for text in [
      ">Author<", ">narrator<", ">String?<", ">Book 0..*<", ">Genre 0..1<", ">deny<",
      "<title>AudioBook is a Book</title>", "<title>Author.books – Book.authors</title>",
    ] {
      #expect(run.output.contains(text), "\(text)")
    }
    #expect(run.output.components(separatedBy: "stroke-width=\"1.5\"><title>").count == 4, "three lines")
    #expect(try graph(Self.store).output == run.output, "byte for byte")
  }

  @Test func `the same model has the same picture as source, compiled and in a store`() throws {
    let (compiled, decompiled) = (folder.file("ToDo.momd").path, folder.file("ToDo.xcdatamodeld").path)
    #expect(try CommandLineRun(["model", "compile", Self.source, compiled]).status == 0)
    #expect(try CommandLineRun(["model", "decompile", compiled, "--output", decompiled]).status == 0)
    let pictures: [String] = try [Self.source, compiled, decompiled].map { try graph($0).output }
    #expect(Set(pictures).count == 1 && pictures[0].contains(">dueDate<"))
  }

  @Test func `some entities, without attributes, and a version`() throws {
    let run: CommandLineRun = try graph(Self.store, "--entities", "Book,Genre", "--no-attributes")
    #expect(run.status == 0 && run.output.contains(">genre<") && run.output.contains(">authors<"), "\(run)")
    #expect(!run.output.contains(">Author</text>") && !run.output.contains(">pages<"))
    let wrong: CommandLineRun = try graph(Self.store, "--entities", "Bok")
    #expect(wrong.status == 1 && wrong.errors.contains("no entity 'Bok'. Did you mean \"Book\"?"), "\(wrong)")
    let (old, new) = (try graph(Self.source, "--model-version", "ToDo"), try graph(Self.source))
    #expect(old.output.contains(">doNotAlert<") != new.output.contains(">doNotAlert<"))
  }

  @Test func `the ending of the output chooses the format, and only pictures are replaced`() throws {
    let (svg, dot, other) = (folder.file("a.svg").path, folder.file("a.dot").path, folder.file("b.svg").path)
    #expect(try graph(Self.store, "--output", svg).output == "written    \(svg)\n")
    #expect(try graph(Self.store, "--output", svg).output == "unchanged  \(svg)\n")
    #expect(try graph(Self.source, "--output", svg).output == "written    \(svg)\n")
    #expect(try graph(Self.store, "--output", dot).status == 0)
    let text: String = try String(contentsOf: folder.file("a.dot"), encoding: .utf8)
    #expect(text.contains("digraph \"Library\"") && text.contains("n1:e3:e -> n2:r3:w"), "\(text)")
    #expect(try graph(Self.store, "--format", "dot").output == text)
    try Data("<svg>by hand</svg>".utf8).write(to: folder.file("b.svg"))
    let refused: CommandLineRun = try graph(Self.store, "--output", other)
    #expect(refused.status == 1 && refused.errors.contains("was not drawn by this command"), "\(refused)")
    #expect(try String(contentsOf: folder.file("b.svg"), encoding: .utf8) == "<svg>by hand</svg>")
    for arguments in [["--output", folder.file("a.png").path], ["--output", svg, "--format", "dot"]] {
      #expect(try CommandLineRun(["model", "graph", Self.store] + arguments).status == 2)
    }
    #expect(try graph(Self.store, "--output", folder.file("no/a.svg").path).status == 1)
  }
}
