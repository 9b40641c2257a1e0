import CoreDataGraph
import CoreDataModel
import CoreDataStorage
import Foundation

/// An inferred step that the store's kind does within its file, in one transaction: no object is loaded, and
/// objects keep their numbers.
struct InPlaceStep {
  /// Whether steps can be done in place.
  enum Choice {
    case possible(InPlaceStep)
    /// Objects are copied, for these reasons, a sentence each.
    case copied(reasons: [String])

    var step: InPlaceStep? { if case .possible(let step) = self { step } else { nil } }
    var reasonsForCopy: [String] { if case .copied(let reasons) = self { reasons } else { [] } }
  }

  let planned: PlannedMigration
  private let kind: any StoreEngineKind
  private let plan: SchemaPlan
  private let options: StoreOpeningOptions
  private let url: URL

  /// `counting`: whether the plan counts rows, and looks for what in them stands in the way; a run does that
  /// in its transaction.
  static func choice(_ steps: [MigrationStep], of store: OutdatedStore, counting: Bool) throws -> Choice {
    guard steps.count == 1, let step = steps.first else {
      return .copied(reasons: [
        "There are \(steps.count) steps, and only one step at a time is done in place."
      ])
    }
    // How it is done depends on what gives the values.
    if !step.lacking.isEmpty { return .copied(reasons: []) }
    guard let inference = step.inference else {
      return .copied(reasons: [
        "The mapping model is not inferred, so its expressions make every object anew."
      ])
    }
    // Statements don't count the members of relationships.
    if inference.countsMembers {
      return .copied(reasons: [
        "A to-many relationship gets other limits, which are checked object by object."
      ])
    }
    guard let kind = StoreRegistry.fileKind(ofType: store.type) else {
      return .copied(reasons: ["The store is of the program's own type '\(store.type)'."])
    }
    let made = try InPlaceStep(step, inference, of: store, kind, counting: counting)
    return made.planned.canRunInPlace ? .possible(made) : .copied(reasons: made.planned.obstacles)
  }

  private init(
    _ step: MigrationStep, _ inference: MappingInference, of store: OutdatedStore,
    _ kind: any StoreEngineKind, counting: Bool
  ) throws {
    let (source, target) = (ModelLayout(model: step.source), ModelLayout(model: step.destination))
    plan = SchemaPlan(source: source, target: target, ModelCorrespondence(inference.difference))
    var options = StoreOpeningOptions(apple: step.sourceOptions(store))
    options.countsRows = counting
    self.options = options
    (self.kind, url) = (kind, store.url)
    planned = try kind.migrationPlan(at: store.url, plan: plan, options: options)
  }

  func run(verifies: Bool, note: ((_ done: Int, _ total: Int) throws -> Void)?) throws {
    let progress = Progress(totalUnitCount: 1)
    _ = try kind.migrate(
      at: url, plan: plan, options: options, verification: verifies ? .everything : .rows
    ) { state in
      if progress.isCancelled { throw MigrationFailure.cancelled(url) }
      // One more, for the end: Foundation divides by it, and there may be no statement.
      progress.totalUnitCount = Int64(state.stepCount) + 1
      progress.completedUnitCount = Int64(state.step)
      try note?(state.step, state.stepCount)
    }
    progress.completedUnitCount = progress.totalUnitCount
  }
}
