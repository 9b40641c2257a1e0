import Foundation

/// Parses a format and its arguments into a tree.
///
/// One routine climbs the operators by binding power, from `OR` to `**`. Predicates and expressions use the
/// same routine and become an ``Operand``: an open parenthesis may hold either, and which one it was is known
/// when it closes. So nothing is ever parsed twice, and a sequence of open parentheses costs linear time.
///
/// ```
/// power  1  OR ||                   5  UNION INTERSECT MINUS    9  ** (left)
///        2  AND &&                  6  & | ^ << >>              -  prefix
///        3  NOT ! (prefix)          7  + -                      .  [ ]  postfix
///        4  == < IN … (single)      8  * /
/// ```
///
/// The depth of the tree is limited (``TreeLimits/depth``) while parsing, so that no later walk over it can
/// overflow the stack; deeply nested formats are parsed on a separate stack (`Parser+Stack.swift`).
package struct Parser {
  private let format: String
  private var lexer: Lexer
  private(set) var current: Token
  private var following: Token?
  private var arguments: [Any?]
  private var nextArgument: Int = 0
  /// The positions of arguments, if the tree is to contain marks in place of them; nil if it contains the
  /// arguments.
  private(set) var marks: [ArgumentMark]?
  /// Arguments that are key paths, by number.
  private(set) var keyPathArguments: [(number: Int, path: String)] = []
  /// Whether an argument is itself part of the tree.
  var hasTreeArguments: Bool = false
  private var nesting: Int = 0
  /// The position where the last string literal ended.
  private var stringEnd: Int = -1

  private let nestingLimit: Int
  /// Whether parsing ended because the format is nested deeper than `nestingLimit`.
  private(set) var isOutOfNesting: Bool = false

  init(_ format: String, arguments: [Any?], nestingLimit: Int) {
    self.format = format
    self.nestingLimit = nestingLimit
    self.arguments = arguments
    lexer = Lexer(format)
    current = lexer.next()
  }

  /// The predicate of a format; a format that was parsed before is not parsed again. Extra arguments are
  /// ignored.
  ///
  /// - Throws: ``PredicateError`` naming the position.
  package static func predicate(_ format: String, arguments: [Any?] = []) throws(PredicateError)
    -> PredicateNode
  {
    try FormatCache.shared.predicate(format, arguments).node
  }

  /// Parses a predicate.
  ///
  /// - Throws: ``PredicateError`` naming the position.
  static func parse(_ format: String, _ arguments: [Any?]) throws(PredicateError) -> PredicateNode {
    try run(format, arguments) { (parser) throws(PredicateError) in try parser.parseWholePredicate() }
  }

  /// A predicate with marks in the positions of its arguments; nil for one that is nested deeply, is
  /// malformed, or has predicates or expressions as arguments.
  static func template(
    _ format: String, _ arguments: [Any?]
  ) -> (node: PredicateNode, marks: [ArgumentMark], keyPaths: [(number: Int, path: String)])? {
    var parser: Parser = Parser(format, arguments: arguments, nestingLimit: shallowNesting)
    parser.marks = []
    guard let node = try? parser.parseWholePredicate(), !parser.hasTreeArguments else { return nil }
    return (node, parser.marks ?? [], parser.keyPathArguments)
  }

  /// Parses an expression.
  ///
  /// - Throws: ``PredicateError`` naming the position.
  package static func expression(_ format: String, arguments: [Any?] = []) throws(PredicateError)
    -> ExpressionNode
  {
    try run(format, arguments) { (parser) throws(PredicateError) in try parser.parseWholeExpression() }
  }

  private mutating func parseWholePredicate() throws(PredicateError) -> PredicateNode {
    let operand: Operand = try parse(.or)
    if case .expression = operand {
      throw missingOperator()
    }
    let predicate: PredicateNode = try predicate(of: operand)
    guard current.kind == .end else { throw unexpected("AND, OR or the end") }
    return predicate
  }

  private mutating func parseWholeExpression() throws(PredicateError) -> ExpressionNode {
    let expression: ExpressionNode = try parseExpression().node
    guard current.kind == .end else {
      throw unexpected(
        "an operator or the end", hint: "A comparison is a predicate, not an expression.")
    }
    return expression
  }

  // MARK: Tokens

  mutating func advance() {
    if case .string = current.kind { stringEnd = current.end }
    if let token = following {
      current = token
      following = nil
    } else {
      current = lexer.next()
    }
  }

  mutating func peek() -> Token {
    if let token = following { return token }
    let token: Token = lexer.next()
    following = token
    return token
  }

  func isAt(_ mark: Mark) -> Bool {
    current.kind == .mark(mark)
  }

  mutating func skip(_ mark: Mark) -> Bool {
    guard isAt(mark) else { return false }
    advance()
    return true
  }

  mutating func require(_ mark: Mark, _ purpose: String) throws(PredicateError) {
    guard skip(mark) else { throw unexpected("\"\(mark.rawValue)\" \(purpose)") }
  }

  // MARK: Errors

  func unexpected(_ expected: String, hint: String? = nil) -> PredicateError {
    error(at: current, expected: expected, hint: hint)
  }

  func error(at token: Token, found: String? = nil, expected: String, hint: String? = nil) -> PredicateError {
    var hint: String? = hint
    let description: String
    switch token.kind {
    case .end: description = "the end"
    case .invalid(let text, let cure):
      description = text
      hint = cure ?? hint
    default:
      let text: ArraySlice<UInt8> = lexer.text[token.start..<token.end]
      let shown: String = String(decoding: text.prefix(40), as: UTF8.self)
      description = text.count > 40 ? "\"\(shown)…\"" : "\"\(shown)\""
    }
    if hint == nil, token.start == stringEnd, token.kind != .end {
      hint = "A quote inside a string is escaped with a backslash; pass text from elsewhere with %@."
    }
    if hint == nil, lexer.sawQuotedSpecifier {
      hint = "A specifier inside quotes is ordinary text: write %@ without quotes."
    }
    let position: Int = String(decoding: lexer.text[..<token.start], as: UTF8.self).count
    return .parsing(format, position: position, found: found ?? description, expected: expected, hint: hint)
  }

  // MARK: Arguments

  mutating func takeArgument() throws(PredicateError) -> Any? {
    guard nextArgument < arguments.count else {
      throw error(
        at: current, expected: "argument \(nextArgument + 1)",
        hint: "The format takes more arguments than the \(arguments.count) passed.")
    }
    defer { nextArgument += 1 }
    return Self.unwrapped(arguments[nextArgument])
  }

  /// An argument without the optional inside its `Any`, which would hide its value.
  static func unwrapped(_ argument: Any?) -> Any? {
    guard let argument else { return nil }
    // Asking for the protocol costs more than parsing a short format.
    let type: Any.Type = Swift.type(of: argument)
    if type == Int64.self || type == Int.self || type == String.self || type == Double.self {
      return argument
    }
    if let optional = argument as? any UnwrappableOptional { return optional.unwrapped }
    return argument
  }

  /// The constant for the argument that was read last.
  mutating func constant(_ value: PredicateValue, _ specifier: Specifier) -> ExpressionNode {
    guard marks != nil else { return .constant(value) }
    let mark: ArgumentMark = .init(
      box: ObjectBox(specifier), number: nextArgument - 1, specifier: specifier)
    marks?.append(mark)
    return .constant(.object(mark.box))
  }

  mutating func noteKeyPath(_ path: String) { keyPathArguments.append((nextArgument - 1, path)) }

  // MARK: Nesting

  mutating func enter() throws(PredicateError) {
    nesting += 1
    guard nesting > nestingLimit else { return }
    isOutOfNesting = true
    throw tooDeep()
  }

  mutating func leave() {
    nesting -= 1
  }

  func checked(_ depth: Int) throws(PredicateError) -> Int {
    if depth > TreeLimits.depth { throw tooDeep() }
    return depth
  }

  private func tooDeep() -> PredicateError {
    error(
      at: current, expected: "at most \(TreeLimits.depth) levels of nesting",
      hint:
        "Members of one AND, OR or {…} are not nested and may be any number; build the rest as separate predicates."
    )
  }

  // MARK: Kinds

  func predicate(of operand: Operand) throws(PredicateError) -> PredicateNode {
    guard case .predicate(let node, _) = operand else { throw missingOperator() }
    return node
  }

  /// The error for an expression that ends here and should have been compared with something.
  func missingOperator() -> PredicateError {
    let hint: String?
    switch current.kind {
    case .end: hint = "An expression alone is no predicate: compare it with something."
    case .identifier(_, .not?): hint = "NOT stands before the whole comparison: NOT a IN b."
    case .identifier(let name, nil) where name.uppercased() == "IS":
      hint = "A missing value is tested with == nil."
    case .identifier(let name, nil):
      let near: [String] = NearestNames.of(name, among: Word.operators)
      hint = near.isEmpty ? nil : "Did you mean \(near.joined(separator: " or "))?"
    default: hint = nil
    }
    return unexpected("a comparison operator", hint: hint)
  }

  func expression(of operand: Operand, at token: Token) throws(PredicateError) -> ExpressionNode {
    guard case .expression(let node, _) = operand else {
      throw error(
        at: token, found: "a predicate", expected: "an expression",
        hint: "A comparison has one operator; join several with AND or OR.")
    }
    return node
  }

  mutating func parseExpression() throws(PredicateError) -> (node: ExpressionNode, depth: Int) {
    let start: Token = current
    let operand: Operand = try parse(.set)
    return (try expression(of: operand, at: start), operand.depth)
  }

  mutating func parsePredicate() throws(PredicateError) -> (node: PredicateNode, depth: Int) {
    let operand: Operand = try parse(.or)
    return (try predicate(of: operand), operand.depth)
  }
}

/// The result of parsing a part of a format, and the depth of its tree.
enum Operand {
  case predicate(PredicateNode, depth: Int)
  case expression(ExpressionNode, depth: Int)

  var depth: Int {
    switch self {
    case .predicate(_, let depth), .expression(_, let depth): depth
    }
  }
}

/// Binding powers, loosest first.
enum Power: Int, Comparable {
  case or = 1
  case and
  case not
  case comparison
  case set
  case bits
  case sum
  case product
  case power
  case prefix

  static func < (left: Power, right: Power) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The minimum binding power of the right operand of a left-associative operator.
  var tighter: Power {
    Power(rawValue: rawValue + 1) ?? .prefix
  }
}
