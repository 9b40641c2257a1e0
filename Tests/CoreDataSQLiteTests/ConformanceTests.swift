import CoreDataStorage
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CoreDataSQLite

@Suite
struct ConformanceTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func run(_ scenario: StoreScenario, _ options: SQLiteOptions) throws {
    let folder: TemporaryFolder = folder
    try scenario.run(
      on: StoreMaker(
        make: { layout in
          try SQLiteEngine.open(
            url: folder.file("\(UUID().uuidString).sqlite"), layout: layout, options: options)
        },
        reopen: { engine in
          guard let engine = engine as? SQLiteEngine else { return engine }
          try engine.close()
          return try SQLiteEngine.open(url: engine.url, layout: engine.layout, options: options)
        }))
  }

  @Test(arguments: StoreScenario.all)
  func `the SQLite store behaves as every store does`(scenario: StoreScenario) throws {
    try run(scenario, SQLiteOptions())
  }

  @Test(arguments: StoreScenario.all)
  func `so does a store with a rollback journal`(scenario: StoreScenario) throws {
    var options = SQLiteOptions()
    options.pragmas = ["journal_mode": "DELETE", "synchronous": "OFF"]
    try run(scenario, options)
  }
}
