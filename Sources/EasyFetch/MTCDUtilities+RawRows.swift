import CoreData

#if canImport(CoreDataPredicates)
  // Apple's framework has no access to a store's SQL; over it this file is empty.

  extension MTCDUtilities {
    /// The rows of a query in SQL over the coordinator's SQLite store, for reports; by names of columns,
    /// `NSNull` for `NULL`.
    ///
    ///     try MTCDUtilities.rawRows(
    ///       forSQL: "SELECT ZYEAR AS year, count(*) AS n FROM ZBOOK WHERE ZPUBLISHER = ? GROUP BY ZYEAR", name, in: context)
    ///
    /// Clarus only; see `NSManagedObjectContext.rawRows(_:_:in:)`, which documents the errors. A query can't
    /// write, and it is a literal of the program: values are bound to its `?`. Unsaved changes are not seen.
    public static func rawRows(
      forSQL sql: StaticString, _ values: Any?..., in context: NSManagedObjectContext
    ) throws -> [[String: Any]] {
      try context.rawRows("\(sql)", values)
    }
  }
#endif
