import Foundation

/// The statements that make a temporary copy of a table with the same name, which a connection's statements
/// find before the table itself.
package struct SQLiteTableCopy {
  private let table: String

  package init(of table: String) { self.table = SQLiteIdentifier.quoted(table) }

  /// Type and name, root page, text of the tables and indexes of the file.
  package static let readRoots: String =
    "SELECT type, name, tbl_name, rootpage, sql FROM main.sqlite_master WHERE rootpage > 0 ORDER BY rootpage"

  /// Name, type and place in the primary key of the columns, in their order.
  package var readColumns: String { "PRAGMA main.table_info(" + table + ")" }

  /// From the text by which the table was made, as SQLite keeps it; nil for another text.
  package static func table(from sql: String) -> String? {
    let verb: String = "CREATE TABLE "
    return sql.hasPrefix(verb) ? "CREATE TEMP TABLE " + sql.dropFirst(verb.count) : nil
  }

  /// From the text by which an index of the table was made. Former versions of rows may have the same unique
  /// values as others.
  package static func index(from sql: String) -> String? {
    for verb in ["CREATE INDEX ", "CREATE UNIQUE INDEX "] where sql.hasPrefix(verb) {
      return "CREATE INDEX temp." + sql.dropFirst(verb.count)
    }
    return nil
  }

  package var drop: String { "DROP TABLE IF EXISTS temp." + table }

  /// A row with a value for each of the columns; leaves a row as it is that has the same key.
  package func insert(_ columns: [String]) -> String {
    let names: String = columns.map(SQLiteIdentifier.quoted).joined(separator: ", ")
    let values: String = columns.indices.map { "?" + String($0 + 1) }.joined(separator: ", ")
    return "INSERT OR IGNORE INTO temp." + table + " (" + names + ") VALUES (" + values + ")"
  }
}
