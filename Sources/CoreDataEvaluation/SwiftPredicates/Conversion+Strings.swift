import CoreDataPredicates
import Foundation

extension PredicateExpressions.CollectionContainsCollection: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    guard Base.Output.self is any StringProtocol.Type, Other.Output.self is any StringProtocol.Type else {
      throw conversion.unsupported(
        self, "predicates look for a run of elements in text only, not in \(Base.Output.self)",
        "Ask for single elements, as in items.contains(element)")
    }
    return .predicate(
      .search(try conversion.expression(base), .contains, try conversion.expression(other)))
  }
}

extension PredicateExpressions.SequenceStartsWith: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    guard Base.Output.self is any StringProtocol.Type, Prefix.Output.self is any StringProtocol.Type else {
      throw conversion.unsupported(
        self, "predicates know beginnings of text only, not of \(Base.Output.self)",
        "Compare the first elements one by one")
    }
    return .predicate(
      .search(try conversion.expression(base), .beginsWith, try conversion.expression(prefix)))
  }
}

extension PredicateExpressions.StringContainsRegex: ConvertiblePredicateExpression {
  /// `MATCHES` matches the whole text, so the pattern is surrounded by any text. It is grouped (`a|b`) and
  /// line ends count as text, which the plain `.*pattern.*` would get wrong.
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    guard let pattern = conversion.value(of: regex) as? PredicateExpressions.PredicateRegex else {
      throw conversion.unsupported(
        self, "the regular expression must be known", "Capture it outside the predicate")
    }
    let whole: String = "(?s:.*)(?:\(pattern.stringRepresentation))(?s:.*)"
    do {
      _ = try RegularExpression(whole, [])
    } catch {
      throw conversion.unsupported(
        self, "ICU, which NSPredicate uses, doesn't read the pattern \(pattern.stringRepresentation)",
        "Write it with what both know")
    }
    return .predicate(
      .compare(try conversion.expression(subject), .matches, .constant(.string(whole))))
  }
}

#if !canImport(Darwin)

  extension PredicateExpressions.StringLocalizedStandardContains: ConvertiblePredicateExpression {
    package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
      .predicate(
        .compare(
          try conversion.expression(root), .contains, try conversion.expression(other),
          [.caseInsensitive, .diacriticInsensitive, .localeSensitive]))
    }
  }

  extension PredicateExpressions.StringCaseInsensitiveCompare: ConvertiblePredicateExpression {
    package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
      .expression(
        .order(try conversion.expression(root), try conversion.expression(other), .caseInsensitive))
    }
  }

  extension PredicateExpressions.StringLocalizedCompare: ConvertiblePredicateExpression {
    package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
      .expression(
        .order(try conversion.expression(root), try conversion.expression(other), .localeSensitive))
    }
  }

#endif

extension ExpressionNode {
  /// A `ComparisonResult` as a number: `TERNARY(a == b, 0, TERNARY(a < b, -1, 1))`.
  fileprivate static func order(
    _ left: ExpressionNode, _ right: ExpressionNode, _ options: ComparisonOptions
  ) -> ExpressionNode {
    .conditional(
      .compare(left, .equalTo, right, options), .constant(.integer(0)),
      .conditional(
        .compare(left, .lessThan, right, options), .constant(.integer(-1)), .constant(.integer(1))))
  }
}

extension PredicateNode {
  /// A search for a part of a text. Swift finds the empty text everywhere, predicates nowhere.
  fileprivate static func search(
    _ text: ExpressionNode, _ comparison: ComparisonOperator, _ part: ExpressionNode
  ) -> PredicateNode {
    let search: PredicateNode = .compare(text, comparison, part)
    let isEmpty: PredicateNode = .compare(part, .equalTo, .constant(.string("")))
    switch part {
    case .constant(.string("")): return .constant(true)
    case .constant: return search
    default: return .compound(.or, [isEmpty, search])
    }
  }
}
