import CoreDataPredicates
import CoreDataStorage

extension PredicateCompiler {
  /// Resolves one side of a comparison.
  func operand(_ expression: ExpressionNode, _ scope: PredicateScope) throws -> Operand {
    switch expression {
    case .constant(let value): return .constant(value)
    case .variable(let name) where scope.values[name] != nil: return scope.values[name] ?? .constant(.null)
    case .evaluatedObject, .keyPath, .variable, .path(.variable, _), .path(.evaluatedObject, _):
      let (start, path) = try startOfPath(expression, scope)
      let text: String = Printer.print(expression)
      let resolved: Operand = try paths.resolve(path, from: start ?? scope.object, path: text)
      if case .members(let many) = resolved, many.rest.first?.hasPrefix("@") == true {
        return try aggregate(many, text: text)
      }
      return resolved
    case .path(.subquery(let collection, let variable, let predicate), "@count"):
      return try count(of: collection, variable: variable, predicate: predicate, scope)
    case .index(.subquery(let collection, let variable, let predicate), .size):
      return try count(of: collection, variable: variable, predicate: predicate, scope)
    case .path(let target, let path): return try pathBelow(target, path, expression, scope)
    case .aggregate(let members):
      let parts: [Operand] = try members.map { try operand($0, scope) }
      let constants: [PredicateValue] = parts.compactMap {
        if case .constant(let value) = $0 { value } else { nil }
      }
      return constants.count == parts.count ? .constant(.array(constants)) : .list(parts)
    case .function(nil, let name, let arguments):
      if isConstant(expression) { return .constant(try ExpressionProgram(expression).value(nil)) }
      return try function(name, arguments, expression, scope)
    case .function(.some, _, _):
      throw unsupported(
        expression, "FUNCTION with a target runs code of the program, which a database can't",
        "use a built-in function, or filter the fetched objects")
    case .conditional(let predicate, let then, let otherwise):
      return try conditional(predicate, then, otherwise, expression, scope)
    case .subquery:
      throw unsupported(
        expression, "a subquery is a collection; a store can only count its members",
        "append .@count and compare it with a number")
    case .index:
      throw unsupported(
        expression, "stores have no positions in collections",
        "use a sort order with a fetch limit, or filter the fetched objects")
    case .set:
      throw unsupported(
        expression, "UNION, INTERSECT and MINUS have no counterpart in a fetch",
        "combine conditions with OR, AND and NOT")
    case .dynamicPath, .assignment, .fetch, .anyKey, .block:
      throw unsupported(
        expression, "a database can't evaluate it", "rewrite the condition, or filter the fetched objects")
    }
  }

  /// `SUBQUERY(collection, $v, predicate).@count`; nil on the way to the collection counts as empty.
  private func count(
    of collection: ExpressionNode, variable: String, predicate: PredicateNode, _ scope: PredicateScope
  ) throws -> Operand {
    let (start, path) = try startOfPath(collection, scope)
    let text: String = Printer.print(collection)
    guard let start, case .members(var many) = try paths.resolve(path, from: start, path: text) else {
      throw unsupported(
        collection, "SUBQUERY needs a to-many relationship in a store",
        "give it a path such as items or owner.items")
    }
    let frame = SelectFrame(aliases: start.frame.aliases)
    var links: [SQLExpression] = []
    var member: ObjectPlace
    while true {
      let entered: EnteredMembers = try paths.enter(many, in: frame, path: text)
      links.append(entered.link)
      member = entered.member
      if many.rest.isEmpty { break }
      switch try paths.resolve(many.rest, from: member, path: text) {
      case .members(let next):
        many = next
        continue
      default:
        throw unsupported(
          collection, "SUBQUERY needs a path that ends at a to-many relationship",
          "put the rest of the path inside")
      }
    }
    var inner: PredicateScope = scope
    inner.variables[variable] = member
    let test: SQLExpression = try condition(predicate, inner)
    let select: SelectStatement = frame.select(
      [.countRows], where: .conjunction(links + [test]))
    return .value(.scalar(select), .integer)
  }

  /// `items.@count`, `items.@sum.price` and their kind. A missing owner on the way makes the whole path nil.
  func aggregate(_ many: ManyPath, text: String) throws -> Operand {
    let mark: String = many.rest.first ?? "@count"
    let frame = SelectFrame(aliases: many.owner.frame.aliases)
    let entered: EnteredMembers = try paths.enter(many, in: frame, path: text)
    func result(_ value: SQLExpression, _ type: ValueType, empty: SQLExpression? = nil) -> Operand {
      var scalar: SQLExpression = .scalar(frame.select([value], where: entered.link))
      if let empty { scalar = .builtin("COALESCE", [scalar, empty]) }
      guard many.owner.canBeMissing else { return .value(scalar, type) }
      return .value(.choice(when: .isNull(many.owner.key), then: .null, otherwise: scalar), type)
    }
    if mark == "@count" {
      guard many.rest.count <= 1 else {
        throw StoreError.unsupported(
          part: text, reason: "nothing may follow @count", advice: "end the path at @count")
      }
      return result(.countRows, .integer)
    }
    guard ["@sum", "@avg", "@min", "@max"].contains(mark) else {
      throw StoreError.unsupported(
        part: text, reason: "a store knows @count, @sum, @avg, @min and @max only, not \(mark)",
        advice: "use one of these, or filter the fetched objects")
    }
    guard
      case .value(let value, let type) = try paths.resolve(
        many.rest.dropFirst(), from: entered.member, path: text),
      type.isNumber || (type == .date || type == .string) && (mark == "@min" || mark == "@max")
    else {
      throw StoreError.unsupported(
        part: text, reason: "\(mark) needs an attribute with numbers after it",
        advice: "write \(mark).price, with the name of a numeric attribute")
    }
    if type == .decimal {
      let aggregate: [String: SQLAggregate] = ["@sum": .sum, "@avg": .average, "@min": .min, "@max": .max]
      let function: SQLAggregate = aggregate[mark] ?? .sum
      let arguments: [SQLExpression] = function == .average ? [value, .integer(1)] : [value]
      let isZero: Bool = function == .sum || function == .average
      return result(.aggregate(function, arguments), type, empty: isZero ? .integer(0) : nil)
    }
    switch mark {
    case "@sum": return result(.builtin("SUM", [value]), type, empty: .integer(0))
    // nil counts as 0 in an average, which AVG would leave out.
    case "@avg":
      let mean: SQLExpression = .binary(.divide, .cast(.builtin("SUM", [value]), .real), .countRows)
      return result(mean, .real, empty: .integer(0))
    case "@min": return result(.builtin("MIN", [value]), type)
    default: return result(.builtin("MAX", [value]), type)
    }
  }

  /// `TERNARY(p, a, b)` as an operand; both branches must be of one kind.
  private func conditional(
    _ predicate: PredicateNode, _ then: ExpressionNode, _ otherwise: ExpressionNode,
    _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    let test: SQLExpression = try condition(predicate, scope)
    let first: (SQLExpression, ValueType?) = try scalar(then, scope)
    let second: (SQLExpression, ValueType?) = try scalar(otherwise, scope)
    guard let type = first.1 ?? second.1 else {
      throw unsupported(expression, "both branches of TERNARY are nil", "compare with nil directly")
    }
    let other: ValueType = second.1 ?? type
    guard type == other || type.isNumber && other.isNumber else {
      throw unsupported(
        expression, "the branches of TERNARY are \(type.name) and \(other.name)", "make both of one type")
    }
    let common: ValueType = type == other ? type : type == .decimal || other == .decimal ? .decimal : .real
    return .value(.choice(when: test, then: first.0, otherwise: second.0), common)
  }

  /// An expression as a single value with its type, nil for the type of nil.
  func scalar(_ expression: ExpressionNode, _ scope: PredicateScope) throws -> (SQLExpression, ValueType?) {
    switch try operand(expression, scope) {
    case .value(let value, let type): return (value, type)
    case .constant(let value):
      if value.isNull { return (.null, nil) }
      if let type = ValueBinding.type(of: value), case .value(let bound) = ValueBinding.bind(value, as: type)
      {
        return (.bound(bound), type)
      }
      throw unsupported(
        expression, "\(value.kindName) is no single value of a database", "use a number, a string or a date")
    case .object, .members, .list:
      throw unsupported(expression, "a single value is needed here", "name an attribute")
    }
  }

  private func pathBelow(
    _ target: ExpressionNode, _ path: String, _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    switch (target, path) {
    case (.subquery, _):
      throw unsupported(
        expression, "only @count may follow a SUBQUERY in a store", "compare SUBQUERY(…).@count with a number"
      )
    case (_, "length"):
      return try function("length:", [target], expression, scope)
    default:
      throw unsupported(
        expression, "a path can start at the fetched object or at a subquery's variable only",
        "rewrite the condition, or filter the fetched objects")
    }
  }
}
