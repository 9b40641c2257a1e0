import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates

// Constants that can't be values of a property: a text for a date, a Swift value that no store can hold.

extension PredicateCheck {
  /// Reports a constant of the comparison that no value on the other side can be compared with.
  mutating func refusesConstant(
    _ left: PredicateValue?, _ node: ComparisonNode, _ right: PredicateValue?
  ) -> Bool {
    refusesConstant(right, node.right, against: left, node.left, node)
      || refusesConstant(left, node.left, against: right, node.right, node)
  }

  private mutating func refusesConstant(
    _ constant: PredicateValue?, _ expression: ExpressionNode, against value: PredicateValue?,
    _ subject: ExpressionNode, _ node: ComparisonNode
  ) -> Bool {
    guard expression.constant != nil || expression.isAggregate, subject.constant == nil, !subject.isAggregate,
      let constant, let value
    else { return false }
    let members: [PredicateValue] = constant.isCollection ? constant.elements ?? [] : [constant]
    if let value = members.lazy.compactMap(\.swiftValue).first {
      reportSwiftValue(value, subject, node)
      return true
    }
    // For composite attributes there is no better check.
    if case .composite? = value.exampleForm { return false }
    guard Self.comparesValues(node), case .string(let text)? = members.first,
      members.allSatisfy({ Self.areNeverEqual(value, $0) }),
      let advice = TextAdvice.advice(
        text, for: value, isList: constant.isCollection, form: form(subject, node),
        takesArguments: takesArguments)
    else { return false }
    report(
      PredicateProblem(
        .wrongType, part: Printer.print(.comparison(node)), subject: self.subject(subject),
        reason: "\(words(subject, value)) can't be compared with a text", advice: advice))
    return true
  }

  /// Text operators require texts, and have errors of their own.
  private static func comparesValues(_ node: ComparisonNode) -> Bool {
    switch node.comparison {
    case .equalTo, .notEqualTo, .in, .between, .lessThan, .lessThanOrEqualTo, .greaterThan,
      .greaterThanOrEqualTo:
      true
    default: false
    }
  }

  /// The comparison with an argument in place of the constant.
  private func form(_ subject: ExpressionNode, _ node: ComparisonNode) -> String {
    let name: String = Printer.print(subject)
    let short: String = name.utf8.count > 80 ? "…" : name
    let symbol: String = node.comparison.symbol
    return subject == node.left ? "\(short) \(symbol) %@" : "%@ \(symbol) \(short)"
  }

  // MARK: Swift values

  private mutating func reportSwiftValue(
    _ value: Any, _ subject: ExpressionNode, _ node: ComparisonNode
  ) {
    report(
      PredicateProblem(
        .wrongType, part: Printer.print(.comparison(node)), subject: self.subject(subject),
        reason:
          "the value compared with \(Printer.print(subject)) is of the Swift type \(type(of: value)), which no property holds",
        advice: Self.advice(forSwiftValue: value)))
  }

  private static func advice(forSwiftValue value: Any) -> String {
    if let value = value as? any RawRepresentable {
      return "Pass its rawValue, of type \(type(of: value.rawValue))."
    }
    switch Mirror(reflecting: value).displayStyle {
    case .enum: return "Pass what the property has for the case: a text or a number."
    case .tuple: return "Pass its elements, each as an argument of its own."
    case .struct:
      return "Pass what the property holds of it: a text, number, date, UUID, URL, Data or managed object."
    default: return "Pass a text, number, date, UUID, URL, Data or managed object."
    }
  }
}

extension PredicateValue {
  /// A Swift value that the predicate language doesn't have: an enumeration's, a structure's, a tuple, a
  /// closure. nil for objects and types.
  fileprivate var swiftValue: Any? {
    guard case .object(let box) = self, !(type(of: box.value) is AnyClass), !(box.value is Any.Type) else {
      return nil
    }
    return box.value
  }
}
