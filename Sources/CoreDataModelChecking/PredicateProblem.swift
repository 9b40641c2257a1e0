import CoreDataModel
import Foundation

/// Something in a predicate, an expression, a sort descriptor or a fetch request that doesn't fit the entity
/// it is meant for.
///
/// ```
/// boss.nmae: keypath boss.nmae not found in entity Person: "Person" has no property "nmae". Did you mean …
/// name < 5: name is a string and 5 is a number, which < can't compare. …
/// ```
///
/// Found by `predicate.problems(for: entity)` without running anything. A fetch whose predicate has an
/// ``Severity/error`` throws before a store is used.
public struct PredicateProblem: Sendable, Hashable, CustomStringConvertible {
  public enum Severity: String, Sendable, Hashable {
    /// A fetch throws.
    case error
    /// A fetch runs, but probably not as meant, or more slowly than it could.
    case warning
  }

  /// What is wrong. New kinds may be added.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// No entity of that name.
    case unknownEntity
    /// The entity has no property of that name.
    case unknownKey
    /// A key after a plain value that doesn't have it.
    case keyBehindValue
    /// A path through a to-many relationship where one value is needed.
    case toManyNotAllowed
    /// A plain value or an object where a collection is needed.
    case notCollection
    /// A position in a collection without order.
    case notOrdered
    /// Operands of types that the operator or function doesn't accept.
    case wrongType
    /// Values of types that are never equal. A warning: the comparison has a result.
    case neverEqual
    /// `BETWEEN` without two bounds.
    case missingBounds
    /// `MATCHES` with a text that is no regular expression.
    case invalidPattern
    /// A variable without a value.
    case unboundVariable
    /// A function, a selector of `FUNCTION` or a custom operator that is not registered.
    case unknownFunction
    /// A collection operator that doesn't exist.
    case unknownOperator
    /// A type that `CAST` doesn't support.
    case unknownType
    /// A construct that can't be evaluated here, such as `ANYKEY`.
    case notEvaluable
    /// A property that no store holds. A warning: the condition is evaluated in memory.
    case notStored
    /// Nesting deeper than the limit.
    case tooDeep
  }

  public let severity: Severity
  public let kind: Kind
  /// The part of the predicate concerned, as its `predicateFormat` prints it; truncated when it is very long.
  public let part: String
  /// The key path concerned, as written; nil for problems that have none.
  public let keyPath: String?
  /// The wrong name: a key, a variable without its dollar sign, a function, a type.
  public let name: String?
  /// The entity in which a key was looked for, or whose property is concerned.
  public let entity: String?
  /// The property concerned, where there is one.
  public let property: String?
  /// Names that resemble ``name``, nearest first, at most three.
  public let nearest: [String]
  /// What is wrong.
  public let reason: String
  /// What to do about it.
  public internal(set) var advice: String

  /// The key of the problems in `userInfo` of a fetch's error, as `[PredicateProblem]`.
  public static let errorKey: String = "ClarusPredicateProblems"

  /// A part can be megabytes of generated text.
  private static let longestPart: Int = 400

  package init(
    _ kind: Kind, _ severity: Severity = .error, part: String, keyPath: String? = nil, name: String? = nil,
    entity: String? = nil, property: String? = nil, nearest: [String] = [], reason: String, advice: String
  ) {
    self.severity = severity
    self.kind = kind
    self.part = part.utf8.count <= Self.longestPart ? part : "\(part.prefix(Self.longestPart))…"
    self.keyPath = keyPath
    self.name = name
    self.entity = entity
    self.property = property
    self.nearest = nearest
    self.reason = reason
    self.advice = advice
  }

  /// A problem with the property that an expression reads.
  init(
    _ kind: Kind, _ severity: Severity = .error, part: String, subject: PredicateSubject?, reason: String,
    advice: String
  ) {
    self.init(
      kind, severity, part: part, keyPath: subject?.keyPath, entity: subject?.property?.entity?.name,
      property: subject?.property?.name, reason: reason, advice: advice)
  }

  /// From an error of the evaluator: its first sentence says what is wrong, the others what to do.
  init(_ kind: Kind, part: String, subject: PredicateSubject?, error: any Error) {
    let text: String = "\(error)"
    let sentence: String = text.range(of: ". ").map { String(text[..<$0.lowerBound]) } ?? text
    let rest: String = String(text.dropFirst(sentence.count + 2))
    self.init(
      kind, part: part, subject: subject,
      reason: sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence,
      advice: rest.isEmpty ? "Change the operands, or leave the part out." : rest)
  }

  /// The part, what is wrong with it, and what to do.
  public var description: String {
    "\(part): \(reason). \(advice)"
  }
}

/// The property that an expression reads, for messages.
struct PredicateSubject {
  var keyPath: String
  /// The last property on the path that is in the model.
  var property: NSPropertyDescription?
}
