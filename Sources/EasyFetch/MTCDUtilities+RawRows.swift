import CoreData

#if canImport(CoreDataPredicates)
  // Apple's framework gives no way to a store's SQL; over it this file is empty.

  extension MTCDUtilities {
    /// The rows that a query in SQL gives over the coordinator's SQLite store, for reports; by names of columns, `NSNull` for `NULL`.
    ///
    ///     try MTCDUtilities.rawRows(
    ///       forSQL: "SELECT ZYEAR AS year, count(*) AS n FROM ZBOOK WHERE ZPUBLISHER = ? GROUP BY ZYEAR", name, in: context)
    ///
    /// Clarus only; see `NSManagedObjectContext.rawRows(_:_:in:)`, which says what is thrown. A query can't write, and it is a literal of the
    /// program: values go to its `?`. Nothing that is unsaved is seen.
    public static func rawRows(
      forSQL sql: StaticString, _ values: Any?..., in context: NSManagedObjectContext
    ) throws -> [[String: Any]] {
      try context.rawRows("\(sql)", values)
    }
  }
#endif
