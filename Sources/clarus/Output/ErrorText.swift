import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Errors of the layers below as one line for people. The layers throw facts; here, and only here, the command line finds
/// words for them.
enum ErrorText {
  static func line(for error: any Error) -> String {
    switch error {
    case let error as CommandFailure: oneLine(error.line)
    case let error as StoreError: oneLine(text(for: error))
    case let error as ModelFileError: oneLine(error.description)
    case let error as CoreDataPredicates.PredicateError: oneLine(error.description)
    default: oneLine(error.localizedDescription)
    }
  }

  /// Line breaks and runs of spaces become single spaces; control characters are escaped.
  static func oneLine(_ text: String) -> String {
    DisplayWidth.escaped(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
  }

  private static func text(for error: StoreError) -> String {
    switch error {
    case .invalidFile(let url, let reason): return "\(url.path): \(reason)"
    case .unknownKeyPath(let path, let entity, let advice):
      return "Entity \(entity) has no key path \"\(path)\". \(advice)"
    case .unsupported(let part, let reason, let advice):
      return "\(part) can't be answered: \(reason). \(advice)"
    case .invalid(let part, let reason, let advice):
      return "\(part) makes no sense: \(reason). \(advice)"
    case .incompatibleModel(let url, let differing, let missing, let unknown):
      return "\(url.path): The model doesn't fit the store. "
        + ModelMatch.Difference(differing: differing, onlyInModel: missing, onlyInStore: unknown).sentence
    case .readOnly(let url): return "\(url?.path ?? "The store") can only be read."
    case .unsupportedModel(let entity, let property, let reason):
      return
        "The model's \(property.map { "\(entity).\($0)" } ?? "entity \(entity)") can't be used: \(reason)."
    case .database(let code, let message, let sql, let url):
      let place: String = url.map { "\($0.path): " } ?? ""
      return "\(place)SQLite error \(code): \(message)" + (sql.map { " (\($0))" } ?? "")
    case .conflicts(let conflicts): return "\(conflicts.count) rows changed in the store meanwhile."
    case .uniqueness(let entity, let constraint, _, _):
      return "Two rows of \(entity) have the same \(constraint.joined(separator: ", "))."
    case .closed: return "The store was closed."
    }
  }
}
