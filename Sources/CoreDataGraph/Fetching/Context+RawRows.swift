import CoreDataPredicates
import CoreDataStorage
import Foundation

extension NSManagedObjectContext {
  /// The rows of an SQL query over a SQLite store, for reports that a fetch request can't express. This is an
  /// addition of Clarus; Apple's framework has nothing like it.
  ///
  /// ```swift
  /// let years = try context.rawRows("SELECT ZYEAR AS year, count(*) AS n FROM ZBOOK WHERE ZID > ? GROUP BY ZYEAR", [100])
  /// ```
  ///
  /// Tables and columns are Apple's: `Z` and the name in capitals; `Z_PK` is an object's key. The query reads
  /// the same state as this context, an earlier one if the context is pinned. It does not see unsaved
  /// changes. All rows are held in memory.
  ///
  /// A query can't write: it is one statement that begins with SELECT, WITH or VALUES, and SQLite must report
  /// that it changes nothing. Values are bound to its `?` parameters, never inserted into the text: numbers,
  /// strings, data, dates (as seconds since 2001, as stores keep them), UUIDs and URLs, objects and their ids
  /// (as keys), nil.
  ///
  /// - Parameters:
  ///   - store: which of the coordinator's stores; needed only if several are SQLite stores.
  /// - Returns: for each row its values by the names of the columns: `Int`, `Double`, `String`, `Data`,
  ///   `NSNull`.
  /// - Throws: a `CocoaError` that contains the SQL and its problem; also for a coordinator without a SQLite
  ///   store.
  public final func rawRows(
    _ sql: String, _ values: [Any?] = [], in store: NSPersistentStore? = nil
  ) throws -> [[String: Any]] {
    requireQueue("rawRows(_:_:in:) was called")
    return try withCocoaErrors(store?.url) {
      let rows: [[String: PredicateValue]] = try sqlOperations(store).rawRows(sql, values.map(Self.rawValue))
      return rows.map { $0.mapValues { $0.anyValue ?? NSNull() } }
    }
  }

  private final func sqlOperations(_ wanted: NSPersistentStore?) throws -> any StoreOperations {
    guard let coordinator = persistentStoreCoordinator else { throw GraphError.noCoordinator }
    let stores: [any StoreOperations] = try coordinator.call(
      coordinator.persistentStores.filter { wanted == nil || $0 === wanted }, for: StoreCaller(self)
    ) { operations, _ in operations }.filter(\.supportsSQL)
    guard stores.count == 1 else {
      throw GraphError.unsupported(
        "Reading rows with SQL from \(stores.isEmpty ? "what is no SQLite store of the coordinator" : "several stores at a time")",
        advice: stores.isEmpty
          ? "Fetch dictionaries with propertiesToFetch and propertiesToGroupBy; every store takes those."
          : "Say which store: rawRows(_:_:in:).")
    }
    return stores[0]
  }

  /// Objects as their keys in columns.
  private static func rawValue(_ value: Any?) -> PredicateValue {
    switch value {
    case let object as NSManagedObject: .integer(object.key)
    case let id as NSManagedObjectID: .integer(id.key)
    default: PredicateValue(normalizing: value)
    }
  }
}
