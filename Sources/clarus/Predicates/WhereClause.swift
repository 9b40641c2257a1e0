import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// `--where`: a predicate as `NSPredicate(format:)` takes it, with three conveniences that give a meaning to what has none in the
/// language: relative dates (``RelativeDates``), and ids and dates as text (``LiteralReading``).
struct WhereClause {
  let node: PredicateNode
  /// What runs but is hardly meant: such a predicate finds nothing, and nothing in its rows would tell why.
  let remarks: [String]

  /// Throws all that is wrong, numbered when there is more than one.
  init(_ text: String, of entity: EntityLayout, ids: ObjectIDs, now: Date) throws {
    let parsed: NSPredicate = try NSPredicate(
      parsing: RelativeDates(now: now).resolved(text), arguments: [])
    node = try LiteralReading(entity: entity, ids: ids).reading(parsed.predicateNode())
    let problems: [PredicateProblem] = makePredicate(node).problems(for: entity.entity)
    let errors: [PredicateProblem] = problems.filter { $0.severity == .error }
    if !errors.isEmpty { throw CommandFailure("--where: " + Self.sentence(errors)) }
    remarks = problems.filter { $0.kind == .neverEqual }.map { "--where: \($0)" }
  }

  private static func sentence(_ problems: [PredicateProblem]) -> String {
    guard problems.count > 1 else { return problems.first?.description ?? "" }
    return zip(1..., problems).map { "(\($0)) \($1)" }.joined(separator: " ")
  }
}
