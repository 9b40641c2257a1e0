import CoreDataPredicates
import CoreDataStorage
import Foundation
import Testing

@testable import CoreDataSQL

/// Each predicate beside the condition it becomes. Everything without a table before it is on `ZPERSON t0`.
@Suite struct PredicateSQLTests {
  static let plain: [(String, String)] = [
    // Equality, nil included
    ("name == 'a'", "t0.ZNAME = ?  ← 'a'"),
    ("'a' == name", "t0.ZNAME = ?  ← 'a'"),
    ("name != 'a'", "t0.ZNAME IS NOT ?  ← 'a'"),
    ("NOT (name == 'a')", "t0.ZNAME IS NOT ?  ← 'a'"),
    ("name == nil", "t0.ZNAME IS NULL"),
    ("name != nil", "t0.ZNAME IS NOT NULL"),
    ("name == 5", "0"),
    ("name != 5", ""),
    ("isActive == YES", "t0.ZISACTIVE = ?  ← 1"),
    ("age == 3.5", "t0.ZAGE = ?  ← 3.5"),
    ("name == nick", "t0.ZNAME IS t0.ZNICK"),
    ("name != nick", "t0.ZNAME IS NOT t0.ZNICK"),
    ("name == age", "t0.ZNAME IS NULL AND t0.ZAGE IS NULL"),
    ("name ==[cd] 'a'", "CLARUS_EQUAL(t0.ZNAME, ?, 3)  ← 'a'"),
    ("name !=[c] 'a'", "(CLARUS_EQUAL(t0.ZNAME, ?, 1)) IS NOT TRUE  ← 'a'"),
    ("name ==[n] 'a'", "t0.ZNAME = ?  ← 'a'"),
    ("age ==[c] 1", "t0.ZAGE = ?  ← 1"),
    // Order
    ("age < 3", "t0.ZAGE < ?  ← 3"),
    ("3 < age", "t0.ZAGE > ?  ← 3"),
    ("NOT (age < 3)", "(t0.ZAGE < ?) IS NOT TRUE  ← 3"),
    ("NOT (NOT (age < 3))", "t0.ZAGE < ?  ← 3"),
    ("age < nil", "0"),
    ("age <= nil", "t0.ZAGE IS NULL"),
    ("age <= score", "t0.ZAGE <= t0.ZSCORE OR (t0.ZAGE IS NULL AND t0.ZSCORE IS NULL)"),
    ("name <[c] 'b'", "CLARUS_COMPARE(t0.ZNAME, ?, 1) < 0  ← 'b'"),
    ("age BETWEEN {1, 5}", "t0.ZAGE BETWEEN ? AND ?  ← 1, 5"),
    ("age BETWEEN {1, nil}", "0"),
    (
      "age BETWEEN {1, score}",
      "t0.ZAGE >= ? AND t0.ZAGE <= t0.ZSCORE  ← 1"
    ),
    // Compounds and constants
    (
      "age > 1 AND (name == 'a' OR nick == 'b')",
      "t0.ZAGE > ? AND (t0.ZNAME = ? OR t0.ZNICK = ?)  ← 1, 'a', 'b'"
    ),
    ("NOT (age > 1 AND name == 'a')", "(t0.ZAGE > ? AND t0.ZNAME = ?) IS NOT TRUE  ← 1, 'a'"),
    ("TRUEPREDICATE", ""),
    ("FALSEPREDICATE AND age > 1", "0"),
    ("1 == 1 AND age > 1", "t0.ZAGE > ?  ← 1"),
    ("'abc' LIKE 'a*'", ""),
    // Text
    ("name BEGINSWITH 'ab'", "t0.ZNAME >= ? AND t0.ZNAME < ?  ← 'ab', 'ac'"),
    ("name BEGINSWITH ''", "0"),
    ("NOT (name BEGINSWITH '')", ""),
    ("name BEGINSWITH nick", "CLARUS_SEARCH(t0.ZNAME, t0.ZNICK, 1, 0)"),
    ("name BEGINSWITH[cd] 'ab'", "CLARUS_SEARCH(t0.ZNAME, ?, 1, 3)  ← 'ab'"),
    (
      "name ENDSWITH 'äb'",
      "substr(CAST(t0.ZNAME AS BLOB), -length(CAST(? AS BLOB))) = CAST(? AS BLOB)  ← 'äb', 'äb'"
    ),
    ("name CONTAINS 'a'", "instr(t0.ZNAME, ?) > 0  ← 'a'"),
    ("name CONTAINS[c] 'a'", "CLARUS_SEARCH(t0.ZNAME, ?, 0, 1)  ← 'a'"),
    ("name IN 'abc'", "CLARUS_SEARCH(?, t0.ZNAME, 0, 0)  ← 'abc'"),
    ("name LIKE 'a*'", "t0.ZNAME >= ? AND t0.ZNAME < ?  ← 'a', 'b'"),
    ("name LIKE 'a?*'", "CLARUS_LIKE(t0.ZNAME, ?, 0)  ← 'a?*'"),
    ("name LIKE[c] 'a*'", "CLARUS_LIKE(t0.ZNAME, ?, 1)  ← 'a*'"),
    ("name MATCHES 'a+'", "CLARUS_MATCHES(t0.ZNAME, ?, 0)  ← 'a+'"),
    ("name LIKE nil", "0"),
    // Lists
    ("age IN {1, 2, 3}", "t0.ZAGE IN (?, ?, ?, ?)  ← 1, 2, 3, 3"),
    ("age IN {1, 'x', nil}", "t0.ZAGE = ? OR t0.ZAGE IS NULL  ← 1"),
    ("age IN {}", "0"),
    ("NOT (age IN {1, 2})", "(t0.ZAGE IN (?, ?)) IS NOT TRUE  ← 1, 2"),
    ("name IN[c] {'a', 'b'}", "CLARUS_EQUAL(t0.ZNAME, ?, 1) OR CLARUS_EQUAL(t0.ZNAME, ?, 1)  ← 'a', 'b'"),
    ("age IN {1, score}", "t0.ZAGE = ? OR t0.ZAGE IS t0.ZSCORE  ← 1"),
    // To-one paths
    ("boss == nil", "t0.ZBOSS IS NULL"),
    ("boss.name == 'a'", "LEFT JOIN ZPERSON t1 ON t1.Z_PK = t0.ZBOSS WHERE t1.ZNAME = ?  ← 'a'"),
    (
      "boss.name == 'a' AND boss.age > 1",
      "LEFT JOIN ZPERSON t1 ON t1.Z_PK = t0.ZBOSS WHERE t1.ZNAME = ? AND t1.ZAGE > ?  ← 'a', 1"
    ),
    ("boss.boss == nil", "LEFT JOIN ZPERSON t1 ON t1.Z_PK = t0.ZBOSS WHERE t1.ZBOSS IS NULL"),
    ("boss == SELF", "t0.ZBOSS = t0.Z_PK"),
    ("boss != boss.boss", "LEFT JOIN ZPERSON t1 ON t1.Z_PK = t0.ZBOSS WHERE t0.ZBOSS IS NOT t1.ZBOSS"),
    // To-many
    (
      "ANY books.pages > 5",
      "EXISTS (SELECT 1 FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK AND t1.ZPAGES > ?)  ← 5"
    ),
    (
      "ALL books.pages > 5",
      "NOT EXISTS (SELECT 1 FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK AND (t1.ZPAGES > ?) IS NOT TRUE)  ← 5"
    ),
    (
      "NONE books.pages > 5",
      "NOT EXISTS (SELECT 1 FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK AND t1.ZPAGES > ?)  ← 5"
    ),
    (
      "ANY books.chapters.title == 'x'",
      "EXISTS (SELECT 1 FROM ZBOOK t1 JOIN ZCHAPTER t2 ON t2.ZBOOK = t1.Z_PK WHERE t1.ZAUTHOR = t0.Z_PK AND t2.ZTITLE = ?)  ← 'x'"
    ),
    (
      "ANY tags.label == 'x'",
      "EXISTS (SELECT 1 FROM Z_4TAGS t1 JOIN ZTAG t2 ON t2.Z_PK = t1.Z_5TAGS WHERE t1.Z_4PEOPLE = t0.Z_PK AND t2.ZLABEL = ?)  ← 'x'"
    ),
    (
      "ANY friends.age > 3",
      "EXISTS (SELECT 1 FROM ZPERSON t1 WHERE t1.Z_PK IN (SELECT t2.REFLEXIVE FROM Z_4FRIENDS t2 WHERE t2.Z_4FRIENDS = t0.Z_PK UNION SELECT t3.Z_4FRIENDS FROM Z_4FRIENDS t3 WHERE t3.REFLEXIVE = t0.Z_PK) AND t1.ZAGE > ?)  ← 3"
    ),
    (
      "ANY favorites.label == 'x'",
      "EXISTS (SELECT 1 FROM ZTAG t1 WHERE t1.Z4FAVORITES = t0.Z_PK AND t1.ZLABEL = ?)  ← 'x'"
    ),
    (
      "ANY boss.reports.age > 3",
      "EXISTS (SELECT 1 FROM ZPERSON t1 WHERE t1.ZBOSS = t0.ZBOSS AND t1.ZAGE > ?)  ← 3"
    ),
    (
      "'x' IN books.title",
      "EXISTS (SELECT 1 FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK AND t1.ZTITLE = ?)  ← 'x'"
    ),
    (
      "books.title CONTAINS 'x'",
      "EXISTS (SELECT 1 FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK AND t1.ZTITLE = ?)  ← 'x'"
    ),
    (
      "boss.friends CONTAINS SELF",
      "EXISTS (SELECT 1 FROM ZPERSON t1 WHERE t1.Z_PK IN (SELECT t2.REFLEXIVE FROM Z_4FRIENDS t2 WHERE t2.Z_4FRIENDS = t0.ZBOSS UNION SELECT t3.Z_4FRIENDS FROM Z_4FRIENDS t3 WHERE t3.REFLEXIVE = t0.ZBOSS) AND t1.Z_PK = t0.Z_PK)"
    ),
    // Aggregates and subqueries
    ("books.@count > 2", "(SELECT COUNT(*) FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK) > ?  ← 2"),
    ("tags.@count == 0", "(SELECT COUNT(*) FROM Z_4TAGS t1 WHERE t1.Z_4PEOPLE = t0.Z_PK) = ?  ← 0"),
    (
      "boss.books.@count == 0",
      "CASE WHEN t0.ZBOSS IS NULL THEN NULL ELSE (SELECT COUNT(*) FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.ZBOSS) END = ?  ← 0"
    ),
    (
      "books.@sum.pages > 2",
      "COALESCE((SELECT CLARUS_SUM(t1.ZPAGES) FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK), 0) > ?  ← 2"
    ),
    (
      "SUBQUERY(books, $b, $b.pages > 5 AND $b.title == name).@count > 0",
      "(SELECT COUNT(*) FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK AND t1.ZPAGES > ? AND t1.ZTITLE IS t0.ZNAME) > ?  ← 5, 0"
    ),
    (
      "SUBQUERY(books, $b, ANY $b.chapters.title == 'x').@count == 0",
      "(SELECT COUNT(*) FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK AND EXISTS (SELECT 1 FROM ZCHAPTER t2 WHERE t2.ZBOOK = t1.Z_PK AND t2.ZTITLE = ?)) = ?  ← 'x', 0"
    ),
    // Functions
    ("age + 1 > 3", "t0.ZAGE + ? > ?  ← 1, 3"),
    ("age / 2 == 1", "t0.ZAGE / ? = ?  ← 2, 1"),
    ("fee / 2 == 1", "CLARUS_DECIMALS(?, t0.ZFEE, ?) = ?  ← 'divide:by:', 2, 1"),
    ("modulus:by:(age, 2) == 0", "t0.ZAGE % ? = ?  ← 2, 0"),
    ("age ** 2 > 3", "CLARUS_POWER(t0.ZAGE, ?) > ?  ← 2, 3"),
    ("abs(age) == 1", "CLARUS_ABS(t0.ZAGE) = ?  ← 1"),
    ("lowercase(name) == 'a'", "CLARUS_LOWERCASE(t0.ZNAME) = ?  ← 'a'"),
    ("length(name) > 3", "CLARUS_LENGTH(t0.ZNAME) > ?  ← 3"),
    ("born > CAST(10, 'NSDate')", "t0.ZBORN > ?  ← 10.0"),
    ("CAST(born, 'NSNumber') > 10", "t0.ZBORN > ?  ← 10"),
    (
      "TERNARY(age > 3, name, nick) == 'a'",
      "CASE WHEN t0.ZAGE > ? THEN t0.ZNAME ELSE t0.ZNICK END = ?  ← 3, 'a'"
    ),
  ]

  @Test(arguments: plain)
  func `a predicate becomes a condition that holds for the same rows`(format: String, sql: String) throws {
    let condition: String = try TestModel.condition(format)
    #expect(condition == sql)
  }

  @Test func `values are bound as columns store them`() throws {
    let date = Date(timeIntervalSinceReferenceDate: 12.5)
    let uuid = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")!
    #expect(try TestModel.condition("born == %@", [date]) == "t0.ZBORN = ?  ← 12.5")
    #expect(
      try TestModel.condition("uid == %@", [uuid]) == "t0.ZUID = ?  ← X'00112233445566778899AABBCCDDEEFF'")
    #expect(try TestModel.condition("uid == 'x'") == "0")
    #expect(
      try TestModel.condition("site == %@", [URL(string: "http://a.b/c")!])
        == "t0.ZSITE = ?  ← 'http://a.b/c'")
    #expect(try TestModel.condition("photo == %@", [Data([1, 255])]) == "t0.ZPHOTO = ?  ← X'01FF'")
    #expect(try TestModel.condition("score == %@", [Double.nan]) == "0")
    #expect(try TestModel.condition("secret == nil") == "t0.ZSECRET IS NULL")
  }

  /// A decimal column holds long numbers as text, which SQLite holds greater than every number.
  @Test func `decimals are compared exactly, and by their index`() throws {
    let short: Decimal = try #require(Decimal(string: "12.10"))
    let long: Decimal = try #require(Decimal(string: "1234567890.123456789"))
    #expect(try TestModel.condition("fee == %@", [short]) == "t0.ZFEE = ?  ← 12.1")
    #expect(try TestModel.condition("fee != %@", [short]) == "t0.ZFEE IS NOT ?  ← 12.1")
    #expect(try TestModel.condition("fee == 12") == "t0.ZFEE = ?  ← 12")
    #expect(
      try TestModel.condition("fee IN %@", [[short, long]])
        == "t0.ZFEE IN (?, ?)  ← 12.1, '1234567890.123456789\0'")
    #expect(
      try TestModel.condition("fee == 12.1")
        == "t0.ZFEE = ? OR (t0.ZFEE >= ? AND CLARUS_NUMBER(t0.ZFEE) = ?)  ← 12.1, '', 12.1")
    #expect(
      try TestModel.condition("fee > 12")
        == "(t0.ZFEE > ? AND t0.ZFEE < ?) OR (t0.ZFEE >= ? AND CLARUS_DECIMAL_COMPARE(t0.ZFEE, ?) > 0)  ← 12, '', '', 12"
    )
    #expect(
      try TestModel.condition("fee < %@", [long])
        == "CLARUS_DECIMAL_COMPARE(t0.ZFEE, ?) < 0  ← '1234567890.123456789\0'")
    #expect(
      try TestModel.condition("fee + 1 < fee * age")
        == "CLARUS_DECIMAL_COMPARE(CLARUS_DECIMALS(?, t0.ZFEE, ?), CLARUS_DECIMALS(?, t0.ZFEE, t0.ZAGE)) < 0  ← 'add:to:', 1, 'multiply:by:'"
    )
    #expect(
      try TestModel.condition("fee == score")
        == "CAST(CASE WHEN typeof(t0.ZFEE) = ? THEN CLARUS_NUMBER(t0.ZFEE) ELSE t0.ZFEE END AS REAL) IS t0.ZSCORE  ← 'text'"
    )
  }

  @Test func `objects are compared by key, within their hierarchy`() throws {
    let boss: ObjectReference = TestModel.object("Person", 7)
    let book: ObjectReference = TestModel.object("Novel", 3)
    let unsaved = ObjectReference(id: nil)
    #expect(try TestModel.condition("boss == %@", [boss]) == "t0.ZBOSS = ?  ← 7")
    #expect(try TestModel.condition("boss != %@", [boss]) == "t0.ZBOSS IS NOT ?  ← 7")
    #expect(try TestModel.condition("boss == %@", [book]) == "0")
    #expect(try TestModel.condition("boss == %@", [unsaved]) == "0")
    #expect(try TestModel.condition("SELF == %@", [boss]) == "t0.Z_PK = ?  ← 7")
    #expect(try TestModel.condition("SELF IN %@", [[boss, book, unsaved]]) == "t0.Z_PK = ?  ← 7")
    #expect(
      try TestModel.condition("books CONTAINS %@", [book])
        == "EXISTS (SELECT 1 FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK AND t1.Z_PK = ?)  ← 3")
    #expect(
      try TestModel.condition("ANY tags IN %@", [[TestModel.object("Tag", 1), TestModel.object("Tag", 2)]])
        == "EXISTS (SELECT 1 FROM Z_4TAGS t1 WHERE t1.Z_4PEOPLE = t0.Z_PK AND t1.Z_5TAGS IN (?, ?))  ← 1, 2")
  }

  @Test func `a prefix range ends at the next text by code points`() {
    #expect(Comparison.successor(of: "ab") == "ac")
    #expect(Comparison.successor(of: "a\u{D7FF}") == "a\u{E000}")
    #expect(Comparison.successor(of: "a\u{10FFFF}") == "b")
    #expect(Comparison.successor(of: "\u{10FFFF}") == nil)
  }

  @Test func `long lists keep one shape`() {
    let value = SQLExpression.column("t0", "ZAGE")
    func sql(_ members: [SQLValue]) -> CompiledStatement {
      var select = SelectStatement(columns: [.integer(1)], source: .table("T", alias: "t0"))
      select.condition = ListMembership.condition(value, members)
      return SQLRenderer.statement(select, dialect: SQLiteDialect())
    }
    let five: CompiledStatement = sql((1...5).map { .integer($0) })
    let eight: CompiledStatement = sql((1...8).map { .integer($0) })
    #expect(five.sql == eight.sql)
    let many: CompiledStatement = sql((1...5000).map { .integer($0) })
    #expect(many.sql == "SELECT 1 FROM T t0 WHERE t0.ZAGE IN (SELECT value FROM json_each(?))")
    #expect(sql(["a\"b", "c\\\n"].map { .text($0) } + (0..<1100).map { .text("\($0)") }).bindings.count == 1)
    #expect(ListMembership.json([.text("a\"b"), .text("c\\\n")]) == "[\"a\\\"b\",\"c\\\\\\u000a\"]")
    #expect(sql((1...3000).map { .real(Double($0)) }).bindings.count == 3072)
  }

  @Test func `a thousand terms are set in balanced groups`() throws {
    let members: [SQLExpression] = (0..<5000).map { .binary(.equal, .column("t0", "A"), .integer($0)) }
    let text: String = SQLRenderer.inline(.disjunction(members), dialect: SQLiteDialect())
    var depth: Int = 0
    var deepest: Int = 0
    for character in text {
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      deepest = max(deepest, depth)
    }
    #expect(depth == 0)
    #expect(deepest == 2)
  }

  static let refused: [(String, String)] = [
    ("books.title == 'x'", "to-many key not allowed here"),
    ("name < 3", "have no order"),
    ("born < 'x'", "have no order"),
    ("age BEGINSWITH 'x'", "needs strings"),
    ("ANY name == 'x'", "crosses none"),
    ("scratch == 'x'", "transient"),
    ("secret == 'x'", "value transformer"),
    ("name + 1 == 2", "arithmetic needs numbers"),
    ("SUBQUERY(books, $b, $b.pages > 1) == 1", "to-many key not allowed here"),
    ("$x == 1 AND name == $x", "has no value"),
    ("books.@median.pages > 1", "no collection operator"),
    ("name UTI-EQUALS 'x'", "no operator"),
    ("(books)[0] == 1", "positions"),
  ]

  @Test(arguments: refused)
  func `what SQL can't say is refused with the part and a way out`(format: String, reason: String) {
    do {
      let sql: String = try TestModel.condition(format)
      Issue.record("'\(format)' compiled to \(sql)")
    } catch StoreError.unsupported(let part, let found, let advice),
      StoreError.invalid(let part, let found, let advice)
    {
      #expect(!part.isEmpty && !advice.isEmpty)
      #expect(found.contains(reason))
    } catch {
      Issue.record("unexpected \(error)")
    }
  }

  @Test func `an unknown key names the nearest ones`() {
    do {
      _ = try TestModel.condition("boss.nmae == 'x'")
      Issue.record("compiled")
    } catch StoreError.unknownKeyPath(let path, let entity, let advice) {
      #expect(path == "boss.nmae")
      #expect(entity == "Person")
      #expect(advice.contains("\"name\""))
    } catch {
      Issue.record("unexpected \(error)")
    }
  }

  @Test func `a key of a sub-entity names that entity`() {
    do {
      _ = try TestModel.condition("genre == 'x'", entity: "Book")
      Issue.record("compiled")
    } catch StoreError.unknownKeyPath(_, _, let advice) {
      #expect(advice.contains("'Novel'"))
    } catch {
      Issue.record("unexpected \(error)")
    }
  }
}
