import CoreData
import CoreDataPredicates
import Foundation
import StackSupport
import Testing

private typealias NSCompoundPredicate = CoreData.NSCompoundPredicate

// Finding B15.
/// Names that mean something else, keys that are none, URIs that nobody wrote, and trees deeper than
/// they may be.
struct OddNameTests {
  // MARK: objectID and self

  private static func stack(_ kind: StoreKind) throws -> Stack {
    let entity = World.entity(
      "Odd",
      [
        World.attribute("objectID", .integer32AttributeType),
        World.attribute("self", .integer32AttributeType),
        World.attribute("rank", .integer32AttributeType),
      ])
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let stack = try Stack(kind, model: model)
    try stack.run { context in
      for rank in 0..<3 {
        _ = context.make("Odd", ["objectID": 10 - rank, "self": 20 - rank, "rank": rank])
        try context.save()
      }
    }
    return stack
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `a property goes before what every object answers to`(_ kind: StoreKind, _ isChanged: Bool) throws {
    try Self.stack(kind).elsewhere { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Odd")
      request.sortDescriptors = [NSSortDescriptor(key: "rank", ascending: true)]
      let objects: [NSManagedObject] = try context.fetch(request)
      if isChanged { for object in objects { object.setValue(5, forKey: "rank") } }
      let first: NSManagedObject = objects[0]
      #expect(first.value(forKey: "objectID") as? Int == 10)
      #expect(first.value(forKey: "self") as? Int == 20)
      #expect(first.value(forKeyPath: "self") as? Int == 20)
      request.sortDescriptors = nil
      for (predicate, count) in [
        (NSPredicate(format: "objectID == 10"), 1), (NSPredicate(format: "objectID > 8"), 2),
        (NSPredicate(format: "#self == 20"), 1), (NSPredicate(format: "#self IN {19, 18}"), 2),
        (NSPredicate(format: "SELF == %@", first), 1), (NSPredicate(format: "%K == %@", "self", first), 1),
        (NSPredicate(format: "SELF IN %@", objects), 3),
      ] {
        request.predicate = predicate
        let found: Int = try context.fetch(request).count
        #expect(found == count, "\(predicate)")
        #expect(objects.filter { predicate.evaluate(with: $0) }.count == count, "\(predicate)")
      }
      request.predicate = nil
      for key in ["objectID", "self"] {
        for ascending in [true, false] {
          request.sortDescriptors = [NSSortDescriptor(key: key, ascending: ascending)]
          let found: [NSManagedObject] = try context.fetch(request)
          #expect(found == (ascending ? objects.reversed() : objects), "\(key)")
          let sorted: [NSManagedObject] = try objects.sortedThrowing(using: request.sortDescriptors ?? [])
          #expect(sorted == found, "\(key)")
        }
      }
    }
  }

  @Test(arguments: StoreKind.allCases, ["objectID", "self"])
  func `dictionaries have the property too`(_ kind: StoreKind, _ key: String) throws {
    try Self.stack(kind).elsewhere { context in
      let request = NSFetchRequest<NSDictionary>(entityName: "Odd")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = [key]
      let values: [Int] = key == "self" ? [18, 19, 20] : [8, 9, 10]
      for isGrouped in [false, true] {
        request.propertiesToGroupBy = isGrouped ? [key] : nil
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        let found: [Int?] = try context.fetch(request).map { $0[key] as? Int }
        #expect(found == values)
      }
      request.propertiesToGroupBy = nil
      request.sortDescriptors = nil
      let greatest = NSExpressionDescription()
      greatest.name = "greatest"
      greatest.expression = NSExpression(forKeyPath: "@max.\(key)")
      request.propertiesToFetch = [greatest]
      let found: [Int?] = try context.fetch(request).map { $0["greatest"] as? Int }
      #expect(found == [values[2]])
    }
  }

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
      let name: String = "p\(kind.firstKey)"
      #expect(uri.hasSuffix("/Item/\(name)"))
      #expect(stack.coordinator.managedObjectID(for: uri) == item.objectID)
      #expect(stack.coordinator.managedObjectID(for: uri.uppercased()) == nil)
      let stem: String = String(uri.dropLast(name.count))
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
