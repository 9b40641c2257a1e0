import CoreDataStorage
import Foundation

/// By which attributes the objects of two stores can be told apart, where their numbers tell nothing: what
/// `--by` is advised for. Only what leads somewhere is advised: values that no two objects of a store share,
/// and that lead to objects of other numbers.
struct KeyAdvice {
  private let left: any StoreEngine
  private let right: any StoreEngine

  init(_ left: any StoreEngine, _ right: any StoreEngine) { (self.left, self.right) = (left, right) }

  /// Entities with more objects are not searched: each attribute is a pass over all of them.
  private static let mostObjects: Int = 100_000
  private static let mostAttributes: Int = 12

  /// `Item=sku` for each of the entities that has such attributes, and the names of those that have none.
  func terms(for entities: Set<String>) throws -> (terms: [String], without: [String]) {
    var terms: [String] = []
    var without: [String] = []
    for name in entities.sorted() {
      guard let one = left.layout.byName[name], let other = right.layout.byName[name] else { continue }
      let keys: [Int64] = try RowScan(one, in: left).keys
      let isSmall: Bool = keys.count <= Self.mostObjects
      if isSmall, let found = try best(one, other, keys) {
        terms.append("\(name)=\(found.joined(separator: ","))")
      } else if isSmall, !keys.isEmpty {
        without.append(name)
      }
    }
    return (terms, without)
  }

  /// Whether a uniqueness constraint says the same.
  func areUnique(_ terms: [String]) -> Bool {
    terms.allSatisfy { term in
      let parts: [Substring] = term.split(separator: "=", maxSplits: 1)
      let unique: [String]? = left.layout.byName[String(parts[0])].flatMap { MatchKeys.unique($0) }
      return unique?.joined(separator: ",") == parts.last.map(String.init)
    }
  }

  private func best(_ one: EntityLayout, _ other: EntityLayout, _ keys: [Int64]) throws -> [String]? {
    var best: (names: [String], count: Int)?
    for names in candidates(one, other) {
      let match: StoreCorrespondence = try .byAttributes(
        [one.name: names], left, right, among: [one.name])
      guard match.ambiguous.isEmpty else { continue }
      var (count, moved): (Int, Int) = (0, 0)
      for key in keys {
        guard let found = match.right(of: RowID(entity: one.index, key: key)) else { continue }
        count += 1
        if found != key { moved += 1 }
      }
      // Where most correspond by their numbers too, nothing is gained.
      guard moved * 2 > count, count > best?.count ?? 0 else { continue }
      best = (names, count)
      if count == keys.count { break }
    }
    return best?.names
  }

  /// The uniqueness constraint, then single attributes, texts and UUIDs first.
  private func candidates(_ one: EntityLayout, _ other: EntityLayout) -> [[String]] {
    let ranks: [ColumnKind: Int] = [
      .string: 0, .uuid: 0, .uri: 0, .int64: 1, .int32: 1, .int16: 1, .decimal: 2, .date: 3, .double: 4,
    ]
    let single: [(name: String, rank: Int)] = one.slots.compactMap { slot in
      guard case .stored(let kind, _) = slot.role, let rank = ranks[kind],
        MatchKeys.isAttribute(slot.name, of: other)
      else { return nil }
      return (slot.name, rank)
    }.sorted { ($0.rank, $0.name) < ($1.rank, $1.name) }
    let unique: [[String]] = MatchKeys.unique(one).map { [$0] } ?? []
    return unique.filter { $0.allSatisfy { MatchKeys.isAttribute($0, of: other) } }
      + single.prefix(Self.mostAttributes).map { [$0.name] }
  }
}
