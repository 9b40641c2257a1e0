import Foundation

extension Parser {
  /// The value that a specifier stands for. Predicates and expressions passed with `%@` become part of the tree.
  mutating func parseArgument(_ specifier: Specifier) throws(PredicateError) -> Operand {
    switch specifier {
    case .keyPath:
      let path: String = try takeKeyPath()
      advance()
      if path.lowercased() == "self" { return .expression(.evaluatedObject, depth: 1) }
      return .expression(.keyPath(path), depth: 1)
    case .object:
      let argument: Any? = try takeArgument()
      if let predicate = object(argument, as: Foundation.NSPredicate.self) {
        let node: PredicateNode = predicate.predicateNode()
        let depth: Int = try checked(node.depth)
        advance()
        return .predicate(node, depth: depth)
      }
      if let expression = object(argument, as: NSExpression.self) {
        let node: ExpressionNode = expression.expressionNode()
        let depth: Int = try checked(node.depth)
        advance()
        return .expression(node, depth: depth)
      }
      advance()
      return .expression(.constant(PredicateValue(constant: argument)), depth: 1)
    case .integer, .double, .character, .string:
      let value: PredicateValue = try takeNumber(specifier)
      advance()
      return .expression(.constant(value), depth: 1)
    }
  }

  mutating func takeKeyPath() throws(PredicateError) -> String {
    guard case .string(let path) = PredicateValue(normalizing: try takeArgument()), !path.isEmpty else {
      throw unexpected("a key path as a string for %K")
    }
    return path
  }

  private mutating func takeNumber(_ specifier: Specifier) throws(PredicateError) -> PredicateValue {
    let value: PredicateValue = PredicateValue(normalizing: try takeArgument())
    switch specifier {
    case .string:
      guard case .string = value else { throw unexpected("a string for this specifier") }
      return value
    case .character:
      if case .string(let text) = value, text.utf16.count == 1, let unit = text.utf16.first {
        return .integer(Int64(unit))
      }
    default: break
    }
    guard value.isNumber else {
      throw unexpected(
        "a number for this specifier, not \(value.kindName)", hint: "Objects are passed with %@.")
    }
    return value
  }
}
