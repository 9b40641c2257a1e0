import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Random operations on the graph against a slow, obvious model of it.
@Suite
struct GraphLawTests {
  private static let seeds: [UInt64] = {
    // One seed, or the first and the last of many: 1-3000.
    let given: [UInt64] =
      ProcessInfo.processInfo.environment["CLARUS_SEED"]?.split(separator: "-").compactMap { UInt64($0) }
      ?? []
    if let first = given.first, let last = given.last, first <= last { return Array(first...last) }
    return Array(1...(Soak.isOn ? 10_000 : 100))
  }()

  @Test(arguments: StoreKind.allCases)
  func `the graph does what the obvious model does`(kind: StoreKind) throws {
    for seed in Self.seeds {
      var walk = try GraphWalk(kind, seed: seed)
      do {
        try walk.run(steps: 60)
      } catch let difference as GraphDifference {
        Issue.record(
          """
          seed \(seed), \(kind.rawValue): \(difference.text)
          \(walk.log.suffix(25).joined(separator: "\n"))
          """)
        return
      }
    }
  }
}
