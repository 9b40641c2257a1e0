import CoreDataPredicates
import CoreDataRuntime
import Foundation

// Casts between classes become tests of the class, which the object graph turns into tests of the entity: `$0
// is Manager` is `SELF isKindOfClass: Manager`.

extension PredicateExpressions.TypeCheck: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    let value: ExpressionNode = try conversion.expression(input)
    switch TypeRelation(of: Input.Output.self, to: Desired.self) {
    case .always: return .predicate(.constant(true))
    case .unlessNil: return .predicate(.compare(value, .notEqualTo, .constant(.null)))
    case .ofClass(let type): return .predicate(.isKind(value, type))
    case .unknown: throw conversion.cast(self, Input.Output.self, Desired.self)
    }
  }
}

extension PredicateExpressions.ConditionalCast: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    try conversion.cast(self, input, to: Desired.self)
  }
}

/// As with forced unwrapping, a value of another type becomes nil.
extension PredicateExpressions.ForceCast: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    try conversion.cast(self, input, to: Desired.self)
  }
}

extension PredicateConversion {
  fileprivate func cast<Input: PredicateExpression, Desired>(
    _ node: any PredicateExpression, _ input: Input, to type: Desired.Type
  ) throws -> ConvertedNode {
    switch TypeRelation(of: Input.Output.self, to: type) {
    case .always, .unlessNil: return try convert(input)
    case .ofClass(let type):
      let value: ExpressionNode = try expression(input)
      return .expression(.conditional(.isKind(value, type), value, .constant(.null)))
    case .unknown: throw cast(node, Input.Output.self, type)
    }
  }

  fileprivate func cast(_ node: any PredicateExpression, _ from: Any.Type, _ to: Any.Type) -> PredicateError {
    unsupported(
      node, "predicates tell classes apart, but not \(from) from \(to)",
      "Cast between managed object classes only, and convert captured values outside the predicate")
  }
}

extension PredicateNode {
  /// `value isKindOfClass: Class`
  fileprivate static func isKind(_ value: ExpressionNode, _ type: AnyClass) -> PredicateNode {
    .comparison(
      ComparisonNode(
        left: value, right: .constant(.object(ObjectBox(type))), comparison: .customSelector,
        selector: ClassTest.selector))
  }
}

/// The relation of a type to the one it is cast to.
private enum TypeRelation {
  /// Every value is of the type.
  case always
  /// Every value except nil is of the type.
  case unlessNil
  /// Objects of a class are of the type.
  case ofClass(AnyClass)
  case unknown

  init(of type: Any.Type, to desired: Any.Type) {
    let (own, isOptional) = Self.unwrapped(type)
    let (wanted, takesNil) = Self.unwrapped(desired)
    if own == wanted || wanted == Any.self || ClassAncestry.isClass(own, below: wanted) {
      self = isOptional && !takesNil ? .unlessNil : .always
    } else if let wanted = wanted as? AnyClass, own is AnyClass || own == Any.self || own == AnyObject.self {
      self = .ofClass(wanted)
    } else {
      self = .unknown
    }
  }

  private static func unwrapped(_ type: Any.Type) -> (Any.Type, isOptional: Bool) {
    guard let optional = type as? any UnwrappableOptional.Type else { return (type, false) }
    return (unwrapped(optional.wrappedType).0, true)
  }
}
