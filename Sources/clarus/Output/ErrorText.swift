import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Errors of the layers below as one line of text.
enum ErrorText {
  static func line(for error: any Error) -> String {
    switch error {
    case let error as CommandFailure: oneLine(error.line)
    case let error as StoreError: oneLine(error.message().description)
    case let error as ModelFileError: oneLine(error.description)
    case let error as CoreDataPredicates.PredicateError: oneLine(error.description)
    default:
      oneLine(
        [ErrorMessage.reason(of: error), (error as NSError).localizedRecoverySuggestion]
          .compactMap(\.self).joined(separator: " "))
    }
  }

  /// The text as one line that ends as a sentence does.
  static func sentence(_ text: String) -> String {
    let line: String = oneLine(text)
    return line.last.map { ".?!".contains($0) } ?? true ? line : "\(line)."
  }

  /// Line breaks and runs of spaces become single spaces; control characters are escaped.
  static func oneLine(_ text: String) -> String {
    DisplayWidth.escaped(text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
  }
}
