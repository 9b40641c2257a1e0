import CoreDataPredicates
import Foundation
import Testing

@Suite struct NearestNamesTests {
  @Test(arguments: [
    ("titel", ["title"]), ("TITLE", ["title"]), ("dueDat", ["dueDate"]), ("due", ["dueDate"]), ("zzzzzz", []),
    ("prioritty", ["priority"]),
  ])
  func `near names are found, far ones are not`(name: String, expected: [String]) {
    #expect(NearestNames.of(name, among: ["title", "dueDate", "priority", "isDone"]) == expected)
  }

  @Test func `without a near name the advice lists what there is`() {
    #expect(NearestNames.advice(for: "qqqqqq", among: ["b", "a"]) == "There are a, b.")
    #expect(NearestNames.advice(for: "x", among: []) == "There are none.")
    #expect(NearestNames.advice(for: "titel", among: ["title", "b"]) == "Did you mean \"title\"?")
  }

  @Test(arguments: [
    ("lenght(x) > 1", "length:"), ("averege(x) > 1", "average:"), ("upper(x) == 'A'", "uppercase:"),
  ])
  func `an unknown function names those that resemble it`(format: String, nearest: String) {
    #expect {
      try NSPredicate(parsing: format)
    } throws: {
      "\($0)".contains("Nearest: \(nearest).")
    }
  }
}
