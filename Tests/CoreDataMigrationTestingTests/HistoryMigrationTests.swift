import CoreData
import CoreDataMigrationTesting
import TestSupport
import Testing

/// Stores of every version of the models of real programs, full of generated objects, become stores of the
/// next version and of the newest one.
@Suite(.enabled(if: SharedFiles.fixtures != nil, "\(SharedFiles.absence)"))
struct HistoryMigrationTests {
  /// The versions that inference can't reach from the one before, by package.
  private static let refused: [String: [String]] = [
    "Meshtastic": ["MeshtasticDataModelV6", "MeshtasticDataModelV 34", "MeshtasticDataModelV 45"]
  ]

  private static let small: [RealModels] = RealModels.named(
    "BookmarksModel", "ExampleModel", "Extensions", "SampleModel", "SampleModel3", "SyncMetadata")

  private static func expect(_ report: MigrationTestReport, of history: RealModels) {
    for step in report.steps {
      if case .refused = step.outcome { continue }
      #expect(step.failures == [], "\(history.name): \(step)")
      #expect(step.objects > 0, "\(history.name): \(step)")
    }
    // The models' transformable attributes of own classes.
    #expect(report.unfilled.allSatisfy { $0.contains("of the program") }, "\(report.unfilled)")
  }

  private static func refusals(_ report: MigrationTestReport, _ route: MigrationTester.Routes) -> [String] {
    report.steps.compactMap { step in
      guard case .refused = step.outcome, step.route == route else { return nil }
      return step.destination
    }
  }

  @Test(arguments: small)
  func `a small history is migrated step by step, through all, and at once`(history: RealModels) throws {
    var tester = MigrationTester(versions: try history.versions())
    tester.work = Soak.isOn ? .both : .automatic
    tester.storeTypes = [.sqlite, .xml]
    tester.objectsPerEntity = 3
    let report: MigrationTestReport = try tester.run()
    Self.expect(report, of: history)
    #expect(report.failures == [])
  }

  /// Inference refuses some versions that lie before a change of a type, or before a new required value.
  @Test(arguments: small + (Soak.isOn ? RealModels.named("Meshtastic") : []))
  func `every version from which nothing leads to the newest is a failure`(history: RealModels) throws {
    var tester = MigrationTester(versions: try history.versions())
    let newest: MigrationTester.Version = try #require(tester.versions.last)
    let refused: [String] = tester.versions.dropLast().filter { version in
      !MappingInference(from: version.model, to: newest.model).refusals.isEmpty
    }.map(\.name)
    tester.routes = .atOnce
    tester.objectsPerEntity = 2
    let failures: [String] = try tester.run().failures
    #expect(refused.count == (history.name == "Meshtastic" ? 11 : 0), "\(refused)")
    #expect(failures.count == refused.count, "\(failures)")
    for (name, failure) in zip(refused, failures) {
      #expect(failure.contains("A store of \(name) can't be opened with \(newest.name)"), "\(failure)")
    }
    tester.unsupported = Set(refused)
    #expect(try tester.run().failures == [])
  }

  @Test(arguments: RealModels.named("WordPress", "Meshtastic", "ArtsyPartner", "Model"))
  func `steps of a long history are migrated`(history: RealModels) throws {
    for versions in try history.someSteps() {
      var tester = MigrationTester(versions: versions)
      tester.objectsPerEntity = 3
      let report: MigrationTestReport = try tester.run()
      Self.expect(report, of: history)
    }
  }

  @Test(.enabled(if: Soak.isOn), arguments: RealModels.all)
  func `a whole history is migrated, and its table is printed`(history: RealModels) throws {
    var tester = MigrationTester(versions: try history.versions())
    tester.objectsPerEntity = 4
    if tester.versions.count < 10 {
      tester.storeTypes += [.xml, .binary]
      tester.work = .both
    }
    let report: MigrationTestReport = try tester.run()
    print("\(history.repository) \(history.name), \(tester.versions.count) versions\n\(report)")
    Self.expect(report, of: history)
    let perKind: [String] = Self.refused[history.name] ?? []
    let kinds: Int = Set(report.steps.map(\.storeType)).count
    #expect(
      Self.refusals(report, .eachStep) == Array(repeating: perKind, count: kinds).flatMap(\.self),
      "\(history.name)")
  }

  /// Where a repository has a mapping model for two of its versions, it is used in place of inference.
  /// Those of WordPress are in the long runs: to find their versions all have to be read.
  @Test(arguments: RealModels.all.filter { $0.name != "WordPress" || Soak.isOn })
  func `the programs' own mapping models migrate`(history: RealModels) throws {
    let mappings: [NSMappingModel] = history.mappings()
    if mappings.isEmpty { return }
    let versions: [MigrationTester.Version] = try history.versions()
    for mapping in mappings {
      func place(_ key: KeyPath<NSEntityMapping, String?>, _ hash: KeyPath<NSEntityMapping, Data?>) -> Int? {
        versions.firstIndex { version in
          (mapping.entityMappings ?? []).allSatisfy { entity in
            guard let name = entity[keyPath: key] else { return true }
            let known: Data? = version.model.entityVersionHashesByName[name]
            return known != nil && (entity[keyPath: hash] ?? known) == known
          }
        }
      }
      guard let from = place(\.sourceEntityName, \.sourceEntityVersionHash),
        let to = place(\.destinationEntityName, \.destinationEntityVersionHash), from != to
      else { continue }
      var tester = MigrationTester(versions: [versions[from], versions[to]])
      tester.mapping = { _, _ in mapping }
      let report: MigrationTestReport = try tester.run()
      Self.expect(report, of: history)
    }
  }
}
