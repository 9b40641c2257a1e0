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
  /// The versions that were met, by their hashes.
  private var numbers: [[String: Data]: Int] = [:]
  /// What was looked for between two of them; nil for what there is not.
  private var mapped: [VersionPair: MigrationStep?] = [:]
  private var inferred: [VersionPair: MigrationStep?] = [:]

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
  /// any refusal, over a version that lacks what is in question, and its data. No chain is taken whose
  /// inferred steps drop what the destination has.
  ///
  /// Throws a `CocoaError`, 134190 with the reasons if nothing can be inferred, and what the shortest chain
  /// would lose if there is one, 134140 if it was not to be; and what `mapping` throws. Cost: compares
  /// models, for a chain up to the square of their number.
  public func steps(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws
    -> [MigrationStep]
  {
    do {
      return [try directStep(from: source, to: destination)]
    } catch {
      guard let refusal = error.ofCocoa else { throw error }
      guard let chains = try chains(from: source, to: destination, isWanted: { !$0.isInferred }) else {
        throw refusal
      }
      if let chain = chains.shortest() { return chain.steps }
      throw withLosses(refusal, chains)
    }
  }

  /// By one mapping model of the program's: directly if it is for these two versions, or else by the shortest
  /// chain with it.
  ///
  /// Throws a `CocoaError`, 134110, if it is for others and no chain leads over them.
  func steps(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel, by mapping: NSMappingModel
  ) throws -> [MigrationStep] {
    guard let misfit = mapping.misfit(source, destination) else {
      return [MigrationStep(source: source, destination: destination, mapping: mapping)]
    }
    let chains: VersionChains? = try chains(
      from: source, to: destination, isWanted: { $0.mapping === mapping })
    if let chain = chains?.shortest() { return chain.steps }
    let (from, to): (String, String) = (name(source), name(destination))
    let all: [NSManagedObjectModel] = ends(source, destination)
    let own: [String] = all.flatMap { old in
      all.filter { $0 !== old && mapping.leads(from: old, to: $0) }.map { "\(name(old)) to \(name($0))" }
    }
    let leads: String = own.isEmpty ? "" : " It leads from \(own.joined(separator: ", and from "))."
    throw MigrationFailure.stage(
      "The mapping model that was given is not for a migration from \(from) to \(to): \(misfit)\(leads)",
      advice: own.isEmpty
        ? "Give one that was made for these two versions, or none."
        : "Migrate the store to the version that it begins with first, or give one from \(from) to \(to).")
  }

  /// The step from one version to another without any between. Throws as ``steps(from:to:)`` does.
  public func directStep(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws
    -> MigrationStep
  {
    if let mapping = try given(source, destination) {
      return MigrationStep(source: source, destination: destination, mapping: mapping)
    }
    guard infers else {
      throw ErrorMessage(
        "There is no mapping model between the two versions.", advice: "Write one, or allow inference."
      ).cocoaError(134_140)
    }
    return try MigrationStep(inferredFrom: renamings.difference(from: source, to: destination))
  }

  // MARK: Chains

  /// The chains over the versions of the model; nil if no wanted mapping model leads from any to another.
  private func chains(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
    isWanted: @escaping (MigrationStep) -> Bool
  ) throws -> VersionChains? {
    let models: [NSManagedObjectModel] = ends(source, destination)
    var hasWanted = false
    for (from, old) in models.enumerated() {
      for (to, new) in models.enumerated() where from != to {
        if let step = try mapped(old, new), isWanted(step) { hasWanted = true }
      }
    }
    if !hasWanted { return nil }
    var kept: [Int: Set<RenamingChain.Place>] = [:]
    return VersionChains(
      count: models.count,
      step: { pair in
        let (old, new) = (models[pair.source], models[pair.destination])
        // It has been asked for without an error.
        return ((try? self.mapped(old, new)) ?? nil) ?? self.inferred(old, new)
      }, isWanted: isWanted,
      kept: { number in
        if let found = kept[number] { return found }
        let difference = self.renamings.difference(from: models[number], to: destination)
        let found = Set(RenamingChain.values(difference).keys)
        kept[number] = found
        return found
      })
  }

  /// The refusal of the direct step, with the chain that would lose what the destination has.
  private func withLosses(_ refusal: CocoaError, _ chains: VersionChains) -> CocoaError {
    guard let chain = chains.shortest(mayLose: true), let lost = chains.lost(in: chain),
      let first = chain.steps.first, let last = chain.steps.last
    else { return refusal }
    let places: String = lost.places.map(\.name).sorted().joined(separator: ", ")
    let between: String = chain.steps.dropLast().map { name($0.destination) }.joined(separator: ", ")
    let (from, to): (String, String) = (name(first.source), name(last.destination))
    return refusal.adding(
      reason: "The way over \(between) is not taken: its step from \(name(lost.step.source)) to "
        + "\(name(lost.step.destination)) drops \(places), for which \(to) has a place.",
      advice: [
        "A mapping model from \(from) to \(to) keeps the values. If they may be lost, migrate to \(between) first."
      ])
  }

  /// The source, then the versions between, each once, and last the destination.
  private func ends(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel)
    -> [NSManagedObjectModel]
  {
    var seen: Set<[String: Data]> = [source.entityVersionHashesByName, destination.entityVersionHashesByName]
    return [source] + versions.filter { seen.insert($0.entityVersionHashesByName).inserted } + [destination]
  }

  private func name(_ model: NSManagedObjectModel) -> String { KnownModels.title(model, among: versions) }

  // MARK: Steps

  private func pair(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) -> VersionPair {
    func number(_ model: NSManagedObjectModel) -> Int {
      let hashes: [String: Data] = model.entityVersionHashesByName
      if let known = numbers[hashes] { return known }
      numbers[hashes] = numbers.count
      return numbers.count - 1
    }
    return VersionPair(number(source), number(destination))
  }

  private func mapped(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) throws
    -> MigrationStep?
  {
    let pair: VersionPair = pair(source, destination)
    if let found = mapped[pair] { return found }
    let step: MigrationStep? = try given(source, destination).map {
      MigrationStep(source: source, destination: destination, mapping: $0)
    }
    mapped[pair] = .some(step)
    return step
  }

  private func inferred(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) -> MigrationStep?
  {
    if !infers { return nil }
    let pair: VersionPair = pair(source, destination)
    if let found = inferred[pair] { return found }
    let step: MigrationStep? =
      try? MigrationStep(inferredFrom: renamings.difference(from: source, to: destination))
    inferred[pair] = .some(step)
    return step
  }
}
