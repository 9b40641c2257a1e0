import CoreDataGraph
import Foundation
import Testing

/// `clarus convert`
@Suite struct ConvertTests {
  @Test(arguments: StoreRegistry.fileKinds.map { $0.type.lowercased() })
  func `a store goes to another kind and back with equal contents`(kind: String) throws {
    let store = try RichStore()
    defer { store.remove() }
    let there: String = store.file("There").path
    let back: String = store.file("Back.sqlite").path
    let before = try Data(contentsOf: store.url)
    let run = try CommandLineRun(["convert", store.path, there, "--to", kind, "--verify", "--json"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors == "")
    let report = try #require(try run.json() as? [String: Any])
    let verified = try #require(report["verified"] as? [String: Any])
    #expect(verified["objects"] as? Int == 29)
    let second = try CommandLineRun([
      "convert", there, back, "--model", store.path, "--to", "sqlite", "--verify",
    ])
    #expect(second.status == 0, "\(second.errors)")
    #expect(second.output.contains("Verified: 29 objects"))
    // The numbers of the first new store stay in the second one.
    let diff = try CommandLineRun(["diff", there, back, "--model", store.path])
    #expect(diff.status == 0, "\(diff.output)\(diff.errors)")
    #expect(diff.output == "The stores are equal: 29 objects compared.\n")
    let info = try CommandLineRun(["info", back, "--json"])
    let metadata = (try info.json() as? [String: Any])?["metadata"] as? [String: Any]
    #expect(metadata?["launches"] as? Int == 42)
    #expect(metadata?["NSStoreUUID"] as? String != (report["from"] as? [String: Any])?["uuid"] as? String)
    #expect(try Data(contentsOf: store.url) == before)
    #expect(store.names == ["Back.sqlite", "Rich.sqlite", "There"])
  }

  @Test func `values in files go along and come back`() throws {
    let store = try PhotoStore()
    defer { store.remove() }
    let copy: String = store.folder.appendingPathComponent("Copy.sqlite").path
    for (out, more) in [(copy, []), (store.folder.path + "/Photos.xml", ["--model", store.path])] {
      let run = try CommandLineRun(["convert", store.path, out, "--verify"])
      #expect(run.status == 0, "\(run.errors)")
      let diff = try CommandLineRun(["diff", store.path, out, "--by", "Photo=name"] + more)
      #expect(diff.status == 0, "\(diff.output)\(diff.errors)")
    }
    let files: [String] = try FileManager.default.contentsOfDirectory(
      atPath: store.folder.path + "/.Copy_SUPPORT/_EXTERNAL_DATA")
    #expect(files.count == 2)
    // Another store of the same name but for the ending has its files where those of the new one would be.
    let run = try CommandLineRun([
      "convert", store.folder.path + "/Photos.xml", store.folder.path + "/Copy.db",
      "--model", store.path, "--to", "sqlite",
    ])
    #expect(run.status == 1)
    #expect(run.errors.contains("Give a name that differs before its ending"), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: store.folder.path + "/Copy.db"))
  }

  @Test func `a missing file of a value stops a verified conversion, and nothing is left`() throws {
    let store = try PhotoStore()
    defer { store.remove() }
    try FileManager.default.removeItem(at: store.support.appendingPathComponent(store.valueFiles[0]))
    let before = try FolderState(store.folder)
    for name in ["Copy.sqlite", "Copy.xml"] {
      let run = try CommandLineRun([
        "convert", store.path, store.folder.appendingPathComponent(name).path, "--verify",
      ])
      #expect(run.status == 1)
      #expect(run.errors.contains("Photo.image"), "\(run.errors)")
      #expect(try FolderState(store.folder) == before)
    }
  }

  @Test func `nothing is written where something is, or where no store can be`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let taken: URL = store.file("Taken.xml")
    try Data("mine".utf8).write(to: taken)
    try FileManager.default.createDirectory(at: store.file("Folder"), withIntermediateDirectories: false)
    let before = try FolderState(store.folder)
    for (name, says) in [
      ("Taken.xml", "already"), ("Rich.sqlite", "already"), ("Folder", "already"),
      ("no/Out.xml", "No such file"),
    ] {
      let run = try CommandLineRun(["convert", store.path, store.file(name).path])
      #expect(run.status == 1)
      #expect(run.errors.contains(says), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1)
    }
    let kind = try CommandLineRun(["convert", store.path, store.file("Out").path, "--to", "excel"])
    #expect(kind.status == 1)
    #expect(kind.errors.hasPrefix("clarus: --to: "))
    #expect(try FolderState(store.folder) == before)
  }

  @Test(arguments: [0, 1, 2, 5, 10, 20, 40, 80, 120, 160])
  func `an interrupted conversion leaves a whole store or nothing`(milliseconds: Int) throws {
    let store = try RichStore()
    defer { store.remove() }
    let out: URL = store.file("Out.xml")
    _ = try CommandLineRun(
      shell:
        "timeout -s INT 0.\(String(format: "%03d", milliseconds + 1)) \"$CLARUS\" convert '\(store.path)' '\(out.path)'"
    )
    if FileManager.default.fileExists(atPath: out.path) {
      let diff = try CommandLineRun(["info", out.path])
      #expect(diff.status == 0, "\(diff.errors)")
      #expect(store.names == ["Out.xml", "Rich.sqlite"])
    } else {
      #expect(store.names == ["Rich.sqlite"])
    }
  }

  @Test(arguments: ["Out.sqlite-wal", "Out.sqlite-journal"])
  func `a log that another database has left is not applied to the new store`(name: String) throws {
    let store = try RichStore()
    defer { store.remove() }
    try Data("left".utf8).write(to: store.file(name))
    let before = try FolderState(store.folder)
    let run = try CommandLineRun(["convert", store.path, store.file("Out.sqlite").path])
    #expect(run.status == 1)
    #expect(run.errors.contains(name), "\(run.errors)")
    let log = try CommandLineRun(["convert", store.path, store.path + "-wal"])
    #expect(log.status == 1)
    #expect(try FolderState(store.folder) == before)
  }
}
