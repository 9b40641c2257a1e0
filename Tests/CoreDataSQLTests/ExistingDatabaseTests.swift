import CoreDataStorage
import Testing

@testable import CoreDataSQL

@Suite struct ExistingDatabaseTests {
  /// What a fresh store of the schema would report about itself.
  static func database(_ schema: StoreSchema) -> ExistingDatabase {
    ExistingDatabase(
      tables: schema.tables.map {
        .init(name: $0.name, columns: ["Z_PK", "Z_ENT", "Z_OPT"] + $0.columns.map(\.name))
      }
        + schema.joinTables.map {
          .init(name: $0.name, columns: [$0.ownerKey, $0.targetKey] + $0.orderColumns)
        },
      entities: schema.layout.entities.map {
        .init(
          number: schema.entityNumbers[$0.index], name: $0.name,
          superNumber: $0.superIndex.map { schema.entityNumbers[$0] } ?? 0, maxKey: 0)
      })
  }

  private var fresh: ExistingDatabase { Self.database(TestModel.schema) }

  private func schema(_ database: ExistingDatabase) throws -> StoreSchema {
    try StoreSchema(layout: TestModel.library, database: database)
  }

  @Test func `a store that Clarus made is understood as it was made`() throws {
    let found: StoreSchema = try schema(fresh)
    #expect(found.storage == TestModel.schema.storage)
    #expect(found.tables == TestModel.schema.tables)
    #expect(found.joinTables == TestModel.schema.joinTables)
  }

  @Test func `entity numbers come from the database`() throws {
    let shifted = SchemaBuilder(
      layout: TestModel.library, rules: AppleLayout(), entities: nil, numbers: [11, 12, 13, 14, 15]
    ).build()
    let found: StoreSchema = try schema(Self.database(shifted))
    #expect(found.entityNumbers == [11, 12, 13, 14, 15])
    #expect(found.entityIndex(ofNumber: 12) == TestModel.entity("Novel").index)
    #expect(found.entityIndex(ofNumber: 2) == nil)
    #expect(found.storage == shifted.storage)
    #expect(
      try FetchCompiler(schema: found).ids(TestModel.plan("Novel")).bindings == [.integer(12)])
  }

  @Test func `an entity that kept its old name is found by its place`() throws {
    var database: ExistingDatabase = fresh
    database.entities[1].name = "Romance"
    #expect(try schema(database).entityNumbers == [1, 2, 3, 4, 5])
  }

  @Test func `names are matched without regard to case and used as they are`() throws {
    var database: ExistingDatabase = fresh
    let person: Int = database.tables.firstIndex { $0.name == "ZPERSON" }!
    database.tables[person].name = "zPerson"
    database.tables[person].columns = database.tables[person].columns.map { $0 == "ZNAME" ? "zName" : $0 }
    let sql: String = try FetchCompiler(schema: schema(database)).ids(TestModel.plan("Person", "name == 'x'"))
      .sql
    #expect(sql == "SELECT t0.Z_PK, t0.Z_ENT FROM zPerson t0 WHERE t0.zName = ?")
  }

  @Test func `a join table may carry the other side's name`() throws {
    var database: ExistingDatabase = fresh
    let join: Int = database.tables.firstIndex { $0.name == "Z_4TAGS" }!
    database.tables[join].name = "Z_5PEOPLE"
    database.tables[join].columns = ["Z_5TAGS", "Z_4PEOPLE", "Z_FOK_5TAGS"]
    let person: EntityLayout = TestModel.entity("Person")
    let storage: SlotStorage = try schema(database).storage(
      of: person.index, slot: person.slotByName["tags"]!)
    let expected = JoinTableMembers(
      table: "Z_5PEOPLE", owner: "Z_4PEOPLE", member: "Z_5TAGS", order: "Z_FOK_5TAGS", inverseOrder: nil,
      isReflexive: false)
    #expect(storage == .toMany(.joinTable(expected)))
  }

  @Test func `a join table may keep old numbers in its columns`() throws {
    var database: ExistingDatabase = fresh
    let join: Int = database.tables.firstIndex { $0.name == "Z_4TAGS" }!
    database.tables[join].columns = ["Z_3PEOPLE", "Z_7TAGS1", "Z_FOK_7TAGS1"]
    let person: EntityLayout = TestModel.entity("Person")
    let storage: SlotStorage = try schema(database).storage(
      of: person.index, slot: person.slotByName["tags"]!)
    let expected = JoinTableMembers(
      table: "Z_4TAGS", owner: "Z_3PEOPLE", member: "Z_7TAGS1", order: "Z_FOK_7TAGS1", inverseOrder: nil,
      isReflexive: false)
    #expect(storage == .toMany(.joinTable(expected)))
  }

  @Test func `a missing table, column, join table or entity is named`() throws {
    func message(_ change: (inout ExistingDatabase) -> Void) -> String {
      var database: ExistingDatabase = fresh
      change(&database)
      do {
        _ = try schema(database)
        return "no error"
      } catch StoreError.unsupportedModel(let entity, let property, let reason) {
        return "\(entity).\(property ?? "-"): \(reason)"
      } catch {
        return "\(error)"
      }
    }
    let noTable: String = message { $0.tables.removeAll { $0.name == "ZTAG" } }
    #expect(noTable.hasPrefix("Tag.-:") && noTable.contains("ZTAG"))
    let noColumn: String = message { database in
      let person: Int = database.tables.firstIndex { $0.name == "ZPERSON" }!
      database.tables[person].columns.removeAll { $0 == "ZNICK" }
    }
    #expect(noColumn.hasPrefix("Person.nick:") && noColumn.contains("ZPERSON") && noColumn.contains("ZNICK"))
    let noJoin: String = message { $0.tables.removeAll { $0.name == "Z_4TAGS" } }
    #expect(noJoin.contains("tags") && noJoin.contains("Z_4TAGS") && noJoin.contains("Z_5PEOPLE"))
    let noEntity: String = message { $0.entities.removeAll { $0.name == "Chapter" } }
    #expect(noEntity.hasPrefix("Chapter.-:") && noEntity.contains("Z_PRIMARYKEY"))
  }

  @Test func `entities outside the configuration need no table`() throws {
    var database: ExistingDatabase = fresh
    database.tables = database.tables.filter {
      $0.name == "ZCHAPTER" || $0.name == "ZBOOK" || $0.name == "ZPERSON"
    }
    let found = try StoreSchema(
      layout: TestModel.library, database: database, entities: ["Book", "Novel", "Chapter"])
    #expect(found.tables.map(\.name) == ["ZBOOK", "ZCHAPTER"])
    #expect(throws: StoreError.self) { try found.table(of: TestModel.entity("Person").index) }
  }
}
