import Foundation

/// What one evaluation knows: the object, and the values of variables.
struct EvaluationContext {
  let object: Any?
  let bindings: [String: Any]?
  /// Variables bound by `SUBQUERY`s around this place, innermost first.
  var locals: LocalVariable?

  func value(of name: String) throws -> Any? {
    var local: LocalVariable? = locals
    while let variable = local {
      if variable.name == name { return variable.value }
      local = variable.next
    }
    guard let value = bindings?[name] else {
      throw PredicateError.evaluation(
        "The variable $\(name) has no value. Pass it in the substitution variables, or replace it first with "
          + "withSubstitutionVariables(_:).")
    }
    return value is NSNull ? nil : value
  }

  func binding(_ name: String, to value: Any) -> EvaluationContext {
    var inner: EvaluationContext = self
    inner.locals = LocalVariable(name: name, value: value, next: locals)
    return inner
  }

  /// All variables, for blocks.
  var allBindings: [String: Any]? {
    guard locals != nil else { return bindings }
    var result: [String: Any] = bindings ?? [:]
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

  static var now: Date { fixed ?? Date() }
}
