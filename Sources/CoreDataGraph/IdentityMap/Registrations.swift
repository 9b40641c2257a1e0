import CoreDataStorage
import Foundation

/// Which objects a context has come to use, and which it uses no longer, until the stores that observe this
/// are notified.
///
/// Objects leave an identity map where no code of the program may run: in deinitialisers, under locks. So
/// changes are collected, and stores are notified when the context's next event ends, before its next call to
/// the store, or when the context is deallocated.
final class Registrations: Sendable {
  private struct Change {
    let store: NSPersistentStore
    let id: NSManagedObjectID
    let isRegistered: Bool
  }

  private let changes = Guarded<[Change]>([])

  func add(_ object: NSManagedObject, in store: NSPersistentStore, isRegistered: Bool) {
    let id = NSManagedObjectID(runtime: object.runtime, key: object.key, store: store)
    changes.withLock { $0.append(Change(store: store, id: id, isRegistered: isRegistered)) }
  }

  /// Notifies the stores. Call it on the context's queue, under no lock.
  func post() {
    let changes: [Change] = self.changes.withLock { changes in
      defer { changes = [] }
      return changes
    }
    var rest: ArraySlice<Change> = Self.net(changes)[...]
    while let first = rest.first {
      let same = rest.prefix { $0.store === first.store && $0.isRegistered == first.isRegistered }
      rest = rest.dropFirst(same.count)
      guard let store = first.store as? NSIncrementalStore else { continue }
      store.oneAtATime {
        if first.isRegistered {
          store.managedObjectContextDidRegisterObjects(with: same.map(\.id))
        } else {
          store.managedObjectContextDidUnregisterObjects(with: same.map(\.id))
        }
      }
    }
  }

  /// Without the changes that later ones have undone: an object that was released and made again is still in
  /// use.
  private static func net(_ changes: [Change]) -> [Change] {
    var result: [Change?] = []
    var last: [NSManagedObjectID: Int] = [:]
    for change in changes {
      if let place = last.removeValue(forKey: change.id), result[place]?.isRegistered != change.isRegistered {
        result[place] = nil
      } else {
        last[change.id] = result.count
        result.append(change)
      }
    }
    return result.compactMap(\.self)
  }

  /// Called when the context is deallocated, with the objects that it had.
  func postEnd(of objects: [NSManagedObject]) {
    for object in objects {
      guard let store = object.store, store.observesRegistration else { continue }
      add(object, in: store, isRegistered: false)
    }
    post()
  }
}
