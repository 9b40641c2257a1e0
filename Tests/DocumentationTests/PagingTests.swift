import CoreData
import Testing

@MainActor @Suite struct PagingTests {
  @Test func `results of a long list are a collection`() throws {
    let shop = try Shop()
    try shop.fill(1000)
    let context = shop.context
    var total = 0.0
    // snippet results
    let request = Product.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    request.fetchBatchSize = 100
    let products = try context.results(of: request)
    print(products.count, products[50].name ?? "")
    for product in products { total += product.price }
    // end
    #expect(total == 499_500)
    #expect(context.registeredObjects.count <= 201)
  }

  @Test func `walks pass objects and values`() async throws {
    let shop = try Shop()
    try shop.fill(1000)
    let container = shop.container
    let context = shop.context
    var total = 0.0
    var sum = 0.0
    // snippet walk
    for try await product in context.walk(Product.fetchRequest()) { total += product.price }

    let background = container.newBackgroundContext()
    let prices = background.walk(Product.fetchRequest(), transform: { $0.price })
    for try await price in prices { sum += price }
    // end
    #expect(total == 499_500 && sum == 499_500)
  }

  @Test func `pages go on after the last row seen`() throws {
    let shop = try Shop()
    try shop.fill(95)
    let context = shop.context
    // snippet pages
    func page(after last: Product?, size: Int) throws -> [Product] {
      let request = Product.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(key: "price", ascending: true)]
      request.fetchLimit = size
      if let last { request.predicate = NSPredicate(format: "price > %lf", last.price) }
      return try context.fetch(request)
    }
    // end
    var names: [String] = []
    var last: Product?
    while true {
      let products = try page(after: last, size: 20)
      if products.isEmpty { break }
      names += products.compactMap(\.name)
      last = products.last
    }
    #expect(names.count == 95)
    #expect(Set(names).count == 95)
  }

  @Test func `counts and values make no objects`() throws {
    let shop = try Shop()
    try shop.fill(10)
    let context = shop.context
    // snippet values
    let all = Product.fetchRequest()
    let count = try context.count(for: all)

    let prices = NSFetchRequest<NSDictionary>(entityName: "Product")
    prices.resultType = .dictionaryResultType
    let highest = NSExpressionDescription()
    highest.name = "highest"
    highest.expression = NSExpression(format: "max:(price)")
    highest.expressionResultType = .doubleAttributeType
    prices.propertiesToFetch = ["maker.name", highest]
    prices.propertiesToGroupBy = ["maker.name"]
    let rows = try context.fetch(prices)
    // end
    #expect(count == 10)
    #expect(rows.count == 1)
    #expect(rows.first?["highest"] as? Double == 9)
    #expect(rows.first?["maker.name"] as? String == "Acme")
  }

  @Test func `an import saves and resets in portions`() throws {
    let shop = try Shop()
    let container = shop.container
    let names = (0..<2500).map { "Import \($0)" }
    // snippet import
    let context = container.newBackgroundContext()
    try context.performAndWait {
      context.undoManager = nil
      for (number, name) in names.enumerated() {
        let product = Product(context: context)
        product.name = name
        if number % 1000 == 999 {
          try context.save()
          context.reset()
        }
      }
      try context.save()
    }
    // end
    #expect(try shop.context.count(for: Product.fetchRequest()) == 2500)
    #expect(context.performAndWait { context.registeredObjects.count } <= 500)
  }

  @Test func `many are deleted in portions`() throws {
    let shop = try Shop()
    try shop.fill(2500)
    let container = shop.container
    // snippet delete
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let request = Product.fetchRequest()
      request.predicate = NSPredicate(format: "price < 2000")
      request.includesPropertyValues = false
      request.fetchLimit = 500
      while true {
        let portion = try context.fetch(request)
        if portion.isEmpty { break }
        for product in portion { context.delete(product) }
        try context.save()
        context.reset()
      }
    }
    // end
    #expect(try shop.context.count(for: Product.fetchRequest()) == 500)
  }

  @Test func `related objects come with one query`() throws {
    let shop = try Shop()
    for number in 0..<30 { try shop.fill(1, maker: "Maker \(number)") }
    let context = shop.context
    // snippet prefetch
    let request = Product.fetchRequest()
    request.relationshipKeyPathsForPrefetching = ["maker"]
    let makers = try context.fetch(request).compactMap { $0.maker?.name }
    // end
    #expect(Set(makers).count == 30)
  }
}
