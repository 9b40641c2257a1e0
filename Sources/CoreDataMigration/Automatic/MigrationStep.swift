import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

/// One step of a migration: from a version to the next one that a mapping model leads to. An addition of
/// Clarus.
public struct MigrationStep {
  public let source: NSManagedObjectModel
  public let destination: NSManagedObjectModel
  public let mapping: NSMappingModel
  /// Of which the mapping model is made; nil for one of the program's.
  public let inference: MappingInference?

  /// Whether the source's hashes are not those of the store, whose objects it fits.
  var isReadByObjects: Bool = false
  /// Other mapping models for the same versions, of which this one was taken.
  var rivals: [URL] = []
  /// Why mapping models of the program that may have been meant for this step can't be read.
  var unreadable: [String] = []
  /// What the destination requires and no object has a value of. With any, the step is one to be shown: it
  /// can't be run.
  let lacking: [MappingInference.Refusal]

  /// Whether it leads back to an earlier version.
  let isDown: Bool

  /// Whether the mapping model is inferred; false for one of the program's.
  public var isInferred: Bool { inference != nil }

  /// Whether an inferred copy may leave members of relationships out.
  var mayLoseMembers: Bool { inference?.changesInverses ?? false }

  /// The options to open the source of the step with.
  func sourceOptions(_ store: OutdatedStore) -> [AnyHashable: Any] {
    guard isReadByObjects else { return store.options }
    return store.options.merging([NSIgnorePersistentStoreVersioningOption: true]) { $1 }
  }

  /// A manager for the step, whose errors name the store and the versions in place of what one step of
  /// several reads and writes.
  func manager(of store: OutdatedStore, _ known: KnownModels) -> NSMigrationManager {
    let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
    manager.verifiesValues = mayLoseMembers
    manager.subject = MigrationSubject(
      store: store.url, source: known.title(of: source), destination: known.title(of: destination),
      isInferred: isInferred)
    return manager
  }

  /// By a mapping model of the program's.
  init(source: NSManagedObjectModel, destination: NSManagedObjectModel, mapping: NSMappingModel) {
    (self.source, self.destination, self.mapping) = (source, destination, mapping)
    (inference, lacking, isDown) = (nil, [], false)
  }

  /// Throws 134190 if no mapping model can be inferred.
  init(inferredFrom difference: ModelDifference, isDown: Bool = false) throws {
    try self.init(difference, isDown) { (try $0.mappingModel(), []) }
  }

  /// To be shown, if nothing but values of required attributes is missing. Throws 134190 otherwise.
  init(unfinishedFrom difference: ModelDifference, isDown: Bool) throws {
    try self.init(difference, isDown) { try $0.unfinishedMappingModel() }
  }

  private init(
    _ difference: ModelDifference, _ isDown: Bool,
    _ make: (MappingInference) throws -> (model: NSMappingModel, lacking: [MappingInference.Refusal])
  ) throws {
    (source, destination) = (difference.source, difference.destination)
    if !source.entities.isEmpty,
      !difference.entities.contains(where: { $0.source != nil && $0.destination != nil })
    {
      let names: [String] = source.entities.compactMap(\.name).sorted()
      throw ErrorMessage(
        "The model has none of the entities of the store (\(names.joined(separator: ", "))), so a migration would "
          + "remove all objects.",
        advice: "Give the URL of the right store, or the right model; a mapping model leads to any other."
      ).cocoaError(134_190)
    }
    let inference = MappingInference(difference, isDown: isDown)
    self.isDown = isDown
    (mapping, lacking) = try make(inference)
    self.inference = inference
  }
}
