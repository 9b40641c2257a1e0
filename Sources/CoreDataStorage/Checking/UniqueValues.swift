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
    for (row, number, _) in try doubles(among: rows) {
      let constraint: Constraint = all[number]
      let names: String = constraint.names.joined(separator: ", ")
      problems.add(
        StoreProblem(
          .unique, entity: constraint.entity.name, property: constraint.names.first, objects: [row.id],
          "\(constraint.entity.name) has objects with the same \(names), which the model wants to be unique.")
      )
    }
  }

  /// The first of rows that has the same values as one that was asked about before, and that one.
  mutating func firstTwins(among rows: [RowRef]) throws -> Twins? {
    guard let (row, number, first) = try doubles(among: rows).first else { return nil }
    let constraint: Constraint = all[number]
    return Twins(
      entity: constraint.entity, names: constraint.names,
      values: constraint.places.map { ValuePrinter.print($0.kind.predicateValue(row, $0.word)) },
      first: first,
      second: row.id)
  }

  /// Rows that have the same values as one that was asked about before, with the places of the constraints
  /// and that other one.
  mutating func doubles(among rows: [RowRef]) throws -> [(row: RowRef, constraint: Int, first: RowID)] {
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
