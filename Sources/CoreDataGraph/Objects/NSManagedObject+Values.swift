import CoreDataModel
import CoreDataStorage
import Foundation

// Reading and writing slots. All public access (key-value coding, accessors) is based on these functions.

extension NSManagedObject {
  // MARK: Faults

  /// Loads the values if they are not loaded. A row that no longer exists makes the object deleted (Apple's
  /// `shouldDeleteInaccessibleFaults`); any other failure stops the program, because reading a property can't
  /// throw: `existingObject(with:)` throws instead.
  @inline(__always)
  final func fireFault(_ slot: Int = -1, _ access: ObjectAccess = .inner) {
    if needsSlowAccess { performSlowAccess(slot, access) }
  }

  /// Whether an access must do more than read the value.
  @inline(__always)
  final var needsSlowAccess: Bool { !flags.isDisjoint(with: .slowAccess) }

  /// For the slow path of accessors, only if `needsSlowAccess`: returns the recorder if the object is a
  /// recording instance; otherwise fires the fault, and the accessor continues.
  @inline(never)
  final func recorderOrSlowAccess(_ key: ManagedKey, _ shape: @autoclosure () -> AccessorType)
    -> KeyPathRecorder?
  {
    if isPlainFault {
      removeFlags(.fault)
      return nil
    }
    if let recorder = runtime.recorder { return recorder }
    performSlowAccess(key.slot(of: self, shape()), .read)
    return nil
  }

  /// Whether nothing else happens when the fault is fired: a fetch has set the row, and neither the class nor
  /// an observer wants to know. So are most faults.
  @inline(__always)
  private final var isPlainFault: Bool {
    flags.intersection([.slowAccess, .observed]) == .fault && rowBase != nil
      && !home.facts.pointee.awakesFromFetch
  }

  /// The slow path of every access: checks the queue, then fires the fault.
  @inline(never)
  final func performSlowAccess(_ slot: Int, _ access: ObjectAccess) {
    if runtime.recorder != nil { return }
    if flags.contains(.confined) { requireQueue(slot, access) }
    if flags.contains(.orphaned) { requireContext(slot, access) }
    if flags.contains(.tracked), access == .read, slot >= 0 { noteRead(slot) }
    if flags.contains(.fault) { fulfill(slot) }
  }

  private final func fulfill(_ slot: Int) {
    do {
      try fulfillFault(slot, mayThrow: false)
    } catch {
      if let failures = identityMap?.context?.readFailures { return failures.add(self, slot, error) }
      fatalError(
        """
        CoreData could not fulfill a fault for '\(objectID)': \(error). \
        Use existingObject(with:) to load objects where loading may fail.
        """)
    }
  }

  /// Loads the values. `slot`: the slot of the property that is being accessed, if there is one. `mayThrow`:
  /// whether the caller passes errors on to the program; if not, a row that a program's store could not read
  /// counts as one that no longer exists, as in Apple's framework.
  final func fulfillFault(_ slot: Int = -1, mayThrow: Bool = true) throws {
    guard flags.contains(.fault) else { return }
    if flags.contains(.inserted), row == nil, state != nil {
      // A new object that was refreshed: its values are the entity's default ones, which are already set.
      removeFlags(.fault)
      if flags.contains(.observed) { observation?.loaded(self) }
      return
    }
    if !hasSource {
      guard let context = identityMap?.context else {
        removeFlags(.fault)
        insertFlags(.inaccessible)
        return
      }
      var failure: (any Error)?
      do {
        try context.loadRow(of: self)
      } catch {
        guard !mayThrow, let store, store.readsOneByOne else { throw error }
        store.report(error, objectID)
        failure = error
      }
      if !hasSource {
        let property: NSPropertyDescription? =
          slot < 0 ? nil : entity.propertiesByName[runtime.layout.slots[slot].name]
        guard context.shouldHandleInaccessibleFault(self, for: objectID, triggeredByProperty: property) else {
          throw failure ?? GraphError.referentialIntegrity(objectID)
        }
        removeFlags(.fault)
        insertFlags(.inaccessible)
        context.markInaccessible(self)
        if flags.contains(.observed) { observation?.loaded(self) }
        return
      }
    }
    removeFlags(.fault)
    awakeQuietly { awakeFromFetch() }
    if flags.contains(.observed) { observation?.loaded(self) }
  }

  /// Whether there is a snapshot of the object: the row, or the parent context's state.
  final var hasSource: Bool { row != nil || state?.base != nil }

  /// Runs a callback whose changes are not recorded.
  final func awakeQuietly(_ body: () -> Void) {
    let before: Bool = flags.contains(.untracked)
    insertFlags(.untracked)
    body()
    if !before { removeFlags(.untracked) }
  }

  // MARK: Reading

  /// The value of an attribute slot. Decodes from the row unless the slot was set. A transformable value that
  /// can't be read is null, and is reported (`checkTransformed` throws the reason).
  final func slotValue(_ slot: Int) -> SlotValue {
    fireFault(slot)
    if runtime.compactSlots[slot].role == .composite { return compositeValue(slot) }
    if let state {
      let value: SlotValue = state.values[slot]
      if !value.isUnset { return value }
    }
    let described: PropertySlot = runtime.layout.slots[slot]
    if row == nil, store == nil, state == nil {
      return runtime.template[slot].isUnset ? .null : runtime.template[slot]
    }
    guard let row, case .stored(let kind, let word) = described.role else { return .null }
    do {
      if kind == .transformable { return try transformedValue(slot, row, word) }
      return try row.slotValue(word: word, kind: kind, attribute: described.attribute)
    } catch {
      // The row keeps what is stored: saving other properties does not change it.
      store?.reportUnreadable(described.name, of: objectID, error)
      return .null
    }
  }

  /// Decodes a transformable attribute for readers that can throw errors, where others read nil: a value that
  /// its transformer can't read, or a transformer that is not registered.
  final func checkTransformed(_ slot: Int) throws {
    if runtime.compactSlots[slot].role == .composite {
      for element in runtime.layout.slots[slot].elements { try checkTransformed(element) }
      return
    }
    guard case .stored(.transformable, let word) = runtime.layout.slots[slot].role else { return }
    fireFault(slot)
    guard let row, state?.values[slot].isUnset ?? true else { return }
    _ = try transformedValue(slot, row, word)
  }

  /// The same for all transformable attributes.
  final func checkTransformed() throws {
    for slot in runtime.transformableSlots { try checkTransformed(slot) }
  }

  private func transformedValue(_ slot: Int, _ row: RowRef, _ word: Int) throws -> SlotValue {
    let value: SlotValue = try row.slotValue(
      word: word, kind: .transformable, attribute: runtime.layout.slots[slot].attribute)
    // A decoded object must be the same instance at each read.
    if case .object = value { ensureState().values[slot] = value }
    return value
  }

  /// The committed value of a stored attribute slot.
  final func committedSlotValue(_ slot: Int) -> SlotValue {
    if runtime.compactSlots[slot].role == .composite {
      return makeDictionary(slot, of: committedSlotValue).map { .object(Box<Any>($0)) } ?? .null
    }
    if let base = state?.base?[slot], !base.isUnset { return base }
    let described: PropertySlot = runtime.layout.slots[slot]
    guard let row, case .stored(let kind, let word) = described.role, kind != .toOne else { return .null }
    return (try? row.slotValue(word: word, kind: kind, attribute: described.attribute)) ?? .null
  }

  /// The attribute as key-value coding returns it and a fetch compares it: the value that a save would keep.
  final func attributeValue(_ slot: Int) -> Any? {
    let mayRound: Bool = runtime.compactSlots[slot].isRounded || runtime.compactSlots[slot].role == .composite
    let value: SlotValue =
      mayRound && ThreadLocalState.ofThisThread.readsPersistedValues ? storedSlotValue(slot) : slotValue(slot)
    switch runtime.layout.slots[slot].role {
    case .stored(let kind, _): return value.attributeValue(kind: kind)
    default: return value.attributeValue(kind: .transformable)
    }
  }

  // MARK: Writing

  /// Inlined, because a function would return the state retained, once for each value that is set.
  @inline(__always)
  final func ensureState() -> ObjectState { state ?? makeState() }

  @inline(never)
  private func makeState() -> ObjectState {
    // Without a row, stored or not, an object starts with its entity's default values.
    let made = ObjectState(
      values: row == nil && store == nil
        ? runtime.template : Array(repeating: .unset, count: runtime.layout.slots.count))
    state = made
    return made
  }

  /// Sets an attribute and records the change.
  @inline(__always)
  final func setSlot(_ slot: Int, _ value: SlotValue) {
    // An object that is new in this event: its insertion is all that is recorded.
    if flags.intersection(.whenNewAndQuiet) == [.inserted, .eventInserted], let state {
      return Unmanaged.passUnretained(state)._withUnsafeGuaranteedRef { $0.setNew(slot, value) }
    }
    setRecordedSlot(slot, value)
  }

  @inline(never)
  private final func setRecordedSlot(_ slot: Int, _ value: SlotValue) {
    fireFault(slot, .write)
    withObservers(of: slot) {
      let state: ObjectState = ensureState()
      if isRecorded { state.recordOldValue(slot) }
      state.values[slot] = value
      markChanged(slot)
    }
  }

  /// Whether changes are recorded for undo: those of an object that is new in this event are undone with its
  /// insertion.
  @inline(__always)
  final var isRecorded: Bool { identityMap != nil && flags.isDisjoint(with: [.untracked, .eventInserted]) }

  /// A value for an attribute slot.
  final func makeSlotValue(_ value: Any?, slot: Int) -> SlotValue {
    switch runtime.layout.slots[slot].role {
    case .stored(let kind, _): return .make(value, kind: kind)
    default: return SlotValue.unwrapped(value).map { .object(Box<Any>($0)) } ?? .null
    }
  }

  /// Records that a slot was set: the object is updated, the context dirty.
  @inline(__always)
  final func markChanged(_ slot: Int) {
    if flags.contains(.untracked) { return }
    state?.noteChange(slot)
    if flags.isSuperset(of: [.inserted, .eventInserted]) { return }
    identityMap?.context?.noteChange(of: self)
  }

  // MARK: Differences

  /// The slots whose stored value differs from the row; for to-many relationships those with changed members.
  ///
  /// Comparing transformable values calls the program (transformers, `isEqual`), unless `values` contains the
  /// result.
  final func persistentChanges(_ values: TransformedValues? = nil) -> SlotSet {
    guard let state else { return SlotSet() }
    var result = SlotSet()
    state.changed.forEach { if differsFromRow($0, state, values) { result.insert($0) } }
    return result
  }

  /// The same for a number or a text, compared with the row's bytes; nil if more must be looked at.
  @inline(__always)
  private final func plainlyDiffersFromRow(_ slot: Int, _ state: ObjectState) -> Bool? {
    let brief: CompactSlot = compactSlot(slot)
    guard state.base == nil, brief.role == .attribute, let base = rowBase else { return nil }
    let stored: UInt64? = RowLayout.value(Int(brief.word), base, headerSize: home.facts.pointee.headerSize)
    switch state.values[slot] {
    case .unset: return false
    case .null: return stored != nil
    case .integer(let number):
      guard brief.form == .integer else { return nil }
      return stored.map { Int64(bitPattern: $0) != number } ?? true
    case .double(let number):
      guard brief.form.isFloatingPoint else { return nil }
      guard let stored else { return true }
      let old = Double(bitPattern: stored)
      return !(old == number || (old.isNaN && number.isNaN))
    case .string(var text):
      guard brief.form == .string, let slab = rowSlab else { return nil }
      guard let stored else { return true }
      return text.withUTF8 { new in
        let old: UnsafeRawBufferPointer = RowLayout.bytes(stored, tail: slab.tail)
        if old.count != new.count { return true }
        guard let old = old.baseAddress, let now = new.baseAddress else { return false }
        return memcmp(old, now, new.count) != 0
      }
    case .object: return nil
    }
  }

  final func differsFromRow(_ slot: Int, _ state: ObjectState, _ values: TransformedValues? = nil) -> Bool {
    if let differs = plainlyDiffersFromRow(slot, state) { return differs }
    if runtime.compactSlots[slot].kind == .transformable, runtime.compactSlots[slot].role == .attribute,
      case .object = state.values[slot]
    {
      if let values { return (try? values.find(self, slot).isChanged) ?? true }
      return (try? transformedChange(slot, state).isChanged) ?? true
    }
    if let base = state.base?[slot], !base.isUnset {
      return !SlotValue.equal(state.values[slot], base)
        && !SlotValue.equal(keptValue(slot, state.values[slot]), base)
    }
    let described: PropertySlot = runtime.layout.slots[slot]
    switch described.role {
    case .stored(.toOne, let word):
      let value: SlotValue = state.values[slot]
      if value.isUnset { return false }
      var target: NSManagedObject?
      if case .object(let object) = value { target = object as? NSManagedObject }
      guard let row, row.hasValue(word) else { return target != nil }
      guard let target else { return true }
      // A new target has no key yet that could be in a row.
      return target.key != row.target(word).key || target.store !== store
    case .stored(_, let word):
      switch state.values[slot] {
      case .unset: return false
      case .null: return row?.hasValue(word) ?? false
      case .object(let object):
        guard let row, row.hasValue(word) else { return true }
        if runtime.compactSlots[slot].isRounded, !keepsExactDecimals,
          row.holdsRounded(object, word: word)
        {
          return false
        }
        // URLs with the same text may consist of different parts.
        if let box = object as? Box<URL> {
          return !row.bytes(word).elementsEqual(box.value.absoluteString.utf8)
        }
        return !SlotValue.equal(state.values[slot], committedSlotValue(slot))
      case let value:
        guard let row, row.hasValue(word) else { return true }
        return !SlotValue.equal(value, committedSlotValue(slot))
      }
    case .toMany: return state.toMany(slot)?.isChanged ?? false
    case .transient, .fetched, .composite: return false
    }
  }

  /// The data to store for a transformable attribute that was set. Calls the program: its transformer and, if
  /// that returns other bytes than the row holds, its `isEqual`. Equal values need not have equal bytes, as
  /// with dictionaries; then the bytes in the row are kept.
  ///
  /// A value may have been changed in place, so the comparison is of the data that would be stored.
  final func transformedChange(_ slot: Int, _ state: ObjectState) throws -> TransformedChange {
    let value: SlotValue = state.values[slot]
    // The parent's value, in a child context. Nothing is stored then.
    if let base = state.base?[slot], !base.isUnset {
      return SlotValue.equal(value, base) ? .same : .changed(Data())
    }
    let described: PropertySlot = runtime.layout.slots[slot]
    guard case .object(let object) = value, let box = object as? Box<Any>,
      case .stored(_, let word) = described.role
    else { return .changed(Data()) }
    let data: Data = try Transformation.data(from: box.value, attribute: described.attribute)
    guard let row, row.hasValue(word) else { return .changed(data) }
    if row.bytes(word).elementsEqual(data) { return .same }
    let stored: SlotValue? = try? row.slotValue(
      word: word, kind: .transformable, attribute: described.attribute)
    return stored.map { SlotValue.equal($0, value) } == true ? .same : .changed(data)
  }

  /// Makes the object a fault: values, relationships and transients are released; the next read loads them
  /// again.
  final func turnIntoFault() {
    guard !flags.contains(.fault) else {
      row = nil
      // A fault in a child context may hold the values that its parent has not saved.
      state = nil
      return
    }
    willTurnIntoFault()
    if flags.contains(.observed) { observation?.recordValues(self) }
    state = nil
    row = nil
    faultBatch = nil
    insertFlags(.fault)
    didTurnIntoFault()
  }
}
