import CoreDataModel
import CoreDataPredicates
import Foundation

/// The ways from version to version of a model, as automatic migration takes them. An addition of Clarus.
///
/// ```swift
/// let routes = MigrationRoutes(versions: [shop1, shop2, shop3])
/// for step in try routes.steps(from: shop1, to: shop3) { print(step.mapping.entityMappings) }
/// ```
///
/// Not `Sendable`: it remembers what it has found.
public final class MigrationRoutes {
  private let versions: [NSManagedObjectModel]
  private let infers: Bool
  private let given: (NSManagedObjectModel, NSManagedObjectModel) throws -> NSMappingModel?
  let renamings: RenamingChain
  /// The steps that were looked for, by the hashes of their versions; nil for those that there are not.
  private var known: [Pair: MigrationStep?] = [:]

  private struct Pair: Hashable {
    let source: [String: Data]
    let destination: [String: Data]

    init(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) {
      self.source = source.entityVersionHashesByName
      self.destination = destination.entityVersionHashesByName
    }
  }

  /// - Parameters:
  ///   - versions: in the order in which they came about. If all are of files, which a coordinator's model
  ///     knows too, inferred steps follow renamings over those between their ends.
  ///   - infers: whether mapping models are inferred where the program has none.
  ///   - mapping: the program's mapping model between two versions; nil if it has none.
  public init(
    versions: [NSManagedObjectModel], infers: Bool = true,
    mapping:
      @escaping (_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) throws ->
      NSMappingModel? = { _, _ in nil }
  ) {
    (self.versions, self.infers, given) = (versions, infers, mapping)
    renamings = RenamingChain(versions: versions.allSatisfy { $0.file != nil } ? versions : [])
  }

  /// By a mapping model of the program's, or one that is inferred, or else by the shortest chain of these
  /// over other versions that has one of the program's in it: inferred steps alone would find a way around
  /// any refusal, over a version that lacks what is in question, and its data.
  ///
  /// Throws a `CocoaError`, 134190 with the reasons if nothing can be inferred, 134140 if it was not to be;
  /// and what `mapping` throws. Cost: compares models, for a chain up to the square of their number.
  public func steps(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws
    -> [MigrationStep]
  {
    do {
      return [try directStep(from: source, to: destination)]
    } catch let refusal as CocoaError {
      if let chain = try chain(from: source, to: destination) { return chain }
      throw refusal
    }
  }

  /// The step from one version to another without any between. Throws as ``steps(from:to:)`` does.
  public func directStep(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws
    -> MigrationStep
  {
    if let step = try mappedStep(source, destination) { return step }
    guard infers else {
      throw ErrorMessage(
        "There is no mapping model between the two versions.", advice: "Write one, or allow inference."
      ).cocoaError(134_140)
    }
    return try MigrationStep(inferredFrom: renamings.difference(from: source, to: destination))
  }

  private func mappedStep(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) throws
    -> MigrationStep?
  {
    try given(source, destination).map {
      MigrationStep(source: source, destination: destination, mapping: $0)
    }
  }

  // MARK: Chains

  /// The shortest chain over the versions of the model; nil if there is none.
  private func chain(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws
    -> [MigrationStep]?
  {
    let models: [NSManagedObjectModel] = ends(source, destination)
    var mapped: [VersionPair: MigrationStep] = [:]
    for (from, old) in models.enumerated() {
      for (to, new) in models.enumerated() where from != to {
        mapped[VersionPair(from, to)] = try mappedStep(old, new)
      }
    }
    var steps: [VersionPair: MigrationStep] = mapped
    let chain: [Int]? = VersionChains(count: models.count, mapped: Set(mapped.keys)).shortest(
      from: 0, to: models.count - 1
    ) { pair in
      steps[pair] = inferred(models[pair.source], models[pair.destination])
      return steps[pair] != nil
    }
    return chain.map { chain in zip([0] + chain, chain).compactMap { steps[VersionPair($0, $1)] } }
  }

  /// The source, then the versions between, each once, and last the destination.
  private func ends(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel)
    -> [NSManagedObjectModel]
  {
    var seen: Set<[String: Data]> = [source.entityVersionHashesByName, destination.entityVersionHashesByName]
    return [source] + versions.filter { seen.insert($0.entityVersionHashesByName).inserted } + [destination]
  }

  private func inferred(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) -> MigrationStep?
  {
    if !infers { return nil }
    let pair = Pair(source, destination)
    if let found = known[pair] { return found }
    let step: MigrationStep? =
      try? MigrationStep(inferredFrom: renamings.difference(from: source, to: destination))
    known[pair] = .some(step)
    return step
  }
}
