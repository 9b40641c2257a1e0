import CoreDataModel
import CoreDataStorage
import Foundation

/// The statement a fetch would execute, for examining performance.
public struct FetchExplanation: Sendable, CustomStringConvertible {
  public let store: String
  public let sql: String
  /// The bound values, printed.
  public let bindings: [String]
  /// The database's own plan.
  public let queryPlan: [String]
  /// Conditions of the predicate that are evaluated in memory, over every object that the statement returns,
  /// each with the reason. Empty if the store evaluates everything.
  public let evaluatedInMemory: [String]
  /// What would make the fetch faster: a fetch index of the model that keeps it from reading every row. The
  /// database was asked whether it would use the index.
  public let hints: [String]

  public var description: String {
    let lines: [[String]] = [
      [sql], bindings.isEmpty ? [] : ["-- bound: " + bindings.joined(separator: ", ")],
      queryPlan.map { "-- " + $0 }, evaluatedInMemory.map { "-- in memory: " + $0 },
      hints.map { "-- hint: " + $0 },
    ]
    return lines.joined().joined(separator: "\n")
  }
}

extension NSFetchRequest {
  /// The statement each store would execute for this request. Stores without statements (in memory) are left
  /// out.
  public func explain(in context: NSManagedObjectContext) throws -> [FetchExplanation] {
    let description = FetchParameters(self)
    return try withCocoaErrors {
      let table: DictionaryFetch? =
        description.resultType == .dictionaryResultType
        ? try DictionaryFetch(description, context: context) : nil
      return try context.withScope(description) { scope in
        try scope.coordinator.call(scope.stores, for: scope.caller) { operations, store in
          let explained: ExplainedStatement? =
            if let table, scope.residual == nil {
              try operations.explain(try table.plan(for: store))
            } else {
              try operations.explain(try scope.plan(for: store))
            }
          return try explained.map {
            FetchExplanation(
              store: store.uuid, sql: $0.sql, bindings: $0.bindings, queryPlan: $0.queryPlan,
              evaluatedInMemory: scope.residual?.explanation ?? [],
              hints: table == nil
                ? try FetchHint(scope.plan(for: store), scope.runtime).text($0, operations).map { [$0] } ?? []
                : [])
          }
        }.compactMap(\.self)
      }
    }
  }
}
