import ArgumentParser
import CoreData
import Foundation
import GRDBSQLite

/// `clarus-bench migrate`: stores that get another version of their model, in place beside the same
/// statements by hand, and object by object.
struct MigrationsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Migrates stores.",
    discussion: """
      Each measurement runs in a process of its own, on a copy of one file. in place: the store is added with the options for \
      automatic migration; that opens it, plans, checks, migrates in one transaction, proves the result. by hand: sqlite3 opens \
      the file and runs the same changes in one transaction with the same settings. copying: an NSMigrationManager with an \
      inferred mapping model, or, for the split, with a policy.
      """)

  @Option(help: "The number of rows.")
  var rows: Int = 1_000_000
  @Option(help: "The number of rows that are copied object by object.")
  var copied: Int = 100_000
  @Option(help: "How often each process is started.")
  var rounds: Int = 3

  func run() throws {
    let folder: URL = FileManager.default.temporaryDirectory
      .appendingPathComponent("clarus-bench-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    print(cells("\(rows.formatted) rows, in one transaction", ["hand ms", "Clarus ms", "ratio", "peak MiB"]))
    let template: URL = folder.appendingPathComponent("template.sqlite")
    try MigrationPass.makeStore(at: template, rows: rows)
    for name in MigrationCase.allCases where name.statements != nil {
      // In turn, so that both see the same machine.
      var results: [MigrationWay: [MigrationMeasurement]] = [:]
      for _ in 0..<rounds {
        for way in [MigrationWay.hand, .inPlace] {
          results[way, default: []].append(try measure(name, way, template, rows, folder))
        }
      }
      let (hand, own): (Double, Double) = (best(results[.hand]), best(results[.inPlace]))
      print(
        cells(
          "  " + name.title,
          [fixed(hand * 1e3, 1), fixed(own * 1e3, 1), fixed(own / hand, 2), peak(results[.inPlace])]))
    }
    print(cells("\n\(copied.formatted) rows, object by object", ["ms", "rows/s", "peak MiB"]))
    let small: URL = folder.appendingPathComponent("small.sqlite")
    try MigrationPass.makeStore(at: small, rows: copied)
    for name in [MigrationCase.add, .split] {
      var results: [MigrationMeasurement] = []
      for _ in 0..<rounds { results.append(try measure(name, .copying, small, copied, folder)) }
      let seconds: Double = best(results)
      print(
        cells(
          "  " + name.title, [fixed(seconds * 1e3, 0), fixed(Double(copied) / seconds, 0), peak(results)]))
    }
    print("\nMinimum of \(rounds) processes each. Peak: resident memory of the process.")
  }

  private func best(_ results: [MigrationMeasurement]?) -> Double { results?.map(\.seconds).min() ?? 0 }

  private func peak(_ results: [MigrationMeasurement]?) -> String {
    fixed(Double(results?.map(\.peak).max() ?? 0) / 1_048_576, 0)
  }

  private func measure(
    _ name: MigrationCase, _ way: MigrationWay, _ template: URL, _ rows: Int, _ folder: URL
  ) throws -> MigrationMeasurement {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [
      "migrate-pass", name.rawValue, way.rawValue, "--rows", String(rows), "--template", template.path,
      "--folder", folder.path,
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data: Data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw BenchmarkError("\(name.rawValue), \(way.rawValue), failed.")
    }
    return try JSONDecoder().decode(MigrationMeasurement.self, from: data)
  }

  private func cells(_ title: String, _ cells: [String]) -> String {
    title.padding(toLength: 34, withPad: " ", startingAt: 0)
      + cells.map { String(repeating: " ", count: max(1, 11 - $0.count)) + $0 }.joined()
  }

  private func fixed(_ value: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", value) }
}

enum MigrationWay: String, ExpressibleByArgument { case hand, inPlace, copying }

extension MigrationCase: ExpressibleByArgument {}

struct MigrationMeasurement: Codable {
  var seconds: Double
  var peak: Int
}

/// One process of `MigrationsCommand`.
struct MigrationPassCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "migrate-pass", shouldDisplay: false)

  @Argument var name: MigrationCase
  @Argument var way: MigrationWay
  @Option var rows: Int
  @Option var template: String
  @Option var folder: String

  func run() throws {
    let pass = MigrationPass(
      name: name, way: way, rows: rows, template: URL(fileURLWithPath: template),
      folder: URL(fileURLWithPath: folder))
    print(String(decoding: try JSONEncoder().encode(try pass.run()), as: UTF8.self))
  }
}
