import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The steps of an examination, for `examineStore` and `clarus check`, which chooses models by itself.
package enum StoreExaminer {
  /// A model that a store carries may not be the one that its metadata names.
  package static func mismatch(
    _ model: NSManagedObjectModel, _ versions: EntityVersions, named name: String
  ) -> StoreProblem? {
    let difference: ModelMatch.Difference = ModelMatch.difference(model, versions)
    if difference.count == 0 { return nil }
    return StoreProblem(
      .model, count: difference.count,
      "The model \(name) is not the one that the metadata names. \(difference.sentence)")
  }

  /// The entities of an open store with the numbers of their own rows, in the store's order, without abstract
  /// ones.
  package static func counts(
    of engine: any StoreEngine, among names: Set<String>?
  ) throws -> [(name: String, count: Int)] {
    try engine.layout.entities
      .filter { !$0.isAbstract && names?.contains($0.name) ?? true }
      .map { entity in
        var plan = FetchPlan(entity: entity)
        plan.includesSubentities = false
        return (entity.name, try engine.count(plan))
      }
  }

  static func examine(_ url: URL, model: NSManagedObjectModel?) throws -> StoreExamination {
    let (kind, isStore): (any StoreEngineKind, Bool) = StoreRegistry.kindAndCertainty(ofFileAt: url)
    var options = StoreOpeningOptions(isReadOnly: true)
    options.createsIfMissing = false
    options.countsRows = false
    var problems = StoreProblems()
    var counts: [String: Int] = [:]
    var file: StoreInspection?
    var layout: ModelLayout?
    do {
      let found: StoreInspection = try kind.inspect(url, options: options)
      file = found
      guard let chosen = model ?? found.model else {
        throw GraphError.unsupported(
          "Examining the store \(url.path) without a model",
          advice: "\(found.modelProblem ?? "It carries none.") Pass the model that it was written with.")
      }
      if let problem = found.metadataProblem { problems.add(StoreProblem(.model, problem)) }
      let hashes: [String: Data] = found.versions?.hashes ?? [:]
      options.entityNames = ModelMatch.configuration(chosen, storeHashes: hashes)
      // The store's own model is compared here, so that a difference is a result; another one has to fit.
      options.checksModel = model != nil
      if model == nil, options.entityNames == nil, let versions = found.versions,
        let problem = mismatch(chosen, versions, named: "carried by the store")
      {
        problems.add(problem)
      }
      options.readsMissingFilesAsNil = true
      options.examines = true
      options.looksTargetsUp = true
      options.warnsOfForbiddenFiles = false
      let resolved = ModelLayout(model: chosen)
      layout = resolved
      let engine: any StoreEngine = try kind.open(at: url, layout: resolved, options: options)
      defer { try? engine.close() }
      counts = Dictionary(
        try self.counts(of: engine, among: options.entityNames).map { ($0.name, $0.count) },
        uniquingKeysWith: { first, _ in first })
      let check = StoreCheck(of: engine, entityNames: options.entityNames) { _ in
        try Task.checkCancellation()
      }
      for problem in try check.run() { problems.add(problem) }
    } catch let error as StoreError {
      guard isStore, let damage = StoreProblem(damage: error) else { throw error }
      problems.add(damage)
    }
    return StoreExamination(
      counts: counts, problems: problems.all, storeUUID: file?.uuid ?? "", layout: layout)
  }
}
