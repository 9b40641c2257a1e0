import CoreDataStorage
import Foundation

/// Which rows a fetch gives, and in which order.
extension StoreScenario {
  static let fetchScenarios: [StoreScenario] = [
    StoreScenario("nil sorts first ascending and last descending") { world in
      try world.insert("Item", [["title": "b"], [:], ["title": "a"]])
      try expect(world.fetch("title", of: "Item", sort: ["title"]), ["nil", "a", "b"])
      try expect(world.fetch("title", of: "Item", sort: ["-title"]), ["b", "a", "nil"])
    },
    StoreScenario("terms of an order count from first to last") { world in
      try world.insert(
        "Item",
        [
          ["title": "a", "priority": 1], ["title": "b", "priority": 2], ["title": "c", "priority": 1],
          ["title": "d", "priority": 2],
        ])
      try expect(world.fetch("title", of: "Item", sort: ["priority", "-title"]), ["c", "a", "d", "b"])
    },
    StoreScenario("text sorts by code points, or as its comparison says") { world in
      try world.insert("Tag", ["b", "Z", "a", "é", "z"].map { ["label": $0] })
      try expect(world.fetch("label", of: "Tag", sort: ["label"]), ["Z", "a", "b", "z", "é"])
      var plan: FetchPlan = try world.plan("Tag", where: "label != %@", ["é"])
      plan.order = [
        FetchOrder(keyPath: "label", comparison: .caseInsensitive), FetchOrder(keyPath: "label"),
      ]
      var labels: [String] = []
      try world.engine.fetch(plan).forEach { labels.append(try world.text($0, "label") ?? "nil") }
      try expect(labels, ["a", "b", "Z", "z"])
    },
    StoreScenario("an order may follow to-one relationships") { world in
      let categories: [RowID] = try world.insert("Category", [["name": "z"], ["name": "a"]])
      try world.insert(
        "Item",
        [
          ["title": "1", "category": categories[0]], ["title": "2"],
          ["title": "3", "category": categories[1]],
        ])
      try expect(world.fetch("title", of: "Item", sort: ["category.name"]), ["2", "3", "1"])
    },
    StoreScenario("limit and offset cut the ordered result") { world in
      try world.insert("Tag", (0..<10).map { ["label": "\($0)"] })
      try expect(world.fetch("label", of: "Tag", sort: ["-label"], limit: 3, offset: 2), ["7", "6", "5"])
      try expect(world.fetch("label", of: "Tag", sort: ["label"], offset: 8), ["8", "9"])
      try expect(world.fetch("label", of: "Tag", sort: ["label"], limit: 5, offset: 20), [])
    },
    StoreScenario("a parent's fetch gives its sub-entities' rows, or only its own") { world in
      try world.insert("Cat", [["name": "Tom"]])
      try world.insert("HouseCat", [["name": "Kit"]])
      try world.insert("Dog", [["name": "Rex"]])
      try expect(world.fetch("name", of: "Animal", sort: ["name"]), ["Kit", "Rex", "Tom"])
      try expect(world.fetch("name", of: "Cat", sort: ["name"]), ["Kit", "Tom"])
      try expect(world.fetch("name", of: "Cat", includesSubentities: false), ["Tom"])
      try expect(world.fetch("name", of: "Animal", includesSubentities: false), [])
    },
    StoreScenario("an unknown key path is refused before anything is read") { world in
      for (format, sort) in [("titel == 'x'", []), (nil, ["titel"]), ("category.nam == 'x'", [])]
        as [(String?, [String])]
      {
        try expectError("an unknown key path") {
          _ = try world.engine.fetch(world.plan("Item", where: format, sort: sort))
        } matches: { error in
          if case .unknownKeyPath? = error as? StoreError { return true }
          return false
        }
      }
    },
    StoreScenario("an empty store answers every question") { world in
      try expect(world.fetch("title", of: "Item", where: "title == 'x'", sort: ["title"], limit: 3), [])
      try expect(world.engine.rows(of: world.entity("Item"), keys: []).count, 0)
    },
  ]

  static let predicateScenarios: [StoreScenario] = {
    /// format, arguments, the titles expected, in title order.
    let cases: [(format: String, arguments: [any Sendable], titles: [String])] = [
      ("title == 'apple'", [], ["apple"]),
      ("title != 'apple'", [], ["Äpfel", "banana", "nil"]),
      ("NOT (title == 'apple')", [], ["Äpfel", "banana", "nil"]),
      ("title == nil", [], ["nil"]),
      ("title != nil", [], ["Äpfel", "apple", "banana"]),
      ("title BEGINSWITH 'ap'", [], ["apple"]),
      ("title BEGINSWITH[cd] 'ap'", [], ["Äpfel", "apple"]),
      ("title ENDSWITH 'na'", [], ["banana"]),
      ("title CONTAINS[c] 'AN'", [], ["banana"]),
      ("title LIKE '?pp*'", [], ["apple"]),
      ("title MATCHES '[ab].+'", [], ["apple", "banana"]),
      ("title IN {'apple', 'nope', 'banana'}", [], ["apple", "banana"]),
      ("title IN %@", [["banana"]], ["banana"]),
      ("title IN {}", [], []),
      ("priority > 1", [], ["Äpfel", "banana"]),
      ("priority >= 1 AND priority <= 2", [], ["apple", "banana"]),
      ("priority BETWEEN {2, 3}", [], ["Äpfel", "banana"]),
      ("priority == 1 OR title == 'banana'", [], ["apple", "banana"]),
      ("isDone == YES", [], ["apple"]),
      ("price != nil AND price * 2 > priority", [], ["Äpfel", "apple"]),
      ("due >= %@ AND due < %@", [date(10), date(30)], ["apple", "banana"]),
      ("TRUEPREDICATE", [], ["Äpfel", "apple", "banana", "nil"]),
      ("FALSEPREDICATE", [], []),
      ("category.name == 'fruit'", [], ["apple", "banana"]),
      ("category.name == nil", [], ["Äpfel", "nil"]),
      ("category == nil", [], ["Äpfel", "nil"]),
      ("ANY tags.label == 'red'", [], ["apple"]),
      ("ANY tags.label IN {'red', 'yellow'}", [], ["apple", "banana"]),
      ("NONE tags.label == 'red'", [], ["Äpfel", "banana", "nil"]),
      ("tags.@count == 0", [], ["Äpfel", "nil"]),
      ("tags.@count > 1", [], ["apple"]),
      ("SUBQUERY(tags, $t, $t.label BEGINSWITH 'r').@count == 2", [], ["apple"]),
    ]
    return cases.map { entry in
      StoreScenario("predicate: \(entry.format)") { world in
        try fillWithFruit(world)
        let titles: [String] = try world.fetch(
          "title", of: "Item", where: entry.format, entry.arguments)
        try expect(titles.sorted(), entry.titles.sorted())
      }
    } + objectScenarios
  }()

  private static let objectScenarios: [StoreScenario] = [
    StoreScenario("predicates compare objects by id") { world in
      let (items, categories) = try fillWithFruit(world)
      func titles(_ format: String, _ arguments: [Any?]) throws -> [String] {
        try world.fetch("title", of: "Item", where: format, arguments, sort: ["priority"])
      }
      try expect(titles("SELF == %@", [items[1]]), ["banana"])
      try expect(titles("SELF != %@", [items[1]]), ["nil", "apple", "Äpfel"])
      try expect(titles("SELF IN %@", [[items[0], items[2]]]), ["apple", "Äpfel"])
      try expect(titles("category == %@", [categories[0]]), ["apple", "banana"])
      try expect(titles("category != %@", [categories[0]]), ["nil", "Äpfel"])
      try expect(titles("category IN %@", [[categories[0], categories[1]]]), ["apple", "banana"])
      try expect(
        world.fetch("name", of: "Category", where: "ANY items == %@", [items[0]]), ["fruit"])
      try expect(
        world.fetch("name", of: "Category", where: "%@ IN items", [items[0]]), ["fruit"])
    },
    StoreScenario("an object of another store equals nothing") { world in
      try fillWithFruit(world)
      let stranger = PredicateArgument.unsaved
      try expect(world.fetch("title", of: "Item", where: "SELF == %@", [stranger]), [])
      try expect(world.fetch("title", of: "Item", where: "category == %@", [stranger]), [])
    },
  ]

  private static func date(_ day: Int) -> Date { Date(timeIntervalSinceReferenceDate: Double(day) * 86_400) }

  /// Four items, two categories (one empty), three tags.
  @discardableResult
  private static func fillWithFruit(_ world: StoreWorld) throws -> (items: [RowID], categories: [RowID]) {
    let categories: [RowID] = try world.insert("Category", [["name": "fruit"], ["name": "tools"]])
    let tags: [RowID] = try world.insert("Tag", [["label": "red"], ["label": "round"], ["label": "yellow"]])
    let items: [RowID] = try world.insert(
      "Item",
      [
        [
          "title": "apple", "priority": 1, "price": 1.5, "isDone": true, "due": date(10),
          "category": categories[0],
        ],
        [
          "title": "banana", "priority": 2, "price": 0.5, "isDone": false, "due": date(20),
          "category": categories[0],
        ],
        ["title": "Äpfel", "priority": 3, "price": 4.0, "isDone": false, "due": date(30)],
        [:],
      ])
    try world.edit(items[0], "tags", add: [tags[0], tags[1]])
    try world.edit(items[1], "tags", add: [tags[2]])
    return (items, categories)
  }
}
