import CoreDataSQL
import CoreDataStorage

extension SQLiteEngine {
  /// The columns of an entity's stored properties, in the order of its slots. Properties without a column of
  /// their own are left out. Reads nothing.
  package func columnPlaces(of entity: EntityLayout) throws -> [ColumnPlace] {
    let table: String = try schema.table(of: entity.index).name
    return entity.slots.enumerated().compactMap { number, slot in
      func place(_ table: String, _ columns: [String?]) -> ColumnPlace {
        ColumnPlace(property: slot.name, table: table, columns: columns.compactMap { $0 })
      }
      switch schema.storage(of: entity.index, slot: number) {
      case .none: return nil
      case .attribute(let column): return place(table, [column.name])
      case .toOne(let columns): return place(table, [columns.key, columns.entity, columns.order])
      case .toMany(.foreignKey(let members)):
        return place(members.table, [members.key, members.entity, members.order])
      case .toMany(.joinTable(let members)):
        return place(members.table, [members.owner, members.member, members.order])
      }
    }
  }
}
