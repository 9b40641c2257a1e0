import CoreDataPredicates
import CoreDataStorage
import Foundation

// How PostgreSQL expresses what SQLite's dialect needs its own functions for:
//
//     name CONTAINS 'a%'       name LIKE $1                        %a\%%; an index of trigrams serves it
//     name BEGINSWITH 'ab'     name >= $1 AND name < $2            columns compare by code points
//     name CONTAINS[cd] 'a'    strpos(clarus_fold(name, 3), clarus_fold($1, 3)) > 0
//     age IN {1, 2, 3}         age = ANY($1)                       one text for lists of any length
//     fee < 12.1               fee < $1                            exact, an index serves it
//     average                  CAST(SUM(x) AS double precision) / NULLIF(COUNT(*), 0)
//
// `clarus_fold` is a function that a store must define: it folds text as Foundation does (its options are
// those of a comparison).
extension PostgreSQLDialect {
  package func rewrite(_ node: SemanticNode) throws -> SQLExpression {
    switch node {
    case .textTest(let test, let text, let part, let options): return try textTest(test, text, part, options)
    case .ordered(let symbol, let left, let right, .text(let options)):
      return .binary(symbol, try folded(left, options), try folded(right, options))
    case .ordered(let symbol, let left, let right, .decimals): return .binary(symbol, left, right)
    case .member(let value, let members): return member(value, members)
    case .computed(let symbol, let left, let right, .whole)
    where symbol == .bitAnd || symbol == .bitOr || symbol == .bitXor:
      return .binary(symbol, .cast(left, .integer), .cast(right, .integer))
    case .computed(let symbol, _, _, _):
      throw unsupported("arithmetic (\(symbol))", "PostgreSQL fails where a result is out of range")
    case .negated: throw unsupported("-", "PostgreSQL fails where a result is out of range")
    case .quotient(let sum, let count):
      return .binary(.divide, .cast(sum, .real), .builtin("NULLIF", [count, .integer(0)]))
    case .randomFraction: return .builtin("random", [])
    case .randomBelow(let bound):
      let product: SQLExpression = .binary(.multiply, .builtin("random", []), .cast(bound, .real))
      return .choice(
        when: .binary(.greater, bound, .integer(0)), then: .cast(.builtin("floor", [product]), .integer),
        otherwise: .null)
    case .realOfDecimal(let decimal): return .cast(decimal, .real)
    case .extreme(_, _, .bytes):
      throw unsupported("min and max", "PostgreSQL has none of UUIDs and data")
    case .extreme(let isLeast, let value, _): return .builtin(isLeast ? "MIN" : "MAX", [value])
    case .function(let function, let arguments): return try called(function, arguments)
    case .aggregate(let function, let arguments):
      switch function {
      case .sum, .wholeSum: return .builtin("SUM", arguments)
      case .min, .max: return .builtin(function == .min ? "MIN" : "MAX", arguments)
      case .average, .median, .deviation:
        throw unsupported("\(function)", "PostgreSQL computes it with other digits than memory does")
      }
    }
  }

  package func rewrite(_ term: SQLOrderTerm) throws -> SQLOrderTerm {
    guard let collation = term.collation else { return term }
    guard collation == .caseInsensitive else {
      throw unsupported("an order by a locale", "the server's locales differ from those of Foundation")
    }
    return SQLOrderTerm(try folded(term.expression, .caseInsensitive), ascending: term.ascending)
  }

  // MARK: Functions

  private func called(_ function: SQLFunction, _ arguments: [SQLExpression]) throws -> SQLExpression {
    switch function {
    case .decimalKey: return arguments[0]
    case .floor: return .builtin("floor", arguments)
    case .ceiling: return .builtin("ceil", arguments)
    case .truncate: return .builtin("trunc", arguments)
    default:
      throw unsupported(
        function.builtin?.selector ?? "\(function)",
        "PostgreSQL has no function that gives the same for every value and fails for none")
    }
  }

  // MARK: Text

  private func textTest(
    _ test: SQLTextTest, _ text: SQLExpression, _ part: SQLExpression, _ options: ComparisonOptions
  ) throws -> SQLExpression {
    if test == .matches {
      throw unsupported("MATCHES", "PostgreSQL's regular expressions are not those of ICU")
    }
    if test == .equal {
      let symbol: SQLOperator = part.boundText == nil ? .same : .equal
      return .binary(symbol, try folded(text, options), try folded(part, options))
    }
    if options.isLiteral, let constant = part.boundText { return literalTest(test, text, constant) }
    if test == .like {
      throw unsupported("LIKE", "its marks are PostgreSQL's only in a constant pattern without options")
    }
    let (whole, piece): (SQLExpression, SQLExpression) = (
      try folded(text, options), try folded(part, options)
    )
    let found: SQLExpression =
      switch test {
      case .contains: .binary(.greater, .builtin("strpos", [whole, piece]), .integer(0))
      case .beginsWith: .builtin("starts_with", [whole, piece])
      default: .binary(.equal, .builtin("right", [whole, .builtin("length", [piece])]), piece)
      }
    // An empty part is found in no text; a constant part is not empty.
    return part.boundText == nil ? .all([found, .binary(.unequal, part, .text(""))]) : found
  }

  private func literalTest(_ test: SQLTextTest, _ text: SQLExpression, _ constant: String) -> SQLExpression {
    // No text of the database has a NUL.
    if constant.utf8.contains(0) { return .truth(false) }
    func like(_ pattern: String) -> SQLExpression { .binary(.matchesPattern, text, .text(pattern)) }
    switch test {
    case .beginsWith: return begins(text, with: constant)
    case .contains: return like("%\(Self.escaped(constant))%")
    case .endsWith: return like("%\(Self.escaped(constant))")
    default:
      return Comparison.prefix(ofPattern: constant).map { begins(text, with: $0) }
        ?? like(Self.pattern(constant))
    }
  }

  /// Escapes the wildcards of `LIKE`.
  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("%", with: "\\%").replacing("_", with: "\\_")
  }

  /// Translates a pattern of predicates into SQL's wildcards.
  private static func pattern(_ mask: String) -> String {
    var result: String = ""
    var isEscaped: Bool = false
    for scalar in mask.unicodeScalars {
      switch scalar {
      case "\\" where !isEscaped:
        isEscaped = true
        continue
      case "*" where !isEscaped: result += "%"
      case "?" where !isEscaped: result += "_"
      default: result += escaped(String(scalar))
      }
      isEscaped = false
    }
    return isEscaped ? result + "\\\\" : result
  }

  /// Folds a text so that texts are equal exactly if the options make them equal.
  private func folded(_ text: SQLExpression, _ options: ComparisonOptions) throws -> SQLExpression {
    if options.isLiteral { return text }
    if options.contains(.localeSensitive) {
      throw unsupported("the option l", "the server's locales differ from those of Foundation")
    }
    let meant: ComparisonOptions = options.intersection([.caseInsensitive, .diacriticInsensitive])
    return .builtin(table("clarus_fold"), [text, .integer(Int64(meant.rawValue))])
  }

  // MARK: Lists

  /// One array for the members of each kind, because an array has one type.
  private func member(_ value: SQLExpression, _ members: [SQLValue]) -> SQLExpression {
    if members.count == 1 { return .binary(.equal, value, .bound(members[0])) }
    var kinds: [(name: String, members: [SQLValue])] = []
    for member in members {
      if let known = kinds.firstIndex(where: { $0.name == member.kindName }) {
        kinds[known].members.append(member)
      } else {
        kinds.append((member.kindName, [member]))
      }
    }
    return .disjunction(kinds.map { .inArray(value, .bound(.list($0.members))) })
  }
}

extension SQLValue {
  fileprivate var kindName: String {
    switch self {
    case .null: "null"
    case .integer: "integer"
    case .real: "real"
    case .text: "text"
    case .blob: "blob"
    case .boolean: "boolean"
    case .timestamp: "timestamp"
    case .uuid: "uuid"
    case .decimal: "decimal"
    case .list: "list"
    }
  }
}
