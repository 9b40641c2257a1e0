import CoreData
import Foundation
import StackSupport
import Testing

/// What `problems(for:)` finds is what fetches throw: from every store, before any is asked.
@Suite struct PredicateProblemFetchTests {
  /// An entity of `World`, and a predicate that doesn't fit it.
  static let wrong: [(entity: String, format: String)] = [
    ("Item", "titel == 'a'"),
    ("Item", "category.nmae == 'a' OR ANY tags.nmae == 'a'"),
    ("Item", "title < 5 AND price LIKE 'a*' AND done BETWEEN {1}"),
    ("Item", "tags.name == 'a'"), ("Item", "tags == nil"), ("Item", "tags.items.price > 3"),
    ("Item", "ANY title == 'a'"), ("Item", "title MATCHES '['"), ("Item", "count IN 5"),
    ("Item", "title + 1 == 2"), ("Item", "tags[0] == nil"), ("Item", "title.foo == 3"),
    ("Item", "category > 3"), ("Item", "due > 3"), ("Item", "FUNCTION(title, 'nope:', 1) == 3"),
    ("Item", "CAST(title, 'NSNumbr') == 3"), ("Item", "ANYKEY == 3"), ("Item", "count == $limit"),
    ("Item", "category.items.@sum.title > 3"), ("Item", "SUBQUERY(tags, $t, $t.nmae == title).@count > 0"),
    ("Item", "note BEGINSWITH 3 AND titel == 'a'"),
    ("Album", "songs.name == 'a'"), ("Album", "songs[0].nmae == 'a'"), ("Person", "salary > 3"),
    ("Employee", "ANY reports.name == 'a' AND boss.boss.title.foo == 'a'"),
    ("Kinds", "uri < uri"), ("Kinds", "thing == 3 AND uuid > 3 AND bytes BEGINSWITH 'a'"),
    ("Kinds", "date + 1 > date"),
  ]

  @Test(arguments: StoreKind.allCases)
  func `every fetch of a wrong predicate throws all its problems`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      for isPending in [false, true] {
        if isPending {
          for entity in ["Item", "Album", "Kinds", "Manager"] { _ = context.make(entity, [:]) }
        }
        for (entity, format) in Self.wrong {
          let request: NSFetchRequest<NSManagedObject> = context.request(
            NSManagedObject.self, entity, NSPredicate(format: format))
          let described = try #require(World.shared.entitiesByName[entity])
          let errors: [PredicateProblem] = (request.predicate?.problems(for: described) ?? []).filter {
            $0.severity == .error
          }
          #expect(!errors.isEmpty, "\(format)")
          let fetches: [(String, () throws -> Void)] = [
            ("fetch", { _ = try context.fetch(request) }), ("count", { _ = try context.count(for: request) }),
            ("explain", { _ = try request.explain(in: context) }),
          ]
          for (name, fetch) in fetches {
            let error: NSError = try #require(errorThrown(fetch), "\(name) \(format)")
            #expect(error.domain == NSCocoaErrorDomain && error.code == NSCoreDataError)
            #expect(error.localizedDescription == errors.map(\.description).joined(separator: "\n"))
            #expect(error.userInfo[PredicateProblem.errorKey] as? [PredicateProblem] == errors)
          }
        }
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `dictionaries and ids throw them too`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      for type in [
        NSFetchRequestResultType.managedObjectIDResultType, .dictionaryResultType, .countResultType,
      ] {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
        request.resultType = type
        request.predicate = NSPredicate(format: "titel == 'a' AND title > 3")
        let error: NSError = try #require(errorThrown { _ = try context.fetch(request) })
        #expect(error.localizedDescription.split(separator: "\n").count == 2)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `warnings stop nothing`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a", context.category("one"))
      let shelf: NSManagedObject = context.make("Shelf", [:])
      try context.save()
      let entity = try #require(World.shared.entitiesByName["Item"])
      func warnings(_ predicate: NSPredicate) -> Int {
        let problems: [PredicateProblem] = predicate.problems(for: entity)
        return problems.allSatisfy { $0.severity == .warning } ? problems.count : -1
      }
      for (predicate, isFound) in [
        (NSPredicate(format: "title == 3"), false), (NSPredicate(format: "title != 3"), true),
        (NSPredicate(format: "category == 1"), false),
        (NSPredicate(format: "category == %@", shelf), false),
        (NSPredicate(format: "category IN %@", [shelf.objectID]), false),
        (NSPredicate(format: "due IN {1, 2}"), false), (NSPredicate(format: "NOT title IN {1, 2}"), true),
      ] {
        #expect(warnings(predicate) == 1, "\(predicate)")
        #expect(try context.all(Item.self, "Item", predicate) == (isFound ? [item] : []), "\(predicate)")
      }
      let one = try #require(item.category)
      #expect(warnings(NSPredicate(format: "category == %@ AND %@ IN tags", one, one.objectID)) == 1)
      #expect(warnings(NSPredicate(format: "category == %@", one)) == 0)
      #expect(warnings(NSPredicate(format: "category.name == %@.name", one)) == 0)
    }
  }
}
