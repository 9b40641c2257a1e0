import CoreData
import CoreDataPredicates
import Foundation
import Testing

private typealias NSCompoundPredicate = CoreData.NSCompoundPredicate

// Finding B15.
/// Names that mean something else, keys that are none, URIs that nobody wrote, and trees deeper than they may be.
struct OddNameTests {
  @Test(arguments: StoreKind.allCases, ["objectID", "self", "SELF", "Self"])
  func `without such a property they are the object`(_ kind: StoreKind, _ key: String) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      for title in ["b", "a", "c"] {
        _ = context.item(title)
        try context.save()
      }
      for isChanged in [false, true] {
        if isChanged { _ = context.item("d") }
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: false)]
        let titles: [String?] = try context.fetch(request).map(\.title).filter { $0 != "d" }
        #expect(titles == ["c", "a", "b"])
      }
    }
  }

  @Test(arguments: StoreKind.allCases, ["#title", "#category.name", "category.#name", "title.#length"])
  func `a key with a mark is no key`(_ kind: StoreKind, _ key: String) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      _ = context.item("a")
      try context.save()
      for isChanged in [false, true] {
        if isChanged { _ = context.item("b") }
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        #expect(throws: (any Error).self) { try context.fetch(request) }
        request.sortDescriptors = nil
        request.predicate = NSPredicate(format: "%K == nil", key)
        #expect(throws: (any Error).self) { try context.fetch(request) }
      }
    }
  }

  // MARK: URIs

  @Test(arguments: StoreKind.allCases) func `URIs that ids do not write name nothing`(_ kind: StoreKind)
    throws
  {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: NSManagedObject = context.item("a")
      try context.save()
      let uri: String = item.objectID.uriRepresentation().absoluteString
      #expect(uri.hasSuffix("/Item/p1"))
      #expect(stack.coordinator.managedObjectID(for: uri) == item.objectID)
      #expect(stack.coordinator.managedObjectID(for: uri.uppercased()) == nil)
      let stem: String = String(uri.dropLast(2))
      for end in [
        "p+1", "p01", "p1?x", "p1#x", "p 1", "p%201", "p1%20", "p9223372036854775808",
        "p99999999999999999999", "p-1",
        "p0", "p", "1", "P1", "p1/", "/p1", "p1/p1", "p1.0", "p1 ", "p%31", "p1?", "p1#", "t1", "p١",
      ] {
        #expect(stack.coordinator.managedObjectID(for: stem + end) == nil, "\(end)")
      }
      #expect(stack.coordinator.managedObjectID(for: uri.replacing("://", with: "://x@")) == nil)
      #expect(stack.coordinator.managedObjectID(for: uri.replacing("/Item", with: ":8/Item")) == nil)
      #expect(stack.coordinator.managedObjectID(for: uri.replacing("x-core", with: "y-core")) == nil)
    }
  }

  // MARK: Depth

  private static func alternating(_ levels: Int) -> NSPredicate {
    (0..<levels).reduce(NSPredicate(format: "title == 'a'")) { inner, level in
      let other: NSPredicate = NSPredicate(format: "count > %d", level)
      return level.isMultiple(of: 2)
        ? NSCompoundPredicate(orPredicateWithSubpredicates: [inner, other])
        : NSCompoundPredicate(andPredicateWithSubpredicates: [inner, other])
    }
  }

  @Test(arguments: StoreKind.allCases, [1001, 2500, 100_000])
  func `predicates that are too deep are errors of fetches and evaluations`(_ kind: StoreKind, _ levels: Int)
    throws
  {
    let stack = try Stack(kind)
    var deep: [NSPredicate] = [Self.alternating(levels)]
    let end: NSPredicate = NSPredicate(format: "title == 'a'")
    deep.append(
      (0..<levels).reduce(end) { inner, _ in NSCompoundPredicate(notPredicateWithSubpredicate: inner) })
    var sum = NSExpression(forKeyPath: "count")
    for _ in 0..<min(levels, 2500) {
      sum = NSExpression(forFunction: "add:to:", arguments: [sum, NSExpression(forConstantValue: 1)])
    }
    let zero = NSExpression(forConstantValue: 0)
    deep.append(
      NSComparisonPredicate(
        leftExpression: sum, rightExpression: zero, modifier: .direct, type: .greaterThan, options: []))
    deep.append(NSCompoundPredicate(andPredicateWithSubpredicates: [end, deep[0]]))
    let whole = NSExpression(
      forSubquery: NSExpression(forKeyPath: "tags"), usingIteratorVariable: "x", predicate: deep[0])
    deep.append(
      NSComparisonPredicate(
        leftExpression: whole, rightExpression: zero, modifier: .direct, type: .equalTo, options: []))
    try stack.run { context in
      // With and without rows.
      for hasRows in [false, true] {
        if hasRows {
          _ = context.item("a")
          try context.save()
        }
        for (number, predicate) in deep.enumerated() {
          let request = NSFetchRequest<Item>(entityName: "Item")
          request.predicate = predicate
          let error: any Error = try #require(throws: (any Error).self, "\(number)") {
            try context.fetch(request)
          }
          #expect("\(error)".contains("1000 levels"), "\(number): \(error)")
          let again: any Error = try #require(throws: (any Error).self, "\(number)") {
            try predicate.evaluateThrowing(
              with: ["title": "a", "count": 0, "tags": NSSet(array: ["x"])] as [String: Any])
          }
          #expect("\(again)".contains("1000 levels"), "\(number): \(again)")
          #expect(predicate.problems(for: context.item("x").entity).contains { $0.kind == .tooDeep })
        }
        context.rollback()
      }
    }
  }

  @Test(arguments: StoreKind.allCases) func `as deep as they may be they are evaluated`(_ kind: StoreKind)
    throws
  {
    let stack = try Stack(kind)
    try stack.run { context in
      _ = context.item("a")
      try context.save()
      let predicate: NSPredicate = Self.alternating(990)
      let found: Int = try context.all(Item.self, "Item", predicate).count
      let held: Bool = predicate.evaluate(with: try context.all(Item.self, "Item")[0])
      #expect((found == 1) == held)
    }
  }
}
