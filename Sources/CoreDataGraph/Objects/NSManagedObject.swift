import CoreDataModel
import CoreDataStorage
import Foundation

/// An object of the graph: an entity's properties, registered with a context, stored by a persistent store.
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
/// An object belongs to its context's queue: use it inside ``NSManagedObjectContext/perform(_:)`` or
/// ``NSManagedObjectContext/performAndWait(_:)`` of that context only. Pass ``objectID`` to other queues.
///
/// See Apple's page [NSManagedObject](https://developer.apple.com/documentation/coredata/nsmanagedobject).
nonisolated open class NSManagedObject: NSObject, NSFetchRequestResult {
  // An object belongs to one queue, and no code that runs during an access to one of these variables accesses
  // it again; checking exclusivity at run time would cost half of a property's read time, and a fiftieth of a
  // save's.

  /// Entity, context and store of the object, one reference for the three: most objects of a fetch differ in
  /// their row only.
  @exclusivity(unchecked) final private(set) var home: ObjectHome
  /// The primary key; negative before the first save.
  @exclusivity(unchecked) final var key: Int64
  /// The slab and the address of the row of the last fetch or save, stored separately so that numbers are
  /// read without retaining the slab.
  @exclusivity(unchecked) final var rowSlab: RowSlab?
  @exclusivity(unchecked) final var rowBase: UnsafeMutableRawPointer?
  @exclusivity(unchecked) final var state: ObjectState?
  /// Changed by `insertFlags`, `removeFlags`, and by `UnitOfWork`.
  @exclusivity(unchecked) final private(set) var flags: ObjectFlags = []
  final var cachedID: NSManagedObjectID?
  /// The faults that were made together with this one, as long as none of them has loaded them.
  @exclusivity(unchecked) final var faultBatch: FaultBatch?
  /// The observers of the object; nil if there are none.
  final var observation: ObjectObservation?

  /// The object's entity in the model of its context; an object without a context may be moved to another
  /// model with an equal entity.
  final var runtime: EntityRuntime { home.runtime }
  /// The identity map that holds the object; nil outside a context.
  final var identityMap: IdentityMap? {
    get { home.identityMap }
    set { move(to: home.runtime, newValue, home.store) }
  }
  /// The store that holds the row; nil before the first save.
  final var store: NSPersistentStore? {
    get { home.store }
    set { move(to: home.runtime, home.identityMap, newValue) }
  }

  /// Whether the object was just made, of an entity of a context's model: nothing need be undone to insert it
  /// there.
  @inline(__always)
  final func isPlainlyNew(in context: NSManagedObjectContext) -> Bool {
    key == 0 && flags.isEmpty && rowBase == nil && cachedID == nil && home.table == nil && home.store == nil
      && home.facts.pointee.modelSerial == context.modelSerial && !home.facts.pointee.isAbstract
  }

  /// For a new object, whose home is its entity.
  @inline(__always)
  final func settle(in new: consuming ObjectHome) {
    home = new
  }

  private final func move(
    to runtime: EntityRuntime, _ identityMap: IdentityMap?, _ store: NSPersistentStore?
  ) {
    if let identityMap {
      home = identityMap.homes.home(of: runtime, store, in: identityMap)
    } else if let former = home.identityMap {
      home = former.homes.homeOutside(of: runtime, store)
    } else {
      home = store.map { ObjectHome(runtime, nil, $0, nil) } ?? runtime
    }
  }

  /// Moves the object to a store, for an identity map whose lock is held.
  final func move(to store: NSPersistentStore, in identityMap: IdentityMap, _ table: IdentityMap.Table) {
    home = identityMap.homes.home(of: home.runtime, store, in: identityMap, table)
  }

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

  /// Leaves the batch without releasing it: the caller releases the references of many objects at once.
  @inline(__always)
  final func giveUpFaultBatch() {
    withUnsafeMutablePointer(to: &faultBatch) { $0.initialize(to: nil) }
  }

  // MARK: Flags

  /// Sets flags that are not those of the unit of work.
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

  /// Changes flags of the unit of work; only the unit of work can make the key.
  @inline(__always)
  final func changeWorkFlags(adding new: ObjectFlags, removing old: ObjectFlags, _ key: UnitOfWork.FlagKey) {
    assert(new.union(old).isSubset(of: .ofWork))
    flags = flags.subtracting(old).union(new)
  }

  // MARK: Making objects

  /// Creates an object of `entity` and, unless `context` is nil, inserts it there.
  ///
  /// An entity of another model is replaced by the context's own if both models describe it alike; any other
  /// stops the program.
  ///
  /// A subclass that overrides it calls super and changes no property in it (use ``awakeFromInsert()``).
  public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    let described: EntityRuntime = .of(entity)
    if let context, described.facts.pointee.modelSerial != context.modelSerial {
      home = described.inModel(of: context)
    } else {
      home = described
    }
    key = 0
    super.init()
    if let context { context.insert(self) }
  }

  /// Creates an object of the entity of this class in the context's model and inserts it.
  public convenience init(context moc: NSManagedObjectContext) { self.init(NewManagedObject(moc)) }

  /// For the framework, and for generic code, to create an object of a class that is known at run time only.
  /// Classes inherit it, unless they declare another designated initialiser without overriding
  /// ``init(entity:insertInto:)``.
  public required convenience init(_ new: NewManagedObject) {
    switch new.origin {
    case .entity(let entity, let context): self.init(entity: entity, insertInto: context)
    case .fetched(let entity): self.init(entity: entity.takeUnretainedValue(), insertInto: nil)
    case .classInContext(let context):
      self.init(entity: Self.entityRuntime(in: context).layout.entity, insertInto: context)
    }
  }

  /// Moves the object to a context's model, or stops the program. `advice`: advice for the message.
  final func move(to model: ModelRuntime, advice: String) {
    let moved: EntityRuntime = runtime.inModel(model, advice: advice)
    if moved === runtime { return }
    if row != nil {
      fatalError("The object \(objectID) was stored with another model than the context's. \(advice)")
    }
    cachedID = nil
    move(to: moved, identityMap, store)
  }

  deinit {
    // The object retains its home: no further reference is needed.
    Unmanaged.passUnretained(home)._withUnsafeGuaranteedRef { $0.remove(self) }
    if state != nil { DeferredRelease.release(&state, of: runtime) }
  }

  /// The entity of this class in the models in use.
  ///
  /// If several stacks with separate models have the class, a block of a context uses the context's model.
  /// Elsewhere the newest model is used, which makes no difference as long as all describe the entity alike;
  /// if they do not, one line on standard error reports it once, with both. ``init(context:)`` and requests
  /// always use the context's model.
  ///
  /// For a class that no model in use names, or that several entities have, the description has no name, as
  /// on Apple's platforms (it is nil there, which Swift does not see): programs write `entity().name ??
  /// "\(Self.self)"`. If several entities have the class, a line on standard error lists them once.
  open class func entity() -> NSEntityDescription {
    do {
      return try ModelRuntime.entity(of: self).layout.entity
    } catch {
      if case GraphError.severalEntities = error { AmbiguousClass.report(self, "\(error)") }
      return NSEntityDescription()
    }
  }

  /// A request for all objects of ``entity()``. If that is ambiguous the request has no entity, and is
  /// refused unless it is given one.
  // Disfavoured, so that a call of a subclass's `fetchRequest() -> NSFetchRequest<Item>` needs no type
  // annotation.
  @_disfavoredOverload
  open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
    ModelRuntime.request(of: self)
  }

  /// Names of properties by key path, for those that can't be found automatically; see ``KeyPathNaming``.
  ///
  /// A property whose getter returns one managed value needs no entry. One that computes its value has no
  /// name, and may be given one here, such as that of the attribute it represents. The getter of a property
  /// that is used in a key path is run with sample values; list the property here if its getter would stop on
  /// them.
  open class var keyPathNames: [AnyKeyPath: String] { [:] }

  /// The class's own accessors that key-value coding calls, by key: those that do more than return and set a
  /// managed value.
  ///
  /// On Apple's platforms ``value(forKey:)`` and ``setValue(_:forKey:)`` call a property's getter and setter,
  /// which the Objective-C runtime finds by name. Elsewhere a class lists the ones that matter:
  ///
  /// ```swift
  /// final class Person: NSManagedObject {
  ///   /// A transient attribute, computed at the first read.
  ///   var fullName: String {
  ///     willAccessValue(forKey: "fullName")
  ///     defer { didAccessValue(forKey: "fullName") }
  ///     if let known = primitiveValue(forKey: "fullName") as? String { return known }
  ///     let made = "\(firstName) \(lastName)"
  ///     setPrimitiveValue(made, forKey: "fullName")
  ///     return made
  ///   }
  ///   /// A stored attribute that is always kept in lower case.
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
  /// ``observe(_:options:changeHandler:)``, and in the other direction for `#Predicate` and sort descriptors
  /// written with these key paths. `\Person.email` names the property for `Person` alone: a key path that
  /// starts at a subclass (`\Editor.email`) or crosses a relationship (`\Person.boss?.email`) is another one,
  /// whose getter can't be compared; list the former in the subclass, the latter in ``keyPathNames``, if the
  /// program uses them. Key-value coding returns their values in its usual form: numbers as `NSNumber`,
  /// decimals as `NSDecimalNumber`, sets as `NSSet`, a value with a raw value as that; values to be set are
  /// converted back if the property can represent them: a number out of its range, or a raw value without a
  /// case, is kept, and the next save refuses it. nil for a property that is not optional is passed to
  /// ``setNilValueForKey(_:)``. A modelled property without a setter is set in its slot.
  ///
  /// The stored value is the one that ``primitiveValue(forKey:)`` returns, ``changedValues()`` and
  /// ``committedValues(forKeys:)`` contain, validation checks (except for transient attributes), saves write,
  /// and stores compare: a fetch whose predicate or order names the key uses the stored value, and for
  /// objects with unsaved changes the value in their slots. So does a fetched results controller. Predicates
  /// and sort descriptors that the program itself evaluates over objects call the accessor. Stores have no
  /// keys that are not in the model; filter the fetched objects instead.
  ///
  /// Accessors are written with ``ManagedKey``s or primitive values. An accessor that calls
  /// ``value(forKey:)`` for its own key would call itself; the inner call returns the stored value, so that
  /// this ends. Key-value coding finds inherited accessors without their being listed again, and an
  /// overriding property is called. This property is read once for each entity while a model is prepared:
  /// return key paths from it and do nothing else. Classes that do not override it have no extra cost; a call
  /// through it costs several times one that reads the slot.
  open class var customAccessors: [String: AnyKeyPath] { [:] }

  /// Whether changes of properties that the model does not have, announced by ``willChangeValue(forKey:)``
  /// and ``didChangeValue(forKey:)``, leave the object unchanged for its context. Default true. Override it
  /// to return false for a class whose other properties decide what is saved (in `willSave()`, for instance):
  /// then the object counts as updated.
  open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

  static func entityRuntime(in context: NSManagedObjectContext) -> EntityRuntime {
    if let last = context.lastMade, last.objectClass == ObjectIdentifier(self),
      last.runtime.facts.pointee.modelSerial == context.modelSerial
    {
      return last.runtime
    }
    let found: EntityRuntime = findEntityRuntime(in: context)
    context.lastMade = (ObjectIdentifier(self), found)
    return found
  }

  private static func findEntityRuntime(in context: NSManagedObjectContext) -> EntityRuntime {
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

  /// The object's context; nil before insertion, after a saved deletion and after the context was
  /// deallocated.
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

  /// By instance, so it stays the same when a permanent id replaces the temporary one. The address needs no
  /// mixing: sets do that.
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
  /// next save. Later it is false again.
  public final var isDeleted: Bool { flags.contains(.deleted) }
  /// Whether the next save is to delete the row.
  final var isToBeDeleted: Bool {
    flags.contains(.deleted) && flags.isDisjoint(with: [.inserted, .remotelyDeleted])
  }
  /// Whether the values are not loaded yet.
  public final var isFault: Bool { flags.contains(.fault) }
  /// Inserted, updated or deleted.
  public final var hasChanges: Bool { !flags.isDisjoint(with: [.inserted, .updated, .deleted]) }
  /// 0 for a loaded object; otherwise the object is a fault.
  public final var faultingState: Int { flags.contains(.fault) ? 1 : 0 }

  // MARK: Life cycle, for subclasses

  /// Called once, when the object is first inserted. Call super first. Set starting values here.
  open func awakeFromInsert() {}
  /// Called each time values were loaded. Changes made here are not recorded and inverses are not maintained.
  open func awakeFromFetch() {}
  /// Called after all values were replaced: by rollback, refresh, undo or a merge.
  open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}
  /// Called before the object is deleted, while its relationships still exist.
  open func prepareForDeletion() {}
  /// Called before each save that includes the object, deletion included; changes made here are saved too.
  open func willSave() {}
  /// Called after the save.
  open func didSave() {}
  /// Called before the object becomes a fault; values can still be read.
  open func willTurnIntoFault() {}
  /// Called after the object became a fault.
  open func didTurnIntoFault() {}

  // MARK: Key-value coding, for subclasses

  /// The value of a property, by the class's own accessor if ``customAccessors`` lists one: numbers as
  /// `NSNumber`, decimals as `NSDecimalNumber`, a to-one target as its object, to-many members as `NSSet` or
  /// `NSOrderedSet`, nil for no value. Loads the object if it is a fault. An unknown key is passed to
  /// ``value(forUndefinedKey:)``, which stops with the nearest names; ``readValue(forKey:)`` throws instead.
  ///
  /// Override it to return other values for some keys; call super for all others. Key paths, predicates and
  /// sort descriptors over objects then call the override, with the same exceptions as for
  /// ``customAccessors``; properties don't. Cost: none for classes that do not override it.
  open func value(forKey key: String) -> Any? { baseValue(key) }

  /// Sets a property, by the class's own accessor if ``customAccessors`` lists one, and maintains the inverse
  /// of a relationship. A value that the attribute or the accessor's property can't represent (a number out
  /// of its range, a raw value without a case) is kept, and the next save refuses and names it. nil for an
  /// accessor whose property is not optional is passed to ``setNilValueForKey(_:)``, an unknown key to
  /// ``setValue(_:forUndefinedKey:)``.
  open func setValue(_ value: Any?, forKey key: String) { setBaseValue(value, key) }

  /// The value at the end of a path of keys: `category.name`. A to-many step returns the collection of its
  /// members' values. An override is called only by direct calls; predicates use ``value(forKey:)``.
  open func value(forKeyPath keyPath: String) -> Any? { baseValue(along: keyPath) }

  /// Sets the value at the end of a path: `category.name`, or an element of a composite attribute,
  /// `address.city`. Through a to-many relationship it is set for every member: `items.done`,
  /// `orders.items.price`. Nothing happens if an object on the path is nil.
  ///
  /// Stops for a key that an object on the path does not have, with the nearest names, and if the path
  /// continues after a value that is no object. Loads the objects on the path. Call it on the context's
  /// queue. See
  /// <https://developer.apple.com/documentation/objectivec/nsobject/setvalue(_:forkeypath:)>.
  open func setValue(_ value: Any?, forKeyPath keyPath: String) { setBaseValue(value, along: keyPath) }

  /// Called by ``setValue(_:forKey:)`` for nil if an accessor of ``customAccessors`` has a property that is
  /// not optional. Override it to set another value; call super for other keys.
  ///
  /// Super stops the program, as Apple's does. Attributes without such an accessor can have no value: nil
  /// removes it, and a property that isn't optional then reads as 0 or false.
  open func setNilValueForKey(_ key: String) { removeValue(forKey: key) }

  /// The value of a key that is neither a property of the model, nor one of ``customAccessors``, nor a stored
  /// property of the class. Override it to return values for such keys; ``value(forKey:)``, key paths,
  /// predicates and sort descriptors call it. Super stops the program with the nearest names; if the caller
  /// can throw, as `evaluateThrowing(with:substitutionVariables:)` can, the error is thrown instead.
  open func value(forUndefinedKey key: String) -> Any? { refuseKey(key) }

  /// Called by ``setValue(_:forKey:)`` with a value for an undefined key. Super stops the program with the
  /// nearest names.
  open func setValue(_ value: Any?, forUndefinedKey key: String) { refuseValue(forKey: key) }

  // MARK: Validation, for subclasses

  /// Checks one value, given or replaced, against the model. Nothing is checked when a property is set: a
  /// save calls this for every property that is new or changed, before the subclass's part of
  /// ``validateForInsert()`` or ``validateForUpdate()``.
  ///
  /// Override it for checks of a single property that the model can't express. It replaces Apple's
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
  /// A value that is replaced here becomes the object's value, and is saved. Throw a `CocoaError` (such as
  /// `NSManagedObjectValidationError`) or any other error: a save collects them from all properties and
  /// objects; several become one ``NSValidationMultipleErrorsError`` with all of them, flat, under
  /// ``NSDetailedErrorsKey``. Numbers may be passed as any numeric type. Do not set the property in here, and
  /// do not call this method from a check that it calls.
  ///
  /// Throws a single failure of the model itself, several as 1560; for a key that is neither a property nor
  /// an accessor's, an error with the nearest names. Cost: none in a save for classes that do not override
  /// it. See Apple's page
  /// [validateValue(_:forKey:)](https://developer.apple.com/documentation/coredata/nsmanagedobject/validatevalue(_:forkey:)).
  open func validateValue(_ value: inout Any?, forKey key: String) throws {
    guard let slot = runtime.layout.slotByName[key] else {
      // The model has no rules for a key that only an accessor has.
      if runtime.accessors?[key] != nil || runtime.recorder != nil { return }
      throw GraphError.unknownKey(key, runtime.layout)
    }
    try checkValue(&value, slot)
  }

  /// Checks a new object before its first save. Call super, then check what the model can't express.
  open func validateForInsert() throws { try checkModel() }
  /// Checks a changed object before a save.
  open func validateForUpdate() throws { try checkModel() }
  /// Checks whether the object may be deleted (delete rule Deny).
  open func validateForDelete() throws { try checkDelete() }
}

/// The reason why all of an object's values were replaced.
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
