import CoreDataModel
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A store that is one file: read as a whole when it is opened, kept in memory, and written as a whole by
/// each save, with ``StoreOpeningOptions/fillsBeforeWriting`` by none before `writeFromNowOn()`.
///
/// Cost: opening and every save are linear in the whole store; reading is that of `InMemoryEngine`.
package final class AtomicEngine: StoreEngine, @unchecked Sendable {
  // Sendable: `file`, `stamp`, `metadataState`, `isFilling`, `hasWritten`, `leftOut` and `isClosed` are
  // accessed under `lock` only; the rest is immutable.

  package let layout: ModelLayout
  package let identifier: String
  package let readOnlyReason: ReadOnlyReason?
  package var url: URL { lock.withLock { file.url } }
  package var fileURL: URL? { url }
  package var rowFreshness: RowFreshness { .alwaysInMemory }
  package var hasOneKeySequence: Bool { true }

  private let format: any AtomicStoreFormat
  private let writable: WritableValues
  private let rehearsesSaves: Bool
  /// Whether saves stay in memory.
  private var isFilling: Bool
  /// Whether the file is one that this engine has read or written.
  private var hasWritten = true
  private var file: AtomicFile
  private let memory: InMemoryEngine
  /// Held by whoever writes. Readers of `memory` don't need it.
  private let lock = NSLock()
  /// nil until a save has created the file at the place that the store was moved to.
  private var stamp: FileStamp?
  private var metadataState: (value: StoreMetadata, isChanged: Bool)
  private var isClosed = false
  /// What of the file was not read, until it is written without that.
  private var leftOut = LeftOutParts()
  private let salvages: Bool

  // MARK: Opening

  /// Opens a store, or creates it if there is none.
  package init(
    _ format: any AtomicStoreFormat, at url: URL, layout: ModelLayout, options: StoreOpeningOptions
  ) throws {
    self.format = format
    self.layout = layout
    writable = WritableValues(layout)
    rehearsesSaves = options.rehearsesSaves
    isFilling = options.fillsBeforeWriting
    salvages = options.salvages
    file = AtomicFile(url, timeoutInSeconds: options.timeoutInSeconds)
    memory = try InMemoryEngine(layout: layout, hasOneKeySequence: true)
    try format.check(layout)
    let mayWrite: Bool = !options.isReadOnly && file.isWritable
    readOnlyReason = options.isReadOnly ? .requested : mayWrite ? nil : .permission
    if let objection = file.objection { throw StoreError.invalidFile(url: url, reason: objection) }
    let found: FileStamp? = file.stamp
    if found == nil || (found?.size == 0 && mayWrite) {
      guard options.createsIfMissing, !options.isReadOnly else { throw Self.missing(url) }
      let fresh = StoreMetadata.fresh(
        type: format.type, model: layout.model, entityNames: options.entityNames)
      identifier = fresh.uuid
      metadataState = (fresh, false)
      try memory.load(SavePlan(), highestKey: format.firstKey - 1)
      if isFilling {
        guard file.isWritable else { throw file.creationFailure }
        (stamp, hasWritten, metadataState.isChanged) = (found, false, true)
        return
      }
      let empty = AtomicStoreContents(try memory.snapshot(), metadata: fresh)
      stamp =
        if let found { try file.replace(found) { try format.write(empty, to: $0) } } else {
          try file.create { try format.write(empty, to: $0) }
        }
      return
    }
    if mayWrite { file.removeUnfinishedSave() }
    let (bytes, stamp) = try file.read()
    self.stamp = stamp
    let loader = AtomicStoreLoader(layout: layout, options: options, url: url)
    let content = AtomicStoreFile(bytes: bytes, url: url, salvages: options.salvages)
    guard format.recognizes(bytes.prefix(4096)) else {
      throw StoreError.invalidFile(url: url, reason: "It is no store of type \(format.type).")
    }
    if options.checksModel {
      let metadata: StoreMetadata = try format.metadata(of: content)
      // A store without hashes is older than they are.
      if !metadata.hashes.isEmpty {
        try ModelCheck.check(
          metadata, layout: layout, entityNames: options.entityNames, url: url, acceptsUnknown: false
        ) { nil }
      }
    }
    let header: AtomicStoreHeader = try format.read(content, into: loader)
    identifier = header.metadata.uuid
    metadataState = (header.metadata, false)
    let plan: SavePlan = try loader.finish()
    // The key of a missing object is no other object's, either.
    let highestKey: Int64 = max(header.highestKey, loader.highestTarget)
    do {
      try memory.load(
        plan, highestKey: highestKey, requiresUniqueness: !options.salvages && !options.examines)
    } catch let error as StoreError {
      guard case .uniqueness = error else { throw error }
      try memory.load(plan, highestKey: highestKey, requiresUniqueness: false)
      throw try Self.repetition(in: memory, of: identifier, url) ?? error
    }
    leftOut = loader.leftOut
  }

  /// The error that names the first objects with the same values of a uniqueness constraint.
  private static func repetition(in memory: InMemoryEngine, of store: String, _ url: URL) throws
    -> StoreError?
  {
    guard let twins = try UniqueValues.firstTwins(in: memory, memory.layout.entities) else { return nil }
    let objects: [String] = [twins.first, twins.second].map {
      ObjectURI.text(of: $0, in: memory.layout, store: store)
    }
    return .invalidFile(
      url: url,
      reason:
        "Objects of \(twins.entity.name) have the same values (\(twins.pairs)), which the model wants to be unique: "
        + "\(objects.joined(separator: " and ")).", cure: .repairing)
  }

  private static func missing(_ url: URL) -> StoreError {
    .file(url: url, operation: "reading it", code: ENOENT)
  }

  // MARK: Metadata

  package var metadata: [String: Any] { lock.withLock { metadataState.value.published } }
  package var hasUnsavedMetadata: Bool { lock.withLock { metadataState.isChanged } }

  package func setMetadata(_ metadata: [String: Any]) throws {
    if let readOnlyReason { throw StoreError.readOnly(url: url, readOnlyReason) }
    try StoreMetadata.check(metadata.filter { $0.key != StoreMetadata.Key.uuid })
    try StoreMetadata.checkIdentifier(in: metadata, of: identifier)
    lock.withLock { metadataState = (metadataState.value.replacing(with: metadata), true) }
  }

  // MARK: Reading

  package func fetch(_ plan: FetchPlan) throws -> RowBatch { try memory.fetch(plan) }
  package func fetchIDs(_ plan: FetchPlan) throws -> [RowID] { try memory.fetchIDs(plan) }
  package func count(_ plan: FetchPlan) throws -> Int { try memory.count(plan) }
  package func fetch(_ plan: ProjectionPlan) throws -> ProjectedRows { try memory.fetch(plan) }
  package func explain(_ plan: FetchPlan) throws -> ExplainedStatement? { try memory.explain(plan) }

  package func rows(of layout: EntityLayout, keys: [Int64]) throws -> RowBatch {
    try memory.rows(of: layout, keys: keys)
  }

  package func members(of layout: EntityLayout, slot: Int, owners: [RowID]) throws -> [[RowID]] {
    try memory.members(of: layout, slot: slot, owners: owners)
  }

  package func members(of layout: EntityLayout, slot: Int, owner: RowID, among candidates: [RowID]) throws
    -> [RowID]
  {
    try memory.members(of: layout, slot: slot, owner: owner, among: candidates)
  }

  package func partsLeftOut() -> LeftOutParts { lock.withLock { leftOut } }

  /// In a repair they are told as what was left out.
  package func ownProblems() -> [StoreProblem] { salvages ? [] : partsLeftOut().problems }

  package func lostPairs() -> [StoreProblem] { ownProblems().filter { $0.kind == .dangling } }

  // MARK: Saving

  package func allocateKeys(for root: EntityLayout, count: Int) throws -> Int64 {
    try writing { try memory.allocateKeys(for: root, count: count) }
  }

  package func save(_ plan: consuming SavePlan) throws -> SaveOutcome {
    let plan: SavePlan = plan
    return try writing {
      if plan.isEmpty, plan.checks.isEmpty, plan.targets.isEmpty, !metadataState.isChanged {
        return SaveOutcome(written: plan, keys: NewKeys(for: plan) { _, _ in 0 })
      }
      try checkValues(of: plan)
      return try memory.save(plan) { state in
        if plan.isEmpty, !metadataState.isChanged { return }
        if rehearsesSaves { throw SaveRehearsed() }
        if isFilling { return }
        let contents = AtomicStoreContents(state, metadata: metadataState.value)
        stamp =
          if let stamp { try file.replace(stamp) { try format.write(contents, to: $0) } } else {
            try file.create { try format.write(contents, to: $0) }
          }
        hasWritten = true
        leftOut = LeftOutParts()
        metadataState.isChanged = false
      }
    }
  }

  package func writeFromNowOn() {
    lock.withLock {
      guard isFilling else { return }
      (isFilling, metadataState.isChanged) = (false, true)
    }
  }

  package var isUnwritten: Bool { lock.withLock { !hasWritten } }

  package func unwritableValues(of row: RowRef) -> [UnwritableValue] { writable.problems(of: row) }

  private func checkValues(of plan: SavePlan) throws {
    func check(_ row: RowRef) throws {
      guard let problem = writable.problems(of: row).first else { return }
      throw problem.error(
        in: layout.entities[row.entity], object: ObjectURI.text(of: row.id, in: layout, store: identifier),
        type: format.type)
    }
    for insert in plan.inserts { try insert.rows.forEach(check) }
    for update in plan.updates { try check(update.row) }
  }

  /// Throws also if another program has replaced the file: what it wrote must not be lost.
  package func checkWritable() throws {
    try writing {
      try file.requireStamp(stamp)
    }
  }

  /// Makes the next save write the whole store to another file, which that save creates. The former one stays
  /// as it is.
  func move(to new: AtomicFile) throws {
    try writing {
      if new.url.isSamePlace(as: file.url) {
        file = new
        return
      }
      if new.stamp != nil {
        throw StoreError.invalidFile(
          url: new.url,
          reason:
            "There is a file already, which the next save would replace. Remove it, or take another name."
        )
      }
      guard new.isWritable else { throw new.creationFailure }
      (file, stamp, metadataState.isChanged) = (new, nil, true)
    }
  }

  private func writing<Result>(_ body: () throws -> Result) throws -> Result {
    if let readOnlyReason { throw StoreError.readOnly(url: url, readOnlyReason) }
    return try lock.withLock {
      if isClosed { throw StoreError.closed }
      return try body()
    }
  }

  package func close() throws {
    try lock.withLock {
      isClosed = true
      try memory.close()
    }
  }
}
