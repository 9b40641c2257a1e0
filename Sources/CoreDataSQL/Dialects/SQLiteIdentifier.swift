import CoreDataStorage

/// Decides whether a name needs quotes.
package enum SQLiteIdentifier {
  /// The name unchanged if it consists of ASCII letters, digits and underscores, does not begin with a digit,
  /// and is no keyword of SQL; otherwise in double quotes, inner quotes doubled. A NUL, which would end a
  /// statement's text, becomes U+FFFD.
  package static func quoted(_ name: String) -> String {
    if isPlain(name) { return name }
    var result: String = "\""
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\"": result += "\"\""
      case "\0": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  static func isPlain(_ name: String) -> Bool {
    guard let first = name.utf8.first, !(first >= 48 && first <= 57) else { return false }
    let isWord: Bool = name.utf8.allSatisfy { byte in
      (byte >= 48 && byte <= 57) || (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122) || byte == 95
    }
    return isWord && !reserved.contains(DatabaseNames.fold(name))
  }

  // https://www.sqlite.org/lang_keywords.html, all of them: superfluous quotes do no harm.
  private static let reserved: Set<String> = Set(
    """
    ABORT ACTION ADD AFTER ALL ALTER ALWAYS ANALYZE AND AS ASC ATTACH AUTOINCREMENT BEFORE BEGIN BETWEEN BY
    CASCADE CASE CAST CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE CROSS CURRENT CURRENT_DATE
    CURRENT_TIME CURRENT_TIMESTAMP DATABASE DEFAULT DEFERRABLE DEFERRED DELETE DESC DETACH DISTINCT DO DROP
    EACH ELSE END ESCAPE EXCEPT EXCLUDE EXCLUSIVE EXISTS EXPLAIN FAIL FALSE FILTER FIRST FOLLOWING FOR
    FOREIGN FROM FULL GENERATED GLOB GROUP GROUPS HAVING IF IGNORE IMMEDIATE IN INDEX INDEXED INITIALLY
    INNER INSERT INSTEAD INTERSECT INTO IS ISNULL JOIN KEY LAST LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL
    NO NOT NOTHING NOTNULL NULL NULLS OF OFFSET ON OR ORDER OTHERS OUTER OVER PARTITION PLAN PRAGMA
    PRECEDING PRIMARY QUERY RAISE RANGE RECURSIVE REFERENCES REGEXP REINDEX RELEASE RENAME REPLACE RESTRICT
    RETURNING RIGHT ROLLBACK ROW ROWS SAVEPOINT SELECT SET TABLE TEMP TEMPORARY THEN TIES TO TRANSACTION
    TRIGGER TRUE UNBOUNDED UNION UNIQUE UPDATE USING VACUUM VALUES VIEW VIRTUAL WHEN WHERE WINDOW WITH
    WITHOUT
    """.split(whereSeparator: \.isWhitespace).map(String.init))
}
