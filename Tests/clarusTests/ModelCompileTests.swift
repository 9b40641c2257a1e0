import CoreDataModel
import Foundation
import TestSupport
import Testing

/// `clarus model compile`
struct ModelCompileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func compile(_ arguments: String...) throws -> CommandLineRun {
    try CommandLineRun(["model", "compile"] + arguments)
  }

  private func hashes(_ path: String, _ arguments: String...) throws -> String {
    try CommandLineRun(["model", "hash", path] + arguments).output
  }

  private static let example: URL = CommandLineRun.packageRoot.appendingPathComponent("Examples/ToDo")
  private static let versions: String =
    example.appendingPathComponent("Sources/ToDo/ToDo.xcdatamodeld").path

  private func names(_ url: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
  }

  @Test func `a package becomes a folder with every version and Apple's list of them`() throws {
    let output: URL = folder.file("New.momd")
    let run: CommandLineRun = try compile(Self.versions, output.path)
    #expect(run.status == 0 && run.output == "written    \(output.path)\n" && run.errors.isEmpty, "\(run)")
    #expect(try names(output) == ["ToDo 2.mom", "ToDo.mom", "VersionInfo.plist"])
    for version in ["ToDo", "ToDo 2"] {
      let (own, theirs): (String, String) = (
        try hashes(output.path, "--model-version", version),
        try hashes(Self.versions, "--model-version", version)
      )
      #expect(own == theirs && !own.isEmpty)
    }
    let info: Data = try Data(contentsOf: output.appendingPathComponent("VersionInfo.plist"))
    #expect(info.starts(with: Array("bplist00".utf8)))
    let content = try #require(
      try PropertyListSerialization.propertyList(from: info, format: nil) as? [String: Any])
    #expect(content["NSManagedObjectModel_CurrentVersionName"] as? String == "ToDo 2")
    let loaded: [String: NSManagedObjectModel] = try NSManagedObjectModel.loadVersions(
      contentsOf: URL(fileURLWithPath: Self.versions)
    ).mapValues(\.model)
    #expect(
      content["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]]
        == loaded.mapValues(\.entityVersionHashesByName))
    #expect(
      content["NSManagedObjectModel_VersionChecksums"] as? [String: String]
        == loaded.mapValues(\.versionChecksum))
    // A second run changes nothing, a changed folder is made anew.
    #expect(try compile(Self.versions, output.path).output == "unchanged  \(output.path)\n")
    try FileManager.default.removeItem(at: output.appendingPathComponent("ToDo.mom"))
    try Data().write(to: output.appendingPathComponent("ToDo 2.omo"))
    #expect(try compile(Self.versions, output.path).output == "written    \(output.path)\n")
    #expect(try names(output) == ["ToDo 2.mom", "ToDo.mom", "VersionInfo.plist"])
    #expect(try names(folder.url) == ["New.momd"])
  }

  @Test func `one version and a mapping model become files, in a folder under their own names`() throws {
    try FileManager.default.createDirectory(at: folder.file("out"), withIntermediateDirectories: true)
    let version: String = Self.versions + "/ToDo.xcdatamodel"
    #expect(try compile(version, folder.file("out").path).status == 0)
    #expect(
      try hashes(folder.file("out/ToDo.mom").path) == hashes(Self.versions, "--model-version", "ToDo"))
    // The mapping model of the example lies apart from the model that it names.
    for path in [Self.versions, Self.example.path + "/Migration/Mapping/ToDo1to2.xcmappingmodel"] {
      let name: String = URL(fileURLWithPath: path).lastPathComponent
      try FileManager.default.copyItem(atPath: path, toPath: folder.file(name).path)
    }
    #expect(try compile(folder.file("ToDo1to2.xcmappingmodel").path, folder.file("out").path).status == 0)
    let read: NSMappingModel = try NSMappingModel.load(contentsOf: folder.file("out/ToDo1to2.cdm"))
    #expect(read.entityMappings?.count == 2)
  }

  @Test func `the default place is the folder that the command runs in`() throws {
    let run = try CommandLineRun(
      shell: "cd '\(folder.url.path)' && \"$CLARUS\" model compile '\(Self.versions)'")
    #expect(run.status == 0 && run.output == "written    ToDo.momd\n", "\(run)")
    #expect(try names(folder.url) == ["ToDo.momd"])
  }

  /// What is at the output, and what the message says of it.
  @Test(arguments: [
    ("ToDo.mom", "notes", "The file there is no compiled model"),
    ("ToDo.mom", "folder", "There is a folder"),
    ("ToDo.mom", "pipe", "no regular file"),
    ("ToDo.momd", "file", "There is a file"),
    ("ToDo.momd", "folder with notes", "'notes.txt', which is no part of a compiled model"),
    ("ToDo.momd", "folder with folder", "'Deep.mom', which is no part of a compiled model"),
  ])
  func `what is no compiled model is not replaced`(
    _ name: String, _ content: String, _ message: String
  ) throws {
    let output: URL = folder.file(name)
    let manager = FileManager.default
    switch content {
    case "folder": try manager.createDirectory(at: output, withIntermediateDirectories: true)
    case "pipe": #expect(mkfifo(output.path, 0o600) == 0)
    case "folder with notes":
      try manager.createDirectory(at: output, withIntermediateDirectories: true)
      try Data("mine".utf8).write(to: output.appendingPathComponent("notes.txt"))
    case "folder with folder":
      try manager.createDirectory(
        at: output.appendingPathComponent("Deep.mom"), withIntermediateDirectories: true)
    default: try Data("mine".utf8).write(to: output)
    }
    let before: [String] = try manager.subpathsOfDirectory(atPath: folder.url.path).sorted()
    let source: String = name.hasSuffix("momd") ? Self.versions : Self.versions + "/ToDo.xcdatamodel"
    let run: CommandLineRun = try compile(source, output.path)
    #expect(run.status == 1 && run.errors.contains(message), "\(run)")
    #expect(run.errors.contains("Give another place, or remove it first."))
    #expect(try manager.subpathsOfDirectory(atPath: folder.url.path).sorted() == before)
  }

  @Test func `a mistake is reported at its line, and what was compiled before stays`() throws {
    let source: URL = folder.file("Shop.xcdatamodel")
    let output: URL = folder.file("Shop.mom")
    try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
    func write(_ destination: String) throws {
      try Data(
        """
        <?xml version="1.0"?>
        <model>
          <entity name="A">
            <relationship name="b" optional="YES" destinationEntity="\(destination)"/>
          </entity>
        </model>
        """.utf8
      ).write(to: source.appendingPathComponent("contents"))
    }
    try write("A")
    #expect(try compile(source.path, output.path).status == 0)
    let before: Data = try Data(contentsOf: output)
    try write("Z")
    let run: CommandLineRun = try compile(source.path, output.path)
    #expect(run.status == 1 && run.errors.contains("Shop.xcdatamodel/contents:4: Relationship 'b'"), "\(run)")
    #expect(try Data(contentsOf: output) == before)
  }

  @Test(arguments: [
    (["Shop.sqlite"], 1, "neither an .xcdatamodeld"), (["none.xcdatamodeld"], 1, "nothing here"),
    ([versions, "Shop.mom"], 2, "the ending .momd"), ([], 2, "source"),
  ])
  func `wrong usage is explained`(_ arguments: [String], _ status: Int32, _ message: String) throws {
    let run = try CommandLineRun(["model", "compile"] + arguments)
    #expect(run.status == status && run.errors.contains(message), "\(run)")
  }
}
