import CoreData
import CoreDataPredicates
import Foundation
import StackSupport
import TestSupport
import Testing

/// Random predicates over decimals that saves round find the same objects before a save and after it, in SQL
/// and in memory (Decisions/0055).
struct DecimalLawTests {
  private static let seeds: [UInt64] =
    Seed.given.map { [$0] }
    ?? Array(1...(Soak.isOn ? 400 : 12))
  private static let predicatesPerSeed: Int = 60

  /// One population, unsaved or saved.
  private final class Place {
    let name: String
    private let stack: Stack
    let context: NSManagedObjectContext
    private var objects: [String: [Int: NSManagedObject]] = [:]

    init(_ kind: StoreKind, isSaved: Bool, seed: UInt64) throws {
      name = "\(kind.rawValue), \(isSaved ? "saved" : "unsaved")"
      stack = try Stack(kind, model: LawModel.rounding)
      context = stack.other()
      try context.performAndWait {
        LawPopulation(seed: seed).insert(into: context)
        if isSaved {
          try context.save()
          context.reset()
        }
        for (name, entity) in LawModel.entities {
          for object in try context.all(NSManagedObject.self, name) {
            objects[entity.root, default: [:]][object.lawNumber] = object
          }
        }
      }
    }

    private func resolve(_ value: PredicateValue) -> PredicateValue {
      switch value {
      case .object(let box):
        guard let mark = box.value as? ObjectMark, let object = objects[mark.root]?[mark.number] else {
          return value
        }
        return .object(ObjectBox(object))
      case .array(let members): return .array(members.map(resolve))
      case .set(let members): return .set(Set(members.map(resolve)))
      default: return value
      }
    }

    /// The numbers of the objects that a fetch finds; nil where it throws.
    func numbers(_ entity: String, _ node: PredicateNode, _ bindings: [String: PredicateValue]) -> [Int]? {
      PredicateClock.$fixed.withValue(Date(timeIntervalSinceReferenceDate: 800_000_000.5)) {
        context.performAndWait {
          let values: [String: Any] = bindings.mapValues { resolve($0).anyValue ?? NSNull() }
          let predicate: NSPredicate = makePredicate(node.mapConstants(resolve))
            .withSubstitutionVariables(values)
          let found: [NSManagedObject]? = try? context.all(NSManagedObject.self, entity, predicate)
          return found?.map(\.lawNumber).sorted()
        }
      }
    }
  }

  @Test func `random predicates find the same before a save and after it`() throws {
    var (asked, telling, differences): (Int, Int, Int) = (0, 0, 0)
    for seed in Self.seeds {
      let places: [Place] = try StoreKind.allCases.flatMap { kind in
        try [false, true].map { try Place(kind, isSaved: $0, seed: seed) }
      }
      var maker = PredicateMaker(seed: seed)
      for _ in 0..<Self.predicatesPerSeed {
        let entity: String = maker.pick(["LawThing", "LawPart", "LawOwner", "LawTag", "LawStep"])
        let node: PredicateNode = maker.predicate(
          PredicateMaker.Scope(entity: entity), maker.pick([0, 0, 1, 2]))
        if PredicateLawTests.dependsOnOrder(node) { continue }
        let found: [[Int]?] = places.map { $0.numbers(entity, node, maker.bindings) }
        guard let first = found[0], !found.contains(nil) else { continue }
        asked += 1
        if !first.isEmpty { telling += 1 }
        for (place, numbers) in zip(places, found) where numbers != first {
          differences += 1
          let text: String = LawCase(entity: entity, node: node, bindings: maker.bindings).text
          Issue.record(
            "seed \(seed), \(place.name): \(numbers ?? []), \(places[0].name): \(first), for \(text)")
        }
        if differences > 20 { return }
      }
    }
    print("decimals: \(asked) predicates, \(telling) find something")
    #expect(telling * 3 >= asked && asked * 2 >= Self.seeds.count * Self.predicatesPerSeed)
  }
}
