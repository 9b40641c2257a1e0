import CoreDataPredicates
import CoreDataStorage
import Foundation
import Testing

@testable import CoreDataSQL

/// A statement that was compiled for one plan serves others of its shape: with their own constants it is what
/// compiling them gives.
@Suite struct FetchShapeTests {
  let compiler = FetchCompiler(schema: TestModel.schema)

  private func shape(_ plan: FetchPlan, _ result: FetchResult = .ids) throws -> FetchShape {
    try #require(FetchShape(plan, result))
  }

  /// A plan whose predicate has these arguments, and another one with others.
  struct Pair: Sendable, CustomTestStringConvertible {
    var format: String
    var first: [PredicateValue]
    var second: [PredicateValue]
    // Foundation cannot print every date.
    var testDescription: String { format }

    init(_ format: String, _ first: [PredicateValue], _ second: [PredicateValue]) {
      (self.format, self.first, self.second) = (format, first, second)
    }

    func plans() throws -> (FetchPlan, FetchPlan) { (try plan(first), try plan(second)) }

    private func plan(_ arguments: [PredicateValue]) throws -> FetchPlan {
      var plan: FetchPlan = TestModel.plan("Person")
      plan.predicate = try Parser.predicate(
        format, arguments: arguments.map { if case .object(let box) = $0 { box.value } else { $0.anyValue } })
      return plan
    }
  }

  private static func object(_ key: Int64?, _ entity: String = "Person") -> PredicateValue {
    .object(
      ObjectBox(ObjectReference(id: key.map { RowID(entity: TestModel.entity(entity).index, key: $0) })))
  }

  private static func integers(_ count: Int64) -> [PredicateValue] { (0..<count).map(PredicateValue.integer) }

  private static let day = Date(timeIntervalSinceReferenceDate: 86_400)

  static let served: [Pair] = [
    Pair("age == %@", [.integer(3)], [.integer(.min)]),
    Pair("3 != age", [], []),
    Pair("%@ < age", [.integer(3)], [.integer(4)]),
    Pair("score >= %@", [.double(1.5)], [.double(-.infinity)]),
    Pair("age <= %@", [.double(1.5)], [.double(2)]),
    Pair("fee == %@", [.integer(3)], [.integer(4)]),
    Pair("fee > %@", [.integer(3)], [.integer(-4)]),
    Pair("isActive == %@", [.bool(true)], [.bool(false)]),
    Pair("name == %@", [.string("a")], [.string("")]),
    Pair("name ==[cd] %@", [.string("a")], [.string("b\0c")]),
    Pair("name < %@", [.string("a")], [.string("b")]),
    Pair("born > %@", [.date(day)], [.date(day + 1)]),
    Pair("uid == %@", [.uuid(UUID())], [.uuid(UUID())]),
    Pair("photo != %@", [.data(Data([1]))], [.data(Data())]),
    Pair("age BETWEEN {%@, %@}", [.integer(1), .integer(1)], [.integer(5), .integer(2)]),
    Pair("age BETWEEN %@", [.array([.integer(1), .integer(9)])], [.array([.integer(5), .integer(2)])]),
    Pair("age IN %@", [.array([.integer(1)])], [.array([.integer(5)])]),
    Pair(
      "age IN %@", [.array([1, 2, 3].map(PredicateValue.integer))],
      [.array([4, 4, 5, 6].map(PredicateValue.integer))]),
    Pair("age IN %@", [.array(integers(1000))], [.array(integers(600))]),
    Pair("age IN %@", [.set(Set(integers(1000)))], [.set(Set(integers(600)))]),
    Pair("name IN {%@, %@}", [.string("a"), .string("b")], [.string("b"), .string("b")]),
    Pair("name BEGINSWITH %@", [.string("a")], [.string("z\u{10FFFF}")]),
    Pair("name BEGINSWITH[c] %@", [.string("a")], [.string("b\0")]),
    Pair("name ENDSWITH %@", [.string("a")], [.string("b")]),
    Pair("name CONTAINS %@", [.string("a")], [.string("b")]),
    Pair("name LIKE %@", [.string("a*")], [.string("b*")]),
    Pair("name LIKE %@", [.string("*a")], [.string("?b")]),
    Pair("name LIKE[c] %@", [.string("a*")], [.string("*")]),
    Pair(
      "boss.name == %@ AND (age > %@ OR NOT age == %@)", [.string("a"), .integer(1), .integer(1)],
      [.string("b"), .integer(2), .integer(3)]),
    Pair("boss == %@", [object(1)], [object(2)]),
    Pair("boss IN %@", [.array([object(1), object(2)])], [.array([object(3), object(3)])]),
    Pair("friends CONTAINS %@", [object(1)], [object(2)]),
    Pair("ANY friends.age > %@", [.integer(1)], [.integer(2)]),
    Pair("ALL friends.name == %@", [.string("a")], [.string("b")]),
    Pair("friends.@count > %@", [.integer(1)], [.integer(2)]),
    Pair(
      "SUBQUERY(friends, $f, $f.age > %@).@count == %@", [.integer(1), .integer(2)],
      [.integer(3), .integer(4)]),
    Pair("name.length == %@", [.integer(1)], [.integer(2)]),
  ]

  @Test(arguments: served)
  func `a statement serves other constants of its shape`(_ pair: Pair) throws {
    let (first, second): (FetchPlan, FetchPlan) = try pair.plans()
    let shape: FetchShape = try shape(first)
    let other: FetchShape = try self.shape(second)
    #expect(shape.key == other.key)
    let (statement, shaped) = try compiler.shaped(first, .ids, shape)
    let plain: CompiledStatement = try compiler.ids(first)
    #expect(statement.sql == plain.sql && statement.bindings == plain.bindings)
    let expected: CompiledStatement = try compiler.ids(second)
    #expect(shaped?.sql == expected.sql)
    #expect(shaped?.bindings(for: other.parameters) == expected.bindings)
  }

  /// Constants of one kind that ask for another statement.
  static let refused: [Pair] = [
    Pair("score == %@", [.double(1)], [.double(.nan)]),
    Pair("born == %@", [.date(day)], [.date(Date(timeIntervalSinceReferenceDate: .nan))]),
    Pair("name BEGINSWITH %@", [.string("a")], [.string("")]),
    Pair("name BEGINSWITH %@", [.string("a")], [.string("a\0")]),
    Pair("name BEGINSWITH %@", [.string("a")], [.string("\u{10FFFF}")]),
    Pair("name CONTAINS %@", [.string("a")], [.string("a\0b")]),
    Pair("name LIKE %@", [.string("a*")], [.string("*a")]),
    Pair("name LIKE %@", [.string("*a")], [.string("a*")]),
    Pair("name MATCHES %@", [.string("a.*")], [.string("b.*")]),
    Pair("boss == %@", [object(1)], [object(nil)]),
    Pair("boss == %@", [object(1)], [object(1, "Book")]),
    Pair("fee == %@", [.double(1)], [.double(2)]),
    Pair("fee == %@", [.decimal(1)], [.decimal(2)]),
    Pair("age == %@", [.decimal(1)], [.decimal(2)]),
    Pair("age IN %@", [.array([.double(1), .double(2)])], [.array([.double(1), .double(.nan)])]),
    Pair("name IN %@", [.string("a")], [.string("b")]),
  ]

  @Test(arguments: refused)
  func `a statement is not used for constants that mean another one`(_ pair: Pair) throws {
    let (first, second): (FetchPlan, FetchPlan) = try pair.plans()
    let shape: FetchShape = try shape(first)
    let other: FetchShape = try self.shape(second)
    #expect(shape.key == other.key)
    let shaped: ShapedStatement? = try compiler.shaped(first, .ids, shape).shaped
    #expect(shaped?.bindings(for: other.parameters) == nil)
    let own: [SQLValue]? = try compiler.ids(first).bindings
    if let shaped { #expect(shaped.bindings(for: shape.parameters) == own) }
  }

  // MARK: Another layout

  private static let readable = FetchCompiler(
    schema: StoreSchema(layout: TestModel.library, rules: ReadableLayout(schema: "todo")))

  /// The bindings that the first plan's statement has for the second one; nil if it does not serve it, or if
  /// the database can't execute the first one.
  private func readableBindings(_ pair: Pair) throws -> [SQLValue]? {
    let (first, second): (FetchPlan, FetchPlan) = try pair.plans()
    guard (try? Self.readable.ids(first)) != nil else { return nil }
    let shaped: ShapedStatement? = try Self.readable.shaped(first, .ids, shape(first)).shaped
    guard let shaped, let bindings = shaped.bindings(for: try shape(second).parameters) else { return nil }
    let expected: CompiledStatement = try Self.readable.ids(second)
    #expect(shaped.sql == expected.sql)
    #expect(bindings == expected.bindings)
    return bindings
  }

  @Test(arguments: served + refused)
  func `over another layout a statement serves no constants for which another one is compiled`(
    _ pair: Pair
  ) throws {
    _ = try readableBindings(pair)
  }

  /// Constants that the readable layout binds by the operator: no text of it has a NUL.
  @Test(
    arguments: [
      (Pair("name < %@", [.string("ab")], [.string("a\0b")]), [SQLValue.text("a\u{1}")]),
      (Pair("name >= %@", [.string("ab")], [.string("a\0b")]), [.text("a\u{1}")]),
      (Pair("name <= %@", [.string("ab")], [.string("a\0b")]), [.text("a")]),
      (Pair("%@ < name", [.string("ab")], [.string("a\0b")]), [.text("a")]),
      (Pair("%@ >= name", [.string("ab")], [.string("a\0b")]), [.text("a")]),
      (Pair("age < %@", [.double(1)], [.double(2.5)]), [.integer(3)]),
      (Pair("%@ < age", [.double(1)], [.double(2.5)]), [.integer(2)]),
      (
        Pair(
          "name BETWEEN %@", [.array([.string("a"), .string("b")])],
          [.array([.string("a\0"), .string("b\0")])]),
        [.text("a\u{1}"), .text("b")]
      ),
      (Pair("name == %@", [.string("ab")], [.string("cd")]), [.text("cd")]),
      (Pair("name == %@", [.string("ab")], [.string("a\0b")]), nil),
      (Pair("name != %@", [.string("ab")], [.string("a\0b")]), nil),
      (Pair("name LIKE %@", [.string("abc")], [.string("a*c")]), nil),
      (Pair("uid == %@", [.uuid(ids.0)], [.uuid(ids.1)]), [.uuid(ids.1)]),
      (Pair("born > %@", [.date(day)], [.date(day + 1)]), [.timestamp(86_401_000_000)]),
    ] as [(Pair, [SQLValue]?)])
  func `over another layout constants are bound as its encoding has them`(
    _ pair: Pair, _ expected: [SQLValue]?
  ) throws {
    #expect(try readableBindings(pair) == expected)
  }

  private static let ids: (UUID, UUID) = (UUID(), UUID())

  // MARK: Shapes

  @Test(arguments: [
    Pair("age == %@", [.integer(3)], [.null]), Pair("age == %@", [.integer(3)], [.double(3)]),
    Pair("age == %@", [.integer(3)], [.bool(true)]), Pair("age IN %@", [.array([])], [.array([.integer(1)])]),
    Pair("age IN %@", [.array([.integer(1), .integer(2)])], [.array([.integer(1), .null])]),
    Pair("age + 1 == %@", [.integer(3)], [.null]),
  ])
  func `constants of other kinds make other shapes`(_ pair: Pair) throws {
    let (first, second): (FetchPlan, FetchPlan) = try pair.plans()
    #expect(try shape(first).key != shape(second).key)
  }

  @Test func `what is no constant of a comparison with the row is part of the shape`() throws {
    let texts: [String] = [
      "age + 1 == 3", "age + 2 == 3", "age == 3", "age != 3", "score == 3", "name ==[c] 'a'", "name == 'a'",
      "NOT age == 3", "age == 3 AND age == 3", "age == 3 OR age == 3", "ANY friends.age == 3",
      "ALL friends.age == 3", "3 == age", "TRUEPREDICATE", "FALSEPREDICATE",
      "TERNARY(1 == 2, age, 5) == 3", "TERNARY(1 == 1, age, 5) == 3",
    ]
    let keys: [FetchShape.Key] = try texts.map { try shape(TestModel.plan("Person", $0)).key }
    #expect(Set(keys).count == texts.count)
  }

  @Test func `entity, order, limit, offset and result are part of the shape`() throws {
    var plans: [FetchPlan] = [TestModel.plan("Person"), TestModel.plan("Book"), TestModel.plan("Novel")]
    var alone: FetchPlan = TestModel.plan("Book")
    alone.includesSubentities = false
    plans.append(alone)
    for order in [
      [FetchOrder(keyPath: "name")], [FetchOrder(keyPath: "name", ascending: false)],
      [FetchOrder(keyPath: "name", comparison: .localized)],
      [FetchOrder(keyPath: "name"), FetchOrder(keyPath: "age")],
    ] {
      var ordered: FetchPlan = TestModel.plan("Person")
      ordered.order = order
      plans.append(ordered)
    }
    for (limit, offset) in [(1, 0), (0, 1), (1, 1)] {
      var page: FetchPlan = TestModel.plan("Person")
      (page.limit, page.offset) = (limit, offset)
      plans.append(page)
    }
    let keys: [FetchShape.Key] = try plans.flatMap { plan in
      try [FetchResult.rows, .ids, .count].map { try shape(plan, $0).key }
    }
    #expect(Set(keys).count == 3 * plans.count)
  }

  @Test(arguments: [
    "born < now()", "age > randomn:(4) AND born < now()", "born < CAST(now(), 'NSDate')",
    "SELF isKindOfClass: %@", "age IN %@",
  ])
  func `a predicate that the bytes can't hold has no shape`(_ format: String) throws {
    var plan: FetchPlan = TestModel.plan("Person")
    let argument: Any =
      format.contains("IN") ? Array(repeating: 1, count: 2000) : EntityFamily([0], className: "Person")
    plan.predicate = try Parser.predicate(format, arguments: [argument])
    #expect(FetchShape(plan, .ids) == nil)
  }

  @Test func `limit and offset are bound anew`() throws {
    var plan: FetchPlan = try TestModel.plan("Person", "age > 3")
    (plan.limit, plan.offset) = (10, 20)
    let shaped: ShapedStatement = try #require(try compiler.shaped(plan, .rows, shape(plan, .rows)).shaped)
    (plan.limit, plan.offset) = (7, 8)
    let again: FetchShape = try shape(plan, .rows)
    #expect(shaped.bindings(for: again.parameters) == [.integer(3), .integer(7), .integer(8)])
  }
}
