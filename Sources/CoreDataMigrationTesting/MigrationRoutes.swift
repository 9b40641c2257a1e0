import CoreData

/// Finds the way from one version to another that automatic migration takes. Versions are named by their
/// places.
final class MigrationRoutes {
  enum Way {
    /// The versions after the first one, to the last one.
    case found([Int])
    /// Why no mapping model can be inferred.
    case refused([String])
  }

  private struct Pair: Hashable {
    let source: Int
    let destination: Int
  }

  private let tester: MigrationTester
  private var known: [Pair: Bool] = [:]
  /// The pairs of versions for which there is a mapping model of the program's.
  private var mapped: Set<Pair>?

  init(_ tester: MigrationTester) { self.tester = tester }

  /// The program's mapping model; nil if there is none.
  func given(_ source: Int, _ destination: Int) throws -> NSMappingModel? {
    let (old, new) = (tester.versions[source], tester.versions[destination])
    return try tester.mapping(old, new)
      ?? NSMappingModel(from: nil, forSourceModel: old.model, destinationModel: new.model)
  }

  func inference(_ source: Int, _ destination: Int) -> MappingInference {
    MappingInference(from: tester.versions[source].model, to: tester.versions[destination].model)
  }

  /// Directly, or by a chain with a mapping model of the program's in it: inferred steps alone make none.
  func way(from source: Int, to destination: Int) throws -> Way {
    if try given(source, destination) != nil { return .found([destination]) }
    let refusals: [String] = inference(source, destination).refusals.map(\.description)
    if refusals.isEmpty { return .found([destination]) }
    return try chain(from: source, to: destination).map(Way.found) ?? .refused(refusals)
  }

  /// The shortest chain, found breadth first.
  private func chain(from source: Int, to destination: Int) throws -> [Int]? {
    struct Visit: Hashable {
      let place: Int
      let hasMapping: Bool
    }
    let mapped: Set<Pair> = try mappedPairs()
    if mapped.isEmpty { return nil }
    var waiting: [(path: [Int], hasMapping: Bool)] = [([], false)]
    var seen: Set<Visit> = []
    var first: Int = 0
    while first < waiting.count {
      let (path, hadMapping) = waiting[first]
      first += 1
      let here: Int = path.last ?? source
      for next in tester.versions.indices where next != source && !path.contains(next) {
        let pair = Pair(source: here, destination: next)
        let hasMapping: Bool = hadMapping || mapped.contains(pair)
        if next == destination && !hasMapping { continue }
        guard mapped.contains(pair) || leads(pair) else { continue }
        if next == destination { return path + [next] }
        if seen.insert(Visit(place: next, hasMapping: hasMapping)).inserted {
          waiting.append((path + [next], hasMapping))
        }
      }
    }
    return nil
  }

  private func mappedPairs() throws -> Set<Pair> {
    if let mapped { return mapped }
    var found: Set<Pair> = []
    for source in tester.versions.indices {
      for destination in tester.versions.indices where source != destination {
        if try given(source, destination) != nil {
          found.insert(Pair(source: source, destination: destination))
        }
      }
    }
    mapped = found
    return found
  }

  /// Whether a mapping model can be inferred.
  private func leads(_ pair: Pair) -> Bool {
    if let known = known[pair] { return known }
    let leads: Bool = inference(pair.source, pair.destination).refusals.isEmpty
    known[pair] = leads
    return leads
  }
}
