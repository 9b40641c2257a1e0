import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// What can go wrong in the object graph, as facts. `CocoaError` values are made of it in one place (`asCocoaError`).
enum GraphError: Error, CustomStringConvertible {
  case unknownKey(String, EntityLayout)
  case unknownEntity(String?, [String])
  case noEntity(of: String)
  case severalEntities([String], of: String)
  case noCoordinator
  case noStores
  case noStore(entity: String, reason: String)
  case referentialIntegrity(NSManagedObjectID)
  case deletedInParent(NSManagedObjectID)
  case externalRelationship(object: NSManagedObjectID, relationship: String, target: NSManagedObjectID)
  case unsavedTarget(object: NSManagedObjectID, relationship: String, targetDescription: String)
  case deletedTarget(object: NSManagedObjectID, relationship: String, target: NSManagedObjectID)
  case runawayWillSave(rounds: Int, object: String)
  case unsupported(String, advice: String)
  case unsupportedRequest(String, advice: String)
  /// A predicate that can't be evaluated over an entity, and why; never empty.
  case predicate([PredicateProblem])
  case store(StoreError, URL?)
  case transformation(String)

  static func unknownKeyText(_ key: String, _ entity: EntityLayout) -> String {
    let names: [String] = entity.slots.map(\.name)
    return
      "The entity \(entity.name) has no property '\(key)'. "
      + NearestNames.advice(for: key, among: names)
  }

  var description: String {
    switch self {
    case .unknownKey(let key, let entity): return GraphError.unknownKeyText(key, entity)
    case .unknownEntity(let name, let names):
      guard let name else {
        return "The fetch request has no entity; set its entity or make it with an entityName."
      }
      return "The model has no entity '\(name)'. " + NearestNames.advice(for: name, among: names)
    case .noEntity(let name):
      return
        "No entity found for class \(name): load the model (make its container or coordinator) first, and check that its "
        + "entity names this class."
    case .severalEntities(let names, let name):
      return
        "Class \(name) stands for several entities (\(names.joined(separator: ", "))); use "
        + "NSEntityDescription.entity(forEntityName:in:), or NSFetchRequest(entityName:), to say which."
    case .noCoordinator:
      return "The context has no persistent store coordinator; set persistentStoreCoordinator first."
    case .noStores:
      return
        "This NSPersistentStoreCoordinator has no persistent stores, so nothing can be read or saved. Add one first: "
        + "addPersistentStore(ofType:configurationName:at:options:) or loadPersistentStores of the container."
    case .noStore(let entity, let reason): return "No store can take objects of entity \(entity): \(reason)."
    case .referentialIntegrity(let id):
      return "CoreData could not fulfill a fault for '\(id)': there is no such row in the store any more."
    case .deletedInParent(let id):
      return
        "'\(id)' was changed in a child context and deleted in its parent meanwhile. Refresh or delete it in the child, then "
        + "save again."
    case .externalRelationship(let object, let relationship, let target):
      return
        "\(object.entity.name ?? "").\(relationship) of \(object) points at \(target), which lives in another store. "
        + "Relationships can't cross stores; use assign(_:to:) to put both in one, or a fetched property."
    case .unsavedTarget(let object, let relationship, let target):
      return
        "\(object.entity.name ?? "").\(relationship) of \(object) points at an object that is in no context (\(target)). "
        + "Insert it into the context, or clear the relationship."
    case .deletedTarget(let object, let relationship, let target):
      return
        "\(object.entity.name ?? "").\(relationship) of \(object) points at \(target), which another context has deleted. "
        + "Set the relationship to another object, or take that one out of it."
    case .runawayWillSave(let rounds, let object):
      return
        "Objects were still changing after \(rounds) rounds of willSave; the last one was \(object). In willSave set a "
        + "property only when its value differs, or use setPrimitiveValue(_:forKey:)."
    case .unsupported(let part, let advice): return "\(part) is not supported. \(advice)"
    case .unsupportedRequest(let request, let advice):
      return "Executing \(request) is not supported. \(advice)"
    case .predicate(let problems): return GraphError.list(problems)
    case .store(let error, let url): return StoreErrorText.text(error, url)
    case .transformation(let text): return text
    }
  }

  /// The first problem on the first line, since logs often show no more.
  private static func list(_ problems: [PredicateProblem]) -> String {
    problems.map(\.description).joined(separator: "\n")
  }

  /// Apple's code for the failure.
  var code: Int {
    switch self {
    case .unknownKey, .unknownEntity, .noEntity, .severalEntities, .noCoordinator, .unsupported, .predicate,
      .runawayWillSave:
      return NSCoreDataError
    case .unsupportedRequest: return NSPersistentStoreUnsupportedRequestTypeError
    case .noStores, .noStore: return NSPersistentStoreOperationError
    case .referentialIntegrity: return NSManagedObjectReferentialIntegrityError
    case .deletedInParent: return NSManagedObjectMergeError
    case .externalRelationship: return NSManagedObjectExternalRelationshipError
    case .unsavedTarget, .deletedTarget: return NSManagedObjectValidationError
    case .transformation: return NSCoreDataError
    case .store(let error, _): return StoreErrorText.code(error)
    }
  }

  /// The error a caller sees: Apple's domain and code, a message that says what to do, and the parts in `userInfo`.
  var asCocoaError: CocoaError {
    var info: [String: Any] = [NSLocalizedDescriptionKey: description]
    switch self {
    case .referentialIntegrity(let id), .deletedInParent(let id): info[NSAffectedObjectsErrorKey] = [id]
    case .externalRelationship(let id, let relationship, _), .unsavedTarget(let id, let relationship, _),
      .deletedTarget(let id, let relationship, _):
      info[NSAffectedObjectsErrorKey] = [id]
      info[NSValidationKeyErrorKey] = relationship
    case .predicate(let problems): info[PredicateProblem.errorKey] = problems
    case .store(let error, let url):
      if let url { info[NSFilePathErrorKey] = url.path }
      if case .database(let code, _, let sql, _) = error {
        info[NSSQLiteErrorDomain] = NSNumber(value: code)
        if let sql { info["SQL"] = sql }
      }
    default: break
    }
    return CocoaError(CocoaError.Code(rawValue: code), userInfo: info)
  }
}

/// Words and codes for what an engine reports.
enum StoreErrorText {
  static func text(_ error: StoreError, _ url: URL?) -> String {
    let file: String = url.map { " (\($0.path))" } ?? ""
    switch error {
    case .conflicts(let conflicts):
      let ids: String = conflicts.prefix(3).map { "p\($0.id.key)" }.joined(separator: ", ")
      return
        "\(conflicts.count) object(s) were changed or deleted in the store after this context had read them (\(ids)). "
        + "Refresh them and try again."
    case .uniqueness(let entity, let constraint, _, _):
      return
        "The uniqueness constraint (\(constraint.joined(separator: ", "))) of entity \(entity) would be broken: another "
        + "object has the same values. Change them, or delete one of the objects."
    case .unsupported(let part, let reason, let advice):
      return "The store can't evaluate '\(part)': \(reason). \(advice)"
    case .invalid(let part, let reason, let advice):
      return "The predicate can't be evaluated: '\(part)': \(reason). \(advice)"
    case .unknownKeyPath(let path, let entity, let advice):
      return "keypath \(path) not found in entity \(entity). \(advice)"
    case .invalidFile(let url, let reason): return "\(url.path) can't be opened as a store: \(reason)"
    case .incompatibleModel(let url, let differing, let missing, let unknown):
      var parts: [String] = []
      if !differing.isEmpty { parts.append("different: \(differing.sorted().joined(separator: ", "))") }
      if !missing.isEmpty { parts.append("only in the model: \(missing.sorted().joined(separator: ", "))") }
      if !unknown.isEmpty { parts.append("only in the store: \(unknown.sorted().joined(separator: ", "))") }
      return
        "The model used to open the store \(url.path) is incompatible with the one used to create it "
        + "(entities \(parts.joined(separator: "; "))). Open it with the model version it was written with."
    case .readOnly: return "The store\(file) is read-only."
    case .unsupportedModel(let entity, let property, let reason):
      return "\(entity)\(property.map { ".\($0)" } ?? ""): \(reason)"
    case .database(let code, let message, let sql, _):
      return "SQLite error \(code): \(message)\(file)\(sql.map { " in: \($0)" } ?? "")"
    case .closed: return "The store\(file) was removed from its coordinator."
    }
  }

  static func code(_ error: StoreError) -> Int {
    switch error {
    case .conflicts: NSManagedObjectMergeError
    case .uniqueness: NSManagedObjectConstraintMergeError
    case .unsupported, .invalid, .unknownKeyPath: NSCoreDataError
    case .invalidFile: NSPersistentStoreInvalidTypeError
    case .incompatibleModel: NSPersistentStoreIncompatibleVersionHashError
    case .readOnly: NSPersistentStoreSaveError
    case .unsupportedModel: NSPersistentStoreIncompatibleSchemaError
    case .database: NSSQLiteError
    case .closed: NSPersistentStoreOperationError
    }
  }
}

/// Runs `body`; what it throws leaves as a `CocoaError`.
func withCocoaErrors<Result>(_ url: URL? = nil, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch let error as GraphError {
    throw error.asCocoaError
  } catch let error as StoreError {
    throw GraphError.store(error, url).asCocoaError
  }
}
