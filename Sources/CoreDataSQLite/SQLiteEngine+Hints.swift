import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB

extension SQLiteEngine {
  /// The plan for a fetch if there were an index over some attributes: from an empty database in memory with
  /// the store's tables and indexes, and that one.
  package func queryPlan(of plan: FetchPlan, indexing slots: [IndexedSlot]) throws -> [String]? {
    guard let trial = SQLiteIndexTrial(slots, of: plan.entity, schema) else { return nil }
    let compiled: CompiledStatement = try fetchCompiler.rows(plan).statement
    let definitions: [String] = try read { database in
      let statement = try RawStatement(database, SQLiteIndexTrial.readSchema, url: url)
      defer { statement.reset() }
      var texts: [String] = []
      while try statement.step() {
        if let text = statement.text(0) { texts.append(text) }
      }
      return texts
    }
    return try SQLiteErrors.translating(url: url) {
      // The same functions and pragmas as the store's connections.
      let copy = try DatabaseQueue(configuration: try Connections.configuration(options, url: url))
      return try copy.writeWithoutTransaction { database in
        // A virtual table's own tables exist already when their definitions come.
        for text in definitions { try? database.execute(sql: text) }
        try database.execute(sql: trial.create)
        return try queryPlan(compiled, database)
      }
    }
  }
}
