import CoreDataModel
import CoreDataPredicates
import Foundation

/// Which object of one store is which object of another one.
package struct StoreCorrespondence {
  package struct Entity {
    package var name: String
    package var left: EntityLayout?
    package var right: EntityLayout?
  }

  /// The entities of both stores, by name. Abstract ones have no objects of their own.
  package let entities: [Entity]
  /// By index of the left root: right keys by left keys; nil where the keys are the same.
  private let maps: [Int: Int64HashMap]
  private let leftLayout: ModelLayout
  /// Objects that could not be matched because others have the same values.
  package private(set) var ambiguous: [(entity: String, ids: [RowID])] = []

  private init(_ left: ModelLayout, _ right: ModelLayout, _ chosen: Set<String>?, maps: [Int: Int64HashMap]) {
    let names: Set<String> = Set(left.byName.keys).union(right.byName.keys)
    entities = names.sorted().compactMap { name in
      if let chosen, !chosen.contains(name) { return nil }
      let (one, other) = (left.byName[name], right.byName[name])
      if one?.isAbstract ?? true, other?.isAbstract ?? true { return nil }
      return Entity(name: name, left: one, right: other)
    }
    self.maps = maps
    leftLayout = left
  }

  /// The key of the object on the right that a left one corresponds to; nil if there is none. For equal keys
  /// that there is such an object is not checked.
  package func right(of left: RowID) -> Int64? {
    let entity = Int(left.entity)
    guard leftLayout.entities.indices.contains(entity) else { return nil }
    guard let map = maps[leftLayout.entities[entity].rootIndex] else { return left.key }
    return map.find(left.key).map { Int64(bitPattern: $0) }
  }

  /// By entity and key: the identity of objects. `names`: those of the entities to compare; nil for all.
  package static func byKeys(
    _ left: any StoreEngine, _ right: any StoreEngine, among names: Set<String>? = nil
  ) -> StoreCorrespondence {
    StoreCorrespondence(left.layout, right.layout, names, maps: [:])
  }

  /// By the place among the objects of an entity in the order of their keys: for stores of which one was
  /// copied from the other, by ``StoreTransfer``, and numbered anew.
  package static func byRanks(
    _ left: any StoreEngine, _ right: any StoreEngine, among names: Set<String>? = nil
  ) throws -> StoreCorrespondence {
    var maps: [Int: Int64HashMap] = [:]
    for entity in left.layout.entities where !entity.isAbstract && names?.contains(entity.name) ?? true {
      maps[entity.rootIndex] = maps[entity.rootIndex] ?? Int64HashMap()
      guard let other = right.layout.byName[entity.name] else { continue }
      let leftKeys: [Int64] = try RowScan(entity, in: left).keys
      maps[entity.rootIndex]?.reserve(more: leftKeys.count)
      for (one, two) in zip(leftKeys, try RowScan(other, in: right).keys) {
        maps[entity.rootIndex]?.insert(one, UInt64(bitPattern: two))
      }
    }
    return StoreCorrespondence(left.layout, right.layout, names, maps: maps)
  }

  /// By the values of attributes, for the entities that are named; other entities by keys, also those above
  /// or beside a named one. Objects without a value for any of the attributes, and those that share their
  /// values with another one of their store, correspond to none; the latter are listed in ``ambiguous``.
  package static func byAttributes(
    _ attributes: [String: [String]], _ left: any StoreEngine, _ right: any StoreEngine,
    among names: Set<String>? = nil
  ) throws -> StoreCorrespondence {
    var maps: [Int: Int64HashMap] = [:]
    var ambiguous: [(entity: String, ids: [RowID])] = []
    for entity in left.layout.entities {
      guard let keys = attributes[entity.name] else { continue }
      maps[entity.rootIndex] = maps[entity.rootIndex] ?? Int64HashMap()
      guard !entity.isAbstract, let other = right.layout.byName[entity.name] else { continue }
      var (leftIDs, leftTwins) = try ids(entity, keys, left)
      let (rightIDs, rightTwins) = try ids(other, keys, right)
      for twin in rightTwins.keys { leftIDs[twin] = nil }
      for (values, id) in leftIDs {
        guard let found = rightIDs[values] else { continue }
        maps[entity.rootIndex]?.insert(id.key, UInt64(bitPattern: found.key))
      }
      ambiguous += leftTwins.values.map { (entity.name, $0) } + rightTwins.values.map { (entity.name, $0) }
    }
    // A hierarchy has one map, so what goes by keys in it is entered too.
    for entity in left.layout.entities where attributes[entity.name] == nil && !entity.isAbstract {
      guard maps[entity.rootIndex] != nil else { continue }
      for key in try RowScan(entity, in: left).keys {
        maps[entity.rootIndex]?.insert(key, UInt64(bitPattern: key))
      }
    }
    var made = StoreCorrespondence(left.layout, right.layout, names, maps: maps)
    made.ambiguous = ambiguous.sorted { ($0.entity, $0.ids[0].key) < ($1.entity, $1.ids[0].key) }
    return made
  }

  /// Objects by their values, and those that share them.
  private static func ids(
    _ entity: EntityLayout, _ names: [String], _ engine: any StoreEngine
  ) throws -> (single: [[PredicateValue]: RowID], twins: [[PredicateValue]: [RowID]]) {
    let places: [(ColumnKind, Int)] = names.compactMap { name in
      guard case .stored(let kind, let word)? = entity.slot(named: name)?.role else { return nil }
      return (kind, word)
    }
    guard places.count == names.count else { return ([:], [:]) }
    var single: [[PredicateValue]: RowID] = [:]
    var twins: [[PredicateValue]: [RowID]] = [:]
    let scan = try RowScan(entity, in: engine)
    try scan.forEachPage { page in
      for row in try scan.rows(page) {
        let values: [PredicateValue] = places.map { kind, word in
          row.hasValue(word) ? kind.predicateValue(row, word) : .null
        }
        if values.allSatisfy({ $0 == .null }) { continue }
        if twins[values] != nil {
          twins[values]?.append(row.id)
        } else if let other = single.updateValue(row.id, forKey: values) {
          single[values] = nil
          twins[values] = [other, row.id]
        }
      }
    }
    return (single, twins)
  }
}
