import Foundation
import GRDB

/// What a store file holds, read by plain SQL.
public struct FileContents {
  /// table → row id → column → value, as SQL literals.
  public private(set) var tables: [String: [Int64: [String: String]]] = [:]
  public private(set) var columns: [String: Set<String>] = [:]
  public private(set) var indexes: [String: [String]] = [:]
  /// trigger → its text.
  public private(set) var triggers: [String: String] = [:]
  public private(set) var integrity: String = ""

  public init(_ url: URL) throws {
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    (tables, columns, indexes, triggers, integrity) = try queue.inDatabase { database in
      var tables: [String: [Int64: [String: String]]] = [:]
      var columns: [String: Set<String>] = [:]
      var indexes: [String: [String]] = [:]
      let names: [String] = try String.fetchAll(
        database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      for name in names {
        let quoted: String = "\"\(name)\""
        let own: [String] = try Row.fetchAll(database, sql: "PRAGMA table_info(\(quoted))").map { $0["name"] }
        columns[name] = Set(own)
        let literals: String = own.map { "quote(\"\($0)\") AS \"\($0)\"" }.joined(separator: ", ")
        var rows: [Int64: [String: String]] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT rowid AS __row, \(literals) FROM \(quoted)") {
          rows[row["__row"]] = Dictionary(uniqueKeysWithValues: own.map { ($0, row[$0] as String) })
        }
        tables[name] = rows
        for index in try Row.fetchAll(database, sql: "PRAGMA index_list(\(quoted))") {
          let indexName: String = index["name"]
          indexes[indexName] = try Row.fetchAll(database, sql: "PRAGMA index_info(\"\(indexName)\")").map {
            ($0["name"] as String?) ?? "expression"
          }
        }
      }
      let integrity: String = try String.fetchOne(database, sql: "PRAGMA integrity_check") ?? ""
      let triggers: [String: String] = try Dictionary(
        uniqueKeysWithValues: Row.fetchAll(
          database, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).map { ($0["name"], $0["sql"]) })
      return (tables, columns, indexes, triggers, integrity)
    }
  }

  /// Entity name → its number in this file.
  public var numbers: [String: String] {
    var result: [String: String] = [:]
    for row in (tables["Z_PRIMARYKEY"] ?? [:]).values {
      result[String((row["Z_NAME"] ?? "").dropFirst().dropLast())] = row["Z_ENT"]
    }
    return result
  }

  /// The greatest key given out for each hierarchy's entity number.
  public var greatestKeys: [String: Int64] {
    var result: [String: Int64] = [:]
    for row in (tables["Z_PRIMARYKEY"] ?? [:]).values {
      result[row["Z_ENT"] ?? ""] = Int64(row["Z_MAX"] ?? "")
    }
    return result
  }
}
