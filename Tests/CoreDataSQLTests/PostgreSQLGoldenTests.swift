import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation
import Testing

@testable import CoreDataSQL

/// The readable layout in PostgreSQL's words: what a second dialect and layout make of the same plans, with
/// no line of the compilers changed. The files beside this one are read like code; run with
/// `CLARUS_RECORD_GOLDENS=1` to write them anew.
@Suite struct PostgreSQLGoldenTests {
  private static let rules = ReadableLayout(schema: "todo")
  private static let schema = StoreSchema(layout: TestModel.library, rules: rules)

  // MARK: Goldens

  private func check(_ name: String, _ lines: (_ recorded: [String]) throws -> [String]) throws {
    let file: URL = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Goldens/\(name).txt")
    let recorded: String = try String(contentsOf: file, encoding: .utf8)
    let made: String =
      try lines(recorded.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
      .joined(separator: "\n") + "\n"
    if ProcessInfo.processInfo.environment["CLARUS_RECORD_GOLDENS"] != nil {
      try made.write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(made == recorded)
  }

  private func text(_ statement: CompiledStatement) -> String {
    statement.bindings.isEmpty
      ? statement.sql
      : statement.sql + "  ← " + statement.bindings.map(\.description).joined(separator: ", ")
  }

  // MARK: Fetches

  @Test func `each predicate has its condition, or is left to memory`() throws {
    try check("postgresql-conditions") { recorded in
      var lines: [String] = []
      for line in recorded where !line.isEmpty && !line.hasPrefix("  ") {
        lines.append(line)
        if line.hasPrefix("#") { continue }
        lines.append("  " + condition(line))
      }
      return lines
    }
  }

  private func condition(_ format: String) -> String {
    do {
      let format: String = format.replacing("\\0", with: "\0")
      let statement: CompiledStatement = try FetchCompiler(schema: Self.schema)
        .ids(TestModel.plan("Person", format))
      let shown: String = text(statement)
      let start = "SELECT t0._id, 4 FROM todo.person t0"
      guard shown.hasPrefix(start) else { return shown }
      let rest: String = shown.dropFirst(start.count).trimmingCharacters(in: .whitespaces)
      return rest.hasPrefix("WHERE ") ? String(rest.dropFirst(6)) : rest.isEmpty ? "TRUE" : rest
    } catch StoreError.unsupported(_, let reason, _) {
      return "in memory: \(reason)"
    } catch {
      return "\(error)"
    }
  }

  @Test func `dates are compared as moments to the microsecond`() throws {
    func condition(_ symbol: String, _ seconds: Double) throws -> String {
      let plan: FetchPlan = try TestModel.plan(
        "Person", "born \(symbol) %@", [Date(timeIntervalSinceReferenceDate: seconds)])
      let statement: CompiledStatement = try FetchCompiler(schema: Self.schema).count(plan)
      return text(statement).replacing("SELECT COUNT(*) FROM todo.person t0 WHERE ", with: "")
    }
    #expect(try condition("==", 12.5) == "t0.born = $1  ← 12500000 µs")
    #expect(try condition("==", 0.000_000_3) == "FALSE")
    #expect(try condition("<", 0.000_000_3) == "t0.born < $1  ← 1 µs")
    #expect(try condition("<=", 0.000_000_3) == "t0.born <= $1  ← 0 µs")
    #expect(try condition(">", 0.000_000_3) == "t0.born > $1  ← 0 µs")
    #expect(try condition(">=", 0.000_000_3) == "t0.born >= $1  ← 1 µs")
  }

  @Test func `UUIDs and URLs are of their own types`() throws {
    let uuid = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
    let plan: FetchPlan = try TestModel.plan(
      "Person", "uid == %@ OR uid IN %@ OR site == %@ OR photo == %@",
      [
        uuid, [uuid, UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))],
        URL(string: "https://a.b/c")!, Data([1, 2]),
      ])
    let statement: CompiledStatement = try FetchCompiler(schema: Self.schema).count(plan)
    #expect(
      statement.sql
        == "SELECT COUNT(*) FROM todo.person t0 WHERE t0.uid = $1 OR t0.uid = ANY($2) OR t0.site = $3 OR t0.photo = $4"
    )
    #expect(statement.bindings.first == .uuid(uuid))
  }

  @Test func `a fetch of rows names the columns of a family, its order and its page`() throws {
    try check("postgresql-fetches") { _ in
      func rows(_ entity: String, _ format: String?, _ change: (inout FetchPlan) -> Void = { _ in }) throws
        -> String
      {
        var plan: FetchPlan = try format.map { try TestModel.plan(entity, $0) } ?? TestModel.plan(entity)
        change(&plan)
        return text(try FetchCompiler(schema: Self.schema).rows(plan).statement)
      }
      let person: EntityLayout = TestModel.entity("Person")
      return [
        try rows("Tag", "label BEGINSWITH 'a'"),
        try rows("Book", nil) { $0.includesSubentities = true },
        try rows("Novel", "author.name == 'x'"),
        try rows("Person", "age > 3") {
          $0.order = [FetchOrder(keyPath: "fee", ascending: false), FetchOrder(keyPath: "boss.name")]
          $0.limit = 10
          $0.offset = 20
        },
        try rows("Person", nil) {
          $0.order = [FetchOrder(keyPath: "name", comparison: .caseInsensitive)]
        },
        text(
          try FetchCompiler(schema: Self.schema).count(
            {
              var plan: FetchPlan = TestModel.plan("Person")
              plan.limit = 5
              return plan
            }())),
        text(
          try FetchCompiler(schema: Self.schema)
            .members(of: person, slot: try #require(person.slotByName["tags"]), owners: [1, 2]).statement),
        text(
          try FetchCompiler(schema: Self.schema)
            .members(of: person, slot: try #require(person.slotByName["friends"]), owners: [1]).statement),
        text(
          try FetchCompiler(schema: Self.schema)
            .members(of: person, slot: try #require(person.slotByName["reports"]), owners: [1]).statement),
        try longList().sql,
      ]
    }
    #expect(
      try longList().bindings == [
        .list((1...1025).map(SQLValue.integer)), .list([.integer(1), .integer(2)]),
      ])
  }

  /// The members of more owners than SQLite has in a list, among some candidates.
  private func longList() throws -> CompiledStatement {
    let person: EntityLayout = TestModel.entity("Person")
    return try FetchCompiler(schema: Self.schema).members(
      of: person, slot: try #require(person.slotByName["reports"]), owners: Array(1...1025), among: [1, 2]
    ).statement
  }

  @Test func `an order by a locale is left to memory`() throws {
    var plan: FetchPlan = TestModel.plan("Person")
    plan.order = [FetchOrder(keyPath: "name", comparison: .localizedStandard)]
    let ordered: FetchPlan = plan
    #expect(throws: StoreError.self) { try FetchCompiler(schema: Self.schema).rows(ordered) }
  }

  // MARK: Saves

  @Test func `rows are written with the version they must still have`() throws {
    try check("postgresql-saves") { _ in
      let compiler = SaveCompiler(schema: Self.schema)
      func slots(_ entity: EntityLayout, _ names: String...) -> SlotSet {
        SlotSet(names.compactMap { entity.slotByName[$0] })
      }
      func toMany(_ entity: String, _ name: String) throws -> [String] {
        let layout: EntityLayout = TestModel.entity(entity)
        let slot: Int = try #require(layout.slotByName[name])
        let statements: ToManyStatements = try compiler.toMany(of: layout, slot: slot)
        return ["\(entity).\(name)"]
          + (statements.add + statements.remove + [statements.place, statements.lastKey].compactMap(\.self)
          + compiler.clear(of: layout, slot: slot)).map { "  " + $0 }
      }
      let (chapter, novel) = (TestModel.entity("Chapter"), TestModel.entity("Novel"))
      let rows = RowStatements(try Self.schema.table(of: chapter.index), dialect: Self.rules.dialect)
      return try [
        compiler.insert(chapter).sql, compiler.insert(novel).sql,
        compiler.insert(TestModel.entity("Person")).sql,
        compiler.update(chapter, changed: slots(chapter, "title")).sql,
        compiler.update(chapter, changed: slots(chapter, "book")).sql,
        compiler.update(chapter, changed: SlotSet()).sql, compiler.delete(novel),
        rows.find, rows.check, rows.clear(["title"]), rows.rows(["title"], count: 2),
        rows.other(with: ["title"]), ReadableBookkeeping.commit(Self.rules.dialect),
      ] + toMany("Book", "chapters") + toMany("Person", "tags") + toMany("Tag", "people")
        + toMany("Person", "friends") + toMany("Person", "favorites")
    }
  }

  // MARK: Schema

  @Test func `a store is tables with types, references and rules`() throws {
    try check("postgresql-schema") { _ in
      ReadableCreation(Self.schema, Self.rules).statements().map(text)
    }
  }

  @Test func `indexes and constraints of a model are the database's`() throws {
    let model = ModelBuilder()
    let item: NSEntityDescription = model.entity(
      "Item",
      attributes: [
        "code": .stringAttributeType, "dueDate": .dateAttributeType, "priority": .integer16AttributeType,
      ])
    let special: NSEntityDescription = model.entity(
      "SpecialItem", parent: "Item", attributes: ["badge": .stringAttributeType])
    item.uniquenessConstraints = [["code"]]
    special.uniquenessConstraints = [["badge", "priority"]]
    let due = NSFetchIndexDescription(
      name: "byDueDate",
      elements: [
        NSFetchIndexElementDescription(property: item.attributesByName["dueDate"]!, collationType: .binary)
      ])
    due.partialIndexPredicate = try NSPredicate(parsing: "priority > 2 AND code != 'x'", arguments: [])
    item.indexes = [due]
    let schema = StoreSchema(layout: model.layout(), rules: Self.rules)
    let creation = ReadableCreation(schema, Self.rules)
    let made: [String] = (creation.tables() + creation.constraints() + creation.indexes())
      .map { SQLRenderer.text($0, dialect: schema.dialect) }
    #expect(
      made == [
        "CREATE TABLE todo.item (_id bigint PRIMARY KEY DEFAULT nextval('todo.item_key'), due_date timestamptz, "
          + "_version integer NOT NULL DEFAULT 1, _entity integer NOT NULL, priority smallint, "
          + "code text COLLATE \"C\", badge text COLLATE \"C\")",
        "ALTER TABLE todo.item ADD CONSTRAINT item_unique_code UNIQUE (code) DEFERRABLE INITIALLY IMMEDIATE",
        "CREATE INDEX item_by_due_date_idx ON todo.item (due_date ASC NULLS FIRST, _id ASC NULLS FIRST) "
          + "WHERE priority > 2 AND code IS DISTINCT FROM 'x'",
        "CREATE UNIQUE INDEX item_unique_badge_priority_special_item ON todo.item (badge, priority) "
          + "WHERE _entity IN (2)",
      ])
  }

  // MARK: Names

  @Test(arguments: [
    ("GraphicNovel", "graphic_novel"), ("dueDate", "due_date"), ("URLString", "url_string"),
    ("address.city", "address_city"), ("_hidden", "u_hidden"), ("html5Text", "html5_text"), ("ID", "id"),
    ("Größe", "größe"), ("a_b", "a_b"),
  ])
  func `names become words with underscores`(name: String, expected: String) {
    #expect(ReadableNames.snake(name) == expected)
  }

  @Test func `names that are words of the grammar, or other than small letters, are quoted`() {
    let dialect = PostgreSQLDialect(schema: "my store")
    #expect(dialect.table("order") == "\"my store\".\"order\"")
    #expect(dialect.identifier("größe") == "\"größe\"")
    #expect(dialect.identifier("a\"b") == "\"a\"\"b\"")
    #expect(dialect.identifier("title") == "title")
  }

  @Test func `a text literal has its quotes doubled and no NUL`() {
    let dialects: [any SQLDialect] = [SQLiteDialect(), PostgreSQLDialect()]
    for dialect in dialects { #expect(dialect.literal(.text("a'b\0")) == "'a''b\u{FFFD}'") }
  }

  @Test func `long names are cut and stay different, equal ones get numbers`() {
    let long = String(repeating: "a", count: 70)
    let names: [String] = [long + "b", long + "c"].map(ReadableNames.fitted)
    #expect(names.allSatisfy { $0.utf8.count <= 63 })
    #expect(names[0] != names[1])
    #expect(ReadableNames.fitted("short") == "short")
    var pool = NamePool(Self.rules, reserved: ["_id"])
    #expect((0..<3).map { _ in pool.claim("title") } == ["title", "title_2", "title_3"])
  }
}
