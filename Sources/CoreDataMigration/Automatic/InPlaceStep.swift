import CoreDataGraph
import CoreDataModel
import CoreDataStorage
import Foundation

/// An inferred step that the store's kind does within its file, in one transaction: no object is loaded, and
/// objects keep their numbers.
struct InPlaceStep {
  let planned: PlannedMigration
  private let kind: any StoreEngineKind
  private let plan: SchemaPlan
  private let options: StoreOpeningOptions
  private let url: URL

  /// nil if the store has to be migrated object by object. `counting`: whether the plan counts rows, and
  /// looks for what in them stands in the way; a run does that in its transaction.
  init?(_ step: MigrationStep, of store: OutdatedStore, counting: Bool) throws {
    // Statements don't count the members of relationships.
    guard let inference = step.inference, !inference.countsMembers,
      let kind = StoreRegistry.fileKind(ofType: store.type)
    else {
      return nil
    }
    let (source, target) = (ModelLayout(model: step.source), ModelLayout(model: step.destination))
    plan = SchemaPlan(source: source, target: target, ModelCorrespondence(inference.difference))
    var options = StoreOpeningOptions(apple: step.sourceOptions(store))
    options.countsRows = counting
    self.options = options
    (self.kind, url) = (kind, store.url)
    planned = try kind.migrationPlan(at: store.url, plan: plan, options: options)
    if !planned.canRunInPlace { return nil }
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
