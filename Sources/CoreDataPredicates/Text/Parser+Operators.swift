import Foundation

extension Parser {
  private enum Infix {
    case compound(CompoundKind)
    case comparison
    case set(SetOperation)
    case function(String, Power)

    var power: Power {
      switch self {
      case .compound(let kind): kind == .or ? .or : .and
      case .comparison: .comparison
      case .set: .set
      case .function(_, let power): power
      }
    }
  }

  /// Parses everything that binds at least as tightly as `minimum`.
  mutating func parse(_ minimum: Power) throws(PredicateError) -> Operand {
    try enter()
    let start: Token = current
    var left: Operand = try parsePrefix()
    while let infix = currentInfix(), infix.power >= minimum {
      left = try parse(infix, left: left, start: start)
    }
    leave()
    return left
  }

  private mutating func currentInfix() -> Infix? {
    switch current.kind {
    case .mark(let mark):
      switch mark {
      case .and: return .compound(.and)
      case .or: return .compound(.or)
      case .plus: return .function("add:to:", .sum)
      case .minus: return .function("from:subtract:", .sum)
      case .times: return .function("multiply:by:", .product)
      case .divide: return .function("divide:by:", .product)
      case .power: return .function("raise:toPower:", .power)
      case .bitAnd: return .function("bitwiseAnd:with:", .bits)
      case .bitOr: return .function("bitwiseOr:with:", .bits)
      case .bitXor: return .function("bitwiseXor:with:", .bits)
      case .leftShift: return .function("leftshift:by:", .bits)
      case .rightShift: return .function("rightshift:by:", .bits)
      default: return mark.comparison == nil ? nil : .comparison
      }
    case .identifier(_, let word?):
      switch word {
      case .and: return .compound(.and)
      case .or: return .compound(.or)
      case .union: return .set(.union)
      case .intersect: return .set(.intersect)
      case .minus: return .set(.minus)
      default: return word.comparison == nil ? nil : .comparison
      }
    // A name with a colon in the position of an operator is a selector.
    case .identifier(_, nil): return peek().kind == .mark(.colon) ? .comparison : nil
    default: return nil
    }
  }

  private mutating func parse(_ infix: Infix, left: Operand, start: Token) throws(PredicateError) -> Operand {
    switch infix {
    case .compound(let kind): return try parseCompound(kind, first: left)
    case .comparison:
      let node: ExpressionNode = try expression(of: left, at: start)
      return try parseComparison(modifier: .direct, left: node, leftDepth: left.depth)
    case .set(let operation):
      let leftNode: ExpressionNode = try expression(of: left, at: start)
      let (rightNode, depth) = try parseRightOperand(.set)
      return .expression(.set(operation, leftNode, rightNode), depth: try checked(1 + max(left.depth, depth)))
    case .function(let selector, let power):
      let leftNode: ExpressionNode = try expression(of: left, at: start)
      let (rightNode, depth) = try parseRightOperand(power)
      return .expression(
        .function(target: nil, name: selector, arguments: [leftNode, rightNode]),
        depth: try checked(1 + max(left.depth, depth)))
    }
  }

  private mutating func parseRightOperand(
    _ power: Power
  ) throws(PredicateError) -> (node: ExpressionNode, depth: Int) {
    advance()
    let start: Token = current
    let operand: Operand = try parse(power.tighter)
    return (try expression(of: operand, at: start), operand.depth)
  }

  /// A chain of one operator is one compound, however long.
  private mutating func parseCompound(
    _ kind: CompoundKind, first: Operand
  ) throws(PredicateError) -> Operand {
    var members: [PredicateNode] = [try predicate(of: first)]
    var depth: Int = first.depth
    while case .compound(kind)? = currentInfix() {
      advance()
      let member: Operand = try parse(kind == .or ? .and : .not)
      members.append(try predicate(of: member))
      depth = max(depth, member.depth)
    }
    return .predicate(.compound(kind, members), depth: try checked(depth + 1))
  }

  // MARK: Prefixes

  private mutating func parsePrefix() throws(PredicateError) -> Operand {
    switch current.kind {
    case .mark(.not), .identifier(_, .not?):
      advance()
      let operand: Operand = try parse(.comparison)
      return .predicate(.compound(.not, [try predicate(of: operand)]), depth: try checked(operand.depth + 1))
    case .mark(.minus):
      advance()
      let start: Token = current
      let operand: Operand = try parse(.prefix)
      let node: ExpressionNode = try expression(of: operand, at: start)
      // `-(1)` and `- -1` stay negations: only a literal includes the sign.
      if case .number = start.kind, let number = Self.negated(node) {
        return .expression(.constant(number), depth: operand.depth)
      }
      return .expression(
        .function(target: nil, name: BuiltinFunction.negate.selector, arguments: [node]),
        depth: try checked(operand.depth + 1))
    case .identifier(_, let word?):
      switch word {
      case .any, .some: return try parseQuantified(.any)
      case .all: return try parseQuantified(.all)
      case .none:
        let inner: Operand = try parseQuantified(.any)
        return .predicate(.compound(.not, [try predicate(of: inner)]), depth: try checked(inner.depth + 1))
      default: return try parsePostfix()
      }
    case .variable(let name) where peek().kind == .mark(.assign):
      advance()
      advance()
      let (value, depth) = try parseExpression()
      return .expression(.assignment(variable: name, value), depth: try checked(depth + 1))
    default: return try parsePostfix()
    }
  }

  /// A minus sign before a number is part of the number.
  private static func negated(_ node: ExpressionNode) -> PredicateValue? {
    guard case .constant(let value) = node else { return nil }
    switch value {
    case .integer(let value): return .integer(-value)
    case .unsigned(1 << 63): return .integer(.min)
    case .unsigned(let value): return .double(-Double(value))
    case .double(let value): return .double(-value)
    default: return nil
    }
  }

  private mutating func parseQuantified(_ modifier: ComparisonModifier) throws(PredicateError) -> Operand {
    advance()
    let (left, depth) = try parseExpression()
    guard case .comparison? = currentInfix() else { throw missingOperator() }
    return try parseComparison(modifier: modifier, left: left, leftDepth: depth)
  }

  // MARK: Comparisons

  private mutating func parseComparison(
    modifier: ComparisonModifier, left: ExpressionNode, leftDepth: Int
  ) throws(PredicateError) -> Operand {
    let comparison: ComparisonOperator
    var selector: String?
    switch current.kind {
    case .mark(let mark):
      comparison = mark.comparison ?? .equalTo
      advance()
    case .identifier(_, let word?):
      comparison = word.comparison ?? .equalTo
      advance()
    default:
      comparison = .customSelector
      selector = try parseSelector(isComparison: true)
    }
    let options: ComparisonOptions = try parseOptions()
    let (right, depth) = try parseExpression()
    let node: ComparisonNode = ComparisonNode(
      left: left, right: right, modifier: modifier, comparison: comparison, options: options,
      selector: selector)
    return .predicate(.comparison(node), depth: try checked(1 + max(leftDepth, depth)))
  }

  /// `name:` or `name:name:`. After a comparison's selector a space ends it: in `a hasPrefix: sum:(b)` the
  /// second name is a function's.
  mutating func parseSelector(isComparison: Bool = false) throws(PredicateError) -> String {
    var selector: String = ""
    var end: Int = current.start
    while case .identifier(let name, _) = current.kind, peek().kind == .mark(.colon) {
      if isComparison, current.start != end { break }
      selector += "\(name):"
      advance()
      end = current.end
      advance()
    }
    return selector
  }

  private mutating func parseOptions() throws(PredicateError) -> ComparisonOptions {
    guard skip(.leftBracket) else { return [] }
    guard case .identifier(let letters, _) = current.kind else { throw unexpected("options such as [cd]") }
    guard let options = ComparisonOptions(letters: letters) else {
      throw unexpected(
        "options such as [cd]",
        hint:
          "The letters: c ignores case, d ignores diacritics, n compares literally, l follows the locale.")
    }
    advance()
    try require(.rightBracket, "after the options")
    return options
  }
}
