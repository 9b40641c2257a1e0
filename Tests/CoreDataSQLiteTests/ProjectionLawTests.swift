import CoreDataPredicates
import CoreDataStorage
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CoreDataSQLite

/// The law: a random table over a random population is the same from the store in memory and from SQLite.
@Suite
struct ProjectionLawTests {
  /// Each seed has a population of its own and this many tables over it.
  private static let tables: Int = 40

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: 0..<(Soak.isOn ? 500 : 12))
  func `tables in memory are tables in SQL`(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let memory = try StoreWorld(StoreMaker { try InMemoryEngine(layout: $0) })
    let file: URL = folder.file("law-\(seed).sqlite")
    let database = try StoreWorld(
      StoreMaker { try SQLiteEngine.open(url: file, layout: $0, options: SQLiteOptions()) })
    let population = Population(&random)
    for world in [memory, database] { try population.fill(world) }
    for number in 0..<Self.tables {
      let request = TableRequest(&random)
      let expected: TableOutcome = request.run(memory)
      let found: TableOutcome = request.run(database)
      #expect(found == expected, "seed \(seed), table \(number): \(request)")
    }
    try database.engine.close()
  }
}

/// What a store gave for a request: rows, in order where the request says one, or that it refused.
private enum TableOutcome: Equatable {
  case rows([[PredicateValue]])
  case refused
  case failed(String)
}

// MARK: Population

/// Items, categories and tags with nil in every place. Fractions are quarters, so that sums do not depend on
/// their order.
private struct Population {
  private var categories: [[String: any Sendable]] = []
  private var tags: [[String: any Sendable]] = []
  private var items: [[String: any Sendable]] = []
  private var categoryOfItem: [Int?] = []
  private var tagsOfItem: [[Int]] = []

  init(_ random: inout SeededRandom) {
    for number in 0..<Int.random(in: 1...4, using: &random) {
      var category: [String: any Sendable] = ["name": "c\(number)"]
      if Bool.random(using: &random) { category["rank"] = Int.random(in: -2...2, using: &random) }
      categories.append(category)
    }
    tags = (0..<3).map { ["label": ["x", "y", "X"][$0]] }
    for _ in 0..<Int.random(in: 0...14, using: &random) {
      var item: [String: any Sendable] = [:]
      func maybe(_ name: String, _ value: any Sendable) {
        if Int.random(in: 0..<5, using: &random) > 0 { item[name] = value }
      }
      maybe("title", ["a", "b", "B", "é", ""].randomElement(using: &random) ?? "")
      maybe("priority", Int.random(in: -3...3, using: &random))
      maybe("price", Double(Int.random(in: -8...8, using: &random)) / 4)
      maybe("isDone", Bool.random(using: &random))
      maybe(
        "due", Date(timeIntervalSinceReferenceDate: Double(Int.random(in: 0...3, using: &random)) * 86_400))
      items.append(item)
      categoryOfItem.append(
        categories.indices.randomElement(using: &random).flatMap { Bool.random(using: &random) ? $0 : nil })
      tagsOfItem.append((0..<3).filter { _ in Bool.random(using: &random) })
    }
  }

  func fill(_ world: StoreWorld) throws {
    let categoryIDs: [RowID] = try world.insert("Category", categories)
    let tagIDs: [RowID] = try world.insert("Tag", tags)
    let rows: [[String: any Sendable]] = zip(items, categoryOfItem).map { item, category in
      var item: [String: any Sendable] = item
      if let category { item["category"] = categoryIDs[category] }
      return item
    }
    let itemIDs: [RowID] = try world.insert("Item", rows)
    for (id, members) in zip(itemIDs, tagsOfItem) where !members.isEmpty {
      try world.edit(id, "tags", add: members.map { tagIDs[$0] })
    }
  }
}

// MARK: Requests

private struct TableRequest: CustomStringConvertible {
  private var entity: String
  private var columns: [String]
  private var condition: String?
  private var groups: [String] = []
  private var having: String?
  private var sort: [String] = []
  private var isDistinct: Bool = false
  private var limit: Int = 0
  private var offset: Int = 0

  private static let values: [String: [String]] = [
    "Item": [
      "title", "priority", "price", "isDone", "due", "SELF", "category", "category.name", "category.rank",
      "price * 2", "priority + category.rank", "uppercase:(title)", "length:(title)", "tags.@count",
      "TERNARY(priority > 0, title, 'none')", "price / priority", "modulus:by:(priority, 2)", "7",
      "SUBQUERY(tags, $t, $t.label != 'x').@count", "category.items.@count",
    ],
    "Category": [
      "name", "rank", "SELF", "items.@count", "items.@sum.priority", "items.@max.price", "rank * 3",
      "abs:(rank)",
    ],
  ]
  private static let functions: [String: [String]] = [
    "Item": [
      "count:(SELF)", "count:(title)", "count:(category)", "sum:(priority)", "sum:(price)",
      "average:(priority)",
      "average:(price)", "min:(title)", "max:(title)", "min:(due)", "max:(price)", "min:(isDone)",
      "sum:(isDone)",
      "sum:(price * priority)", "count:(tags)", "tags.@count", "max:(tags.label)", "count:(category.items)",
      "sum:(category.items.priority)", "average:(category.items.price)", "@max.price", "@avg.priority",
      "@count",
      "max:(price) - min:(price)", "sum:(priority) / count:(priority)",
      "count:(SUBQUERY(tags, $t, $t.label == 'x'))",
      "category.items.@avg.priority", "max:(length:(title))", "category.items.tags.@count",
    ],
    "Category": [
      "count:(SELF)", "sum:(rank)", "count:(items)", "sum:(items.price)", "average:(items.priority)",
      "min:(items.due)",
      "max:(items.title)", "count:(items.tags)", "items.@avg.price", "items.title.@count",
      "count:(items.title)",
    ],
  ]
  private static let conditions: [String: [String]] = [
    "Item": [
      "priority > 0", "title != nil", "ANY tags.label == 'x'", "category.rank >= 0", "isDone == YES",
      "FALSEPREDICATE",
    ],
    "Category": ["rank != nil", "items.@count > 1", "ANY items.price > 0"],
  ]

  init(_ random: inout SeededRandom) {
    let entity: String = Bool.random(using: &random) ? "Item" : "Category"
    self.entity = entity
    func pick(_ lists: [String: [String]], _ count: ClosedRange<Int>) -> [String] {
      let count = Int.random(in: count, using: &random)
      return Array((lists[entity] ?? []).shuffled(using: &random).prefix(count))
    }
    condition = Int.random(in: 0..<3, using: &random) == 0 ? pick(Self.conditions, 1...1)[0] : nil
    switch Int.random(in: 0..<4, using: &random) {
    case 0: columns = pick(Self.values, 1...4)
    case 1: columns = pick(Self.functions, 0...3) + ["count:(SELF)"]
    default:
      groups = pick(Self.values, 1...2)
      columns = (groups + pick(Self.functions, 0...3)).shuffled(using: &random)
      if Bool.random(using: &random) {
        let side: String =
          (groups + pick(Self.functions, 1...2)).randomElement(using: &random) ?? "count:(SELF)"
        let test: String = ["!= nil", "== nil", "!= 1", "== 1"].randomElement(using: &random) ?? "!= nil"
        having = "\(side) \(test)"
        if Bool.random(using: &random) { having = "NOT (\(side) \(test)) OR count:(SELF) > 2" }
      }
    }
    if Bool.random(using: &random) {
      sort = columns.shuffled(using: &random).prefix(2).map { Bool.random(using: &random) ? $0 : "-" + $0 }
    }
    isDistinct = Int.random(in: 0..<4, using: &random) == 0
    // Which of equal rows a cut leaves is nobody's promise.
    let isTotal: Bool = !isDistinct && (!groups.isEmpty || !sort.isEmpty)
    if isTotal, Bool.random(using: &random) {
      limit = Int.random(in: 0...3, using: &random)
      offset = Int.random(in: 0...2, using: &random)
    }
  }

  func run(_ world: StoreWorld) -> TableOutcome {
    do {
      let table: ProjectedRows = try world.valueTable(
        of: entity, columns, where: condition, group: groups, having: having, sort: sort,
        isDistinct: isDistinct,
        limit: limit, offset: offset)
      let rows: [[PredicateValue]] = (0..<table.count).map { Array(table.row($0)) }
      let isOrdered: Bool = !isDistinct && (!groups.isEmpty || !sort.isEmpty)
      return .rows(isOrdered ? rows : rows.sorted { text($0) < text($1) })
    } catch is StoreError {
      return .refused
    } catch {
      return .failed("\(error)")
    }
  }

  private func text(_ row: [PredicateValue]) -> String {
    row.map { value in
      if case .object(let box) = value { return "\(box.value)" }
      return "\(value)"
    }.joined(separator: "|")
  }

  var description: String {
    "\(entity) \(columns) where \(condition ?? "-") group \(groups) having \(having ?? "-") sort \(sort) "
      + "distinct \(isDistinct) limit \(limit) offset \(offset)"
  }
}
