import CoreDataStorage
import Foundation

/// The change of a transformable attribute that was set.
enum TransformedChange {
  /// Equal to the row's value.
  case same
  case changed(Data)

  var isChanged: Bool {
    if case .changed = self { return true }
    return false
  }
}

/// The results of value transformers for the values that a save writes.
///
/// Transformers, and `isEqual` of the values they transform, are code of the program: they may fetch, save
/// other contexts and change objects. So they are called before a plan is made, and the plan uses their
/// results. A value is transformed once in a save, unless another one is set or the row is replaced.
struct TransformedValues {
  private struct Place: Hashable {
    let object: ObjectIdentifier
    let slot: Int
  }

  private struct Entry {
    /// The slot's value, and the row that it was compared with.
    let value: AnyObject
    let row: RowRef?
    let change: TransformedChange

    func isOf(_ object: NSManagedObject, _ value: AnyObject) -> Bool {
      self.value === value && row?.base == object.rowBase
    }
  }

  private var entries: [Place: Entry] = [:]

  /// Transforms the values that an object stores and that have not been transformed yet. Throws if a
  /// transformer refuses a value.
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
