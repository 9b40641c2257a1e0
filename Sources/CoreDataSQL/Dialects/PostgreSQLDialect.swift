import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The SQL of PostgreSQL, from version 13 on. Goldens show it (`PostgreSQLGoldenTests`); no engine uses it
/// yet.
///
/// An expression is refused, and so evaluated in memory, if the database's result would differ from that in
/// memory, or if it would raise an error for some row: one row must never make a fetch fail (Decisions/0013).
package struct PostgreSQLDialect: SQLDialect {
  /// The schema that holds a store: every table is qualified with it, so statements do not depend on the
  /// search path.
  package let schema: String?

  package init(schema: String? = nil) { self.schema = schema }

  package func identifier(_ name: String) -> String { PostgreSQLIdentifier.quoted(name) }

  package func table(_ name: String) -> String {
    schema.map { "\(identifier($0)).\(identifier(name))" } ?? identifier(name)
  }

  package func placeholder(_ position: Int) -> String { "$\(position)" }

  package func numberedPlaceholder(_ position: Int) -> String { "$\(position)" }

  package func truth(_ value: Bool) -> String { value ? "TRUE" : "FALSE" }

  package func symbol(_ symbol: SQLOperator) -> String {
    switch symbol {
    case .same: "IS NOT DISTINCT FROM"
    case .notSame: "IS DISTINCT FROM"
    case .matchesPattern: "LIKE"
    case .bitXor: "#"
    default: symbol.standard
    }
  }

  package func type(_ cast: SQLCast) -> String {
    switch cast {
    case .real: "double precision"
    case .integer: "bigint"
    case .text: "text"
    case .bytes: "bytea"
    case .flag: "integer"
    }
  }

  // The functions that need another name were rewritten; these are the names of the others.
  package func name(_ function: SQLFunction) -> String { "\(function)" }
  package func name(_ function: SQLAggregate) -> String { "\(function)" }
  package func name(_ collation: SQLCollation) -> String { "\"C\"" }

  package var firstPresent: String { "COALESCE" }
  package var indexBarrier: String { "" }
  package var selectAlias: String? { "s" }

  package func nullOrder(ascending: Bool) -> String? { ascending ? "NULLS FIRST" : "NULLS LAST" }

  package func limit(_ limit: String?, offset: String?) -> String {
    (limit.map { " LIMIT \($0)" } ?? "") + (offset.map { " OFFSET \($0)" } ?? "")
  }

  package func insert(_ conflict: InsertStatement.Conflict) -> (prefix: String, suffix: String) {
    // Rows are replaced only in R-trees, which no layout of this dialect has.
    ("INSERT INTO ", conflict == .ignore ? " ON CONFLICT DO NOTHING" : "")
  }

  package func literal(_ value: SQLValue) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let value): "\(value)"
    case .real(let value):
      value.isInfinite ? "'\(value < 0 ? "-" : "")Infinity'::double precision" : "\(value)::double precision"
    case .text(let value): quoted(value)
    case .blob(let value): "'\\x\(value.hexDigits)'::bytea"
    case .boolean(let value): truth(value)
    case .decimal(let digits): "\(digits)::numeric"
    case .timestamp(let microseconds):
      "timestamptz '2001-01-01 00:00:00+00' + interval '\(microseconds) microseconds'"
    case .uuid(let uuid): "'\(uuid.uuidString)'::uuid"
    case .list(let members): "ARRAY[\(members.map(literal).joined(separator: ", "))]"
    }
  }
}

enum PostgreSQLIdentifier {
  /// The name unchanged if it consists of small ASCII letters, digits and underscores, does not begin with a
  /// digit, and is no keyword; otherwise in double quotes, inner quotes doubled.
  static func quoted(_ name: String) -> String {
    let isPlain: Bool = name.utf8.allSatisfy { byte in
      (byte >= 48 && byte <= 57) || (byte >= 97 && byte <= 122) || byte == 95
    }
    if isPlain, let first = name.utf8.first, !(first >= 48 && first <= 57), !reserved.contains(name) {
      return name
    }
    return "\"" + name.replacing("\"", with: "\"\"").replacing("\0", with: "\u{FFFD}") + "\""
  }

  // https://www.postgresql.org/docs/current/sql-keywords-appendix.html, the keywords that can't be plain
  // column or table names.
  private static let reserved: Set<String> = Set(
    """
    all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both
    case cast char character check coalesce collate collation column concurrently constraint create cross
    current_catalog current_date current_role current_schema current_time current_timestamp current_user dec
    decimal default deferrable desc distinct do else end except exists extract false fetch float for foreign
    freeze from full grant greatest group grouping having ilike in initially inner inout int integer
    intersect interval into is isnull join lateral leading least left like limit localtime localtimestamp
    national natural nchar none normalize not notnull null nullif numeric offset on only or order out outer
    overlaps overlay placing position precision primary real references returning right row select
    session_user setof similar smallint some substring symmetric system_user table tablesample then time
    timestamp to trailing treat trim true union unique user using values varchar variadic verbose when where
    window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot
    xmlserialize xmltable
    """.split(whereSeparator: \.isWhitespace).map(String.init))
}
