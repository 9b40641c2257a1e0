import CoreDataPredicates
import Foundation

extension ReadOnlyReason {
  /// Worded as the end of a sentence. `url`: the store, of which the file without permission is named.
  package func text(ofStoreAt url: URL?) -> String {
    guard self == .permission, let url, let file = ForbiddenFile.first(ofStoreAt: url, writing: true) else {
      return text
    }
    return file.clause
  }

  /// Worded as the end of a sentence.
  package var text: String {
    switch self {
    case .requested: "it was opened so (NSReadOnlyPersistentStoreOption)"
    case .permission: "this process may not write its file, or may make no files in its folder"
    case .history:
      "it keeps persistent history, to which nothing can be added yet, so that changes would be missing from it"
    }
  }

  package var advice: String { advice(for: .ofProcess) }

  package func advice(for reader: ErrorReader) -> String {
    switch self {
    case .requested: "Add it without that option to change it."
    case .permission:
      "Change the permissions of file and folder, then \(reader == .developer ? "add the store" : "run the command") again."
    case .history:
      "To change its objects, copy them into a new store, which keeps no history."
    }
  }
}

// The texts of the errors that engines throw.

extension StoreError {
  /// The text for users. `url` is the store's file, for errors that don't contain it; `name` names a row.
  package func message(
    url: URL? = nil, for reader: ErrorReader = .ofProcess, name: (RowID) -> String = { "p\($0.key)" }
  ) -> ErrorMessage {
    let file: String = url.map { " \($0.path)" } ?? ""
    switch self {
    case .conflicts(let conflicts):
      let names: String = conflicts.prefix(3).map { name($0.id) }.joined(separator: ", ")
      return ErrorMessage(
        "\(conflicts.count) object(s) were changed or deleted in the store\(file) after this context had read them (\(names)).",
        advice: "Refresh them and try again.")
    case .uniqueness(let entity, let constraint, _, _):
      return ErrorMessage(
        "The uniqueness constraint (\(constraint.joined(separator: ", "))) of entity \(entity) would be broken: another "
          + "object has the same values.", advice: "Change them, or delete one of the objects.")
    case .duplicates(let own, let entity, let constraint, let values, let objects):
      let store: String = own.map { " \($0.path)" } ?? file
      let pairs: String = zip(constraint, values).map { "\($0) \($1)" }.joined(separator: ", ")
      return ErrorMessage(
        "The store\(store) can't be copied: objects of \(entity) have the same values (\(pairs)), which the model wants to "
          + "be unique: \(objects.joined(separator: " and ")).",
        advice:
          "Change or delete one of them, or have clarus check --repair make a copy without it, which names what it "
          + "leaves out.")
    case .unsupported(let part, let reason, let advice):
      return ErrorMessage("The store can't evaluate '\(part)': \(reason)", advice: advice)
    case .invalid(let part, let reason, let advice):
      return ErrorMessage("The predicate can't be evaluated: '\(part)': \(reason)", advice: advice)
    case .unknownKeyPath(let path, let entity, let advice):
      return ErrorMessage("keypath \(path) not found in entity \(entity).", advice: advice)
    case .invalidFile(let url, let reason, let cure):
      return ErrorMessage("\(url.path) can't be opened as a store: \(reason)", advice: cure.advice)
    case .incompatibleModel(let url, let mismatch):
      return ErrorMessage(
        "The model used to open the store \(url.path) is incompatible with the one used to create it "
          + "(entities \(mismatch.entities)).\(mismatch.shownDetails)",
        advice:
          "Add it with NSMigratePersistentStoresAutomaticallyOption and NSInferMappingModelAutomaticallyOption, both true, "
          + "to migrate it to this model, or open it with the model that wrote it: cachedModelForPersistentStore(at:options:) "
          + "gives the one that it carries.")
    case .readOnly(let own, let reason):
      let place: URL? = own ?? url
      let path: String = place.map { " \($0.path)" } ?? ""
      return ErrorMessage(
        "The store\(path) is read-only: \(reason.text(ofStoreAt: place)).", advice: reason.advice(for: reader)
      )
    case .inUse(let url):
      return ErrorMessage(
        "The store \(url.path) can't be destroyed, replaced or written as a whole: another connection or process kept it "
          + "locked for the whole waiting time.",
        advice: reader == .commandLine
          ? "Let it finish, then try again."
          : "Let it finish, or set a longer time (NSPersistentStoreTimeoutOption). NSPersistentStoreForceDestroyOption "
            + "takes a store that is to be destroyed from whoever uses it: what they save then is lost.")
    case .file(let url, "creating it", EEXIST):
      return ErrorMessage(
        "There is something at \(url.path) already, so nothing was made there.",
        advice: "Give another name, or remove what is there first.")
    case .file(let url, let operation, let code):
      // The file may also be an export, or a model.
      return ErrorMessage(
        "\(url.path): \(operation) failed: \(String(cString: strerror(code))).",
        advice: StoreError.advice(forSystem: code, isCreation: operation == "creating it", reader))
    case .historyKept(let url):
      return ErrorMessage(
        "The store \(url.path) can't be opened for writing: \(ReadOnlyReason.history.text).",
        advice: "Add it with NSReadOnlyPersistentStoreOption to read it. \(ReadOnlyReason.history.advice)")
    case .fileChanged(_, let path):
      return ErrorMessage(
        "\(path) was removed, moved, migrated or replaced while the store was open. Nothing was saved or read: it would have "
          + "gone to a file that has no name any more or another model, or come from it.",
        advice: reader == .commandLine
          ? "Put the file back, or run the command again; of a migrated store with the new model."
          : "Put the file back, or take the store out of its coordinator (remove(_:)) and add it again "
            + "(addPersistentStore(type:configuration:at:options:)); a migrated one with the new model.")
    case .savedByOthers(let url):
      return ErrorMessage(
        "\(url.path) was saved or replaced by another process or coordinator since this one read it. Nothing was saved: "
          + "that would have undone what the other one saved.",
        advice: reader == .commandLine
          ? "Run the command again, which reads what is there now."
          : "Take the store out of its coordinator (remove(_:)), add it again "
            + "(addPersistentStore(type:configuration:at:options:)), which reads what is there now, and make the changes "
            + "again.")
    case .missingValue(let url, let property, let row, let path, let reason, let folder, let isForbidden):
      let value: String = (property ?? "A value") + (row.map { " of \(name($0))" } ?? "")
      return ErrorMessage(
        "\(value) in the store \(url.path) is kept in the file \(path), which can't be read: \(reason)",
        advice: isForbidden
          ? "Give this user permission to read it (chmod, chown). The value itself is whole."
          : "Put the file back: a store is copied together with its hidden folder \(folder). "
            + StoreError.advice(forValueMissingIn: url, for: reader))
    case .unwritableValue(let property, let object, let type, let reason):
      return ErrorMessage(
        "\(property) of \(object) can't be written to a store of type \(type)\(file): \(reason).",
        advice:
          "Set another value, or have clarus check --repair make a copy without it, which names what it changes."
      )
    case .unsupportedModel(let entity, let property, let reason):
      let store: String = url.map { " The store is \($0.path)." } ?? ""
      return ErrorMessage(
        "\(entity)\(property.map { ".\($0)" } ?? ""): "
          + (store.isEmpty ? reason : ErrorMessage.closed(reason) + store))
    case .migration(let url, let problem):
      return ErrorMessage("The store \(url.path) was not migrated. \(problem.text)", advice: problem.advice)
    case .database(let code, let message, let sql, let own):
      let store: String = (own ?? url).map { "The store \($0.path)" } ?? "The store in memory"
      let obstacle = FileObstacle(databaseCode: code)
      // 18: TOOBIG.
      let advice: String? =
        obstacle.map { StoreError.advice(for: $0, own ?? url, reader) }
        ?? (code == 18 ? "A value is larger than SQLite's limit of 1,000,000,000 bytes." : nil)
      // Where the cause lies outside, the statement tells nothing.
      let statement: String = obstacle == nil ? sql.map { ", in: \($0)" } ?? "" : ""
      let reason: String = message.hasSuffix(".") ? String(message.dropLast()) : message
      return ErrorMessage("\(store): \(reason) (SQLite error \(code))\(statement).", advice: advice)
    case .closed: return ErrorMessage("The store\(file) was removed from its coordinator.")
    }
  }

  private static func advice(forSystem code: Int32, isCreation: Bool, _ reader: ErrorReader) -> String {
    switch code {
    case ENOSPC, EDQUOT:
      isCreation
        ? "Nothing was made. Free some space, then try again."
        : "The file is as it was before. Free some space, then try again."
    case ENOENT:
      isCreation || reader == .commandLine
        ? "Check the path." : "Check the path, or add the store where one may be created."
    case EROFS: "The disk is read-only. Choose another place."
    case EEXIST, ENOTDIR: "Something else is there: move it away, then try again."
    default: "Check the permissions of the file and its folder."
    }
  }

  private static func advice(for obstacle: FileObstacle, _ url: URL?, _ reader: ErrorReader) -> String {
    switch obstacle {
    case .isLocked:
      "Another program, or another connection of this one, kept the store locked for the whole waiting time. Close it or let it "
        + "finish, then try again."
        + (reader == .developer ? " A program can wait longer (NSPersistentStoreTimeoutOption)." : "")
    case .hasFailed:
      "The disk reported an error; the store is in its last saved state once the disk works again."
    case .isFull: "What was saved before is as it was. Free some space, then try again."
    case .opensNoFile:
      url.flatMap { ForbiddenFile.first(ofStoreAt: $0, writing: true) }
        .map {
          "\($0.clause.prefix(1).uppercased())\($0.clause.dropFirst()). Change its permissions, then try again."
        }
        ?? "The file or its folder can't be opened; check that the folder exists and permits writing (SQLite puts its "
        + "journal beside the file)."
    }
  }

  private static func advice(forValueMissingIn url: URL, for reader: ErrorReader) -> String {
    switch reader {
    case .developer:
      "Or fetch with includesPropertyValues = false, which gives the object with nil for this value, and set another "
        + "value or delete the object."
    case .commandLine:
      "Or make a copy of the store without this value, which tells all values that are missing: "
        + "`clarus check \(url.path) --repair OUT`."
    }
  }
}

extension ModelMismatch {
  fileprivate var entities: String {
    let parts: [(String, [String])] = [
      ("different", differing), ("only in the model", missing), ("only in the store", unknown),
    ]
    return parts.filter { !$0.1.isEmpty }
      .map { "\($0.0): \($0.1.sorted().joined(separator: ", "))" }.joined(separator: "; ")
  }

  /// As many differences as a person reads.
  fileprivate var shownDetails: String {
    if details.isEmpty { return "" }
    let shown: [String] = Array(details.prefix(10))
    let rest: String = details.count > shown.count ? "; and \(details.count - shown.count) more" : ""
    return " \(shown.joined(separator: "; "))\(rest)."
  }
}
