import CoreDataModel
import CoreDataModelChecking
import CoreDataStorage
import Foundation

/// The identity of a managed object: its store, entity and row. Safe to pass to other queues and contexts.
///
/// Equal ids identify the same row of the same store. A new object's id is temporary until its first save (or
/// ``NSManagedObjectContext/obtainPermanentIDs(for:)``); the object then has a new, permanent one.
///
/// See Apple's page
/// [NSManagedObjectID](https://developer.apple.com/documentation/coredata/nsmanagedobjectid).
nonisolated open class NSManagedObjectID: NSObject, NSCopying, NSFetchRequestResult, @unchecked Sendable {
  // Sendable: immutable.

  let runtime: EntityRuntime
  let key: Int64
  /// The store's UUID; nil for a temporary id.
  let storeIdentifier: String?
  /// Strong: a weak reference would give the store a side table and make every object's reference to it more
  /// expensive. A removed store is closed, so little is kept.
  let store: NSPersistentStore?

  init(runtime: EntityRuntime, key: Int64, store: NSPersistentStore?) {
    self.runtime = runtime
    self.key = key
    self.store = store
    storeIdentifier = key < 0 ? nil : store?.uuid
  }

  public final var entity: NSEntityDescription { runtime.layout.entity }

  /// The store that holds the object; nil for a temporary id and after the store was removed.
  public final var persistentStore: NSPersistentStore? {
    guard key >= 0, let store, store.isInCoordinator else { return nil }
    return store
  }

  /// Whether the object has no row yet.
  public final var isTemporaryID: Bool { key < 0 }

  /// `x-coredata://<store UUID>/<entity>/p<key>`; `x-coredata:///<entity>/t<number>` for a temporary id. In
  /// stores that programs implement the reference object stands in place of the key.
  ///
  /// Keep URIs of permanent ids only; ``NSPersistentStoreCoordinator/managedObjectID(forURIRepresentation:)``
  /// converts them back.
  public final func uriRepresentation() -> URL {
    // URLComponents accept no host with characters that are percent-encoded because URIs reserve them.
    let host: String = ObjectURI.host(storeIdentifier.flatMap { $0.isEmpty ? store?.uuid : $0 } ?? "")
    var path = URLComponents()
    path.path = "/\(runtime.layout.name)/"
    let component: String = key < 0 ? "t\(-key)" : store?.uriComponent(of: key) ?? "p\(key)"
    guard let url = URL(string: "\(ObjectURI.scheme)://\(host)\(path.percentEncodedPath)\(component)") else {
      preconditionFailure("The entity name '\(runtime.layout.name)' can't stand in a URI.")
    }
    return url
  }

  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSManagedObjectID else { return false }
    if self === other { return true }
    return key == other.key
      && (storeIdentifier == other.storeIdentifier || (key > 0 && store != nil && store === other.store))
      && runtime.model.layout.entities[runtime.layout.rootIndex].name
        == other.runtime.model.layout.entities[other.runtime.layout.rootIndex].name
  }

  open override var hash: Int { key.hashValue }

  open override var description: String { "<\(uriRepresentation().absoluteString)>" }
}

// Predicates that contain an object or its id are checked against its entity.
extension NSManagedObjectID: EntityBearing {}
extension NSManagedObject: EntityBearing {}
