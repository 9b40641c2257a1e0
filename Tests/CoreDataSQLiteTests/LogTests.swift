import CoreDataModel
import CoreDataStorage
import Foundation
import Testing

@testable import CoreDataSQLite

/// The levels of `-com.apple.CoreData.SQLDebug`, and what entries say.
@Suite
struct LogTests {
  @Test(
    arguments: [
      (["x"], [:], 0), (["x", "-com.apple.CoreData.SQLDebug", "3"], [:], 3),
      (["x", "-com.apple.CoreData.SQLDebug", "9"], [:], 4),
      (["x", "-com.apple.CoreData.SQLDebug", "-2"], [:], 0),
      (["x", "-com.apple.CoreData.SQLDebug"], ["CLARUS_SQL_DEBUG": "2"], 2),
      (["x", "-com.apple.CoreData.SQLDebug", "yes"], ["CLARUS_SQL_DEBUG": "1"], 1),
      (["x"], ["com.apple.CoreData.SQLDebug": "4"], 4),
      (["x"], ["com.apple.CoreData.SQLDebug": "1", "CLARUS_SQL_DEBUG": "3"], 1),
      (["x", "-com.apple.CoreData.SQLDebug", "0"], ["CLARUS_SQL_DEBUG": "3"], 0),
    ] as [([String], [String: String], Int)])
  func `a launch argument decides before the environment`(
    _ arguments: [String], _ environment: [String: String], _ level: Int
  ) {
    #expect(LogSink.level(environment: environment, arguments: arguments) == level)
  }

  @Test func `entries have the form of Apple's lines`() {
    var entry = LogEntry(.statement, "SELECT 1", rows: 3)
    #expect(entry.description == "CoreData: sql: SELECT 1\nCoreData: annotation: 3 rows.")
    entry.duration = .milliseconds(12)
    entry.values = ["'a'"]
    entry.objects = ["Item/p1", "Item/p2"]
    entry.plan = ["SCAN t0"]
    #expect(
      entry.description == """
        CoreData: sql: SELECT 1
        CoreData: details: SQLite bind[0] = 'a'
        CoreData: annotation: total execution time: 0.0120s for 3 rows.
        CoreData: annotation: fetched Item/p1, Item/p2
        CoreData: annotation: plan: SCAN t0
        """)
    (entry.rows, entry.duration, entry.values, entry.objects, entry.plan) = (nil, nil, [], [], [])
    entry.failure = "locked"
    #expect(entry.description == "CoreData: sql: SELECT 1\nCoreData: annotation: failed: locked")
    #expect(LogEntry(.faulting, "text").description == "CoreData: faulting: text")
  }
}
