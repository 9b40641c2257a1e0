import CoreDataModel

/// Finds the shortest chain of steps over which a store can be migrated where no direct way leads. Versions
/// are numbers here: 0 is the store's, the last one the destination.
///
/// No inferred step of a chain drops what the destination has, by the same name or by a renaming: a version
/// that lacks it would lose the values on the way. What a mapping model leaves out, its author has decided.
struct VersionChains {
  let count: Int
  /// The step between two versions; nil if there is none.
  let step: (VersionPair) -> MigrationStep?
  /// Whether a step is one of which a chain must have at least one: inferred steps alone would find a way
  /// around any refusal.
  let isWanted: (MigrationStep) -> Bool
  /// What of a version has a place in the destination.
  let kept: (Int) -> Set<RenamingChain.Place>

  struct Chain {
    /// The numbers of the versions, the source's and the destination's too.
    var path: [Int]
    var steps: [MigrationStep]
  }

  private struct Way {
    var chain: Chain
    var hasWanted: Bool
    /// The places, in the last version of the path, of the values that must not be dropped.
    var held: Set<RenamingChain.Place>
  }

  private struct Visit: Hashable {
    let version: Int
    let hasWanted: Bool
    let held: Set<RenamingChain.Place>
  }

  /// The way with the fewest steps; nil if there is none. `mayLose`: also a way that drops what the
  /// destination has.
  ///
  /// Breadth first. A version is visited again only by ways that have other values in it, or a wanted step
  /// in place of none.
  func shortest(mayLose: Bool = false) -> Chain? {
    let destination: Int = count - 1
    var waiting: [Way] = [
      Way(chain: Chain(path: [0], steps: []), hasWanted: false, held: mayLose ? [] : kept(0))
    ]
    var seen: Set<Visit> = []
    var first: Int = 0
    while first < waiting.count {
      let way: Way = waiting[first]
      let path: [Int] = way.chain.path
      first += 1
      for next in 1..<count where !path.contains(next) {
        guard let step = step(VersionPair(path[path.count - 1], next)) else { continue }
        let hasWanted: Bool = way.hasWanted || isWanted(step)
        if next == destination && !hasWanted || !lost(in: step, of: way.held).isEmpty { continue }
        let chain = Chain(path: path + [next], steps: way.chain.steps + [step])
        if next == destination { return chain }
        let held: Set<RenamingChain.Place> = mayLose ? [] : held(after: step, way.held).union(kept(next))
        if seen.insert(Visit(version: next, hasWanted: hasWanted, held: held)).inserted {
          waiting.append(Way(chain: chain, hasWanted: hasWanted, held: held))
        }
      }
    }
    return nil
  }

  /// The first step of a chain that drops what the destination has, and that by the names before the step.
  func lost(in chain: Chain) -> (step: MigrationStep, places: Set<RenamingChain.Place>)? {
    var held: Set<RenamingChain.Place> = []
    for (version, step) in zip(chain.path, chain.steps) {
      held.formUnion(kept(version))
      let lost: Set<RenamingChain.Place> = lost(in: step, of: held)
      if !lost.isEmpty { return (step, lost) }
      held = self.held(after: step, held)
    }
    return nil
  }

  private func lost(in step: MigrationStep, of held: Set<RenamingChain.Place>) -> Set<RenamingChain.Place> {
    guard let inference = step.inference, !held.isEmpty else { return [] }
    return held.subtracting(RenamingChain.values(inference.difference).keys)
  }

  /// Where the values are after a step: of those that a mapping model has made nothing is known.
  private func held(after step: MigrationStep, _ held: Set<RenamingChain.Place>) -> Set<RenamingChain.Place> {
    guard let inference = step.inference else { return [] }
    let places: [RenamingChain.Place: RenamingChain.Place] = RenamingChain.values(inference.difference)
    return Set(held.compactMap { places[$0] })
  }
}

/// Two versions by their numbers.
struct VersionPair: Hashable {
  let source: Int
  let destination: Int

  init(_ source: Int, _ destination: Int) { (self.source, self.destination) = (source, destination) }
}
