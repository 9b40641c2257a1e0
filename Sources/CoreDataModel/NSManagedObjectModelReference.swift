import Foundation

/// A model that is loaded at its first use, with the checksum it must have. Staged migrations name their
/// versions with references.
nonisolated open class NSManagedObjectModelReference: NSObject, @unchecked Sendable {
  // Sendable because it is immutable and models are guarded as described at NSPropertyDescription.

  private enum Source {
    case model(NSManagedObjectModel)
    case file(URL)
    case hashes([String: Data], Bundle?)
    case name(String, Bundle?)
  }

  private let source: Source

  /// The checksum the model must have: ``NSManagedObjectModel/versionChecksum``.
  public let versionChecksum: String

  public init(model: NSManagedObjectModel, versionChecksum: String) {
    source = .model(model)
    self.versionChecksum = versionChecksum
  }

  /// A model in a file: anything that ``NSManagedObjectModel/load(contentsOf:)`` reads.
  public init(fileURL: URL, versionChecksum: String) {
    source = .file(fileURL)
    self.versionChecksum = versionChecksum
  }

  /// The version with these entity hashes among the models of a bundle, the main bundle for nil.
  public init(
    entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String
  ) {
    var hashes: [String: Data] = [:]
    for (name, hash) in versionHash {
      if let name = name as? String, let hash = hash as? Data { hashes[name] = hash }
    }
    source = .hashes(hashes, bundle)
    self.versionChecksum = versionChecksum
  }

  /// The model or model version of that name (without extension) in a bundle, the main bundle for nil.
  public init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
    source = .name(modelName, bundle)
    self.versionChecksum = versionChecksum
  }

  /// The model. Stops the program if there is none with the checksum; ``resolve()`` throws instead.
  open var resolvedModel: NSManagedObjectModel {
    do {
      return try resolve()
    } catch {
      preconditionFailure("\(error)")
    }
  }

  /// The model. Throws a ``ModelFileError`` if it can't be found or read, or if its checksum is another.
  /// Reads files at each call.
  public final func resolve() throws -> NSManagedObjectModel {
    let (candidates, place) = try candidates()
    if let match = candidates.first(where: { $0.versionChecksum == versionChecksum }) { return match }
    throw ModelFileError(
      file: place,
      reason: candidates.isEmpty
        ? "There is no such model; check the name and that the model is a resource of the bundle."
        : """
        The model's checksum is \(candidates.map(\.versionChecksum).joined(separator: " or ")), not the expected \
        \(versionChecksum). The model has changed since the reference was written, or it is another version.
        """)
  }

  private func candidates() throws -> (models: [NSManagedObjectModel], place: String) {
    switch source {
    case .model(let model): return ([model], "the referenced model")
    case .file(let url):
      let found = try NSManagedObjectModel.readableVersions(contentsOf: url)
      if found.versions.isEmpty, let error = found.errors.first { throw error }
      return (found.versions.values.map(\.model), url.path)
    case .hashes(let hashes, let bundle):
      let models = BundleModels.models(in: [bundle ?? .main], allVersions: true)
      return (models.filter { $0.entityVersionHashesByName == hashes }, (bundle ?? .main).bundlePath)
    case .name(let name, let bundle):
      return (
        BundleModels.versions(named: name, in: bundle ?? .main),
        "model '\(name)' in \((bundle ?? .main).bundlePath)"
      )
    }
  }
}
