import CoreDataModel
import CoreDataPredicates
import Foundation

/// Finds objects with the same values in properties that a uniqueness constraint names. A value that is nil
/// is no object's double.
///
/// Cost: some 40 bytes of memory for each object of an entity with a constraint.
struct UniqueValues {
  /// Two objects with the same values.
  struct Twins {
    let entity: EntityLayout
    let names: [String]
    /// The values that both have, as texts.
    let values: [String]
    let first: RowID
    let second: RowID

    /// The names with the values.
    var pairs: String { zip(names, values).map { "\($0) \($1)" }.joined(separator: ", ") }
  }

  /// The first two objects with the same values; nil if there are none.
  static func firstTwins(in engine: any StoreEngine, _ entities: [EntityLayout]) throws -> Twins? {
    var unique = UniqueValues(engine)
    for entity in entities where !entity.isAbstract {
      let scan = try RowScan(entity, in: engine)
      var found: Twins?
      try scan.forEachPage { page in
        if found == nil { found = try unique.twins(among: try scan.rows(page)).first }
      }
      if let found { return found }
    }
    return nil
  }

  private struct Constraint {
    let entity: EntityLayout
    let names: [String]
    let places: [(kind: ColumnKind, word: Int)]
  }

  /// By entity: the constraints of its own and those of its ancestors, by their places in `all`.
  private var constraints: [[Int]]
  private var all: [Constraint] = []
  /// By constraint: the first object with values of this hash.
  private var known: [[Int: RowID]] = []
  private let engine: any StoreEngine
  /// By constraint and values: whether their first object was told.
  private var told: Set<String> = []
  /// More values than that are told together.
  private static let valuesTold: Int = 50

  init(_ engine: any StoreEngine) {
    self.engine = engine
    constraints = engine.layout.entities.map { _ in [] }
    for entity in engine.layout.entities {
      for names in entity.entity.uniquenessConstraintNames {
        let places: [(kind: ColumnKind, word: Int)] = names.compactMap { name in
          guard case .stored(let kind, let word)? = entity.slot(named: name)?.role else { return nil }
          return (kind, word)
        }
        // An inherited constraint is checked for the hierarchy as a whole.
        let isInherited: Bool = all.contains {
          $0.names == names && $0.entity.family.contains(entity.index)
        }
        guard places.count == names.count, !isInherited else { continue }
        for member in entity.family { constraints[member].append(all.count) }
        all.append(Constraint(entity: entity, names: names, places: places))
        known.append([:])
      }
    }
  }

  mutating func check(_ rows: [RowRef], _ problems: inout StoreProblems) throws {
    for twins in try twins(among: rows) {
      let name: String = "\(twins.entity.name) \(twins.pairs)"
      let isNew: Bool = !told.contains(name)
      let isOneOfMany: Bool = isNew && told.count >= Self.valuesTold
      if !isOneOfMany { told.insert(name) }
      let same: String = isOneOfMany ? twins.names.joined(separator: ", ") : "values (\(twins.pairs))"
      let objects: [RowID] = isNew ? [twins.first, twins.second] : [twins.second]
      problems.add(
        StoreProblem(
          .unique, entity: twins.entity.name, property: twins.names.first, count: objects.count,
          objects: objects,
          "\(twins.entity.name) has objects with the same \(same), which the model wants to be unique."))
    }
  }

  /// Each of rows that has the same values as one that was asked about before, with that one.
  mutating func twins(among rows: [RowRef]) throws -> [Twins] {
    try doubles(among: rows).map { row, number, first in
      let constraint: Constraint = all[number]
      return Twins(
        entity: constraint.entity, names: constraint.names,
        values: constraint.places.map { place in
          let value: String = ValuePrinter.print(place.kind.predicateValue(row, place.word))
          return value.count > 60 ? "\(value.prefix(60))…" : value
        }, first: first, second: row.id)
    }
  }

  /// Rows that have the same values as one that was asked about before, with the places of the constraints
  /// and that other one.
  private mutating func doubles(among rows: [RowRef]) throws -> [(row: RowRef, constraint: Int, first: RowID)]
  {
    var found: [(row: RowRef, constraint: Int, first: RowID)] = []
    for row in rows {
      for number in constraints[row.entity] {
        let constraint: Constraint = all[number]
        guard constraint.places.allSatisfy({ row.hasValue($0.word) }) else { continue }
        let hash: Int = Self.hash(row, constraint)
        guard let other = known[number][hash] else {
          known[number][hash] = row.id
          continue
        }
        let layout: EntityLayout = engine.layout.entities[Int(other.entity)]
        guard let twin = try engine.rows(of: layout, keys: [other.key]).first,
          constraint.places.allSatisfy({ Self.isEqual(row, twin, $0.kind, $0.word) })
        else { continue }
        found.append((row, number, other))
      }
    }
    return found
  }

  /// The words of numbers, the bytes of everything else.
  private static func isPlain(_ kind: ColumnKind) -> Bool {
    switch kind {
    case .int16, .int32, .int64, .bool, .double, .float, .date, .toOne: true
    case .decimal, .string, .uri, .uuid, .data, .transformable: false
    }
  }

  private static func hash(_ row: RowRef, _ constraint: Constraint) -> Int {
    var hasher = Hasher()
    for (kind, word) in constraint.places {
      if isPlain(kind) { hasher.combine(row.word(word)) } else { hasher.combine(bytes: row.bytes(word)) }
    }
    return hasher.finalize()
  }

  private static func isEqual(_ one: RowRef, _ other: RowRef, _ kind: ColumnKind, _ word: Int) -> Bool {
    guard other.hasValue(word) else { return false }
    return isPlain(kind)
      ? one.word(word) == other.word(word) : one.bytes(word).elementsEqual(other.bytes(word))
  }
}
