/// Finds chains of versions over which a store can be migrated where no direct way leads. Versions are
/// numbers here.
///
/// A chain has a mapping model of the program's in it: inferred steps alone would find a way around any
/// refusal, over a version that lacks the entity in question and its data.
struct VersionChains {
  private let count: Int
  /// Between which versions the program has a mapping model.
  private let mapped: Set<VersionPair>

  init(count: Int, mapped: Set<VersionPair>) {
    self.count = count
    self.mapped = mapped
  }

  /// The versions after the first one, to the last one, by the way with the fewest steps; nil if there is
  /// none. `isInferred` says whether a mapping model between two versions can be inferred; it is called once
  /// for a pair, and never if there is no mapping model, without which there is no chain.
  ///
  /// Breadth first. A version is visited at most twice: by a chain that has a mapping model already, and by
  /// one that has none.
  func shortest(from source: Int, to destination: Int, isInferred: (VersionPair) -> Bool) -> [Int]? {
    struct Visit: Hashable {
      let version: Int
      let hasMapping: Bool
    }
    if mapped.isEmpty { return nil }
    var answers: [VersionPair: Bool] = [:]
    func leads(_ pair: VersionPair) -> Bool {
      if mapped.contains(pair) { return true }
      if let known = answers[pair] { return known }
      let answer: Bool = isInferred(pair)
      answers[pair] = answer
      return answer
    }
    var waiting: [(path: [Int], hasMapping: Bool)] = [([], false)]
    var seen: Set<Visit> = []
    var first: Int = 0
    while first < waiting.count {
      let (path, hadMapping) = waiting[first]
      first += 1
      for next in 0..<count where next != source && !path.contains(next) {
        let pair = VersionPair(path.last ?? source, next)
        let hasMapping: Bool = hadMapping || mapped.contains(pair)
        if next == destination && !hasMapping { continue }
        guard leads(pair) else { continue }
        if next == destination { return path + [next] }
        if seen.insert(Visit(version: next, hasMapping: hasMapping)).inserted {
          waiting.append((path + [next], hasMapping))
        }
      }
    }
    return nil
  }
}

/// Two versions by their numbers.
struct VersionPair: Hashable {
  let source: Int
  let destination: Int

  init(_ source: Int, _ destination: Int) { (self.source, self.destination) = (source, destination) }
}
