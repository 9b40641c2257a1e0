import CoreData

/// A sort key: `"name"`, `.ascending("name")` or `.descending("dueDate")`.
///
/// Keys may be paths: `"publisher.name"`.
public struct FetchOrder: ExpressibleByStringLiteral, Hashable, Sendable {
  public let key: String
  public let isAscending: Bool

  public static func ascending(_ key: String) -> FetchOrder { FetchOrder(key: key, isAscending: true) }

  public static func descending(_ key: String) -> FetchOrder { FetchOrder(key: key, isAscending: false) }

  /// Ascending by a key.
  public init(stringLiteral key: String) { self.init(key: key, isAscending: true) }

  private init(key: String, isAscending: Bool) {
    self.key = key
    self.isAscending = isAscending
  }

  var descriptor: NSSortDescriptor { NSSortDescriptor(key: key, ascending: isAscending) }
}
