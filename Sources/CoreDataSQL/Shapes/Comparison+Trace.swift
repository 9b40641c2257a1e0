import CoreDataPredicates
import CoreDataStorage

// Decides which constants can be parameters of a kept statement: the comparisons here are compiled alike for
// all values of one kind that their encoding can bind. Other constants stay fixed, which costs another
// compilation but never a wrong result.

extension Comparison {
  /// The condition made of the two sides, with the parameter in place of its value. Marks the parameter as
  /// fixed if it can't be followed.
  func traced(_ condition: SQLExpression, _ left: Operand, _ right: Operand) -> SQLExpression {
    guard let trace = compiler.trace, let parameter = compiler.parameter else { return condition }
    guard let result = followed(condition, left, right, trace, parameter) else {
      trace.noteFixed(parameter)
      return condition
    }
    trace.noteTraced(parameter)
    return result
  }

  /// The same for a test whether a constant is equal to a relationship's member.
  func tracedMember(_ condition: SQLExpression, _ member: Operand, _ element: Operand) -> SQLExpression {
    guard node.comparison == .contains else { return condition }
    var equality: ComparisonNode = node
    equality.comparison = .equalTo
    return Comparison(node: equality, compiler: compiler).traced(condition, member, element)
  }

  private func followed(
    _ condition: SQLExpression, _ left: Operand, _ right: Operand, _ trace: ConstantTrace, _ parameter: Int
  ) -> SQLExpression? {
    func use(_ encoding: ConstantEncoding) -> Int {
      trace.add(ConstantUse(parameter: parameter, encoding: encoding))
    }
    let place: ComparedPlace
    let constant: PredicateValue
    var symbol: SQLOperator? = node.comparison.bindingSymbol
    switch (left, right) {
    case (let other, .constant(let value)):
      guard let known = comparedPlace(other) else { return nil }
      (place, constant) = (known, value)
    case (.constant(let value), let other):
      // A text or a list on the left side is searched.
      guard let direct = symbol, let known = comparedPlace(other) else { return nil }
      (place, constant, symbol) = (known, value, mirrored(direct))
    default: return nil
    }
    switch node.comparison {
    case .in: return list(condition, place, constant, use)
    case .between: return bounds(condition, place, constant, use)
    default:
      let encodings: [ConstantEncoding] = single(place, constant, symbol)
      if encodings.isEmpty { return nil }
      var isUsed: Bool = false
      let result: SQLExpression? = condition.replacingBound(besides: place.value) { bound in
        for encoding in encodings where encoding.bound(constant, by: schema.encoding) == bound {
          isUsed = true
          return .constant(bound, use: use(encoding))
        }
        // The constant that separates the texts of a decimal column from its numbers.
        return bound == .text("") ? .bound(bound) : nil
      }
      return isUsed ? result : nil
    }
  }

  /// The value that a constant is compared with.
  private struct ComparedPlace {
    var value: SQLExpression
    /// nil for an object.
    var type: ValueType?
    var family: ClosedRange<Int>
  }

  private func comparedPlace(_ operand: Operand) -> ComparedPlace? {
    switch operand {
    case .value(let value, let type): return ComparedPlace(value: value, type: type, family: 0...0)
    case .object(let place):
      let root: Int = schema.layout.entities[place.entity].rootIndex
      return ComparedPlace(value: place.key, type: nil, family: schema.layout.entities[root].family)
    case .constant, .entity, .members, .list, .choice, .combined: return nil
    }
  }

  /// The encodings that a single constant may have in the condition. `symbol`: the operator with the constant
  /// on the right side, if the comparison is one of `==`, `!=` and the orders.
  private func single(
    _ place: ComparedPlace, _ constant: PredicateValue, _ symbol: SQLOperator?
  ) -> [ConstantEncoding] {
    if let symbol {
      guard let type = place.type else {
        return symbol == .equal && constant.isObject ? [.key(place.family)] : []
      }
      return type.isBoundAlike(constant) ? [.value(type, symbol)] : []
    }
    switch node.comparison {
    case .contains, .endsWith:
      return place.type == .string && constant.isText ? [.needle(isLiteral: isLiteral)] : []
    case .beginsWith:
      guard place.type == .string, constant.isText else { return [] }
      return isLiteral ? [.prefix, .prefixEnd] : [.needle(isLiteral: false)]
    case .like:
      guard place.type == .string, case .string(let pattern) = constant else { return [] }
      let isPrefix: Bool = isLiteral && Self.prefix(ofPattern: pattern) != nil
      return isPrefix ? [.patternPrefix, .patternPrefixEnd] : [.pattern(isLiteral: isLiteral)]
    default: return []
    }
  }

  /// `value IN (…)`, each member at its own position.
  private func list(
    _ condition: SQLExpression, _ place: ComparedPlace, _ constant: PredicateValue,
    _ use: (ConstantEncoding) -> Int
  ) -> SQLExpression? {
    guard let members = constant.elements, let first = members.first else { return nil }
    let encoding: (Int) -> ConstantEncoding
    if let type = place.type {
      guard type.isBoundAlike(first), type != .string || isLiteral else { return nil }
      encoding = { .member($0, type, .equal) }
    } else {
      guard first.isObject else { return nil }
      encoding = { .memberKey($0, place.family) }
    }
    let list: PredicateValue = .array(members)
    func parameter(_ number: Int, _ bound: SQLExpression) -> SQLExpression? {
      guard case .bound(let value) = bound, encoding(number).bound(list, by: schema.encoding) == value else {
        return nil
      }
      return .constant(value, use: use(encoding(number)))
    }
    switch condition {
    case .binary(.equal, place.value, let bound) where members.count == 1:
      return parameter(0, bound).map { .binary(.equal, place.value, $0) }
    case .inList(place.value, let bounds) where bounds.count == ListMembership.padded(members).count:
      let parameters: [SQLExpression] = bounds.enumerated().compactMap { parameter($0, $1) }
      return parameters.count == bounds.count ? .inList(place.value, parameters) : nil
    default: return nil
    }
  }

  private func bounds(
    _ condition: SQLExpression, _ place: ComparedPlace, _ constant: PredicateValue,
    _ use: (ConstantEncoding) -> Int
  ) -> SQLExpression? {
    guard case .between(place.value, .bound(let low), .bound(let high)) = condition, let type = place.type,
      case .array(let members) = constant, members.count == 2, members.allSatisfy(type.isBoundAlike)
    else { return nil }
    let lowest: ConstantEncoding = .member(0, type, .greaterOrEqual)
    let highest: ConstantEncoding = .member(1, type, .lessOrEqual)
    guard lowest.bound(constant, by: schema.encoding) == low,
      highest.bound(constant, by: schema.encoding) == high
    else { return nil }
    return .between(place.value, .constant(low, use: use(lowest)), .constant(high, use: use(highest)))
  }
}

extension ComparisonOperator {
  /// The operator that a constant on the right side is bound for; nil for one whose sides can't be exchanged.
  fileprivate var bindingSymbol: SQLOperator? {
    switch self {
    case .equalTo, .notEqualTo: .equal
    case .lessThan: .less
    case .lessThanOrEqualTo: .lessOrEqual
    case .greaterThan: .greater
    case .greaterThanOrEqualTo: .greaterOrEqual
    default: nil
    }
  }
}

extension ValueType {
  /// Whether all constants of the same kind are compared with values of the type in the same way, if they can
  /// be bound at all. Long decimals and integers beyond 64 bits are compared with integers in another way
  /// than short ones; the comparison of doubles with decimals depends on their magnitude.
  fileprivate func isBoundAlike(_ constant: PredicateValue) -> Bool {
    switch (self, constant) {
    case (.integer, .bool), (.integer, .integer), (.integer, .double), (.real, .bool), (.real, .integer),
      (.real, .double), (.number, .bool), (.number, .integer), (.number, .double), (.decimal, .bool),
      (.decimal, .integer), (.string, .string), (.date, .date), (.uuid, .uuid), (.url, .url), (.data, .data):
      true
    default: false
    }
  }
}

extension PredicateValue {
  fileprivate var isObject: Bool { if case .object = self { true } else { false } }
  fileprivate var isText: Bool { if case .string = self { true } else { false } }
}

extension SQLExpression {
  /// The expression with every bound value replaced except those within `known`; nil if `replace` returns nil
  /// for one, or for an expression of a kind that comparisons with a constant do not make.
  fileprivate func replacingBound(
    besides known: SQLExpression, _ replace: (SQLValue) -> SQLExpression?
  ) -> SQLExpression? {
    func inner(_ part: SQLExpression) -> SQLExpression? { part.replacingBound(besides: known, replace) }
    func inner(_ parts: [SQLExpression]) -> [SQLExpression]? {
      let replaced: [SQLExpression] = parts.compactMap(inner)
      return replaced.count == parts.count ? replaced : nil
    }
    if self == known { return self }
    switch self {
    case .bound(let value): return replace(value)
    case .integer, .null: return self
    // The database's pattern may equal the constant, but is made from it in another way for other constants.
    case .binary(.matchesPattern, _, _): return nil
    case .binary(let symbol, let left, let right):
      guard let left = inner(left), let right = inner(right) else { return nil }
      return .binary(symbol, left, right)
    case .all(let parts): return inner(parts).map(SQLExpression.all)
    case .any(let parts): return inner(parts).map(SQLExpression.any)
    case .isNotTrue(let part): return inner(part).map(SQLExpression.isNotTrue)
    case .negative(let part): return inner(part).map(SQLExpression.negative)
    case .cast(let part, let type): return inner(part).map { .cast($0, type) }
    case .function(let function, let arguments): return inner(arguments).map { .function(function, $0) }
    case .builtin(let name, let arguments): return inner(arguments).map { .builtin(name, $0) }
    default: return nil
    }
  }
}
