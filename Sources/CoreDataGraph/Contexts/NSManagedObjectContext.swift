import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// How a context is bound to a queue.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
  /// Obsolete: the thread that created the context. Kept for old code; behaves as a private queue.
  case confinementConcurrencyType = 0
  case privateQueueConcurrencyType = 1
  case mainQueueConcurrencyType = 2
}

/// A working copy of part of the object graph: fetched objects and their changes, and the operations to save
/// them.
///
/// A context belongs to one queue, its own
/// (``NSManagedObjectContextConcurrencyType/privateQueueConcurrencyType``) or the main one. Use it and its
/// objects inside ``perform(_:)``, ``performAndWait(_:)`` or the async ``perform(schedule:_:)`` only. Debug
/// builds report off-queue access on standard error, each kind once: what was used, to which context it
/// belongs, and the callers. With the launch argument `-com.apple.CoreData.ConcurrencyDebug 1` (or
/// `CLARUS_CONCURRENCY_DEBUG=1` in the environment) the first such access stops the program; with `0`, as in
/// release builds, it is not checked, which costs nothing.
///
/// Keep a context as long as its objects are used. When it is deallocated, objects keep the values that were
/// loaded and never changed, and objects that were never saved keep their attributes; any other access to
/// them stops the program with an explanation.
///
/// A subclass may override the methods that change, find and save, and those that run blocks; call super.
/// Overrides are called for calls of the program only: what the framework itself does to a context (a save
/// that ends the event, a child that reads from its parent) does not call them. ``fetch(_:)``,
/// ``count(for:)`` and the asynchronous ``perform(schedule:_:)`` are generic and can't be overridden, as
/// Apple's can't in Swift.
///
/// See Apple's page
/// [NSManagedObjectContext](https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext).
nonisolated open class NSManagedObjectContext: NSObject, @unchecked Sendable {
  // Sendable: the parts that cross queues (`queue`, `identityMap`) are immutable or synchronise themselves;
  // everything else is used on the context's queue only, which is the contract of the class.

  public final let concurrencyType: NSManagedObjectContextConcurrencyType
  final let queue: WorkQueue
  final let identityMap = IdentityMap()
  /// For the obsolete `lock()`; the context itself never takes it.
  final let threadLock = NSRecursiveLock()
  /// The thread that created the context: the one to use it for the obsolete confinement type.
  final let home: UInt = WorkQueue.thisThread

  /// The changes of objects since the last save, and in the current event.
  @exclusivity(unchecked) final var work = UnitOfWork()
  /// The context's state for undo and redo.
  @exclusivity(unchecked) final var undoState = UndoState()
  /// What was read before it was needed.
  @exclusivity(unchecked) final var readAhead = ReadAhead()
  @exclusivity(unchecked) final var storedFaultingPolicy: FaultingPolicy = .automatic
  /// What was read, for ``statistics``.
  @exclusivity(unchecked) final var tally = StoreTally()
  @exclusivity(unchecked) final var faultCounts = FaultCounts()
  /// Where failures of reads go that can't throw; nil: they stop the program.
  final var readFailures: ReadFailures?
  /// A collector without failures that is not in use.
  @exclusivity(unchecked) final var spareReadFailures: ReadFailures?
  /// What was read at once for the delete rules of many objects, while they are applied.
  @exclusivity(unchecked) final var membersOfDeleted: MembersOfDeleted?
  /// What programs' stores change in this context while they execute its save.
  final var changesDuringSave: ChangesDuringSave?
  /// Deletions whose rules could not be applied.
  final var unreadDeletions: [UnreadDeletion] = []
  /// Keeps objects alive, with `retainsRegisteredObjects`.
  @exclusivity(unchecked) final var retained = RetainedObjects()
  /// Whether the end of this main-queue context's event is scheduled on the main queue.
  final var eventEnd = MainQueueEventEnd()
  /// The coordinator's migrations of stores that this context has followed.
  @exclusivity(unchecked) final var exchanges = StoreExchanges()
  /// The ids that objects got in place of temporary ones, to be announced to contexts below and received from
  /// those above.
  final let permanentIDs = PermanentIDs()
  final let children = ContextList()
  /// Whether saves leave validation out: a migration saves objects before they are complete, and validates
  /// all of them at its end.
  final package var savesUnvalidated: Bool = false
  /// Called when the program reads ``registeredObjects``: a migration has released objects that it expects.
  final package var willReadRegisteredObjects: (() -> Void)?

  /// How often the context was reset: a migration's policy may drop what was not saved.
  final package private(set) var resetCount: Int = 0

  /// Nil, with an error in the coder: a context can't be decoded. Apple's framework declares it for interface
  /// files, and subclasses with initialisers of their own call it.
  public required init?(coder: NSCoder) {
    coder.report(
      CocoaError(
        .coderReadCorrupt,
        userInfo: [
          NSLocalizedDescriptionKey:
            "A managed object context can't be archived. Make a new one, and set its coordinator or parent."
        ]))
    return nil
  }

  public init(concurrencyType: NSManagedObjectContextConcurrencyType) {
    self.concurrencyType = concurrencyType
    queue = WorkQueue(
      label: "NSManagedObjectContext", isMain: concurrencyType == .mainQueueConcurrencyType)
    super.init()
    queue.owner = self
    identityMap.context = self
    if concurrencyType == .mainQueueConcurrencyType { identityMap.marks.insert(.tracked) }
  }

  public convenience init(_ type: ConcurrencyType) {
    self.init(concurrencyType: type.rawValue)
  }

  /// A context of the obsolete confinement type, for code that was written before contexts had queues.
  @available(*, deprecated, message: "Use init(concurrencyType:), with a queue of its own or the main one.")
  public convenience override init() { self.init(concurrencyType: .confinementConcurrencyType) }

  deinit {
    undoState.stopObserving()
    let kept: [NSManagedObject] = identityMap.observesRegistration ? identityMap.allObjects : []
    // Changes of stored objects are lost with the context: reading them later reports that
    // (`requireContext`). Objects that were never stored have no other values than their own, and keep them.
    for object in identityMap.allObjects {
      object.identityMap = nil
      object.releaseRelationships()
      object.insertFlags(.orphaned)
      guard object.row != nil else { continue }
      if object.hasChanges { object.row = nil }
      object.state = nil
    }
    undoState.releaseSavedDeletions()
    identityMap.homes = IdentityMap.Homes()
    if identityMap.observesRegistration { identityMap.registrations.postEnd(of: kept) }
  }

  // MARK: Configuration

  /// The coordinator that reads and saves. Set it once, before the context is used.
  ///
  /// A child context uses that of its root.
  public final var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { parent?.persistentStoreCoordinator ?? ownCoordinator }
    set {
      if parent != nil {
        fatalError(
          "A context with a parent reads and saves through it; it can't have a coordinator of its own.")
      }
      guard newValue !== ownCoordinator else { return }
      if let newValue { adoptModel(to: newValue.runtime) }
      ownCoordinator?.contexts.remove(self)
      ownCoordinator = newValue
      newValue?.contexts.add(self)
    }
  }
  @exclusivity(unchecked) private final var ownCoordinator: NSPersistentStoreCoordinator? {
    didSet { modelSerial = UInt64(ownCoordinator?.runtime.serial ?? 0) }
  }
  /// The serial of the own coordinator's model; 0 if there is none. With it most new objects are found to be
  /// of the context's model, without asking for coordinator and model.
  @exclusivity(unchecked) final private(set) var modelSerial: UInt64 = 0
  /// The entity of the last new object that was made by its class.
  @exclusivity(unchecked) final var lastMade: (objectClass: ObjectIdentifier, runtime: EntityRuntime)?
  /// Whether an object was inserted that is not of its entity's class.
  @exclusivity(unchecked) final private(set) var hasOtherClasses: Bool = false

  /// The context that this one reads from and saves to, in place of stores. Set it once, before the context
  /// is used.
  ///
  /// A child sees its parent's unsaved changes. Its save makes its changes the parent's, one level up, and
  /// writes nothing; new objects keep temporary ids until the root has saved. With Apple's framework they
  /// stay temporary in the child; here the child's objects get the permanent ids soon after that save.
  ///
  /// See Apple's page
  /// [parent](https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/parent).
  @exclusivity(unchecked) public final var parent: NSManagedObjectContext? {
    willSet {
      if newValue === self { fatalError("A context can't be its own parent.") }
      if parent != nil || ownCoordinator != nil {
        fatalError(
          "Set the parent of a context once, and no coordinator beside it: it is where objects come from.")
      }
      if newValue?.concurrencyType == .confinementConcurrencyType {
        fatalError(
          "Parent contexts must have a queue: make the parent with a private-queue or main-queue type. The contexts "
            + "of a migration manager have none: a policy uses them themselves, on the thread that migrates.")
      }
    }
    didSet {
      parent?.children.add(self)
      if let model = persistentStoreCoordinator?.runtime { adoptModel(to: model) }
    }
  }

  /// Objects that were inserted before there was a coordinator may belong to another model than the
  /// coordinator's: they are moved to that model if their entity is the same there, and stop the program
  /// otherwise.
  private final func adoptModel(to model: ModelRuntime) {
    for object in identityMap.allObjects where object.runtime.model !== model {
      let root: Int = object.runtime.layout.rootIndex
      object.move(
        to: model,
        advice: "Set the context's coordinator before objects are inserted, or reset() the context first.")
      identityMap.remove(object, store: object.store?.ordinal ?? 0, root: root, key: object.key)
      identityMap.insert(
        object, store: object.store?.ordinal ?? 0, root: object.runtime.layout.rootIndex, key: object.key)
    }
    for child in children.all { child.adoptModel(to: model) }
  }
  /// Records the context's changes, one group for each event, so that they can be undone; nil (default):
  /// nothing is recorded or kept for undo.
  ///
  /// Several contexts, or a context and other things, may share one. Setting another one removes this
  /// context's actions from the old one.
  public final var undoManager: UndoManager? {
    didSet { undoManagerChanged(from: oldValue) }
  }

  /// How a save resolves conflicts: an ``NSMergePolicy``, by default ``NSMergePolicy/error``.
  public final var mergePolicy: Any = NSMergePolicy.error {
    didSet {
      guard !(mergePolicy is NSMergePolicy) else { return }
      fatalError(
        "The merge policy must be an NSMergePolicy, such as NSMergePolicy.overwrite, not \(mergePolicy).")
    }
  }

  /// See ``queryGenerationToken``.
  @exclusivity(unchecked) final var pin: ContextPin = .none

  /// A name for debugging.
  public final var name: String?
  /// The program's own values.
  public final let userInfo = NSMutableDictionary()
  /// The author of this context's changes: each save passes it to its stores, for persistent history; kept
  /// until changed. No built-in store keeps a history yet.
  public final var transactionAuthor: String?
  /// Whether deletions are propagated along relationships at the end of each event (default) or only by a
  /// save.
  @exclusivity(unchecked) public final var propagatesDeletesAtEndOfEvent: Bool = true
  /// Whether unchanged objects are retained as long as the context exists; default false: only the program's
  /// own references retain them.
  public final var retainsRegisteredObjects: Bool {
    get { retained.isOn }
    set { if newValue { retained.start(with: identityMap.allObjects) } else { retained.stop() } }
  }
  /// Whether an object whose row no longer exists reads as deleted with nil values (default) or stops the
  /// program.
  public final var shouldDeleteInaccessibleFaults: Bool = true
  /// The greatest age, in seconds, of values that fill a fault or refresh an object; negative (default): any
  /// age; 0: they are read from the store each time.
  ///
  /// Younger values come from the coordinator's row cache: the rows that live objects of its contexts hold,
  /// as any of them last read or saved them. The cache does not contain what other processes write. The
  /// interval never affects loaded objects.
  public final var stalenessInterval: TimeInterval = -1
  /// Whether saves of other contexts of the coordinator are merged into this one.
  public final var automaticallyMergesChangesFromParent: Bool = false

  /// Whether scopes of Swift's Observation (`withObservationTracking`) are notified of changes to the
  /// properties that they read from objects of this context. Default: true for main-queue contexts, where
  /// user interfaces read; false for others.
  ///
  /// Observation offers no cheap way to find out whether a scope is open, so each read of a property costs
  /// some 25 ns more if this is true, and nothing if it is false (Decisions/0022). Closures
  /// (`observe(_:options:changeHandler:)`) don't need it.
  public final var tracksObservation: Bool {
    get { identityMap.marks.contains(.tracked) }
    set {
      guard newValue != tracksObservation else { return }
      let objects: [NSManagedObject] = identityMap.allObjects
      // A context that has no objects yet is still being set up.
      if !objects.isEmpty { requireQueue("tracksObservation was set") }
      identityMap.marks.formSymmetricDifference(.tracked)
      for object in objects {
        if newValue { object.insertFlags(.tracked) } else { object.removeFlags(.tracked) }
      }
    }
  }

  // MARK: Registered objects

  /// Whether there is anything to save. Deletions that another context has saved and that were merged into
  /// this one don't count.
  open var hasChanges: Bool { hasUnsavedChanges }

  final var hasUnsavedChanges: Bool {
    requireQueue("hasChanges was read")
    return work.hasChanges
  }

  /// New objects, without those that are deleted already.
  public final var insertedObjects: Set<NSManagedObject> {
    requireQueue("insertedObjects was read")
    return Set(work.inserted.filter { $0.isInserted && !$0.isDeleted })
  }
  /// Changed objects, without new and deleted ones.
  public final var updatedObjects: Set<NSManagedObject> {
    requireQueue("updatedObjects was read")
    return Set(work.updated.filter(\.isUpdated))
  }
  /// Objects that the next save deletes, and those that another context has deleted, while the program refers
  /// to them, until the next save of this one. A new object that is deleted was never stored, so it is not
  /// among them.
  public final var deletedObjects: Set<NSManagedObject> {
    requireQueue("deletedObjects was read")
    return Set(work.deleted.filter(\.isToBeDeleted) + work.objectsDeletedRemotely.filter(\.isDeleted))
  }
  /// Every object that is registered with the context and alive.
  public final var registeredObjects: Set<NSManagedObject> {
    requireQueue("registeredObjects was read")
    willReadRegisteredObjects?()
    return Set(identityMap.allObjects)
  }

  // MARK: Insertion

  /// Inserts a new object into the context. `init(context:)` and `init(entity:insertInto:)` do it already.
  open func insert(_ object: NSManagedObject) {
    requireQueue("insert(_:) was called")
    if type(of: object) != object.home.objectClass { hasOtherClasses = true }
    if object.isPlainlyNew(in: self) {
      object.settle(in: identityMap.homes.home(of: object.home.runtime, nil, in: identityMap))
      object.key = IdentityMap.makeTemporaryKey()
      object.insertFlags(identityMap.marks)
      identityMap.insertNew(object)
      if object.state == nil { object.state = ObjectState(values: object.runtime.template) }
      noteInsertion(of: object)
      object.insertFlags(.awoken)
      object.awakeFromInsert()
      return
    }
    if object.flags.contains(.remotelyDeleted) { removeDeleted(object) }
    if object.identityMap === identityMap {
      // Inserting an object that was deleted before its first save restores it.
      if object.flags.contains(.deleted), object.row == nil { work.discardDeletion(ofUnsaved: object) }
      if object.flags.contains(.inserted) || object.row != nil { return }
    } else if object.identityMap != nil {
      fatalError(
        """
        An NSManagedObjectContext cannot insert objects of another context (\(object.objectID)). Use \
        context.object(with: object.objectID).
        """)
    }
    if object.runtime.layout.isAbstract {
      fatalError(
        """
        Entity '\(object.runtime.layout.name)' is abstract, so it has no objects of its own; insert one of \
        its sub-entities: \(object.entity.subentities.compactMap(\.name).sorted().joined(separator: ", ")).
        """)
    }
    // The object was created without a context, maybe with an entity description of another model: its slots
    // are not those of this context's stores.
    if let model = persistentStoreCoordinator?.runtime {
      object.move(
        to: model,
        advice:
          "Make the object with init(context:), or with the description that NSEntityDescription.entity(forEntityName:in:) gives for "
          + "this context.")
    }
    object.key = IdentityMap.makeTemporaryKey()
    // An object that left the context unsaved may have had a permanent id; it gets a new one.
    object.store = nil
    object.cachedID = nil
    object.identityMap = identityMap
    object.removeFlags([.orphaned, .inaccessible])
    object.insertFlags(identityMap.marks)
    identityMap.insert(object, store: 0, root: object.runtime.layout.rootIndex, key: object.key)
    if object.state == nil { object.state = ObjectState(values: object.runtime.template) }
    noteInsertion(of: object)
    guard !object.flags.contains(.awoken) else { return }
    object.insertFlags(.awoken)
    object.awakeFromInsert()
  }

  /// Decides about an object whose row no longer exists; false makes the access fail. Override it for a
  /// behaviour other than that of ``shouldDeleteInaccessibleFaults``.
  open func shouldHandleInaccessibleFault(
    _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
  ) -> Bool {
    shouldDeleteInaccessibleFaults
  }

  /// Chooses the store for an object that has not been saved yet.
  open func assign(_ object: Any, to store: NSPersistentStore) {
    requireQueue("assign(_:to:) was called")
    guard let object = object as? NSManagedObject, object.store == nil else {
      fatalError(
        "Can't reassign an object to a different store once it has been saved; delete it and insert a new one."
      )
    }
    work.assign(object, to: store)
  }

  // MARK: Finding objects

  /// The object for an id: a registered one, or a fault. Never does I/O, never fails; whether the row exists
  /// shows when the fault is fired. Use ``existingObject(with:)`` to find out.
  open func object(with objectID: NSManagedObjectID) -> NSManagedObject { lookUp(objectID) }

  /// The object for an id if it is registered. No I/O.
  open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    lookUpRegistered(objectID)
  }

  /// The object for an id, loaded. Throws ``NSManagedObjectReferentialIntegrityError`` if there is no such
  /// row, and an error that names the attribute if a value transformer can't read a value: reading the
  /// property returns nil then, and writes the reason to standard error once.
  open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    try loadExisting(objectID)
  }

  // MARK: Changing objects

  /// Marks an object for deletion by the next save. Delete rules run at the end of the event (or at the save,
  /// see ``propagatesDeletesAtEndOfEvent``). A new object is removed from the context.
  open func delete(_ object: NSManagedObject) { deleteObject(object) }

  /// Updates an object from the store. With `mergeChanges` false its changes are discarded and it becomes a
  /// fault; with true its row is read again now and its changes are applied to it. A new object has no row:
  /// without merging it stays inserted, as a fault that is filled with its entity's default values; with
  /// merging it stays unchanged.
  ///
  /// The row may come from the coordinator's cache, which contains what the other contexts of the coordinator
  /// have saved but not what other processes have: set ``stalenessInterval`` to 0 to read it from the store.
  open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
    refreshObject(object, keepsChanges: flag)
  }

  /// Refreshes every object, keeping unsaved changes.
  open func refreshAllObjects() { refreshEveryObject() }

  /// Removes all objects from the context; they become faults that can't be filled any more, so they read as
  /// nil.
  open func reset() {
    resetCount += 1
    performReset()
  }

  /// Discards all changes since the last save: new objects leave the context, deleted ones are restored,
  /// changed ones have the values of the last fetch or save again. Does not access the store. What another
  /// context has deleted stays deleted.
  open func rollback() { performRollback() }

  /// Merges what another context of the same coordinator has saved: changed objects that are registered here
  /// are read again, and local changes are kept. Deleted ones are deleted here too (Decisions/0030):
  /// ``NSManagedObject/isDeleted`` is true and ``deletedObjects`` contains them until the next save, which
  /// writes nothing for them; relationships no longer contain them, an undo does not restore them, and their
  /// changes are lost. They alone are nothing to save: ``hasChanges`` stays false.
  open func mergeChanges(fromContextDidSave notification: Notification) { merge(saved: notification) }

  /// Makes the next save check that an object's row is still as it was read, although the object is
  /// unchanged. A save without any change checks nothing.
  open func detectConflicts(for object: NSManagedObject) { checkLock(of: object) }

  // MARK: Events and undo

  /// Ends an event: propagates deletions and posts ``NSManagedObjectContextObjectsDidChange``. Called after
  /// every block of `perform`, before a save, and by the program. Changes that code on the main queue makes
  /// in a main-queue context outside of such blocks are an event too, which ends when the main queue next
  /// runs something (`RunLoop.main`, `dispatchMain()` or an async `main` serve it).
  open func processPendingChanges() { endEvent() }

  /// Undoes the last group of changes. Pending changes are processed first. Without an ``undoManager``
  /// nothing happens.
  open func undo() { performUndo() }

  /// Makes the last group of changes that was undone again. Without an ``undoManager`` nothing happens.
  open func redo() { performRedo() }

  // MARK: Saving, and requests

  /// Writes all changes to the stores, and metadata that was set: together with the rows of its store, or
  /// after all rows if a store has none to write, so that it is never newer than they are. Without changes it
  /// only posts the will-save and did-save notifications, as Apple's does, these with empty sets. Check
  /// ``hasChanges`` first to avoid that.
  ///
  /// All or nothing for each store; if it throws, the object graph and its changes are unchanged. Throws
  /// validation errors (1550 – 1690, several as 1560), 133020 if a row was changed meanwhile, 133021 for a
  /// uniqueness constraint, 133010 for a relationship across stores, the store's errors, and an error if it
  /// is called from within a save of the same context (in `willSave()` or an observer of its notifications),
  /// where Apple's ends the program. See Apple's page
  /// [save()](https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/save()).
  open func save() throws { try saveChanges() }

  /// Gives new objects their permanent ids now. Objects that have one are skipped;
  /// ``NSManagedObject/isInserted`` stays true.
  open func obtainPermanentIDs(for objects: [NSManagedObject]) throws { try obtainIDs(for: objects) }

  /// Executes a request. A fetch request returns an ``NSAsynchronousFetchResult`` that is complete; an
  /// ``NSAsynchronousFetchRequest`` returns one that is complete when its block is called.
  ///
  /// Throws what ``fetch(_:)`` throws, and 134091 for requests that no context executes: save requests (call
  /// ``save()``) and those of the program's own classes.
  @discardableResult
  open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    try run(request)
  }

  /// Pins the context to a state of the stores: to that of its next read
  /// (``NSQueryGenerationToken/current``), to that of another context of the same coordinator (its
  /// ``queryGenerationToken``), or to none (nil).
  ///
  /// Fetches and faults read that state, not the row cache. Loaded objects are not changed: refresh them, or
  /// call `reset()`. A save writes to the newest state, and is refused like any other if rows have changed
  /// since; afterwards the context is pinned to what it has saved. Merging another context's save, and
  /// `reset()`, pin it to the state of the next read. The latest state is read of stores that keep no earlier
  /// states (in memory, read-only, without write-ahead logging).
  ///
  /// Throws if the context has a parent, whose state it uses, and for a token of another coordinator. See
  /// Apple's page
  /// [setQueryGenerationFrom(_:)](https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/setquerygenerationfrom(_:)).
  open func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws { try pin(to: generation) }

  // MARK: Working on the queue

  /// Runs a block on the context's queue, later. Blocks run one after another, in the order of the calls.
  ///
  /// The block is isolated to the queue only: written in the code of an actor, it is not isolated to that
  /// actor. What it captures should be `Sendable`, as ids and contexts are. The compiler only warns, because
  /// an object of this very context is safe too.
  @preconcurrency open func perform(_ block: @escaping @Sendable () -> Void) { enqueue(block) }

  /// Runs a block on the context's queue and waits. Re-entrant: inside a block of the same context it runs at
  /// once.
  ///
  /// The block runs on the calling thread; on the main one for main-queue contexts. Parents and children may
  /// wait for each other from different threads: while a context waits for one below it, its queue runs what
  /// that one needs of it. Unrelated contexts must not wait for each other; if their blocks wait in a cycle,
  /// the program stops with a message.
  ///
  /// The block may use all that its caller may. In an actor's own code it is isolated to that actor, whose
  /// thread waits meanwhile; for the main queue's context `await` is better there (``perform(schedule:_:)``),
  /// because Swift may check on which queue the block runs.
  open func performAndWait(_ block: () -> Void) { runAndWait(block) }
}

extension NSManagedObjectContext {
  /// The kinds of queue in the newer spelling.
  public struct ConcurrencyType: RawRepresentable, Hashable, Sendable {
    public var rawValue: NSManagedObjectContextConcurrencyType
    public init(rawValue: NSManagedObjectContextConcurrencyType) { self.rawValue = rawValue }

    /// The context's objects are used on the main queue.
    public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
    /// The context has a queue of its own.
    public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
  }

  /// When an async ``NSManagedObjectContext/perform(schedule:_:)`` runs its block.
  public enum ScheduledTaskType: Hashable, Sendable {
    /// At once if the caller is on the context's queue already, otherwise as `enqueued`.
    case immediate
    /// After the blocks that are already waiting.
    case enqueued
  }
}
