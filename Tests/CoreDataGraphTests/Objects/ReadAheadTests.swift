import CoreData
import Foundation
import StackSupport
import Testing

/// Relationships of objects that were read together are read together: exact numbers of statements, as SQLite
/// tells them, and as `statistics` counts them.
@Suite
struct ReadAheadTests {
  /// Items, each in a category of its own, with two tags of its own.
  static func filled(_ kind: StoreKind, _ count: Int = 40) throws -> Stack {
    let stack = try Stack(kind)
    try stack.elsewhere { context in
      for number in 0..<count {
        let item: Item = context.item(text(number), context.category("c\(text(number))"))
        item.count = Int64(number)
        item.tags = Set(
          (0..<2).map { place in
            let tag = Tag(context: context)
            tag.name = "t\(text(number))\(place)"
            return tag
          })
      }
      try context.save()
    }
    return stack
  }

  static func text(_ number: Int) -> String { String(format: "%03d", number) }

  /// Fetches items in a fresh context, then counts what `body` needs.
  private func count(_ stack: Stack, _ body: ([Item]) throws -> Void) throws
    -> NSManagedObjectContext.Statistics
  {
    try stack.elsewhere { context in
      let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      context.resetStatistics()
      try body(items)
      return context.statistics
    }
  }

  @Test(arguments: StoreKind.fetchingRows)
  func `targets of to-ones take two statements: the first fault's and one for the rest`(kind: StoreKind)
    throws
  {
    let stack: Stack = try Self.filled(kind)
    let statistics = try count(stack) { items in
      for (number, item) in items.enumerated() { #expect(item.category?.name == "c\(Self.text(number))") }
    }
    #expect(statistics.statements == 2 && statistics.rows == 40)
    #expect(statistics.faults == 40 && statistics.cacheHits == 38)
  }

  @Test(arguments: StoreKind.fetchingRows, ["reversed", "shuffled", "targets first"])
  func `the order of the accesses makes no difference`(kind: StoreKind, order: String) throws {
    let stack: Stack = try Self.filled(kind)
    let statistics = try count(stack) { items in
      switch order {
      case "reversed": for item in items.reversed() { #expect(item.category?.name?.isEmpty == false) }
      case "shuffled":
        for number in 0..<40 { #expect(items[number * 7 % 40].category?.name?.isEmpty == false) }
      default:
        let categories: [Category] = items.compactMap(\.category)
        for category in categories { #expect(category.name?.isEmpty == false) }
      }
    }
    #expect(statistics.statements == 2)
  }

  @Test(arguments: StoreKind.fetchingRows)
  func `one fault reads one row`(kind: StoreKind) throws {
    let stack: Stack = try Self.filled(kind)
    let statistics = try count(stack) { items in #expect(items[7].category?.name == "c007") }
    #expect(statistics.statements == 1 && statistics.rows == 1)
  }

  @Test(arguments: StoreKind.fetchingRows)
  func `members take two statements, and their rows two`(kind: StoreKind) throws {
    let stack: Stack = try Self.filled(kind)
    var statistics = try count(stack) { items in
      for item in items { #expect(item.tags.count == 2) }
    }
    #expect(statistics.statements == 2)
    #expect(statistics.faults == 40 && statistics.cacheHits == 38)
    statistics = try count(stack) { items in
      for (number, item) in items.enumerated() {
        let names: Set<String> = Set(item.tags.compactMap(\.name))
        #expect(names == ["t\(Self.text(number))0", "t\(Self.text(number))1"])
      }
    }
    #expect(statistics.statements == 4 && statistics.rows == 160)
  }

  @Test(arguments: StoreKind.fetchingRows)
  func `relationships behind relationships are read ahead too`(kind: StoreKind) throws {
    let stack: Stack = try Self.filled(kind)
    let statistics: NSManagedObjectContext.Statistics = try stack.elsewhere { context in
      let categories: [Category] = try context.all(Category.self, "Category", sort: ["name"])
      context.resetStatistics()
      for category in categories {
        for item in category.items {
          #expect(item.tags.reduce("") { $0 + ($1.name ?? "") }.count == 10)
        }
      }
      return context.statistics
    }
    // Members of categories, rows of items; tags of the first item, which was read alone, of the second, and
    // of the others; rows of the same.
    #expect(statistics.statements == 10, "\(statistics)")
  }

  @Test(arguments: StoreKind.fetchingRows)
  func `only what belongs to objects in use is read`(kind: StoreKind) throws {
    let stack: Stack = try Self.filled(kind)
    try stack.elsewhere { context in
      var items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      items.removeSubrange(5...)
      context.resetStatistics()
      for item in items { #expect(item.category?.name != nil) }
      #expect(context.statistics.statements == 2 && context.statistics.rows == 5)
      context.resetStatistics()
      for item in items { #expect(item.tags.count == 2) }
      #expect(context.statistics.statements == 2 && context.statistics.rows == 10)
    }
  }

  @Test(arguments: StoreKind.fetchingRows)
  func `a fault that was read ahead gets what others have saved since`(kind: StoreKind) throws {
    let stack: Stack = try Self.filled(kind)
    try stack.run { context in
      let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      for item in items[..<2] {
        #expect(item.category?.name != nil)
        #expect(item.tags.count == 2)
      }
      try stack.elsewhere { other in
        let twin: Item = try #require(
          try other.all(Item.self, "Item", NSPredicate(format: "title == '030'")).first)
        twin.category?.name = "new"
        let tag = Tag(context: other)
        tag.name = "third"
        twin.tags.insert(tag)
        try other.save()
      }
      #expect(items[30].category?.name == "new")
      #expect(items[30].tags.count == 3)
      #expect(items[31].tags.count == 2 && items[31].category?.name == "c031")
    }
  }

  @Test(arguments: StoreKind.fetchingRows)
  func `with a staleness interval of 0 each fault is read when it fires`(kind: StoreKind) throws {
    let stack: Stack = try Self.filled(kind, 6)
    try stack.elsewhere { context in
      context.stalenessInterval = 0
      let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      context.resetStatistics()
      for item in items { #expect(item.category?.name != nil && item.tags.count == 2) }
      #expect(context.statistics.statements == 12 && context.statistics.cacheHits == 0)
    }
  }

  @Test(arguments: [StoreKind.sqlite, .sqliteInMemory])
  func `a child's faults are read ahead in its parent`(kind: StoreKind) throws {
    let stack: Stack = try Self.filled(kind)
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    let parent: NSManagedObjectContext = stack.other()
    child.parent = parent
    try child.performAndWait {
      let items: [Item] = try child.all(Item.self, "Item", sort: ["title"])
      #expect(child.statistics.statements == 1)
      child.resetStatistics()
      for (number, item) in items.enumerated() { #expect(item.category?.name == "c\(Self.text(number))") }
      #expect(child.statistics.statements == 2, "\(child.statistics)")
      child.resetStatistics()
      for (number, item) in items.enumerated() {
        let names: Set<String> = Set(item.tags.compactMap(\.name))
        #expect(names == ["t\(Self.text(number))0", "t\(Self.text(number))1"])
      }
      #expect(child.statistics.statements == 4, "\(child.statistics)")
    }
  }

  @Test func `what is counted is what SQLite runs, each text prepared once`() throws {
    StatementTrace.listen()
    let stack: Stack = try Self.filled(.sqlite)
    let trace = StatementTrace(try #require(stack.store.url))
    try stack.run { context in
      func selects() -> [String] { trace.take().filter { $0.contains(" FROM Z") } }
      context.resetStatistics()
      let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      for item in items { #expect(item.category?.name != nil && item.tags.count == 2) }
      _ = try context.count(for: context.request(Item.self, "Item"))
      let all: [String] = selects()
      #expect(all.count == context.statistics.statements && all.count == 6, "\(all)")
      // The same again: rows in memory are not read again, and no text is new.
      let again: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      for item in again { #expect(item.category?.name != nil && item.tags.count == 2) }
      #expect(selects() == [all[0]])
    }
  }

  @Test func `a pinned context reads ahead in its own state`() throws {
    let stack: Stack = try Self.filled(.sqlite)
    try stack.run { context in
      try context.setQueryGenerationFrom(.current)
      let items: [Item] = try context.all(Item.self, "Item", sort: ["title"])
      try stack.elsewhere { other in
        for category in try other.all(Category.self, "Category") { category.name = "new" }
        try other.save()
      }
      context.resetStatistics()
      for (number, item) in items.enumerated() { #expect(item.category?.name == "c\(Self.text(number))") }
      #expect(context.statistics.statements == 2)
    }
  }
}
