import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The SQL of SQLite, with the functions that the engine registers on every connection (``SQLFunction``).
package struct SQLiteDialect: SQLDialect {
  package init() {}

  package func rewrite(_ term: SQLOrderTerm) throws -> SQLOrderTerm { term }

  package func identifier(_ name: String) -> String { SQLiteIdentifier.quoted(name) }

  package func placeholder(_ position: Int) -> String { "?" }

  package func numberedPlaceholder(_ position: Int) -> String { "?\(position)" }

  package func truth(_ value: Bool) -> String { value ? "1" : "0" }

  package func symbol(_ symbol: SQLOperator) -> String {
    switch symbol {
    case .same: "IS"
    case .notSame: "IS NOT"
    case .bitXor: "^"
    default: symbol.standard
    }
  }

  package func type(_ cast: SQLCast) -> String {
    switch cast {
    case .real: "REAL"
    case .integer, .flag: "INTEGER"
    case .text: "TEXT"
    case .bytes: "BLOB"
    }
  }

  package func name(_ function: SQLFunction) -> String { function.sqliteName }
  package func name(_ function: SQLAggregate) -> String { function.sqliteName }
  package func name(_ collation: SQLCollation) -> String { collation.sqliteName }

  package var firstPresent: String { "IFNULL" }
  package var indexBarrier: String { "+" }
  package var selectAlias: String? { nil }

  package func nullOrder(ascending: Bool) -> String? { nil }

  package func limit(_ limit: String?, offset: String?) -> String {
    switch (limit, offset) {
    case (nil, nil): ""
    case (let limit?, nil): " LIMIT \(limit)"
    case (let limit, let offset?): " LIMIT \(limit ?? "-1") OFFSET \(offset)"
    }
  }

  package func insert(_ conflict: InsertStatement.Conflict) -> (prefix: String, suffix: String) {
    switch conflict {
    case .fail: ("INSERT INTO ", "")
    case .ignore: ("INSERT OR IGNORE INTO ", "")
    case .replace: ("INSERT OR REPLACE INTO ", "")
    }
  }

  /// The statement that returns SQLite's plan for another one.
  package static func plan(of statement: CompiledStatement) -> CompiledStatement {
    CompiledStatement(sql: "EXPLAIN QUERY PLAN " + statement.sql, bindings: statement.bindings)
  }

  package func literal(_ value: SQLValue) -> String {
    switch value {
    case .null: return "NULL"
    case .integer(let value): return "\(value)"
    case .real(let value):
      return value.isInfinite ? (value < 0 ? "-9e999" : "9e999") : "\(value)"
    case .text(let value): return quoted(value)
    case .blob(let value): return "X'\(value.hexDigits)'"
    case .boolean(let value): return truth(value)
    case .decimal(let digits): return digits
    case .timestamp(let microseconds): return literal(.real(Double(microseconds) / 1e6))
    case .uuid(let uuid): return literal(.blob(withUnsafeBytes(of: uuid.uuid) { Data($0) }))
    case .list(let members): return "(" + members.map(literal).joined(separator: ", ") + ")"
    }
  }
}

extension Data {
  /// Two hexadecimal digits for each byte, in capitals.
  var hexDigits: String {
    map { byte in
      let text = String(byte, radix: 16, uppercase: true)
      return text.count == 1 ? "0" + text : text
    }.joined()
  }
}
