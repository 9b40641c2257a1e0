import CoreData
import Foundation

/// An incremental store over a `RecordServer`, as its author would write it.
final class RecordStore: NSIncrementalStore, @unchecked Sendable {
  // Sendable: what it holds guards itself.

  static let storeType = "Records"
  /// The calls of the store, in order.
  let journal = Locked<[String]>([])
  /// Called at the start of each call, and may throw.
  let hook = Locked<((String) throws -> Void)?>(nil)

  var server: RecordServer { .at(url ?? URL(fileURLWithPath: "/dev/null")) }

  override var type: String { Self.storeType }

  private func note(_ call: String) throws {
    journal.withLock { $0.append(call) }
    try hook.withLock { $0 }?(call)
  }

  func calls(_ body: () throws -> Void) rethrows -> [String] {
    journal.withLock { $0 = [] }
    try body()
    return journal.withLock { $0 }
  }

  private func name(_ id: NSManagedObjectID) -> String { referenceObject(for: id) as? String ?? "" }

  private func id(_ name: String) throws -> NSManagedObjectID {
    guard let record = server[name],
      let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName[record.entity]
    else { throw CocoaError(.fileNoSuchFile, userInfo: ["record": name]) }
    return newObjectID(for: entity, referenceObject: name)
  }

  override func loadMetadata() throws {
    try note("loadMetadata")
    if server.metadata.isEmpty {
      server.metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString]
    }
    metadata = server.metadata
  }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws
    -> Any
  {
    switch request {
    case let fetch as NSFetchRequest<NSFetchRequestResult>: return try self.fetch(fetch, context)
    case let save as NSSaveChangesRequest:
      try note("execute save \(Self.describe(save))")
      try self.save(save)
      return []
    default:
      try note("execute \(Swift.type(of: request))")
      throw CocoaError(.featureUnsupported)
    }
  }

  private static func describe(_ request: NSSaveChangesRequest) -> String {
    let sets: [(String, Set<NSManagedObject>?)] = [
      ("inserted", request.insertedObjects), ("updated", request.updatedObjects),
      ("deleted", request.deletedObjects), ("locked", request.lockedObjects),
    ]
    let parts: [String] = sets.compactMap { name, objects in objects.map { "\(name) \($0.count)" } }
    return parts.isEmpty ? "metadata" : parts.joined(separator: ", ")
  }

  private func fetch(_ request: NSFetchRequest<NSFetchRequestResult>, _ context: NSManagedObjectContext?)
    throws
    -> Any
  {
    let form: String =
      switch request.resultType {
      case .managedObjectIDResultType: "ids"
      case .countResultType: "count"
      case .dictionaryResultType: "dictionaries"
      default: "objects"
      }
    guard let entity = request.entity, let context else { throw CocoaError(.featureUnsupported) }
    try note("execute fetch \(form) of \(entity.name ?? "")")
    // Predicates and order are evaluated over objects of the calling context, whose unsaved changes count; or
    // of a context of the store's own, if only the stored values do.
    let reader: NSManagedObjectContext = request.includesPendingChanges ? context : makeReader()
    let found: [NSManagedObjectID] = try reader.performAndWait {
      var objects: [NSManagedObject] = try server.names.compactMap { name in
        guard let record = server[name], isWanted(record.entity, entity, request.includesSubentities) else {
          return nil
        }
        return reader.object(with: try id(name))
      }
      if let predicate = request.predicate { objects = objects.filter { predicate.evaluate(with: $0) } }
      let order: [NSSortDescriptor] = request.sortDescriptors ?? []
      if !order.isEmpty {
        objects.sort { left, right in
          for descriptor in order {
            let result: ComparisonResult = descriptor.compare(left, to: right)
            if result != .orderedSame { return result == .orderedAscending }
          }
          return false
        }
      }
      objects = Array(objects.dropFirst(request.fetchOffset))
      if request.fetchLimit > 0 { objects = Array(objects.prefix(request.fetchLimit)) }
      return objects.map(\.objectID)
    }
    switch request.resultType {
    case .managedObjectIDResultType: return found
    case .countResultType: return [NSNumber(value: found.count)]
    case .dictionaryResultType:
      let keys: [String] = (request.propertiesToFetch ?? []).compactMap { $0 as? String }
      return found.map { id in server[name(id)]?.values.filter { keys.contains($0.key) } ?? [:] }
    default: return found.map { context.object(with: $0) }
    }
  }

  private func makeReader() -> NSManagedObjectContext {
    let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    reader.persistentStoreCoordinator = persistentStoreCoordinator
    return reader
  }

  private func isWanted(_ name: String, _ entity: NSEntityDescription, _ includesSubentities: Bool) -> Bool {
    if name == entity.name { return true }
    return includesSubentities && entity.subentitiesByName.values.contains { isWanted(name, $0, true) }
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    try note("obtainPermanentIDs \(array.count)")
    return array.map { newObjectID(for: $0.entity, referenceObject: server.newName()) }
  }

  private func save(_ request: NSSaveChangesRequest) throws {
    for object in request.insertedObjects ?? [] { write(object, version: 1) }
    for object in request.updatedObjects ?? [] {
      write(object, version: (server[name(object.objectID)]?.version ?? 0) + 1)
    }
    for object in request.deletedObjects ?? [] {
      let gone: String = name(object.objectID)
      server.change { records in
        records[gone] = nil
        records = records.mapValues { record in
          var record: RecordServer.Record = record
          record.related = record.related.mapValues { $0.filter { $0 != gone } }
          return record
        }
      }
    }
    server.metadata = metadata
  }

  private func write(_ object: NSManagedObject, version: UInt64) {
    var record = RecordServer.Record(
      entity: object.entity.name ?? "", values: [:], related: [:], version: version)
    for key in object.entity.attributesByName.keys { record.values[key] = object.value(forKey: key) }
    for key in object.entity.relationshipsByName.keys {
      record.related[key] = object.objectIDs(forRelationshipNamed: key).map(name)
    }
    server[name(object.objectID)] = record
  }

  override func newValuesForObject(with objectID: NSManagedObjectID, with context: NSManagedObjectContext)
    throws
    -> NSIncrementalStoreNode
  {
    try note("newValues \(name(objectID))")
    guard let record = server[name(objectID)] else {
      throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
    }
    return NSIncrementalStoreNode(objectID: objectID, withValues: record.values, version: record.version)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    try note("newValue \(relationship.name) of \(name(objectID))")
    guard let record = server[name(objectID)] else { throw CocoaError(.fileNoSuchFile) }
    let ids: [NSManagedObjectID] = try (record.related[relationship.name] ?? []).map(id)
    if relationship.isToMany { return ids }
    return ids.first ?? NSNull()
  }

  override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
    try? note("register \(objectIDs.map(name).sorted().joined(separator: ", "))")
  }

  override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
    try? note("unregister \(objectIDs.map(name).sorted().joined(separator: ", "))")
  }
}
