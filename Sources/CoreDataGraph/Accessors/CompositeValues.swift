import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

// A composite attribute has no value of its own: its elements are slots like any other, stored, compared,
// undone and merged separately, and the dictionary is made when it is read. nil means that no element has a
// value.

extension NSManagedObject {
  /// The dictionary of a composite attribute, or the value that was set instead of one.
  final func compositeValue(_ slot: Int) -> SlotValue {
    if case .object(let object)? = state?.values[slot], object is ForeignValue { return .object(object) }
    return makeDictionary(slot, of: slotValue).map { .object(Box<Any>($0)) } ?? .null
  }

  /// An attribute's value as a save would keep it.
  final func storedSlotValue(_ slot: Int) -> SlotValue {
    guard runtime.compactSlots[slot].role == .composite else { return keptValue(slot, slotValue(slot)) }
    fireFault(slot)
    if case .object(let object)? = state?.values[slot], object is ForeignValue { return .object(object) }
    return makeDictionary(slot, of: storedSlotValue).map { .object(Box<Any>($0)) } ?? .null
  }

  /// Elements without a value are left out.
  final func makeDictionary(_ slot: Int, of value: (Int) -> SlotValue) -> [String: Any]? {
    var result: [String: Any] = [:]
    for element in runtime.layout.slots[slot].elements {
      let described: PropertySlot = runtime.layout.slots[element]
      let kind: ColumnKind = runtime.compactSlots[element].kind
      result[described.property.name] = value(element).attributeValue(kind: kind)
    }
    return result.isEmpty ? nil : result
  }

  /// Sets an attribute; for a composite one its elements, and those that the dictionary lacks to nil.
  /// Observers of the attribute are notified once.
  final func setAttribute(_ slot: Int, _ value: Any?) {
    let property: Int = runtime.layout.property(of: slot)
    guard runtime.compactSlots[property].role == .composite else {
      setSlot(slot, makeSlotValue(value, slot: slot))
      return
    }
    fireFault(slot, .write)
    let parts: [(slot: Int, value: SlotValue)] =
      runtime.compactSlots[slot].role == .composite
      ? splitComposite(slot, value) : [(slot, makeSlotValue(value, slot: slot))]
    withObservers(of: property) {
      let state: ObjectState = ensureState()
      for part in parts {
        if isRecorded { state.recordOldValue(part.slot) }
        state.values[part.slot] = part.value
        markChanged(part.slot)
      }
    }
  }

  /// The values that setting a composite attribute sets. A value that is no dictionary of its elements is
  /// kept in the attribute's own slot alone, and the next save refuses it.
  final func splitComposite(_ slot: Int, _ value: Any?) -> [(slot: Int, value: SlotValue)] {
    guard let value = SlotValue.unwrapped(value) else {
      return [(slot, .unset)] + runtime.layout.storedSlots(of: slot).map { ($0, .null) }
    }
    guard let entries = Self.entries(value), unknownElements(slot, entries).isEmpty else {
      return [(slot, .object(ForeignValue(value)))]
    }
    return [(slot, .unset)]
      + runtime.layout.slots[slot].elements.flatMap { element in
        let part: Any? = entries[runtime.layout.slots[element].property.name]
        return runtime.compactSlots[element].role == .composite
          ? splitComposite(element, part) : [(element, makeSlotValue(part, slot: element))]
      }
  }

  private static func entries(_ value: Any) -> [String: Any]? {
    if let entries = value as? [String: Any] { return entries }
    guard let dictionary = value as? NSDictionary else { return nil }
    var entries: [String: Any] = [:]
    for (key, value) in dictionary {
      guard let key = key as? String else { return nil }
      entries[key] = value
    }
    return entries
  }

  private final func unknownElements(_ slot: Int, _ entries: [String: Any]) -> [String] {
    let known: Set<String> = Set(
      runtime.layout.slots[slot].elements.map { runtime.layout.slots[$0].property.name })
    return entries.keys.filter { !known.contains($0) }.sorted()
  }

  /// The end of a sentence that begins with "can't take".
  final func compositeComplaint(_ slot: Int, _ value: Any) -> String {
    let names: [String] = runtime.layout.slots[slot].elements.map { runtime.layout.slots[$0].property.name }
    guard let entries = Self.entries(value) else {
      return
        "a value of type \(type(of: value)); set a dictionary with the keys \(names.joined(separator: ", "))."
    }
    return "\(unknownElements(slot, entries).map { "'\($0)'" }.joined(separator: ", ")); its elements are "
      + "\(names.joined(separator: ", "))."
  }
}
