import CoreDataStorage
import Foundation

/// What a transformable attribute that was set has to store.
enum TransformedChange {
  /// What the row holds.
  case same
  case changed(Data)

  var isChanged: Bool {
    if case .changed = self { return true }
    return false
  }
}

/// What value transformers have made of the values that a save is to write.
///
/// Transformers, and `isEqual` of what they transform, are the program's: they may fetch, save other contexts
/// and change objects. So they are called before a plan is made, and the plan takes what they made from here.
/// A value is transformed once a save, unless another one is set or the row is another one.
struct TransformedValues {
  private struct Place: Hashable {
    let object: ObjectIdentifier
    let slot: Int
  }

  private struct Entry {
    /// What the slot held, and the row that it was compared with.
    let value: AnyObject
    let row: RowRef?
    let change: TransformedChange

    func isOf(_ object: NSManagedObject, _ value: AnyObject) -> Bool {
      self.value === value && row?.base == object.rowBase
    }
  }

  private var entries: [Place: Entry] = [:]

  /// Transforms what an object is to store and has not been transformed yet. Throws what a transformer's
  /// refusal is told by.
  mutating func add(_ object: NSManagedObject) throws {
    let isNew: Bool = object.flags.contains(.inserted)
    for slot in object.runtime.transformableSlots {
      guard let state = object.state, isNew || state.changed.contains(slot),
        case .object(let value) = state.values[slot]
      else { continue }
      let place = Place(object: ObjectIdentifier(object), slot: slot)
      if let known = entries[place], known.isOf(object, value) { continue }
      let row: RowRef? = object.row
      let change: TransformedChange = try object.transformedChange(slot, state)
      entries[place] = Entry(value: value, row: row, change: change)
    }
  }

  func find(_ object: NSManagedObject, _ slot: Int) throws -> TransformedChange {
    guard case .object(let value)? = object.state?.values[slot],
      let entry = entries[Place(object: ObjectIdentifier(object), slot: slot)], entry.isOf(object, value)
    else {
      throw GraphError.transformation(
        "The value of \(object.runtime.layout.name).\(object.runtime.layout.slots[slot].name) of '\(object.objectID)' was "
          + "replaced while it was being saved.", advice: "Save again.")
    }
    return entry.change
  }
}
