import CoreData
import Foundation

/// A store that keeps its objects in a web service. Its URL is the service's; reference objects are the
/// service's ids.
///
/// The service finds the records of an entity. Predicates, order, limit and offset are applied here, over
/// objects of the calling context; a service that can search would get them in the request.
public final class WebStore: NSIncrementalStore, @unchecked Sendable {
  // Sendable: `known` is guarded by `lock`.

  public static let storeType = "Web"

  private let lock = NSLock()
  /// Records that a fetch has brought, until they are read: faults of a fetch need no request each.
  private var brought: [String: WebRecord] = [:]
  /// Entities and versions of the records that were read last.
  private var known: [String: (entity: String, version: Int)] = [:]

  /// Registers the class for its type.
  public static func register() {
    NSPersistentStoreCoordinator.registerStoreClass(WebStore.self, forStoreType: storeType)
  }

  public override var type: String { Self.storeType }

  private var client: WebClient { WebClient(base: url ?? URL(fileURLWithPath: "/")) }

  private func name(_ id: NSManagedObjectID) -> String { referenceObject(for: id) as? String ?? "" }

  private func id(_ record: WebRecord) throws -> NSManagedObjectID {
    guard let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName[record.entity] else {
      throw WebError(status: 200, errorDescription: "The model has no entity \(record.entity).")
    }
    return newObjectID(for: entity, referenceObject: record.id)
  }

  // MARK: Opening

  public override func loadMetadata() throws {
    var kept: [String: Any] = try client.get("metadata")
    if kept[NSStoreUUIDKey] == nil {
      kept = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString]
      _ = try client.post("changes", ["metadata": kept])
    }
    metadata = kept
  }

  // MARK: Requests

  public override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?)
    throws
    -> Any
  {
    switch request {
    case let fetch as NSFetchRequest<NSFetchRequestResult>:
      guard let context else { throw CocoaError(.featureUnsupported) }
      return try self.fetch(fetch, context)
    case let save as NSSaveChangesRequest:
      try self.save(save)
      return []
    default: throw CocoaError(.featureUnsupported)
    }
  }

  private func fetch(_ request: NSFetchRequest<NSFetchRequestResult>, _ context: NSManagedObjectContext)
    throws
    -> Any
  {
    guard let entity = request.entity else { throw CocoaError(.featureUnsupported) }
    let names: [String] = request.includesSubentities ? family(of: entity) : [entity.name ?? ""]
    let found = try client.get("records", names.map { ("entity", $0) })["records"] as? [[String: Any]] ?? []
    let records: [WebRecord] = found.compactMap(WebRecord.init).sorted { order($0.id) < order($1.id) }
    lock.withLock { for record in records { brought[record.id] = record } }
    // Unsaved changes of the context count, unless the request says that they don't.
    let reader: NSManagedObjectContext = request.includesPendingChanges ? context : makeReader()
    let ids: [NSManagedObjectID] = try records.map(id)
    let chosen: [NSManagedObject] = reader.performAndWait {
      var objects: [NSManagedObject] = ids.map { reader.object(with: $0) }
      if let predicate = request.predicate { objects = objects.filter { predicate.evaluate(with: $0) } }
      objects = sorted(objects, by: request.sortDescriptors ?? [])
      objects = Array(objects.dropFirst(request.fetchOffset))
      return request.fetchLimit > 0 ? Array(objects.prefix(request.fetchLimit)) : objects
    }
    switch request.resultType {
    case .countResultType: return [NSNumber(value: chosen.count)]
    case .managedObjectIDResultType: return chosen.map(\.objectID)
    case .dictionaryResultType:
      let keys: [String] = try (request.propertiesToFetch ?? []).map { property in
        guard let name = property as? String else { throw CocoaError(.featureUnsupported) }
        return name
      }
      return reader.performAndWait {
        chosen.map { object in
          object.dictionaryWithValues(forKeys: keys).filter { !($0.value is NSNull) }
        }
      }
    default: return reader === context ? chosen : chosen.map { context.object(with: $0.objectID) }
    }
  }

  private func makeReader() -> NSManagedObjectContext {
    let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    reader.persistentStoreCoordinator = persistentStoreCoordinator
    return reader
  }

  private func family(of entity: NSEntityDescription) -> [String] {
    [entity.name ?? ""] + entity.subentities.flatMap(family)
  }

  private func order(_ id: String) -> Int { Int(id.dropFirst()) ?? 0 }

  private func sorted(_ objects: [NSManagedObject], by order: [NSSortDescriptor]) -> [NSManagedObject] {
    objects.sorted { left, right in
      for descriptor in order {
        let result: ComparisonResult = descriptor.compare(left, to: right)
        if result != .orderedSame { return result == .orderedAscending }
      }
      return false
    }
  }

  // MARK: Saving

  public override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    let ids = try client.post("ids", ["count": array.count])["ids"] as? [String] ?? []
    return zip(array, ids).map { newObjectID(for: $0.entity, referenceObject: $1) }
  }

  private func save(_ request: NSSaveChangesRequest) throws {
    let versions: [String: Int] = lock.withLock { known.mapValues(\.version) }
    var written: [WebRecord] = (request.insertedObjects ?? []).map { WebRecord($0, version: 0, name: name) }
    written += (request.updatedObjects ?? []).map {
      WebRecord($0, version: versions[name($0.objectID)] ?? 0, name: name)
    }
    let deleted: [String] = (request.deletedObjects ?? []).map { name($0.objectID) }
    let kept: [String: Any] = (metadata ?? [:]).filter { JSONSerialization.isValidJSONObject([$0.value]) }
    let answer: [String: Any] = try client.post(
      "changes", ["write": written.map(\.json), "delete": deleted, "metadata": kept])
    let new = answer["versions"] as? [String: Int] ?? [:]
    lock.withLock {
      for record in written { known[record.id] = (record.entity, new[record.id] ?? 0) }
      for id in written.map(\.id) + deleted { brought[id] = nil }
    }
  }

  // MARK: Faults

  public override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  )
    throws -> NSIncrementalStoreNode
  {
    let id: String = name(objectID)
    let record: WebRecord = try lock.withLock { brought.removeValue(forKey: id) } ?? read(id)
    lock.withLock { known[id] = (record.entity, record.version) }
    var values: [String: Any] = record.attributes(of: objectID.entity)
    for (key, relationship) in objectID.entity.relationshipsByName where !relationship.isToMany {
      values[key] = try target(record, relationship)
    }
    return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: UInt64(record.version))
  }

  private func read(_ id: String) throws -> WebRecord {
    do {
      if let record = WebRecord(try client.get("records/\(id)")) { return record }
    } catch let error as WebError where error.status == 404 {
      // The graph takes this code for "there is no such object".
      throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
    }
    throw WebError(status: 200, errorDescription: "The service's record \(id) is incomplete.")
  }

  private func target(_ record: WebRecord, _ relationship: NSRelationshipDescription) throws -> Any {
    guard let id = record.related[relationship.name]?.first else { return NSNull() }
    return try members([id], relationship)[0]
  }

  public override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    try members(read(name(objectID)).related[relationship.name] ?? [], relationship)
  }

  /// The ids of related records. A record names them without their entity: where there are sub-entities the
  /// service is asked.
  private func members(_ ids: [String], _ relationship: NSRelationshipDescription) throws
    -> [NSManagedObjectID]
  {
    try ids.map { id in
      guard let destination = relationship.destinationEntity else { throw CocoaError(.featureUnsupported) }
      if destination.subentities.isEmpty { return newObjectID(for: destination, referenceObject: id) }
      if let entity = lock.withLock({ brought[id]?.entity ?? known[id]?.entity }),
        let found = persistentStoreCoordinator?.managedObjectModel.entitiesByName[entity]
      {
        return newObjectID(for: found, referenceObject: id)
      }
      let record: WebRecord = try read(id)
      lock.withLock { brought[id] = record }
      return try self.id(record)
    }
  }
}
