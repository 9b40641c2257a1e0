import CoreData
import Foundation
import StackSupport
import Testing

/// `FETCH(request, context, countOnly)`, in memory and in the predicate of a fetch.
@Suite
struct FetchExpressionTests {
  @Test(arguments: StoreKind.allCases)
  func `a fetch inside a predicate chooses objects`(kind: StoreKind) throws {
    let stack: Stack = try Stack(kind)
    try stack.elsewhere { context in
      let (one, two) = (context.category("one"), context.category("two"))
      for (number, title) in ["a", "b", "c"].enumerated() {
        context.item(title, number < 2 ? one : two).count = Int64(number)
      }
      try context.save()
    }
    try stack.run { context in
      let ones: NSFetchRequest<Category> = context.request(
        Category.self, "Category", NSPredicate(format: "name == 'one'"))
      let expression: CoreData.NSExpression = NSFetchRequestExpression.expression(
        forFetch: NSExpression(forConstantValue: ones), context: NSExpression(forConstantValue: context),
        countOnly: false)
      let request = try #require(expression as? NSFetchRequestExpression)
      #expect(request.expressionType == NSFetchRequestExpressionType)
      #expect(!request.isCountOnlyRequest)
      #expect(request.contextExpression.constantValue as? NSManagedObjectContext === context)
      #expect((try expression.expressionValueThrowing(with: nil) as? [Category])?.map(\.name) == ["one"])

      let predicate: NSPredicate = NSPredicate(format: "category IN %@", expression)
      let chosen: [Item] = try context.fetch(
        context.request(Item.self, "Item", predicate, sort: ["title"]))
      #expect(chosen.map(\.title) == ["a", "b"])
      let all: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      #expect(try all.filterThrowing(using: predicate).map(\.title) == ["a", "b"])

      let counted: NSPredicate = NSPredicate(format: "count == FETCH(%@, %@, YES)", ones, context)
      #expect(try context.fetch(context.request(Item.self, "Item", counted)).map(\.title) == ["b"])
      #expect(try all.filterThrowing(using: counted).map(\.title) == ["b"])
    }
  }

  @Test func `a fetch without request or context is an error that says so`() throws {
    let stack: Stack = try Stack(.inMemory)
    try stack.run { context in
      let noContext: NSPredicate = NSPredicate(
        format: "FETCH(%@, %@, NO).@count == 0", context.request(Item.self, "Item"), "nothing")
      #expect(throws: (any Error).self) { try noContext.evaluateThrowing(with: nil) }
      let noRequest: NSPredicate = NSPredicate(format: "FETCH(%@, %@, NO).@count == 0", 1, context)
      #expect(throws: (any Error).self) { try noRequest.evaluateThrowing(with: nil) }
    }
  }
}
