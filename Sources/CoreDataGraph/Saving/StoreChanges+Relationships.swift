import CoreDataModel
import CoreDataStorage
import Foundation

extension StoreChanges {
  /// Throws 133010 for a relationship from an object of one part to one of another store, before any store is written:
  /// the transaction of the first store could not be taken back once the second refuses.
  static func refuseExternalRelationships(_ parts: [StoreChanges]) throws {
    // Within a single part the planner meets every target itself, inside the one transaction.
    guard parts.count > 1 else { return }
    var homes: [ObjectIdentifier: NSPersistentStore] = [:]
    for part in parts {
      for object in part.inserted where object.store == nil { homes[ObjectIdentifier(object)] = part.store }
    }
    for part in parts {
      for object in part.inserted + part.updated {
        guard let state = object.state else { continue }
        for slot in object.runtime.relationshipSlots
        where object.runtime.layout.slots[slot].role != .transient {
          for target in changedTargets(state, slot) {
            guard let home = target.store ?? homes[ObjectIdentifier(target)], home !== part.store else {
              continue
            }
            throw GraphError.externalRelationship(
              object: object.objectID, relationship: object.runtime.layout.slots[slot].name,
              target: target.objectID)
          }
        }
      }
    }
  }

  private static func changedTargets(_ state: ObjectState, _ slot: Int) -> [NSManagedObject] {
    if let many = state.toMany(slot) { return many.added.objects }
    guard case .object(let target) = state.values[slot], let target = target as? NSManagedObject else {
      return []
    }
    return [target]
  }
}
