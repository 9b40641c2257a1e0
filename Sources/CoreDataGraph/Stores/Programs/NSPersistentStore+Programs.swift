import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

// What stores that programs implement have in common: names in URIs, metadata about the model.

extension NSPersistentStore {
  // MARK: URIs

  /// The last component of the URI of one of the store's objects, percent-encoded.
  final func uriComponent(of key: Int64) -> String {
    referenceMap?.uriComponent(of: key) ?? "p\(key)"
  }

  /// The key that the last component of a URI names; nil unless it is written as ``uriComponent(of:)`` does.
  final func key(uriComponent component: Substring, entity: Int) -> Int64? {
    if let referenceMap { return referenceMap.key(uriComponent: component, entity: entity) }
    guard let key = Int64(component.dropFirst()), key > 0, component == "p\(key)" else { return nil }
    return key
  }

  // MARK: Metadata

  /// Adds the type and the version hashes of the model's entities to metadata that lack them, so that a store
  /// which keeps its metadata refuses a program with another model. Throws for metadata with other hashes.
  final func completeMetadata() throws {
    var known: [String: Any] = metadata ?? [:]
    let names: Set<String>? = runtime.layout.model.heldEntityNames(ofConfiguration: givenConfiguration)
    let kept = StoreMetadata(type: type, uuid: uuid, values: known)
    let options = StoreOpeningOptions(apple: self.options ?? [:])
    if kept.hashes.isEmpty {
      let fresh: StoreMetadata = .fresh(type: type, model: runtime.layout.model, entityNames: names)
      var added: [String: Any] = fresh.published
      added[NSStoreUUIDKey] = nil
      known.merge(added) { own, _ in own }
      if !uuid.isEmpty { known[NSStoreUUIDKey] = uuid }
      metadata = known
    } else if options.checksModel {
      try ModelCheck.check(
        kept, layout: runtime.layout, entityNames: names, url: url ?? URL(fileURLWithPath: "/dev/null"),
        acceptsUnknown: false
      ) { nil }
    }
    noteMetadataSaved()
  }
}

extension NSPersistentStore {
  /// Writes an error of a program's store to standard error, where nothing can be thrown; each text once for
  /// a store and an entity.
  final func report(_ error: any Error, _ id: NSManagedObjectID) {
    report(error, of: id) { text in
      "\(Swift.type(of: self)) could not read '\(id)', which reads as deleted from here on: \(text)"
    }
  }

  /// The same for a value that its transformer can't read.
  final func reportUnreadable(_ property: String, of id: NSManagedObjectID, _ error: any Error) {
    report(error, of: id) { text in
      "\(id.runtime.layout.name).\(property) of '\(id)' can't be read and is nil; what is stored stays. \(text)"
    }
  }

  private func report(_ error: any Error, of id: NSManagedObjectID, _ message: (String) -> String) {
    let text: String = ErrorMessage.reason(of: error)
    let isNew: Bool = reportedErrors.withLock { reported in
      reported.count < 100 && reported.insert("\(id.runtime.layout.name) \(text)").inserted
    }
    guard isNew else { return }
    Warning.write(message(text) + " Use existingObject(with:) to load objects where loading may fail.")
  }
}

extension NSSaveChangesRequest {
  /// Throws if an object that is to be written has a value that its transformer can't read: a store that
  /// writes what it reads would write nil in its place.
  final func checkTransformed() throws {
    for object in (insertedObjects ?? []).union(updatedObjects ?? []) { try object.checkTransformed() }
  }
}
