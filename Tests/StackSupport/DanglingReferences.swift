import CoreData
import Foundation
import GRDB

/// Looks for references to rows that are gone, in a file in Apple's layout, with plain SQL.
public enum DanglingReferences {
  public static func all(in file: URL, of model: NSManagedObjectModel) throws -> [String] {
    let database = try DatabaseQueue(path: file.path)
    defer { try? database.close() }
    return try database.read { database in
      var numbers: [String: Int64] = [:]
      for row in try Row.fetchAll(database, sql: "SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY") {
        numbers[row[1]] = row[0]
      }
      return try columns(of: model, numbers, database).compactMap { column in
        let count: Int =
          try Int.fetchOne(
            database,
            sql: """
              SELECT count(*) FROM "\(column.table)" WHERE "\(column.name)" IS NOT NULL
              AND "\(column.name)" NOT IN (SELECT Z_PK FROM "\(column.target)")
              """) ?? 0
        return count == 0 ? nil : "\(count) of \(column.table).\(column.name) without \(column.target)"
      }
    }
  }

  private struct Column {
    public let table: String
    public let name: String
    public let target: String
  }

  private static func columns(
    of model: NSManagedObjectModel, _ numbers: [String: Int64], _ database: Database
  ) throws -> [Column] {
    var found: [Column] = []
    for entity in model.entities {
      for relationship in entity.relationshipsByName.values {
        guard let target = relationship.destinationEntity else { continue }
        let name: String = relationship.name.uppercased()
        if !relationship.isToMany {
          found.append(Column(table: table(entity), name: "Z\(name)", target: table(target)))
        } else if relationship.inverseRelationship == nil, let number = numbers[entity.name ?? ""] {
          // The members keep the key of their owner, of which their entity knows nothing.
          found.append(Column(table: table(target), name: "Z\(number)\(name)", target: table(entity)))
        }
      }
    }
    // Tables of pairs: `Z_4TAGS` with a column for each side, named by the number of its entity.
    let entities: [Int64: NSEntityDescription] = Dictionary(
      uniqueKeysWithValues: numbers.compactMap { name, number in
        model.entitiesByName[name].map { (number, $0) }
      })
    for pairs in try String.fetchAll(
      database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")
    {
      for name in try database.columns(in: pairs).map(\.name) where !name.hasPrefix("Z_FOK") {
        guard let number = Int64(name.dropFirst(2).prefix { $0.isNumber }), let entity = entities[number]
        else { continue }
        found.append(Column(table: pairs, name: name, target: table(entity)))
      }
    }
    return found
  }

  private static func table(_ entity: NSEntityDescription) -> String {
    var root: NSEntityDescription = entity
    while let parent = root.superentity { root = parent }
    return "Z" + (root.name ?? "").uppercased()
  }
}
