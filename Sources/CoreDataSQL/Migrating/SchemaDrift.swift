import CoreDataStorage

/// Compares the tables, columns, indexes, triggers and views of a database with those of its model.
///
/// A table or column that is missing is no matter of drift: such a store can't be opened.
package struct SchemaDrift {
  private let schema: StoreSchema
  private let facts: MigrationFacts
  private let ownTables: Set<String>

  package init(_ schema: StoreSchema, _ facts: MigrationFacts) {
    self.schema = schema
    self.facts = facts
    ownTables = Set((schema.tables.map(\.name) + schema.joinTables.map(\.name)).map(DatabaseNames.fold))
  }

  package func differences() -> [StoreDrift] {
    missingDefinitions().map { StoreDrift(.missing, "\($0) of the model is missing.") } + foreignDefinitions()
  }

  /// What is none of the model's.
  package func foreignDefinitions() -> [StoreDrift] { foreignColumns() + foreignObjects() }

  /// Tables and columns that are none of the model's.
  package func foreignTablesAndColumns() -> [StoreDrift] { foreignColumns() + foreignObjects([.table]) }

  /// The names of triggers that are none of the model's.
  package func foreignTriggers() -> [String] { foreign([.trigger]).map(\.name).sorted() }

  /// R-trees and indexes that the database lacks.
  func missingDefinitions() -> [String] {
    let tables: Set<String> = Set(
      facts.objects.filter { $0.kind != .index }.map { DatabaseNames.fold($0.name) })
    let indexes: Set<SQLTokens> = Set(
      facts.objects.filter { $0.kind == .index }.map { SQLTokens(index: $0.sql ?? "") })
    return AppleCreation(schema).namedIndexes().compactMap { index in
      if let tree = index.rTree {
        return tables.contains(DatabaseNames.fold(tree.name)) ? nil : "R-tree \(tree.name)"
      }
      let wanted = SQLTokens(index: SQLRenderer.text(index.trees[0], dialect: SQLiteDialect()))
      // Earlier versions of Apple's framework made one index for an attribute that is both indexed and
      // unique.
      return indexes.contains(wanted) || indexes.contains(wanted.unique) || isWithinTable(index)
        ? nil : "Index \(index.name)"
    }
  }

  /// Whether a constraint is part of the definition of its table, as earlier versions of Apple's framework
  /// wrote it.
  private func isWithinTable(_ index: AppleCreation.NamedIndex) -> Bool {
    guard index.constraint != nil, case .index(let tree) = index.trees[0] else { return false }
    return facts.objects.contains {
      $0.kind == .index && $0.sql == nil && DatabaseNames.fold($0.table) == DatabaseNames.fold(tree.table)
    }
  }

  private func foreignColumns() -> [StoreDrift] {
    schema.tables.flatMap { table in
      facts.foreignColumns(of: table).map { column in
        StoreDrift(.foreign, "Table \(table.name) has a column \(column) that is not of the model.")
      }
    }
  }

  private func foreignObjects(
    _ kinds: Set<MigrationFacts.Object.Kind> = [.table, .index, .trigger, .view]
  ) -> [StoreDrift] {
    foreign(kinds).map { object in
      let kind: String = object.kind.rawValue.prefix(1).uppercased() + object.kind.rawValue.dropFirst()
      return StoreDrift(.foreign, "\(kind) \(object.name) is not of the model.")
    }
  }

  private func foreign(_ kinds: Set<MigrationFacts.Object.Kind>) -> [MigrationFacts.Object] {
    // An R-tree keeps its contents in three more tables; other virtual tables do alike.
    let virtual: [String] = facts.objects.filter(\.isVirtualTable).map { DatabaseNames.fold($0.name) + "_" }
    return facts.objects.filter { object in
      guard kinds.contains(object.kind) else { return false }
      let name: String = DatabaseNames.fold(object.name)
      let isOwn: Bool =
        switch object.kind {
        case .table:
          ownTables.contains(name) || AppleNames.isTree(name) || AppleBookkeeping.isBookkeeping(name)
            || name.hasPrefix("SQLITE_") || virtual.contains { name.hasPrefix($0) }
        case .index:
          AppleNames.isIndex(name) || object.sql == nil
            || !ownTables.contains(DatabaseNames.fold(object.table))
        case .trigger: AppleNames.isTrigger(name)
        case .view: false
        }
      return !isOwn
    }
  }
}
