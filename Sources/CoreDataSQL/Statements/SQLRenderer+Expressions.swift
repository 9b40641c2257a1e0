// Renders expressions.
extension SQLRenderer {
  /// The precedence of an operator; an operand with a lower one gets parentheses.
  enum Strength: Int, Comparable {
    case loosest, or, and, comparison, arithmetic, unary, primary
    static func < (left: Strength, right: Strength) -> Bool { left.rawValue < right.rawValue }
  }

  private func strength(of expression: SQLExpression) -> Strength {
    switch expression {
    case .any: .or
    case .all: .and
    case .isNull, .isNotNull, .isNotTrue, .between, .inList, .inArray, .inSelect: .comparison
    case .exists(_, let isNegated): isNegated ? .comparison : .primary
    case .binary(let symbol, _, _):
      switch symbol {
      case .equal, .same, .notSame, .unequal, .less, .lessOrEqual, .greater, .greaterOrEqual, .matchesPattern:
        .comparison
      case .add, .subtract, .multiply, .divide, .remainder, .bitAnd, .bitOr, .bitXor, .shiftLeft, .shiftRight:
        .arithmetic
      }
    case .negative, .bitNot, .noIndex: .unary
    case .column, .tableColumn, .bound, .constant, .parameter, .numbered, .integer, .null, .truth, .scalar,
      .function,
      .aggregate, .builtin, .countRows,
      .choice, .cast, .distinct, .named, .enclosed:
      .primary
    }
  }

  mutating func write(
    _ expression: SQLExpression, inside outer: Strength, allowing same: Strength = .primary
  ) {
    let own: Strength = strength(of: expression)
    // Adjacent operators of one precedence get parentheses, because few readers know SQL's rules by heart.
    let needsParentheses: Bool = own < outer || (own == outer && own != same && own != .primary)
    if needsParentheses { sql += "(" }
    body(expression)
    if needsParentheses { sql += ")" }
  }

  private mutating func body(_ expression: SQLExpression) {
    switch expression {
    case .column(let alias, let name):
      if let alias { sql += "\(alias)." }
      sql += dialect.identifier(name)
    case .tableColumn(let table, let name):
      sql += dialect.table(table)
      sql += "."
      sql += dialect.identifier(name)
    case .bound(let value): bind(value)
    case .constant(let value, let use): bind(value, use: use)
    case .parameter(let position): sql += dialect.placeholder(position)
    case .numbered(let position): sql += dialect.numberedPlaceholder(position)
    case .integer(let value): sql += "\(value)"
    case .null: sql += "NULL"
    case .truth(let value): sql += dialect.truth(value)
    case .binary(let symbol, let left, let right):
      let own: Strength = strength(of: expression)
      write(left, inside: own)
      sql += " \(dialect.symbol(symbol)) "
      write(right, inside: own)
    case .negative(let operand): prefix("-", operand)
    case .bitNot(let operand): prefix("~", operand)
    case .noIndex(let operand): prefix(dialect.indexBarrier, operand)
    case .all(let members): chain(members[...], " AND ")
    case .any(let members): chain(members[...], " OR ")
    case .isNull(let operand): suffix(operand, " IS NULL")
    case .isNotNull(let operand): suffix(operand, isTrigger ? " NOT NULL" : " IS NOT NULL")
    case .isNotTrue(let operand):
      sql += "("
      write(operand, inside: .loosest)
      sql += ") IS NOT TRUE"
    case .between(let value, let low, let high):
      write(value, inside: .comparison)
      sql += " BETWEEN "
      write(low, inside: .comparison)
      sql += " AND "
      write(high, inside: .comparison)
    case .inList(let value, let members):
      write(value, inside: .comparison)
      sql += " IN ("
      list(members)
      sql += ")"
    case .inArray(let value, let array):
      write(value, inside: .comparison)
      sql += " = ANY("
      write(array, inside: .loosest)
      sql += ")"
    case .inSelect(let value, let select):
      write(value, inside: .comparison)
      sql += " IN ("
      write(select)
      sql += ")"
    case .exists(let select, let isNegated):
      sql += isNegated ? "NOT EXISTS (" : "EXISTS ("
      write(select)
      sql += ")"
    case .scalar(let select):
      sql += "("
      write(select)
      sql += ")"
    case .function(let function, let arguments): call(dialect.name(function), arguments)
    case .aggregate(let function, let arguments): call(dialect.name(function), arguments)
    case .builtin(let name, let arguments): call(name, arguments)
    case .distinct(let operand):
      sql += "DISTINCT "
      write(operand, inside: .loosest)
    case .named(let operand, let name):
      write(operand, inside: .loosest)
      sql += " AS \(dialect.identifier(name))"
    case .countRows: sql += "COUNT(*)"
    case .choice(let condition, let then, let otherwise):
      sql += "CASE WHEN "
      write(condition, inside: .loosest)
      sql += " THEN "
      write(then, inside: .loosest)
      sql += " ELSE "
      write(otherwise, inside: .loosest)
      sql += " END"
    case .cast(let operand, let type):
      sql += "CAST("
      write(operand, inside: .loosest)
      sql += " AS \(dialect.type(type)))"
    case .enclosed(let operand):
      sql += "("
      write(operand, inside: .loosest)
      sql += ")"
    }
  }

  mutating func call(_ name: String, _ arguments: [SQLExpression]) {
    sql += "\(name)("
    list(arguments)
    sql += ")"
  }

  private mutating func prefix(_ mark: String, _ operand: SQLExpression) {
    sql += mark
    write(operand, inside: .unary)
  }

  private mutating func suffix(_ operand: SQLExpression, _ text: String) {
    write(operand, inside: .comparison)
    sql += text
  }

  /// Long chains are grouped into balanced parentheses: SQLite refuses expressions deeper than 1000, and the
  /// tree of `a AND b AND c` is as deep as the chain is long.
  private mutating func chain(_ members: ArraySlice<SQLExpression>, _ word: String) {
    let group: Int = 64
    if members.count <= group {
      for (index, member) in members.enumerated() {
        if index > 0 { sql += word }
        // A conjunction among alternatives would need none, but parentheses make it easier to read.
        write(member, inside: .comparison, allowing: .comparison)
      }
      return
    }
    var size: Int = group
    while size * group < members.count { size *= group }
    var start: Int = members.startIndex
    while start < members.endIndex {
      let end: Int = min(start + size, members.endIndex)
      if start > members.startIndex { sql += word }
      sql += "("
      chain(members[start..<end], word)
      sql += ")"
      start = end
    }
  }
}
