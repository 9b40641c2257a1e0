import CoreData
import Foundation
import StackSupport
import Testing

/// What contexts say about relationships that are read object by object.
@Suite
struct FaultingPolicyTests {
  /// Reads relationships of five items in a context that explains.
  static func explain(_ kind: StoreKind, _ body: (NSManagedObjectContext, [Item]) throws -> Void) throws {
    let stack: Stack = try ReadAheadTests.filled(kind, 5)
    try stack.run { context in
      context.faultingPolicy = .explain
      try body(context, try context.all(Item.self, "Item", sort: ["title"]))
    }
  }

  static func loop(_ context: NSManagedObjectContext, _ items: [Item]) {
    for item in items { precondition(item.category?.name != nil && item.tags.count == 2) }
    precondition(context.statistics.statements == 5, "\(context.statistics)")
  }

  @Test(arguments: [true, false])
  func `explain names the relationship once, and what to prefetch`(isFile: Bool) async throws {
    let result: ExitTest.Result =
      if isFile {
        try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
          try FaultingPolicyTests.explain(.sqlite, FaultingPolicyTests.loop)
        }
      } else {
        try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
          try FaultingPolicyTests.explain(.inMemory, FaultingPolicyTests.loop)
        }
      }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    let reports: [Substring] = text.split(separator: "\n").filter { $0.hasPrefix("CoreData: faulting: ") }
    #expect(reports.count == 2, "\(text)")
    #expect(text.contains("faulting: Item.category is read") && text.contains("faulting: Item.tags is read"))
    #expect(text.contains("relationshipKeyPathsForPrefetching = [\"category\"]"))
    #expect(text.contains("FaultingPolicyTests.loop"), "the function that reads: \(text)")
  }

  @Test func `nothing is said of prefetched relationships, of one fault, and of what the framework reads`()
    async throws
  {
    let result: ExitTest.Result = try await #require(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      try FaultingPolicyTests.explain(.sqlite) { context, items in
        precondition(items[3].category?.name == "c003")
        let request: NSFetchRequest<Item> = context.request(Item.self, "Item")
        request.relationshipKeyPathsForPrefetching = ["category", "tags"]
        for item in try context.fetch(request) {
          precondition(item.category?.name != nil && item.tags.allSatisfy { $0.name != nil })
        }
        context.reset()
        for category in try context.all(Category.self, "Category") { context.delete(category) }
        try context.save()
        let left: Int = try context.count(for: request)
        precondition(left == 0)
      }
    }
    #expect(!String(decoding: result.standardErrorContent, as: UTF8.self).contains("faulting"))
  }

  @Test(arguments: StoreKind.fetchingRows)
  func `refuse throws where a call can throw`(kind: StoreKind) throws {
    let stack: Stack = try ReadAheadTests.filled(kind, 5)
    try stack.run { context in
      let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      context.faultingPolicy = .refuse
      #expect(items[0].category?.name == "c000")
      let second: Category = try #require(items[1].category)
      let error: NSError = try #require(
        errorThrown { _ = try context.existingObject(with: second.objectID) })
      #expect(error.code == NSCoreDataError && error.localizedDescription.contains("Item.category"))
      context.faultingPolicy = .automatic
      #expect(second.name == "c001")
    }
  }

  @Test func `refuse stops a property with the explanation`() async throws {
    let result: ExitTest.Result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let stack: Stack = try ReadAheadTests.filled(.sqlite, 5)
      try stack.run { context in
        context.faultingPolicy = .refuse
        for item in try context.all(Item.self, "Item", sort: ["title"]) { _ = item.tags.count }
      }
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("Item.tags is read object by object") && text.contains("[\"tags\"]"))
  }
}
