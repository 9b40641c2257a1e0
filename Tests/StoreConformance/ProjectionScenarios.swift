import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Columns, groups and functions over rows.
extension StoreScenario {
  static let tableScenarios: [StoreScenario] =
    plainTables + totals + groups + memberTotals + decimals + tableErrors

  // MARK: Plain columns

  private static let plainTables: [StoreScenario] = [
    StoreScenario("a column is an attribute, an attribute of a target, or computed") { world in
      try fillWithSales(world)
      try expect(
        world.table(
          of: "Item", ["title", "category.name", "price * 2", "uppercase:(title)", "tags.@count"],
          sort: ["title"]),
        [
          "bolt | tools | 1.0 | BOLT | 0", "nut | tools | nil | NUT | 1", "pear | fruit | 6.0 | PEAR | 0",
          "plum | fruit | 3.0 | PLUM | 2", "stray | nil | 18.0 | STRAY | 0",
        ])
    },
    StoreScenario("objects are columns: the row itself and a target") { world in
      let ids: SalesIDs = try fillWithSales(world)
      try expect(
        world.table(of: "Item", ["SELF", "category"], where: "title IN {'plum', 'stray'}", sort: ["title"]),
        [
          "Item \(ids.items[0].key) | Category \(ids.categories[0].key)", "Item \(ids.items[4].key) | nil",
        ])
    },
    StoreScenario("an object of a hierarchy keeps its own entity") { world in
      let ada: RowID = try world.insertOne("Person", ["name": "Ada"])
      let cat: RowID = try world.insertOne("HouseCat", ["name": "Kit", "owner": ada])
      try expect(
        world.table(of: "Animal", ["SELF", "owner.name"]), ["HouseCat \(cat.key) | Ada"])
      try expect(world.table(of: "Animal", ["SELF"], group: ["SELF"]), ["HouseCat \(cat.key)"])
    },
    StoreScenario("every kind of attribute comes back as it was") { world in
      let uuid = UUID()
      let values: [String: any Sendable] = [
        "int16": 3, "int32": -4, "int64": 1 << 40, "bool": true, "double": 0.25, "float": 1.5,
        "date": Date(timeIntervalSinceReferenceDate: 86_400.5),
        "decimal": Decimal(string: "12345678901234567890.0123456789") ?? 0, "string": "", "uuid": uuid,
        "data": Data([0, 255]), "uri": URL(string: "https://example.org/a?b") ?? URL(fileURLWithPath: "/"),
      ]
      let names: [String] = values.keys.sorted()
      try world.insert("Everything", [values, [:]])
      let table: ProjectedRows = try world.valueTable(of: "Everything", names, sort: ["int16"])
      try expect(table.count, 2)
      for (column, name) in names.enumerated() {
        try expect(table[0, column], .null, name)
        try expect(table[1, column], PredicateValue(normalizing: values[name]), name)
      }
      if case .bool(true) = table[1, names.firstIndex(of: "bool") ?? 0] { return }
      throw ConformanceFailure(description: "a Boolean column gave a number")
    },
    StoreScenario("computing with nil gives nil, and so does dividing by zero") { world in
      try world.insert(
        "Item", [["title": "a", "priority": 4], ["title": "b", "price": 2.0, "priority": 0]])
      try expect(
        world.table(
          of: "Item", ["title", "price + 1", "8 / priority", "TERNARY(price == nil, 0, 1)"], sort: ["title"]),
        ["a | nil | 2 | 0", "b | 3.0 | nil | 1"])
    },
    StoreScenario("doubles are taken out before the table is cut") { world in
      try fillWithSales(world)
      try expect(
        world.table(of: "Item", ["category.name"], sort: ["category.name"], isDistinct: true),
        ["nil", "fruit", "tools"])
      try expect(
        world.table(
          of: "Item", ["category.name"], sort: ["-category.name"], isDistinct: true, limit: 1, offset: 1),
        ["fruit"])
      // Ordered by what is not selected: the first of equal rows counts.
      try expect(
        world.table(of: "Item", ["category.name"], sort: ["-price"], isDistinct: true),
        ["nil", "fruit", "tools"])
      try expect(
        world.table(of: "Item", ["category.name"], sort: ["price"], isDistinct: true, limit: 2),
        ["tools", "fruit"])
    },
    StoreScenario("a table is sorted and cut as rows are") { world in
      try fillWithSales(world)
      try expect(
        world.table(of: "Item", ["title"], sort: ["price"], limit: 2, offset: 1), ["bolt", "plum"])
      try expect(world.table(of: "Item", ["title"], sort: ["-price"], offset: 4), ["nut"])
      try expect(world.table(of: "Item", ["title"], where: "price > 100", sort: ["title"]), [])
    },
  ]

  // MARK: Functions over all rows

  private static let totals: [StoreScenario] = [
    StoreScenario("functions over all rows make one row") { world in
      try fillWithSales(world)
      try expect(
        world.table(
          of: "Item",
          [
            "count:(title)", "count:(price)", "count:(SELF)", "sum:(priority)", "average:(price)",
            "min:(price)", "max:(title)", "max:(due)", "@sum.priority", "@count",
          ]),
        ["5 | 4 | 5 | 15 | 3.5 | 0.5 | stray | 2001-01-05 | 15 | 5"])
    },
    StoreScenario("functions over no rows: a count of 0, a sum of 0, nil for the rest") { world in
      try expect(
        world.table(
          of: "Item", ["count:(title)", "sum:(priority)", "average:(price)", "min:(price)", "max:(title)"]),
        ["0 | 0 | nil | nil | nil"])
    },
    StoreScenario("functions take computed values and can be computed with") { world in
      try fillWithSales(world)
      try expect(
        world.table(
          of: "Item", ["sum:(price * priority)", "sum:(price) / count:(price)", "max:(priority) - 1"]),
        ["54.0 | 3.5 | 4"])
    },
    StoreScenario("the least of Booleans is a Boolean, their sum a number") { world in
      try world.insert("Item", [["isDone": true], ["isDone": false], [:]])
      let table: ProjectedRows = try world.valueTable(
        of: "Item", ["min:(isDone)", "max:(isDone)", "sum:(isDone)"])
      try expect(table[0, 2], .integer(1))
      if case .bool(false) = table[0, 0], case .bool(true) = table[0, 1] { return }
      throw ConformanceFailure(description: "the extremes of Booleans are \(table.values)")
    },
    StoreScenario("a sum that 64 bits can't hold is refused") { world in
      try world.insert("Everything", [["int64": Int.max], ["int64": Int.max]])
      try expectUnsupported("a sum too large") { try world.table(of: "Everything", ["sum:(int64)"]) }
      try expect(
        world.table(of: "Everything", ["sum:(int64 * 1.0) > 1"].map { "TERNARY(\($0), 1, 0)" }), ["1"])
    },
  ]

  // MARK: Groups

  private static let groups: [StoreScenario] = [
    StoreScenario("groups come by their keys, nil first") { world in
      try fillWithSales(world)
      try expect(
        world.table(
          of: "Item", ["category.name", "count:(title)", "sum:(price)", "average:(priority)"],
          group: ["category.name"]),
        ["nil | 1 | 9.0 | 5.0", "fruit | 2 | 4.5 | 1.5", "tools | 2 | 0.5 | 3.5"])
    },
    StoreScenario("the predicate chooses rows, having chooses groups") { world in
      try fillWithSales(world)
      try expect(
        world.table(
          of: "Item", ["category.name", "count:(title)"], where: "priority != 4", group: ["category.name"],
          having: "count:(title) > 1"),
        ["fruit | 2"])
      try expect(
        world.table(
          of: "Item", ["category.name"], group: ["category.name"],
          having: "category.name != nil AND max:(price) < 2"),
        ["tools"])
      try expect(
        world.table(of: "Item", ["category.name"], group: ["category.name"], having: "FALSEPREDICATE"), [])
    },
    StoreScenario("groups are sorted by keys and by functions, and cut") { world in
      try fillWithSales(world)
      let columns: [String] = ["category.name", "count:(title)"]
      try expect(
        world.table(
          of: "Item", columns, group: ["category.name"], sort: ["-count:(title)", "-category.name"]),
        ["tools | 2", "fruit | 2", "nil | 1"])
      try expect(
        world.table(
          of: "Item", columns, group: ["category.name"], sort: ["max:(price)"], limit: 1, offset: 1),
        ["fruit | 2"])
    },
    StoreScenario("objects and several keys can be grouped by") { world in
      let ids: SalesIDs = try fillWithSales(world)
      try expect(
        world.table(
          of: "Item", ["category", "count:(SELF)"], group: ["category"], having: "category != nil"),
        ["Category \(ids.categories[0].key) | 2", "Category \(ids.categories[1].key) | 2"])
      try expect(
        world.table(
          of: "Item", ["count:(SELF)"], group: ["category"], having: "category == %@",
          arguments: [ids.categories[1]]),
        ["2"])
      try expect(
        world.table(
          of: "Item", ["isDone", "category.name", "count:(SELF)"], group: ["category.name", "isDone"]),
        [
          "nil | nil | 1", "false | fruit | 1", "true | fruit | 1", "false | tools | 1", "true | tools | 1",
        ])
    },
    StoreScenario("text is grouped by code points") { world in
      try world.insert("Tag", ["é", "e\u{301}", "É", "é"].map { ["label": $0] })
      try expect(
        world.table(of: "Tag", ["count:(label)"], group: ["label"], sort: ["-count:(label)"]),
        ["2", "1", "1"])
    },
    StoreScenario("a computed key groups too") { world in
      try fillWithSales(world)
      try expect(
        world.table(
          of: "Item", ["modulus:by:(priority, 2)", "count:(title)"], group: ["modulus:by:(priority, 2)"]),
        ["0 | 2", "1 | 3"])
    },
    StoreScenario("groups of no rows are none") { world in
      try expect(world.table(of: "Item", ["count:(title)"], group: ["category"]), [])
    },
    StoreScenario("every kind of attribute can be grouped by") { world in
      let row: [String: any Sendable] = [
        "int16": 1, "int32": 2, "int64": 3, "bool": false, "double": 0.5, "float": 0.25,
        "date": Date(timeIntervalSinceReferenceDate: 1), "decimal": Decimal(string: "0.1") ?? 0,
        "string": "s",
        "uuid": UUID(), "data": Data([1]), "uri": URL(fileURLWithPath: "/x"),
      ]
      try world.insert("Everything", [row, [:], row])
      for name in row.keys.sorted() {
        let table: ProjectedRows = try world.valueTable(
          of: "Everything", [name, "count:(SELF)"], group: [name])
        try expect(table.count, 2, name)
        try expect(table[0, 0], .null, name)
        try expect(table[1, 0], PredicateValue(normalizing: row[name]), name)
        try expect(table[1, 1], .integer(2), name)
      }
    },
    StoreScenario("equal groups can be taken out") { world in
      try fillWithSales(world)
      try expect(
        world.table(
          of: "Item", ["count:(title)"], group: ["category.name"], sort: ["count:(title)"], isDistinct: true),
        ["1", "2"])
    },
  ]

  // MARK: Members of to-many relationships

  private static let memberTotals: [StoreScenario] = [
    StoreScenario("functions over to-many paths take the members of all rows") { world in
      try fillWithSales(world)
      let columns: [String] = ["count:(items)", "sum:(items.priority)", "max:(items.price)", "items.@count"]
      try expect(
        world.table(of: "Category", ["name"] + columns, group: ["name"]),
        [
          "empty | 0 | 0 | nil | 0", "fruit | 2 | 3 | 3.0 | 2", "tools | 2 | 7 | 0.5 | 2",
        ])
      try expect(world.table(of: "Category", columns), ["4 | 10 | 3.0 | 4"])
    },
    StoreScenario("two relationships do not multiply each other, equal values all count") { world in
      let tags: [RowID] = try world.insert("Tag", [["label": "x"], ["label": "y"]])
      let category: RowID = try world.insertOne("Category", ["name": "c"])
      let items: [RowID] = try world.insert(
        "Item", [["price": 2.0, "category": category], ["price": 2.0, "category": category]])
      for item in items { try world.edit(item, "tags", add: tags) }
      try expect(
        world.table(
          of: "Category", ["sum:(items.price)", "count:(items.tags)", "count:(items.tags.label)"]),
        ["4.0 | 4 | 4"])
    },
    StoreScenario("an average over members weighs members, not rows") { world in
      let categories: [RowID] = try world.insert("Category", [["name": "a"], ["name": "b"], ["name": "c"]])
      try world.insert(
        "Item",
        [
          ["price": 1.0, "category": categories[0]], ["price": 2.0, "category": categories[1]],
          ["price": 6.0, "category": categories[1]], ["category": categories[1]],
        ])
      try expect(
        world.table(
          of: "Category",
          ["average:(items.price)", "items.@avg.price", "items.price.@count", "count:(items.price)"],
          group: ["rank"]),
        ["3.0 | 2.25 | 4 | 3"])
    },
    StoreScenario("nil on the way to a collection holds no members") { world in
      try fillWithSales(world)
      try expect(
        world.table(
          of: "Item", ["title", "count:(category.items)"], where: "title IN {'plum', 'stray'}",
          group: ["title"]),
        ["plum | 2", "stray | 0"])
    },
    StoreScenario("a subquery's members are counted") { world in
      try fillWithSales(world)
      try expect(
        world.table(
          of: "Category", ["name", "SUBQUERY(items, $i, $i.price > 1).@count"], sort: ["name"]),
        ["empty | 0", "fruit | 2", "tools | 0"])
      try expect(
        world.table(of: "Category", ["count:(SUBQUERY(items, $i, $i.priority > 1))"], group: ["rank"]),
        ["3"])
    },
  ]

  // MARK: Decimals

  private static let decimals: [StoreScenario] = [
    StoreScenario("groups of decimals come by number, however many digits they have") { world in
      let texts: [String] = ["2", "1.00000000000000000001", "-3.5", "1.00000000000000000001", "10"]
      try world.insert("Everything", texts.map { ["decimal": Decimal(string: $0) ?? 0] })
      try expect(
        world.table(of: "Everything", ["decimal", "count:(SELF)"], group: ["decimal"]),
        ["-3.5 | 1", "1.00000000000000000001 | 2", "2 | 1", "10 | 1"])
    },
    StoreScenario("decimals are added exactly") { world in
      let texts: [String] = ["0.1", "0.2", "12345678901234567890.123456789", "-0.05"]
      try world.insert("Everything", texts.map { ["decimal": Decimal(string: $0) ?? 0] } + [[:]])
      let table: ProjectedRows = try world.valueTable(
        of: "Everything",
        ["sum:(decimal)", "min:(decimal)", "max:(decimal)", "count:(decimal)", "average:(decimal)"])
      func decimal(_ text: String) -> PredicateValue { .decimal(Decimal(string: text) ?? 0) }
      try expect(table[0, 0], decimal("12345678901234567890.373456789"))
      try expect(table[0, 1], decimal("-0.05"))
      try expect(table[0, 2], decimal("12345678901234567890.123456789"))
      try expect(table[0, 3], .integer(4))
      try expect(
        table[0, 4], .decimal((Decimal(string: "12345678901234567890.373456789") ?? 0) / Decimal(4)))
      try expect(
        world.table(
          of: "Everything", ["count:(decimal)"], where: "decimal < 1", group: ["bool"],
          having: "sum:(decimal) > 0.2 AND sum:(decimal) < 0.3"),
        ["3"])
    },
  ]

  // MARK: What is refused

  private static let tableErrors: [StoreScenario] = [
    StoreScenario("what is neither grouped nor aggregated is refused, rows or not") { world in
      for fill in [false, true] {
        if fill { try fillWithSales(world) }
        try expectUnsupported("title beside a group") {
          try world.table(of: "Item", ["title", "count:(SELF)"], group: ["category"])
        }
        try expectUnsupported("title beside a function") {
          try world.table(of: "Item", ["title", "count:(SELF)"])
        }
        try expectUnsupported("an order by what is not grouped") {
          try world.table(of: "Item", ["category"], group: ["category"], sort: ["title"])
        }
        // One row is in order whatever the order; a key that is none is a mistake all the same.
        try expect(
          try world.table(of: "Item", ["count:(SELF)"], sort: ["title"]),
          try world.table(of: "Item", ["count:(SELF)"]))
        try expectUnsupported("an order by what is nothing") {
          try world.table(of: "Item", ["count:(SELF)"], sort: ["titel"])
        }
        try expectUnsupported("having about a row") {
          try world.table(of: "Item", ["category"], group: ["category"], having: "title == 'a'")
        }
        try expectUnsupported("having without groups") {
          try world.table(of: "Item", ["count:(SELF)"], having: "count:(SELF) > 1")
        }
        try expectUnsupported("a function within a function") {
          try world.table(of: "Item", ["sum:(max:(price))"])
        }
        try expectUnsupported("many values in a column") { try world.table(of: "Item", ["tags.label"]) }
        try expectUnsupported("a to-many key") {
          try world.table(of: "Item", ["count:(SELF)"], group: ["tags"])
        }
        try expectUnsupported("@count of one value") { try world.table(of: "Item", ["title.@count"]) }
      }
    },
    StoreScenario("unknown keys are refused in every part of a table") { world in
      let parts: [() throws -> [String]] = [
        { try world.table(of: "Item", ["titel"]) },
        { try world.table(of: "Item", ["sum:(prise)"]) },
        { try world.table(of: "Item", ["count:(SELF)"], group: ["categry"]) },
        { try world.table(of: "Item", ["title"], sort: ["titel"]) },
        { try world.table(of: "Item", ["category"], group: ["category"], having: "max:(prise) > 1") },
        { try world.table(of: "Item", ["title"], where: "titel == 1") },
      ]
      for part in parts {
        try expectError("an unknown key path") {
          _ = try part()
        } matches: { error in
          if case .unknownKeyPath? = error as? StoreError { return true }
          return false
        }
      }
    },
  ]

  private static func expectUnsupported(
    _ what: String, file: StaticString = #fileID, line: UInt = #line, _ body: () throws -> [String]
  ) throws {
    try expectError(what, file: file, line: line) {
      _ = try body()
    } matches: { error in
      switch error as? StoreError {
      case .unsupported, .invalid, .unknownKeyPath: return true
      default: return false
      }
    }
  }

  private struct SalesIDs {
    var items: [RowID]
    var categories: [RowID]
  }

  /// Five items in two of three categories, two tags.
  @discardableResult
  private static func fillWithSales(_ world: StoreWorld) throws -> SalesIDs {
    let categories: [RowID] = try world.insert(
      "Category", [["name": "fruit"], ["name": "tools"], ["name": "empty"]])
    let tags: [RowID] = try world.insert("Tag", [["label": "ripe"], ["label": "new"]])
    func day(_ number: Int) -> Date { Date(timeIntervalSinceReferenceDate: Double(number) * 86_400) }
    let items: [RowID] = try world.insert(
      "Item",
      [
        [
          "title": "plum", "price": 1.5, "priority": 1, "isDone": true, "due": day(4),
          "category": categories[0],
        ],
        ["title": "pear", "price": 3.0, "priority": 2, "isDone": false, "category": categories[0]],
        ["title": "bolt", "price": 0.5, "priority": 3, "isDone": false, "category": categories[1]],
        ["title": "nut", "priority": 4, "isDone": true, "due": day(2), "category": categories[1]],
        ["title": "stray", "price": 9.0, "priority": 5],
      ])
    try world.edit(items[0], "tags", add: tags)
    try world.edit(items[3], "tags", add: [tags[1]])
    return SalesIDs(items: items, categories: categories)
  }
}

extension StoreWorld {
  /// A table of expressions as the format language writes them. A minus before a term of
  /// the order: descending.
  package func valueTable(
    of entityName: String, _ columns: [String], where format: String? = nil, group: [String] = [],
    having: String? = nil, arguments: [Any?] = [], sort: [String] = [], isDistinct: Bool = false,
    limit: Int = 0, offset: Int = 0
  ) throws -> ProjectedRows {
    func expression(_ text: String) throws -> ExpressionNode {
      try NSExpression(parsing: text).expressionNode()
    }
    var plan = ProjectionPlan(
      rows: try plan(entityName, where: format),
      columns: try columns.map { ProjectionColumn(name: $0, expression: try expression($0)) })
    plan.groups = try group.map(expression)
    plan.having = try having.map { try self.plan(entityName, where: $0, arguments).predicate } ?? nil
    plan.order = try sort.map { term in
      let isDescending: Bool = term.hasPrefix("-")
      return ProjectionOrder(
        try expression(isDescending ? String(term.dropFirst()) : term), ascending: !isDescending)
    }
    plan.isDistinct = isDistinct
    plan.limit = limit
    plan.offset = offset
    return try engine.fetch(plan)
  }

  /// The rows as text: `apple | 3 | nil`.
  package func table(
    of entityName: String, _ columns: [String], where format: String? = nil, group: [String] = [],
    having: String? = nil, arguments: [Any?] = [], sort: [String] = [], isDistinct: Bool = false,
    limit: Int = 0, offset: Int = 0
  ) throws -> [String] {
    let table: ProjectedRows = try valueTable(
      of: entityName, columns, where: format, group: group, having: having, arguments: arguments, sort: sort,
      isDistinct: isDistinct, limit: limit, offset: offset)
    return (0..<table.count).map { row in table.row(row).map(text).joined(separator: " | ") }
  }

  private func text(_ value: PredicateValue) -> String {
    switch value {
    case .null, .nullObject: return "nil"
    case .date(let date):
      return date.formatted(Date.ISO8601FormatStyle().year().month().day())
    case .object(let box):
      guard let id = (box.value as? ObjectReference)?.id else { return "no object" }
      return "\(layout.entities[Int(id.entity)].name) \(id.key)"
    default: return value.anyValue.map { "\($0)" } ?? "nil"
    }
  }
}
