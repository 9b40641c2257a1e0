import Foundation

/// Whether something that came out of an archive may be evaluated: not before `allowEvaluation()` was called,
/// since an archive can come from any source, and a predicate can read any property.
///
/// What never was in an archive has none, so that evaluating it costs nothing for this. What is built from
/// decoded parts has one that depends on those of the parts; that of a part taken from something decoded
/// depends on that of the whole.
package final class EvaluationPermission: @unchecked Sendable {
  // `lock` guards `isOwn`, which never becomes false again.
  private let lock: NSLock = .init()
  private var isOwn: Bool = false
  private let sources: [EvaluationPermission]
  private let passesOn: Bool

  /// For something decoded.
  package init() {
    sources = []
    passesOn = false
  }

  /// For a part of something decoded.
  init(partOf whole: EvaluationPermission) {
    sources = [whole]
    passesOn = false
  }

  private init(joining parts: [EvaluationPermission]) {
    sources = parts
    passesOn = true
  }

  /// The permission for something that is built from these parts.
  static func joining(_ parts: [EvaluationPermission?]) -> EvaluationPermission? {
    // One list instead of a tree of them: reading it takes no stack, however deep the parts are nested.
    let needed: [EvaluationPermission] = parts.compactMap { $0 }
      .flatMap { $0.passesOn ? $0.sources : [$0] }.filter { !$0.isGranted }
    return needed.isEmpty ? nil : EvaluationPermission(joining: needed)
  }

  /// The permission for something that is built from these values, of which predicates and expressions count.
  static func joining(values: [Any?]) -> EvaluationPermission? {
    guard values.contains(where: { object($0, as: NSObject.self) != nil }) else { return nil }
    return joining(
      values.map { value in
        switch object(value, as: NSObject.self) {
        case let predicate as Foundation.NSPredicate: predicate.evaluationPermission
        case let expression as NSExpression: expression.permission
        default: nil
        }
      })
  }

  package var isGranted: Bool {
    if lock.withLock({ isOwn }) { return true }
    return !sources.isEmpty && sources.allSatisfy(\.isGranted)
  }

  package func grant() {
    lock.withLock { isOwn = true }
    if passesOn { for source in sources { source.grant() } }
  }

  /// Throws unless evaluation was allowed.
  package func check(_ what: @autoclosure () -> String) throws {
    guard !isGranted else { return }
    throw PredicateError.evaluation(
      "\(what()) was decoded from an archive and has not been allowed to be evaluated. Make sure that it reads nothing it "
        + "shouldn't, then call allowEvaluation().")
  }
}

extension Foundation.NSPredicate {
  /// nil if no part of the predicate was decoded.
  package var evaluationPermission: EvaluationPermission? {
    switch self {
    case let predicate as NSComparisonPredicate: predicate.permission
    case let predicate as NSCompoundPredicate: predicate.permission
    default: nil
    }
  }

  /// Throws ``PredicateError`` for a decoded predicate before `allowEvaluation()`. Code that
  /// evaluates the tree instead of the predicate calls this first.
  package func checkEvaluationAllowed() throws {
    try evaluationPermission?.check("The predicate \(formatText)")
  }

  /// Lets a decoded predicate be evaluated. Before, `evaluate(with:)` stops the program and
  /// ``evaluateThrowing(with:substitutionVariables:)``, filtering and fetching throw.
  ///
  /// An archive can come from any source, so first make sure that the predicate reads nothing that it
  /// shouldn't. A predicate that was not decoded needs no permission. A compound gives it to its members.
  public func allowEvaluation() {
    evaluationPermission?.grant()
  }
}

extension NSExpression {
  /// Throws ``PredicateError`` for a decoded expression before ``allowEvaluation()``.
  package func checkEvaluationAllowed() throws {
    try permission?.check("The expression \(self)")
  }
}

extension NSSortDescriptor {
  /// Throws ``PredicateError`` for a decoded sort descriptor before ``allowEvaluation()``.
  package func checkEvaluationAllowed() throws {
    try (self as? KeySortDescriptor)?.permission?.check("The sort descriptor \(self)")
  }

  /// Allows a decoded sort descriptor to compare objects. Before that, `compare(_:to:)` stops the program,
  /// and ``compareThrowing(_:to:)``, sorting and fetching throw.
  public func allowEvaluation() {
    (self as? KeySortDescriptor)?.permission?.grant()
  }
}
