import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates

extension PredicateCheck {
  /// Evaluates an operator on examples of its operands, or another one for the same types.
  mutating func attempt(
    _ left: PredicateValue?, _ node: ComparisonNode, _ right: PredicateValue?,
    trying test: ComparisonNode? = nil
  ) {
    do {
      try SampleEvaluation.compare(left, test ?? node, right)
    } catch let error as PredicateError where error.isUnsupported {
      report(
        PredicateProblem(.notEvaluable, part: Printer.print(.comparison(node)), subject: nil, error: error))
    } catch {
      report(
        PredicateProblem(
          .wrongType, part: Printer.print(.comparison(node)),
          subject: subject(node.left) ?? subject(node.right),
          reason:
            "\(node.comparison.symbol) can't compare \(words(node.left, left)) with \(words(node.right, right))",
          advice: Self.advice(for: node.comparison)))
    }
  }

  func words(_ expression: ExpressionNode, _ example: PredicateValue?) -> String {
    let kind: String = example?.kindName ?? "a value"
    return expression.constant == nil ? "\(Printer.print(expression)) (\(kind))" : kind
  }

  private static func advice(for comparison: ComparisonOperator) -> String {
    switch comparison {
    case .like, .matches, .beginsWith, .endsWith, .contains, .in:
      "It compares strings; CAST(…, 'NSString') makes a string of a number."
    default:
      "Numbers, strings, dates, UUIDs and data are ordered among themselves; CAST(…, 'NSNumber') and its like "
        + "convert between them."
    }
  }

  /// Reports an operand with many values where the operator compares one.
  mutating func refusesMany(
    _ example: PredicateValue?, _ expression: ExpressionNode, _ node: ComparisonNode
  ) -> Bool {
    guard let example, example.isCollection, expression.constant == nil, !expression.isAggregate else {
      return false
    }
    let text: String = Printer.print(expression)
    let other: PredicateValue? = (expression == node.left ? node.right : node.left).constant
    report(
      PredicateProblem(
        .toManyNotAllowed, part: Printer.print(.comparison(node)), subject: subject(expression),
        reason:
          "to-many key not allowed here: \(text) gives many values, and \(node.comparison.symbol) compares one",
        advice: other?.isNull == true
          ? "Count them: count(\(text)) == 0."
          : "Say which of them: ANY \(text) …, ALL \(text) …; or compare count(\(text)), max(\(text)) and the like."
      ))
    return true
  }

  // MARK: Equality and membership

  /// Reports a comparison with values of which none can be equal.
  mutating func warnIfNeverEqual(
    _ value: PredicateValue?, _ others: some Collection<PredicateValue>, _ node: ComparisonNode
  ) {
    guard findsWarnings, let value, !value.isNull, let first = others.first else { return }
    for other in others where !Self.areNeverEqual(value, other) { return }
    report(
      PredicateProblem(
        .neverEqual, .warning, part: Printer.print(.comparison(node)),
        subject: subject(node.left) ?? subject(node.right),
        reason: "\(value.kindName) never equals \(first.kindName)",
        advice: "Compare values of one kind; CAST(…, 'NSNumber') and its like convert between them."))
  }

  /// Whether no two values of these types are equal. nil equals nil.
  static func areNeverEqual(_ a: PredicateValue, _ b: PredicateValue) -> Bool {
    if a.isNull || b.isNull || a.isNumber && b.isNumber { return false }
    switch (a, b) {
    case (.string, .string), (.date, .date), (.data, .data), (.uuid, .uuid), (.url, .url), (.array, .array),
      (.set, .set), (.dictionary, .dictionary):
      return false
    case (.object, .object):
      guard let formA = a.exampleForm, let formB = b.exampleForm else { return false }
      switch (formA, formB) {
      case (.entity(let a), .entity(let b)): return !a.isRelated(to: b)
      case (.composite, .composite): return false
      case (.entity, .composite), (.composite, .entity): return true
      }
    case (.object, .dictionary), (.dictionary, .object):
      // The values of a composite attribute are dictionaries.
      if case .composite? = (a.exampleForm ?? b.exampleForm) { return false }
      return true
    case (.object, _): return a.exampleForm != nil
    case (_, .object): return b.exampleForm != nil
    default: return true
    }
  }

  /// `element IN collection`, and `CONTAINS` with its sides exchanged; `left` and `right` are the sides as
  /// written.
  mutating func checkMembership(
    of element: PredicateValue?, in collection: PredicateValue?, _ expression: ExpressionNode,
    _ node: ComparisonNode, _ left: PredicateValue?, _ right: PredicateValue?
  ) {
    switch collection {
    case nil, .null, .nullObject: break
    case .string: attempt(left, node, right)
    case .array(let members): warnIfNeverEqual(element, members, node)
    case .set(let members): warnIfNeverEqual(element, members, node)
    case .dictionary(let entries): warnIfNeverEqual(element, entries.values, node)
    case .some(let value):
      report(
        PredicateProblem(
          .notCollection, part: Printer.print(.comparison(node)), subject: subject(expression),
          reason:
            "\(node.comparison.symbol) looks into a collection or a string, and \(words(expression, value)) is neither",
          advice: "Name a to-many relationship or a list such as {1, 2}, or compare with ==."))
    }
  }

  // MARK: Bounds and patterns

  mutating func checkBounds(_ left: PredicateValue?, _ node: ComparisonNode, _ right: PredicateValue?) {
    switch right {
    case nil, .null, .nullObject: break
    case .array(let members) where members.count == 2: attempt(left, node, right)
    default:
      report(
        PredicateProblem(
          .missingBounds, part: Printer.print(.comparison(node)), subject: subject(node.left),
          reason: "BETWEEN needs an array of two bounds on its right",
          advice: "Write BETWEEN {low, high}."))
    }
  }

  /// Reports a constant pattern that is no regular expression.
  mutating func refusesPattern(_ node: ComparisonNode) -> Bool {
    guard case .constant(.string(let pattern)) = node.right else { return false }
    do {
      _ = try RegularExpressionCache.shared.expression(pattern, node.options)
      return false
    } catch {
      report(
        PredicateProblem(
          .invalidPattern, part: Printer.print(.comparison(node)), subject: subject(node.left), error: error))
      return true
    }
  }
}
