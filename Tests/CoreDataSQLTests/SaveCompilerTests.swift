import CoreDataStorage
import Testing

@testable import CoreDataSQL

@Suite struct SaveCompilerTests {
  let compiler = SaveCompiler(schema: TestModel.schema)

  private func word(_ entity: String, _ name: String) -> Int {
    guard case .stored(_, let word)? = TestModel.entity(entity).slot(named: name)?.role else { return -1 }
    return word
  }

  @Test func `an insert writes every stored slot of the entity`() throws {
    let insert: WriteStatement = try compiler.insert(TestModel.entity("Chapter"))
    #expect(
      insert.sql
        == "INSERT INTO ZCHAPTER(Z_PK, Z_ENT, Z_OPT, ZTITLE, ZBOOK, Z1_BOOK) VALUES(?, ?, ?, ?, ?, ?)")
    let title = RowParameter.value(word: word("Chapter", "title"), kind: .string, isTagged: false)
    let book: Int = word("Chapter", "book")
    #expect(
      insert.parameters == [
        .key, .entityNumber, .version, title, .target(word: book), .targetEntityNumber(word: book),
      ])
  }

  @Test func `an update writes the changed slots of a row with the expected version`() throws {
    let chapter: EntityLayout = TestModel.entity("Chapter")
    let title: WriteStatement = try compiler.update(chapter, changed: SlotSet([chapter.slotByName["title"]!]))
    #expect(title.sql == "UPDATE ZCHAPTER SET Z_OPT = ?, ZTITLE = ? WHERE Z_PK = ? AND Z_OPT = ?")
    #expect(title.parameters.first == .version)
    #expect(title.parameters.suffix(2) == [.key, .expectedVersion])
    let touched: WriteStatement = try compiler.update(chapter, changed: SlotSet())
    #expect(touched.sql == "UPDATE ZCHAPTER SET Z_OPT = ? WHERE Z_PK = ? AND Z_OPT = ?")
  }

  @Test func `a member that changes its owner loses its place`() throws {
    let chapter: EntityLayout = TestModel.entity("Chapter")
    let book: WriteStatement = try compiler.update(chapter, changed: SlotSet([chapter.slotByName["book"]!]))
    #expect(
      book.sql
        == "UPDATE ZCHAPTER SET Z_OPT = ?, ZBOOK = ?, Z1_BOOK = ?, Z_FOK_BOOK = NULL WHERE Z_PK = ? AND Z_OPT = ?"
    )
  }

  @Test func `a delete asks for the version`() throws {
    let novel: EntityLayout = TestModel.entity("Novel")
    #expect(try compiler.delete(novel) == "DELETE FROM ZBOOK WHERE Z_PK = ? AND Z_OPT = ?")
    #expect(try compiler.delete(novel, .list(3)) == "DELETE FROM ZBOOK WHERE Z_PK IN (?, ?, ?) AND Z_OPT = ?")
    #expect(
      try compiler.delete(novel, .range) == "DELETE FROM ZBOOK WHERE Z_PK BETWEEN ? AND ? AND Z_OPT = ?")
  }

  /// Keys, and the selections that they take.
  private static let selections: [(keys: [Int64], selections: [KeySelection])] = [
    ([], []), ([7], [.one]), (Array(1...15), Array(repeating: .one, count: 15)), (Array(1...16), [.range]),
    ((1...16).reversed(), [.range]), (Array(1...5000), [.range]),
    (
      Array(stride(from: 1, to: 2 * 1150, by: 2)),
      [.list(1000), .list(128), .list(16)] + Array(repeating: .one, count: 6)
    ),
    (Array(1...20) + [25] + Array(100...130), [.range, .range, .one]),
    ((1...20).map { $0 * 10 } + Array(1001...1020), [.range, .list(16), .one, .one, .one, .one]),
  ]

  @Test(arguments: selections)
  func `keys are selected by ranges, lists of few sizes, and one by one`(
    keys: [Int64], selections: [KeySelection]
  ) {
    let parts: [KeySelection.Part] = KeySelection.parts(of: keys)
    #expect(parts.map(\.selection) == selections)
    #expect(parts.flatMap(\.keys).sorted() == keys.sorted())
    for part in parts where part.selection == .range {
      #expect(Array(part.values) == [part.keys.min(), part.keys.max()])
      #expect(Array(part.keys) == Array(part.values.first!...part.values.last!))
    }
  }

  @Test func `each kind of to-many has its statements`() throws {
    func statements(_ entity: String, _ name: String) throws -> ToManyStatements {
      let layout: EntityLayout = TestModel.entity(entity)
      return try compiler.toMany(of: layout, slot: layout.slotByName[name]!)
    }
    #expect(try statements("Person", "books") == ToManyStatements())
    #expect(
      try statements("Book", "chapters")
        == ToManyStatements(
          place: "UPDATE ZCHAPTER SET Z_FOK_BOOK = ?1 WHERE ZBOOK = ?2 AND Z_PK = ?3",
          lastKey: "SELECT MAX(Z_FOK_BOOK) FROM ZCHAPTER WHERE ZBOOK = ?1"))
    #expect(
      try statements("Person", "tags")
        == ToManyStatements(
          add: ["INSERT OR IGNORE INTO Z_4TAGS(Z_4PEOPLE, Z_5TAGS) VALUES(?1, ?2)"],
          remove: ["DELETE FROM Z_4TAGS WHERE Z_4PEOPLE = ?1 AND Z_5TAGS = ?2"],
          place: "UPDATE Z_4TAGS SET Z_FOK_5TAGS = ?1 WHERE Z_4PEOPLE = ?2 AND Z_5TAGS = ?3",
          lastKey: "SELECT MAX(Z_FOK_5TAGS) FROM Z_4TAGS WHERE Z_4PEOPLE = ?1"))
    #expect(
      try statements("Person", "friends").add == [
        "INSERT OR IGNORE INTO Z_4FRIENDS(Z_4FRIENDS, REFLEXIVE) VALUES(?1, ?2)",
        "INSERT OR IGNORE INTO Z_4FRIENDS(Z_4FRIENDS, REFLEXIVE) VALUES(?2, ?1)",
      ])
    #expect(
      try statements("Person", "favorites")
        == ToManyStatements(
          add: ["UPDATE ZTAG SET Z4FAVORITES = ?1 WHERE Z_PK = ?2"],
          remove: ["UPDATE ZTAG SET Z4FAVORITES = NULL WHERE Z4FAVORITES = ?1 AND Z_PK = ?2"]))
  }

  @Test func `members of deleted owners are removed where a table or a hidden column holds them`() throws {
    func clear(_ entity: String, _ name: String, _ owners: KeySelection) throws -> [String] {
      let layout: EntityLayout = TestModel.entity(entity)
      return compiler.clear(of: layout, slot: try #require(layout.slotByName[name]), owners)
    }
    #expect(try clear("Person", "books", .one) == [])
    #expect(try clear("Book", "chapters", .one) == [])
    #expect(try clear("Person", "tags", .one) == ["DELETE FROM Z_4TAGS WHERE Z_4PEOPLE = ?"])
    #expect(try clear("Person", "tags", .range) == ["DELETE FROM Z_4TAGS WHERE Z_4PEOPLE BETWEEN ? AND ?"])
    #expect(
      try clear("Person", "friends", .list(2)) == [
        "DELETE FROM Z_4FRIENDS WHERE Z_4FRIENDS IN (?, ?)",
        "DELETE FROM Z_4FRIENDS WHERE REFLEXIVE IN (?, ?)",
      ])
    #expect(
      try clear("Person", "favorites", .one) == ["UPDATE ZTAG SET Z4FAVORITES = NULL WHERE Z4FAVORITES = ?"])
  }
}

@Suite struct OrderKeysTests {
  @Test func `the first member gets 2048, the next ones steps of 1024`() {
    #expect(OrderKeys.assign(current: [nil, nil, nil]) == [2048, 3072, 4096])
    #expect(OrderKeys.assign(current: []) == [])
  }

  @Test func `members keep their keys where they can`() {
    #expect(OrderKeys.assign(current: [2048, nil, 3072]) == [2048, 2560, 3072])
    #expect(OrderKeys.assign(current: [2048, 3072, nil]) == [2048, 3072, 4096])
    #expect(OrderKeys.assign(current: [4096, 2048, 3072]) == [1024, 2048, 3072])
  }

  @Test func `a gap too narrow renumbers all`() {
    #expect(OrderKeys.assign(current: [1, nil, 2]) == [2048, 3072, 4096])
    #expect(OrderKeys.assign(current: [Int64.max, nil]) == [2048, 3072])
  }

  @Test(arguments: 0..<200)
  func `keys ascend strictly whatever came before`(seed: Int) {
    var state = UInt64(seed) &* 6_364_136_223_846_793_005 &+ 1
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    let current: [Int64?] = (0..<random(12)).map { _ in random(3) == 0 ? nil : Int64(random(40)) - 8 }
    let keys: [Int64] = OrderKeys.assign(current: current)
    #expect(keys.count == current.count)
    #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }, "\(current) → \(keys)")
  }
}
