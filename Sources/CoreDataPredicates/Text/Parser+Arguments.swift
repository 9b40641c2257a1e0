import Foundation

extension Parser {
  /// The value of a specifier. Predicates and expressions passed with `%@` become part of the tree.
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
        hasTreeArguments = true
        let node: PredicateNode = predicate.predicateNode()
        let depth: Int = try checked(node.depth)
        advance()
        return .predicate(node, depth: depth)
      }
      if let expression = object(argument, as: NSExpression.self) {
        hasTreeArguments = true
        let node: ExpressionNode = expression.expressionNode()
        let depth: Int = try checked(node.depth)
        advance()
        return .expression(node, depth: depth)
      }
      let node: ExpressionNode = constant(PredicateValue(constant: argument), specifier)
      advance()
      return .expression(node, depth: 1)
    case .integer, .double, .character, .string:
      let argument: Any? = try takeArgument()
      guard let value = Self.number(argument, specifier) else { throw refusal(of: argument, specifier) }
      let node: ExpressionNode = constant(value, specifier)
      advance()
      return .expression(node, depth: 1)
    }
  }

  mutating func takeKeyPath() throws(PredicateError) -> String {
    guard case .string(let path) = PredicateValue(normalizing: try takeArgument()), !path.isEmpty else {
      throw unexpected("a key path as a string for %K")
    }
    noteKeyPath(path)
    return path
  }

  /// The constant of an argument for a C specifier; nil if it does not fit.
  static func number(_ argument: Any?, _ specifier: Specifier) -> PredicateValue? {
    fitted(PredicateValue(normalizing: argument), specifier)
  }

  static func fitted(_ value: PredicateValue, _ specifier: Specifier) -> PredicateValue? {
    switch (specifier, value) {
    case (.string, .string): return value
    case (.string, _): return nil
    case (.character, .string(let text)) where text.utf16.count == 1:
      return text.utf16.first.map { .integer(Int64($0)) }
    default: return value.isNumber ? value : nil
    }
  }

  private func refusal(of argument: Any?, _ specifier: Specifier) -> PredicateError {
    if specifier == .string { return unexpected("a string for this specifier") }
    let value: PredicateValue = .init(normalizing: argument)
    return unexpected(
      "a number for this specifier, not \(value.kindName)", hint: "Objects are passed with %@.")
  }
}
