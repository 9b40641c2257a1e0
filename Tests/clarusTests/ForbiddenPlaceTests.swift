import Foundation
import GRDB
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Stores that another process has locked, and files and folders without permission: each command says so in
/// one line and leaves nothing behind.
@Suite struct ForbiddenPlaceTests {
  /// Root may do everything, so its commands run as another user.
  private static let becomesNobody: [String] =
    geteuid() == 0
    ? ["env", "TMPDIR=/tmp", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []

  /// Whether another user can run the executable at all.
  static let canTest: Bool = {
    if geteuid() != 0 { return true }
    return (try? run(["--help"]))?.status == 0
  }()

  private static func run(_ arguments: [String]) throws -> CommandLineRun {
    let words: [String] = (becomesNobody + [CommandLineRun.executable.path] + arguments)
    let line: String = words.map { "'" + $0.replacingOccurrences(of: "'", with: "'\\''") + "'" }
      .joined(separator: " ")
    return try CommandLineRun(shell: line)
  }

  private static func setMode(_ mode: Int, _ paths: String...) throws {
    for path in paths {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
  }

  /// All files and folders below may be read and written by everybody.
  private static func open(_ folder: URL) throws {
    try setMode(0o777, folder.path)
    let files: FileManager.DirectoryEnumerator? = FileManager.default.enumerator(atPath: folder.path)
    while let name = files?.nextObject() as? String {
      try setMode(0o777, folder.appendingPathComponent(name).path)
    }
  }

  private static func expectOneLine(_ run: CommandLineRun, _ says: [String], status: Int32 = 1) {
    #expect(run.status == status, "\(run.output)\(run.errors)")
    #expect(run.errors.hasPrefix("clarus: "), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    for text in says { #expect(run.errors.contains(text), "\(run.errors)") }
  }

  @Test(.enabled(if: canTest, "root may read and write everything, and no other user can run clarus here"))
  func `a value's file without permission is told as such, with its path and the cure`() throws {
    let store = try PhotoStore()
    defer { store.remove() }
    try Self.open(store.folder)
    let file: String = store.support.appendingPathComponent(store.valueFiles[0]).path
    try Self.setMode(0, file)
    let names: [String] = try FileManager.default.contentsOfDirectory(atPath: store.folder.path).sorted()
    let check = try Self.run(["check", store.path])
    #expect(check.status == 1, "\(check.errors)")
    #expect(
      check.output.contains(
        "error: Photo.image has its value in the file \(file). This process may not read it (Permission denied). Give "
          + "this user permission to read it (chmod, chown). Photo/p"), "\(check.output)")
    #expect(check.errors == "", "The file is named once.")
    let json = try Self.run(["check", store.path, "--json"])
    #expect(json.output.contains("\"unreadableFile\""))
    for out in ["Copy.sqlite", "Copy.xml"] {
      let run = try Self.run(["convert", store.path, store.folder.appendingPathComponent(out).path])
      Self.expectOneLine(run, [file, "may not read it", "chmod"])
      #expect(!run.errors.contains("Put the file back"))
    }
    Self.expectOneLine(try Self.run(["export", store.path]), [file, "may not read it", "chmod"])
    // A value that reads as nil is told beside the rows.
    let fetch = try Self.run(["fetch", store.path, "Photo"])
    #expect(fetch.status == 0 && fetch.errors.contains(file), "\(fetch.errors)")
    #expect(fetch.errors.contains("may not read it") && fetch.errors.contains("chmod"), "\(fetch.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.path).sorted() == names)
    let repair = try Self.run(
      ["check", store.path, "--repair", store.folder.appendingPathComponent("Out.sqlite").path])
    #expect(repair.status == 1 && repair.output.contains("The value became nil."), "\(repair.output)")
    #expect(repair.errors == "", "\(repair.errors)")
    #expect(!repair.output.contains("nothing was lost"))
  }

  @Test(
    .enabled(if: canTest, "root may read and write everything, and no other user can run clarus here"),
    arguments: [
      ["convert", "Rich.sqlite", "Out.sqlite"], ["convert", "Rich.sqlite", "Out.xml"],
      ["convert", "Rich.sqlite", "Out.bin"], ["check", "Rich.sqlite", "--repair", "Out.sqlite"],
      ["export", "Rich.sqlite", "--out", "Out.json"], ["import", "Rich.sqlite", "items.json"],
    ])
  func `a folder that may not be written is told, and nothing is left`(arguments: [String]) throws {
    let store = try RichStore()
    defer {
      try? Self.setMode(0o777, store.folder.path)
      store.remove()
    }
    try #"{"Tag": [{"label": "new"}]}"#.write(
      to: store.file("items.json"), atomically: true, encoding: .utf8)
    try Self.open(store.folder)
    try Self.setMode(0o555, store.folder.path)
    let before = try FolderState(store.folder)
    let files: Set<String> = ["Rich.sqlite", "Out.sqlite", "Out.xml", "Out.bin", "Out.json", "items.json"]
    let run = try Self.run(arguments.map { files.contains($0) ? store.file($0).path : $0 })
    Self.expectOneLine(run, [])
    #expect(
      run.errors.lowercased().contains("permission") || run.errors.contains("read-only"), "\(run.errors)")
    #expect(try FolderState(store.folder) == before)
  }

  // Findings: an XML store was migrated although its file was write-protected; a SQLite store kept files
  // beside it that locked its owner out; the plans said nothing.
  @Test(
    .enabled(if: canTest, "root may read and write everything, and no other user can run clarus here"),
    arguments: ["Rich.sqlite", "Rich.xml", "Rich.binary"], [false, true])
  func `a store that may not be written is not migrated, and its plan says why`(name: String, isFolder: Bool)
    throws
  {
    let store = try RichStore()
    defer {
      try? Self.setMode(0o777, store.folder.path)
      store.remove()
    }
    let (file, model): (String, String) = (store.file(name).path, store.file("Rich.xcdatamodeld").path)
    for arguments in [
      ["model", "decompile", store.path, "--output", model],
      ["model", "add", model, "version"], ["model", "add", model, "attribute", "Item.colour", "String"],
    ] + (file == store.path ? [] : [["convert", store.path, file]]) {
      let run = try CommandLineRun(arguments)
      #expect(run.status == 0, "\(arguments): \(run.errors)")
    }
    try Self.open(store.folder)
    try Self.setMode(isFolder ? 0o555 : 0o444, isFolder ? store.folder.path : file)
    let before = try FolderState(store.folder)
    let run = try Self.run(["migrate", file, "--to", model])
    Self.expectOneLine(run, [file, "ermission"])
    let plan = try Self.run(["migrate", file, "--to", model, "--plan"])
    #expect(plan.status == 1 && plan.output.contains("Permission denied"), "\(plan.output)\(plan.errors)")
    #expect(try FolderState(store.folder) == before)
  }

  @Test(
    .enabled(if: canTest, "root may read and write everything, and no other user can run clarus here"),
    arguments: ["info", "check", "convert", "export", "import", "diff", "fetch"])
  func `a store that may not be read is told`(command: String) throws {
    let store = try RichStore()
    defer { store.remove() }
    try Self.open(store.folder)
    try Self.setMode(0, store.path)
    let more: [String] =
      switch command {
      case "convert": [store.file("Out.sqlite").path]
      case "diff": [store.path]
      case "fetch": ["Item"]
      case "import": [store.file("items.json").path]
      default: []
      }
    try #"{"Tag": [{"label": "new"}]}"#.write(
      to: store.file("items.json"), atomically: true, encoding: .utf8)
    let run = try Self.run([command, store.path] + more)
    Self.expectOneLine(run, [store.path, "ermission"], status: command == "diff" ? 2 : 1)
  }

  // Five seconds each.
  @Test(arguments: Soak.isOn ? ["check", "convert", "export", "import", "diff"] : ["import"])
  func `a store that another process has locked is told after a few seconds`(command: String) throws {
    let store = try RichStore()
    defer { store.remove() }
    try makeDatabase(store.url, [])
    try #"{"Tag": [{"label": "new"}]}"#.write(
      to: store.file("items.json"), atomically: true, encoding: .utf8)
    let names: [String] = store.names
    let queue = try DatabaseQueue(path: store.path)
    defer { try? queue.close() }
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "BEGIN EXCLUSIVE")
      defer { try? database.execute(sql: "ROLLBACK") }
      let more: [String] =
        switch command {
        case "convert": [store.file("Out.sqlite").path]
        case "diff": [store.path]
        case "import": [store.file("items.json").path]
        default: []
        }
      let run = try CommandLineRun([command, store.path] + more)
      Self.expectOneLine(run, [store.path, "locked"], status: command == "diff" ? 2 : 1)
      #expect(store.names == names)
    }
  }

  // Finding: the store was named, and its journal was the culprit.
  @Test(
    .enabled(if: canTest, "root may read and write everything, and no other user can run clarus here"),
    arguments: ["-wal", "-shm"])
  func `a journal without permission is named`(journal: String) throws {
    let store = try RichStore()
    defer { store.remove() }
    let queue = try DatabaseQueue(path: store.path)
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA journal_mode = WAL")
      try database.execute(sql: "UPDATE Z_METADATA SET Z_VERSION = Z_VERSION")
    }
    // As a process leaves them that was killed.
    let copy: String = store.file("Copy.sqlite").path
    for ending in ["", "-wal", "-shm"] {
      try FileManager.default.copyItem(atPath: store.path + ending, toPath: copy + ending)
    }
    try queue.close()
    try #"{"Tag": [{"label": "new"}]}"#.write(
      to: store.file("items.json"), atomically: true, encoding: .utf8)
    try Self.open(store.folder)
    for mode in [0, 0o444] {
      try Self.setMode(mode, copy + journal)
      let run = try Self.run(["import", copy, store.file("items.json").path])
      Self.expectOneLine(run, ["\(copy)\(journal)", "Permission denied"])
      #expect(!run.errors.contains("add the store"), "\(run)")
      if mode == 0, journal == "-wal" {
        Self.expectOneLine(
          try Self.run(["info", copy]), ["\(copy)-wal: reading it failed: Permission denied"])
      }
    }
  }

  /// The waiting time of programs is a minute, for each step of a migration.
  @Test(
    arguments: Array(
      zip(["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE"], [false, true]).prefix(Soak.isOn ? 2 : 1)))
  func `a migration of a store that another process has locked waits no longer than other commands`(
    lock: String, keepsOriginal: Bool
  ) throws {
    let store = try RichStore()
    defer { store.remove() }
    let model: String = store.file("Rich.xcdatamodeld").path
    for arguments in [
      ["model", "decompile", store.path, "--output", model],
      ["model", "add", model, "attribute", "Item.colour", "String"],
    ] {
      let run = try CommandLineRun(arguments)
      #expect(run.status == 0, "\(arguments): \(run.errors)")
    }
    try makeDatabase(store.url, [])
    let queue = try DatabaseQueue(path: store.path)
    defer { try? queue.close() }
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: lock)
      defer { try? database.execute(sql: "ROLLBACK") }
      let more: String = keepsOriginal ? "--keep-original '\(store.file("Old.sqlite").path)'" : ""
      let run = try CommandLineRun(
        shell: "timeout 30 \"$CLARUS\" migrate '\(store.path)' --to '\(model)' \(more)")
      Self.expectOneLine(run, [store.path, "locked"], status: 1)
    }
  }
}
