import CoreData
import Foundation
import Soaking
import Testing

/// Random operations on the graph against a slow, obvious model of it.
@Suite
struct GraphLawTests {
  private static let seeds: [UInt64] = {
    if let given = ProcessInfo.processInfo.environment["CLARUS_SEED"].flatMap(UInt64.init) { return [given] }
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
