import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

/// Finds the steps from a store's version to another one among what a program has.
struct MigrationPath {
  private let url: URL
  private let infers: Bool
  private let known: KnownModels
  private let routes: MigrationRoutes

  private let chosen: NSMappingModel?
  /// The mapping models of the program.
  private let found: [NSMappingModel]
  private let unreadable: [String]

  /// `chosen`: the mapping model that has to be used; nil for those that are found.
  init(known: KnownModels, infers: Bool, url: URL, chosen: NSMappingModel? = nil) {
    self.known = known
    (self.url, self.infers, self.chosen) = (url, infers, chosen)
    let (found, errors): ([NSMappingModel], [String]) = NSMappingModel.all(in: known.bundles)
    (self.found, unreadable) = (found, errors)
    routes = MigrationRoutes(versions: known.siblings, infers: infers) { source, destination in
      if let chosen, chosen.leads(from: source, to: destination) { return chosen }
      return NSMappingModel.best(of: found, from: source, to: destination)
    }
  }

  /// The files of the mapping models that could do a step as well as the one that was found for it.
  func rivals(of step: MigrationStep) -> [URL] {
    if step.isInferred || step.mapping === chosen { return [] }
    return step.mapping.rivals(among: found, from: step.source, to: step.destination).compactMap(\.file)
  }

  /// Mapping models of the program that can't be read, a sentence each: one of them may have been meant for a
  /// step that was inferred.
  func unreadable(for step: MigrationStep) -> [String] { step.isInferred ? unreadable : [] }

  private var renamings: RenamingChain { routes.renamings }

  /// Throws 134140 without inference if there is no way, else 134190 with the reasons and what leads to the
  /// destination all the same; 134110 for a chosen mapping model that is for other versions.
  func steps(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws
    -> [MigrationStep]
  {
    if let chosen { return try routes.steps(from: source, to: destination, by: chosen) }
    do {
      return try routes.steps(from: source, to: destination)
    } catch  where infers {
      throw withCures(error, source, destination)
    } catch {
      throw MigrationFailure.missingMappingModel(url, "")
    }
  }

  /// The refusal, with what leads to the destination although one inferred step does not.
  private func withCures(
    _ refusal: any Error, _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel
  ) -> any Error {
    guard let error = refusal.ofCocoa,
      let path = renamings.path(from: source, to: destination)
    else { return refusal }
    let between: String = path.dropFirst().dropLast().map(known.title(of:)).joined(separator: ", ")
    func isInferred(_ difference: ModelDifference) -> Bool { MappingInference(difference).refusals.isEmpty }
    var cures: [String] = []
    if isInferred(ModelDifference(through: path)) {
      cures.append(
        "Over \(between) a mapping model can be inferred: "
          + MigrationWords.text(
            command: "`clarus model squash` makes it, for --mapping or to be put beside the model.",
            program: "`clarus model squash`, or ModelDifference(through:), makes it. Put it beside the model."
          ))
    }
    if zip(path, path.dropFirst()).allSatisfy({ isInferred(ModelDifference(from: $0, to: $1)) }) {
      cures.append(
        "From version to version everything can be inferred: "
          + MigrationWords.text(
            command: "migrate to each version by --model-version, first \(between).",
            program:
              "pass an NSStagedMigrationManager with an NSLightweightMigrationStage for each version (\(between) between)."
          ) + " What a version lacks is lost on the way."
      )
    }
    if cures.isEmpty { return refusal }
    return error.adding(advice: cures)
  }

  /// The inferred step that is refused because values of required attributes are missing, for a plan; nil if
  /// it is refused for anything else.
  func unfinishedStep(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel, isDown: Bool
  ) -> MigrationStep? {
    guard infers, chosen == nil else { return nil }
    let difference: ModelDifference =
      isDown
      ? renamings.difference(from: destination, to: source).inverse
      : renamings.difference(from: source, to: destination)
    return try? MigrationStep(unfinishedFrom: difference, isDown: isDown)
  }

  /// The step back to an earlier version, which renaming identifiers are read backwards for. Throws if the
  /// destination is a later version: read so, what it has renamed would be lost.
  func stepDown(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws
    -> MigrationStep
  {
    let down: ModelDifference = renamings.difference(from: destination, to: source).inverse
    if isLater(destination, than: source) {
      throw MigrationFailure.stage(
        "The store \(url.path) can't be migrated down to \(known.title(of: destination)), which is a later version than "
          + "the store's.",
        advice:
          "Migrate it \(MigrationWords.text(command: "without --down", program: "with isDown: false")), or name an earlier "
          + "version.")
    }
    return try MigrationStep(inferredFrom: down, isDown: true)
  }

  /// Throws if the destination is an earlier version, which is to be said: read forwards, what was renamed
  /// since would be lost.
  func requireNotEarlier(_ destination: NSManagedObjectModel, than source: NSManagedObjectModel) throws {
    guard isLater(source, than: destination) else { return }
    let (from, to): (String, String) = (known.title(of: source), known.title(of: destination))
    throw MigrationFailure.stage(
      "The store \(url.path) has the version \(from), and \(to) is an earlier one.",
      advice:
        "To go back from \(from) to \(to), migrate with \(MigrationWords.text(command: "--down", program: "isDown: true")): "
        + "what was renamed since keeps its values. "
        + "Or name a later version.")
  }

  /// Whether the first version is the later one: it says what something was called in the other. Without
  /// renamings only the order of the versions tells.
  private func isLater(_ version: NSManagedObjectModel, than other: NSManagedObjectModel) -> Bool {
    let up: ModelDifference = renamings.difference(from: other, to: version)
    let down: ModelDifference = renamings.difference(from: version, to: other).inverse
    let (keptUp, keptDown) = (RenamingChain.kept(up), RenamingChain.kept(down))
    return keptUp == keptDown
      ? renamings.isInOrder(other, version) : keptUp.isStrictSuperset(of: keptDown)
  }
}
