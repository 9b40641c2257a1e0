import Foundation

extension Parser {
  /// An atom with the paths and indexes after it.
  mutating func parsePostfix() throws(PredicateError) -> Operand {
    let start: Token = current
    var isDotted: Bool = false
    var operand: Operand = try parseAtom()
    while true {
      if isAt(.dot) {
        let target: ExpressionNode = try expression(of: operand, at: start)
        advance()
        // `SELF.a` and `a` are the same path, so an index after it belongs to a plain key.
        if target != .evaluatedObject { isDotted = true }
        operand = .expression(try parseComponent(of: target), depth: try checked(operand.depth + 1))
      } else if isAt(.leftBracket) {
        let target: ExpressionNode = try expression(of: operand, at: start)
        advance()
        let (index, depth) = try parseIndex()
        let node: ExpressionNode =
          isDotted ? Self.indexLastComponent(of: target, index) : .index(target, index)
        isDotted = false
        operand = .expression(node, depth: try checked(1 + max(operand.depth, depth)))
      } else {
        return operand
      }
    }
  }

  /// `a.d[0]` is `a` followed by `d[0]`, as Apple reads it.
  private static func indexLastComponent(of target: ExpressionNode, _ index: IndexNode) -> ExpressionNode {
    let (path, base): (String, ExpressionNode?)
    switch target {
    case .keyPath(let text): (path, base) = (text, nil)
    case .path(let target, let text): (path, base) = (text, target)
    case .dynamicPath(let target, let key): return .dynamicPath(target, .index(key, index))
    default: return .index(target, index)
    }
    guard let dot = path.lastIndex(of: ".") else {
      let last: ExpressionNode = .index(.keyPath(path), index)
      return base.map { .dynamicPath($0, last) } ?? last
    }
    let start: String = String(path[..<dot])
    return .dynamicPath(
      base.map { .path($0, start) } ?? .keyPath(start),
      .index(.keyPath(String(path[path.index(after: dot)...])), index))
  }

  private mutating func parseComponent(of target: ExpressionNode) throws(PredicateError) -> ExpressionNode {
    switch current.kind {
    case .identifier(let name, let word):
      if let word, !word.isSoft { throw reserved(name) }
      advance()
      return .makePath(target, name)
    case .collectionOperator(let name):
      advance()
      return .makePath(target, "@\(name)")
    case .variable(let name):
      advance()
      return .dynamicPath(target, .variable(name))
    case .specifier(.keyPath):
      let path: String = try takeKeyPath()
      advance()
      return .makePath(target, path)
    default: throw unexpected("a key after the dot")
    }
  }

  private func reserved(_ name: String) -> PredicateError {
    unexpected(
      "a key", hint: "\"\(name)\" is a reserved word: as a key it is written #\(name), or passed with %K.")
  }

  private mutating func parseIndex() throws(PredicateError) -> (node: IndexNode, depth: Int) {
    if case .identifier(_, let word?) = current.kind, [.first, .last, .size].contains(word),
      peek().kind == .mark(.rightBracket)
    {
      advance()
      advance()
      return (word == .first ? .first : word == .last ? .last : .size, 0)
    }
    let (node, depth) = try parseExpression()
    try require(.rightBracket, "after the index")
    return (.at(node), depth)
  }

  // MARK: Atoms

  private mutating func parseAtom() throws(PredicateError) -> Operand {
    switch current.kind {
    case .number(let value, _):
      advance()
      return .expression(.constant(value), depth: 1)
    case .string(let text):
      advance()
      return .expression(.constant(.string(text)), depth: 1)
    case .variable(let name):
      advance()
      return .expression(.variable(name), depth: 1)
    case .collectionOperator(let name):
      advance()
      return .expression(.keyPath("@\(name)"), depth: 1)
    case .identifier(let name, let word): return try parseWord(name, word)
    case .specifier(let specifier): return try parseArgument(specifier)
    case .mark(.leftParenthesis):
      advance()
      let operand: Operand = try parse(.or)
      try require(.rightParenthesis, "to close the parenthesis")
      return operand
    case .mark(.leftBrace):
      advance()
      let (members, depth) = try parseList(until: .rightBrace)
      return .expression(.aggregate(members), depth: try checked(depth + 1))
    default: throw unexpected("an expression")
    }
  }

  private mutating func parseWord(_ name: String, _ word: Word?) throws(PredicateError) -> Operand {
    let isCall: Bool = peek().kind == .mark(.leftParenthesis)
    switch word {
    case .truePredicate?, .falsePredicate?:
      advance()
      return .predicate(.constant(word == .truePredicate), depth: 1)
    case .true?, .yes?: return constant(.bool(true))
    case .false?, .no?: return constant(.bool(false))
    case .null?, .nil?: return constant(.null)
    case .self?:
      advance()
      return .expression(.evaluatedObject, depth: 1)
    case .anyKey?:
      advance()
      return .expression(.anyKey, depth: 1)
    case .function? where isCall: return try parseMessage()
    case .cast? where isCall: return try parseCast()
    case .ternary? where isCall: return try parseTernary()
    case .subquery? where isCall: return try parseSubquery()
    case .fetch? where isCall: return try parseFetch()
    case let word? where !word.isSoft: throw reserved(name)
    default: break
    }
    let following: TokenKind = peek().kind
    if following == .mark(.leftParenthesis) || following == .mark(.colon) { return try parseCall() }
    advance()
    return .expression(.keyPath(name), depth: 1)
  }

  private mutating func constant(_ value: PredicateValue) -> Operand {
    advance()
    return .expression(.constant(value), depth: 1)
  }

  /// Expressions separated by commas, up to and including the closing mark.
  private mutating func parseList(
    until close: Mark
  ) throws(PredicateError) -> (members: [ExpressionNode], depth: Int) {
    var members: [ExpressionNode] = []
    var deepest: Int = 0
    if skip(close) { return ([], 0) }
    repeat {
      let (node, depth) = try parseExpression()
      members.append(node)
      deepest = max(deepest, depth)
    } while skip(.comma)
    guard skip(close) else { throw unexpected("\",\" or \"\(close.rawValue)\"") }
    return (members, deepest)
  }

  // MARK: Functions

  private mutating func parseCall() throws(PredicateError) -> Operand {
    let start: Token = current
    var name: String = try parseSelector()
    if name.isEmpty, case .identifier(let plain, _) = current.kind {
      name = plain
      advance()
    }
    try require(.leftParenthesis, "after the function's name")
    let (arguments, depth) = try parseList(until: .rightParenthesis)
    guard let function = BuiltinFunction(name: name, argumentCount: arguments.count) else {
      throw unknownFunction(name, argumentCount: arguments.count, at: start)
    }
    if function == .element {
      return .expression(.index(arguments[0], .at(arguments[1])), depth: try checked(depth + 1))
    }
    return .expression(
      .function(target: nil, name: function.selector, arguments: arguments),
      depth: try checked(depth + 1))
  }

  private func unknownFunction(_ name: String, argumentCount: Int, at token: Token) -> PredicateError {
    if let known = BuiltinFunction.named(name) {
      return error(
        at: token, found: "\(name)(…) with \(argumentCount) arguments",
        expected: "\(known.argumentCount) for the function \(known.selector)")
    }
    let near: [String] = NearestNames.of(name, among: BuiltinFunction.selectors)
    return error(
      at: token, found: "the unknown function \(name)", expected: "a function of the format language",
      hint: near.isEmpty ? nil : "Nearest: \(near.joined(separator: ", ")).")
  }

  /// `FUNCTION(target, 'selector:', …)`
  private mutating func parseMessage() throws(PredicateError) -> Operand {
    advance()
    advance()
    let (target, targetDepth) = try parseExpression()
    try require(.comma, "after FUNCTION's target")
    guard case .string(let selector) = current.kind else {
      throw unexpected("the selector as a quoted string, such as 'uppercaseString'")
    }
    advance()
    var arguments: [ExpressionNode] = []
    var depth: Int = targetDepth
    if skip(.comma) {
      if isAt(.rightParenthesis) { throw unexpected("an argument") }
      let (members, deepest) = try parseList(until: .rightParenthesis)
      arguments = members
      depth = max(depth, deepest)
    } else {
      try require(.rightParenthesis, "after FUNCTION's selector")
    }
    return .expression(
      .function(target: target, name: selector, arguments: arguments), depth: try checked(depth + 1))
  }

  private mutating func parseCast() throws(PredicateError) -> Operand {
    advance()
    advance()
    let seconds: Double? = currentSeconds()
    let (node, depth) = try parseExpression()
    try require(.comma, "after CAST's operand")
    guard case .string(let type) = current.kind else {
      throw unexpected("the type as a quoted string, such as 'NSDate'")
    }
    advance()
    try require(.rightParenthesis, "after CAST's type")
    // The form in which a date constant prints: parsed as the date again.
    if let seconds, type == "NSDate", case .constant = node {
      return .expression(.constant(.date(Date(timeIntervalSinceReferenceDate: seconds))), depth: 1)
    }
    return .expression(
      .function(target: nil, name: "castObject:toType:", arguments: [node, .constant(.string(type))]),
      depth: try checked(depth + 1))
  }

  /// The number at this position if it has the form of a date's seconds: six decimals, perhaps a minus sign.
  private mutating func currentSeconds() -> Double? {
    if case .number(.double(let value), isSeconds: true) = current.kind { return value }
    if isAt(.minus), case .number(.double(let value), isSeconds: true) = peek().kind { return -value }
    return nil
  }

  private mutating func parseTernary() throws(PredicateError) -> Operand {
    advance()
    advance()
    let (test, testDepth) = try parsePredicate()
    try require(.comma, "after TERNARY's predicate")
    let (then, thenDepth) = try parseExpression()
    try require(.comma, "after TERNARY's first value")
    let (otherwise, otherwiseDepth) = try parseExpression()
    try require(.rightParenthesis, "after TERNARY's second value")
    return .expression(
      .conditional(test, then, otherwise), depth: try checked(1 + max(testDepth, thenDepth, otherwiseDepth)))
  }

  private mutating func parseSubquery() throws(PredicateError) -> Operand {
    advance()
    advance()
    let (collection, collectionDepth) = try parseExpression()
    try require(.comma, "after SUBQUERY's collection")
    guard case .variable(let variable) = current.kind else { throw unexpected("a variable such as $x") }
    advance()
    try require(.comma, "after SUBQUERY's variable")
    let (test, testDepth) = try parsePredicate()
    try require(.rightParenthesis, "after SUBQUERY's predicate")
    return .expression(
      .subquery(collection: collection, variable: variable, predicate: test),
      depth: try checked(1 + max(collectionDepth, testDepth)))
  }

  private mutating func parseFetch() throws(PredicateError) -> Operand {
    advance()
    advance()
    let start: Token = current
    let (arguments, depth) = try parseList(until: .rightParenthesis)
    guard arguments.count == 3 else {
      throw error(
        at: start, found: "\(arguments.count) operands", expected: "FETCH(request, context, countOnly)")
    }
    return .expression(
      .fetch(request: arguments[0], context: arguments[1], countOnly: arguments[2]),
      depth: try checked(depth + 1))
  }
}
