import Foundation

/// The text of an error for users, in two parts: the problem, with the names it concerns, and what to do.
///
/// Foundation shows the parts in different places, and prints `"(null)"` for a missing part:
///
///     error.localizedDescription                     the whole
///     print(error), "\(error)"                       begins with the reason: Error Domain=… Code=… "reason"
///     (error as NSError).localizedFailureReason      the reason
///     (error as NSError).localizedRecoverySuggestion the advice
package struct ErrorMessage: Sendable, Hashable, CustomStringConvertible {
  /// The problem: one sentence or several.
  package let reason: String
  /// What to do about it: one sentence or several; nil if there is no advice.
  package let advice: String?
  private let whole: String?

  /// Parts that don't begin and end as sentences are completed. `whole` is the text for users if it is more
  /// than both parts.
  package init(_ reason: String, advice: String? = nil, whole: String? = nil) {
    self.reason = ErrorMessage.closed(reason)
    self.advice = advice.flatMap { $0.isEmpty ? nil : ErrorMessage.sentence($0) }
    self.whole = whole.map(ErrorMessage.closed)
  }

  package var description: String {
    whole ?? advice.map { "\(reason) \($0)" } ?? reason
  }

  /// The entries of an error's `userInfo` from which Foundation reads its texts.
  package var userInfo: [String: Any] {
    var info: [String: Any] = [
      NSLocalizedDescriptionKey: description, NSLocalizedFailureReasonErrorKey: reason,
    ]
    if let advice { info[NSLocalizedRecoverySuggestionErrorKey] = advice }
    return info
  }

  /// The error with this message. `info` is added to the message's own entries.
  package func cocoaError(_ code: Int, _ info: [String: Any] = [:]) -> CocoaError {
    CocoaError(CocoaError.Code(rawValue: code), userInfo: userInfo.merging(info) { _, given in given })
  }

  /// The error with this message in place of its own texts. `info` replaces and adds entries.
  package func cocoaError(inPlaceOf error: any Error, _ info: [String: Any] = [:]) -> CocoaError {
    let error = error as NSError
    let texts: Set<String> = [
      NSLocalizedDescriptionKey, NSLocalizedFailureReasonErrorKey, NSLocalizedRecoverySuggestionErrorKey,
    ]
    let others: [String: Any] = error.userInfo.filter { !texts.contains($0.key) }
    return cocoaError(error.code, others.merging(info) { _, given in given })
  }

  /// The reason of a failure, without Foundation's "The operation could not be completed": the system's text
  /// if Foundation has none of its own.
  package static func reason(of error: any Error) -> String {
    let error = error as NSError
    if let reason = error.localizedFailureReason { return closed(reason) }
    if error.userInfo[NSLocalizedDescriptionKey] == nil {
      if let cause = error.userInfo[NSUnderlyingErrorKey] as? any Error { return reason(of: cause) }
      if let text = error.userInfo[NSDebugDescriptionErrorKey] as? String { return closed(text) }
    }
    return closed(error.localizedDescription)
  }

  /// With a capital letter at the beginning and a full stop at the end.
  package static func sentence(_ text: String) -> String {
    closed(text.prefix(1).uppercased() + text.dropFirst())
  }

  /// With a full stop at the end, unless the text ends with another punctuation mark.
  package static func closed(_ text: String) -> String {
    let ending: Character? = text.last { !"\"'’”»)".contains($0) }
    return ending.map { ".!?…。！？".contains($0) } ?? true ? text : text + "."
  }
}

extension Error {
  /// The error as one of Cocoa; nil for another. A cast on Linux makes a `CocoaError` of an `NSError` of any
  /// domain, so that a program's own error would be taken for one of the framework's, and lose its domain.
  package var ofCocoa: CocoaError? {
    (self as NSError).domain == NSCocoaErrorDomain ? self as? CocoaError : nil
  }
}
