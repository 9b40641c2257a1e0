import Foundation

/// Gives `NSPredicate` the initialisers that Foundation marks unavailable on Linux.
///
/// An initialiser in a protocol extension may assign `self`, which one in a class extension may not. So
/// `NSPredicate(format: "a == 1")` returns an ``NSComparisonPredicate``.
public protocol PredicateParsing {}

extension Foundation.NSPredicate: PredicateParsing {}

extension PredicateParsing where Self: Foundation.NSPredicate {
  /// A predicate from a format, such as `NSPredicate(format: "name BEGINSWITH[c] %@ AND age > %d", "a", 30)`.
  ///
  /// Arguments may be any Swift or Foundation values. A format that can't be parsed stops the program with
  /// the reason; ``init(parsing:arguments:)`` throws it instead.
  public init(format: String, _ args: Any?...) {
    self = Self.parsed(format, args)
  }

  /// A predicate from a format and its arguments as an array. Stops the program if the format can't be
  /// parsed.
  public init(format: String, argumentArray: [Any]?) {
    self = Self.parsed(format, argumentArray ?? [])
  }

  /// A predicate from a format and an existing C argument list. Stops the program if the format can't be
  /// parsed.
  ///
  /// Such a list contains neither the number of its arguments nor their types. If the word for an object or a
  /// text is zero, or can't be an address, the program stops with the position; any other mistake reads
  /// arbitrary memory. Lists made by `withVaList(_:_:)` around this very call, or by `getVaList(_:)`, are
  /// ``VariableArgumentList``s, which contain both.
  // Not preferred, and of an optional, so that `withVaList(_:_:)` around this call is the one that makes a
  // VariableArgumentList.
  @_disfavoredOverload
  public init(format: String, arguments: CVaListPointer?) {
    do {
      try self.init(parsing: format, arguments: VariableArguments.values(of: arguments, for: format))
    } catch {
      fatalError("\(error)")
    }
  }

  /// A predicate from a format and arguments as `getVaList(_:)` and `withVaList(_:_:)` make them. Stops the
  /// program if the format can't be parsed, or needs more arguments than there are.
  public init(format: String, arguments: VariableArgumentList) {
    self = Self.parsed(format, arguments.values)
  }

  /// A predicate from a format and its arguments.
  ///
  /// - Throws: ``PredicateError`` that names the position in the format, what was found there and what was
  ///   expected.
  public init(parsing format: String, arguments: [Any?] = []) throws {
    let parsed: ParsedFormat = try FormatCache.shared.predicate(format, arguments)
    let permission: EvaluationPermission? = parsed.mayContainTrees ? .joining(values: arguments) : nil
    let predicate: Foundation.NSPredicate = .makePredicate(parsed, permission: permission)
    guard let typed = predicate as? Self else {
      throw PredicateError.unsupported(
        "The format \"\(format)\" gives a \(type(of: predicate)), not a \(Self.self). "
          + "Ask NSPredicate to parse it.")
    }
    self = typed
  }

  private static func parsed(_ format: String, _ arguments: [Any?]) -> Self {
    do {
      return try Self(parsing: format, arguments: arguments)
    } catch {
      fatalError("\(error)")
    }
  }
}

extension Foundation.NSPredicate {
  /// A copy with variables replaced by constants; variables without a value stay.
  public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
    let permission: EvaluationPermission? = .joining([
      evaluationPermission, .joining(values: Array(variables.values)),
    ])
    let substituted: Foundation.NSPredicate = .makePredicate(
      predicateNode().substituting(variables: variables), permission: permission)
    // Substituting changes operands, never the kind of predicate.
    return substituted as? Self ?? self
  }

  /// Whether the predicate is true for the object.
  ///
  /// - Throws: ``PredicateError`` where `evaluate(with:)` stops the program: an unknown key, values that
  ///   can't be compared, a variable without value, an invalid regular expression; and whatever
  ///   ``KeyValueReadable/readValue(forKey:)`` throws.
  public func evaluateThrowing(with object: Any?, substitutionVariables: [String: Any]? = nil) throws -> Bool
  {
    // A subclass may override the evaluation.
    switch self {
    case let predicate as NSComparisonPredicate where type(of: predicate) == NSComparisonPredicate.self:
      return try predicate.evaluateNode(object, substitutionVariables)
    case let predicate as NSCompoundPredicate where type(of: predicate) == NSCompoundPredicate.self:
      return try predicate.evaluateNode(object, substitutionVariables)
    default:
      try checkEvaluationAllowed()
      return try Evaluator.factory.predicate(predicateNode()).evaluate(
        object, variables: substitutionVariables)
    }
  }
}
