import CoreDataModel
import CoreDataSQL
import CoreDataStorage
import Foundation

/// The schema of what a damaged database still has.
struct ReadableSchema {
  var schema: StoreSchema
  /// Tables that are missing or have no keys: all of their rows are lost.
  var lost: [DamagedTable] = []
  var missing: [MissingProperty] = []
}

extension StoreInventory {
  /// The schema of the tables that a damaged database still has with their keys, and the other tables, all of
  /// whose rows are lost.
  ///
  /// `hashes`: those of the store's metadata. Of entities whose hashes are the model's, columns and join
  /// tables may be missing; if others have no place for a property, the database was written with another
  /// model. Then it throws what the whole schema throws, as it does if no table is left.
  func readableSchema(
    of layout: ModelLayout, entities: Set<String>?, hashes: [String: Data]
  ) throws -> ReadableSchema {
    let incomplete: Set<Int> = Set(
      layout.entities.filter { hashes[$0.name] == $0.entity.versionHash }.map(\.index))
    var wanted: Set<String> = entities ?? Set(layout.entities.map(\.name))
    var lost: [DamagedTable] = []
    var first: StoreError?
    while true {
      do {
        let names: Set<String>? = entities == nil && lost.isEmpty ? nil : wanted
        let (schema, missing) = try StoreSchema.matched(layout, database, names, incomplete: incomplete)
        return ReadableSchema(schema: schema, lost: lost, missing: missing)
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
