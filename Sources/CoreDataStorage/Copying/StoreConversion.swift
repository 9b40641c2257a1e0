import CoreDataModel
import Foundation

/// Makes a new store, of any kind, with the contents of another one: rows, relationships, values kept in
/// files, the program's metadata. The new store has a UUID of its own.
///
/// The kind of the new store decides how: by copying the file, or object by object (``StoreTransfer``). The
/// store appears at its place when it is complete, and verified if that is wanted (``StagedStore``).
package struct StoreConversion {
  package struct Outcome {
    /// The UUID of the new store.
    package var identifier: String = ""
    /// Whether objects have other numbers than in the source.
    package var isRenumbered: Bool = false
    /// nil if nothing was verified.
    package var verified: StoreComparison.Summary?
    /// The first differences; the new store was then discarded.
    package var differences: [StoreComparison.Difference] = []
    package var metadataDiffers: Bool = false
    /// References that the new store does not have, since they lead to no such object, by properties; and
    /// rows that stand for no object.
    package var leftOut: [StoreProblem] = []

    /// Whether rows of the source are in the new store no more.
    package var lacksRows: Bool { leftOut.contains { $0.kind == .entity || $0.kind == .row } }
    package var isEqual: Bool { (verified?.differences ?? 0) == 0 && !metadataDiffers }
  }

  /// The steps, for reports of progress.
  package enum Step { case copying, verifying }

  private let source: any StoreEngine
  private let entityNames: Set<String>?
  private let note: (Step, _ rows: Int) throws -> Void

  /// Rows that are in memory at a time where the new store can be written in parts.
  private static let rowsPerSave: Int = 2000
  private static let differencesKept: Int = 20

  /// `note` is called with the number of rows done since the last call; an error it throws ends the
  /// conversion, with nothing left behind.
  package init(
    of source: any StoreEngine, entityNames: Set<String>?,
    note: @escaping (Step, _ rows: Int) throws -> Void = { _, _ in }
  ) {
    self.source = source
    self.entityNames = entityNames
    self.note = note
  }

  /// Throws what the stores throw, and for a place that is taken; nothing is left behind then.
  package func run(to url: URL, kind: any StoreEngineKind, verifies: Bool) throws -> Outcome {
    let staged = try StagedStore(at: url)
    defer { staged.discard() }
    var outcome = Outcome()
    try staged.naming {
      try make(staged.temporary, kind, &outcome)
      if verifies { try verify(staged.temporary, kind, &outcome) }
    }
    try note(verifies ? .verifying : .copying, 0)
    if outcome.isEqual { try staged.publish() }
    return outcome
  }

  private var entities: [EntityLayout] {
    source.layout.entities.filter { entityNames?.contains($0.name) ?? true }
  }

  private func make(_ url: URL, _ kind: any StoreEngineKind, _ outcome: inout Outcome) throws {
    var options = StoreOpeningOptions()
    options.entityNames = entityNames
    // Whoever opened the source has chosen its model.
    options.checksModel = false
    let target: any StoreEngine = try kind.makeStore(
      at: url, layout: source.layout, options: options, copying: source
    ) { target in
      try source.withOneState { state in
        outcome.leftOut = try StoreTransfer.copy(
          entities, from: state, isReadOnly: true, to: target, rowsPerSave: Self.rowsPerSave
        ) { try note(.copying, $0) }.leftOut
      }
      try target.setMetadata(Self.ownMetadata(source.metadata))
      _ = try target.save(SavePlan())
    }
    outcome.identifier = target.identifier
    outcome.isRenumbered = target.hasOneKeySequence && !source.hasOneKeySequence
    try target.close()
  }

  private func verify(_ url: URL, _ kind: any StoreEngineKind, _ outcome: inout Outcome) throws {
    var options = StoreOpeningOptions(isReadOnly: true)
    options.createsIfMissing = false
    options.entityNames = entityNames
    options.checksModel = false
    options.looksTargetsUp = true
    let made: any StoreEngine = try kind.open(at: url, layout: source.layout, options: options)
    defer { try? made.close() }
    let comparison = StoreComparison(
      left: source, right: made,
      correspondence: outcome.isRenumbered
        ? try .byRanks(source, made, among: entityNames) : .byKeys(source, made, among: entityNames),
      // What the new store can't have is no difference: it is listed.
      leftObjects: outcome.isRenumbered && !outcome.leftOut.isEmpty
        ? ObjectDirectory(try entities.map { try RowScan($0, in: source) }) : nil
    ) { try note(.verifying, $0) }
    var differences: [StoreComparison.Difference] = []
    outcome.verified = try comparison.run { difference in
      if differences.count < Self.differencesKept { differences.append(difference) }
    }
    outcome.differences = differences
    outcome.metadataDiffers = !NSDictionary(dictionary: Self.ownMetadata(source.metadata))
      .isEqual(NSDictionary(dictionary: Self.ownMetadata(made.metadata)))
  }

  /// The program's part of a store's metadata.
  static func ownMetadata(_ metadata: [String: Any]) -> [String: Any] {
    let others: [String] =
      StoreMetadata.Key.ofTheFile + [StoreMetadata.Key.uuid, EntityVersions.structuresKey]
    return metadata.filter { !others.contains($0.key) }
  }
}
