import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

@testable import CoreDataGraph

/// An engine whose rows others write to as well, as a database server's: it may say so.
final class SharedEngine: StoreEngine, @unchecked Sendable {
  // Sendable: the listener is guarded.

  private let inner: InMemoryEngine
  let rowFreshness: RowFreshness
  private let listener = Guarded<(@Sendable (ChangedRows) -> Void)?>(nil)

  init(layout: ModelLayout, _ freshness: RowFreshness) throws {
    inner = try InMemoryEngine(layout: layout)
    rowFreshness = freshness
  }

  func notifyChanges(_ listener: @escaping @Sendable (ChangedRows) -> Void) {
    self.listener.withLock { $0 = listener }
  }

  /// What another process does.
  func somebodyChanged(_ rows: ChangedRows) { listener.withLock { $0 }?(rows) }

  var layout: ModelLayout { inner.layout }
  var identifier: String { inner.identifier }
  var readOnlyReason: ReadOnlyReason? { nil }
  var metadata: [String: Any] { inner.metadata }
  var hasUnsavedMetadata: Bool { false }
  func setMetadata(_ metadata: [String: Any]) throws { try inner.setMetadata(metadata) }
  func close() throws { try inner.close() }
  func fetch(_ plan: FetchPlan) throws -> RowBatch { try inner.fetch(plan) }
  func fetch(_ plan: ProjectionPlan) throws -> ProjectedRows { try inner.fetch(plan) }
  func rows(of layout: EntityLayout, keys: [Int64]) throws -> RowBatch {
    try inner.rows(of: layout, keys: keys)
  }
  func members(of layout: EntityLayout, slot: Int, owners: [RowID]) throws -> [[RowID]] {
    try inner.members(of: layout, slot: slot, owners: owners)
  }
  func allocateKeys(for root: EntityLayout, count: Int) throws -> Int64 {
    try inner.allocateKeys(for: root, count: count)
  }
  func save(_ plan: consuming SavePlan) throws -> SaveOutcome { try inner.save(plan) }
  func checkWritable() throws { try inner.checkWritable() }
}

/// A kind of engine that only tests know, and its class.
final class SharedStore: EngineStore, @unchecked Sendable {
  static let freshness = Guarded<RowFreshness>(.aging)
  static let made = Guarded<SharedEngine?>(nil)

  private struct Kind: StoreEngineKind {
    let type: String = "Shared"

    func open(at url: URL?, layout: ModelLayout, options: StoreOpeningOptions) throws -> any StoreEngine {
      let engine = try SharedEngine(layout: layout, SharedStore.freshness.withLock { $0 })
      SharedStore.made.withLock { $0 = engine }
      return engine
    }
  }

  override class var kind: any StoreEngineKind { Kind() }
}
