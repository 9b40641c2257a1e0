import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB

/// Runs the statements of a migration in place on a database in memory, which has the definitions of the
/// store's file and no rows.
///
/// Renaming or dropping a part SQLite reads all definitions again, and refuses the statement for a view or a
/// trigger that is broken already, and for a generated column that needs what is dropped. Cost: some
/// milliseconds.
struct MigrationRehearsal {
  private let migration: InPlaceMigration
  private let objects: [MigrationFacts.Object]

  init(_ migration: InPlaceMigration, _ objects: [MigrationFacts.Object]) {
    (self.migration, self.objects) = (migration, objects)
  }

  struct Result {
    /// The first statement that SQLite refuses, with the reason; nil if it takes all.
    var refusal: String?
    /// Full-text indexes of other programs that read what the statements rename or drop.
    var notes: [String] = []
  }

  func run(_ configuration: Configuration, url: URL) throws -> Result {
    let queue = try DatabaseQueue(configuration: configuration)
    defer { try? queue.close() }
    let functions = MigrationFunctions(external: ExternalData(store: url, missing: .isError))
    return try queue.writeWithoutTransaction { database in
      functions.register(on: database)
      defer { MigrationFunctions.unregister(on: database) }
      for object in objects where !object.name.lowercased().hasPrefix("sqlite_") {
        // The tables of a virtual one are made with it, and one of an unknown module can't be made here.
        if let sql = object.sql { try? database.execute(sql: sql) }
      }
      let indexes: [String] = try objects.filter(\.isVirtualTable).map(\.name)
        .filter { try Self.rebuildError(of: $0, database, url) == nil }
      var result = Result(refusal: try refusal(database, url))
      if result.refusal != nil { return result }
      result.notes = try indexes.compactMap { name in
        try Self.rebuildError(of: name, database, url).map { reason in
          "The full-text index \(name) of another program can't be read afterwards (\(reason)): that program has to make it "
            + "anew."
        }
      }
      return result
    }
  }

  private func refusal(_ database: Database, _ url: URL) throws -> String? {
    for step in migration.steps {
      let statement: CompiledStatement = step.tree.statement
      do {
        let raw = try RawStatement(database, statement.sql, url: url)
        try raw.bind(statement.bindings)
        try raw.run()
      } catch StoreError.database(_, let message, _, _) {
        return
          "SQLite refuses to \(step.explanation), because of what another program has defined: \(message)."
      }
    }
    return nil
  }

  /// Why a full-text index can't be filled from the table that it indexes; nil if it can. Virtual tables of
  /// other modules know no such command.
  private static func rebuildError(of name: String, _ database: Database, _ url: URL) throws -> String? {
    let command: RowTree = .insert(InsertStatement(into: name, [name], values: [.bound(.text("rebuild"))]))
    let statement: CompiledStatement = SQLRenderer.statement(command, dialect: SQLiteDialect())
    do {
      let raw = try RawStatement(database, statement.sql, url: url)
      try raw.bind(statement.bindings)
      try raw.run()
      return nil
    } catch StoreError.database(_, let message, _, _) {
      return message
    }
  }
}
