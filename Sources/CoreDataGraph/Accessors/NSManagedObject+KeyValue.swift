import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

// Key-value coding: what Apple's framework inherits from the Objective-C runtime is implemented here as
// methods of managed objects.

extension NSManagedObject {
  /// The slot of a key; stops with the nearest names if the entity has no such property.
  final func requireSlot(_ key: String) -> Int {
    guard let slot = runtime.layout.slotByName[key] else {
      // Values written to a recording instance are never read.
      if runtime.recorder != nil { return 0 }
      fatalError(GraphError.unknownKey(key, runtime.layout).description)
    }
    return slot
  }

  /// The value of a slot as key-value coding returns it.
  final func objectValue(_ slot: Int) -> Any? {
    let described: PropertySlot = runtime.layout.slots[slot]
    guard let relationship = described.relationship else {
      return described.role == .fetched ? fetchedValue(slot) : attributeValue(slot)
    }
    if !relationship.isToMany { return toOneTarget(slot) }
    let objects: [NSManagedObject] = members(slot).objects
    return relationship.isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects)
  }

  /// The result of a fetched property: fetched when it is first read and kept until the object is refreshed.
  private final func fetchedValue(_ slot: Int) -> Any? {
    fireFault()
    if let value = state?.values[slot], case .object = value {
      return value.attributeValue(kind: .transformable)
    }
    let described: PropertySlot = runtime.layout.slots[slot]
    guard let property = described.property as? NSFetchedPropertyDescription,
      let context = identityMap?.context
    else { return nil }
    do {
      let found: [NSManagedObject] = try context.fetchedProperty(property, of: self)
      ensureState().values[slot] = .object(Box<Any>(found))
      return found
    } catch {
      fatalError(
        "CoreData could not run the fetched property \(runtime.layout.name).\(described.name): \(error)")
    }
  }
}

extension NSManagedObject: KeyValueReadable, ModelledObject {
  /// For predicates and sort descriptors: throws instead of stopping if the key is unknown or a transformable
  /// value can't be transformed.
  public final func readValue(forKey key: String) throws -> Any? {
    if runtime.overridesValueForKey, runtime.recorder == nil { return try overriddenValue(key) }
    return try knownValue(key)
  }

  /// The value that the base class's `value(forKey:)` returns, or its error.
  private final func knownValue(_ key: String) throws -> Any? {
    if needsSlowAccess, let recorder = runtime.recorder { return recorder.anyValue(key) }
    if let answer = customValue(key) { return answer.value }
    if let slot = runtime.layout.slotByName[key] {
      fireFault(slot, .read)
      try checkTransformed(slot)
      return objectValue(slot)
    }
    switch key {
    case "objectID": return objectID
    case "self": return self
    case "entity": return entity
    case "managedObjectContext": return managedObjectContext
    case "hasChanges": return NSNumber(value: hasChanges)
    case "isInserted": return NSNumber(value: isInserted)
    case "isUpdated": return NSNumber(value: isUpdated)
    case "isDeleted": return NSNumber(value: isDeleted)
    case "isFault": return NSNumber(value: isFault)
    default: break
    }
    var mirror: Mirror? = Mirror(reflecting: self)
    while let current = mirror, current.subjectType != NSManagedObject.self {
      for child in current.children where child.label == key { return SlotValue.unwrapped(child.value) }
      mirror = current.superclassMirror
    }
    return try undefinedValue(key)
  }

  package final func hasProperty(named name: String) -> Bool { runtime.layout.slotByName[name] != nil }

  /// Whether a key is a property that stores keep, as opposed to one that only objects have.
  final func isStored(_ key: String) -> Bool {
    guard let slot = runtime.layout.slotByName[key] else { return false }
    return runtime.compactSlots[slot].role != .transient
  }

  /// The result of the class's own accessor; nil if there is none, or if it is already running.
  @inline(__always)
  final func customValue(_ key: String) -> CustomAccessor.Answer? {
    guard let accessors = runtime.accessors else { return nil }
    return accessors[key]?.read(self)
  }
}

// MARK: - Undefined keys

extension NSManagedObject {
  /// The result of the class for an undefined key. If the class calls the base class's implementation, which
  /// would stop the program, the error is thrown instead.
  private final func undefinedValue(_ key: String) throws -> Any? {
    try catchingRefusal { value(forUndefinedKey: key) }
  }

  private final func catchingRefusal(_ body: () -> Any?) throws -> Any? {
    let notes: ThreadLocalState = .ofThisThread
    notes.refusals.append(nil)
    let value: Any? = body()
    if let refusal = notes.refusals.removeLast() { throw refusal }
    return value
  }

  /// The result of the class's own `value(forKey:)`; the stored value if stored values are being read.
  private final func overriddenValue(_ key: String) throws -> Any? {
    let notes: ThreadLocalState = .ofThisThread
    if notes.readsPersistedValues, isStored(key) { return try knownValue(key) }
    // The class's own reads are the program's, whatever code calls the class.
    return try notes.with(\.readsPersistedValues, false) { try catchingRefusal { value(forKey: key) } }
  }

  /// The base class's `value(forKey:)`.
  final func baseValue(_ key: String) -> Any? {
    do {
      return try knownValue(key)
    } catch {
      let notes: ThreadLocalState = .ofThisThread
      if notes.refusals.isEmpty {
        // A value that its transformer can't read is nil, and is reported.
        if let slot = runtime.layout.slotByName[key] { return objectValue(slot) }
        fatalError("\(error)")
      }
      notes.refusals[notes.refusals.count - 1] = error
      return nil
    }
  }

  /// The base class's `value(forUndefinedKey:)`.
  final func refuseKey(_ key: String) -> Any? {
    let notes: ThreadLocalState = .ofThisThread
    let refusal: GraphError = .unknownKey(key, runtime.layout)
    if notes.refusals.isEmpty { fatalError(refusal.description) }
    notes.refusals[notes.refusals.count - 1] = refusal
    return nil
  }

  /// The base class's `setValue(_:forUndefinedKey:)`.
  final func refuseValue(forKey key: String) {
    // Values written to a recording instance are never read.
    if runtime.recorder != nil { return }
    if runtime.accessors?[key] != nil {
      fatalError(
        "\(type(of: self)).customAccessors names a property for '\(key)' that has no setter, so it can't be set. Give it one, or "
          + "override setValue(_:forUndefinedKey:).")
    }
    fatalError(GraphError.unknownKey(key, runtime.layout).description)
  }

  /// The base class's `setNilValueForKey(_:)`.
  final func removeValue(forKey key: String) {
    if let accessor = runtime.accessors?[key], accessor.refusesNil {
      fatalError(
        "nil can't be set for the key '\(key)' of \(type(of: self)), whose property is not optional. Set a value, or override "
          + "setNilValueForKey(_:) to say what stands for nil.")
    }
    setObjectValue(nil, requireSlot(key))
  }
}

extension NSManagedObject {
  /// The base class's `value(forKeyPath:)`.
  final func baseValue(along keyPath: String) -> Any? {
    do {
      // In a path, `self` is the object even if a property has that name.
      if keyPath == "self" { return value(forKey: keyPath) }
      return try NSExpression(forKeyPath: keyPath).expressionValueThrowing(with: self)
    } catch {
      fatalError("\(error)")
    }
  }

  /// The base class's `setValue(_:forKeyPath:)`.
  final func setBaseValue(_ value: Any?, along keyPath: String) {
    let path: [String] = runtime.layout.joinElements(keyPath.split(separator: ".").map(String.init))
    guard path.count > 1 else { return setValue(value, forKey: path.first ?? keyPath) }
    let rest: String = path.dropFirst().joined(separator: ".")
    MemberValues.forEach(
      in: self.value(forKey: path[0]),
      of: "'\(path[0])' in the key path '\(keyPath)' of entity '\(runtime.layout.name)' leads to"
    ) { $0.setValue(value, forKeyPath: rest) }
  }

  /// The base class's `setValue(_:forKey:)`.
  final func setBaseValue(_ value: Any?, _ key: String) {
    let slot: Int? = runtime.layout.slotByName[key]
    if let accessor = runtime.accessors?[key], set(value, by: accessor, slot) { return }
    guard let slot else {
      guard let name = Self.keyOfSameSetter(key), runtime.layout.slotByName[name] != nil else {
        return setValue(value, forUndefinedKey: key)
      }
      return setBaseValue(value, name)
    }
    setObjectValue(value, slot)
  }

  /// On Apple's platforms `setValue(_:forKey: "Date")` sets `date`: the method is `setDate:` for both, and
  /// programs do so without knowing. Reading has no such detour.
  private static func keyOfSameSetter(_ key: String) -> String? {
    guard let first = key.first, first.isLetter else { return nil }
    return (first.isUppercase ? first.lowercased() : first.uppercased()) + key.dropFirst()
  }

  /// Returns false for a value that is to be set in the slot.
  private final func set(_ value: Any?, by accessor: CustomAccessor, _ slot: Int?) -> Bool {
    switch accessor.write(value, to: self) {
    case .written: return true
    case .unavailable: return false
    case .refusesNil:
      setNilValueForKey(accessor.key)
      return true
    case .wrongType(let wanted):
      if let slot {
        keep(value, slot, for: wanted)
        return true
      }
      fatalError(
        "Unacceptable type of value for the key '\(accessor.key)' of \(type(of: self)): its property takes \(wanted), not "
          + "\(SlotValue.unwrapped(value).map { "\(type(of: $0))" } ?? "nil").")
    }
  }

  /// Keeps a value that an accessor can't accept, so that the next save reports it: with the attribute's type
  /// if the attribute can't accept it either, else with the accessor's type.
  private final func keep(_ value: Any?, _ slot: Int, for wanted: Any.Type) {
    let described: PropertySlot = runtime.layout.slots[slot]
    guard let given = SlotValue.unwrapped(value), described.attribute != nil, described.role != .composite,
      isValid(makeSlotValue(given, slot: slot), slot)
    else { return setObjectValue(value, slot) }
    setSlot(slot, .object(ForeignValue(given, wanted: wanted)))
  }

  /// Sets several properties.
  public final func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues.sorted(by: { $0.key < $1.key }) { setValue(value, forKey: key) }
  }

  /// The values of several properties, `NSNull` for nil.
  public final func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    Dictionary(uniqueKeysWithValues: Set(keys).map { ($0, value(forKey: $0) ?? NSNull()) })
  }

  final func setObjectValue(_ value: Any?, _ slot: Int) {
    let described: PropertySlot = runtime.layout.slots[slot]
    guard let relationship = described.relationship else {
      if described.role == .fetched {
        fatalError(
          "The fetched property '\(runtime.layout.name).\(described.name)' can't be set: it is what its request finds."
        )
      }
      setAttribute(slot, value)
      return
    }
    if relationship.isToMany {
      setMembers(slot, NSManagedObject.objects(in: value, of: described))
    } else {
      setToOne(slot, NSManagedObject.object(in: value, of: described))
    }
  }

  private static func object(in value: Any?, of slot: PropertySlot) -> NSManagedObject? {
    guard let value = SlotValue.unwrapped(value) else { return nil }
    guard let object = value as? NSManagedObject else {
      fatalError(
        "Unacceptable type of value for to-one relationship '\(slot.name)': \(type(of: value)); "
          + "set a managed object or nil.")
    }
    return object
  }

  /// The managed objects in a collection of any kind.
  private static func objects(in value: Any?, of slot: PropertySlot) -> [NSManagedObject] {
    guard let value = SlotValue.unwrapped(value) else { return [] }
    let members: [Any]
    switch value {
    case let set as NSOrderedSet: members = set.array
    case let set as NSSet: members = set.allObjects
    case let array as NSArray: members = array.map { $0 }
    case let set as Set<NSManagedObject>: members = Array(set)
    case let array as [Any]: members = array
    default: members = [value]
    }
    return members.map { member in
      guard let object = member as? NSManagedObject else {
        fatalError(
          "Unacceptable type of value for to-many relationship '\(slot.name)': \(type(of: member)); "
            + "set a set of managed objects.")
      }
      return object
    }
  }

  // MARK: Primitive access and its brackets

  /// Called before a value is read: loads the object if it is a fault.
  public final func willAccessValue(forKey key: String?) {
    if needsSlowAccess { performSlowAccess(key.flatMap { runtime.layout.slotByName[$0] } ?? -1, .read) }
  }
  public final func didAccessValue(forKey key: String?) {}

  /// The value without loading the object and without any callback.
  public final func primitiveValue(forKey key: String) -> Any? {
    if let recorder = runtime.recorder { return recorder.anyValue(key) }
    let slot: Int = requireSlot(key)
    if flags.contains(.confined) { requireQueue(slot, .read) }
    if flags.contains(.fault), row == nil { return nil }
    let wasFault: Bool = flags.contains(.fault)
    removeFlags(.fault)
    defer { if wasFault { insertFlags(.fault) } }
    return objectValue(slot)
  }

  /// Sets a value without recording a change, maintaining inverses or calling anything. Between
  /// ``willChangeValue(forKey:)`` and ``didChangeValue(forKey:)`` it forms a complete setter.
  public final func setPrimitiveValue(_ value: Any?, forKey key: String) {
    let slot: Int = requireSlot(key)
    if flags.contains(.confined) { requireQueue(slot, .write) }
    let described: PropertySlot = runtime.layout.slots[slot]
    if described.isToMany {
      awakeQuietly { writeMembers(slot, NSManagedObject.objects(in: value, of: described)) }
    } else if described.isToOne {
      let target: NSManagedObject? = NSManagedObject.object(in: value, of: described)
      ensureState().values[slot] = target.map { .object($0) } ?? .null
    } else if described.role == .composite {
      for (element, value) in splitComposite(slot, value) { ensureState().values[element] = value }
    } else {
      ensureState().values[slot] = makeSlotValue(value, slot: slot)
    }
    // The object does not count as changed, but its next save must write the value (Decisions/0056).
    if hasSource || flags.contains(.inserted) {
      for stored in runtime.layout.storedSlots(of: slot) { state?.noteChange(stored) }
    }
  }

  /// Called before a value is changed by primitive access. A key that the model does not have is a property
  /// of the class itself, see ``contextShouldIgnoreUnmodeledPropertyChanges``.
  public final func willChangeValue(forKey key: String) {
    guard let slot = modelledSlot(key) else {
      if flags.contains(.observed), let place = observedPlace(key) { observation?.willChange(self, place) }
      return
    }
    fireFault(slot, .write)
    let described: PropertySlot = runtime.layout.slots[slot]
    let old: NotedValue
    if described.isToMany {
      old = .toMany(members(slot).objects)
    } else if described.isToOne {
      old = .toOne(toOneTarget(slot))
    } else {
      old = .attribute
    }
    let state: ObjectState = ensureState()
    if isRecorded, !described.isToMany {
      for stored in runtime.layout.storedSlots(of: slot) { state.recordOldValue(stored) }
    }
    state.noted.append((slot, old))
    if flags.contains(.observed), !flags.contains(.untracked) { observation?.willChange(self, slot) }
  }

  private func modelledSlot(_ key: String) -> Int? {
    runtime.recorder == nil ? runtime.layout.slotByName[key] : requireSlot(key)
  }

  private func noteUnmodelledChange() {
    guard !Self.contextShouldIgnoreUnmodeledPropertyChanges, !flags.contains(.untracked) else { return }
    if flags.contains(.confined) { requireQueue(-1, .write) }
    identityMap?.context?.noteChange(of: self)
  }

  /// Called before members of a to-many relationship are changed by primitive access.
  public final func willChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) {
    willChangeValue(forKey: inKey)
  }

  /// Called after members of a to-many relationship were changed by primitive access: records the change and
  /// maintains inverses.
  public final func didChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind,
    using inObjects: Set<AnyHashable>
  ) {
    didChangeValue(forKey: inKey)
  }

  /// A property by its name; the same as ``value(forKey:)`` and ``setValue(_:forKey:)``. Disfavored, since
  /// libraries for Apple's framework, which has no such subscript in Swift, declare it themselves.
  @_disfavoredOverload
  public final subscript(key: String) -> Any? {
    get { value(forKey: key) }
    set { setValue(newValue, forKey: key) }
  }

  /// Called after a value was changed by primitive access: records the change and maintains inverses.
  public final func didChangeValue(forKey key: String) {
    guard let slot = modelledSlot(key) else {
      noteUnmodelledChange()
      if flags.contains(.observed), let place = observedPlace(key) { observation?.didChange(self, place) }
      return
    }
    guard let state, let place = state.noted.lastIndex(where: { $0.slot == slot }) else {
      fatalError("didChangeValue(forKey: \"\(key)\") without willChangeValue(forKey:) before it.")
    }
    let old: NotedValue = state.noted.remove(at: place).value
    for stored in runtime.layout.storedSlots(of: slot) { markChanged(stored) }
    guard !flags.contains(.untracked) else { return }
    defer { if flags.contains(.observed) { observation?.didChange(self, slot) } }
    switch old {
    case .attribute: break
    case .toOne(let target): maintainInverse(slot, old: target, new: toOneTarget(slot))
    case .toMany(let before):
      recordMembers(slot, before: before)
      guard let inverse = runtime.layout.slots[slot].inverseSlot else { return }
      let now: ObjectList = members(slot)
      let had = ObjectList(before)
      let nowSet: Set<ObjectIdentifier> = Set(now.map { ObjectIdentifier($0) })
      let hadSet: Set<ObjectIdentifier> = Set(had.map { ObjectIdentifier($0) })
      for object in had where !nowSet.contains(ObjectIdentifier(object)) { object.unlink(inverse, self) }
      for object in now where !hadSet.contains(ObjectIdentifier(object)) {
        linkInverse(slot, object)
      }
    }
  }
}
