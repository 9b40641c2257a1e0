import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates
import Foundation

// Stores compare stored values and don't call a class's own accessors. What a fetch evaluates in memory
// (objects with unsaved changes, conditions that a store can't evaluate) also reads the slots: otherwise the
// result would differ as soon as any object of the entity had changed (Decisions/0028). Decimals are read as
// a save would keep them (Decisions/0055). Code of the program, a block or a comparator, is called here for
// every object and uses accessors.

/// Reads properties by name directly from slots, without accessors.
enum PersistedValueReading {
  static func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    let notes: ThreadLocalState = .ofThisThread
    let before: Bool = notes.readsPersistedValues
    notes.readsPersistedValues = true
    defer { notes.readsPersistedValues = before }
    return try body()
  }
}

/// Whether a fetch of a predicate would find objects of a context, with their unsaved changes.
package struct FetchTest {
  private let exact: PersistedValueTest
  /// For objects of stores that round decimals; nil if that makes no difference.
  private let rounded: PersistedValueTest?

  /// For objects of an entity. Ids and objects of other contexts in the predicate mean the context's own.
  package init(_ predicate: NSPredicate, of entity: NSEntityDescription, in context: NSManagedObjectContext) {
    let model: ModelRuntime? = context.persistentStoreCoordinator?.runtime
    let readsMayDiffer: Bool = model?.readsMayDiffer ?? false
    let node: PredicateNode = FetchParameters.bind(
      predicate.structureNode(), to: context, namesIDs: model?.hasObjectIDs != true)
    exact = PersistedValueTest(node, readsMayDiffer: readsMayDiffer)
    let runtime: EntityRuntime? = entity.name.flatMap { model?.runtime(named: $0) }
    rounded =
      if let runtime, model?.hasRoundedDecimals == true, node.hasRoundedConstants {
        PersistedValueTest(node.comparingRounded(from: runtime), readsMayDiffer: readsMayDiffer)
      } else { nil }
  }

  package func holds(_ object: NSManagedObject) throws -> Bool {
    if let rounded, !object.keepsExactDecimals { return try rounded.evaluate(object) }
    return try exact.evaluate(object)
  }
}

/// A fetch's order, for objects of the graph.
package struct PersistedValueOrder {
  private let steps: [(descriptor: NSSortDescriptor, readsPersistedValues: Bool)]

  package init(_ descriptors: [NSSortDescriptor], in context: NSManagedObjectContext) {
    let readsMayDiffer: Bool = context.persistentStoreCoordinator?.runtime.readsMayDiffer ?? false
    steps = descriptors.map { descriptor in
      guard let term = descriptor.sortTerm else { return (descriptor, false) }
      // By name: a key path would call the getter, which may transform the stored value.
      return (NSSortDescriptor.makeSortDescriptor(term), readsMayDiffer)
    }
  }

  package func compare(_ left: NSManagedObject, _ right: NSManagedObject) throws -> ComparisonResult {
    for step in steps {
      let result: ComparisonResult =
        step.readsPersistedValues
        ? try PersistedValueReading.run { try step.descriptor.compareThrowing(left, to: right) }
        : try step.descriptor.compareThrowing(left, to: right)
      if result != .orderedSame { return result }
    }
    return .orderedSame
  }
}

/// A fetch's predicate, for objects of the graph.
struct PersistedValueTest {
  private let parts: [(program: PredicateProgram, readsPersistedValues: Bool)]

  /// `node`: contains constants of the objects' context.
  init(_ node: PredicateNode, readsMayDiffer: Bool) {
    func part(_ node: PredicateNode, _ readsPersistedValues: Bool) -> (PredicateProgram, Bool) {
      (PredicateProgram(node), readsPersistedValues)
    }
    guard readsMayDiffer, node.firstProgramCode != nil else {
      parts = [part(node, readsMayDiffer)]
      return
    }
    let conjuncts: [PredicateNode] = node.conjuncts
    let plain: [PredicateNode] = conjuncts.filter { $0.firstProgramCode == nil }
    parts =
      (plain.isEmpty ? [] : [part(.all(plain), true)])
      + [part(.all(conjuncts.filter { $0.firstProgramCode != nil }), false)]
  }

  func evaluate(_ object: NSManagedObject) throws -> Bool {
    for part in parts {
      let holds: Bool =
        part.readsPersistedValues
        ? try PersistedValueReading.run { try part.program.evaluate(object) }
        : try part.program.evaluate(object)
      if !holds { return false }
    }
    return true
  }

  func filter(_ objects: [NSManagedObject]) throws -> [NSManagedObject] {
    try parts.reduce(objects) { left, part in
      part.readsPersistedValues
        ? try PersistedValueReading.run { try part.program.filter(left) } : try part.program.filter(left)
    }
  }
}
