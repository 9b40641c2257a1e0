import CoreDataModel
import CoreDataSQL
import CoreDataStorage

extension StoreInventory {
  /// The schema of the tables that a damaged database still has with their keys, and the other tables, all of
  /// whose rows are lost. Throws what the whole schema throws if no table is left, or if a property has no
  /// place in the database: then it was written with another model.
  func readableSchema(
    of layout: ModelLayout, entities: Set<String>?
  ) throws -> (StoreSchema, lost: [DamagedTable]) {
    var wanted: Set<String> = entities ?? Set(layout.entities.map(\.name))
    var lost: [DamagedTable] = []
    var first: StoreError?
    while true {
      do {
        let names: Set<String>? = entities == nil && lost.isEmpty ? nil : wanted
        return (try StoreSchema(layout: layout, database: database, entities: names), lost)
      } catch let error as StoreError {
        guard case .unsupportedModel(let name, property: nil, let reason) = error,
          let entity = layout.byName[name]
        else { throw error }
        let root: EntityLayout = layout.entities[entity.rootIndex]
        let rest: Set<String> = wanted.subtracting(root.family.map { layout.entities[$0].name })
        guard rest.count < wanted.count, !rest.isEmpty else { throw first ?? error }
        first = first ?? error
        wanted = rest
        lost.append(
          DamagedTable(
            table: StoreSchema.tableName(of: root), entity: root.name, unreadablePages: 0, reason: reason))
      }
    }
  }
}
