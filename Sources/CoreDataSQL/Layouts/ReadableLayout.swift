import CoreDataModel
import CoreDataStorage

/// A layout for databases that people and other programs read too: names in snake case, a type for every kind
/// of value, and constraints that the database checks (Decisions/0059). One schema of PostgreSQL is one
/// store.
package struct ReadableLayout: SQLLayout {
  private let spelling: PostgreSQLDialect

  /// `schema`: the schema of the database that holds the store.
  package init(schema: String? = nil) { spelling = PostgreSQLDialect(schema: schema) }

  package var dialect: any SQLDialect { spelling }
  package var encoding: any ValueEncoding { ReadableEncoding() }

  package func table(_ entity: String) -> String { ReadableNames.snake(entity) }
  package var reservedTables: [String] { ReadableBookkeeping.tables }
  package var key: String { ReadableNames.key }
  package var version: String { ReadableNames.version }
  package func entityNumber(hasSubentities: Bool) -> String? {
    hasSubentities ? ReadableNames.entityNumber : nil
  }
  package var fixedColumns: [String] {
    [ReadableNames.key, ReadableNames.entityNumber, ReadableNames.version]
  }

  package func attribute(_ name: String) -> String { ReadableNames.snake(name) }
  package func toOneKey(_ name: String) -> String { ReadableNames.toOne(name, "id") }
  package func toOneEntity(_ name: String, destination: Int) -> String {
    ReadableNames.toOne(name, "entity")
  }
  package func toOneOrder(_ name: String) -> String { ReadableNames.toOne(name, "position") }
  package func hiddenKey(_ name: String, of entity: String, source: Int) -> String {
    "\(ReadableNames.snake(entity))_\(ReadableNames.toOne(name, "id"))"
  }
  package func hiddenOrder(_ name: String, of entity: String, source: Int) -> String {
    "\(ReadableNames.snake(entity))_\(ReadableNames.toOne(name, "position"))"
  }

  package func joinTable(_ name: String, of entity: String, owner: Int) -> String {
    "\(ReadableNames.snake(entity))_\(ReadableNames.snake(name))"
  }
  package func joinKey(_ name: String, of entity: String, number: Int) -> String {
    ReadableNames.toOne(entity, "id")
  }
  package var reflexiveKey: String? { nil }
  package func joinOrder(of key: String) -> String {
    (key.hasSuffix("_id") ? String(key.dropLast(3)) : key) + "_position"
  }
  package var joinKeysAreUnique: Bool { false }

  package func type(_ purpose: ColumnSchema.Purpose, _ kind: ColumnKind) -> String {
    switch purpose {
    case .toOneKey, .hiddenKey, .order: return "bigint"
    case .toOneEntity: return "integer"
    case .attribute: break
    }
    return switch kind {
    case .int16: "smallint"
    case .int32: "integer"
    case .int64, .toOne: "bigint"
    case .bool: "boolean"
    case .double: "double precision"
    case .float: "real"
    case .date: "timestamptz"
    case .decimal: "numeric"
    // Ordered by code points, as in memory.
    case .string, .uri: "text COLLATE \"C\""
    case .uuid: "uuid"
    case .data, .transformable: "bytea"
    }
  }

  /// Columns of 8 bytes first, then of 4, 2 and 1, so that rows have no gaps; columns of variable length
  /// last.
  package func rank(_ purpose: ColumnSchema.Purpose, _ kind: ColumnKind) -> Int {
    switch purpose {
    case .toOneKey, .hiddenKey, .order: return 0
    case .toOneEntity: return 1
    case .attribute: break
    }
    return switch kind {
    case .int64, .double, .date, .toOne: 0
    case .int32, .float: 1
    case .int16: 2
    case .bool: 3
    case .uuid: 4
    case .decimal, .string, .uri, .data, .transformable: 5
    }
  }

  package func numbered(_ name: String, _ number: Int) -> String { "\(name)_\(number + 1)" }
  package func fitted(_ name: String) -> String { ReadableNames.fitted(name) }
}
