import CoreData
import CoreDataPredicates
import Foundation
import StackSupport
import Testing

extension Behaviour {
  /// Requests.
  @Suite struct Fetches {
    private func filled(_ kind: StoreKind) throws -> Stack {
      let stack = try Stack(kind, model: Witness.model)
      try stack.elsewhere { context in
        for (number, name) in ["a", "b", "c"].enumerated() { Witness(name, context)["number"] = number }
        try context.save()
      }
      return stack
    }

    @Test(.rule("FETCH-9", "NSFetchRequest.fetchOffset"), arguments: StoreKind.computing)
    func `an offset counts in a request of its own, not in one inside a predicate`(kind: StoreKind) throws {
      let stack: Stack = try filled(kind)
      try stack.run { context in
        let inner: NSFetchRequest<Witness> = context.request(Witness.self, "Witness", sort: ["name"])
        inner.fetchOffset = 2
        let alone: [Witness] = try context.fetch(inner)
        #expect(alone.map(\.name) == ["c"])
        let fetch: CoreData.NSExpression = NSFetchRequestExpression.expression(
          forFetch: NSExpression(forConstantValue: inner), context: NSExpression(forConstantValue: context),
          countOnly: false)
        let outer = NSPredicate(format: "SELF IN %@", fetch)
        #expect(
          try context.all(Witness.self, "Witness", outer, sort: ["name"]).map(\.name) == ["a", "b", "c"])
      }
    }

    @Test(.rule("FETCH-11", "NSFetchRequest.propertiesToFetch"), arguments: StoreKind.every)
    func `objects fetched for some properties still give the others`(kind: StoreKind) throws {
      let stack: Stack = try filled(kind)
      try stack.run { context in
        let request: NSFetchRequest<Witness> = context.request(Witness.self, "Witness", sort: ["name"])
        request.propertiesToFetch = ["name"]
        let found: [Witness] = try context.fetch(request)
        #expect(found.map(\.name) == ["a", "b", "c"])
        #expect(found.map { $0["number"] as? Int } == [0, 1, 2])
        found[1]["number"] = 7
        try context.save()
        try stack.withWitness("b") { stored, _ in #expect(stored["number"] as? Int == 7) }
      }
    }

    @Test(.rule("FETCH-17", "NSFetchRequest"), arguments: StoreKind.every)
    func `changing a request while it runs changes nothing of that run`(kind: StoreKind) throws {
      let stack: Stack = try filled(kind)
      try stack.run { context in
        nonisolated(unsafe) let request: NSFetchRequest<Witness> = context.request(
          Witness.self, "Witness", sort: ["name"])
        request.predicate = NSPredicate { _, _ in
          request.fetchLimit = 1
          request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
          return true
        }
        let first: [Witness] = try context.fetch(request)
        request.predicate = nil
        let second: [Witness] = try context.fetch(request)
        #expect(first.map(\.name) == ["a", "b", "c"] && second.map(\.name) == ["c"])
      }
    }

    @Test(.rule("FETCH-18", "NSManagedObjectContext.count(for:)"), arguments: StoreKind.every)
    func `a count that can't be had is thrown, not a number`(kind: StoreKind) throws {
      let stack: Stack = try filled(kind)
      try stack.run { context in
        let request: NSFetchRequest<Witness> = context.request(
          Witness.self, "Witness", NSPredicate(format: "nothing == 1"))
        let error: NSError = try #require(errorThrown { _ = try context.count(for: request) })
        #expect(error.localizedDescription.contains("nothing"))
      }
    }

    @Test(
      .rule("FETCH-19", "NSManagedObjectModel.fetchRequestFromTemplate(withName:substitutionVariables:)"),
      arguments: StoreKind.every)
    func `a template is copied for its values, and NSNull is nil`(kind: StoreKind) throws {
      let model = Witness.model.copy() as! NSManagedObjectModel
      let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "Witness")
      template.predicate = NSPredicate(format: "boss == $boss AND name == $name")
      model.setFetchRequestTemplate(template, forName: "named")
      let stack = try Stack(kind, model: model)
      try stack.run { context in
        let boss = Witness("boss", context)
        Witness("a", context)["boss"] = boss
        _ = Witness("a", context)
        try context.save()
        func found(_ value: Any) throws -> [Witness] {
          let request: NSFetchRequest<any NSFetchRequestResult> = try #require(
            model.fetchRequestFromTemplate(
              withName: "named", substitutionVariables: ["boss": value, "name": "a"]))
          return try context.fetch(request).compactMap { $0 as? Witness }
        }
        #expect(try found(boss).map { $0["boss"] as? Witness } == [boss])
        #expect(try found(NSNull()).map { $0["boss"] as? Witness } == [nil])
        let kept: NSPredicate? = model.fetchRequestTemplate(forName: "named")?.predicate
        #expect(kept?.formatText.contains("$boss") == true)
      }
    }

    @Test(.rule("CTRL-4", "NSFetchedResultsController.performFetch()"), arguments: StoreKind.every)
    func `results follow a changed request after the next performFetch`(kind: StoreKind) throws {
      let stack: Stack = try filled(kind)
      try stack.run { context in
        let request: NSFetchRequest<Witness> = context.request(Witness.self, "Witness", sort: ["name"])
        let results = NSFetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        try results.performFetch()
        results.fetchRequest.predicate = NSPredicate(format: "number > 0")
        #expect(results.fetchedObjects?.compactMap(\.name) == ["a", "b", "c"])
        try results.performFetch()
        #expect(results.fetchedObjects?.compactMap(\.name) == ["b", "c"])
      }
    }
  }
}
