import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

// Foundation has a class of that name, which can't be used.
private typealias NSExpression = CoreData.NSExpression

/// Fetches that return dictionaries: columns, functions, groups. What stores make of them is in
/// `StoreConformance`; here is what a request may say and what its dictionaries hold.
@Suite
struct DictionaryFetchTests {
  /// Items a…f: count 0…5, price 0.5 × count, none for d; a and b in category "one", c and d in "two",
  /// e and f in none.
  private func filled(_ kind: StoreKind) throws -> Stack {
    let stack = try Stack(kind)
    try stack.elsewhere { context in
      let categories: [Category?] = [context.category("one"), context.category("two"), nil]
      for (number, title) in ["a", "b", "c", "d", "e", "f"].enumerated() {
        let item: Item = context.item(title, categories[number / 2])
        item.count = Int64(number)
        if title == "d" { item.setValue(nil, forKey: "price") } else { item.price = Double(number) / 2 }
        item.done = number.isMultiple(of: 2)
      }
      try context.save()
    }
    return stack
  }

  private func column(
    _ name: String, _ expression: NSExpression, _ type: NSAttributeType = .undefinedAttributeType
  ) -> NSExpressionDescription {
    let description = NSExpressionDescription()
    description.name = name
    description.expression = expression
    description.expressionResultType = type
    return description
  }

  private func function(_ name: String, _ keyPath: String) -> NSExpression {
    NSExpression(forFunction: name, arguments: [NSExpression(forKeyPath: keyPath)])
  }

  private func dictionaries(
    _ context: NSManagedObjectContext, _ entity: String = "Item", sort: [String] = [],
    _ configure: (NSFetchRequest<NSDictionary>) -> Void
  ) throws -> [[String: Any]] {
    let request: NSFetchRequest<NSDictionary> = context.request(NSDictionary.self, entity, sort: sort)
    request.resultType = .dictionaryResultType
    configure(request)
    let rows: [NSDictionary] = try context.fetch(request)
    #expect(try context.count(for: request) == rows.count)
    return try #require(rows as? [[String: Any]])
  }

  @Test(.rule("FETCH-11", "NSFetchRequest.propertiesToFetch"), arguments: StoreKind.computing)
  func `names, descriptions and expressions are columns`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let title = try #require(
        NSEntityDescription.entity(forEntityName: "Item", in: context)?.attributesByName["title"])
      let rows = try dictionaries(context, sort: ["title"]) { request in
        request.predicate = NSPredicate(format: "title IN {'b', 'd'}")
        request.propertiesToFetch = [
          title, "price", "category.name", "category", "objectID",
          column("twice", NSExpression(format: "price * 2")),
          column("itself", .expressionForEvaluatedObject()),
          column(
            "upper", NSExpression(forFunction: "uppercase:", arguments: [NSExpression(forKeyPath: "title")])),
          column("one", NSExpression(forConstantValue: 1)),
        ]
      }
      #expect(rows.count == 2)
      #expect(rows[0]["title"] as? String == "b" && rows[0]["upper"] as? String == "B")
      #expect(rows[0]["price"] as? Double == 0.5 && rows[0]["twice"] as? Double == 1)
      #expect(rows[0]["category.name"] as? String == "one" && rows[0]["one"] as? Int == 1)
      let b: Item = try #require(
        try context.all(Item.self, "Item", NSPredicate(format: "title == 'b'")).first)
      for key in ["objectID", "itself"] { #expect(rows[0][key] as? NSManagedObjectID == b.objectID) }
      #expect(rows[0]["category"] as? NSManagedObjectID == b.category?.objectID)
      // nil has no entry.
      #expect(
        Set(rows[1].keys) == ["title", "category.name", "category", "objectID", "itself", "upper", "one"])
    }
  }

  @Test(arguments: StoreKind.computing)
  func `without columns a row has all attributes, a group its keys`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let rows = try dictionaries(context, sort: ["title"]) { _ in }
      #expect(rows.count == 6 && Set(rows[0].keys) == ["title", "price", "count", "done"])
      let groups = try dictionaries(context) { $0.propertiesToGroupBy = ["done"] }
      #expect(groups.map { $0["done"] as? Bool } == [false, true])
    }
  }

  @Test(arguments: StoreKind.computing)
  func `functions over all rows make one dictionary`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let rows = try dictionaries(context) { request in
        request.propertiesToFetch = [
          column("n", function("count:", "title")), column("prices", function("count:", "price")),
          column("sum", function("sum:", "count")), column("least", function("min:", "price")),
          column("greatest", function("max:", "title")), column("mean", function("average:", "count")),
          column("ratio", NSExpression(format: "sum(count) / count(title)")),
        ]
      }
      #expect(rows.count == 1)
      #expect(rows[0]["n"] as? Int == 6 && rows[0]["prices"] as? Int == 5 && rows[0]["sum"] as? Int == 15)
      #expect(rows[0]["least"] as? Double == 0 && rows[0]["greatest"] as? String == "f")
      #expect(rows[0]["mean"] as? Double == 2.5 && rows[0]["ratio"] as? Int == 2)
      let none = try dictionaries(context) { request in
        request.predicate = NSPredicate(value: false)
        request.propertiesToFetch = [
          column("sum", function("sum:", "count")), column("max", function("max:", "price")),
        ]
      }
      #expect(none.count == 1 && none[0]["sum"] as? Int == 0 && none[0]["max"] == nil)
    }
  }

  @Test(.rule("FETCH-14", "NSFetchRequest.havingPredicate"), arguments: StoreKind.computing)
  func `groups are asked by the column's name, its variable or its expression`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    let conditions: [NSPredicate] = [
      NSPredicate(format: "total > 1"), NSPredicate(format: "$total > 1"),
      NSPredicate(format: "%@ > 1", NSExpression(forVariable: "total")),
      NSPredicate(format: "%K > 1", "total"), NSPredicate(format: "sum(price) > 1"),
      NSPredicate(format: "%@ > 1", function("sum:", "price")), NSPredicate(format: "total BETWEEN {1.1, 9}"),
      NSPredicate(format: "category.name == nil"), NSPredicate(format: "NOT (total <= 1)"),
    ]
    try stack.run { context in
      for condition in conditions {
        let rows = try dictionaries(context) { request in
          request.propertiesToGroupBy = ["category.name"]
          request.propertiesToFetch = ["category.name", column("total", function("sum:", "price"))]
          request.havingPredicate = condition
        }
        #expect(rows.count == 1, "\(condition)")
        #expect(rows.first?["total"] as? Double == 4.5, "\(condition)")
        #expect(rows.first?["category.name"] == nil)
      }
    }
  }

  @Test(arguments: StoreKind.computing)
  func `a column may be named as the attribute it sums`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let rows = try dictionaries(context, sort: ["-price"]) { request in
        request.propertiesToGroupBy = [column("name", NSExpression(forKeyPath: "category.name"))]
        request.propertiesToFetch = [
          column("name", NSExpression(forKeyPath: "category.name")),
          column("price", function("sum:", "price")),
        ]
        request.havingPredicate = NSPredicate(format: "price >= 0.5 AND name != 'three'")
      }
      #expect(rows.map { $0["price"] as? Double } == [4.5, 1, 0.5])
      #expect(rows.map { $0["name"] as? String } == [nil, "two", "one"])
    }
  }

  @Test(arguments: StoreKind.computing)
  func `functions over all rows take no notice of an order`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      for sort in [[], ["price"], ["-price"], ["title", "total"], ["category.name"]] {
        let rows = try dictionaries(context, sort: sort) { request in
          request.propertiesToFetch = [column("total", function("sum:", "price"))]
        }
        #expect(rows.map { $0["total"] as? Double } == [6], "\(sort)")
      }
      let error: NSError? = errorThrown {
        _ = try dictionaries(context, sort: ["prize"]) { request in
          request.propertiesToFetch = [column("total", function("sum:", "price"))]
        }
      }
      #expect(error?.localizedDescription.contains("prize") == true)
    }
  }

  @Test(arguments: StoreKind.computing)
  func `an order may name a column, a key of the groups or a property`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      func totals(_ sort: [String], limit: Int = 0, offset: Int = 0) throws -> [Double?] {
        try dictionaries(context, sort: sort) { request in
          request.propertiesToGroupBy = ["category"]
          request.propertiesToFetch = [column("total", function("sum:", "price"))]
          request.fetchLimit = limit
          request.fetchOffset = offset
        }.map { $0["total"] as? Double }
      }
      #expect(try totals(["total"]) == [0.5, 1, 4.5])
      #expect(try totals(["-total"], limit: 1, offset: 1) == [1])
      #expect(try totals(["category"]) == [4.5, 0.5, 1])
      let rows = try dictionaries(context, sort: ["-twice"]) { request in
        request.propertiesToFetch = ["title", column("twice", NSExpression(format: "count * 2"))]
        request.fetchLimit = 2
      }
      #expect(rows.map { $0["title"] as? String } == ["f", "e"])
      let byCategory = try dictionaries(context, sort: ["-category.name", "title"]) {
        $0.propertiesToFetch = ["title"]
      }
      #expect(byCategory.compactMap { $0["title"] as? String }.joined() == "cdabef")
    }
  }

  @Test(arguments: StoreKind.computing)
  func `result types turn values into the kind asked for`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    let sum: NSExpression = function("sum:", "price")
    try stack.run { context in
      func value(_ expression: NSExpression, _ type: NSAttributeType) throws -> Any? {
        try dictionaries(context) { request in
          request.predicate = NSPredicate(format: "title == 'd' OR title == 'f'")
          request.propertiesToFetch = [column("x", expression, type)]
        }[0]["x"]
      }
      #expect(try value(sum, .integer64AttributeType) as? NSNumber == 2)
      #expect(try value(sum, .integer16AttributeType) as? Int == 2)
      #expect(try value(sum, .doubleAttributeType) as? Double == 2.5)
      #expect(try value(sum, .floatAttributeType) as? Float == 2.5)
      #expect(try value(sum, .decimalAttributeType) as? NSDecimalNumber == NSDecimalNumber(string: "2.5"))
      #expect(try value(sum, .booleanAttributeType) as? Bool == true)
      #expect(try value(sum, .stringAttributeType) as? String == "2.5")
      #expect(
        try value(sum, .dateAttributeType) as? Date == Date(timeIntervalSinceReferenceDate: 2.5))
      #expect(try value(function("count:", "title"), .floatAttributeType) as? Int64 == 2)
      let error = try #require(errorThrown { _ = try value(function("max:", "title"), .doubleAttributeType) })
      #expect(error.localizedDescription.contains("'x'"), "\(error)")
    }
  }

  @Test(arguments: StoreKind.computing)
  func `every kind of attribute comes as key-value coding gives it`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    let values: [String: Any] = [
      "i16": 1, "i32": 2, "i64": 3, "flag": true, "double": 1.5, "float": Float(0.25),
      "date": Date(timeIntervalSinceReferenceDate: 10), "decimal": Decimal(string: "1.10") ?? 0, "text": "t",
      "uri": url("https://example.org"), "uuid": UUID(), "bytes": Data([1, 2]), "thing": ["x", "y"],
    ]
    try stack.run { context in
      let object: NSManagedObject = context.make("Kinds", values)
      try context.save()
      let rows = try dictionaries(context, "Kinds") { _ in }
      #expect(rows.count == 1 && Set(rows[0].keys) == Set(values.keys))
      for key in values.keys.sorted() {
        let found = rows[0][key] as? NSObject
        #expect(found != nil && found?.isEqual(object.value(forKey: key)) == true, "\(key)")
      }
    }
  }

  @Test(.rule("FETCH-3", "NSFetchRequest.includesPendingChanges"), arguments: StoreKind.computing)
  func `dictionaries show the store, not unsaved changes`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      items[0].count = 100
      context.delete(items[1])
      _ = context.item("new")
      let rows = try dictionaries(context) { request in
        request.propertiesToFetch = [
          column("n", function("count:", "title")), column("max", function("max:", "count")),
        ]
      }
      #expect(rows[0]["n"] as? Int == 6 && rows[0]["max"] as? Int == 5)
    }
  }

  @Test(arguments: StoreKind.computing)
  func `members of relationships are counted for each row or over groups`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let rows = try dictionaries(context, "Category", sort: ["name"]) { request in
        request.propertiesToFetch = ["name", column("n", NSExpression(forKeyPath: "items.@count"))]
      }
      #expect(rows.map { $0["n"] as? Int } == [2, 2])
      for expression in [function("count:", "items"), NSExpression(forKeyPath: "items.title.@count")] {
        let groups = try dictionaries(context, "Category") { request in
          request.propertiesToGroupBy = ["rank"]
          request.propertiesToFetch = [column("n", expression)]
        }
        #expect(groups.map { $0["n"] as? Int } == [4])
      }
    }
  }

  @Test(arguments: StoreKind.computing)
  func `several stores answer as one`(kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    for name in ["first", "second"] {
      try coordinator.addPersistentStore(
        ofType: kind.type, configurationName: nil,
        at: kind.url("\(name)", in: folder))
    }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for (number, title) in ["a", "b", "a", "c"].enumerated() {
        let item: Item = context.item(title)
        item.count = Int64(number)
        context.assign(item, to: coordinator.persistentStores[number % 2])
      }
      try context.save()
      let groups = try dictionaries(context, sort: ["-n", "title"]) { request in
        request.propertiesToGroupBy = ["title"]
        request.propertiesToFetch = ["title", column("n", function("count:", "title"))]
        request.fetchLimit = 2
      }
      #expect(groups.map { $0["title"] as? String } == ["a", "b"])
      #expect(groups.map { $0["n"] as? Int } == [2, 1])
      let rows = try dictionaries(context, sort: ["-count"]) { request in
        request.propertiesToFetch = ["count", "objectID"]
        request.fetchOffset = 1
      }
      #expect(rows.map { $0["count"] as? Int } == [2, 1, 0])
      #expect(
        rows.compactMap { ($0["objectID"] as? NSManagedObjectID)?.persistentStore?.identifier }
          == [0, 1, 0].map { coordinator.persistentStores[$0].identifier })
      let distinct = try dictionaries(context, sort: ["title"]) { request in
        request.propertiesToFetch = ["title"]
        request.returnsDistinctResults = true
      }
      #expect(distinct.map { $0["title"] as? String } == ["a", "b", "c"])
    }
  }

  @Test(arguments: StoreKind.computing)
  func `a comparator of the program's own sorts rows and groups`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    let backwards = NSSortDescriptor(key: "title", ascending: true) { left, right in
      (right as? String ?? "").compare(left as? String ?? "")
    }
    try stack.run { context in
      let rows = try dictionaries(context) { request in
        request.sortDescriptors = [backwards]
        request.propertiesToFetch = ["title"]
        request.fetchLimit = 3
        request.fetchOffset = 1
      }
      #expect(rows.compactMap { $0["title"] as? String }.joined() == "edc")
      let groups = try dictionaries(context) { request in
        request.sortDescriptors = [backwards]
        request.propertiesToGroupBy = ["title"]
        request.propertiesToFetch = ["title", column("n", function("count:", "title"))]
        request.fetchLimit = 2
      }
      #expect(groups.compactMap { $0["title"] as? String }.joined() == "fe")
    }
  }

  @Test func `the statement of a grouped fetch can be seen`() throws {
    let stack: Stack = try filled(.sqlite)
    try stack.run { context in
      let request: NSFetchRequest<NSDictionary> = context.request(NSDictionary.self, "Item", sort: ["-total"])
      request.resultType = .dictionaryResultType
      request.propertiesToGroupBy = ["category.name"]
      request.propertiesToFetch = ["category.name", column("total", function("sum:", "price"))]
      request.havingPredicate = NSPredicate(format: "total > 1")
      let explained: [FetchExplanation] = try request.explain(in: context)
      #expect(
        explained.map(\.sql) == [
          "SELECT t1.ZNAME, COALESCE(SUM(t0.ZPRICE), 0) FROM ZITEM t0 LEFT JOIN ZCATEGORY t1 ON t1.Z_PK = t0.ZCATEGORY "
            + "GROUP BY t1.ZNAME HAVING COALESCE(SUM(t0.ZPRICE), 0) > ? "
            + "ORDER BY COALESCE(SUM(t0.ZPRICE), 0) DESC, t1.ZNAME"
        ])
    }
  }

  @Test(
    .rule("FETCH-13", "NSFetchRequest.propertiesToGroupBy"),
    .rule("FETCH-14", "NSFetchRequest.havingPredicate", "it needs groups"), arguments: StoreKind.computing)
  func `requests that can't be answered say why`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    let cases: [(part: String, configure: (NSFetchRequest<NSDictionary>) -> Void)] = [
      (
        "title",
        {
          $0.propertiesToGroupBy = ["count"]
          $0.propertiesToFetch = ["title"]
        }
      ),
      ("titel", { $0.propertiesToFetch = ["titel"] }),
      ("tags", { $0.propertiesToFetch = ["tags"] }),
      (
        "havingPredicate",
        {
          $0.propertiesToFetch = ["title"]
          $0.havingPredicate = NSPredicate(format: "title == 'a'")
        }
      ),
      ("Int", { $0.propertiesToFetch = [3] }),
      ("name", { $0.propertiesToFetch = [NSExpressionDescription()] }),
      (
        "$what",
        {
          $0.propertiesToGroupBy = ["title"]
          $0.havingPredicate = NSPredicate(format: "$what > 1")
        }
      ),
    ]
    try stack.run { context in
      for (part, configure) in cases {
        let request: NSFetchRequest<NSDictionary> = context.request(NSDictionary.self, "Item")
        request.resultType = .dictionaryResultType
        configure(request)
        let error = errorThrown { _ = try context.fetch(request) }
        #expect(error?.localizedDescription.contains(part) == true, "\(part): \(String(describing: error))")
      }
      let objects: NSFetchRequest<Item> = context.request(Item.self, "Item")
      objects.propertiesToGroupBy = ["title"]
      #expect(codeThrown { _ = try context.fetch(objects) } == NSCoreDataError)
    }
  }
}
