/// One token of a format and its position, in bytes of the UTF-8 text.
struct Token: Sendable {
  var kind: TokenKind
  var start: Int
  var end: Int
}

enum TokenKind: Sendable, Equatable {
  case end
  /// A number; `isSeconds` when it was written with exactly six decimals, as dates print.
  case number(PredicateValue, isSeconds: Bool)
  case string(String)
  /// An identifier; `word` if it spells a keyword and was not escaped with `#`.
  case identifier(String, word: Word?)
  /// `$name`
  case variable(String)
  /// `@name`
  case collectionOperator(String)
  case specifier(Specifier)
  case mark(Mark)
  /// Text that is no token, and the reason.
  case invalid(found: String, hint: String?)
}

/// The type of a `%` specifier.
enum Specifier: Sendable, Equatable {
  case object
  case keyPath
  case integer
  case double
  case character
  case string
}

enum Mark: String, Sendable {
  case leftParenthesis = "("
  case rightParenthesis = ")"
  case leftBrace = "{"
  case rightBrace = "}"
  case leftBracket = "["
  case rightBracket = "]"
  case comma = ","
  case dot = "."
  case colon = ":"
  case assign = ":="
  case plus = "+"
  case minus = "-"
  case times = "*"
  case power = "**"
  case divide = "/"
  case bitAnd = "&"
  case bitOr = "|"
  case bitXor = "^"
  case leftShift = "<<"
  case rightShift = ">>"
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case and = "&&"
  case or = "||"
  case not = "!"

  /// The comparison operator of the mark.
  var comparison: ComparisonOperator? {
    switch self {
    case .equal: .equalTo
    case .notEqual: .notEqualTo
    case .less: .lessThan
    case .lessOrEqual: .lessThanOrEqualTo
    case .greater: .greaterThan
    case .greaterOrEqual: .greaterThanOrEqualTo
    default: nil
    }
  }
}
