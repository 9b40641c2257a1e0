import CoreDataModel
import CoreDataModelChecking
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// A predicate as typed after an option: the format language of `NSPredicate(format:)` with three additions
/// that have no meaning there: relative dates (``RelativeDates``), and ids and dates as text
/// (``LiteralReading``).
struct TypedPredicate {
  let option: String
  private let parsed: PredicateNode

  init(_ text: String, now: Date, option: String) throws {
    self.option = option
    let format: String = try naming(option) { try RelativeDates(now: now).resolved(text) }
    do {
      parsed = try NSPredicate(parsing: format, arguments: []).predicateNode()
    } catch let error as CoreDataPredicates.PredicateError {
      throw CommandFailure("\(option): \(Self.words(error, text))")
    }
  }

  /// A placeholder for an argument is an error here: there are no arguments.
  private static func words(_ error: CoreDataPredicates.PredicateError, _ text: String) -> String {
    guard error.description.contains("expected argument") else { return error.description }
    return
      "\"\(text)\" has a place for an argument, and a command line passes none. Write the value there: \"text\" in quotation "
      + "marks, numbers without, days as \"2026-12-01\"."
  }

  /// With texts converted to the type that they are compared with.
  func reading(_ entity: EntityLayout, _ ids: ObjectIDs) throws -> PredicateNode {
    try LiteralReading(entity: entity, ids: ids, option: option).reading(parsed)
  }
}

/// `--having`: the functions are called as the options are, so that `avg` is the language's `average`.
struct HavingClause {
  private let predicate: TypedPredicate

  init(_ text: String, now: Date) throws {
    var format: String = ""
    var rest: Substring = text[...]
    while let place = rest.firstIndex(where: { $0 == "\"" || $0 == "'" }) {
      format += Self.translated(rest[..<place])
      let quoted: Substring = RelativeDates.quoted(rest[place...])
      format += quoted
      rest = rest[quoted.endIndex...]
    }
    predicate = try TypedPredicate(format + Self.translated(rest), now: now, option: "--having")
  }

  private static func translated(_ text: Substring) -> String {
    String(text).replacing(/(^|[^\w.#$@])avg(\s*\()/.ignoresCase()) { "\($0.1)average\($0.2)" }
  }

  /// The condition on groups.
  func reading(_ entity: EntityLayout, _ ids: ObjectIDs, _ groups: GroupedRows) throws -> PredicateNode {
    try naming(predicate.option) {
      do {
        return try groups.condition(try predicate.reading(entity, ids))
      } catch let failure as CommandFailure where failure.line.contains("has no property") {
        let columns: [String] = groups.titles.map(\.title)
        let others: [String] = ["count"].filter { !columns.contains($0) }
        throw CommandFailure(
          "\(failure.line) The columns of groups are \((others + columns).joined(separator: ", ")); sum, avg, min, max and "
            + "count take other attributes in parentheses.")
      }
    }
  }
}

/// `--where`.
struct WhereClause {
  let node: PredicateNode
  /// Conditions that are valid but probably a mistake: such a predicate finds nothing, and its result does
  /// not show the reason.
  let remarks: [String]

  /// Throws all errors, numbered when there is more than one.
  init(_ text: String, of entity: EntityLayout, ids: ObjectIDs, now: Date) throws {
    let option: String = "--where"
    node = try naming(option) {
      try TypedPredicate(text, now: now, option: option).reading(entity, ids)
    }
    let problems: [PredicateProblem] = node.typedProblems(for: entity.entity)
    let errors: [PredicateProblem] = problems.filter { $0.severity == .error }
    if !errors.isEmpty { throw CommandFailure("\(option): " + Self.sentence(errors)) }
    remarks = problems.filter { $0.kind == .neverEqual }.map { "\(option): \($0)" }
  }

  private static func sentence(_ problems: [PredicateProblem]) -> String {
    guard problems.count > 1 else { return problems.first.map(words) ?? "" }
    return zip(1..., problems).map { "(\($0)) \(words($1))" }.joined(separator: " ")
  }

  private static func words(_ problem: PredicateProblem) -> String {
    let isMoment: Bool = ["now", "today"].contains(problem.name?.lowercased() ?? "")
    guard problem.kind == .unknownKey, isMoment else { return problem.description }
    return "\(problem.part): \(problem.reason). \(RelativeDates.forms)"
  }
}
