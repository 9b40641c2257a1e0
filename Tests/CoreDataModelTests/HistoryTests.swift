import CoreDataModel
import Foundation
import TestSupport
import Testing

/// The model histories of real programs: which consecutive versions a migration infers.
@Suite(.enabled(if: FixtureFolder.isPresent, "\(FixtureFolder.absence)"))
struct HistoryTests {
  /// The packages with several versions.
  private static let packages: [URL] = FixtureFolder.find(["xcdatamodeld"], under: "models")

  /// The versions of a package in the order of the numbers in their names; the unnumbered one is the first.
  /// Xcode 3's are left out.
  private static func versions(_ package: URL) throws -> [(name: String, model: NSManagedObjectModel)] {
    try FileManager.default.contentsOfDirectory(atPath: package.path)
      .filter { $0.hasSuffix(".xcdatamodel") }
      .map { String($0.dropLast(".xcdatamodel".count)) }
      .sorted { order($0).compare(order($1), options: .numeric) == .orderedAscending }
      .compactMap { name in
        let url: URL = package.appendingPathComponent("\(name).xcdatamodel")
        guard FileManager.default.fileExists(atPath: url.appendingPathComponent("contents").path) else {
          return nil
        }
        return (name, try NSManagedObjectModel.load(contentsOf: url).model)
      }
  }

  private static func order(_ name: String) -> String { name.replacingOccurrences(of: " ", with: "") }

  /// What of the consecutive versions of a package is inferred.
  private struct Outcome: Equatable {
    var inferred: Int = 0
    /// Stores of the older version open with the newer one.
    var equal: Int = 0
    var conditions: [String] = []
    /// Newer versions, and the properties for which the older one can't be migrated by inference.
    var refused: [String: [String]] = [:]
  }

  private static let outcomes: [String: Outcome] = [
    "ArtsyPartner": Outcome(inferred: 17, refused: ["ArtsyPartner": ["Image.baseURL"]]),
    "BookmarksModel": Outcome(inferred: 5),
    "ExampleModel": Outcome(inferred: 2),
    "Extensions": Outcome(inferred: 2),
    "Meshtastic": Outcome(
      inferred: 54, equal: 2,
      conditions: [
        "No two objects of WaypointEntity may have the same id.",
        "The 'color' of every RouteEntity must be a number that a value of type Integer 32 can be "
          + "(-2147483648 to 2147483647).",
        "The 'snr' of every TraceRouteHopEntity must be a number that a value of type Float can be without rounding.",
      ], refused: ["MeshtasticDataModelV6": ["WaypointEntity.expire", "WaypointEntity.name"]]),
    "Model": Outcome(inferred: 27),
    "SampleModel": Outcome(inferred: 2),
    "SampleModel3": Outcome(inferred: 2),
    "SyncMetadata": Outcome(inferred: 3),
    "WordPress": Outcome(inferred: 58, equal: 2),
  ]

  @Test func `consecutive versions are inferred, or refused by property`() throws {
    var outcomes: [String: Outcome] = [:]
    for package in Self.packages {
      let versions = try Self.versions(package)
      if versions.count < 2 { continue }
      let name: String = package.deletingPathExtension().lastPathComponent
      for (old, new) in zip(versions, versions.dropFirst()) {
        let inference = MappingInference(from: old.model, to: new.model)
        if !inference.difference.changesVersionHashes {
          outcomes[name, default: Outcome()].equal += 1
        } else if inference.refusals.isEmpty {
          outcomes[name, default: Outcome()].inferred += 1
          outcomes[name]?.conditions += inference.conditions.map(\.description)
        } else {
          outcomes[name, default: Outcome()].refused[new.name] = inference.refusals.map {
            "\($0.entity).\($0.property ?? "")"
          }
        }
      }
    }
    for name in Set(outcomes.keys).union(Self.outcomes.keys).sorted() {
      #expect(outcomes[name] == Self.outcomes[name], "\(name)")
    }
  }
}
