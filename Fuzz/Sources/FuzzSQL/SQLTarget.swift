import CSQLite
import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates
import CoreDataSQL
import CoreDataStorage
import Foundation
import FuzzTargets

/// Text, as for ``TextTarget``, → parsed → compiled to SQL for one entity of ``SQLWorld`` → prepared by
/// SQLite.
public enum SQLTarget {
  public static func run(_ bytes: UnsafeBufferPointer<UInt8>) {
    let (format, arguments) = TextTarget.content(bytes)
    guard let node = try? Parser.predicate(format, arguments: arguments) else { return }
    PredicateClock.$fixed.withValue(World.now) {
      for entity in SQLWorld.layout.entities { check(node, entity) }
    }
  }

  /// A compiled predicate is valid SQL, with a value for every parameter.
  private static func check(_ node: PredicateNode, _ entity: EntityLayout) {
    var plan: FetchPlan = FetchPlan(entity: entity)
    plan.predicate = node
    guard let statement = try? FetchCompiler(schema: SQLWorld.schema).ids(plan) else { return }
    var prepared: OpaquePointer?
    let code: Int32 = sqlite3_prepare_v2(SQLWorld.database, statement.sql, -1, &prepared, nil)
    defer { sqlite3_finalize(prepared) }
    guard code == SQLITE_OK else {
      let reason: String = String(cString: sqlite3_errmsg(SQLWorld.database))
      finding("\(Printer.print(node)) becomes \(statement.sql), of which SQLite says: \(reason)")
    }
    let places: Int = Int(sqlite3_bind_parameter_count(prepared))
    guard places == statement.bindings.count else {
      finding("\(statement.sql) has \(places) places for \(statement.bindings.count) values")
    }
  }
}
