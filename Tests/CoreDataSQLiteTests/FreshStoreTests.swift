import CoreDataModel
import CoreDataStorage
import Foundation
import TestSupport
import Testing

@testable import CoreDataSQLite

/// Fresh stores beside those that Apple's framework made of the same model, compared by
/// `shared/tools/store_compare.py`: files, schema, metadata and cached model, object by object.
/// `CLARUS_PAIRS` names a folder in which stores and list are to be kept, so that the tool can be run over
/// them by hand.
@Suite(
  .enabled(
    if: SharedFiles.fixtures != nil && ComparisonTool.url != nil, "the collection or its tool is not there"))
struct FreshStoreTests {
  @Test func `a fresh store has nothing that Apple's framework would fail on or misread`() throws {
    let kept: String? = ProcessInfo.processInfo.environment["CLARUS_PAIRS"]
    let folder: TemporaryFolder = try TemporaryFolder(keptAt: kept)
    var pairs: [ComparisonTool.Pair] = []
    for (number, path) in SharedFiles.stores.enumerated() {
      let file: SQLiteStoreFile = try SQLiteStoreFile.inspect(url: RealFiles.store(path))
      let sources: [NSManagedObjectModel] = try Self.sources(path, of: file)
      for (place, model) in ([file.model].compactMap(\.self) + sources).enumerated() {
        let kind: String = place == 0 && file.model != nil ? "cache" : "source"
        let url: URL = folder.file("\(number)-\(place).sqlite")
        var options = SQLiteOptions()
        options.entityNames = RealStoreTests.entityNames(file, model)
        try SQLiteEngine.open(url: url, layout: ModelLayout(model: model), options: options).close()
        pairs.append(
          ComparisonTool.Pair(name: "\(path) (\(kind))", reference: RealFiles.store(path), candidate: url))
      }
    }
    let differences: [ComparisonTool.Difference] = try ComparisonTool.compare(pairs, in: folder)
    #expect(pairs.count > SharedFiles.stores.count / 2)
    let unexplained: [ComparisonTool.Difference] = differences.filter { difference in
      difference.severity == "break" && !Self.explained.contains { difference.what.contains($0) }
    }
    #expect(unexplained.map(\.description) == [])
  }

  /// Differences that are the reference's: made before stores carried their model, and one whose migration
  /// kept an entity's old name.
  private static let explained: [String] = [
    "candidate only: Z_MODELCACHE", "reference ('ExpensiveSportCar', 2), candidate ('LuxuryCar', 2)",
  ]

  /// Model sources of the store's repository whose entities hash to what the store's metadata say.
  private static func sources(_ path: String, of file: SQLiteStoreFile) throws -> [NSManagedObjectModel] {
    let repository: String = path.split(separator: "/").first.map(String.init) ?? ""
    let folder: URL = SharedFiles.fixtures!.appendingPathComponent("models/\(repository)")
    guard let versions = file.versions, let walk = FileManager.default.enumerator(atPath: folder.path) else {
      return []
    }
    var result: [NSManagedObjectModel] = []
    for case let path as String in walk where path.hasSuffix(".xcdatamodel") {
      guard let model = NSManagedObjectModel(contentsOf: folder.appendingPathComponent(path)),
        Set(model.entitiesByName.keys) == Set(versions.hashes.keys),
        model.entities.allSatisfy({ versions.fits($0) == true })
      else { continue }
      result.append(model)
    }
    return result
  }
}

/// The script beside the collection that compares two stores.
enum ComparisonTool {
  struct Pair {
    var name: String
    var reference: URL
    var candidate: URL
  }

  struct Difference: CustomStringConvertible {
    var pair: String
    var part: String
    var severity: String
    var what: String

    var description: String { "\(pair): \(part) | \(severity) | \(what)" }
  }

  static let url: URL? = {
    guard
      let tool = SharedFiles.fixtures?.deletingLastPathComponent().appendingPathComponent(
        "tools/store_compare.py")
    else { return nil }
    return FileManager.default.fileExists(atPath: tool.path) ? tool : nil
  }()

  static func compare(_ pairs: [Pair], in folder: TemporaryFolder) throws -> [Difference] {
    let list: URL = folder.file("pairs.tsv")
    let text: String = pairs.map { "\($0.name)\t\($0.reference.path)\t\($0.candidate.path)\n" }.joined()
    try text.write(to: list, atomically: true, encoding: .utf8)
    let output: URL = folder.file("differences.json")
    try Data().write(to: output)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", url!.path, "--pairs", list.path, "--json"]
    process.standardOutput = try FileHandle(forWritingTo: output)
    try process.run()
    process.waitUntilExit()
    let read: Any = try JSONSerialization.jsonObject(with: Data(contentsOf: output))
    let stores: [[String: Any]] = try #require(read as? [[String: Any]])
    #expect(stores.count == pairs.count)
    return stores.flatMap { store -> [Difference] in
      let lines: [[Any]] = store["differences"] as? [[Any]] ?? []
      return lines.map {
        Difference(
          pair: store["name"] as? String ?? "", part: "\($0[0])", severity: "\($0[1])", what: "\($0[2])")
      }
    }
  }
}
