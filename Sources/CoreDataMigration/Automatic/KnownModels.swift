import CoreDataGraph
import CoreDataModel
import Foundation

/// The versions of models that a program has: beside the file of its model, and in its bundles.
struct KnownModels {
  let versions: [NSManagedObjectModel]
  /// Those in the same package as the program's model: earlier and later states of it, by the numbers in
  /// their names.
  let siblings: [NSManagedObjectModel]
  let bundles: [Bundle]
  /// Why versions beside the program's model can't be read, each a sentence.
  let unreadable: [String]

  init(of model: NSManagedObjectModel) {
    var bundles: [Bundle] = [.main] + Bundle.allBundles.filter { $0 != .main }
    var found: [NSManagedObjectModel] = []
    var unreadable: [String] = []
    if let package = model.file.flatMap(Self.package) {
      // One that nothing reads any more must not hide the others.
      if let read = try? NSManagedObjectModel.readableVersions(contentsOf: package) {
        found = read.versions.sorted {
          VersionNames.areInOrder($0.key, $1.key)
        }.map(\.value.model)
        unreadable = read.errors.map(MigrationFailure.text)
      }
      // Mapping models lie beside the models.
      if let folder = Bundle(url: package.deletingLastPathComponent()), !bundles.contains(folder) {
        bundles.append(folder)
      }
    }
    siblings = found
    found += BundleModels.models(in: bundles, allVersions: true)
    var seen: Set<[String: Data]> = []
    versions = found.filter { seen.insert($0.entityVersionHashesByName).inserted }
    self.bundles = bundles
    self.unreadable = unreadable
  }

  private init(_ other: KnownModels, versions: [NSManagedObjectModel]) {
    (siblings, bundles, unreadable) = (other.siblings, other.bundles, other.unreadable)
    self.versions = versions
  }

  /// These and further versions, which the program names in code.
  func including(_ models: [NSManagedObjectModel]) -> KnownModels {
    var seen = Set(versions.map(\.entityVersionHashesByName))
    let new: [NSManagedObjectModel] = models.filter { seen.insert($0.entityVersionHashesByName).inserted }
    return KnownModels(self, versions: versions + new)
  }

  /// The `.momd` or `.xcdatamodeld` of a version's file.
  private static func package(_ file: URL) -> URL? {
    var url: URL = file
    for _ in 0..<3 {
      if ["momd", "xcdatamodeld"].contains(url.pathExtension) { return url }
      url.deleteLastPathComponent()
    }
    return nil
  }

  func model(for metadata: [String: Any]) -> NSManagedObjectModel? {
    versions.first { $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) }
      ?? NSManagedObjectModel(byMerging: versions, forStoreMetadata: metadata)
  }

  /// What plans and errors call a version: by its file, whose name commands take too (`--model-version`). The
  /// copy that a store carries has no file: then by that of the same version of the program, else by its
  /// identifiers, or its checksum if it has none or shares them with another version.
  func title(of model: NSManagedObjectModel) -> String { Self.title(model, among: versions) }

  static func title(_ model: NSManagedObjectModel, among versions: [NSManagedObjectModel]) -> String {
    let hashes: [String: Data] = model.entityVersionHashesByName
    let own: NSManagedObjectModel? =
      model.file != nil
      ? model : versions.first { $0.file != nil && $0.entityVersionHashesByName == hashes }
    if let name = own?.versionFileName { return name }
    let identifiers: String = identifiers(model)
    let isShared: Bool = versions.contains {
      Self.identifiers($0) == identifiers && $0.entityVersionHashesByName != hashes
    }
    return identifiers.isEmpty || isShared
      ? "version " + String(model.versionChecksum.prefix(8)) : identifiers
  }

  private static func identifiers(_ model: NSManagedObjectModel) -> String {
    model.versionIdentifiers.compactMap { $0 as? String }.filter { !$0.isEmpty }.sorted()
      .joined(separator: ", ")
  }

  func model(checksum: String) -> NSManagedObjectModel? {
    versions.first { $0.versionChecksum == checksum }
  }
}
