import CoreData

/// Tests that stores of a program's earlier versions become stores of its present one: fills every entity of
/// a version with generated objects, migrates them as the program would, and compares every value and
/// relationship with what the mapping model says.
///
/// ```swift
/// @Test func `every version of the model migrates to the next`() throws {
///   let tester = try MigrationTester(contentsOf: modelURL)  // .xcdatamodeld or .momd
///   let report = try tester.run()
///   #expect(report.failures.isEmpty, "\(report)")
/// }
/// ```
///
/// Objects of version *n* are read from the old store, and objects of version *n + 1* from the new one, by
/// stacks that share nothing with each other and with the migration. Objects are recognised by what they
/// contain, not by their ids: a migration may give other ids.
///
/// That a version can become the newest one is tested for all versions: one from which automatic migration
/// finds no way is among the failures, unless ``unsupported`` names it.
///
/// The tester uses no test framework. It makes its files in a temporary folder, which it removes.
public struct MigrationTester {
  /// A version of a model.
  public struct Version {
    /// What reports call it.
    public var name: String
    public var model: NSManagedObjectModel

    public init(_ name: String, _ model: NSManagedObjectModel) {
      self.name = name
      self.model = model
    }
  }

  /// The ways that a run takes through the versions.
  public struct Routes: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A new store of each version, which is migrated to the next one.
    public static let eachStep = Routes(rawValue: 1)
    /// A store of the oldest version, which is migrated from version to version until the newest.
    public static let throughAll = Routes(rawValue: 2)
    /// A store of the oldest version, which is migrated to the newest as a coordinator does it when it adds
    /// the store: at once, or by a chain of versions with a mapping model in it. That there is such a way is
    /// tested of every other version too; a program that migrates by stages leaves this route out.
    public static let atOnce = Routes(rawValue: 4)
    public static let all: Routes = [.eachStep, .throughAll, .atOnce]
  }

  /// From the oldest to the newest.
  public var versions: [Version]
  /// Which ways are taken. With two versions all of them are one.
  public var routes: Routes = .all
  /// The names of versions whose stores the program no longer opens. That no mapping model leads from one of
  /// them to another version is no failure.
  public var unsupported: Set<String> = []
  /// The kinds of stores. SQLite stores are migrated as a coordinator does it when it adds them, in place
  /// where that is possible; others by an `NSMigrationManager` into a new file.
  public var storeTypes: [NSPersistentStore.StoreType] = [.sqlite]
  /// How SQLite stores are migrated.
  public enum Work: Sendable {
    /// As a coordinator does it: in place where that is possible.
    case automatic
    /// Object by object into a new file, by an `NSMigrationManager`.
    case copying
    /// One store in each way.
    case both
  }

  /// How SQLite stores are migrated; stores of other kinds are always copied.
  public var work: Work = .automatic
  /// How many objects each entity gets at least. The first one has a value for everything, the second one
  /// only what is required, the third one has its default values.
  public var objectsPerEntity: Int = 5
  /// From which the values are made: the same seed gives the same objects.
  public var seed: UInt64 = 1
  /// The program's own mapping model from one version to a later one. Where it gives none, one of the bundles
  /// is used, and if there is none, it is inferred.
  public var mapping: (_ source: Version, _ destination: Version) throws -> NSMappingModel? = { _, _ in nil }
  /// Called with every generated object, when all are there and related, so that a program can set values
  /// which only it knows. Objects are plain `NSManagedObject`s.
  public var customize: (NSManagedObject) throws -> Void = { _ in }
  /// Called with a context of each migrated store, so that a program can look for what its policies make.
  public var examine: (_ context: NSManagedObjectContext, _ version: Version) throws -> Void = { _, _ in }

  /// A tester of the versions, from the oldest to the newest.
  public init(versions: [Version]) { self.versions = versions }

  /// A tester of two versions.
  public init(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel, mapping: NSMappingModel? = nil
  ) {
    self.init(versions: [
      Version(Self.name(source, 1), source), Version(Self.name(destination, 2), destination),
    ])
    self.mapping = { _, _ in mapping }
  }

  /// A tester of all versions in an `.xcdatamodeld` or a `.momd`, in the order of the numbers in their names:
  /// `Shop`, `Shop 2`, `Shop 10`, and then those that are called otherwise. If that is not how they came
  /// about, set ``versions``. Mapping models (`.xcmappingmodel` or `.cdm`) in the package's folder are used.
  ///
  /// Throws a `ModelFileError` if a version can't be read.
  public init(contentsOf url: URL) throws {
    let found: [String: LoadedModel] = try NSManagedObjectModel.loadVersions(contentsOf: url)
    let names: [String] = Self.ordered(
      Array(found.keys), package: url.deletingPathExtension().lastPathComponent)
    self.init(versions: names.compactMap { name in found[name].map { Version(name, $0.model) } })
    mapping = Self.mappings(in: url.deletingLastPathComponent())
  }

  /// The names that begin with the package's come first: that is what Xcode calls the first versions.
  static func ordered(_ names: [String], package: String) -> [String] {
    func key(_ name: String) -> String {
      (name.hasPrefix(package) ? "0" : "1") + name.replacingOccurrences(of: " ", with: "")
    }
    return names.sorted { key($0).compare(key($1), options: .numeric) == .orderedAscending }
  }

  /// The mapping models of a folder.
  private static func mappings(in folder: URL) -> (Version, Version) throws -> NSMappingModel? {
    let files: [URL] =
      (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    let models: [NSMappingModel] = files.filter { ["cdm", "xcmappingmodel"].contains($0.pathExtension) }
      .sorted { $0.path < $1.path }.compactMap { NSMappingModel(contentsOf: $0) }
    return { source, destination in models.first { $0.leads(from: source.model, to: destination.model) } }
  }

  private static func name(_ model: NSManagedObjectModel, _ number: Int) -> String {
    let identifiers: [String] = model.versionIdentifiers.compactMap { $0 as? String }.filter { !$0.isEmpty }
    return identifiers.isEmpty ? "version \(number)" : identifiers.sorted().joined(separator: ", ")
  }

  /// Fills stores and migrates them.
  ///
  /// Throws a ``MigrationTestError`` if a version can't be filled: it names the properties, whose values
  /// ``customize`` can set; and if ``unsupported`` names a version that there is not. What a
  /// migration does wrong, or refuses, is in the report. Blocks; a step takes some ten milliseconds and more
  /// for models of many entities.
  public func run() throws -> MigrationTestReport {
    guard versions.count > 1 else {
      throw MigrationTestError("There are \(versions.count) versions; a migration needs two.")
    }
    let run = try MigrationTestRun(self)
    defer { run.end() }
    for kind in kinds {
      if routes.contains(.eachStep) || versions.count == 2 { try run.eachStep(kind) }
      if versions.count == 2 { continue }
      if routes.contains(.throughAll) { try run.throughAll(kind) }
      if routes.contains(.atOnce) { try run.atOnce(kind) }
    }
    return run.report
  }

  /// Migrates a copy of a store from its version to the newest one, version by version and at once, and
  /// compares its objects in the same way. The store is not changed.
  ///
  /// Throws a ``MigrationTestError`` if the store is of none of the versions, or if ``unsupported`` names one
  /// that there is not, and errors of reading the store.
  public func run(
    onCopyOf store: URL, type: NSPersistentStore.StoreType = .sqlite, options: [AnyHashable: Any] = [:]
  ) throws -> MigrationTestReport {
    let run = try MigrationTestRun(self)
    defer { run.end() }
    for kind in kinds where kind.type == type { try run.migrate(copyOf: store, kind, options) }
    return run.report
  }

  private var kinds: [MigrationTestRun.Kind] {
    storeTypes.flatMap { type -> [MigrationTestRun.Kind] in
      let ways: [Bool] =
        switch (type, work) {
        case (.sqlite, .automatic): [false]
        case (.sqlite, .both): [false, true]
        default: [true]
        }
      return ways.map { MigrationTestRun.Kind(type: type, copies: $0) }
    }
  }
}

/// Why a test of a migration can't be made.
public struct MigrationTestError: Error, LocalizedError, CustomStringConvertible {
  public let description: String
  public var errorDescription: String? { description }

  init(_ description: String) { self.description = description }
}

extension NSMappingModel {
  /// Whether the entities that the mappings name are those of both models.
  func leads(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) -> Bool {
    let mappings: [NSEntityMapping] = entityMappings ?? []
    return !mappings.isEmpty
      && mappings.allSatisfy { mapping in
        Self.fits(mapping.sourceEntityName, mapping.sourceEntityVersionHash, source)
          && Self.fits(mapping.destinationEntityName, mapping.destinationEntityVersionHash, destination)
      }
  }

  private static func fits(_ name: String?, _ hash: Data?, _ model: NSManagedObjectModel) -> Bool {
    guard let name else { return true }
    guard let found = model.entityVersionHashesByName[name] else { return false }
    return hash == nil || hash == found
  }
}
