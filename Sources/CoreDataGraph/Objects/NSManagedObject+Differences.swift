import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

// How an object differs from its state at the last fetch or save, and at the last event. The result contains
// what differs, whatever was set in between.

extension NSManagedObject {
  /// Stored properties that differ from the last fetch or save, with their present values (`NSNull` for nil);
  /// for a new object those that differ from its entity's default values. A property that was set to the same
  /// value does not differ. Empty unless ``hasChanges``: ``setPrimitiveValue(_:forKey:)`` marks no object as
  /// changed, but its values are included for an object that is changed, such as a new one in
  /// `awakeFromInsert()`.
  ///
  /// In `willSave()` it returns what the save will write: `if changedValues()["modified"] == nil { modified =
  /// Date() }`.
  ///
  /// Loads the changed relationships, and reads the order of an ordered one whose members were moved from the
  /// store. Call it on the context's queue. See
  /// <https://developer.apple.com/documentation/coredata/nsmanagedobject/changedvalues()>.
  public final func changedValues() -> [String: Any] {
    var result: [String: Any] = [:]
    for slot in Set(recordedChanges().members.map(runtime.layout.property)) {
      result[runtime.layout.slots[slot].name] = objectValue(slot) ?? NSNull()
    }
    return result
  }

  /// Whether ``changedValues()`` is not empty. Unlike ``hasChanges`` it compares values, and ignores
  /// transient ones.
  public final var hasPersistentChangedValues: Bool { !recordedChanges().isEmpty }

  /// The values of the last fetch or save, `NSNull` for nil; all stored properties for nil keys. Empty
  /// for a new object.
  public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
    fireFault()
    guard hasSource else { return [:] }
    var result: [String: Any] = [:]
    for (number, slot) in runtime.layout.slots.enumerated() {
      if let keys, !keys.contains(slot.name) { continue }
      if keys == nil, slot.isElement { continue }
      switch slot.role {
      case .stored(.toOne, let word):
        if let base = state?.base?[number], !base.isUnset {
          result[slot.name] = base.target ?? NSNull()
          continue
        }
        guard let row, let store, row.hasValue(word), let context = identityMap?.context else {
          result[slot.name] = NSNull()
          continue
        }
        result[slot.name] = context.object(row.target(word), store: store)
      case .stored(let kind, _):
        result[slot.name] = committedSlotValue(number).attributeValue(kind: kind) ?? NSNull()
      case .toMany:
        let list: ObjectList = committedMembers(number)
        result[slot.name] =
          slot.relationship?.isOrdered == true
          ? NSOrderedSet(array: list.objects) : NSSet(array: list.objects)
      case .composite:
        result[slot.name] = committedSlotValue(number).attributeValue(kind: .transformable) ?? NSNull()
      case .transient, .fetched: continue
      }
    }
    return result
  }

  // MARK: Since the last fetch or save

  /// The slots that ``changedValues()`` contains.
  private final func recordedChanges() -> SlotSet {
    var result = SlotSet()
    guard hasChanges, let state else { return result }
    for slot in state.changed.members where differs(slot, state) { result.insert(slot) }
    return result
  }

  private final func differs(_ slot: Int, _ state: ObjectState) -> Bool {
    if !hasSource, case .stored(let kind, _) = runtime.layout.slots[slot].role, kind != .toOne {
      // There is no snapshot: a new object began with its entity's values.
      return !SlotValue.equal(state.values[slot].orNull, runtime.template[slot].orNull)
    }
    guard differsFromRow(slot, state) else { return false }
    guard let many = state.toMany(slot), many.isOrdered else { return true }
    let pairs: (added: [NSManagedObject], removed: [NSManagedObject]) = many.pairs
    guard pairs.added.isEmpty, pairs.removed.isEmpty else { return true }
    return !members(slot).elementsEqual(committedMembers(slot), by: ===)
  }
}

// MARK: - Since the last event

extension NSManagedObject {
  /// Stored properties that differ from their state at the last objects-did-change notification, with their
  /// values then (`NSNull` for nil). While that notification is posted: the changes it reports. Empty for an
  /// object that is new in the event. Loads no relationship: a to-many whose members were not read is left
  /// out.
  ///
  /// Call it on the context's queue. See
  /// <https://developer.apple.com/documentation/coredata/nsmanagedobject/changedvaluesforcurrentevent()>.
  public final func changedValuesForCurrentEvent() -> [String: Any] {
    let delivered: [EventChange] = identityMap?.context?.work.deliveredChanges(of: self) ?? []
    // Backwards from the present values; the first change of a value counts.
    var values: [Int: SlotValue] = [:]
    var lists: [Int: ObjectList] = [:]
    for change in (delivered + (state?.event ?? [])).reversed() {
      switch change {
      case .value(let slot, let old):
        values[slot] = old.isUnset ? row.map { value(slot, in: $0, of: store) } ?? .null : old
      case .added(let slot, let member, _, _): lists[slot, default: listedMembers(slot)].remove(member)
      case .removed(let slot, let member, let place, _):
        lists[slot, default: listedMembers(slot)].insert(member, before: place.before)
      case .moved(let slot, let member, let next, _):
        guard lists[slot, default: listedMembers(slot)].remove(member) else { continue }
        lists[slot]?.insert(member, before: next)
      }
    }
    var result: [String: Any] = [:]
    for (slot, before) in values { addDifference(slot, before, values, in: &result) }
    for (slot, before) in lists where state?.toMany(slot)?.members != nil {
      let isOrdered: Bool = runtime.layout.slots[slot].relationship?.isOrdered == true
      guard !before.hasSameMembers(as: listedMembers(slot), inOrder: isOrdered) else { continue }
      result[runtime.layout.slots[slot].name] =
        isOrdered ? NSOrderedSet(array: before.objects) : NSSet(array: before.objects)
    }
    return result
  }

  /// Adds a value from before an event under its property's name, unless it is also the present one. For an
  /// element of a composite attribute the attribute is added.
  private final func addDifference(
    _ slot: Int, _ before: SlotValue, _ values: [Int: SlotValue], in result: inout [String: Any]
  ) {
    guard case .stored(let kind, _) = runtime.layout.slots[slot].role else { return }
    let isSame: Bool =
      kind == .toOne
      ? before.target === toOneTarget(slot) : SlotValue.equal(before.orNull, slotValue(slot).orNull)
    if isSame { return }
    let property: Int = runtime.layout.property(of: slot)
    func valueBefore(_ slot: Int) -> SlotValue {
      guard runtime.compactSlots[slot].role == .composite else { return values[slot] ?? slotValue(slot) }
      return makeDictionary(slot, of: valueBefore).map { .object(Box<Any>($0)) } ?? .null
    }
    let value: Any? =
      kind == .toOne
      ? before.target : valueBefore(property).attributeValue(kind: property == slot ? kind : .transformable)
    result[runtime.layout.slots[property].name] = value ?? NSNull()
  }

  /// The members, empty while they are not loaded: then the relationship is left out.
  private final func listedMembers(_ slot: Int) -> ObjectList { state?.toMany(slot)?.members ?? ObjectList() }
}
