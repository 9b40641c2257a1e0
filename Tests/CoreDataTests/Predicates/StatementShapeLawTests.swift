import CoreData
import CoreDataPredicates
import CoreDataSQL
import CoreDataStorage
import Foundation
import StackSupport
import TestSupport
import Testing

@testable import CoreDataSQLite

/// Statements by shape (Decisions/0061): whatever was fetched before, a plan gets the statement and the
/// values that compiling it gives, or the error. So it gets the same rows.
struct StatementShapeLawTests {
  private static let seeds: ClosedRange<UInt64> = {
    if let given = ProcessInfo.processInfo.environment["CLARUS_SEED"].flatMap(UInt64.init) {
      return given...given
    }
    return 1...(Soak.isOn ? 10_000 : 1_000)
  }()
  /// Plans of about one shape for each seed.
  private static let variations: Int = 8

  private let layout = ModelLayout(model: LawModel.shared)

  private func engine(_ url: URL, limit: Int) throws -> SQLiteEngine {
    var options = SQLiteOptions()
    options.statementLimit = limit
    return try SQLiteEngine.open(url: url, layout: layout, options: options)
  }

  @Test func `a plan gets the statement that compiling it gives, whatever was fetched before`() throws {
    // Few shapes are kept, so that some are met after they had to make room.
    let engine: SQLiteEngine = try engine(URL(fileURLWithPath: "/dev/null"), limit: 50)
    defer { try? engine.close() }
    for seed in Self.seeds {
      var maker = PredicateMaker(seed: seed)
      for (number, plan) in plans(&maker).enumerated() {
        let result: FetchResult = [.rows, .ids, .count][Int(seed) % 3]
        // Another moment for each plan, and one for both: `now()` is part of a statement.
        let (expected, found): (Outcome, Outcome) = at(number) {
          (
            Outcome { try engine.fetchCompiler.statement(plan, result) },
            Outcome { try engine.statements.statement(plan, result).statement }
          )
        }
        if found == expected { continue }
        Issue.record(
          "seed \(seed), plan \(number): \(plan.predicate.map(Printer.print) ?? "")\n\(expected)\n\(found)")
        if number > 20 { return }
      }
    }
    let counts: StatementCache.Counts = engine.statements.counts
    print("shapes: \(counts)")
    if Self.seeds.count >= 1000 {
      // A cache that is never used proves nothing.
      #expect(counts.hits * 3 > counts.misses)
      #expect(counts.evictions > 0)
    }
  }

  @Test func `plans find the same rows with kept statements and without`() throws {
    let stack = try Stack(.sqlite, model: LawModel.shared)
    let file: URL = stack.folder.file("World.sqlite")
    try stack.run { try LawPopulation(seed: 3).fill($0) }
    let (keeping, plain): (SQLiteEngine, SQLiteEngine) = (
      try engine(file, limit: 50), try engine(file, limit: 0)
    )
    defer {
      try? keeping.close()
      try? plain.close()
    }
    for seed in Self.seeds.prefix(400) {
      var maker = PredicateMaker(seed: ~seed)
      for (number, plan) in plans(&maker).enumerated() {
        let (found, expected): (Rows, Rows) = at(number) { (Rows(plan, keeping), Rows(plan, plain)) }
        #expect(found == expected, "seed \(seed): \(plan.predicate.map(Printer.print) ?? "")")
      }
    }
    #expect(plain.statements.shapeCount == 0)
    #expect(plain.statements.counts.hits == 0)
    #expect(keeping.statements.counts.hits > 0)
  }

  private func at<Result>(_ second: Int, _ body: () -> Result) -> Result {
    PredicateClock.$fixed.withValue(
      Date(timeIntervalSinceReferenceDate: 800_000_000 + Double(second)), operation: body)
  }

  // MARK: Plans

  /// Some plans that differ in their constants, most of them in nothing else.
  private func plans(_ maker: inout PredicateMaker) -> [FetchPlan] {
    let entity: String = maker.pick([
      "LawThing", "LawThing", "LawPart", "LawPiece", "LawOwner", "LawTag", "LawStep",
    ])
    guard let layout = layout.byName[entity] else { return [] }
    var node: PredicateNode = maker.predicate(PredicateMaker.Scope(entity: entity), maker.pick([0, 0, 1, 2]))
    node = node.substituting(variables: maker.bindings.mapValues { $0.anyValue ?? NSNull() })
    var plan = FetchPlan(entity: layout)
    plan.includesSubentities = maker.chance(3, of: 4)
    if maker.chance(1, of: 3) {
      let key: String = maker.pick(layout.slots.filter { $0.role.isAttribute }.map(\.name))
      plan.order = [FetchOrder(keyPath: key, ascending: maker.chance(1, of: 2))]
    }
    return (0..<Self.variations).map { number in
      var plan: FetchPlan = plan
      plan.predicate = node.mapConstants { maker.variation($0, isFirst: number == 0) }
      if maker.chance(1, of: 3) { plan.limit = maker.pick([1, 2, 100]) }
      if maker.chance(1, of: 3) { plan.offset = maker.pick([1, 2, 100]) }
      return plan
    }
  }
}

extension SlotRole {
  fileprivate var isAttribute: Bool {
    switch self {
    case .stored(.toOne, _), .toMany, .transient, .fetched, .composite: false
    case .stored: true
    }
  }
}

private enum Outcome: Equatable {
  case statement(String, [String])
  case failed(String)

  init(_ body: () throws -> CompiledStatement) {
    do {
      let statement: CompiledStatement = try body()
      self = .statement(statement.sql, statement.bindings.map { "\($0)" })
    } catch {
      self = .failed("\(error)")
    }
  }
}

private enum Rows: Equatable {
  case keys([Int64])
  case failed(String)

  init(_ plan: FetchPlan, _ engine: SQLiteEngine) {
    do {
      var keys: [Int64] = []
      try engine.fetch(plan).forEach { keys.append($0.key) }
      self = .keys(keys)
    } catch {
      self = .failed("\(error)")
    }
  }
}

// MARK: Constants

extension PredicateMaker {
  /// A constant in place of another: most of the same kind, many at the limits, some of another kind.
  fileprivate mutating func variation(_ value: PredicateValue, isFirst: Bool) -> PredicateValue {
    switch value {
    case .array(let members): return .array(list(members, isFirst))
    case .set(let members): return .set(Set(list(Array(members).sorted { "\($0)" < "\($1)" }, isFirst)))
    case .object(let box):
      guard let mark = box.value as? ObjectMark else { return value }
      return reference(mark)
    default: break
    }
    if isFirst || chance(1, of: 3) { return value }
    if chance(1, of: 12) { return .null }
    if chance(1, of: 12) {
      let kinds: [LawKind] = LawKind.allCases
      return LawValues.constant(pick(kinds), &random)
    }
    return other(value)
  }

  private mutating func other(_ value: PredicateValue) -> PredicateValue {
    switch value {
    case .integer, .bool, .unsigned:
      return pick([
        .integer(0), .integer(3), .integer(.max), .integer(.min), .bool(true), .unsigned(.max), .double(2.5),
        .double(.nan), .integer(1 << 53 + 1),
      ])
    case .double:
      return pick([
        .double(0), .double(-0.0), .double(.nan), .double(.infinity), .double(-.infinity), .double(1.5),
        .double(0x1p53), .double(0x1p63), .double(1e300), .integer(2),
      ])
    case .decimal:
      let texts: [String] = [
        "1", "0.1", "12345678901234567890.12345678", "99999999999999999999999999999999999999",
      ]
      return pick(
        texts.map { .decimal(Decimal(string: $0) ?? 0) } + [.decimal(.nan), .double(0.5), .integer(3)])
    case .string:
      return .string(
        pick([
          "", "a", "b*", "*b", "a?", "a\\*", "\0", "a\0b", "z\u{10FFFF}", "\u{10FFFF}", "\u{D7FF}", "é", "[",
          "(a",
        ]))
    case .date:
      let seconds: [Double] = [0, .nan, .infinity, -1, 1e10]
      return .date(Date(timeIntervalSinceReferenceDate: pick(seconds)))
    case .data: return .data(pick([Data(), Data([0]), Data([1, 2])]))
    case .uuid: return .uuid(pick(LawValues.uuids))
    case .url: return .url(pick(LawValues.urls))
    default: return value
    }
  }

  /// Members changed, repeated, added and left out.
  private mutating func list(_ members: [PredicateValue], _ isFirst: Bool) -> [PredicateValue] {
    var result: [PredicateValue] = []
    for member in members {
      result.append(variation(member, isFirst: isFirst))
      if !isFirst, chance(1, of: 4) { result.append(variation(member, isFirst: false)) }
    }
    if !isFirst, chance(1, of: 6), !result.isEmpty { result.removeLast() }
    return result
  }

  /// Objects of the store, of none, and of other hierarchies.
  private mutating func reference(_ mark: ObjectMark) -> PredicateValue {
    let names: [String] = ["LawThing", "LawPart", "LawOwner", "LawTag", "LawStep"]
    let entity: Int? = ModelLayout(model: LawModel.shared).byName[chance(1, of: 5) ? pick(names) : mark.root]?
      .index
    let id: RowID? = entity.map { RowID(entity: $0, key: Int64(mark.number + 1)) }
    return .object(ObjectBox(ObjectReference(id: chance(1, of: 8) ? nil : id)))
  }
}
