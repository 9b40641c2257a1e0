import Foundation
import TestSupport
import Testing

/// A disk without space, at each call of a command that needs some: nothing is lost, no half file is left,
/// and one line says why.
@Suite(
  .enabled(if: FullDisk.isAvailable, "needs Linux with glibc, and clang to compile the counting library"))
struct FullDiskTests {
  /// A command, and what it makes or changes.
  struct Work: Sendable, CustomTestStringConvertible {
    let arguments: [String]
    /// The new file or folder; nil for a command that changes its store.
    var made: String?
    var testDescription: String { arguments.joined(separator: " ") }

    init(_ line: String, makes made: String? = nil) {
      arguments = line.split(separator: " ").map(String.init)
      self.made = made
    }
  }

  static let works: [Work] = [
    Work("convert Photos.sqlite Out.sqlite", makes: "Out.sqlite"),
    Work("convert Photos.sqlite Out.xml --verify", makes: "Out.xml"),
    Work("convert Photos.xml Out.sqlite --model Photos.sqlite", makes: "Out.sqlite"),
    Work("convert Photos.sqlite Out.bin", makes: "Out.bin"),
    Work("check Photos.sqlite --repair Out.sqlite", makes: "Out.sqlite"),
    Work("check Photos.sqlite --repair Out.xml", makes: "Out.xml"),
    Work("export Photos.sqlite --out Out.json", makes: "Out.json"),
    Work("export Photos.sqlite --format csv --out Out", makes: "Out"),
    Work("export Photos.sqlite --format sql --out Out.sql", makes: "Out.sql"),
    Work("import Photos.sqlite photos.json"),
    Work("import Photos.xml photos.json --model Photos.sqlite"),
    Work("import New.sqlite photos.json --create --model Photos.sqlite", makes: "New.sqlite"),
  ]

  /// SQLite's, with values in files; XML with the same contents; objects to import, with a large value. Made
  /// once for all tests.
  private static let template: Result<URL, any Error> = Result {
    let folder: URL = try TemporaryFolder().url
    let store = try PhotoStore()
    defer { store.remove() }
    let files = FileManager.default
    for name in try files.contentsOfDirectory(atPath: store.folder.path) {
      try files.copyItem(
        at: store.folder.appendingPathComponent(name), to: folder.appendingPathComponent(name))
    }
    let sqlite: String = folder.appendingPathComponent("Photos.sqlite").path
    let made = try CommandLineRun(["convert", sqlite, folder.appendingPathComponent("Photos.xml").path])
    try #require(made.status == 0, "\(made.errors)")
    let image: String = Data(repeating: 7, count: 150_000).base64EncodedString()
    try #"{"Photo": [{"name": "new", "image": "\#(image)"}, {"name": "last"}]}"#.write(
      to: folder.appendingPathComponent("photos.json"), atomically: true, encoding: .utf8)
    return folder
  }

  private static let disk: Result<FullDisk, any Error> = Result { try FullDisk(in: try TemporaryFolder()) }

  private static func copied() throws -> URL {
    let folder: URL = try TemporaryFolder().url.appendingPathComponent("place")
    try FileManager.default.copyItem(at: template.get(), to: folder)
    return folder
  }

  private static func names(_ folder: URL) -> [String] {
    (FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []).sorted()
  }

  /// Everything in a store of the folder, as text.
  private static func contents(_ store: String, _ folder: URL) throws -> String {
    let run = try CommandLineRun([
      "export", folder.appendingPathComponent(store).path, "--model",
      folder.appendingPathComponent("Photos.sqlite").path,
    ])
    return run.status == 0 ? run.output : run.errors
  }

  /// What was made, as text without what differs from run to run.
  private static func madeContents(_ work: Work, _ folder: URL) throws -> String {
    guard let made = work.made else { return try contents(work.arguments[1], folder) }
    let url: URL = folder.appendingPathComponent(made)
    if ["sqlite", "xml", "bin"].contains(url.pathExtension) {
      let run = try CommandLineRun([
        "fetch", url.path, "Photo", "--model", folder.appendingPathComponent("Photos.sqlite").path, "--json",
      ])
      return (run.output + run.errors).replacing(/x-coredata:\/\/[0-9A-F-]+/, with: "x-coredata:")
    }
    return names(folder).filter { $0.hasPrefix(made) }.map { name in
      let path: String = folder.appendingPathComponent(name).path
      return "\(name): \(FileManager.default.contents(atPath: path)?.count ?? 0)"
    }.joined()
  }

  /// Runs a command on a copy of the template.
  private static func run(_ work: Work, in folder: URL, _ point: Int, more: [String] = []) throws
    -> FullDisk.Run
  {
    let paths: Set<String> = Set(names(try template.get())).union([work.made ?? ""])
    return try disk.get().run(
      work.arguments.map { paths.contains($0) ? folder.appendingPathComponent($0).path : $0 } + more,
      in: folder, point: point)
  }

  /// All points in a soak. Otherwise two, which are others for each work.
  private static func points(_ work: Work, of calls: Int) -> [Int] {
    if Soak.isOn { return Array(1...calls) }
    let number: Int = works.firstIndex { $0.arguments == work.arguments } ?? 0
    let part: Int = (calls - 1) * (2 * number + 1) / (4 * works.count)
    return [1 + part, 1 + part + (calls - 1) / 2]
  }

  @Test(arguments: works) func `a full disk is told in one line, and nothing is lost or left`(work: Work)
    throws
  {
    let good: URL = try Self.copied()
    let whole: FullDisk.Run = try Self.run(work, in: good, 0)
    #expect(whole.run.status == 0, "\(whole.run.errors)")
    #expect(whole.calls > 0)
    // Each of these costs a process.
    lazy var expected: Result<String, any Error> = Result { try Self.madeContents(work, good) }
    lazy var former: Result<String, any Error> = Result {
      try Self.contents(work.arguments[1], Self.template.get())
    }
    let before: [String: Data] = try FolderState(Self.template.get()).contents
    var refused: Int = 0
    for point in Self.points(work, of: whole.calls) {
      let folder: URL = try Self.copied()
      defer { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
      let outcome: FullDisk.Run = try Self.run(work, in: folder, point)
      let (text, place) = (outcome.run.errors, "point \(point) of \(whole.calls), \(outcome.call)")
      if outcome.run.status == 0 {
        // Nothing needed the space: the file that a lock is, a folder that is synchronized.
        let found: String = try Self.madeContents(work, folder)
        #expect(try found == expected.get(), "\(place)")
        continue
      }
      refused += 1
      #expect(outcome.run.status == 1, "\(place): \(text)")
      #expect(text.hasPrefix("clarus: "), "\(place): \(text)")
      #expect(text.split(separator: "\n").count == 1, "\(place): \(text)")
      #expect(text.lowercased().contains("space") || text.contains("full"), "\(place): \(text)")
      #expect(text.contains(folder.path), "\(place): \(text)")
      #expect(!text.contains(".new-"), "\(place) names a temporary file: \(text)")
      for word in ["SELECT", "TRANSACTION", "CREATE", "PRAGMA", "Error Domain"] {
        #expect(!text.contains(word), "\(place): \(text)")
      }
      if work.made == nil {
        // A commit whose log could not be synced may be recovered: files of large values stay until the next
        // opening knows.
        let again = try Self.run(work, in: folder, 0, more: ["--dry-run"])
        #expect(again.run.status == 0, "\(place): \(again.run.errors)")
      }
      let after: [String: Data] = try FolderState(folder).contents
      if after == before { continue }
      // Other bytes may be the same contents, or all that was to be brought in.
      #expect(work.made == nil, "\(place): \(after.keys.sorted())")
      let found: String = try Self.contents(work.arguments[1], folder)
      if try found == expected.get() { continue }
      #expect(try found == former.get(), "\(place)")
      #expect(after.keys.sorted() == before.keys.sorted(), "\(place)")
    }
    #expect(refused > 0)
  }

  @Test func `a store that can't be opened on a full disk has no log beside it`() throws {
    let work = Work("import Photos.sqlite photos.json")
    let names: [String] = Self.names(try Self.template.get())
    var isLogMet: Bool = false
    for point in Soak.isOn ? Array(1...16) : [4, 10] {
      let folder: URL = try Self.copied()
      defer { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
      let outcome: FullDisk.Run = try Self.run(work, in: folder, point)
      guard outcome.call.contains("-shm") else { continue }
      isLogMet = true
      #expect(
        outcome.run.status == 1 && outcome.run.errors.contains("the disk is full"), "\(outcome.run.errors)")
      #expect(Self.names(folder) == names, "\(outcome.call)")
    }
    #expect(isLogMet)
  }

  @Test func `commands that read need no space`() throws {
    let folder: URL = try Self.copied()
    let state = try FolderState(folder)
    for line in [
      "check Photos.sqlite", "export Photos.sqlite", "diff Photos.sqlite Photos.sqlite",
      "info Photos.xml",
      "fetch Photos.sqlite Photo",
    ] {
      let arguments: [String] = line.split(separator: " ").map { word in
        word.hasPrefix("Photos.") ? folder.appendingPathComponent(String(word)).path : String(word)
      }
      let outcome: FullDisk.Run = try Self.disk.get().run(arguments, in: folder, point: 1)
      #expect(outcome.run.status == 0, "\(line): \(outcome.run.errors)\(outcome.run.output.prefix(500))")
      #expect(outcome.calls == 0, "\(line): \(outcome.call)")
    }
    #expect(try FolderState(folder) == state)
  }

  @Test(arguments: ["check", "export", "diff", "info", "fetch", "convert", "import"])
  func `an output without space is told in one line`(command: String) throws {
    let store = try RichStore()
    defer { store.remove() }
    try #"{"Tag": [{"label": "new"}]}"#.write(
      to: store.file("items.json"), atomically: true, encoding: .utf8)
    let more: [String] =
      switch command {
      case "convert": [store.file("Out.sqlite").path]
      case "diff": [store.path]
      case "fetch": ["Item"]
      case "import": [store.file("items.json").path]
      default: []
      }
    let words: String = ([command, store.path] + more).map { "'\($0)'" }.joined(separator: " ")
    let run = try CommandLineRun(shell: "\"$CLARUS\" \(words) > /dev/full")
    #expect(run.status == (command == "diff" ? 2 : 1), "\(run.errors)")
    #expect(run.errors.hasPrefix("clarus: ") && run.errors.contains("space"), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
  }
}
