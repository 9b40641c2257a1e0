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
