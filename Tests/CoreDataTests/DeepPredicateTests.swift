import CoreData
import Foundation
import StackSupport
import Testing

/// Predicates that nest deeper than people write them, and than SQLite can parse: the rest is
/// evaluated in memory.
@Suite
struct DeepPredicateTests {
  @Test(arguments: StoreKind.allCases, [40, 120, 480, 960])
  func `a deep predicate chooses the same objects in every store`(kind: StoreKind, levels: Int) throws {
    let stack: Stack = try Stack(kind)
    try stack.run { context in
      context.item("a").count = 1
      context.item("b").count = 2
      try context.save()
      let starts: [String] = (0..<levels / 2).map {
        $0.isMultiple(of: 2) ? "count > 0 AND (" : "count > 9 OR ("
      }
      let alternating: String =
        starts.joined() + "title == 'a'" + String(repeating: ")", count: starts.count)
      let sum: String = Array(repeating: "count", count: levels).joined(separator: " + ") + " == \(levels)"
      let nots: String = String(repeating: "NOT ", count: levels / 2 * 2) + "title == 'a'"
      for format in [alternating, sum, nots] {
        let predicate: NSPredicate = try NSPredicate(parsing: format)
        let titles: [String?] = try context.all(Item.self, "Item", predicate).map(\.title)
        #expect(titles == ["a"], "\(format.prefix(40))")
      }
    }
  }
}
