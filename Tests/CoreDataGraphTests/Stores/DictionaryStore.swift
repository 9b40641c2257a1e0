import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

@testable import CoreDataGraph

/// A store class of a program's own: a dictionary in memory. It overrides what Apple documents, and the one
/// way by which the graph reads and saves.
final class DictionaryStore: NSPersistentStore, @unchecked Sendable {
  // Sendable: what it holds guards itself.

  static let storeType: String = "Dictionary"
  private let content = Guarded<DictionaryRows?>(nil)
  /// What happened, in order.
  let journal = Guarded<[String]>([])
  /// The requests that the store was asked by.
  let requests = Guarded<[NSPersistentStoreRequest]>([])
  /// Thrown by saves.
  let failure = Guarded<(any Error)?>(nil)

  var rows: DictionaryRows? { content.withLock { $0 } }
  override var type: String { Self.storeType }

  override func loadMetadata() throws {
    if url?.lastPathComponent == "damaged" { throw CocoaError(.persistentStoreOpen) }
    content.withLock { $0 = DictionaryRows(layout: runtime.layout) }
    metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString]
    journal.withLock { $0.append("load") }
  }

  override func didAdd(to coordinator: NSPersistentStoreCoordinator) {
    journal.withLock { $0.append("add") }
  }

  override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
    journal.withLock { $0.append("remove") }
  }

  override func operations(for caller: StoreCaller) throws -> any StoreOperations {
    if let request = caller.request { requests.withLock { $0.append(request) } }
    if caller.request is NSSaveChangesRequest, let failure = failure.withLock({ $0 }) { throw failure }
    guard let rows = content.withLock({ $0 }) else { throw StoreError.closed }
    return rows
  }

  override func close() throws { content.withLock { $0?.close() } }
}

/// A store of a coordinator, of whatever class, as a store under test: through the same operations by which
/// contexts ask it.
final class TestedProgramStore: StoreOperations, StoreDescribing, StoreClosing, @unchecked Sendable {
  // Sendable: immutable.

  let store: NSPersistentStore
  private let context: NSManagedObjectContext
  private let coordinator: NSPersistentStoreCoordinator

  init(_ model: NSManagedObjectModel, type: String, url: URL? = nil) throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
    context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
  }

  private func operations() throws -> any StoreOperations { try store.operations(for: StoreCaller(context)) }

  var layout: ModelLayout { store.runtime.layout }
  var identifier: String { store.identifier }
  var readOnlyReason: ReadOnlyReason? { store.readOnlyReason }
  var metadata: [String: Any] { store.metadata }
  var hasUnsavedMetadata: Bool { store.hasUnsavedMetadata }
  func setMetadata(_ metadata: [String: Any]) throws { store.metadata = metadata }
  func close() throws { try store.close() }

  func fetch(_ plan: FetchPlan) throws -> RowBatch { try operations().fetch(plan) }
  func fetchIDs(_ plan: FetchPlan) throws -> [RowID] { try operations().fetchIDs(plan) }
  func count(_ plan: FetchPlan) throws -> Int { try operations().count(plan) }
  func fetch(_ plan: ProjectionPlan) throws -> ProjectedRows { try operations().fetch(plan) }
  func rows(of layout: EntityLayout, keys: [Int64]) throws -> RowBatch {
    try operations().rows(of: layout, keys: keys)
  }
  func members(of layout: EntityLayout, slot: Int, owners: [RowID]) throws -> [[RowID]] {
    try operations().members(of: layout, slot: slot, owners: owners)
  }
  func members(of layout: EntityLayout, slot: Int, owner: RowID, among candidates: [RowID]) throws -> [RowID]
  {
    try operations().members(of: layout, slot: slot, owner: owner, among: candidates)
  }
  func member(
    of layout: EntityLayout, slot: Int, owner: RowID, after member: RowID, leftOut: Set<RowID>
  ) throws -> RowID? {
    try operations().member(of: layout, slot: slot, owner: owner, after: member, leftOut: leftOut)
  }
  func allocateKeys(for root: EntityLayout, count: Int) throws -> Int64 {
    try operations().allocateKeys(for: root, count: count)
  }
  func save(_ plan: consuming SavePlan) throws -> SaveOutcome { try operations().save(plan) }
  func checkWritable() throws { try operations().checkWritable() }
}
