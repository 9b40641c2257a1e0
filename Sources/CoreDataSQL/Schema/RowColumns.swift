import CoreDataStorage

/// The columns of a `SELECT` over a family of entities, and how the row loop turns them into words.
///
/// The result's columns 0, 1 and 2 are key, entity number and version; values follow. A family shares one
/// table, so the row of one entity uses some of the columns only: `reads(of:)` lists them.
package struct RowColumns: Sendable {
  /// Names of the value columns, in the order of the result; the first is result column 3.
  package let names: [String]
  /// The entities a row may be of.
  package let family: ClosedRange<Int>
  /// By entity index minus `family.lowerBound`.
  package let readsByEntity: [[ColumnRead]]

  package func reads(of entity: Int) -> [ColumnRead] { readsByEntity[entity - family.lowerBound] }

  package static let key: Int = 0
  package static let entity: Int = 1
  package static let version: Int = 2
  package static let firstValue: Int = 3
}

/// One value of a row: copied from this result column to this word.
public struct ColumnRead: Sendable, Hashable {
  public var column: Int32
  public var word: Int32
  public var kind: ColumnKind
  /// A tag byte precedes the value (external storage).
  public var isTagged: Bool
  /// For a to-one value: the result column with the target's entity number, -1 if the target is always
  /// `target`.
  public var entityColumn: Int32
  /// For a to-one value: the declared destination's entity index.
  public var target: Int32
}

extension StoreSchema {
  /// The columns to read for rows of `entity`, with those of its sub-entities if wanted.
  package func rowColumns(of entity: EntityLayout, includesSubentities: Bool = true) -> RowColumns {
    let family: ClosedRange<Int> = includesSubentities ? entity.family : entity.index...entity.index
    var names: [String] = []
    var positions: [String: Int32] = [:]
    func position(_ name: String) -> Int32 {
      if let known = positions[name] { return known }
      let new = Int32(RowColumns.firstValue + names.count)
      names.append(name)
      positions[name] = new
      return new
    }
    let reads: [[ColumnRead]] = family.map { index in
      layout.entities[index].slots.enumerated().compactMap { number, slot -> ColumnRead? in
        guard case .stored(let kind, let word) = slot.role else { return nil }
        switch storage[index][number] {
        case .attribute(let column):
          return ColumnRead(
            column: position(column.name), word: Int32(word), kind: kind, isTagged: column.isTagged,
            entityColumn: -1, target: -1)
        case .toOne(let columns):
          return ColumnRead(
            column: position(columns.key), word: Int32(word), kind: kind, isTagged: false,
            entityColumn: columns.entity.map(position) ?? -1, target: Int32(slot.destination ?? -1))
        case .none, .toMany: return nil
        }
      }
    }
    return RowColumns(names: names, family: family, readsByEntity: reads)
  }
}
