import CoreDataPredicates
import CoreDataStorage
import Foundation
import Testing

@testable import CoreDataSQL

@Suite struct FetchCompilerTests {
  let compiler = FetchCompiler(schema: TestModel.schema)

  private func sql(_ plan: FetchPlan) throws -> String { try compiler.ids(plan).sql }

  @Test func `rows of an entity with sub-entities read the columns of all of them`() throws {
    let rows: RowStatement = try compiler.rows(TestModel.plan("Book"))
    #expect(
      rows.statement.sql
        == "SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT, t0.ZPAGES, t0.ZTITLE, t0.ZAUTHOR, t0.ZGENRE FROM ZBOOK t0")
    let book: [Int32] = rows.columns.reads(of: TestModel.entity("Book").index).map(\.column)
    let novel: [Int32] = rows.columns.reads(of: TestModel.entity("Novel").index).map(\.column)
    #expect(book == [3, 4, 5])
    #expect(novel == [3, 4, 5, 6])
    #expect(
      rows.columns.reads(of: TestModel.entity("Novel").index).map(\.kind) == [
        .int32, .string, .toOne, .string,
      ])
  }

  @Test func `a to-one to an entity with sub-entities reads the target's entity number`() throws {
    let rows: RowStatement = try compiler.rows(TestModel.plan("Chapter"))
    #expect(
      rows.statement.sql
        == "SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT, t0.ZTITLE, t0.ZBOOK, t0.Z1_BOOK FROM ZCHAPTER t0")
    let reads: [ColumnRead] = rows.columns.reads(of: TestModel.entity("Chapter").index)
    #expect(reads.last?.entityColumn == 5)
    #expect(reads.last?.target == Int32(TestModel.entity("Book").index))
  }

  @Test func `an entity that is part of its table is told by its number`() throws {
    #expect(try sql(TestModel.plan("Novel")) == "SELECT t0.Z_PK, t0.Z_ENT FROM ZBOOK t0 WHERE t0.Z_ENT = ?")
    #expect(try compiler.ids(TestModel.plan("Novel")).bindings == [.integer(2)])
    var alone: FetchPlan = TestModel.plan("Book")
    #expect(try sql(alone) == "SELECT t0.Z_PK, t0.Z_ENT FROM ZBOOK t0 ORDER BY t0.Z_PK")
    alone.includesSubentities = false
    #expect(try sql(alone) == "SELECT t0.Z_PK, t0.Z_ENT FROM ZBOOK t0 WHERE t0.Z_ENT = ?")
    #expect(try compiler.ids(alone).bindings == [.integer(1)])
  }

  // Finding: ids of a whole hierarchy came entity by entity, from the index of the entity numbers.
  @Test(
    arguments: [
      ("Book", nil, "SELECT t0.Z_PK, t0.Z_ENT FROM ZBOOK t0 ORDER BY t0.Z_PK"),
      ("Chapter", nil, "SELECT t0.Z_PK, t0.Z_ENT FROM ZCHAPTER t0 ORDER BY t0.Z_PK"),
      ("Book", "title == 'a'", "SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT FROM ZBOOK t0 WHERE t0.ZTITLE = ?"),
      ("Chapter", "title == 'a'", "SELECT t0.Z_PK, t0.Z_ENT FROM ZCHAPTER t0 WHERE t0.ZTITLE = ?"),
    ] as [(String, String?, String)])
  func `unsorted ids come in the order of the rows`(entity: String, format: String?, expected: String) throws
  {
    #expect(
      try sql(format.map { try TestModel.plan(entity, $0) } ?? TestModel.plan(entity)) == expected)
  }

  @Test func `order, limit and offset are bound and end with the key`() throws {
    var plan: FetchPlan = try TestModel.plan("Person", "age > 3")
    plan.order = [
      FetchOrder(keyPath: "boss.name", ascending: true, comparison: .localizedStandard),
      FetchOrder(keyPath: "age", ascending: false),
    ]
    plan.limit = 10
    plan.offset = 20
    let statement: CompiledStatement = try compiler.ids(plan)
    #expect(
      statement.sql
        == "SELECT t0.Z_PK, t0.Z_ENT FROM ZPERSON t0 LEFT JOIN ZPERSON t1 ON t1.Z_PK = t0.ZBOSS WHERE t0.ZAGE > ? "
        + "ORDER BY t1.ZNAME COLLATE CLARUS_LOCALIZED_STANDARD, t0.ZAGE DESC, t0.Z_PK LIMIT ? OFFSET ?")
    #expect(statement.bindings == [.integer(3), .integer(10), .integer(20)])
    plan.limit = 0
    #expect(try sql(plan).hasSuffix(" LIMIT -1 OFFSET ?"))
  }

  @Test func `the text depends on the shape of a plan, not on its values`() throws {
    let one: CompiledStatement = try compiler.ids(TestModel.plan("Person", "name == 'a' AND age IN {1,2,3}"))
    let two: CompiledStatement = try compiler.ids(
      TestModel.plan("Person", "name == 'b' AND age IN {4,5,6,7}"))
    #expect(one.sql == two.sql)
    #expect(one.bindings != two.bindings)
  }

  @Test func `sorting by a count of members is a subselect, by the members themselves an error`() throws {
    var plan: FetchPlan = TestModel.plan("Person")
    plan.order = [FetchOrder(keyPath: "books.@count", ascending: false)]
    #expect(
      try sql(plan)
        == "SELECT t0.Z_PK, t0.Z_ENT FROM ZPERSON t0 ORDER BY (SELECT COUNT(*) FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK) "
        + "DESC, t0.Z_PK")
    plan.order = [FetchOrder(keyPath: "books.title")]
    #expect(throws: StoreError.self) { try sql(plan) }
    plan.order = [FetchOrder(keyPath: "nmae")]
    #expect(throws: StoreError.self) { try sql(plan) }
  }

  @Test func `a count ignores the order and honours the limit`() throws {
    var plan: FetchPlan = try TestModel.plan("Person", "age > 3")
    plan.order = [FetchOrder(keyPath: "name")]
    #expect(try compiler.count(plan).sql == "SELECT COUNT(*) FROM ZPERSON t0 WHERE t0.ZAGE > ?")
    plan.limit = 5
    #expect(
      try compiler.count(plan).sql
        == "SELECT COUNT(*) FROM (SELECT 1 FROM ZPERSON t0 WHERE t0.ZAGE > ? LIMIT ?)")
  }

  @Test func `members of many owners share statements by rounded size`() throws {
    let person: EntityLayout = TestModel.entity("Person")
    let slot: Int = try #require(person.slotByName["reports"])
    func members(_ owners: [Int64], among candidates: [Int64]? = nil) throws -> CompiledStatement {
      try compiler.members(of: person, slot: slot, owners: owners, among: candidates).statement
    }
    let start = "SELECT t0.ZBOSS, t0.Z_PK, t0.Z_ENT FROM ZPERSON t0 WHERE "
    let five: CompiledStatement = try members([1, 2, 3, 4, 5], among: [6])
    #expect(
      five.sql == start + "t0.ZBOSS IN (?, ?, ?, ?, ?, ?, ?, ?) AND t0.Z_PK = ? ORDER BY 1, 2")
    #expect(five.bindings == [1, 2, 3, 4, 5, 5, 5, 5, 6].map(SQLValue.integer))
    let many: CompiledStatement = try members(Array(1...1025))
    #expect(
      many.sql == start + "t0.ZBOSS IN (SELECT value FROM json_each(?)) ORDER BY 1, 2")
    #expect(many.bindings.count == 1)
    #expect(try members([]).sql == start + "0 ORDER BY 1, 2")
  }

  @Test func `members come owner by owner, in their order`() throws {
    func members(_ entity: String, _ relationship: String) throws -> MembersStatement {
      let layout: EntityLayout = TestModel.entity(entity)
      return try compiler.members(of: layout, slot: layout.slotByName[relationship]!, owners: [7])
    }
    let books: MembersStatement = try members("Person", "books")
    #expect(
      books.statement.sql
        == "SELECT t0.ZAUTHOR, t0.Z_PK, t0.Z_ENT FROM ZBOOK t0 WHERE t0.ZAUTHOR = ? ORDER BY 1, 2")
    let chapters: MembersStatement = try members("Novel", "chapters")
    #expect(chapters.hasOrder)
    #expect(
      chapters.statement.sql
        == "SELECT t0.ZBOOK, t0.Z_PK, t0.Z_ENT, t0.Z_FOK_BOOK FROM ZCHAPTER t0 WHERE t0.ZBOOK = ? ORDER BY 1, 4, 2"
    )
    let tags: MembersStatement = try members("Person", "tags")
    #expect(
      tags.statement.sql
        == "SELECT t0.Z_4PEOPLE, t0.Z_5TAGS, t1.Z_ENT, t0.Z_FOK_5TAGS FROM Z_4TAGS t0 JOIN ZTAG t1 ON t1.Z_PK = t0.Z_5TAGS "
        + "WHERE t0.Z_4PEOPLE = ? ORDER BY 1, 4, 2")
    let people: MembersStatement = try members("Tag", "people")
    #expect(
      people.statement.sql
        == "SELECT t0.Z_5TAGS, t0.Z_4PEOPLE, t1.Z_ENT FROM Z_4TAGS t0 JOIN ZPERSON t1 ON t1.Z_PK = t0.Z_4PEOPLE "
        + "WHERE t0.Z_5TAGS = ? ORDER BY 1, 2")
    let friends: MembersStatement = try members("Person", "friends")
    #expect(
      friends.statement.sql
        == "SELECT t0.Z_4FRIENDS, t0.REFLEXIVE, t1.Z_ENT FROM Z_4FRIENDS t0 JOIN ZPERSON t1 ON t1.Z_PK = t0.REFLEXIVE "
        + "WHERE t0.Z_4FRIENDS = ? UNION SELECT t0.REFLEXIVE, t0.Z_4FRIENDS, t1.Z_ENT FROM Z_4FRIENDS t0 JOIN ZPERSON t1 ON "
        + "t1.Z_PK = t0.Z_4FRIENDS WHERE t0.REFLEXIVE = ? ORDER BY 1, 2")
    #expect(
      try members("Person", "favorites").statement.sql
        == "SELECT t0.Z4FAVORITES, t0.Z_PK, t0.Z_ENT FROM ZTAG t0 WHERE t0.Z4FAVORITES = ? ORDER BY 1, 2")
  }
}
