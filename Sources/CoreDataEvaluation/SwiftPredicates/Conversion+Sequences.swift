import CoreDataPredicates
import Foundation

// Closures over collections become subqueries. The subquery of a collection that is itself filtered is used
// again, so that `items.filter { p }.contains { q }` becomes one for `p AND q`, which stores can evaluate.

extension PredicateExpressions.SequenceContains: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    if LHS.Output.self is any RangeExpression.Type {
      return .predicate(try conversion.contains(sequence, element))
    }
    if LHS.Output.self == Data.self {
      throw conversion.unsupported(self, "predicates don't look into data", "Compare the data as a whole")
    }
    let collection: ExpressionNode = try conversion.expression(sequence)
    let element: ExpressionNode = try conversion.expression(element)
    if case .subquery(let source, let variable, let test) = collection {
      let isElement: PredicateNode = .compare(.variable(variable), .equalTo, element)
      return .predicate(.exists(source, variable, .compound(.and, [test, isElement])))
    }
    return .predicate(.compare(element, .in, collection))
  }
}

extension PredicateExpressions.SequenceContainsWhere: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    if let members = conversion.value(of: sequence) {
      return .predicate(
        .compound(
          .or, try members.map { try conversion.test(test, variable, $0) }))
    }
    let (source, local, condition) = try conversion.subquery(sequence, variable.key, test)
    return .predicate(.exists(source, local, condition))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    if let members = conversion.value(of: sequence) {
      return .predicate(
        .compound(
          .and, try members.map { try conversion.test(test, variable, $0) }))
    }
    let (source, local, condition) = try conversion.subquery(sequence, variable.key, test, isNegated: true)
    let failing: ExpressionNode = .count(source, local, condition)
    return .predicate(.compare(failing, .equalTo, .constant(.integer(0))))
  }
}

extension PredicateExpressions.Filter: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    let (source, local, condition) = try conversion.subquery(sequence, variable.key, filter)
    return .expression(.subquery(collection: source, variable: local, predicate: condition))
  }
}

extension PredicateExpressions.SequenceMaximum: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    try conversion.extreme("@max.self", self, elements)
  }
}

extension PredicateExpressions.SequenceMinimum: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    try conversion.extreme("@min.self", self, elements)
  }
}

extension PredicateConversion {
  /// The parts of a subquery over a collection.
  fileprivate func subquery(
    _ sequence: any PredicateExpression, _ variable: PredicateExpressions.VariableID,
    _ test: any PredicateExpression, isNegated: Bool = false
  ) throws -> (source: ExpressionNode, variable: String, condition: PredicateNode) {
    let collection: ExpressionNode = try members(sequence)
    if case .subquery(let source, let local, let filter) = collection {
      bind(variable, to: .variable(local))
      let condition: PredicateNode = try predicate(test)
      return (source, local, .compound(.and, [filter, isNegated ? .compound(.not, [condition]) : condition]))
    }
    let local: String = bindLocal(variable)
    let condition: PredicateNode = try predicate(test)
    return (collection, local, isNegated ? .compound(.not, [condition]) : condition)
  }

  /// The condition of a closure for one member of a constant collection.
  fileprivate func test<Member>(
    _ test: any PredicateExpression, _ variable: PredicateExpressions.Variable<Member>, _ member: Member
  ) throws -> PredicateNode {
    bind(variable, toValue: member)
    return try predicate(test)
  }

  fileprivate func extreme(
    _ mark: String, _ node: any PredicateExpression, _ elements: any PredicateExpression
  ) throws -> ConvertedNode {
    if let known = value(of: node) { return .expression(.constant(try Self.constant(known))) }
    return .expression(try path(mark, below: members(elements)))
  }

  /// A collection as an operand.
  fileprivate func members<Sequence: PredicateExpression>(_ sequence: Sequence) throws -> ExpressionNode {
    if Sequence.Output.self is any StringProtocol.Type || Sequence.Output.self == Data.self {
      throw unsupported(
        sequence, "predicates don't take text or data apart",
        "Ask a string whether it contains another one, or compare the whole")
    }
    return try expression(sequence)
  }
}

extension ExpressionNode {
  /// `SUBQUERY(source, $variable, condition).@count`
  fileprivate static func count(
    _ source: ExpressionNode, _ variable: String, _ condition: PredicateNode
  ) -> ExpressionNode {
    .path(.subquery(collection: source, variable: variable, predicate: condition), "@count")
  }
}

extension PredicateNode {
  /// `SUBQUERY(source, $variable, condition).@count != 0`
  fileprivate static func exists(
    _ source: ExpressionNode, _ variable: String, _ condition: PredicateNode
  ) -> PredicateNode {
    .compare(.count(source, variable, condition), .notEqualTo, .constant(.integer(0)))
  }
}
