import Foundation
import TestSupport
import Testing

/// `clarus model merge`
struct ModelMergeCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func model(title: String = "", note: String = "") -> String {
    """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="9000" systemVersion="1" userDefinedModelVersionIdentifier="">
        <entity name="Item" representedClassName="Item" syncable="YES">
            <attribute name="title" optional="YES" attributeType="String"\(title)/>
        </entity>
    \(note)</model>
    """
  }
  private static let note: String = """
        <entity name="Note" representedClassName="Note" syncable="YES">
            <attribute name="text" optional="YES" attributeType="String"/>
        </entity>

    """
  private static let one: String = #" defaultValueString="one""#
  private static let two: String = #" defaultValueString="two""#

  private func merge(_ texts: String...) throws -> (run: CommandLineRun, result: String) {
    var paths: [String] = []
    for (name, text) in zip(["base", "ours", "theirs"], texts) {
      let file: URL = folder.file("\(name)-\(UUID().uuidString)")
      try Data(text.utf8).write(to: file)
      paths.append(file.path)
    }
    let run = try CommandLineRun(["model", "merge"] + paths + ["--path", "Shop.xcdatamodel/contents"])
    return (run, try String(contentsOfFile: paths[1], encoding: .utf8))
  }

  @Test func `edits of different parts are merged into our side`() throws {
    let (run, result) = try merge(
      Self.model(), Self.model(title: Self.one), Self.model(note: Self.note))
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    #expect(result == Self.model(title: Self.one, note: Self.note))
  }

  @Test(arguments: [[true, false, true], [false, true, false], [true, true, false], [true, true, true]])
  func `line ends are no changes, and the result has ours`(_ areDouble: [Bool]) throws {
    func text(_ text: String, _ place: Int) -> String {
      areDouble[place] ? text.replacing("\n", with: "\r\n") : text
    }
    let (run, result) = try merge(
      text(Self.model(), 0), text(Self.model(title: Self.one), 1), text(Self.model(note: Self.note), 2))
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    #expect(result == text(Self.model(title: Self.one, note: Self.note), 1))
    let model: URL = folder.file("A.xcdatamodel")
    let twin: URL = folder.file("B.xcdatamodel")
    for (place, text) in [(model, text(Self.model(), 0)), (twin, text(Self.model(), 1))] {
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: place.appendingPathComponent("contents"))
    }
    let diff = try CommandLineRun(["model", "diff", model.path, twin.path])
    #expect(diff.status == 0 && diff.output == "The models are equal.\n", "\(diff)")
  }

  @Test func `what both changed is a conflict that names the property; ours stays`() throws {
    let (run, result) = try merge(
      Self.model(), Self.model(title: Self.one), Self.model(title: Self.two, note: Self.note))
    #expect(run.status == 1, "\(run)")
    #expect(run.errors.contains("CONFLICT in Shop.xcdatamodel/contents: Item.title"), "\(run.errors)")
    #expect(result == Self.model(title: Self.one, note: Self.note))
  }

  // Finding: what one side had renamed or removed came back, and the exit status was 0.
  @Test func `a version that both sides added is told from the version before`() throws {
    let versions: URL = folder.file("Shop.xcdatamodeld")
    func write(_ text: String, _ name: String) throws -> String {
      let file: URL = folder.file(name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
      return file.path
    }
    let old: String = Self.model(note: Self.note)
    let renamed: String = Self.model().replacing("name=\"title\"", with: "name=\"label\" elementID=\"title\"")
    let new: String = Self.model(note: Self.note.replacing("text", with: "words"))
    let (empty, theirs) = (try write("", "base"), try write(new, "theirs"))
    let path: String = versions.appendingPathComponent("Shop 2.xcdatamodel/contents").path
    for hasOlder in [false, true] {
      if hasOlder { _ = try write(old, "Shop.xcdatamodeld/Shop.xcdatamodel/contents") }
      let ours: String = try write(renamed, "Shop.xcdatamodeld/Shop 2.xcdatamodel/contents")
      let run = try CommandLineRun(["model", "merge", empty, ours, theirs, "--path", path])
      let result: String = try String(contentsOfFile: ours, encoding: .utf8)
      #expect(run.status == 1, "\(run)")
      if hasOlder {
        // Ours removed Note, and theirs changed it.
        #expect(run.errors.contains("is told from 'Shop', the version before"), "\(run)")
        #expect(run.errors.contains("Note: ours removed this, and theirs changed it"), "\(run)")
        #expect(result == renamed)
        // What ours added to the version before too looks like a removal of theirs.
        let own: String = try write(new, "Shop.xcdatamodeld/Shop 2.xcdatamodel/contents")
        let swapped = try CommandLineRun([
          "model", "merge", empty, own, try write(renamed, "other"), "--path", path,
        ])
        #expect(
          swapped.status == 1 && swapped.errors.contains("Note: theirs lacks this entity"), "\(swapped)")
        let merged: String = try String(contentsOfFile: own, encoding: .utf8)
        #expect(merged.contains("\"words\"") && merged.contains("\"label\""))
      } else {
        for says in ["Item.title: theirs alone", "Item.label: ours alone", "Note: theirs alone"] {
          #expect(run.errors.contains(says), "\(run)")
        }
      }
    }
  }

  @Test func `a side that is no model is an error, and ours is as it was`() throws {
    let (run, result) = try merge(Self.model(), Self.model(title: Self.one), "<<<<<<< ours")
    #expect(run.status == 2 && run.errors.contains("(theirs)"), "\(run)")
    #expect(result == Self.model(title: Self.one))
  }

  @Test func `a file that is not there is named`() throws {
    try Data(Self.model().utf8).write(to: folder.file("ours"))
    let paths: [String] = ["base", "ours", "theirs"].map { folder.file($0).path }
    let run = try CommandLineRun(["model", "merge"] + paths)
    #expect(run.status == 2 && run.errors.contains("base: The file can't be read"), "\(run)")
  }

  @Test func `a link to our side stays one, and its file keeps its permissions`() throws {
    for (name, text) in [
      ("base", Self.model()), ("ours", Self.model(title: Self.one)), ("theirs", Self.model(note: Self.note)),
    ] {
      try Data(text.utf8).write(to: folder.file(name))
    }
    let files = FileManager.default
    try files.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.file("ours").path)
    try files.createSymbolicLink(atPath: folder.file("link").path, withDestinationPath: "ours")
    let run = try CommandLineRun(
      ["model", "merge"] + ["base", "link", "theirs"].map { folder.file($0).path })
    #expect(run.status == 0, "\(run)")
    #expect(try files.destinationOfSymbolicLink(atPath: folder.file("link").path) == "ours")
    let merged: String = try String(contentsOf: folder.file("ours"), encoding: .utf8)
    #expect(merged == Self.model(title: Self.one, note: Self.note))
    let permissions = try files.attributesOfItem(atPath: folder.file("ours").path)[.posixPermissions] as? Int
    #expect(permissions == 0o640)
  }

  @Test(.enabled(if: Self.gitProgram != nil, "needs git")) func `git merges models with it`() throws {
    let repository: URL = folder.file("repository")
    let contents: URL = repository.appendingPathComponent(
      "Sources/App/Shop.xcdatamodeld/Shop 2.xcdatamodel/contents")
    try FileManager.default.createDirectory(
      at: contents.deletingLastPathComponent(), withIntermediateDirectories: true)
    func commit(_ text: String) throws {
      try Data(text.utf8).write(to: contents)
      try git("add", "-A", in: repository)
      try git("commit", "-q", "-m", "an edit", in: repository)
    }
    try git("init", "-q", in: repository)
    try git("config", "user.name", "Test", in: repository)
    try git("config", "user.email", "test@example.com", in: repository)
    let command: String = CommandLineRun.executable.path
    try git("config", "merge.coredata.driver", "'\(command)' model merge %O %A %B --path %P", in: repository)
    try Data("**/*.xcdatamodel/contents merge=coredata\n".utf8).write(
      to: repository.appendingPathComponent(".gitattributes"))
    try commit(Self.model())
    try git("checkout", "-q", "-b", "other", in: repository)
    try commit(Self.model(note: Self.note))
    try git("checkout", "-q", "-", in: repository)
    try commit(Self.model(title: Self.one))
    #expect(try git("merge", "-q", "--no-edit", "other", in: repository) == 0)
    #expect(try String(contentsOf: contents, encoding: .utf8) == Self.model(title: Self.one, note: Self.note))

    try git("checkout", "-q", "-b", "third", "HEAD~2", in: repository)
    try commit(Self.model(title: Self.two))
    #expect(try git("merge", "-q", "--no-edit", "other", in: repository) == 0)
    #expect(try git("merge", "-q", "--no-edit", "-", in: repository) != 0)
  }

  static let gitProgram: URL? = ["/usr/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }.map { URL(fileURLWithPath: $0) }

  @discardableResult
  private func git(_ arguments: String..., in repository: URL) throws -> Int32 {
    let process = Process()
    process.executableURL = Self.gitProgram
    process.arguments = arguments
    process.currentDirectoryURL = repository
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}
