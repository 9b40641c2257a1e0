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
      Each process migrates two copies of one file, which are on the disk before. first: the first migration of the process, \
      with what Swift's runtime and SQLite do once; then the second one, whose times the ratio compares. in place: the store is \
      added with the options for automatic migration; that opens it, plans, checks, migrates in one transaction, proves the result. \
      by hand: sqlite3 opens the file and runs the same changes in one transaction with the same settings. copying: an \
      NSMigrationManager with an inferred mapping model, or, for the split, with a policy.
      """)

  @Option(help: "The number of rows.")
  var rows: Int = 1_000_000
  @Option(help: "The number of rows that are copied object by object.")
  var copied: Int = 100_000
  @Option(help: "How often each process is started.")
  var rounds: Int = 3

  func run() throws {
    let folder: URL = try OwnProcess.makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let table = TextColumns(first: 34, other: 11)
    print(
      table.row(
        "\(rows.formatted) rows, in one transaction",
        ["hand ms", "Clarus ms", "ratio", "hand first", "first", "peak MiB"]))
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
      let (hand, own): (Double, Double) = (
        best(results[.hand], \.seconds), best(results[.inPlace], \.seconds)
      )
      print(
        table.row(
          "  " + name.title,
          [
            (hand * 1e3).fixed(1), (own * 1e3).fixed(1), (own / hand).fixed(2),
            (best(results[.hand], \.first) * 1e3).fixed(1), (best(results[.inPlace], \.first) * 1e3).fixed(1),
            peak(results[.inPlace]),
          ]))
    }
    print(table.row("\n\(copied.formatted) rows, object by object", ["ms", "rows/s", "peak MiB"]))
    let small: URL = folder.appendingPathComponent("small.sqlite")
    try MigrationPass.makeStore(at: small, rows: copied)
    for name in [MigrationCase.add, .split] {
      var results: [MigrationMeasurement] = []
      for _ in 0..<rounds { results.append(try measure(name, .copying, small, copied, folder)) }
      let seconds: Double = best(results, \.seconds)
      print(
        table.row(
          "  " + name.title, [(seconds * 1e3).fixed(0), (Double(copied) / seconds).fixed(0), peak(results)]))
    }
    print("\nMinimum of \(rounds) processes each. Peak: resident memory of the process.")
  }

  private func best(
    _ results: [MigrationMeasurement]?, _ time: KeyPath<MigrationMeasurement, Double>
  ) -> Double { results?.map { $0[keyPath: time] }.min() ?? 0 }

  private func peak(_ results: [MigrationMeasurement]?) -> String {
    (Double(results?.map(\.peak).max() ?? 0) / 1_048_576).fixed(0)
  }

  private func measure(
    _ name: MigrationCase, _ way: MigrationWay, _ template: URL, _ rows: Int, _ folder: URL
  ) throws -> MigrationMeasurement {
    try OwnProcess.measure(
      MigrationMeasurement.self, label: "\(name.rawValue), \(way.rawValue),", "migrate-pass", name.rawValue,
      way.rawValue, "--rows", String(rows), "--template", template.path, "--folder", folder.path)
  }
}

enum MigrationWay: String, ExpressibleByArgument { case hand, inPlace, copying }

extension MigrationCase: ExpressibleByArgument {}

struct MigrationMeasurement: Codable {
  /// Of the process's first migration.
  var first: Double
  /// Of its second one.
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
    try OwnProcess.print(try pass.run())
  }
}
