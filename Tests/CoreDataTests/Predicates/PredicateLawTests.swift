import CoreData
import CoreDataPredicates
import Foundation
import StackSupport
import TestSupport
import Testing

/// A predicate gives the same objects in memory and from a store: random predicates over random objects.
///
/// In memory means by the rules of stores, where nil in arithmetic gives nil (Decisions/0013); where the
/// evaluation that throws instead has an answer, it must be the same.
struct PredicateLawTests {
  private static let seeds: ClosedRange<UInt64> = {
    if let given = Seed.given {
      return given...given
    }
    return 1...(Soak.isOn ? 10_000 : 500)
  }()
  private static let predicatesPerSeed: Int = 8
  private static let ordersPerSeed: Int = 2
  /// Seeds share a population, since a store costs more than many predicates.
  private static let seedsPerPopulation: UInt64 = 64

  @Test func `random predicates give the same objects in memory and from stores`() throws {
    var tally = LawTally()
    var stores: [LawStore] = []
    var population: UInt64 = .max
    for seed in Self.seeds {
      if population != seed / Self.seedsPerPopulation {
        population = seed / Self.seedsPerPopulation
        stores = try StoreKind.allCases.map { try LawStore($0, population: LawPopulation(seed: population)) }
      }
      var maker = PredicateMaker(seed: seed)
      for _ in 0..<Self.predicatesPerSeed {
        let entity: String = maker.pick([
          "LawThing", "LawThing", "LawPart", "LawPiece", "LawOwner", "LawTag", "LawStep",
        ])
        let node: PredicateNode = maker.predicate(
          PredicateMaker.Scope(entity: entity), maker.pick([0, 1, 1, 2, 3]))
        if Self.dependsOnOrder(node) { continue }
        let law = LawCase(entity: entity, node: node, bindings: maker.bindings)
        for store in stores {
          let outcome: LawCase.Outcome = law.run(store)
          tally.add(outcome, node, store.kind)
          if case .different(let text) = outcome { Self.report(law, store, seed, text) }
        }
        if tally.differences > 20 {
          print(tally.text)
          return
        }
      }
    }
    print(tally.text)
    if Self.seeds.count >= 500 { check(tally) }
  }

  /// Whether the values of a set's members are compared with a list as a whole: they come in any order.
  static func dependsOnOrder(_ node: PredicateNode) -> Bool {
    let text: String = Printer.print(node)
    return text.contains("nionOfObjects")
      && (text.contains(#/nionOfObjects\.[\w.#]+ [!=]=(\[\w+\])? [^0-9"'-]/#)
        || text.contains(#/[!=]=(\[\w+\])? [\w.$@#]*nionOfObjects/#))
  }

  /// A tame generator proves nothing.
  private func check(_ tally: LawTally) {
    for kind in StoreKind.allCases {
      let count: LawTally.Count = tally.counts[kind] ?? LawTally.Count()
      #expect(count.telling * 5 >= count.predicates * 2, "\(kind.rawValue)")
      #expect(count.refused * 200 <= count.predicates, "\(kind.rawValue)")
      if kind == .sqlite { #expect(count.inSQL * 2 >= count.predicates) }
    }
    let missing: Set<String> = LawFeatures.expected.filter { tally.features[$0] == nil }
    #expect(missing.isEmpty, "\(missing.sorted())")
  }

  @Test func `random orders give the same sequences in memory and from stores`() throws {
    var stores: [LawStore] = []
    var population: UInt64 = .max
    var counts: (agreed: Int, rows: Int, refused: Int) = (0, 0, 0)
    for seed in Self.seeds {
      if population != seed / Self.seedsPerPopulation {
        population = seed / Self.seedsPerPopulation
        stores = try StoreKind.allCases.map { try LawStore($0, population: LawPopulation(seed: population)) }
      }
      var maker = PredicateMaker(seed: ~seed)
      for _ in 0..<Self.ordersPerSeed {
        let order: LawOrder = LawOrder.make(&maker)
        for store in stores {
          switch order.run(store) {
          case .agreed(let rows): counts = (counts.agreed + 1, counts.rows + rows, counts.refused)
          case .refused: counts.refused += 1
          case .different(let text):
            Issue.record("seed \(seed), \(store.kind.rawValue): \(order.text)\n\(text)")
          }
        }
      }
    }
    print(
      "orders: \(counts.agreed) agree over \(counts.rows) rows, \(counts.refused) have no order in memory or in the store"
    )
    #expect(counts.agreed > counts.refused * 4)
  }

  /// Predicates on the objects' own attributes: what they say of related objects is the store's to know.
  @Test func `random predicates see unsaved changes`() throws {
    var telling: Int = 0
    var asked: Int = 0
    for seed in Self.seeds.prefix(Soak.isOn ? 400 : 20) {
      for kind in StoreKind.allCases {
        let store = try LawStore(kind, population: LawPopulation(seed: seed))
        var maker = PredicateMaker(seed: seed)
        let context: NSManagedObjectContext = try store.changedContext(&maker.random)
        try context.performAndWait {
          let live: [NSManagedObject] = try context.all(NSManagedObject.self, "LawThing")
          for _ in 0..<60 {
            let node: PredicateNode = maker.predicate(PredicateMaker.Scope(entity: "LawThing"), 1)
            guard node.isAboutAttributes else { continue }
            let values: [String: Any] = maker.bindings.mapValues { $0.anyValue ?? NSNull() }
            let predicate: NSPredicate = makePredicate(node).withSubstitutionVariables(values)
            let program = PredicateProgram(predicate.predicateNode())
            let wanted: Set<NSManagedObject> = Set(try live.filter { try program.evaluate($0) })
            let found: [NSManagedObject] = try context.all(NSManagedObject.self, "LawThing", predicate)
            #expect(Set(found) == wanted, "seed \(seed), \(kind.rawValue): \(Printer.print(node))")
            #expect(
              try context.count(for: context.request(NSManagedObject.self, "LawThing", predicate))
                == wanted.count)
            asked += 1
            if !wanted.isEmpty, wanted.count < live.count { telling += 1 }
          }
        }
      }
    }
    print("unsaved changes: \(asked) predicates, \(telling) match some objects and not others")
    #expect(telling * 3 >= asked)
  }

  private static func report(_ law: LawCase, _ store: LawStore, _ seed: UInt64, _ text: String) {
    let small = LawCase(
      entity: law.entity,
      node: law.node.shrunk {
        LawCase(entity: law.entity, node: $0, bindings: law.bindings).run(store).isDifferent
      }, bindings: law.bindings)
    guard case .different(let why) = small.run(store) else {
      Issue.record("seed \(seed), \(store.kind.rawValue): once, and not again: \(law.text)\n\(text)")
      return
    }
    Issue.record(
      """
      seed \(seed), \(store.kind.rawValue): the store gives other objects for
      \(small.text)
      \(why)
      made from \(law.text)
      """)
  }
}

extension PredicateNode {
  /// Whether it reads nothing but attributes of the object itself.
  fileprivate var isAboutAttributes: Bool {
    let features: Set<String> = LawFeatures.of(self)
    return features.isDisjoint(with: ["object", "SUBQUERY", "ANY", "ALL"])
      && keyPaths.allSatisfy { path in
        LawModel.entities["LawThing"]?.attributes.contains { $0.name == path } ?? false
      }
  }
}
