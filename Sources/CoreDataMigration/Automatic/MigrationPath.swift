import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

/// One step of a migration: from a version to the next one that a mapping model leads to.
struct MigrationStep {
  let source: NSManagedObjectModel
  let destination: NSManagedObjectModel
  let mapping: NSMappingModel
  /// Of which the mapping model is made; nil for one of the program's.
  let inference: MappingInference?

  /// Whether the source's hashes are not those of the store, whose objects it fits.
  var isReadByObjects: Bool = false

  var isInferred: Bool { inference != nil }

  /// Whether an inferred copy may leave members of relationships out.
  var mayLoseMembers: Bool { inference?.changesInverses ?? false }

  /// The options to open the source of the step with.
  func sourceOptions(_ store: OutdatedStore) -> [AnyHashable: Any] {
    guard isReadByObjects else { return store.options }
    return store.options.merging([NSIgnorePersistentStoreVersioningOption: true]) { $1 }
  }

  /// By a mapping model of the program's.
  init(source: NSManagedObjectModel, destination: NSManagedObjectModel, mapping: NSMappingModel) {
    (self.source, self.destination, self.mapping) = (source, destination, mapping)
    inference = nil
  }

  /// Throws 134190 if no mapping model can be inferred.
  init(inferredFrom difference: ModelDifference) throws {
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
    let inference = MappingInference(difference)
    mapping = try inference.mappingModel()
    self.inference = inference
  }
}

/// Finds the steps from one version to another: a mapping model, or one that can be inferred, or else the
/// shortest chain of these over other versions. An inferred step follows renamings over the versions between.
struct MigrationPath {
  let known: KnownModels
  let infers: Bool
  let url: URL
  private let mappings: [NSMappingModel]

  init(known: KnownModels, infers: Bool, url: URL) {
    (self.known, self.infers, self.url) = (known, infers, url)
    mappings = NSMappingModel.all(in: known.bundles)
  }

  private var renamings: RenamingChain { RenamingChain(versions: known.siblings) }

  func steps(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws
    -> [MigrationStep]
  {
    if let direct = mapping(source, destination) { return [direct] }
    var refusal: (any Error)?
    if infers {
      do {
        return [try inferred(source, destination)]
      } catch {
        refusal = error
      }
    }
    if let chain = chain(from: source, to: destination) { return chain }
    if let refusal { throw withCures(refusal, source, destination) }
    throw MigrationFailure.missingMappingModel(url, "")
  }

  /// The refusal, with what leads to the destination although one inferred step does not.
  private func withCures(
    _ refusal: any Error, _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel
  ) -> any Error {
    guard let error = refusal as? CocoaError,
      let path = renamings.path(from: source, to: destination)
    else { return refusal }
    let between: String = path.dropFirst().dropLast().map(KnownModels.name).joined(separator: ", ")
    func isInferred(_ difference: ModelDifference) -> Bool { MappingInference(difference).refusals.isEmpty }
    var cures: [String] = []
    if isInferred(ModelDifference(through: path)) {
      cures.append(
        "Over \(between) a mapping model can be inferred: `clarus model squash`, or ModelDifference(through:), makes it. Put it "
          + "beside the model.")
    }
    if zip(path, path.dropFirst()).allSatisfy({ isInferred(ModelDifference(from: $0, to: $1)) }) {
      cures.append(
        "From version to version everything can be inferred: pass an NSStagedMigrationManager with an "
          + "NSLightweightMigrationStage for each version (\(between) between). What a version lacks is lost on the way."
      )
    }
    if cures.isEmpty { return refusal }
    let advice: String? = (error as NSError).localizedRecoverySuggestion
    let message = ErrorMessage(
      ErrorMessage.reason(of: error), advice: ([advice].compactMap(\.self) + cures).joined(separator: " "))
    let texts: Set<String> = Set(message.userInfo.keys)
    return message.cocoaError(error.code.rawValue, error.userInfo.filter { !texts.contains($0.key) })
  }

  private func mapping(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) -> MigrationStep?
  {
    mappings.first { $0.leads(from: source, to: destination) }.map {
      MigrationStep(source: source, destination: destination, mapping: $0)
    }
  }

  private func inferred(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) throws
    -> MigrationStep
  {
    try MigrationStep(inferredFrom: renamings.difference(from: source, to: destination))
  }

  /// The step back to an earlier version, which renaming identifiers are read backwards for. Throws if the
  /// destination is a later version: read so, what it has renamed would be lost.
  func stepDown(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws
    -> MigrationStep
  {
    let up: ModelDifference = renamings.difference(from: source, to: destination)
    let down: ModelDifference = renamings.difference(from: destination, to: source).inverse
    let (keptUp, keptDown) = (RenamingChain.kept(up), RenamingChain.kept(down))
    // Without renamings only the order of the versions tells which is the later one.
    let isLater: Bool =
      keptUp == keptDown
      ? renamings.isInOrder(source, destination) : keptUp.isStrictSuperset(of: keptDown)
    if isLater {
      throw MigrationFailure.stage(
        "The store \(url.path) can't be migrated down to \(KnownModels.name(destination)), which is a later version than "
          + "the store's.",
        advice: "Migrate it without --down (isDown: false), or name an earlier version.")
    }
    return try MigrationStep(inferredFrom: down)
  }

  /// Breadth first, so the first chain that is found has the fewest steps. A mapping model between two
  /// versions has precedence over an inferred one.
  ///
  /// A chain leads over versions of the same model only, and has a mapping model in it: inferred steps alone
  /// would find a way around any refusal, over a version that lacks the entity in question and its data.
  private func chain(from source: NSManagedObjectModel, to destination: NSManagedObjectModel)
    -> [MigrationStep]?
  {
    func hashes(_ model: NSManagedObjectModel) -> [String: Data] { model.entityVersionHashesByName }
    struct Visit: Hashable {
      let hashes: [String: Data]
      let hasMapping: Bool
    }
    var waiting: [[MigrationStep]] = [[]]
    var seen: Set<Visit> = []
    let versions: [NSManagedObjectModel] =
      known.siblings.filter { hashes($0) != hashes(destination) } + [destination]
    while !waiting.isEmpty {
      let path: [MigrationStep] = waiting.removeFirst()
      let here: NSManagedObjectModel = path.last?.destination ?? source
      let passed: [[String: Data]] = [hashes(source)] + path.map { hashes($0.destination) }
      for next in versions where !passed.contains(hashes(next)) {
        guard let step = mapping(here, next) ?? (infers ? try? inferred(here, next) : nil) else { continue }
        let longer: [MigrationStep] = path + [step]
        let hasMapping: Bool = longer.contains { !$0.isInferred }
        if next === destination {
          if hasMapping { return longer }
          continue
        }
        guard seen.insert(Visit(hashes: hashes(next), hasMapping: hasMapping)).inserted else { continue }
        waiting.append(longer)
      }
    }
    return nil
  }
}
