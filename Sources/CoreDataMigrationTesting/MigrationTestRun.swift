import CoreData

/// The work of one run of a tester: its folder, its report.
final class MigrationTestRun {
  /// A kind of store, and how it is migrated.
  struct Kind {
    let type: NSPersistentStore.StoreType
    /// Object by object into a new file.
    let copies: Bool

    var name: String { copies && type == .sqlite ? "SQLite, copied" : type.rawValue }
  }

  private typealias Version = MigrationTester.Version

  private let tester: MigrationTester
  private let versions: [MigrationTester.Version]
  private let routes: MigrationRoutes
  private let folder: URL
  private var fileCount: Int = 0
  private(set) var report = MigrationTestReport()

  init(_ tester: MigrationTester) throws {
    self.tester = tester
    let names: [String] = tester.versions.map(\.name)
    if let unknown = tester.unsupported.subtracting(names).min() {
      throw MigrationTestError(
        "\(unknown), which is to be unsupported, is none of the versions \(names.joined(separator: ", ")).")
    }
    versions = tester.versions.map { .init($0.name, $0.model.withPlainClasses) }
    routes = MigrationRoutes(versions: tester.versions.map(\.model)) { old, new in
      // Those of the tester's closure are called by version.
      let (source, destination) = (Self.version(of: old, tester), Self.version(of: new, tester))
      if let source, let destination, let given = try tester.mapping(source, destination) { return given }
      return NSMappingModel(from: nil, forSourceModel: old, destinationModel: new)
    }
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("migration-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private static func version(of model: NSManagedObjectModel, _ tester: MigrationTester) -> Version? {
    tester.versions.first { $0.model === model }
  }

  func end() { try? FileManager.default.removeItem(at: folder) }

  // MARK: Routes

  func eachStep(_ kind: Kind) throws {
    for place in 0..<(versions.count - 1) {
      let url: URL = try fill(place, for: [place + 1], kind)
      _ = try migrate(url, from: place, to: place + 1, kind, .eachStep)
    }
  }

  func throughAll(_ kind: Kind) throws {
    try goThrough(fill(0, for: Array(1..<versions.count), kind), from: 0, kind) { place in
      try fill(place, for: Array((place + 1)..<versions.count), kind)
    }
  }

  /// `refill` makes a store of a version that no migration has reached; nil ends the way there.
  private func goThrough(
    _ store: URL, from first: Int, _ kind: Kind, options: [AnyHashable: Any] = [:],
    refill: (Int) throws -> URL?
  ) throws {
    var url: URL = store
    for place in first..<(versions.count - 1) {
      if let next = try migrate(url, from: place, to: place + 1, kind, .throughAll, options) {
        url = next
      } else if place + 2 < versions.count {
        guard let other = try refill(place + 1) else { return }
        url = other
      }
    }
  }

  /// Only the oldest version gets a store: of the others only the way is looked for.
  func atOnce(_ kind: Kind) throws {
    let last: Int = versions.count - 1
    for place in 0..<last where place + 1 < last || !tester.routes.contains(.eachStep) {
      try goAtOnce(from: place, kind) { way in place == 0 ? try fill(0, for: way, kind) : nil }
    }
  }

  /// As automatic migration does it: to the newest version directly, or by a chain.
  private func goAtOnce(
    from first: Int, _ kind: Kind, options: [AnyHashable: Any] = [:], store: (_ way: [Int]) throws -> URL?
  ) throws {
    let models: [NSManagedObjectModel] = tester.versions.map(\.model)
    let steps: [MigrationStep]
    do {
      steps = try routes.steps(from: models[first], to: models[versions.count - 1])
    } catch  where Self.isInferenceRefusal(error) {
      var step = newStep(first, versions.count - 1, kind, .atOnce)
      step.outcome = .refused(reasons(of: error, first, versions.count - 1))
      report.steps.append(step)
      return
    }
    let way: [Int] = steps.compactMap { step in models.firstIndex { $0 === step.destination } }
    guard var url = try store(way) else { return }
    for (source, destination) in zip([first] + way, way) {
      guard let next = try migrate(url, from: source, to: destination, kind, .atOnce, options) else {
        return
      }
      url = next
    }
  }

  private func newStep(_ source: Int, _ destination: Int, _ kind: Kind, _ route: MigrationTester.Routes)
    -> MigrationTestReport.Step
  {
    let name: String = versions[source].name
    var step = MigrationTestReport.Step(name, versions[destination].name, kind.name, route)
    step.isUnsupported = tester.unsupported.contains(name)
    return step
  }

  func migrate(copyOf store: URL, _ kind: Kind, _ options: [AnyHashable: Any]) throws {
    let metadata: [String: Any] = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: kind.type, at: store)
    guard
      let place = versions.firstIndex(where: {
        $0.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
      })
    else {
      throw MigrationTestError(
        "\(store.path) was written with none of the versions "
          + "\(versions.map(\.name).joined(separator: ", ")). Add the one that wrote it.")
    }
    if place == versions.count - 1 {
      throw MigrationTestError(
        "\(store.path) is of the newest version, \(versions[place].name): there is nothing to migrate.")
    }
    try goThrough(copy(store, kind), from: place, kind, options: options) { _ in nil }
    if place + 2 < versions.count {
      try goAtOnce(from: place, kind, options: options) { _ in try copy(store, kind) }
    }
  }

  // MARK: Stores

  private func newFile(_ kind: Kind) throws -> URL {
    fileCount += 1
    let place: URL = folder.appendingPathComponent("\(fileCount)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    return place.appendingPathComponent("store")
  }

  private func copy(_ store: URL, _ kind: Kind) throws -> URL {
    let url: URL = try newFile(kind)
    try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).replacePersistentStore(
      at: url, withPersistentStoreFrom: store, type: kind.type)
    return url
  }

  /// A store of a version with generated objects, which fulfil what the other versions ask of them.
  private func fill(_ place: Int, for others: [Int], _ kind: Kind) throws -> URL {
    let version: Version = versions[place]
    let demands = ModelDemands(of: version.model, in: others.map { versions[$0].model })
    let url: URL = try newFile(kind)
    let stack = try TestStack(version.model, url, kind.type)
    defer { stack.end() }
    let unfilled: [String] = try stack.context.performAndWait {
      var generator = ObjectGenerator(
        version, demands, stack.context, count: tester.objectsPerEntity,
        random: SeededNumbers(seed: tester.seed))
      return try generator.run(customize: tester.customize)
    }
    for line in unfilled {
      let text: String = "\(version.name): \(line)"
      if !report.unfilled.contains(text) { report.unfilled.append(text) }
    }
    return url
  }

  // MARK: One migration

  /// The URL of the migrated store; nil if it can't be migrated.
  private func migrate(
    _ url: URL, from source: Int, to destination: Int, _ kind: Kind, _ route: MigrationTester.Routes,
    _ options: [AnyHashable: Any] = [:]
  ) throws -> URL? {
    let (old, new): (Version, Version) = (versions[source], versions[destination])
    var step = newStep(source, destination, kind, route)
    defer { report.steps.append(step) }
    let before = try StoreSnapshot.read(url, old.model, kind.type, options)
    step.objects = before.nodes.count
    step.entities = Set(before.nodes.map(\.entity)).count
    guard let mapping = try mapping(from: source, to: destination, &step) else { return nil }
    let outline = MappingOutline(mapping, from: old.model, to: new.model)
    (step.losses, step.notCompared) = (outline.losses, outline.notCompared)
    var place: URL = url
    do {
      place = try migrate(url, old, new, mapping, kind, options, &step)
    } catch {
      step.outcome = .failed(Self.text(of: error))
      return nil
    }
    do {
      try compare(before, place, new, outline, kind, options, &step)
      let stack = try TestStack(new.model, place, kind.type, options)
      defer { stack.end() }
      try stack.context.performAndWait { try tester.examine(stack.context, tester.versions[destination]) }
    } catch {
      step.outcome = .failed("The migrated store can't be read: \(Self.text(of: error))")
      return nil
    }
    return place
  }

  /// The mapping model for two versions; nil, with the reasons in the step, if there is none.
  private func mapping(
    from source: Int, to destination: Int, _ step: inout MigrationTestReport.Step
  ) throws -> NSMappingModel? {
    do {
      let found: MigrationStep = try routes.directStep(
        from: tester.versions[source].model, to: tester.versions[destination].model)
      step.isInferred = found.isInferred
      step.conditions = found.inference?.conditions.map(\.description) ?? []
      return found.mapping
    } catch  where Self.isInferenceRefusal(error) {
      step.outcome = .refused(reasons(of: error, source, destination))
      return nil
    }
  }

  /// Whether nothing can be inferred. Told by the domain: a cast on Linux makes a `CocoaError` of an
  /// `NSError` of any.
  private static func isInferenceRefusal(_ error: any Error) -> Bool {
    let error = error as NSError
    return error.domain == NSCocoaErrorDomain && error.code == NSInferredMappingModelError
  }

  /// Why no mapping model can be inferred, one by one.
  private func reasons(of refusal: any Error, _ source: Int, _ destination: Int) -> [String] {
    let (old, new) = (tester.versions[source].model, tester.versions[destination].model)
    let reasons: [String] = MappingInference(from: old, to: new).refusals.map(\.description)
    return reasons.isEmpty ? [Self.text(of: refusal)] : reasons
  }

  private func migrate(
    _ url: URL, _ old: Version, _ new: Version, _ mapping: NSMappingModel, _ kind: Kind,
    _ options: [AnyHashable: Any], _ step: inout MigrationTestReport.Step
  ) throws -> URL {
    if kind.copies {
      let destination: URL = try newFile(kind)
      let manager = NSMigrationManager(sourceModel: old.model, destinationModel: new.model)
      try manager.migrateStore(
        from: url, sourceType: kind.type.rawValue, options: options, with: mapping,
        toDestinationURL: destination, destinationType: kind.type.rawValue, destinationOptions: options)
      step.outcome = .copied
      return destination
    }
    let plan = try MigrationPlan(
      forStoreAt: url, to: new.model, mapping: step.isInferred ? nil : mapping, options: options)
    guard let planned = plan.steps.first else { return url }
    try plan.run(verifies: true)
    step.outcome = planned.statements == nil ? .copied : .migratedInPlace
    return url
  }

  private func compare(
    _ before: StoreSnapshot, _ url: URL, _ new: Version, _ outline: MappingOutline, _ kind: Kind,
    _ options: [AnyHashable: Any], _ step: inout MigrationTestReport.Step
  ) throws {
    let after = try StoreSnapshot.read(url, new.model, kind.type, options)
    let comparison = SnapshotComparison(expected: outline.expected(before), found: after, outline)
    step.objectsCompared = comparison.objectCount
    step.valuesCompared = comparison.valueCount
    step.linksCompared = comparison.linkCount
    step.differences = comparison.differences + after.problems(besides: before)
  }

  private static func text(of error: any Error) -> String { (error as NSError).localizedDescription }
}

extension NSManagedObjectModel {
  /// A copy whose objects are plain `NSManagedObject`s: classes of the program may not fit a version.
  fileprivate var withPlainClasses: NSManagedObjectModel {
    guard let copy = copy() as? NSManagedObjectModel else { return self }
    for entity in copy.entities { entity.managedObjectClassName = nil }
    return copy
  }
}

/// A store and a context that nothing else uses.
final class TestStack {
  let context: NSManagedObjectContext
  private let coordinator: NSPersistentStoreCoordinator

  init(
    _ model: NSManagedObjectModel, _ url: URL, _ type: NSPersistentStore.StoreType,
    _ options: [AnyHashable: Any] = [:]
  ) throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: type, at: url, options: options)
    context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.undoManager = nil
  }

  func end() {
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
  }
}

/// SplitMix64: the same numbers on every system.
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value: UInt64 = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
