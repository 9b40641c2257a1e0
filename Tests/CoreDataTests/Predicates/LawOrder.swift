import CoreData
import CoreDataPredicates
import Foundation
import StackSupport

/// An order with its limit and offset, asked of objects in memory and of their store.
struct LawOrder {
  let entity: String
  let predicate: PredicateNode
  let descriptors: [NSSortDescriptor]
  let limit: Int
  let offset: Int

  enum Outcome {
    case agreed(rows: Int)
    /// Neither memory nor the store orders such values, or one of them doesn't.
    case refused(String)
    case different(String)
  }

  /// Up to three keys: attributes, also of related objects, and counts of members.
  static func make(_ maker: inout PredicateMaker) -> LawOrder {
    let entity: String = maker.pick(["LawThing", "LawPart", "LawOwner", "LawTag", "LawStep"])
    let count: Int = maker.pick([1, 1, 2, 3])
    let descriptors: [NSSortDescriptor] = (0..<count).map { _ in
      NSSortDescriptor(
        key: key(&maker, entity), ascending: maker.chance(1, of: 2),
        comparison: maker.pick(StringComparison.allCases))
    }
    // Nothing that fails for some rows: there the order of the rest would mean little.
    let kind: LawKind = maker.pick([.integer, .text, .flag])
    let predicate: PredicateNode =
      maker.chance(1, of: 2)
      ? .constant(true)
      : maker.compare(
        maker.value(kind, PredicateMaker.Scope(entity: entity), 0), .notEqualTo,
        .constant(LawValues.constant(kind, &maker.random)))
    return LawOrder(
      entity: entity, predicate: predicate, descriptors: descriptors, limit: maker.pick([0, 0, 1, 5, 100]),
      offset: maker.pick([0, 0, 1, 7, 100]))
  }

  private static func key(_ maker: inout PredicateMaker, _ name: String) -> String {
    let entity: LawEntity = maker.entity(name)
    if maker.chance(1, of: 4), !entity.toOne.isEmpty {
      let step: (name: String, entity: String) = maker.pick(entity.toOne)
      return "\(step.name).\(key(&maker, step.entity))"
    }
    return maker.pick(entity.attributes).name
  }

  func run(_ store: LawStore) -> Outcome {
    store.context.performAndWait { runOnQueue(store) }
  }

  private func runOnQueue(_ store: LawStore) -> Outcome {
    let wanted: [NSManagedObject]
    do {
      // What the descriptors leave equal comes by key; the model has no indexes.
      let ordered: [NSManagedObject] = try (store.rows[entity] ?? [])
        .filterThrowing(using: makePredicate(store.resolve(predicate)))
        .sortedThrowing(using: descriptors)
      let rest: ArraySlice<NSManagedObject> = ordered.dropFirst(offset)
      wanted = Array(limit > 0 ? rest.prefix(limit) : rest)
    } catch {
      return .refused("\(error)")
    }
    do {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      request.predicate = makePredicate(store.resolve(predicate))
      request.sortDescriptors = descriptors
      request.fetchLimit = limit
      request.fetchOffset = offset
      let found: [NSManagedObject] = try store.context.fetch(request)
      if found == wanted { return .agreed(rows: found.count) }
      return .different("memory \(wanted.map(\.lawNumber))\nstore  \(found.map(\.lawNumber))")
    } catch {
      return .refused("\(error)")
    }
  }

  var text: String {
    "\(entity): \(Printer.print(predicate)) by \(descriptors.map { "\($0)" }), limit \(limit), offset \(offset)"
  }
}
