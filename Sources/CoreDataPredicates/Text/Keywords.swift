/// The keywords of formats, in any case.
package enum Word: String, CaseIterable, Sendable {
  case and = "AND"
  case or = "OR"
  case not = "NOT"
  case `in` = "IN"
  case all = "ALL"
  case any = "ANY"
  case some = "SOME"
  case none = "NONE"
  case like = "LIKE"
  case matches = "MATCHES"
  case contains = "CONTAINS"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  case between = "BETWEEN"
  case tokenMatches = "TOKENMATCHES"
  case utiConformsTo = "UTI-CONFORMS-TO"
  case utiEquals = "UTI-EQUALS"
  case null = "NULL"
  case `nil` = "NIL"
  case `self` = "SELF"
  case `true` = "TRUE"
  case yes = "YES"
  case `false` = "FALSE"
  case no = "NO"
  case first = "FIRST"
  case last = "LAST"
  case size = "SIZE"
  case anyKey = "ANYKEY"
  case subquery = "SUBQUERY"
  case fetch = "FETCH"
  case cast = "CAST"
  case function = "FUNCTION"
  case ternary = "TERNARY"
  case union = "UNION"
  case intersect = "INTERSECT"
  case minus = "MINUS"
  case apply = "APPLY"
  case caseInsensitive = "CASEINSENSITIVE"
  case ci = "CI"
  case truePredicate = "TRUEPREDICATE"
  case falsePredicate = "FALSEPREDICATE"

  /// The keyword that this identifier spells. Nearly all identifiers are no keywords, so the length is
  /// checked first.
  init?(identifier: some StringProtocol) {
    guard (2...15).contains(identifier.utf8.count), let word = Word(rawValue: identifier.uppercased()) else {
      return nil
    }
    self = word
  }

  /// Keywords that are special in one position and are keys anywhere else: `size == 3`, `box.first`.
  var isSoft: Bool {
    switch self {
    case .first, .last, .size, .apply, .function, .ternary, .tokenMatches: true
    default: false
    }
  }

  /// The keywords that are comparison operators.
  static let operators: [String] = allCases.filter { $0.comparison != nil }.map(\.rawValue)

  /// The comparison operator of the keyword.
  var comparison: ComparisonOperator? {
    switch self {
    case .in: .in
    case .like: .like
    case .matches: .matches
    case .contains: .contains
    case .beginsWith: .beginsWith
    case .endsWith: .endsWith
    case .between: .between
    case .tokenMatches: .tokenMatches
    case .utiConformsTo: .utiConformsTo
    case .utiEquals: .utiEquals
    default: nil
    }
  }
}

/// What other modules need of the keywords.
package enum FormatWords {
  /// Whether a key of this name must be written with a `#` before it.
  package static func areReserved(_ name: String) -> Bool {
    Word(identifier: name).map { !$0.isSoft } ?? false
  }
}
