import CoreData
import Foundation

/// Predicates over loaded managed objects: evaluated one by one, and as a batch, beside a closure over typed
/// accessors.
struct ManagedObjectBench {
  var store: URL
  var count: Int
  var rounds: Int

  func run() throws -> [Race.Outcome] {
    let container: NSPersistentContainer = try PeopleStore.open(store)
    let context: NSManagedObjectContext = container.newBackgroundContext()
    let outcomes: [Race.Outcome] = try context.performAndWait {
      let people: [BenchPerson] = try load(context)
      return try PredicateCase.allCases.map { try race($0, people) }
    }
    context.performAndWait { context.reset() }
    try BenchStore.close(container)
    return outcomes
  }

  /// All values that the predicates read are in memory before the clock starts.
  private func load(_ context: NSManagedObjectContext) throws -> [BenchPerson] {
    let request: NSFetchRequest<BenchPerson> = BenchPerson.fetchRequest()
    request.returnsObjectsAsFaults = false
    request.relationshipKeyPathsForPrefetching = ["department", "orders"]
    let people: [BenchPerson] = try context.fetch(request)
    guard people.count == count else { throw BenchmarkError("\(people.count) people instead of \(count)") }
    let orders: Int = people.reduce(0) { $0 + $1.orders.filter { $0.total >= 0 }.count }
    guard orders > 0 else { throw BenchmarkError("people without orders") }
    return people
  }

  private func race(_ name: PredicateCase, _ people: [BenchPerson]) throws -> Race.Outcome {
    let predicate: NSPredicate = name.predicate()
    let closure: (BenchPerson) -> Bool = name.closure
    return try Race(
      part: PredicateSuite.Part.objects, title: name.title, operations: people.count, rounds: rounds
    ).run(
      [
        Race.Contestant("closure", body: { people.filter(closure).count }),
        Race.Contestant(
          "filter", against: "closure", body: { try people.filterThrowing(using: predicate).count }),
        Race.Contestant(
          "evaluate(with:)", against: "closure",
          body: { people.filter { predicate.evaluate(with: $0) }.count }),
      ])
  }
}

/// The same predicates over dictionaries and over plain structs, which are read by reflection.
struct PlainValueBench {
  var samples: [PersonSample]
  var rounds: Int

  func run() throws -> [Race.Outcome] {
    // Reflection is slow; fewer objects are enough.
    let samples: [PersonSample] = Array(samples.prefix(10_000))
    let dictionaries: [[String: Any]] = samples.map(\.dictionary)
    return try PredicateCase.allCases.map { name in
      let predicate: NSPredicate = name.predicate()
      let closure: (PersonSample) -> Bool = name.plainClosure
      return try Race(
        part: PredicateSuite.Part.values, title: name.title, operations: samples.count, rounds: rounds
      ).run(
        [
          Race.Contestant("closure, structs", body: { samples.filter(closure).count }),
          Race.Contestant(
            "dictionaries", against: "closure, structs",
            body: { try dictionaries.filterThrowing(using: predicate).count }),
          Race.Contestant(
            "structs", against: "closure, structs",
            body: { try samples.filterThrowing(using: predicate).count }),
        ])
    }
  }
}
