import Foundation
import GRDB
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

  // Finding: the link was replaced by a file, and so was a file that nobody may write.
  @Test func `an output that is a link stays one, and a write-protected file stays as it is`() throws {
    let (file, link) = (folder.file("a.svg"), folder.file("link.svg"))
    let files = FileManager.default
    #expect(try graph(Self.store, "--output", file.path).status == 0)
    try files.createSymbolicLink(atPath: link.path, withDestinationPath: "a.svg")
    #expect(try graph(Self.source, "--output", link.path).output == "written    \(link.path)\n")
    #expect(try files.destinationOfSymbolicLink(atPath: link.path) == "a.svg")
    #expect(try String(contentsOf: file, encoding: .utf8).contains(">doNotAlert<"))
    try files.setAttributes([.posixPermissions: 0o444], ofItemAtPath: file.path)
    let before = try FolderState(folder.url)
    for path in [file.path, link.path] {
      let run: CommandLineRun = try graph(Self.store, "--output", path)
      #expect(run.status == 1 && run.errors.contains("write-protected"), "\(run)")
    }
    #expect(try FolderState(folder.url) == before)
    try files.createSymbolicLink(atPath: folder.file("lost.svg").path, withDestinationPath: "nowhere.svg")
    let lost: CommandLineRun = try graph(Self.store, "--output", folder.file("lost.svg").path)
    #expect(lost.status == 1 && lost.errors.contains("a link that leads to no file"), "\(lost)")
  }

  @Test func `no entity to draw and no model to read are errors that say what to name`() throws {
    for names in ["", " , "] {
      let run: CommandLineRun = try graph(Self.store, "--entities", names)
      #expect(run.status == 2 && run.errors.contains("--entities names no entity"), "\(run)")
    }
    // A store from before models were kept in stores.
    try FileManager.default.copyItem(atPath: Self.store, toPath: folder.file("old.sqlite").path)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o644], ofItemAtPath: folder.file("old.sqlite").path)
    try DatabaseQueue(path: folder.file("old.sqlite").path).write {
      try $0.execute(sql: "DROP TABLE Z_MODELCACHE")
    }
    for command in ["graph", "from-store"] {
      let run = try CommandLineRun(["model", command, folder.file("old.sqlite").path])
      #expect(run.status == 1 && run.errors.contains("Name a model file ("), "\(run)")
    }
  }
}
