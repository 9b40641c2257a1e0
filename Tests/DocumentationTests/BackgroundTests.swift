import CoreData
import Testing

@MainActor @Suite struct BackgroundTests {
  @Test func `a background task saves and the view context merges`() async throws {
    let shop = try Shop()
    try shop.fill(3)
    let container = shop.container
    // snippet task
    container.viewContext.automaticallyMergesChangesFromParent = true

    let id = try await container.performBackgroundTask { context in
      let product = Product(context: context)
      product.name = "Made in the background"
      try context.save()
      return product.objectID
    }
    let product = try container.viewContext.existingObject(with: id) as? Product
    // end
    #expect(product?.name == "Made in the background")
  }

  @Test func `ids cross from one context to the other, objects do not`() async throws {
    let shop = try Shop()
    try shop.fill(3)
    let container = shop.container
    let dearest = Product.fetchRequest()
    dearest.sortDescriptors = [NSSortDescriptor(key: "price", ascending: false)]
    dearest.fetchLimit = 1
    let chosen = try #require(try container.viewContext.fetch(dearest).first)
    // snippet ids
    let id = chosen.objectID
    let background = container.newBackgroundContext()
    try await background.perform {
      guard let product = try background.existingObject(with: id) as? Product else { return }
      product.price *= 2
      try background.save()
    }
    container.viewContext.refresh(chosen, mergeChanges: true)
    // end
    #expect(chosen.price == 4)
  }

  @Test func `two contexts that change one object are told apart by the merge policy`() async throws {
    let shop = try Shop()
    try shop.fill(1)
    let container = shop.container
    let mine = try #require(try container.viewContext.fetch(Product.fetchRequest()).first)
    _ = mine.price
    let id = mine.objectID
    try await container.performBackgroundTask { context in
      try (context.existingObject(with: id) as? Product)?.price = 10
      try context.save()
    }
    // snippet policy
    let context = container.viewContext
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    mine.name = "Renamed here"
    try context.save()
    // end
    #expect(mine.name == "Renamed here")
    #expect(mine.price == 10)
  }

  @Test func `a child context is a draft`() throws {
    let shop = try Shop()
    let container = shop.container
    // snippet draft
    let draft = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    draft.parent = container.viewContext
    let product = Product(context: draft)
    product.name = "Not yet"
    // Cancel: drop the draft. Done:
    try draft.save()  // into the view context
    try container.viewContext.save()  // into the store
    // end
    #expect(try container.viewContext.count(for: Product.fetchRequest()) == 1)
  }
}
