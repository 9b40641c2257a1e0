import CoreDataPredicates
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

extension SQLiteEngine {
  package var supportsSQL: Bool { true }

  /// The rows of one query that the program wrote, by names of columns. Values are of SQLite's types:
  /// integers, doubles, strings, data.
  ///
  /// The query can't write. Its text must be one statement that begins as a query does, so it can't attach,
  /// begin, set or create anything; SQLite must report that it changes nothing; and it runs where this engine
  /// reads, on connections that may not write.
  ///
  /// - Throws: `StoreError.unsupported` for anything else, for a number of values that differs from the
  ///   statement's parameters, and for two columns of one name; `StoreError.database` for what SQLite
  ///   refuses.
  package func rawRows(_ sql: String, _ values: [PredicateValue]) throws -> [[String: PredicateValue]] {
    func refusal(_ reason: String, _ advice: String) -> StoreError {
      StoreError.unsupported(part: sql, reason: reason, advice: advice)
    }
    guard Self.beginsQuery(sql) else {
      throw refusal("only a query can be asked for rows", "Begin it with SELECT, WITH or VALUES.")
    }
    return try read { database in
      // Refuses a second statement.
      let statement: Statement = try SQLiteErrors.translating(url: url) {
        try database.makeStatement(sql: sql)
      }
      let raw = try RawStatement(statement, database, url: url)
      defer { raw.reset() }
      guard sqlite3_stmt_readonly(raw.handle) != 0 else {
        throw refusal("it would change the store", "Change objects and save their context.")
      }
      let wanted = Int(sqlite3_bind_parameter_count(raw.handle))
      guard wanted == values.count else {
        throw refusal(
          "it has \(wanted) parameter(s), and \(values.count) value(s) were given", "Give one for each '?'.")
      }
      for (place, value) in values.enumerated() {
        guard let bound = SQLValue(value) else {
          throw refusal(
            "value \(place + 1) is \(value.kindName), which no column holds",
            "Give numbers, strings, dates, data, UUIDs, URLs, objects or nil.")
        }
        try raw.bind(place + 1, bound)
      }
      let names: [String] = (0..<sqlite3_column_count(raw.handle)).map {
        sqlite3_column_name(raw.handle, $0).map { String(cString: $0) } ?? ""
      }
      if let twice = Dictionary(grouping: names, by: \.self).filter({ $1.count > 1 }).keys.min() {
        throw refusal("several columns are named '\(twice)'", "Give them names of their own with AS.")
      }
      var rows: [[String: PredicateValue]] = []
      while try raw.step() {
        rows.append(Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, raw.value($0)) }))
      }
      return rows
    }
  }

  /// Whether the first word after spaces and comments is one that queries begin with.
  static func beginsQuery(_ sql: String) -> Bool {
    var rest: Substring = sql[...]
    while true {
      rest = rest.drop { $0.isWhitespace }
      if rest.hasPrefix("--") {
        rest = rest.drop { !$0.isNewline }
      } else if rest.hasPrefix("/*") {
        guard let end = rest.range(of: "*/") else { return false }
        rest = rest[end.upperBound...]
      } else {
        break
      }
    }
    return ["SELECT", "WITH", "VALUES"].contains(rest.prefix { $0.isLetter }.uppercased())
  }
}
