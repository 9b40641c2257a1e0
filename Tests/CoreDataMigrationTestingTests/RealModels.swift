import CoreData
import Synchronization
import TestSupport
import Testing

@testable import CoreDataMigrationTesting

/// The model histories of real programs.
struct RealModels: Sendable, CustomTestStringConvertible {
  /// Such as `alemar11+CoreDataPlus`.
  let repository: String
  let package: URL

  var name: String { package.deletingPathExtension().lastPathComponent }
  var testDescription: String { name }

  /// Every package with several versions.
  static let all: [RealModels] = files(["xcdatamodeld"], in: "models").compactMap { repository, url in
    let found = RealModels(repository: repository, package: url)
    return found.versionNames.count > 1 && isChosen(found.name) ? found : nil
  }

  /// One model at a time, since the long runs over all of them take more than an hour.
  private static func isChosen(_ name: String) -> Bool {
    guard let chosen = ProcessInfo.processInfo.environment["CLARUS_MODEL"] else { return true }
    return name == chosen
  }

  static func named(_ names: String...) -> [RealModels] { all.filter { names.contains($0.name) } }

  /// Files with these endings in a folder of the collection, with the repository of each, in order.
  static func files(_ endings: [String], in folder: String) -> [(repository: String, url: URL)] {
    guard let root = SharedFiles.fixtures?.appendingPathComponent(folder),
      let walk = FileManager.default.enumerator(atPath: root.path)
    else { return [] }
    return walk.compactMap { $0 as? String }.sorted().compactMap { path in
      let url: URL = root.appendingPathComponent(path)
      guard endings.contains(url.pathExtension) else { return nil }
      return (String(path.prefix { $0 != "/" }), url)
    }
  }

  /// From the oldest. Xcode 3's are left out.
  private var versionNames: [String] {
    let names: [String] = (try? FileManager.default.contentsOfDirectory(atPath: package.path)) ?? []
    let readable: [String] = names.filter { name in
      FileManager.default.fileExists(atPath: package.appendingPathComponent("\(name)/contents").path)
    }
    return MigrationTester.ordered(readable.map { ($0 as NSString).deletingPathExtension }, package: name)
  }

  /// Each is read once: the long histories have many megabytes.
  private static let known = Mutex<[URL: NSManagedObjectModel]>([:])

  private func version(_ name: String) throws -> MigrationTester.Version {
    let url: URL = package.appendingPathComponent("\(name).xcdatamodel")
    let model: NSManagedObjectModel = try Self.known.withLock { known in
      if let found = known[url] { return found }
      let read: NSManagedObjectModel = try .load(contentsOf: url).model
      known[url] = read
      return read
    }
    return .init(name, model)
  }

  /// From the oldest.
  func versions() throws -> [MigrationTester.Version] { try versionNames.map(version) }

  /// The last step from a version to the next; in the long runs the first and a middle one too.
  func someSteps() throws -> [[MigrationTester.Version]] {
    let names: [String] = versionNames
    let places: Set<Int> = Soak.isOn ? [0, (names.count - 1) / 2, names.count - 2] : [names.count - 2]
    return try places.sorted().map { place in
      try names[place...(place + 1)].map(version)
    }
  }

  /// The mapping models of the same repository that name no policy: a policy is code of the program.
  func mappings() -> [NSMappingModel] {
    Self.files(["cdm", "xcmappingmodel"], in: "mapping").filter { $0.repository == repository }
      .compactMap { NSMappingModel(contentsOf: $0.url) }
      .filter { model in
        (model.entityMappings ?? []).allSatisfy { ($0.entityMigrationPolicyClassName ?? "").isEmpty }
      }
  }
}
