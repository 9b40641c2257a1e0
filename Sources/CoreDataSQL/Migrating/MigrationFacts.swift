import CoreDataStorage

/// What a migration in place must know about a database besides the structure of its store: everything is
/// read by the engine, under the lock that it will write with.
package struct MigrationFacts: Sendable {
  /// A row of `sqlite_master`.
  package struct Object: Sendable {
    package enum Kind: String, Sendable {
      case table, index, trigger, view
    }

    package var kind: Kind
    package var name: String
    /// The table that an index or trigger belongs to.
    package var table: String
    /// nil for the indexes that SQLite makes for a key of several columns or for a constraint.
    package var sql: String?

    package init(kind: Kind, name: String, table: String, sql: String?) {
      self.kind = kind
      self.name = name
      self.table = table
      self.sql = sql
    }

    package var isVirtualTable: Bool {
      kind == .table && (sql ?? "").uppercased().hasPrefix("CREATE VIRTUAL")
    }
  }

  package var database: ExistingDatabase
  package var objects: [Object]
  /// By table: the lowest and the highest key. A table without rows has none.
  package var keys: [String: ClosedRange<Int64>]
  /// By table, then entity number: the number of rows. Empty if they were not counted.
  package var counts: [String: [Int: Int64]]
  /// Whether Apple's framework keeps the history of the store's changes.
  package var hasHistory: Bool

  package init(
    database: ExistingDatabase, objects: [Object], keys: [String: ClosedRange<Int64>] = [:],
    counts: [String: [Int: Int64]] = [:], hasHistory: Bool = false
  ) {
    self.database = database
    self.objects = objects
    self.keys = keys
    self.counts = counts
    self.hasHistory = hasHistory
  }

  /// The highest key that was given out in a hierarchy, or is in use.
  func highestKey(of table: TableSchema) -> Int64 {
    let counter: Int64 = database.entities.first { $0.number == table.rootNumber }?.maxKey ?? 0
    return max(counter, keys[table.name]?.upperBound ?? 0, 0)
  }

  /// The columns of a table that are none of its schema's.
  func foreignColumns(of table: TableSchema) -> [String] {
    let known = Set((table.columns.map(\.name) + AppleNames.fixedColumns).map(DatabaseNames.fold))
    let name: String = DatabaseNames.fold(table.name)
    let found: [String] = database.tables.first { DatabaseNames.fold($0.name) == name }?.columns ?? []
    return found.filter { !known.contains(DatabaseNames.fold($0)) }
  }

  /// The rows of these entities, or of all; nil if they were not counted, as those of join tables.
  func rows(of table: String, numbers: [Int]? = nil) -> Int64? {
    guard let own = counts[table] else { return nil }
    return numbers.map { $0.reduce(0) { $0 + (own[$1] ?? 0) } } ?? own.values.reduce(0, +)
  }
}
