import CoreDataPredicates
import Foundation

extension PredicateExpressions.CollectionIndexSubscript: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    guard Wrapped.Output.self is any AnyArray.Type else {
      throw conversion.unsupported(
        self, "predicates take elements by position from arrays only, not from \(Wrapped.Output.self)",
        "Use first, last or contains")
    }
    return .expression(
      .index(try conversion.expression(wrapped), .at(try conversion.expression(index))))
  }
}

extension PredicateExpressions.CollectionRangeSubscript: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    throw conversion.unsupported(
      self, "predicates have no slices", "Compare single elements, or ask with contains and starts(with:)")
  }
}

extension PredicateExpressions.DictionaryKeySubscript: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    .expression(.index(try conversion.expression(wrapped), .at(try conversion.expression(key))))
  }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    let entry: ExpressionNode = .index(
      try conversion.expression(wrapped), .at(try conversion.expression(key)))
    return .expression(.unlessNil(entry, entry, otherwise: try conversion.expression(self.default)))
  }
}
