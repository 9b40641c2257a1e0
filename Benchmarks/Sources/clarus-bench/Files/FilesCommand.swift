import ArgumentParser
import Foundation

/// `clarus-bench files`: stores that are one file, beside JSON of the same values and a bare pass of
/// `XMLParser` over the same document.
struct FilesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "files", abstract: "Saves and loads stores that are one file.",
    discussion: """
      Each measurement runs in a process of its own. save: context.save() with all objects new, or JSONEncoder and \
      an atomic write. load: opening the store, fetching all objects and reading all values, or JSONDecoder and \
      reading them; for the parser a pass with a delegate that counts elements.
      """)

  @Option(help: "The number of objects.")
  var rows: Int = 100_000
  @Option(help: "How often each process is started.")
  var rounds: Int = 3

  func run() throws {
    let folder: URL = try OwnProcess.makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    var base: [FileCase: Double] = [:]
    let table = TextColumns(first: 22, other: 10)
    print(table.row("", ["min ms", "µs each", "× JSON", "peak MiB", "file MiB"]))
    for name in FileCase.allCases {
      print("\n\(name.rawValue), \(rows.formatted) objects of ten values")
      var sums: Set<UInt64> = []
      for contestant in FileContestant.allCases where name == .load || contestant != .parser {
        var results: [FileMeasurement] = []
        for _ in 0..<rounds { results.append(try measure(contestant, name, folder)) }
        let seconds: Double = results.map(\.seconds).min() ?? 0
        if contestant == .json { base[name] = seconds }
        if contestant != .parser { sums.formUnion(results.map(\.checksum)) }
        print(
          table.row(
            "  " + contestant.title,
            [
              (seconds * 1e3).fixed(1), (seconds * 1e6 / Double(rows)).fixed(2),
              base[name].map { (seconds / $0).fixed(2) } ?? "–",
              (Double(results.map(\.peak).max() ?? 0) / 1_048_576).fixed(0),
              (Double(results[0].size) / 1_048_576).fixed(1),
            ]))
      }
      guard sums.count == 1 else {
        throw BenchmarkError("The contestants \(name.rawValue) different values.")
      }
    }
    print("\nMinimum of \(rounds) processes each. Peak: resident memory of the process. Checksums agree.")
  }

  private func measure(_ contestant: FileContestant, _ name: FileCase, _ folder: URL) throws
    -> FileMeasurement
  {
    try OwnProcess.measure(
      FileMeasurement.self, label: "\(contestant.title) in case \(name.rawValue)", "file-pass",
      contestant.rawValue, name.rawValue, "--rows", String(rows), "--folder", folder.path)
  }
}

/// One process of `FilesCommand`.
struct FilePassCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "file-pass", shouldDisplay: false)

  @Argument var contestant: FileContestant
  @Argument var name: FileCase
  @Option var rows: Int
  @Option var folder: String

  func run() throws {
    let pass = FilePass(contestant: contestant, rows: rows, folder: URL(fileURLWithPath: folder))
    try OwnProcess.print(try pass.run(name))
  }
}

enum FileCase: String, CaseIterable, ExpressibleByArgument { case save, load }

/// JSON comes first: the ratios are of its times.
enum FileContestant: String, CaseIterable, ExpressibleByArgument {
  case json, parser, xml, binary, sqlite

  var title: String {
    switch self {
    case .json: "JSON"
    case .parser: "XMLParser alone"
    case .xml: "Clarus XML"
    case .binary: "Clarus binary"
    case .sqlite: "Clarus SQLite"
    }
  }
}

struct FileMeasurement: Codable {
  var seconds: Double
  var peak: Int
  var size: Int
  var checksum: UInt64
}
