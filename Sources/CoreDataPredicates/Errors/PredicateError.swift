import Foundation

/// The reason why a predicate or an expression could not be parsed or evaluated.
///
/// The text names the position, what was found there, what was expected, and advice for common mistakes:
///
/// ```
/// Unable to parse the format string "name == %k": at character 9 found "%k", expected an expression. A key path
/// specifier is spelled %K.
/// ```
///
/// `NSPredicate(format:)`, which can't throw, stops the program with this text;
/// `NSPredicate(parsing:arguments:)` throws it.
public struct PredicateError: Error, Sendable, Equatable, LocalizedError, CustomStringConvertible,
  CustomNSError
{
  // Private so that cases can grow.
  private enum Kind: Sendable, Equatable {
    case parsing(format: String, position: Int, found: String, expected: String, hint: String?)
    case evaluation(String)
    case noResult(String)
    case exhausted(String)
    case unsupported(String)
    case archive(String)
  }

  private let kind: Kind

  /// The domain of the error as an `NSError`.
  public static let errorDomain: String = "CoreDataPredicates.PredicateError"

  /// 1 for a format that can't be parsed, 2 for a failed evaluation, 3 for a construct that isn't supported,
  /// 4 for an archive that can't be written or read.
  public var errorCode: Int {
    switch kind {
    case .parsing: 1
    case .evaluation, .noResult, .exhausted: 2
    case .unsupported: 3
    case .archive: 4
    }
  }

  /// The description under `NSLocalizedDescriptionKey`; for a format also `format` and `position`.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = message.userInfo
    if case .parsing(let format, let position, _, _, _) = kind {
      info["format"] = format
      info["position"] = position
    }
    return info
  }

  /// The same text as ``description``.
  public var errorDescription: String? { description }

  /// The problem, without the hint.
  public var failureReason: String? { message.reason }

  /// The same text as ``hint``.
  public var recoverySuggestion: String? { message.advice }

  /// The whole message.
  public var description: String { message.description }

  private var message: ErrorMessage {
    switch kind {
    case .parsing(let format, let position, let found, let expected, let hint):
      return ErrorMessage(
        "Unable to parse the format string \"\(Self.excerpt(format, around: position))\": "
          + "at character \(position + 1) found \(found), expected \(expected).", advice: hint)
    case .evaluation(let text), .noResult(let text), .exhausted(let text), .unsupported(let text),
      .archive(let text):
      return ErrorMessage(text)
    }
  }

  /// Characters before the place where parsing stopped; nil for errors of evaluation.
  public var position: Int? {
    if case .parsing(_, let position, _, _, _) = kind { position } else { nil }
  }

  /// What to write instead, for common mistakes.
  public var hint: String? {
    if case .parsing(_, _, _, _, let hint) = kind { hint } else { nil }
  }

  package static func parsing(
    _ format: String, position: Int, found: String, expected: String, hint: String?
  ) -> PredicateError {
    .init(kind: .parsing(format: format, position: position, found: found, expected: expected, hint: hint))
  }

  /// Whether a construct is not supported here, whatever its operands.
  package var isUnsupported: Bool {
    if case .unsupported = kind { true } else { false }
  }

  /// Whether an operation got values that it can't use.
  package var isEvaluation: Bool {
    switch kind {
    case .evaluation, .noResult: true
    case .parsing, .exhausted, .unsupported, .archive: false
    }
  }

  /// Whether the operation could have had a result for other values of the same kinds.
  package var isAboutValues: Bool {
    if case .noResult = kind { true } else { false }
  }

  /// Whether an operation was aborted because it might not terminate.
  package var isExhausted: Bool {
    if case .exhausted = kind { true } else { false }
  }

  package static func evaluation(_ text: String) -> PredicateError {
    .init(kind: .evaluation(text))
  }

  /// For values of the right kinds for which an operation has no result.
  package static func noResult(_ text: String) -> PredicateError {
    .init(kind: .noResult(text))
  }

  /// For operations that might not terminate.
  package static func exhausted(_ text: String) -> PredicateError {
    .init(kind: .exhausted(text))
  }

  package static func unsupported(_ text: String) -> PredicateError {
    .init(kind: .unsupported(text))
  }

  package static func archive(_ text: String) -> PredicateError {
    .init(kind: .archive(text))
  }

  /// The format itself if it is short, otherwise the part around the position: a format can be megabytes of
  /// generated text.
  private static func excerpt(_ format: String, around position: Int) -> String {
    let reach: Int = 60
    guard format.utf8.count > 400 else { return format }
    let place: String.Index =
      format.index(format.startIndex, offsetBy: position, limitedBy: format.endIndex) ?? format.endIndex
    let start: String.Index =
      format.index(place, offsetBy: -reach, limitedBy: format.startIndex) ?? format.startIndex
    let end: String.Index =
      format.index(place, offsetBy: reach, limitedBy: format.endIndex) ?? format.endIndex
    return (start > format.startIndex ? "…" : "") + format[start..<end] + (end < format.endIndex ? "…" : "")
  }
}
