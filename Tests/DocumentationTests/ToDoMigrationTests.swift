// snippet file
import CoreData
import CoreDataMigrationTesting
import Foundation
import Testing

@Suite struct ToDoMigrationTests {
  // Beside the sources of the program, from where this file is.
  let modelURL = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../Examples/ToDo/Sources/ToDo/ToDo.xcdatamodeld").standardizedFileURL

  @Test func everyVersionMigrates() throws {
    let tester = try MigrationTester(contentsOf: modelURL)
    let report = try tester.run()
    print(report)
    #expect(report.failures.isEmpty)
  }
}
// end
