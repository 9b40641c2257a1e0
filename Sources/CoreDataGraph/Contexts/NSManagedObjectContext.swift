import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// How a context is bound to a queue.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
  /// Obsolete: the thread that made the context. Kept for old code; behaves as a private queue.
  case confinementConcurrencyType = 0
  case privateQueueConcurrencyType = 1
  case mainQueueConcurrencyType = 2
}

/// A working copy of part of the object graph: what was fetched, what changed, and the way to save it.
///
/// A context belongs to one queue, its own
/// (``NSManagedObjectContextConcurrencyType/privateQueueConcurrencyType``) or the main one. Use it and its
/// objects inside ``perform(_:)``, ``performAndWait(_:)`` or the async ``perform(schedule:_:)`` only. Debug
/// builds report uses off that queue on standard error, each kind once: what was used, whose it is, and from
/// where. With the launch argument `-com.apple.CoreData.ConcurrencyDebug 1` (or `CLARUS_CONCURRENCY_DEBUG=1`
/// in the environment) the first one stops the program, with `0` such use is not looked for, as in release
/// builds, and costs nothing.
///
/// Hold a context as long as its objects are used. When it goes, objects keep the values that were loaded and
/// never changed, and objects that were never saved their attributes; asking one of them for anything else
/// stops the program with an explanation.
///
/// A subclass may override the methods that change, find and save, and those that run blocks; call super. It
/// sees what the program calls: what the framework does to a context on its own account (a save that ends the
/// event, a child that reads from its parent) goes past overrides. ``fetch(_:)``, ``count(for:)`` and the
/// asynchronous ``perform(schedule:_:)`` are generic and can't be overridden, as Apple's can't in Swift.
///
/// See Apple's page
/// [NSManagedObjectContext](https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext).
nonisolated open class NSManagedObjectContext: NSObject, @unchecked Sendable {
  // Sendable: the parts that cross queues (`queue`, `identityMap`) are immutable or synchronised themselves;
  // all else is used on the context's queue only, which is the contract of the class.

  public final let concurrencyType: NSManagedObjectContextConcurrencyType
  final let queue: WorkQueue
  final let identityMap = IdentityMap()
  /// For the obsolete `lock()`; nothing of the context's own takes it.
  final let threadLock = NSRecursiveLock()
  /// The thread that made the context: the one to use it for the obsolete confinement type.
  final let home: UInt = WorkQueue.thisThread

  /// What has become of the objects since the last save, and in the running event.
  @exclusivity(unchecked) final var work = UnitOfWork()
  /// What undo and redo need of the context.
  @exclusivity(unchecked) final var undoState = UndoState()
  /// Keeps objects alive, with `retainsRegisteredObjects`.
  @exclusivity(unchecked) final var retained = RetainedObjects()
  /// Whether the main queue is to end the event of this main-queue context.
  final var eventEnd = MainQueueEventEnd()
  /// How far the context has followed the coordinator's migrations of stores.
  final var exchanges = StoreExchanges()
  /// The ids that objects got in place of temporary ones, for contexts below and from those above.
  final let permanentIDs = PermanentIDs()
  final let children = ContextList()

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
    // What was changed of stored objects is gone with the context: whoever asks for it is told
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
  }

  // MARK: Configuration

  /// The coordinator that reads and saves. Set it once, before the context is used.
  ///
  /// A child context has that of its root.
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
  private final var ownCoordinator: NSPersistentStoreCoordinator?

  /// The context that this one reads from and saves to, in place of stores. Set it once, before
  /// the context is used.
  ///
  /// A child sees its parent's unsaved changes. Its save makes them the parent's, one level up, and writes
  /// nothing; new objects keep temporary ids until the root has saved. Where Apple's framework leaves them
  /// temporary in the child for good, here the child's objects take the permanent ids over soon
  /// after that save.
  ///
  /// See Apple's page
  /// [parent](https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/parent).
  public final var parent: NSManagedObjectContext? {
    willSet {
      if newValue === self { fatalError("A context can't be its own parent.") }
      if parent != nil || ownCoordinator != nil {
        fatalError(
          "Set the parent of a context once, and no coordinator beside it: it is where objects come from.")
      }
      if newValue?.concurrencyType == .confinementConcurrencyType {
        fatalError(
          "Parent contexts must have a queue: make the parent with a private-queue or main-queue type.")
      }
    }
    didSet {
      parent?.children.add(self)
      if let model = persistentStoreCoordinator?.runtime { adoptModel(to: model) }
    }
  }

  /// Objects that were inserted before there was a coordinator may be of another model than its: they become
  /// the model's own where that says the same, and stop the program where it doesn't.
  private final func adoptModel(to model: ModelRuntime) {
    for object in identityMap.allObjects where object.runtime.model !== model {
      let root: Int = object.runtime.layout.rootIndex
      object.move(
        to: model,
        cure: "Set the context's coordinator before objects are inserted, or reset() the context first.")
      identityMap.remove(object, store: object.store?.ordinal ?? 0, root: root, key: object.key)
      identityMap.insert(
        object, store: object.store?.ordinal ?? 0, root: object.runtime.layout.rootIndex, key: object.key)
    }
    for child in children.all { child.adoptModel(to: model) }
  }
  /// Records the context's changes, one group an event, so that they can be taken back; nil (default):
  /// nothing is recorded and nothing is kept for it.
  ///
  /// Several contexts, or a context and other things, may share one. Setting another forgets this context's
  /// actions in the old one.
  public final var undoManager: UndoManager? {
    didSet { undoManagerChanged(from: oldValue) }
  }

  /// What a save does about conflicts: an ``NSMergePolicy``, by default ``NSMergePolicy/error``.
  public final var mergePolicy: Any = NSMergePolicy.error {
    didSet {
      guard !(mergePolicy is NSMergePolicy) else { return }
      fatalError(
        "The merge policy must be an NSMergePolicy, such as NSMergePolicy.overwrite, not \(mergePolicy).")
    }
  }

  /// See ``queryGenerationToken``.
  final var pin: ContextPin = .none

  /// For people who debug.
  public final var name: String?
  /// Room for the program's own values.
  public final let userInfo = NSMutableDictionary()
  /// The author of this context's changes: each save hands it to its stores, for persistent history; kept
  /// until changed. No built-in store keeps a history yet.
  public final var transactionAuthor: String?
  /// Whether deletions are passed on along relationships at the end of each event (default) or only
  /// by a save.
  public final var propagatesDeletesAtEndOfEvent: Bool = true
  /// Whether clean objects live as long as the context; default false: as long as somebody holds them.
  public final var retainsRegisteredObjects: Bool {
    get { retained.isOn }
    set { if newValue { retained.start(with: identityMap.allObjects) } else { retained.stop() } }
  }
  /// Whether an object whose row is gone reads as deleted with nil values (default) or stops the program.
  public final var shouldDeleteInaccessibleFaults: Bool = true
  /// How old, in seconds, values may be that a fault is filled with, or an object refreshed with; negative
  /// (default): any age; 0: they are read from the store each time.
  ///
  /// Younger values come from the coordinator's row cache: the rows that live objects of its contexts hold,
  /// as they were last read or saved by any of them. What other processes write is not seen there. The
  /// interval never touches loaded objects.
  public final var stalenessInterval: TimeInterval = -1
  /// Whether saves of other contexts of the coordinator are merged into this one.
  public final var automaticallyMergesChangesFromParent: Bool = false

  /// Whether scopes of Swift's Observation (`withObservationTracking`) hear of changes to the properties that
  /// they read from objects of this context. Default: true for main-queue contexts, where user interfaces
  /// read; false for others.
  ///
  /// Observation offers no cheap way to ask whether a scope is open, so each read of a property costs some 25
  /// ns more where this is true, and nothing where it is false (Decisions/0022). Closures
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

  // MARK: What there is

  /// Whether there is anything to save. Deletions that another context has saved and that were merged into
  /// this one are not.
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
  /// Objects the next save deletes, and those that another context has deleted, as long as somebody holds
  /// them, until the next save of this one. A new object that is deleted was never stored, so it is
  /// not among them.
  public final var deletedObjects: Set<NSManagedObject> {
    requireQueue("deletedObjects was read")
    return Set(work.deleted.filter(\.isToBeDeleted) + work.objectsDeletedRemotely.filter(\.isDeleted))
  }
  /// Every object the context knows and somebody holds.
  public final var registeredObjects: Set<NSManagedObject> {
    requireQueue("registeredObjects was read")
    return Set(identityMap.allObjects)
  }

  // MARK: Insertion

  /// Puts a new object into the context. `init(context:)` and `init(entity:insertInto:)` do it already.
  open func insert(_ object: NSManagedObject) {
    requireQueue("insert(_:) was called")
    if object.flags.contains(.remotelyDeleted) { leave(object) }
    if object.identityMap === identityMap {
      // Inserting an object that was deleted before its first save brings it back.
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
    // Made without a context, maybe by a description that is another model's: its places are not those of
    // this context's stores.
    if let model = persistentStoreCoordinator?.runtime {
      object.move(
        to: model,
        cure:
          "Make the object with init(context:), or with the description that NSEntityDescription.entity(forEntityName:in:) gives for "
          + "this context.")
    }
    object.key = IdentityMap.makeTemporaryKey()
    // An object that left the context unsaved may have had a permanent id; it starts anew.
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

  /// Decides about an object whose row is gone; false makes the access fail. Override to do otherwise than
  /// ``shouldDeleteInaccessibleFaults`` says.
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

  /// The object for an id: a registered one, or a fault. Never does I/O, never fails; whether there is such a
  /// row shows when the fault is fired. Use ``existingObject(with:)`` to find out.
  open func object(with objectID: NSManagedObjectID) -> NSManagedObject { lookUp(objectID) }

  /// The object for an id if the context knows it. No I/O.
  open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    lookUpRegistered(objectID)
  }

  /// The object for an id, loaded. Throws ``NSManagedObjectReferentialIntegrityError`` when there is
  /// no such row.
  open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    try loadExisting(objectID)
  }

  // MARK: Changing objects

  /// Marks an object for deletion by the next save. Delete rules run at the end of the event (or by the save,
  /// see ``propagatesDeletesAtEndOfEvent``). A new object is simply taken out.
  open func delete(_ object: NSManagedObject) { deleteObject(object) }

  /// Brings an object in step with the store. With `mergeChanges` false its changes are thrown away and it
  /// becomes a fault; with true it gets its row anew now and its changes are laid on top. A new object has no
  /// row to be got anew: without merging it stays inserted, a fault that is filled with its entity's default
  /// values, with merging it stays as it is.
  ///
  /// The row may come from the coordinator's cache, which knows what the other contexts of the coordinator
  /// have saved but not what other processes have: set ``stalenessInterval`` to 0 to have it read
  /// from the store.
  open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
    refreshObject(object, keepsChanges: flag)
  }

  /// Refreshes every object, keeping unsaved changes.
  open func refreshAllObjects() { refreshEveryObject() }

  /// Forgets everything: all objects of the context become faults that nothing can fill any more, so they
  /// read as nil.
  open func reset() { performReset() }

  /// Throws all changes since the last save away: new objects leave the context, deleted ones come back,
  /// changed ones have the values of the last fetch or save again. Does not go to the store. What another
  /// context has deleted stays deleted.
  open func rollback() { performRollback() }

  /// Takes over what another context of the same coordinator has saved: changed objects that are known here
  /// are read anew with local changes kept. Deleted ones are deleted here too (Decisions/0030):
  /// ``NSManagedObject/isDeleted`` is true and ``deletedObjects`` holds them until the next save, which
  /// writes nothing for them; relationships let go of them, an undo does not bring them back, and what was
  /// changed of them is lost. Alone they are nothing to save: ``hasChanges`` stays false.
  open func mergeChanges(fromContextDidSave notification: Notification) { merge(saved: notification) }

  /// Lets the next save check that an object is still what was read, though nothing is changed in it. A save
  /// without any change checks nothing.
  open func detectConflicts(for object: NSManagedObject) { checkLock(of: object) }

  // MARK: Events and undo

  /// Ends an event: passes deletions on and posts ``NSManagedObjectContextObjectsDidChange``. Runs after
  /// every block of `perform`, before a save, and when called. What code on the main queue changes in a
  /// main-queue context outside of such blocks is an event too, which ends when the main queue next comes to
  /// run something (`RunLoop.main`, `dispatchMain()` or an async `main` serve it).
  open func processPendingChanges() { endEvent() }

  /// Takes the last group of changes back. Pending changes are processed first. Without an ``undoManager``
  /// nothing happens.
  open func undo() { performUndo() }

  /// Makes the last group of changes that was taken back again. Without an ``undoManager`` nothing happens.
  open func redo() { performRedo() }

  // MARK: Saving, and requests

  /// Writes all changes to the stores, and metadata that was set: together with the rows of its store, or
  /// after all rows where a store has none to write, so that it is never newer than they are. Without changes
  /// it only tells, as Apple's does: will-save and did-save notifications go out, these with empty sets. Ask
  /// ``hasChanges`` first to spare that.
  ///
  /// All or nothing for each store; the object graph and its changes are untouched when it throws. Throws
  /// validation errors (1550 – 1690, several as 1560), 133020 when a row was changed meanwhile, 133021 for a
  /// uniqueness constraint, 133010 for a relationship across stores, what the store reports, and an error
  /// when it is called from within a save of the same context (in `willSave()` or an observer of its
  /// notifications), which Apple's ends. See Apple's page
  /// [save()](https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/save()).
  open func save() throws { try saveChanges() }

  /// Gives new objects their permanent ids now. Objects that have one are skipped;
  /// ``NSManagedObject/isInserted`` stays true.
  open func obtainPermanentIDs(for objects: [NSManagedObject]) throws { try obtainIDs(for: objects) }

  /// Executes a request. A fetch request gives an ``NSAsynchronousFetchResult`` that is complete; an
  /// ``NSAsynchronousFetchRequest`` gives one that will be, when its block is called.
  ///
  /// Throws what ``fetch(_:)`` throws, and 134091 for requests that no context executes: save requests (call
  /// ``save()``) and those of classes of one's own.
  @discardableResult
  open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    try run(request)
  }

  /// Pins the context to a state of the stores: to that of its next read
  /// (``NSQueryGenerationToken/current``), to that of another context of the same coordinator (its
  /// ``queryGenerationToken``), or to none (nil).
  ///
  /// Fetches and faults read that state, past the row cache. Objects that are loaded already are not touched:
  /// refresh them, or `reset()`. A save writes to the newest state, and is refused like any other where rows
  /// have changed since; afterwards the context is pinned to what it has saved. Merging another context's
  /// save, and `reset()`, pin it to the state of the next read. Stores that keep no earlier states (in
  /// memory, read-only, without write-ahead logging) are read as they are.
  ///
  /// Throws when the context has a parent, whose state is its own, and for a token of another coordinator.
  /// See Apple's page
  /// [setQueryGenerationFrom(_:)](https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/setquerygenerationfrom(_:)).
  open func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws { try pin(to: generation) }

  // MARK: Working on the queue

  /// Runs a block on the context's queue, later. Blocks run one after another, in the order they were given.
  ///
  /// The block is nobody's but the queue's: written in the code of an actor, it does not belong to that
  /// actor. What it captures is to be `Sendable`, as ids and contexts are. That is a warning only, since an
  /// object of this very context is as good.
  @preconcurrency open func perform(_ block: @escaping @Sendable () -> Void) { enqueue(block) }

  /// Runs a block on the context's queue and waits. Re-entrant: inside a block of the same context it
  /// runs at once.
  ///
  /// The block runs on the calling thread; on the main one for main-queue contexts. Parents and children may
  /// wait for each other from different threads: a context that waits for one below it lends its queue to
  /// what that one needs of it. Contexts that have nothing to do with each other must not; if their blocks
  /// wait in a circle, the program stops and says so.
  ///
  /// The block may use all that its caller may. In an actor's own code it belongs to that actor, whose thread
  /// waits meanwhile; the main queue's context is better awaited there (``perform(schedule:_:)``), since
  /// Swift may check where the block runs.
  open func performAndWait(_ block: () -> Void) { runAndWait(block) }
}

extension NSManagedObjectContext {
  /// The kinds of queue in the modern spelling.
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
    /// At once if the caller is on the context's queue already, else as `enqueued`.
    case immediate
    /// After the blocks that wait already.
    case enqueued
  }
}
