import CoreDataModel
import CoreDataModelChecking
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The errors of the object graph, as facts. `CocoaError` values are made from them in one place
/// (`asCocoaError`).
enum GraphError: Error, CustomStringConvertible {
  case unknownKey(String, EntityLayout)
  case unknownEntity(String?, [String])
  case noEntity(of: String)
  case severalEntities([String], of: String)
  case noCoordinator
  case noStores
  case noStore(entity: String, reason: String, isReadOnly: Bool = false)
  case referentialIntegrity(NSManagedObjectID)
  case deletedInParent(NSManagedObjectID)
  /// An object, or one of its relationships, that a deletion or a save needs can't be read.
  case unreadable(NSManagedObjectID, property: String?, cause: any Error)
  /// `stores`: the places of the object's store and the target's.
  case externalRelationship(
    object: NSManagedObjectID, relationship: String, target: NSManagedObjectID, stores: (String, String))
  case unsavedTarget(object: NSManagedObjectID, relationship: String, targetDescription: String)
  case deletedTarget(object: NSManagedObjectID, relationship: String, target: NSManagedObjectID)
  case runawayWillSave(rounds: Int, object: String)
  /// A fault that the context's faulting policy refuses.
  case refusedFault(String, advice: String)
  case unsupported(String, advice: String)
  case unsupportedRequest(String, advice: String)
  /// A predicate that can't be evaluated over an entity, and why; never empty.
  case predicate([PredicateProblem])
  case store(StoreError, URL?)
  case transformation(String, advice: String)

  var description: String { message.description }

  /// The texts of the error.
  var message: ErrorMessage {
    switch self {
    case .unknownKey(let key, let entity):
      return ErrorMessage(
        "The entity \(entity.name) has no property '\(key)'.",
        advice: NearestNames.advice(for: key, among: entity.slots.map(\.name)))
    case .unknownEntity(let name?, let names):
      return ErrorMessage(
        "The model has no entity '\(name)'.", advice: NearestNames.advice(for: name, among: names))
    case .unknownEntity(nil, _):
      return ErrorMessage(
        "The fetch request has no entity.", advice: "Set its entity or make it with an entityName.")
    case .noEntity(let name):
      return ErrorMessage(
        "No entity found for class \(name).",
        advice:
          "Load the model (make its container or coordinator) first, and check that its entity names this class."
      )
    case .severalEntities(let names, let name):
      return ErrorMessage(
        "Multiple NSEntityDescriptions claim the NSManagedObject subclass '\(name)' so +entity is unable to disambiguate: "
          + "\(names.joined(separator: ", ")).",
        advice:
          "Say which: NSEntityDescription.entity(forEntityName:in:), NSFetchRequest(entityName:), init(entity:insertInto:)."
      )
    case .noCoordinator:
      return ErrorMessage(
        "The context has no persistent store coordinator.", advice: "Set persistentStoreCoordinator first.")
    case .noStores:
      return ErrorMessage(
        "This NSPersistentStoreCoordinator has no persistent stores, so nothing can be read or saved.",
        advice:
          "Add one first: addPersistentStore(ofType:configurationName:at:options:) or loadPersistentStores of the container."
      )
    case .noStore(let entity, let reason, _):
      return ErrorMessage("No store can take objects of entity \(entity): \(reason)")
    case .referentialIntegrity(let id):
      return ErrorMessage(
        "CoreData could not fulfill a fault for '\(id)': there is no such row in the store any more.")
    case .deletedInParent(let id):
      return ErrorMessage(
        "'\(id)' was changed in a child context and deleted in its parent meanwhile.",
        advice: "Refresh or delete it in the child, then save again.")
    case .unreadable(let id, let property, let cause):
      let what: String = property.map { "\(id.runtime.layout.name).\($0) of '\(id)'" } ?? "'\(id)'"
      return ErrorMessage(
        "\(what) can't be read, so nothing was saved: \(Self.reason(of: cause))",
        advice:
          "The changes are still in the context: save again when the store can be read, or roll them back. clarus check "
          + "shows what is wrong with its file.")
    case .externalRelationship(let object, let relationship, let target, let stores):
      return ErrorMessage(
        "\(object.entity.name ?? "").\(relationship) of \(object), which is in the store \(stores.0), points at \(target), "
          + "which is in another store, \(stores.1). Relationships can't cross stores.",
        advice: "Use assign(_:to:) to put both in one, or a fetched property.")
    case .unsavedTarget(let object, let relationship, let target):
      return ErrorMessage(
        "\(object.entity.name ?? "").\(relationship) of \(object) points at an object that is in no context (\(target)).",
        advice: "Insert it into the context, or clear the relationship.")
    case .deletedTarget(let object, let relationship, let target):
      return ErrorMessage(
        "\(object.entity.name ?? "").\(relationship) of \(object) points at \(target), which another context has deleted.",
        advice: "Set the relationship to another object, or take that one out of it.")
    case .runawayWillSave(let rounds, let object):
      return ErrorMessage(
        "Objects were still changing after \(rounds) rounds of willSave and value transformers; the last one was \(object).",
        advice:
          "In willSave set a property only when its value differs, or use setPrimitiveValue(_:forKey:); in a value transformer "
          + "set none.")
    case .refusedFault(let reason, let advice): return ErrorMessage(reason, advice: advice)
    case .unsupported(let part, let advice):
      return ErrorMessage("\(part) is not supported.", advice: advice)
    case .unsupportedRequest(let request, let advice):
      return ErrorMessage("Executing \(request) is not supported.", advice: advice)
    case .predicate(let problems): return GraphError.message(problems)
    case .store(let error, let url): return error.message(url: url)
    case .transformation(let text, let advice): return ErrorMessage(text, advice: advice)
    }
  }

  private static func reason(of cause: any Error) -> String {
    switch cause {
    case let error as StoreError: error.message().description
    case let error as GraphError: error.description
    default: ErrorMessage.reason(of: cause)
    }
  }

  private static func code(of cause: any Error) -> Int {
    switch cause {
    case let error as StoreError: error.code
    case let error as GraphError: error.code
    default: NSPersistentStoreOperationError
    }
  }

  /// The reason is the first problem, because logs often show no more; the whole message lists all of them,
  /// one a line.
  private static func message(_ problems: [PredicateProblem]) -> ErrorMessage {
    let first: String = problems.first.map { "\($0.part): \($0.reason)" } ?? "The predicate has problems"
    return ErrorMessage(
      first, advice: problems.first?.advice, whole: problems.map(\.description).joined(separator: "\n"))
  }

  /// Apple's code for the failure.
  var code: Int {
    switch self {
    case .unknownKey, .unknownEntity, .noEntity, .severalEntities, .noCoordinator, .unsupported, .predicate,
      .runawayWillSave, .refusedFault:
      return NSCoreDataError
    case .unsupportedRequest: return NSPersistentStoreUnsupportedRequestTypeError
    case .noStore(_, _, isReadOnly: true): return StoreError.readOnlyCode
    case .noStores, .noStore: return NSPersistentStoreOperationError
    case .referentialIntegrity: return NSManagedObjectReferentialIntegrityError
    case .deletedInParent: return NSManagedObjectMergeError
    case .externalRelationship: return NSManagedObjectExternalRelationshipError
    case .unsavedTarget, .deletedTarget: return NSManagedObjectValidationError
    case .transformation: return NSCoreDataError
    case .unreadable(_, _, let cause): return GraphError.code(of: cause)
    case .store(let error, _): return error.code
    }
  }

  /// The error that callers receive: Apple's domain and code, a message that says what to do, and the parts
  /// in `userInfo`.
  var asCocoaError: CocoaError {
    var info: [String: Any] = [:]
    switch self {
    case .referentialIntegrity(let id), .deletedInParent(let id): info[NSAffectedObjectsErrorKey] = [id]
    case .unreadable(let id, let property, let cause):
      info[NSAffectedObjectsErrorKey] = [id]
      if let property { info[NSValidationKeyErrorKey] = property }
      info[NSUnderlyingErrorKey] =
        (cause as? StoreError).map { GraphError.store($0, nil).asCocoaError } ?? cause
    case .externalRelationship(let id, let relationship, _, _), .unsavedTarget(let id, let relationship, _),
      .deletedTarget(let id, let relationship, _):
      info[NSAffectedObjectsErrorKey] = [id]
      info[NSValidationKeyErrorKey] = relationship
    case .predicate(let problems): info[PredicateProblem.errorKey] = problems
    case .store(let error, let url):
      if let file = error.file ?? url { info[NSFilePathErrorKey] = file.path }
      if case .database(let code, _, let sql, _) = error {
        info[NSSQLiteErrorDomain] = NSNumber(value: code)
        if let sql { info["SQL"] = sql }
      }
    default: break
    }
    return message.cocoaError(code, info)
  }
}

extension StoreError {
  /// The code for a save to a store that was opened read-only: "You don't have permission".
  static let readOnlyCode: Int = CocoaError.Code.fileWriteNoPermission.rawValue

  /// The store of the failure, if the error contains it.
  fileprivate var file: URL? {
    switch self {
    case .invalidFile(let url, _, _), .incompatibleModel(let url, _), .historyKept(let url),
      .fileChanged(let url, _), .missingValue(let url, _, _, _, _, _, _), .inUse(let url),
      .savedByOthers(let url),
      .file(let url, _, _), .migration(let url, _):
      url
    case .readOnly(let url, _), .database(_, _, _, let url), .duplicates(let url, _, _, _, _): url
    case .conflicts, .uniqueness, .unsupported, .invalid, .unknownKeyPath, .unsupportedModel,
      .unwritableValue, .closed:
      nil
    }
  }

  /// Apple's code for an engine's error.
  fileprivate var code: Int {
    switch self {
    case .conflicts: NSManagedObjectMergeError
    case .uniqueness: NSManagedObjectConstraintMergeError
    case .duplicates: NSManagedObjectConstraintValidationError
    case .unsupported, .invalid, .unknownKeyPath: NSCoreDataError
    case .invalidFile: NSPersistentStoreInvalidTypeError
    case .incompatibleModel: NSPersistentStoreIncompatibleVersionHashError
    case .readOnly: Self.readOnlyCode
    case .historyKept: NSPersistentStoreOpenError
    case .unsupportedModel: NSPersistentStoreIncompatibleSchemaError
    case .unwritableValue: NSManagedObjectValidationError
    case .migration(_, .duplicates): NSMigrationConstraintViolationError
    case .migration: NSMigrationError
    case .database: NSSQLiteError
    case .inUse: NSPersistentStoreTimeoutError
    case .file(_, let operation, let code): Self.fileCode(code, isReading: operation.hasPrefix("reading"))
    case .fileChanged, .savedByOthers, .missingValue, .closed: NSPersistentStoreOperationError
    }
  }
}

extension StoreError {
  /// Foundation's code for a system error.
  private static func fileCode(_ code: Int32, isReading: Bool) -> Int {
    let found: CocoaError.Code =
      switch code {
      case ENOENT: isReading ? .fileReadNoSuchFile : .fileNoSuchFile
      case EEXIST: .fileWriteFileExists
      case ENOSPC, EDQUOT: .fileWriteOutOfSpace
      case EACCES, EPERM: isReading ? .fileReadNoPermission : .fileWriteNoPermission
      case EROFS: .fileWriteVolumeReadOnly
      default: isReading ? .fileReadUnknown : .fileWriteUnknown
      }
    return found.rawValue
  }
}

/// Runs `body`; rethrows its errors as `CocoaError`.
package func withCocoaErrors<Result>(_ url: URL? = nil, _ body: () throws -> Result) throws -> Result {
  do {
    return try body()
  } catch let error as GraphError {
    throw error.asCocoaError
  } catch let error as StoreError {
    throw GraphError.store(error, url).asCocoaError
  }
}
