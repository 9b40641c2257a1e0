import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The errors of migrations, as facts.
enum MigrationFailure: Error, CustomStringConvertible {
  case missingSourceModel(URL, String)
  case missingMappingModel(URL, String)
  case mapping(String, reason: String, advice: String)
  case policyClass(String, mapping: String, reason: String)
  case function(String, String)
  /// `mapping`: nil for an inferred one, which nobody has written.
  case value(mapping: String?, property: String, object: String, reason: String)
  case sourceStore(URL, String)
  case destinationStore(URL, String)
  case originalCopy(URL, String)
  case historyKept(URL)
  case programStore(URL, type: String)
  case cancelled(URL)
  case backward(String)
  case unusableModel(String)
  case stage(String, advice: String)
  case modelReference(String, advice: String)
  case failedStage(String, reason: String, underlying: any Error)

  var message: ErrorMessage {
    switch self {
    case .unusableModel(let reason):
      return ErrorMessage("The model can't be used: \(reason)", advice: "Rename one of the two in the model.")
    case .missingSourceModel(let url, let details):
      return ErrorMessage(
        "The store \(url.path) was written with a model that was not found."
          + Self.further(details),
        advice: MigrationWords.text(
          command:
            "Put the version of the model that wrote the store beside the others in the .xcdatamodeld or .momd that --to names. If "
            + "no file of that version exists any more, `clarus check STORE --model MODEL` says which version fits best.",
          program:
            "Add the version of the model that wrote the store to the bundle (all versions of its .xcdatamodeld or .momd), or "
            + "migrate with an NSMigrationManager, to which you give both models. If no file of that version exists any more, make "
            + "its model in code from the entities, attributes and types that the store shows, and pass "
            + "NSIgnorePersistentStoreVersioningOption among the source's options.")
      )
    case .missingMappingModel(let url, let details):
      return ErrorMessage(
        "The store \(url.path) needs a migration, and there is no mapping model for it."
          + Self.further(details),
        advice:
          "Add an .xcmappingmodel for these two versions to the bundle, or set NSInferMappingModelAutomaticallyOption."
      )
    case .mapping(let name, let reason, let advice):
      return ErrorMessage("The entity mapping '\(name)' can't be used: \(reason)", advice: advice)
    case .policyClass(let name, let mapping, let reason):
      return ErrorMessage(
        "The entity mapping '\(mapping)' names the policy class '\(name)', \(reason)",
        advice:
          "Name it as Module.Class in the mapping model, and let the class inherit from NSEntityMigrationPolicy."
      )
    case .function(let selector, let reason):
      return ErrorMessage(
        "FUNCTION '\(selector)' of a mapping can't be called: \(reason)",
        advice: "Correct the value expression, or the policy's expressionFunctions.")
    case .value(nil, let property, let object, let reason):
      return ErrorMessage(
        "\(property) can't be set for \(object): \(reason)",
        advice: "Change the objects with the version that the store has, or write a mapping model.")
    case .value(let mapping?, let property, let object, let reason):
      return ErrorMessage(
        "The mapping '\(mapping)' can't set \(property) for \(object): \(reason)",
        advice: "Correct the value expression of \(property) in the mapping.")
    case .sourceStore(let url, let reason):
      return ErrorMessage("The source store \(url.path) can't be migrated: \(reason)")
    case .destinationStore(let url, let reason):
      return ErrorMessage("The destination store \(url.path) can't be written: \(reason)")
    case .originalCopy(let url, let reason):
      return ErrorMessage(
        "The store can't be kept as it is at \(url.path): \(reason)",
        advice: "The store was not migrated. Give another place for the copy.")
    case .historyKept(let url):
      return ErrorMessage(
        "The store \(url.path) can't be migrated: it keeps persistent history, which would have a gap then.",
        advice:
          "Copy it with its own model into a store without history ("
          + MigrationWords.text(
            command: "",
            program:
              "migratePersistentStore(_:to:options:type:) of a coordinator that has added it read-only, or ")
          + "`clarus convert`), and migrate the copy.")
    case .programStore(let url, let type):
      return ErrorMessage(
        "The store \(url.isFileURL ? url.path : url.absoluteString) has another model, and stores of the program's own type "
          + "'\(type)' are not migrated when they are added.",
        advice:
          "Migrate it with an NSMigrationManager, to which you give both models, into a new store, and add that one. Or "
          + "let the class of the store convert what it reads, and set the new versions' hashes in its metadata."
      )
    case .cancelled(let url):
      return ErrorMessage(
        "The migration of the store \(url.path) was cancelled.",
        advice: "The store is as it was; it is migrated when it is added again.")
    case .backward(let text):
      return ErrorMessage(text, advice: "Open the store with a version of the program that knows its model.")
    case .stage(let reason, let advice), .modelReference(let reason, let advice):
      return ErrorMessage(reason, advice: advice)
    case .failedStage(let stage, let reason, _):
      return ErrorMessage(
        "\(stage): \(reason)",
        advice: "The store is as it was before this stage, which is run again when the store is added again.")
    }
  }

  var code: Int {
    switch self {
    case .missingSourceModel: NSMigrationMissingSourceModelError
    case .missingMappingModel: NSMigrationMissingMappingModelError
    case .mapping, .value, .unusableModel: NSMigrationError
    case .policyClass, .function: NSEntityMigrationPolicyError
    case .sourceStore, .historyKept, .programStore: NSMigrationManagerSourceStoreError
    case .destinationStore, .originalCopy: NSMigrationManagerDestinationStoreError
    case .cancelled: NSMigrationCancelledError
    case .backward: NSStagedMigrationBackwardMigrationError
    case .stage: NSMigrationError
    case .modelReference: NSManagedObjectModelReferenceNotFoundError
    case .failedStage(_, _, let underlying):
      underlying.ofCocoa.flatMap { Self.isMigration($0.code.rawValue) ? $0.code.rawValue : nil }
        ?? NSMigrationError
    }
  }

  var description: String { message.description }

  /// Details that there may be none of, after a sentence.
  private static func further(_ details: String) -> String {
    let text: String = details.trimmingCharacters(in: .whitespaces)
    return text.isEmpty ? "" : " \(text)"
  }

  /// The text of an error that the framework or the program threw.
  static func text(of error: any Error) -> String {
    if let obstacle = FileObstacle(error) { return "\(obstacle.reason) \(obstacle.advice)" }
    switch error {
    case StoreError.invalidFile(_, let reason, let cure):
      return ErrorMessage(reason, advice: cure.advice).description
    case let error as StoreError: return error.message().description
    default: break
    }
    if !(error is CocoaError), !((error as Any) is NSError) { return "\(error)" }
    return ErrorMessage.reason(of: error)
  }

  private static func isMigration(_ code: Int) -> Bool {
    (NSPersistentStoreIncompatibleVersionHashError...NSEntityMigrationPolicyError).contains(code)
      || code == NSInferredMappingModelError
  }

  var asCocoaError: CocoaError {
    if case .failedStage(_, _, let underlying) = self {
      return message.cocoaError(code, [NSUnderlyingErrorKey: underlying])
    }
    return message.cocoaError(code)
  }
}

extension FileObstacle {
  /// That of a migration, told by the error of a store; nil for other errors.
  init?(_ error: any Error) {
    switch error {
    case StoreError.database(let code, _, _, _): self.init(databaseCode: code)
    case StoreError.inUse: self = .isLocked
    case StoreError.file(_, _, ENOSPC), StoreError.file(_, _, EDQUOT): self = .isFull
    default:
      guard let error = error.ofCocoa else { return nil }
      switch error.code.rawValue {
      case NSPersistentStoreTimeoutError: self = .isLocked
      case CocoaError.Code.fileWriteOutOfSpace.rawValue: self = .isFull
      default:
        guard let code = error.userInfo[NSSQLiteErrorDomain] as? NSNumber else { return nil }
        self.init(databaseCode: code.int32Value)
      }
    }
  }

  var reason: String {
    switch self {
    case .isLocked: "Another process or connection has kept it locked for the whole waiting time."
    case .isFull: "The disk is full."
    case .hasFailed: "The disk reported an error."
    case .opensNoFile: "A file beside it can't be opened or made."
    }
  }

  var advice: String {
    switch self {
    case .isLocked:
      "End that process, or let it finish, and migrate again. The store is as that process has it."
    case .isFull:
      "The store is as it was. Free some space, and migrate again: a plan of the migration tells how much it needs."
    case .hasFailed:
      "The store is in its last saved state when the disk works again. Check disk and free space, and migrate again."
    case .opensNoFile:
      "The store is as it was. Check that its folder may be written and has free space, and migrate again."
    }
  }
}

/// Runs `body`; its migration failures, and those of stores and contexts, reach the caller as `CocoaError`s.
/// Those of a file that is locked, and of a full disk, name the store, and not the file of a hidden folder or
/// a statement. What can't be inferred has the store's name before its own, of entities and properties.
func withMigrationErrors<Result>(of url: URL, _ body: () throws -> Result) throws -> Result {
  do {
    return try withMigrationErrors(body)
  } catch {
    guard let error = error.ofCocoa else { throw error }
    let message: ErrorMessage
    if let obstacle = FileObstacle(error) {
      message = ErrorMessage(
        "The store \(url.path) can't be migrated: \(obstacle.reason)", advice: obstacle.advice)
    } else {
      let reason: String = ErrorMessage.reason(of: error)
      guard error.code.rawValue == NSInferredMappingModelError, !reason.contains(url.path) else {
        throw error
      }
      message = ErrorMessage(
        "The store \(url.path) can't be migrated. \(reason)",
        advice: (error as NSError).localizedRecoverySuggestion)
    }
    throw message.cocoaError(inPlaceOf: error, [NSFilePathErrorKey: url.path])
  }
}

/// Runs `body`; its migration failures, and those of stores and contexts, reach the caller as `CocoaError`s.
func withMigrationErrors<Result>(_ body: () throws -> Result) throws -> Result {
  do {
    return try withCocoaErrors { try body() }
  } catch let failure as MigrationFailure {
    throw failure.asCocoaError
  }
}

extension CocoaError {
  /// The same error with further sentences.
  func adding(reason: String? = nil, advice: [String]) -> CocoaError {
    let own: String? = (self as NSError).localizedRecoverySuggestion
    let message = ErrorMessage(
      [ErrorMessage.reason(of: self), reason].compactMap(\.self).joined(separator: " "),
      advice: ([own].compactMap(\.self) + advice).joined(separator: " "))
    return message.cocoaError(inPlaceOf: self)
  }
}
