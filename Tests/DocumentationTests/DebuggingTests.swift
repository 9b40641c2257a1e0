import CoreData
import Testing

@MainActor @Suite struct DebuggingTests {
  @Test func `a fetch shows its statement`() throws {
    let shop = try Shop()
    let context = shop.context
    // snippet explain
    let request = Product.fetchRequest()
    request.predicate = NSPredicate(format: "maker.name == %@ AND price > 10", "Acme")
    for statement in try request.explain(in: context) { print(statement) }
    // end
    let statement = try #require(try request.explain(in: context).first)
    #expect(statement.sql.contains("JOIN"))
    #expect(statement.evaluatedInMemory.isEmpty)
    #expect(!statement.queryPlan.isEmpty)
  }

  @Test func `statements go to a handler`() throws {
    final class Logger: Sendable {
      let lines = Lines()
      func debug(_ line: String) { lines.append(line) }
    }
    let shop = try Shop()
    let logger = Logger()
    defer { (CoreDataLog.handler, CoreDataLog.sqlLevel) = (nil, 0) }
    // snippet log
    CoreDataLog.handler = { entry in
      logger.debug("\(entry.text) \(entry.rows ?? 0)")
    }
    CoreDataLog.sqlLevel = 1
    // end
    try shop.fill(3)
    _ = try shop.context.fetch(Product.fetchRequest())
    #expect(logger.lines.all.contains { $0.contains("FROM ZPRODUCT") && $0.hasSuffix(" 3") })
  }

  /// Lines of several threads: other tests run statements meanwhile.
  private final class Lines: @unchecked Sendable {
    // Sendable: guarded by the lock.
    private let lock = NSLock()
    private var lines: [String] = []
    func append(_ line: String) { lock.withLock { lines.append(line) } }
    var all: [String] { lock.withLock { lines } }
  }

  @Test func `statistics count what a loop reads`() throws {
    let shop = try Shop()
    for name in ["Acme", "Bolt", "Cask", "Dune"] { try shop.fill(2, maker: name) }
    let context = shop.context
    // snippet statistics
    context.resetStatistics()
    let products = try context.fetch(Product.fetchRequest())
    for product in products { _ = product.maker?.name }
    print(context.statistics)
    // end
    #expect(context.statistics.statements == 3 && context.statistics.rows == 12)
    // snippet policy
    context.faultingPolicy = .explain
    // end
    #expect(context.faultingPolicy == .explain)
  }

  @Test func `a predicate names its mistakes`() throws {
    let shop = try Shop()
    let entity = try #require(shop.container.managedObjectModel.entitiesByName["Product"])
    // snippet problems
    let predicate = NSPredicate(format: "nam == 'Lamp' AND price > 'dear'")
    let problems = predicate.problems(for: entity)
    for problem in problems { print(problem) }
    // end
    #expect(problems.count == 2)
    #expect("\(problems)".contains("name"))
  }

  @Test func `a fetch throws all of them at once`() throws {
    let shop = try Shop()
    let request = Product.fetchRequest()
    request.predicate = NSPredicate(format: "nam == 'Lamp' AND price > 'dear'")
    let error = try #require(throws: (any Error).self) { try shop.context.fetch(request) }
    #expect("\(error)".contains("nam"))
    #expect("\(error)".contains("price"))
  }

  @Test func `a model names its mistakes`() throws {
    let entity = NSEntityDescription()
    entity.name = "Product"
    let model = NSManagedObjectModel()
    let maker = NSRelationshipDescription()
    maker.name = "maker"
    entity.properties = [maker]
    model.entities = [entity]
    // snippet model
    for problem in model.problems() { print(problem) }
    // end
    #expect(!model.problems().isEmpty)
  }
}
