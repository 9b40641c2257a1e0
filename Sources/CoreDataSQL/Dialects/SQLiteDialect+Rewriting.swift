import CoreDataPredicates
import CoreDataStorage

// Meanings that SQLite spells differently:
//
//     name CONTAINS 'a'        instr(ZNAME, ?) > 0
//     name ENDSWITH 'a'        substr(CAST(ZNAME AS BLOB), -length(CAST(? AS BLOB))) = CAST(? AS BLOB)
//     name BEGINSWITH 'ab'     ZNAME >= ? AND ZNAME < ?          "ab" and "ac"; an index serves it
//     name CONTAINS[c] 'a'     CLARUS_SEARCH(ZNAME, ?, 0, 1)
//     name <[c] 'b'            CLARUS_COMPARE(ZNAME, ?, 1) < 0
//     age IN {1, 2, 3}         ZAGE IN (?, ?, ?, ?)        long: IN (SELECT value FROM json_each(?))
//     random()                 CAST(random() & … AS REAL) / ?
extension SQLiteDialect {
  package func rewrite(_ node: SemanticNode) throws -> SQLExpression {
    switch node {
    case .textTest(let test, let text, let part, let options): textTest(test, text, part, options)
    case .ordered(let symbol, let left, let right, .text(let options)):
      .binary(
        symbol, .function(.compare, [left, right, .integer(Int64(options.rawValue))]), .integer(0))
    case .ordered(let symbol, let left, let right, .decimals):
      .binary(symbol, .function(.compareDecimals, [left, right]), .integer(0))
    case .member(let value, let members): ListMembership.condition(value, members)
    case .computed(let symbol, let left, let right, let kind): computed(symbol, left, right, kind)
    case .negated(let value): .negative(value)
    case .quotient(let sum, let count): .binary(.divide, .cast(sum, .real), count)
    case .randomFraction:
      .binary(
        .divide, .cast(.binary(.bitAnd, .builtin("random", []), .integer(Self.fraction - 1)), .real),
        .bound(.real(Double(Self.fraction))))
    case .randomBelow(let bound):
      .choice(
        when: .binary(.greater, bound, .integer(0)),
        then: .binary(.remainder, .binary(.bitAnd, .builtin("random", []), .integer(.max)), bound),
        otherwise: .null)
    case .realOfDecimal(let decimal): real(ofDecimal: decimal)
    case .extreme(let isLeast, let value, .decimal): .aggregate(isLeast ? .min : .max, [value])
    case .extreme(let isLeast, let value, _): .builtin(isLeast ? "MIN" : "MAX", [value])
    case .function(let function, let arguments): .function(function, arguments)
    case .aggregate(let function, let arguments): .aggregate(function, arguments)
    }
  }

  /// 53 bits, below 1.
  private static let fraction: Int64 = 1 << 53

  // MARK: Text

  private func textTest(
    _ test: SQLTextTest, _ text: SQLExpression, _ part: SQLExpression, _ options: ComparisonOptions
  ) -> SQLExpression {
    let optionsValue: SQLExpression = .integer(Int64(options.rawValue))
    func search(_ kind: SQLSearchKind) -> SQLExpression {
      .function(.search, [text, part, .integer(kind.rawValue), optionsValue])
    }
    // SQLite's own functions would end the text at a NUL.
    let needle: String? = options.isLiteral ? part.boundText.flatMap { $0.utf8.contains(0) ? nil : $0 } : nil
    switch test {
    case .equal: return .function(.equal, [text, part, optionsValue])
    case .matches: return .function(.matches, [text, part, optionsValue])
    case .like:
      if let needle, let start = Comparison.prefix(ofPattern: needle) { return begins(text, with: start) }
      return .function(.like, [text, part, optionsValue])
    case .contains:
      return needle == nil
        ? search(.contains) : .binary(.greater, .builtin("instr", [text, part]), .integer(0))
    case .beginsWith: return needle.map { begins(text, with: $0) } ?? search(.beginsWith)
    case .endsWith:
      guard needle != nil else { return search(.endsWith) }
      // For text `substr` counts only the characters before the first NUL; for bytes it counts all.
      let (bytes, end): (SQLExpression, SQLExpression) = (.cast(text, .bytes), .cast(part, .bytes))
      return .binary(.equal, .builtin("substr", [bytes, .negative(.builtin("length", [end]))]), end)
    }
  }

  // MARK: Numbers

  /// SQLite's own operators return NULL where a real divided by zero is infinite, and drop the fraction if a
  /// real is stored as an integer.
  private func computed(
    _ symbol: SQLOperator, _ left: SQLExpression, _ right: SQLExpression, _ kind: SQLNumberKind
  ) -> SQLExpression {
    switch (symbol, kind) {
    case (.bitXor, _): return .function(.bitXor, [left, right])
    case (_, .whole): return .binary(symbol, left, right)
    case (.remainder, _): return .function(.modulus, [left, right])
    case (.divide, .mixed): return .function(.divide, [left, right])
    case (.divide, .real):
      let real: SQLExpression = .cast(left, .real)
      if case .bound(let divisor) = right, divisor != .real(0), divisor != .integer(0) {
        return .binary(.divide, real, right)
      }
      return .function(.divide, [real, right])
    default: return .binary(symbol, left, right)
    }
  }

  func real(ofDecimal decimal: SQLExpression) -> SQLExpression { .cast(number(decimal), .real) }

  /// A decimal as a number, exact if an integer or a real can represent it: a decimal with more digits is
  /// text (``DecimalText``).
  private func number(_ decimal: SQLExpression) -> SQLExpression {
    .choice(
      when: .binary(.equal, .builtin("typeof", [decimal]), .bound(.text("text"))),
      then: .function(.number, [decimal]), otherwise: decimal)
  }
}

extension SQLExpression {
  /// The bound text, if the expression is one.
  var boundText: String? {
    guard case .bound(.text(let text)) = self else { return nil }
    return text
  }
}

extension ComparisonOptions {
  /// Whether text is compared without folding: no options, or texts that are declared normalized.
  var isLiteral: Bool {
    contains(.normalized) || isDisjoint(with: [.caseInsensitive, .diacriticInsensitive, .localeSensitive])
  }
}
