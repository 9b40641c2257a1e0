import CoreDataModel
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB

/// Compares the tables of a database with those of a model, to find the version of a store that carries no
/// model and whose hashes nobody knows.
struct TableFit {
  private let database: Database
  private let url: URL

  init(_ database: Database, url: URL) { (self.database, self.url) = (database, url) }

  /// What is not as the model has it, a clause each; none if the store may have been written with it.
  /// Entities, parents, tables, columns and their types have to be the same; indexes need not.
  func misfits(of layout: ModelLayout, entities: Set<String>) throws -> [String] {
    let facts: MigrationFacts = try .read(database, url: url, readsRows: false)
    let hierarchy: [String] = hierarchyMisfits(of: layout, facts.database)
    let missing: [String] = entities.subtracting(layout.entities.map(\.name)).sorted()
    if !hierarchy.isEmpty || !missing.isEmpty { return missing.map { "it has no \($0)" } + hierarchy }
    let schema: StoreSchema
    do {
      schema = try StoreSchema(layout: layout, database: facts.database, entities: entities)
    } catch StoreError.unsupportedModel(let entity, let property, let reason) {
      return [
        "its \([entity, property].compactMap(\.self).joined(separator: ".")) has another place: \(reason)"
      ]
    }
    let foreign: [String] = SchemaDrift(schema, facts).foreignTablesAndColumns().map { drift in
      "the store's \(drift.text.prefix(1).lowercased())\(drift.text.dropFirst().prefix { $0 != "." })"
    }
    return try foreign + typeMisfits(of: schema)
  }

  /// Entities that only one of both has, or that have another parent.
  private func hierarchyMisfits(of layout: ModelLayout, _ existing: ExistingDatabase) -> [String] {
    let rows: [ExistingDatabase.EntityRow] = existing.entities.filter {
      $0.number < AppleBookkeeping.firstHistoryNumber
    }
    // Apple's framework keeps the former name of an entity that a migration has renamed.
    let own = Set(rows.map(\.name))
    let renamed: [String: String] = Dictionary(
      layout.entities.compactMap { entity in
        own.contains(entity.name) ? nil : entity.entity.renamingIdentifier.map { ($0, entity.name) }
      }, uniquingKeysWith: { first, _ in first })
    let names: [Int: String] = Dictionary(
      rows.map { ($0.number, renamed[$0.name] ?? $0.name) }, uniquingKeysWith: { first, _ in first })
    let found: [String: String] = Dictionary(
      rows.map { (names[$0.number] ?? $0.name, names[$0.superNumber] ?? "") },
      uniquingKeysWith: { first, _ in first })
    let wanted: [String: String] = Dictionary(
      layout.entities.map { entity in (entity.name, entity.superIndex.map { layout.entities[$0].name } ?? "")
      },
      uniquingKeysWith: { first, _ in first })
    return Set(found.keys).union(wanted.keys).sorted().compactMap { name in
      switch (found[name], wanted[name]) {
      case (nil, _?): "the store has no \(name)"
      case (_?, nil): "it has no \(name)"
      case (let found?, let wanted?) where found != wanted: "its \(name) has another parent"
      default: nil
      }
    }
  }

  private func typeMisfits(of schema: StoreSchema) throws -> [String] {
    try AppleCreation(schema).columnTypes().sorted { $0.key < $1.key }.flatMap { table, wanted -> [String] in
      let found: [String: String] = try StoreInventory.columnTypes(of: table, database, url: url)
      return wanted.sorted { $0.key < $1.key }.compactMap { column, type in
        guard let other = found[column], other.uppercased() != type.uppercased() else { return nil }
        return "its \(table).\(column) is \(type), and \(other) in the store"
      }
    }
  }
}
