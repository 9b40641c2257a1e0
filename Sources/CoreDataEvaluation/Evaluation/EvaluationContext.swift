import CoreDataPredicates
import Foundation

/// The result for a value of a kind that an operation never accepts, such as the square root of a text.
///
/// Everything else is the same with either rule, and in SQL: nil gives nil, and so do values of the right
/// kind that have no result (a zero to divide by, text that spells no number). One row's values never make a
/// fetch or an evaluation fail (Decisions/0040).
package enum EvaluationRules: Sendable {
  /// The evaluation throws.
  case strict
  /// The result is nil: for `evaluate(with:)` and the like, which can't throw.
  case lenient
}

/// The input of one evaluation: the object, and the values of variables.
///
/// A class, so that passing it from closure to closure moves one reference and not five words to be retained
/// each; a filter uses one context for all its objects.
final class EvaluationContext {
  // Set between evaluations only, by the code that made the context; checking that at run time would
  // add to the cost of every test.
  @exclusivity(unchecked) var object: Any?
  /// How the object's keys are read, if it is ``KeyValueReadable``.
  @exclusivity(unchecked) var reader: KeyedReader?
  let bindings: [String: Any]?
  /// Variables bound by the enclosing `SUBQUERY`s, innermost first.
  let locals: LocalVariable?
  /// Variables that `$v := …` has given a value.
  var assigned: [String: Any]?
  let rules: EvaluationRules

  init(
    object: Any?, bindings: [String: Any]?, reader: KeyedReader? = nil, locals: LocalVariable? = nil,
    rules: EvaluationRules = .strict
  ) {
    self.object = object
    self.bindings = bindings
    self.reader = reader
    self.locals = locals
    self.rules = rules
  }

  /// Starts the evaluation of the next object.
  func start(_ object: Any, _ reader: KeyedReader?) {
    self.object = object
    self.reader = reader
    assigned = nil
  }

  func value(of name: String) throws -> Any? {
    var local: LocalVariable? = locals
    while let variable = local {
      if variable.name == name { return variable.value }
      local = variable.next
    }
    guard let value = assigned?[name] ?? bindings?[name] else {
      throw PredicateError.evaluation(
        "The variable $\(name) has no value. Pass it in the substitution variables, or replace it first with "
          + "withSubstitutionVariables(_:).")
    }
    return isNullObject(value) ? nil : value
  }

  func binding(_ name: String, to value: Any) -> EvaluationContext {
    let context: EvaluationContext = EvaluationContext(
      object: object, bindings: bindings, reader: reader,
      locals: LocalVariable(name: name, value: value, next: locals), rules: rules)
    context.assigned = assigned
    return context
  }

  func assign(_ value: Any?, to name: String) {
    assigned = assigned ?? [:]
    assigned?[name] = value ?? NSNull()
  }

  /// All variables, for blocks.
  var allBindings: [String: Any]? {
    guard locals != nil || assigned != nil else { return bindings }
    var result: [String: Any] = (bindings ?? [:]).merging(assigned ?? [:]) { $1 }
    var chain: [LocalVariable] = []
    var local: LocalVariable? = locals
    while let variable = local {
      chain.append(variable)
      local = variable.next
    }
    for variable in chain.reversed() { result[variable.name] = variable.value }
    return result
  }
}

final class LocalVariable {
  let name: String
  let value: Any
  let next: LocalVariable?

  init(name: String, value: Any, next: LocalVariable?) {
    self.name = name
    self.value = value
    self.next = next
  }
}

/// The clock of `now()`, to be set in tests.
package enum PredicateClock {
  @TaskLocal package static var fixed: Date?

  package static var now: Date { fixed ?? Date() }
}
