import CoreData
import Foundation

/// An incremental store over a `RecordServer`, as its author would write it.
public final class RecordStore: NSIncrementalStore, @unchecked Sendable {
  // Sendable: what it holds guards itself.

  public static let storeType = "Records"
  /// The calls of the store, in order.
  public let journal = Locked<[String]>([])
  /// Called at the start of each call, and may throw.
  public let hook = Locked<((String) throws -> Void)?>(nil)

  public var server: RecordServer { .at(url ?? URL(fileURLWithPath: "/dev/null")) }

  public override var type: String { Self.storeType }

  private func note(_ call: String) throws {
    journal.withLock { $0.append(call) }
    try hook.withLock { $0 }?(call)
  }

  public func calls(_ body: () throws -> Void) rethrows -> [String] {
    journal.withLock { $0 = [] }
    try body()
    return journal.withLock { $0 }
  }

  private func name(_ id: NSManagedObjectID) -> String { referenceObject(for: id) as? String ?? "" }

  private func id(_ name: String) throws -> NSManagedObjectID {
    guard let known = server.entity(of: name),
      let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName[known]
    else { throw CocoaError(.fileNoSuchFile, userInfo: ["record": name]) }
    return newObjectID(for: entity, referenceObject: name)
  }

  public override func loadMetadata() throws {
    try note("loadMetadata")
    if server.metadata.isEmpty {
      server.metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: UUID().uuidString]
    }
    metadata = server.metadata
  }

  public override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?)
    throws
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
    var found: [NSManagedObjectID] = try server.names.compactMap { name in
      guard let record = server[name], isWanted(record.entity, entity, request.includesSubentities) else {
        return nil
      }
      return try id(name)
    }
    if request.predicate != nil || request.sortDescriptors?.isEmpty == false {
      found = select(found, request)
    }
    found = Array(found.dropFirst(request.fetchOffset))
    if request.fetchLimit > 0 { found = Array(found.prefix(request.fetchLimit)) }
    switch request.resultType {
    case .managedObjectIDResultType: return found
    case .countResultType: return [NSNumber(value: found.count)]
    case .dictionaryResultType:
      let keys: [String] = (request.propertiesToFetch ?? []).compactMap { $0 as? String }
      return found.map { id in server[name(id)]?.values.filter { keys.contains($0.key) } ?? [:] }
    default: return found.map { context.object(with: $0) }
    }
  }

  /// Predicates and order are evaluated over objects of a context of the store's own: the stored values
  /// count, and the objects of the calling context stay as they are.
  private func select(_ ids: [NSManagedObjectID], _ request: NSFetchRequest<NSFetchRequestResult>)
    -> [NSManagedObjectID]
  {
    let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    reader.persistentStoreCoordinator = persistentStoreCoordinator
    return reader.performAndWait {
      var objects: [NSManagedObject] = ids.map { reader.object(with: $0) }
      if let predicate = request.predicate.map(ObjectReplacement(context: reader).predicate) {
        objects = objects.filter { predicate.evaluate(with: $0) }
      }
      let order: [NSSortDescriptor] = request.sortDescriptors ?? []
      objects.sort { left, right in
        for descriptor in order {
          let result: ComparisonResult = descriptor.compare(left, to: right)
          if result != .orderedSame { return result == .orderedAscending }
        }
        return false
      }
      return objects.map(\.objectID)
    }
  }

  private func isWanted(_ name: String, _ entity: NSEntityDescription, _ includesSubentities: Bool) -> Bool {
    if name == entity.name { return true }
    return includesSubentities && entity.subentitiesByName.values.contains { isWanted(name, $0, true) }
  }

  public override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    try note("obtainPermanentIDs \(array.count)")
    return array.map { newObjectID(for: $0.entity, referenceObject: server.newName()) }
  }

  private func save(_ request: NSSaveChangesRequest) throws {
    for object in (request.insertedObjects ?? []).union(request.updatedObjects ?? []) { write(object) }
    for object in request.deletedObjects ?? [] { remove(name(object.objectID)) }
    server.metadata = metadata
  }

  /// Lists do not contain what is gone; references to one record stay.
  private func remove(_ gone: String) {
    let entities: [String: NSEntityDescription] =
      persistentStoreCoordinator?.managedObjectModel.entitiesByName ?? [:]
    server[gone] = nil
    server.change { records in
      for (name, record) in records {
        for (key, related) in record.related where related.contains(gone) {
          guard entities[record.entity]?.relationshipsByName[key]?.isToMany == true else { continue }
          records[name]?.related[key] = related.filter { $0 != gone }
        }
      }
    }
  }

  private func write(_ object: NSManagedObject) {
    var record = RecordServer.Record(
      entity: object.entity.name ?? "", values: [:], related: [:],
      version: server.nextVersion(of: name(object.objectID)))
    for key in object.entity.attributesByName.keys { record.values[key] = object.value(forKey: key) }
    for key in object.entity.relationshipsByName.keys {
      record.related[key] = object.objectIDs(forRelationshipNamed: key).map(name)
    }
    server[name(object.objectID)] = record
  }

  public override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  )
    throws
    -> NSIncrementalStoreNode
  {
    try note("newValues \(name(objectID))")
    guard let record = server[name(objectID)] else {
      throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
    }
    return NSIncrementalStoreNode(objectID: objectID, withValues: record.values, version: record.version)
  }

  public override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    try note("newValue \(relationship.name) of \(name(objectID))")
    guard let record = server[name(objectID)] else { throw CocoaError(.fileNoSuchFile) }
    let ids: [NSManagedObjectID] = try (record.related[relationship.name] ?? []).map(id)
    if relationship.isToMany { return ids }
    return ids.first ?? NSNull()
  }

  public override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
    try? note("register \(objectIDs.map(name).sorted().joined(separator: ", "))")
  }

  public override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
    try? note("unregister \(objectIDs.map(name).sorted().joined(separator: ", "))")
  }
}
