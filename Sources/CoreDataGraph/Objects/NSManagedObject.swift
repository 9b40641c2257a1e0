import CoreDataModel
import CoreDataStorage
import Foundation

/// An object of the graph: an entity's properties, kept by a context, stored by a persistent store.
///
/// Subclass it for entities with a class of their own; off Apple's platforms managed properties are computed
/// properties over ``ManagedKey``s:
///
/// ```swift
/// final class Item: NSManagedObject {
///   static let title = ManagedKey("title")
///   var title: String? {
///     get { managedValue(Self.title) }
///     set { setManagedValue(newValue, Self.title) }
///   }
/// }
/// ```
///
/// An object belongs to its context's queue: touch it inside ``NSManagedObjectContext/perform(_:)`` or
/// ``NSManagedObjectContext/performAndWait(_:)`` of that context only. Hand ``objectID`` to other queues.
///
/// See Apple's page [NSManagedObject](https://developer.apple.com/documentation/coredata/nsmanagedobject).
nonisolated open class NSManagedObject: NSObject, NSFetchRequestResult {
  // An object belongs to one queue, and nothing that runs while one of these variables is accessed reaches
  // it; checking that at run time would cost a read of a property half its time, and a save a fiftieth.

  /// Its entity in the model of its context; an object without one may be taken over into another model that
  /// says the same.
  @exclusivity(unchecked) final private(set) var runtime: EntityRuntime
  /// The identity map that holds the object; nil outside a context.
  @exclusivity(unchecked) final var identityMap: IdentityMap?
  /// The store that holds the row; nil before the first save.
  @exclusivity(unchecked) final var store: NSPersistentStore?
  /// The primary key; negative before the first save.
  @exclusivity(unchecked) final var key: Int64
  /// The slab and the place of the row of the last fetch or save, apart so that numbers are read without
  /// counting a reference.
  @exclusivity(unchecked) final var rowSlab: RowSlab?
  @exclusivity(unchecked) final var rowBase: UnsafeMutableRawPointer?
  @exclusivity(unchecked) final var state: ObjectState?
  /// Changed by `insertFlags`, `removeFlags`, and by `UnitOfWork`.
  @exclusivity(unchecked) final private(set) var flags: ObjectFlags = []
  final var cachedID: NSManagedObjectID?
  final var faultBatch: FaultBatch?
  /// Who looks at the object; nil as long as nobody does.
  final var observation: ObjectObservation?

  /// The values of the last fetch or save.
  final var row: RowRef? {
    get {
      guard let rowSlab, let rowBase else { return nil }
      return RowRef(slab: rowSlab, base: rowBase)
    }
    set {
      rowSlab = newValue?.slab
      rowBase = newValue?.base
    }
  }

  // MARK: Flags

  /// Sets flags of the object's own.
  @inline(__always)
  final func insertFlags(_ own: ObjectFlags) {
    assert(own.isSubset(of: .own))
    flags.formUnion(own)
  }

  @inline(__always)
  final func removeFlags(_ own: ObjectFlags) {
    assert(own.isSubset(of: .own))
    flags.subtract(own)
  }

  /// Changes flags of the unit of work, which alone has the key.
  @inline(__always)
  final func changeWorkFlags(adding new: ObjectFlags, removing old: ObjectFlags, _ key: UnitOfWork.FlagKey) {
    assert(new.union(old).isSubset(of: .ofWork))
    flags = flags.subtracting(old).union(new)
  }

  // MARK: Making objects

  /// Makes an object of `entity` and, unless `context` is nil, inserts it there.
  ///
  /// An entity of another model is taken for the context's own if both models describe it alike; any other
  /// stops the program.
  ///
  /// A subclass that overrides it calls super and changes no property in it (use ``awakeFromInsert()``).
  public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    let described: EntityRuntime = .of(entity)
    runtime = context.map { described.inModel(of: $0) } ?? described
    key = 0
    super.init()
    if let context { context.insert(self) }
  }

  /// Makes an object of the entity this class stands for in the context's model and inserts it.
  public convenience init(context moc: NSManagedObjectContext) { self.init(NewManagedObject(moc)) }

  /// For the framework, and for generic code, to make an object of a class that is known at run time only.
  /// Classes inherit it. A class without a designated initialiser of its own, or with
  /// ``init(entity:insertInto:)`` overridden, has all that is needed.
  public required convenience init(_ new: NewManagedObject) {
    switch new.origin {
    case .entity(let entity, let context): self.init(entity: entity, insertInto: context)
    case .classInContext(let context):
      self.init(entity: Self.entityRuntime(in: context).layout.entity, insertInto: context)
    }
  }

  /// Makes the object one of a context's model, or stops the program. `cure`: what to do, for people.
  final func move(to model: ModelRuntime, cure: String) {
    let moved: EntityRuntime = runtime.inModel(model, cure: cure)
    if moved === runtime { return }
    if row != nil {
      fatalError("The object \(objectID) was stored with another model than the context's. \(cure)")
    }
    cachedID = nil
    runtime = moved
  }

  deinit {
    if let identityMap {
      identityMap.remove(self, store: store?.ordinal ?? 0, root: runtime.layout.rootIndex, key: key)
    }
    DeferredRelease.release(&state, of: runtime)
  }

  /// The entity this class stands for in the models in use.
  ///
  /// Where several stacks with models of their own have the class, a block of a context means the context's
  /// model. Elsewhere the newest model is taken, which makes no difference as long as all describe the entity
  /// alike; if they do not, a line on standard error says so once, with both. ``init(context:)`` and requests
  /// always go by the context's model.
  ///
  /// For a class that no model in use names, or that several entities have, the description has no name, as
  /// on Apple's platforms (it is nil there, which Swift does not see): programs write
  /// `entity().name ?? "\(Self.self)"`. Of several entities a line on standard error says once
  /// which they are.
  open class func entity() -> NSEntityDescription {
    do {
      return try ModelRuntime.entity(of: self).layout.entity
    } catch {
      if case GraphError.severalEntities = error { UnclearClass.tell(self, "\(error)") }
      return NSEntityDescription()
    }
  }

  /// A request for all objects of ``entity()``. Where that is unclear the request has no entity, and is
  /// refused unless it gets one.
  // Disfavoured, so that a subclass's `fetchRequest() -> NSFetchRequest<Item>` needs no type beside
  // it when called.
  @_disfavoredOverload
  open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
    ModelRuntime.request(of: self)
  }

  /// Names of properties by key path, for those that can't be found by themselves; see ``KeyPathNaming``.
  ///
  /// A property whose getter hands one managed value through needs none. One that computes its value has
  /// none, and may be given one here, such as the attribute it stands for. The getter of a property that is
  /// used in a key path is run with made-up values; list it here if it would stop on them.
  open class var keyPathNames: [AnyKeyPath: String] { [:] }

  /// The class's own accessors that key-value coding is to call, by key: those that do more than hand a
  /// managed value through.
  ///
  /// On Apple's platforms ``value(forKey:)`` and ``setValue(_:forKey:)`` call a property's getter and setter,
  /// which the Objective-C runtime finds by name. Elsewhere a class names the ones that matter:
  ///
  /// ```swift
  /// final class Person: NSManagedObject {
  ///   /// A transient attribute, made when it is first asked for.
  ///   var fullName: String {
  ///     willAccessValue(forKey: "fullName")
  ///     defer { didAccessValue(forKey: "fullName") }
  ///     if let known = primitiveValue(forKey: "fullName") as? String { return known }
  ///     let made = "\(firstName) \(lastName)"
  ///     setPrimitiveValue(made, forKey: "fullName")
  ///     return made
  ///   }
  ///   /// A stored attribute that is kept in one form.
  ///   var email: String? {
  ///     get { managedValue(Self.emailKey) }
  ///     set { setManagedValue(newValue?.lowercased(), Self.emailKey) }
  ///   }
  ///   /// Not in the model at all.
  ///   var initials: String { … }
  ///
  ///   override class var customAccessors: [String: AnyKeyPath] {
  ///     ["fullName": \Person.fullName, "email": \Person.email, "initials": \Person.initials]
  ///   }
  /// }
  /// ```
  ///
  /// They are used wherever a property is named: ``value(forKey:)``, ``setValue(_:forKey:)``, key paths and
  /// their operators, predicates and sort descriptors that are evaluated over objects,
  /// ``observe(_:options:changeHandler:)``, and the other way round for `#Predicate` and sort descriptors
  /// written with these key paths. `\Person.email` names the property for `Person` alone: a key path that
  /// starts at a subclass (`\Editor.email`) or goes over a relationship (`\Person.boss?.email`) is another
  /// one, whose getter can't be compared; list the former in the subclass, the latter in ``keyPathNames``, if
  /// they are written. Key-value coding gives their values as it gives all: numbers as `NSNumber`, decimals
  /// as `NSDecimalNumber`, sets as `NSSet`, a value with a raw value as that; values on their way in are
  /// converted back, where the property has room for them: a number out of its range, or a raw value without
  /// a case, is kept for the next save to refuse. nil for a property that is not optional goes to
  /// ``setNilValueForKey(_:)``. A modelled property without a setter is set in its slot.
  ///
  /// The stored value is what ``primitiveValue(forKey:)`` gives, what ``changedValues()`` and
  /// ``committedValues(forKeys:)`` tell, what is validated (but for transient attributes) and saved, and what
  /// stores compare: a fetch whose predicate or order names the key goes by the stored value, of objects with
  /// unsaved changes by what is in their slots. So does a fetched results controller. Predicates and sort
  /// descriptors that the program itself uses on objects ask the accessor. Stores do not know keys that are
  /// not in the model; filter the objects that were fetched.
  ///
  /// Accessors are written with ``ManagedKey``s or primitive values. One that asks ``value(forKey:)`` for its
  /// own key asks itself; it is given the stored value the second time, so that this ends. Key-value coding
  /// finds inherited accessors without their being listed again, and an overriding property is called. Read
  /// once per entity while a model is prepared: name key paths in it and do nothing else. Classes that do not
  /// override this pay nothing; a call through it costs several times one that goes to the slot.
  open class var customAccessors: [String: AnyKeyPath] { [:] }

  /// Whether changes of properties that the model does not have, announced by ``willChangeValue(forKey:)``
  /// and ``didChangeValue(forKey:)``, leave the object unchanged in its context's eyes. Default true.
  /// Override to return false for a class whose other properties decide what is saved (in `willSave()`, for
  /// instance): then the object counts as updated.
  open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

  static func entityRuntime(in context: NSManagedObjectContext) -> EntityRuntime {
    guard let model = context.persistentStoreCoordinator?.runtime else {
      fatalError("\(self)(context:) needs a context with a persistent store coordinator; set one first.")
    }
    let found: [EntityRuntime] = model.byClass[ObjectIdentifier(self)] ?? []
    if found.count == 1 { return found[0] }
    if found.isEmpty {
      fatalError(
        """
        An NSManagedObject of class '\(self)' must have a valid NSEntityDescription: no entity of the context's model has this class. Set \
        the entity's class in the model, or use NSEntityDescription.insertNewObject(forEntityName:into:). Entities: \
        \(model.layout.entities.map { "\($0.name) (\($0.entity.managedObjectClassName ?? ""))" }
          .joined(separator: ", ")).
        """)
    }
    fatalError(
      """
      An NSManagedObject of class '\(self)' must have a valid NSEntityDescription: in the context's model the class stands for the entities \
      \(found.map(\.layout.name).joined(separator: ", ")). Say which: init(entity:insertInto:), or \
      NSEntityDescription.insertNewObject(forEntityName:into:).
      """)
  }

  // MARK: Identity

  public final var entity: NSEntityDescription { runtime.layout.entity }

  /// The context that keeps the object; nil before insertion, after a saved deletion and when the
  /// context is gone.
  public final var managedObjectContext: NSManagedObjectContext? { identityMap?.context }

  /// The object's identity; temporary until the first save. Does not load the object.
  public final var objectID: NSManagedObjectID {
    if let cachedID { return cachedID }
    let made = NSManagedObjectID(runtime: runtime, key: key, store: store)
    cachedID = made
    return made
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let object else { return false }
    return (object as AnyObject) === self
  }

  /// By instance, so it survives the change from temporary to permanent id. The address as it is: sets mix
  /// what they get.
  open override var hash: Int { Int(bitPattern: ObjectIdentifier(self)) }

  open override var description: String {
    let contents: String
    if flags.contains(.fault) {
      contents = "<fault>"
    } else if flags.contains(.orphaned) {
      contents = "<context gone>"
    } else if flags.contains(.confined), identityMap?.context?.mayBeUsedHere == false {
      contents = "<on the queue of its context>"
    } else {
      contents =
        "{"
        + runtime.layout.slots.indices.filter { !runtime.layout.slots[$0].isElement }.map { slot in
          let name: String = runtime.layout.slots[slot].name
          return "\(name): \(describe(slot))"
        }.joined(separator: "; ") + "}"
    }
    return "<\(type(of: self))> (entity: \(runtime.layout.name); id: \(objectID); data: \(contents))"
  }

  private func describe(_ slot: Int) -> String {
    let described: PropertySlot = runtime.layout.slots[slot]
    if described.relationship != nil {
      if described.isToOne { return toOneTarget(slot).map { "\($0.objectID)" } ?? "nil" }
      guard let members = state?.toMany(slot)?.members else { return "<relationship fault>" }
      return "(\(members.count) objects)"
    }
    guard let value = attributeValue(slot) else { return "nil" }
    return "\(value)"
  }

  // MARK: State

  /// New since the last save.
  public final var isInserted: Bool { flags.contains(.inserted) }
  /// Changed since the last save (and neither new nor deleted).
  public final var isUpdated: Bool {
    flags.contains(.updated) && flags.isDisjoint(with: [.inserted, .deleted])
  }
  /// To be deleted by the next save, or deleted by another context whose save was merged, until this one's
  /// next save. Not a test for "was deleted once".
  public final var isDeleted: Bool { flags.contains(.deleted) }
  /// Whether the next save is to delete the row.
  final var isToBeDeleted: Bool {
    flags.contains(.deleted) && flags.isDisjoint(with: [.inserted, .remotelyDeleted])
  }
  /// Whether the values are still to be loaded.
  public final var isFault: Bool { flags.contains(.fault) }
  /// Inserted, updated or deleted.
  public final var hasChanges: Bool { !flags.isDisjoint(with: [.inserted, .updated, .deleted]) }
  /// 0 for a loaded object; otherwise the object is a fault.
  public final var faultingState: Int { flags.contains(.fault) ? 1 : 0 }

  // MARK: Life cycle, for subclasses

  /// Once, when the object is first inserted. Call super first. Set starting values here.
  open func awakeFromInsert() {}
  /// Each time values were loaded. Changes made here are not recorded and inverses are not kept.
  open func awakeFromFetch() {}
  /// After values were replaced as a whole: by rollback, refresh, undo or a merge.
  open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}
  /// Before the object is deleted, while its relationships are still there.
  open func prepareForDeletion() {}
  /// Before each save that concerns the object, deletion included; changes made here are saved too.
  open func willSave() {}
  /// After the save.
  open func didSave() {}
  /// Before the object becomes a fault; values can still be read.
  open func willTurnIntoFault() {}
  /// After the object became a fault.
  open func didTurnIntoFault() {}

  // MARK: Key-value coding, for subclasses

  /// The value of a property, by the class's own accessor if ``customAccessors`` names one: numbers as
  /// `NSNumber`, decimals as `NSDecimalNumber`, a to-one target as its object, to-many members as `NSSet` or
  /// `NSOrderedSet`, nil for no value. Loads the object if it is a fault. An unknown key goes to
  /// ``value(forUndefinedKey:)``, which stops with the nearest names; ``readValue(forKey:)`` throws instead.
  ///
  /// Override it to answer keys otherwise; call super for all others. Key paths, predicates and sort
  /// descriptors over objects ask the override then, with the exceptions that ``customAccessors`` has too;
  /// properties don't. Cost: classes that do not override it pay nothing.
  open func value(forKey key: String) -> Any? { baseValue(key) }

  /// Sets a property, by the class's own accessor if ``customAccessors`` names one, and keeps the inverse of
  /// a relationship. A value that the attribute does not take, or the accessor's property (a number out of
  /// its range, a raw value without a case), is kept and refused by the next save, which names it. nil for an
  /// accessor whose property is not optional goes to ``setNilValueForKey(_:)``, an unknown key to
  /// ``setValue(_:forUndefinedKey:)``.
  open func setValue(_ value: Any?, forKey key: String) { setBaseValue(value, key) }

  /// The values along a path of keys: `category.name`. A to-many step gives the collection of its members'
  /// values. Overridden, it is asked by whoever calls it; predicates go by ``value(forKey:)``.
  open func value(forKeyPath keyPath: String) -> Any? { baseValue(along: keyPath) }

  /// Sets the value at the end of a path: `category.name`, or an element of a composite attribute,
  /// `address.city`. Through a to-many relationship it is sent to every member: `items.done`,
  /// `orders.items.price`. Nothing happens where an object on the way is nil.
  ///
  /// Stops for a key that an object on the way does not have, with the nearest names, and where the path goes
  /// on behind a value that is no object. Loads what it goes through. On the context's queue. See
  /// <https://developer.apple.com/documentation/objectivec/nsobject/setvalue(_:forkeypath:)>.
  open func setValue(_ value: Any?, forKeyPath keyPath: String) { setBaseValue(value, along: keyPath) }

  /// Called by ``setValue(_:forKey:)`` for nil where an accessor of ``customAccessors`` has a property that
  /// is not optional. Override it to put something in place of nil; call super for other keys.
  ///
  /// Super stops the program, as Apple's does. Attributes without such an accessor can do without a value:
  /// nil removes it, and a property that isn't optional reads as 0 or false then.
  open func setNilValueForKey(_ key: String) { removeValue(forKey: key) }

  /// What a key stands for that is neither a property of the model, nor one of ``customAccessors``, nor a
  /// stored property of the class. Override it to answer such keys; ``value(forKey:)``, key paths, predicates
  /// and sort descriptors ask it. Super stops the program with the nearest names; where errors can be thrown,
  /// as from `evaluateThrowing(with:substitutionVariables:)`, it makes them be thrown.
  open func value(forUndefinedKey key: String) -> Any? { refuseKey(key) }

  /// Takes what ``setValue(_:forKey:)`` was given for a key that stands for nothing. Super stops the program
  /// with the nearest names.
  open func setValue(_ value: Any?, forUndefinedKey key: String) { refuseValue(forKey: key) }

  // MARK: Validation, for subclasses

  /// Checks one value, given or replaced, against the model. Nothing is checked when a property is set:
  /// saving calls this for every property that is new or changed, before the subclass's part of
  /// ``validateForInsert()`` or ``validateForUpdate()``.
  ///
  /// Override it for what the model can't say about a single property. It stands for Apple's
  /// `validate<Key>:error:` methods, which the Objective-C runtime finds by name: call super first, which
  /// checks the model, then the property's own check.
  ///
  /// ```swift
  /// override func validateValue(_ value: inout Any?, forKey key: String) throws {
  ///   try super.validateValue(&value, forKey: key)
  ///   if key == "name" { try validateName(&value) }
  /// }
  /// ```
  ///
  /// A value that is replaced here is what the object has from then on, and what is saved. Throw a
  /// `CocoaError` (such as `NSManagedObjectValidationError`) or any other error: saving gathers them from all
  /// properties and objects; several become one ``NSValidationMultipleErrorsError`` with all of them, flat,
  /// under ``NSDetailedErrorsKey``. Numbers may be given as any numeric type. Do not set the property in
  /// here, and do not call this method from a check that it calls.
  ///
  /// Throws the model's first failure as itself, several as 1560; for a key that is neither a property nor an
  /// accessor's, an error with the nearest names. Cost: classes that do not override it pay nothing for it in
  /// a save. See Apple's page
  /// [validateValue(_:forKey:)](https://developer.apple.com/documentation/coredata/nsmanagedobject/validatevalue(_:forkey:)).
  open func validateValue(_ value: inout Any?, forKey key: String) throws {
    guard let slot = runtime.layout.slotByName[key] else {
      // The model has nothing to say about a key that is an accessor's only.
      if runtime.accessors?[key] != nil || runtime.recorder != nil { return }
      throw GraphError.unknownKey(key, runtime.layout)
    }
    try checkValue(&value, slot)
  }

  /// Checks a new object before its first save. Call super, then check what the model can't say.
  open func validateForInsert() throws { try checkModel() }
  /// Checks a changed object before a save.
  open func validateForUpdate() throws { try checkModel() }
  /// Checks whether the object may be deleted (delete rule Deny).
  open func validateForDelete() throws { try checkDelete() }
}

/// Why an object's values were replaced as a whole.
public struct NSSnapshotEventType: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let undoInsertion = NSSnapshotEventType(rawValue: 1 << 1)
  public static let undoDeletion = NSSnapshotEventType(rawValue: 1 << 2)
  public static let undoUpdate = NSSnapshotEventType(rawValue: 1 << 3)
  public static let rollback = NSSnapshotEventType(rawValue: 1 << 4)
  public static let refresh = NSSnapshotEventType(rawValue: 1 << 5)
  public static let mergePolicy = NSSnapshotEventType(rawValue: 1 << 6)
}

@available(
  *, unavailable, message: "A managed object belongs to its context's queue; hand its objectID over instead."
)
extension NSManagedObject: @unchecked Sendable {}
