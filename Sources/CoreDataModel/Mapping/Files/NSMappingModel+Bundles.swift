import CoreDataPredicates
import Foundation

extension NSMappingModel {
  /// The mapping model in the bundles (the main bundle for nil) that is for these versions of the models.
  ///
  /// Compiled mapping models are found by the version hashes in them; those of the editor by the models that
  /// they name, which must be in the bundle too. Of several the one is taken that leaves out the fewest
  /// entities.
  ///
  /// Throws `CocoaError.migrationMissingMappingModel` that lists what was found and why it does not fit.
  /// Queue: any. Cost: reads each mapping model of the bundles.
  public static func load(
    from bundles: [Bundle]?, forSourceModel source: NSManagedObjectModel,
    destinationModel destination: NSManagedObjectModel
  ) throws -> NSMappingModel {
    var found: [NSMappingModel] = []
    var misfits: [String] = []
    let folders: [URL] = (bundles ?? [.main]).flatMap(BundleModels.folders(of:))
    for (url, result) in read(in: folders) {
      do {
        let model: NSMappingModel = try result.get()
        if let misfit = model.misfit(source, destination) {
          misfits.append("\(url.lastPathComponent): \(misfit)")
        } else {
          found.append(model)
        }
      } catch {
        misfits.append("\(url.lastPathComponent): \(ErrorMessage.reason(of: error))")
      }
    }
    if let best = best(of: found, from: source, to: destination) { return best }
    let list: String =
      misfits.isEmpty
      ? "There is none in \(folders.map(\.path).joined(separator: ", "))."
      : "Those that were found are for others: " + misfits.joined(separator: " ")
    throw ErrorMessage(
      "No mapping model leads from the source model to the destination model. \(list)",
      advice: "Add an .xcmappingmodel or .cdm for these versions to the resources, or infer one."
    ).cocoaError(134_140)
  }

  /// The mapping model in the bundles that is for these versions of the models; nil if there is none.
  /// ``load(from:forSourceModel:destinationModel:)`` throws the reason.
  /// Apple's page:
  /// <https://developer.apple.com/documentation/coredata/nsmappingmodel/init(from:forsourcemodel:destinationmodel:)>
  public convenience init?(
    from bundles: [Bundle]?, forSourceModel source: NSManagedObjectModel?,
    destinationModel destination: NSManagedObjectModel?
  ) {
    guard let source, let destination,
      let model = try? NSMappingModel.load(
        from: bundles, forSourceModel: source, destinationModel: destination)
    else { return nil }
    self.init()
    entityMappings = model.entityMappings
    file = model.file
  }

  /// All mapping models of the bundles that can be read, and why the others can't be, a sentence each.
  package static func all(in bundles: [Bundle]) -> (models: [NSMappingModel], errors: [String]) {
    var (models, errors): ([NSMappingModel], [String]) = ([], [])
    for (url, result) in read(in: bundles.flatMap(BundleModels.folders(of:))) {
      switch result {
      case .success(let model): models.append(model)
      case .failure(let error): errors.append("\(url.path): \(ErrorMessage.reason(of: error))")
      }
    }
    return (models, errors)
  }

  private static func read(in folders: [URL]) -> [(url: URL, result: Result<NSMappingModel, any Error>)] {
    folders.flatMap(mappingModels).map { url in (url, Result { try load(contentsOf: url) }) }
  }

  /// The one of several that is for these versions, and of those the one that leaves out the fewest entities:
  /// a mapping model that is divided in parts must not be taken for the whole.
  package static func best(
    of models: [NSMappingModel], from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) -> NSMappingModel? {
    models.filter { $0.leads(from: source, to: destination) }
      .map { (model: $0, omitted: $0.omitted(source, destination)) }
      .min { $0.omitted < $1.omitted }?.model
  }

  /// Those of several that are for these versions and leave out as few entities as the best one, which they
  /// are not.
  package final func rivals(
    among models: [NSMappingModel], from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) -> [NSMappingModel] {
    let omitted: Int = omitted(source, destination)
    return models.filter {
      $0 !== self && $0.leads(from: source, to: destination) && $0.omitted(source, destination) == omitted
    }
  }

  /// Whether it is for these versions of the models.
  package final func leads(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) -> Bool {
    misfit(source, destination) == nil
  }

  /// The mapping models of a folder; the editor's only where there is no compiled one.
  private static func mappingModels(in folder: URL) -> [URL] {
    let names: [String] =
      (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.sorted() ?? []
    let compiled: [String] = names.filter { $0.hasSuffix(".cdm") }
    let bare: Set<String> = Set(compiled.map { String($0.dropLast(".cdm".count)) })
    let editor: [String] = names.filter {
      $0.hasSuffix(".xcmappingmodel") && !bare.contains(String($0.dropLast(".xcmappingmodel".count)))
    }
    return (compiled + editor).map { folder.appendingPathComponent($0) }
  }

  /// How many entities with objects the mapping model does not mention.
  private func omitted(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) -> Int {
    let named: (Set<String>, Set<String>) = (
      Set((entityMappings ?? []).compactMap(\.sourceEntityName)),
      Set((entityMappings ?? []).compactMap(\.destinationEntityName))
    )
    return source.storedEntities.count { !$0.isAbstract && !named.0.contains($0.name ?? "") }
      + destination.storedEntities.count { !$0.isAbstract && !named.1.contains($0.name ?? "") }
  }
}
