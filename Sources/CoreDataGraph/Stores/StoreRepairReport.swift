import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// What a repair saved and lost, see ``NSPersistentStoreCoordinator/repairStore(at:to:type:model:)``: what
/// `clarus check --repair` prints, as values. An addition of Clarus.
public struct StoreRepairReport: Sendable {
  /// The objects of one entity itself, without its sub-entities.
  public struct Entity: Sendable, Hashable {
    public let name: String
    /// How many are in the new store.
    public let saved: Int
    /// The keys of rows that were found and could not be read, or not be written.
    public let lost: [Int64]
    /// How many objects were found beside these whose keys can't be read.
    public let lostWithoutKey: Int
    /// Whether more may be lost than anybody can count, because pages of the table can't be read
    /// or the file is cut off.
    public let mayHaveLostMore: Bool
  }

  /// Rows of a table that stand for no object, for one reason.
  public struct LostRows: Sendable, Hashable {
    public let table: String
    /// In ascending order.
    public let keys: [Int64]
    /// What is wrong with the rows, as the end of a sentence that begins with them.
    public let reason: String
  }

  /// A table some of whose pages can't be read.
  public struct DamagedTable: Sendable, Hashable {
    public let table: String
    /// The root entity whose objects it holds; nil for the pairs of a many-to-many relationship.
    public let entity: String?
    /// Why all of its rows are lost, a missing column for instance; nil for a table that only has damaged
    /// pages.
    public let reason: String?
    /// Nothing tells which rows they held.
    public let unreadablePages: Int
    /// Rows that were found, and are too damaged to be read.
    public let unreadableRows: Int
    /// Pages that nothing refers to any more, and that had rows of the table.
    public let recoveredPages: Int
    /// The rows that were read from these pages. They may be former versions.
    public let recoveredRows: Int
    /// Their keys in ascending order; none for pairs.
    public let recoveredKeys: [Int64]
  }

  public let entities: [Entity]
  public let lostRows: [LostRows]
  public let damagedTables: [DamagedTable]
  /// What differs in the new store: references that became nil, values that could not be read.
  public let changes: [StoreExamination.Problem]
  /// What the model requires and objects of the new store do not have: the store opens, and these objects
  /// can't be saved until they have it.
  public let invalid: [StoreExamination.Problem]
  /// What was wrong with the file itself.
  public let problems: [StoreExamination.Problem]
  /// Whether nothing was lost and nothing changed.
  public let isComplete: Bool

  /// The same for the command line, with ids of rows in place of URIs.
  package let outcome: StoreRepair.Outcome
  package let problemsFound: [StoreProblem]

  init(_ outcome: StoreRepair.Outcome, _ problems: [StoreProblem], storeUUID: String, layout: ModelLayout) {
    self.outcome = outcome
    problemsFound = problems
    let damagedRoots: Set<String> = Set(outcome.damaged.compactMap(\.entity))
    entities = outcome.entities.map { entity in
      let root: Int? = layout.byName[entity.name]?.rootIndex
      return Entity(
        name: entity.name, saved: entity.saved, lost: entity.lost, lostWithoutKey: entity.lostWithoutKey,
        mayHaveLostMore: outcome.isCutOff
          || root.map { damagedRoots.contains(layout.entities[$0].name) } ?? false)
    }
    lostRows = outcome.unreachable.map { LostRows(table: $0.table, keys: $0.keys, reason: $0.reason) }
    damagedTables = outcome.damaged.map { table in
      DamagedTable(
        table: table.table, entity: table.entity, reason: table.reason,
        unreadablePages: table.unreadablePages,
        unreadableRows: table.unreadableRows, recoveredPages: table.recoveredPages,
        recoveredRows: table.recoveredRows, recoveredKeys: table.recoveredKeys)
    }
    func published(_ problem: StoreProblem) -> StoreExamination.Problem {
      StoreExamination.Problem(problem, storeUUID: storeUUID, layout: layout)
    }
    changes = outcome.changes.map(published)
    invalid = outcome.invalid.map(published)
    self.problems = problems.map(published)
    // Rows that the file counts and that nobody finds any more are not known; damage is then the reason.
    isComplete =
      outcome.entities.allSatisfy { $0.lost.isEmpty && $0.lostWithoutKey == 0 }
      && outcome.unreachable.allSatisfy(\.keys.isEmpty)
      && outcome.changes.isEmpty && outcome.damaged.isEmpty
      && !problems.contains { $0.kind == .damage }
  }
}

extension NSPersistentStoreCoordinator {
  /// Copies what can be read of a store into a new one, and mends what is wrong with it. The store itself
  /// stays as it is. An addition of Clarus.
  ///
  ///     let report = try NSPersistentStoreCoordinator.repairStore(at: damaged, to: repaired)
  ///     if !report.isComplete { for change in report.changes { print(change.message) } }
  ///
  /// Of a damaged or cut off SQLite file as much is copied as its rows can be found, also on pages that
  /// nothing refers to any more. References to objects that are not there become nil, one-to-one
  /// relationships that only one side knows are completed, and rows that can't be read are left out; the
  /// report lists all of it. The new store has a UUID of its own, and appears when it is complete.
  ///
  /// - Parameters:
  ///   - url: the store.
  ///   - destination: the place of the new store. There must be no file.
  ///   - type: the kind of the new store, `NSSQLiteStoreType` for instance; nil for that of the store.
  ///   - model: needed for stores that carry none, which XML and binary stores are; for others optional.
  ///
  /// Throws, and leaves nothing at the destination, if there is no store, no model, or something at the
  /// destination already, if the new store can't be written (a full disk), and `CancellationError` in a task
  /// that was cancelled.
  ///
  /// Cost: reads the whole store twice, and blocks the thread meanwhile; 16 bytes of memory a row, and a page
  /// of rows, for a SQLite destination. Others are in memory as a whole. A store that is open in this process
  /// is copied as it was last saved.
  @discardableResult
  public class func repairStore(
    at url: URL, to destination: URL, type: String? = nil, model: NSManagedObjectModel? = nil
  ) throws -> StoreRepairReport {
    try withCocoaErrors(destination) {
      try StoreRepairer.repair(url, to: destination, type: type, model: model)
    }
  }
}

/// The steps of a repair, for `repairStore` and `clarus check --repair`, which chooses models by itself.
package enum StoreRepairer {
  static func repair(
    _ url: URL, to destination: URL, type: String?, model: NSManagedObjectModel?
  ) throws -> StoreRepairReport {
    let (source, isStore): (any StoreEngineKind, Bool) = StoreRegistry.kindAndCertainty(ofFileAt: url)
    var options = StoreOpeningOptions(isReadOnly: true)
    options.createsIfMissing = false
    options.countsRows = false
    options.salvages = true
    options.examines = true
    options.looksTargetsUp = true
    options.readsMissingFilesAsNil = true
    options.warnsOfForbiddenFiles = false
    let kind: any StoreEngineKind
    if let type {
      guard let known = StoreRegistry.fileKind(ofType: type) else {
        throw GraphError.unsupported(
          "Repairing a store into one of the type '\(type)'",
          advice: "Use \(StoreRegistry.fileKinds.map { "\"\($0.type)\"" }.joined(separator: ", ")).")
      }
      kind = known
    } else {
      kind = source
    }
    let file: StoreInspection = try source.inspect(url, options: options)
    guard isStore, let chosen = model ?? file.model else {
      throw GraphError.unsupported(
        "Repairing the store \(url.path) without a model",
        advice: "\(file.modelProblem ?? "It carries none.") Pass the model that it was written with.")
    }
    options.entityNames = ModelMatch.configuration(chosen, storeHashes: file.versions?.hashes ?? [:])
    options.checksModel = model != nil
    let engine: any StoreEngine = try source.open(
      at: url, layout: ModelLayout(model: chosen), options: options)
    defer { try? engine.close() }
    return try run(
      engine, entityNames: options.entityNames, to: destination, kind: kind, storeUUID: file.uuid,
      known: file.metadataProblem.map { [StoreProblem(.model, $0)] } ?? []
    ) { _ in try Task.checkCancellation() }
  }

  /// `engine` was opened to salvage, with values in missing files as nil. `known`: what is known of the file
  /// already. An error that `note` throws ends the repair.
  package static func run(
    _ engine: any StoreEngine, entityNames: Set<String>?, to url: URL, kind: any StoreEngineKind,
    storeUUID: String, known: [StoreProblem], note: @escaping (_ objects: Int) throws -> Void
  ) throws -> StoreRepairReport {
    let problems: [StoreProblem] = known.map(\.withoutCure) + damages(of: engine, unless: known)
    var outcome: StoreRepair.Outcome = try StoreRepair(of: engine, entityNames: entityNames, note: note)
      .run(to: url, kind: kind)
    // What is wrong with the file is told once.
    outcome.changes.removeAll { change in problems.contains { $0.message.contains(change.message) } }
    return StoreRepairReport(outcome, problems, storeUUID: storeUUID, layout: engine.layout)
  }

  /// Rows on damaged pages are not found, so nobody can name them: the damage itself is reported. Indexes are
  /// made anew.
  private static func damages(of engine: any StoreEngine, unless known: [StoreProblem]) -> [StoreProblem] {
    if known.contains(where: { $0.kind == .damage }) { return [] }
    do {
      return try engine.ownProblems().filter { [.damage, .index].contains($0.kind) }
    } catch let error as StoreError {
      return [StoreProblem(damage: error)?.withoutCure ?? StoreProblem(.damage, error.message().description)]
    } catch {
      return [StoreProblem(.damage, ErrorMessage.reason(of: error))]
    }
  }
}
