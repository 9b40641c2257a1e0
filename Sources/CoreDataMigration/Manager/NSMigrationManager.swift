import CoreDataEvaluation
import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Migrates a store from one model to another by a mapping model: it makes a new store, and leaves the old
/// one unchanged.
///
/// ```swift
/// let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
/// let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
/// try manager.migrateStore(
///   from: oldURL, type: .sqlite, options: nil, mapping: mapping, to: newURL, type: .sqlite, options: nil)
/// ```
///
/// Objects are migrated in pages of some hundred and released after each, so that memory does not grow with
/// the store but for a table of which object became which: about 120 bytes an object. A policy that reads
/// `registeredObjects` of the ``destinationContext`` gets every object that was made before, as from Apple's
/// manager, and from then on all stay in memory.
///
/// A manager migrates one store at a time, on the thread that calls it; ``cancelMigrationWithError(_:)`` and
/// ``migrationProgress`` may be used from any thread.
///
/// See Apple's page
/// [NSMigrationManager](https://developer.apple.com/documentation/coredata/nsmigrationmanager).
nonisolated open class NSMigrationManager: NSObject, @unchecked Sendable {
  // Sendable: `state` is guarded; everything else is used by the migrating thread only, or immutable.

  private struct State {
    var cancellation: (any Error)?
    var progress: Float = 0
  }
  private final let state = Guarded(State())
  final let progressObservers = Guarded(ProgressObservers())

  /// The models, as they were given.
  open var sourceModel: NSManagedObjectModel { givenSourceModel }
  open var destinationModel: NSManagedObjectModel { givenDestinationModel }
  private final let givenSourceModel: NSManagedObjectModel
  private final let givenDestinationModel: NSManagedObjectModel

  /// Whether a migration by an inferred mapping model between SQLite stores may use the way of these stores,
  /// in which no policy is called. This class always migrates object by object, whatever the value: a store
  /// is migrated in place when it is added to a coordinator.
  open var usesStoreSpecificMigrationManager: Bool = true

  /// The program's values, for its policies.
  open var userInfo: [AnyHashable: Any]?

  /// The functions that expressions call with `FUNCTION($manager, "selector:", …)`, beside those that every
  /// manager has. A subclass lists its own, as policies do (``NSEntityMigrationPolicy/expressionFunctions``):
  ///
  /// ```swift
  /// override class var expressionFunctions: [PolicyFunction] {
  ///   [PolicyFunction("recentItemsOf:") { (manager: ShopManager, name: String) in manager.recent(name) }]
  /// }
  /// ```
  ///
  /// An addition of Clarus.
  open class var expressionFunctions: [PolicyFunction] { [] }

  /// What errors name in place of the source and the models; nil for these.
  final var subject: MigrationSubject?
  /// Whether the new store is read again and compared with the old one before the migration ends.
  final var verifiesValues: Bool = false
  /// Whether the migration is no part of the thread's current `Progress`: a program may report its plan's run
  /// by that.
  final var isTrial: Bool = false
  /// Called with the numbers of objects that are done and of all.
  final var noteObjects: ((_ done: Int, _ total: Int) throws -> Void)?

  private final var current: MigrationStack?
  private final var mapping: NSMappingModel?

  public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
    givenSourceModel = sourceModel
    givenDestinationModel = destinationModel
    super.init()
  }

  // MARK: Migrating

  /// Migrates a store to a place where there is none, or adds its objects to a store of the destination
  /// model: a large mapping model may be divided into several whose objects are not related, each of which
  /// migrates its part to the same place. What a killed migration has left there is replaced.
  ///
  /// Throws, with the source unchanged and the destination as it was, a `CocoaError`: 134150 if the
  /// source can't be opened with the source model, 134160 if there is something else at the destination or it
  /// can't be written, 134170 for policy classes that do not exist, 134110 for value expressions that fail,
  /// the errors of validation, 134111 for a uniqueness constraint; whatever a policy throws, and the error of
  /// ``cancelMigrationWithError(_:)``. Blocks while it migrates. Reports to the thread's current `Progress`,
  /// whose cancellation ends it with 134120.
  ///
  /// See Apple's page
  /// [migrateStore(from:sourceType:options:with:toDestinationURL:destinationType:destinationOptions:)](https://developer.apple.com/documentation/coredata/nsmigrationmanager/migratestore(from:sourcetype:options:with:todestinationurl:destinationtype:destinationoptions:)).
  open func migrateStore(
    from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil,
    with mappings: NSMappingModel?, toDestinationURL dURL: URL, destinationType dStoreType: String,
    destinationOptions dOptions: [AnyHashable: Any]? = nil
  ) throws {
    try withMigrationErrors(of: subject?.store ?? sourceURL) {
      guard let mappings else {
        throw MigrationFailure.missingMappingModel(sourceURL, "The mapping model that was passed is nil.")
      }
      guard current == nil else {
        throw MigrationFailure.destinationStore(
          dURL, "This manager is migrating another store. Make a second manager.")
      }
      if sourceURL.standardizedFileURL == dURL.standardizedFileURL {
        throw MigrationFailure.destinationStore(
          dURL,
          "It is the source itself. Give another URL, or let a coordinator migrate the store when it adds it."
        )
      }
      mapping = mappings
      state.withLock { $0 = State(cancellation: $0.cancellation) }
      let stack = try MigrationStack(
        manager: self, from: StorePlace(sourceURL, sStoreType, sOptions),
        to: StorePlace(dURL, dStoreType, dOptions))
      current = stack
      defer {
        current = nil
        stack.close()
      }
      do {
        try stack.migrate(mappings)
      } catch {
        stack.discardDestination()
        throw error
      }
      try stack.publishDestination()
    }
  }

  /// The same with store types in the newer spelling.
  open func migrateStore(
    from sourceURL: URL, type sStoreType: NSPersistentStore.StoreType,
    options sOptions: [AnyHashable: Any]? = nil,
    mapping mappings: NSMappingModel, to destinationURL: URL, type dStoreType: NSPersistentStore.StoreType,
    options dOptions: [AnyHashable: Any]? = nil
  ) throws {
    try migrateStore(
      from: sourceURL, sourceType: sStoreType.rawValue, options: sOptions, with: mappings,
      toDestinationURL: destinationURL, destinationType: dStoreType.rawValue, destinationOptions: dOptions)
  }

  /// Ends the migration with an error, which ``migrateStore(from:type:options:mapping:to:type:options:)``
  /// throws before it migrates another object. From any thread.
  open func cancelMigrationWithError(_ error: any Error) { state.withLock { $0.cancellation = error } }

  /// The part of the migration that is done, from 0 to 1. From any thread.
  open var migrationProgress: Float { state.withLock { $0.progress } }

  /// Forgets a cancelled or finished migration, so that the manager can migrate again.
  open func reset() {
    guard current == nil else { return }
    mapping = nil
    state.withLock { $0 = State() }
  }

  final func note(progress: Float) {
    let old: Float = state.withLock { state in
      defer { state.progress = progress }
      return state.progress
    }
    if old != progress { reportProgress(from: old) }
  }

  final func throwIfCancelled() throws {
    if let error = state.withLock({ $0.cancellation }) { throw error }
  }

  // MARK: During a migration

  /// The present migration. Throws if there is none: a policy was called by other code.
  final func stack() throws -> MigrationStack {
    if let current { return current }
    throw MigrationFailure.stage(
      "A policy was called although its manager is not migrating.",
      advice: "Let migrateStore call the policies.")
  }

  private final func required(_ what: String) -> MigrationStack {
    guard let current else {
      preconditionFailure("\(what) of a migration manager is there while it migrates only.")
    }
    return current
  }

  /// The mapping model of the present migration, or of the last one. Stops the program if there was none.
  open var mappingModel: NSMappingModel {
    guard let mapping else { preconditionFailure("The manager has no mapping model before it migrates.") }
    return mapping
  }

  /// The context of the source store. Stops the program unless the manager is migrating.
  open var sourceContext: NSManagedObjectContext { required("sourceContext").source.context }
  /// The context of the destination store. Stops the program unless the manager is migrating.
  open var destinationContext: NSManagedObjectContext { required("destinationContext").destination.context }
  /// The mapping whose objects are migrated now. Stops the program unless the manager is migrating.
  open var currentEntityMapping: NSEntityMapping {
    guard let mapping = required("currentEntityMapping").currentMapping else {
      preconditionFailure("No entity mapping is being processed.")
    }
    return mapping
  }

  /// The source entity of a mapping; nil if it has none.
  open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.sourceEntityName.flatMap { (current?.source.model ?? sourceModel).entitiesByName[$0] }
  }

  /// The destination entity of a mapping; nil if it has none.
  open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.destinationEntityName.flatMap {
      (current?.destination.model ?? destinationModel).entitiesByName[$0]
    }
  }

  /// Records that a destination object was made from a source object. Several may be made from one, and one
  /// from several.
  open func associate(
    sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
    for entityMapping: NSEntityMapping
  ) {
    current?.associate(sourceInstance, destinationInstance, entityMapping.name ?? "")
  }

  /// The destination objects that a mapping made from these source objects, in their order; from all of them
  /// for nil.
  open func destinationInstances(
    forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    current?.destinations(mappingName, sourceInstances) ?? []
  }

  /// The source objects from which a mapping made these destination objects; all for nil.
  open func sourceInstances(
    forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    current?.sources(mappingName, destinationInstances) ?? []
  }
}

/// What value expressions call and read on `$manager`.
extension NSMigrationManager: MessageReceiver, KeyValueReadable {
  package final func receive(_ selector: String, _ arguments: [Any?]) throws -> MessageAnswer? {
    func text(_ place: Int) throws -> String {
      if let text = arguments[place] as? String { return text }
      throw MigrationFailure.function(selector, "argument \(place + 1) must be a text")
    }
    func count(_ count: Int) throws {
      if arguments.count == count { return }
      throw MigrationFailure.function(
        selector, "it takes \(count) arguments, and the expression passes \(arguments.count)")
    }
    if let function = Self.expressionFunctions.first(where: { $0.selector == selector }) {
      return MessageAnswer(try function.call(self, arguments))
    }
    switch selector {
    case "destinationInstancesForEntityMappingNamed:sourceInstances:":
      try count(2)
      try requireMapping(named: try text(0), selector)
      return MessageAnswer(
        destinationInstances(
          forEntityMappingName: try text(0), sourceInstances: try Self.objects(arguments[1], selector)))
    case "sourceInstancesForEntityMappingNamed:destinationInstances:":
      try count(2)
      return MessageAnswer(
        sourceInstances(
          forEntityMappingName: try text(0), destinationInstances: try Self.objects(arguments[1], selector)))
    case "destinationInstancesForSourceRelationshipNamed:sourceInstances:":
      try count(2)
      return MessageAnswer(
        try stack().destinations(ofRelationship: try text(0), try Self.objects(arguments[1], selector)))
    case "fetchRequestForSourceEntityNamed:predicateString:":
      try count(2)
      return MessageAnswer(try stack().sourceRequest(try text(0), try text(1)))
    default: return nil
    }
  }

  /// An expression that names none would leave a relationship empty.
  private func requireMapping(named name: String, _ selector: String) throws {
    let known: [String] = (mapping?.entityMappings ?? []).compactMap(\.name)
    if known.contains(name) { return }
    throw MigrationFailure.function(
      selector,
      "the mapping model has no entity mapping '\(name)'. \(NearestNames.advice(for: name, among: known))")
  }

  package final var adviceForMissingSelectors: String {
    "A subclass of NSMigrationManager lists its functions in expressionFunctions."
  }

  /// The members of a relationship, as an array.
  private static func objects(_ value: Any?, _ selector: String) throws -> [NSManagedObject] {
    switch value {
    case nil, is NSNull: return []
    case let object as NSManagedObject: return [object]
    case let objects as [NSManagedObject]: return objects
    case let other?:
      if let list = Members.list(other) { return try list.flatMap { try objects($0, selector) } }
      throw MigrationFailure.function(selector, "its last argument is \(type(of: other)), not objects")
    }
  }

  public func readValue(forKey key: String) throws -> Any? {
    switch key {
    case "sourceContext": return try stack().source.context
    case "destinationContext": return try stack().destination.context
    case "sourceModel": return sourceModel
    case "destinationModel": return destinationModel
    case "mappingModel": return mapping
    case "currentEntityMapping": return try stack().currentMapping
    case "userInfo": return userInfo
    case "migrationProgress": return migrationProgress
    default:
      throw MigrationFailure.function(
        key,
        "a migration manager has no value of that name. It has sourceContext, destinationContext, sourceModel, "
          + "destinationModel, mappingModel, currentEntityMapping and userInfo")
    }
  }
}
