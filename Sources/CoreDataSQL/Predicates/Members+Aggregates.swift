import CoreDataEvaluation
import CoreDataPredicates
import CoreDataStorage

/// A function of a collection's members.
enum MemberAggregate {
  case sum, average, min, max, median, deviation

  /// The operator of key paths, without its `@`.
  init?(operator name: String) {
    switch name {
    case "@sum": self = .sum
    case "@avg": self = .average
    case "@min": self = .min
    case "@max": self = .max
    default: return nil
    }
  }

  init?(_ function: BuiltinFunction) {
    switch function {
    case .sum: self = .sum
    case .average: self = .average
    case .min: self = .min
    case .max: self = .max
    case .median: self = .median
    case .standardDeviation: self = .deviation
    default: return nil
    }
  }

  /// Whether it compares values instead of computing with numbers.
  var isExtreme: Bool { self == .min || self == .max }
}

// Collection operators. They read the path after them from every member, duplicates included:
//
//     items.@count               (SELECT COUNT(*) FROM ZITEM t1 WHERE t1.ZOWNER = t0.Z_PK)
//     items.@sum.price           COALESCE((SELECT SUM(t1.ZPRICE) FROM …), 0)
//     items.@avg.price           a nil counts as 0
//     items.@max.tags.@count     (SELECT MAX((SELECT COUNT(*) FROM Z_1TAGS t2 …)) FROM …)
//     items.@distinctUnionOfObjects.price      a collection, without nil
extension KeyPathResolver {
  func collect(
    _ name: String, _ operand: Operand, _ path: ArraySlice<String>, _ text: String
  ) throws -> Operand {
    switch operand {
    case .members(let members): return try collect(name, members, path, text)
    case .constant(let value) where value.isNull: return operand
    case .constant(let value) where value.elements != nil || name == "@count":
      let rest: String = ([name] + path).joined(separator: ".")
      return .constant(
        PredicateValue(normalizing: try ExpressionProgram(.path(.constant(value), rest)).value(nil)))
    case .list(let parts) where name == "@count" && path.isEmpty:
      return .constant(.integer(Int64(parts.count)))
    case .list, .combined:
      throw StoreError.unsupported(
        part: text, reason: "the operator '\(name)' needs the members of one relationship",
        advice: "use the function of that name, or filter the fetched objects")
    case .value, .object, .entity, .constant, .choice:
      try operand.checkReadable(text)
      throw StoreError.invalid(
        part: text, reason: "the collection operator '\(name)' follows no to-many relationship",
        advice: "put it after a to-many relationship, as in 'items.@count'")
    }
  }

  private func collect(
    _ name: String, _ members: Members, _ path: ArraySlice<String>, _ text: String
  ) throws -> Operand {
    if name == "@count" {
      guard path.isEmpty else {
        throw StoreError.invalid(
          part: text, reason: "nothing may follow @count", advice: "end the path at @count")
      }
      return .value(members.scalar(members.count), .integer)
    }
    if name.hasPrefix("@unionOf") || name.hasPrefix("@distinctUnionOf") {
      return .members(try union(name, members, path, text))
    }
    guard let total = MemberAggregate(operator: name) else {
      throw StoreError.invalid(
        part: text,
        reason:
          "there is no collection operator '\(name)', but @\(CollectionOperator.names.joined(separator: ", @"))",
        advice: "use one of these")
    }
    var rows: Members = members.deduplicated()
    rows.element = try read(path, from: rows.element, text: text)
    rows.isSet = false
    return try rows.total(total, of: .skipped, text, schema.dialect)
  }

  /// The collections that operators return: values without nil, without duplicates if the operator removes
  /// them.
  private func union(
    _ name: String, _ members: Members, _ path: ArraySlice<String>, _ text: String
  ) throws -> Members {
    var rows: Members = members.deduplicated()
    let isDistinct: Bool = name.hasPrefix("@distinct")
    if name.hasSuffix("OfObjects") {
      rows.element = try read(path, from: rows.element, text: text)
    } else {
      // Each member's collection is first a set of its own, which joined rows can't represent.
      guard isDistinct else {
        throw StoreError.unsupported(
          part: text, reason: "a database can't keep the members' collections apart",
          advice: "use @distinctUnionOfSets or @distinctUnionOfArrays")
      }
      rows.isFlat = true
      guard case .members(let joined) = try read(path, from: .members(rows), text: text) else {
        throw StoreError.invalid(
          part: text, reason: "\(name) joins collections", advice: "put a to-many relationship behind it")
      }
      rows = joined
    }
    switch rows.element {
    case .value, .object: break
    default:
      throw StoreError.invalid(
        part: text, reason: "\(name) collects single values", advice: "put an attribute behind it")
    }
    rows.isSet = isDistinct
    rows.isUnique = false
    rows.leavesOutNil = true
    rows.order = nil
    return rows
  }
}

/// The effect of nil among the members on an aggregate.
enum NilMembers {
  /// nil is left out, but its member is counted (as 0 in an average): collection operators.
  case skipped
  /// nil makes the result nil: functions over a list.
  case fatal
}

extension Members {
  /// One value computed from the members' values; equal values count once if this is a set.
  func total(_ total: MemberAggregate, of nils: NilMembers, _ text: String, _ dialect: any SQLDialect) throws
    -> Operand
  {
    guard case .value(let value, let type) = element else {
      throw StoreError.invalid(
        part: text, reason: "there are no single values to compute with",
        advice: "name an attribute of the members")
    }
    try type.checkReadable(text)
    try check(total, type, text)
    let distinct: SQLExpression = isSet ? .distinct(value) : value
    if total.isExtreme {
      let extreme: SQLExpression = try dialect.rewrite(
        .extreme(isLeast: total == .min, distinct, SQLExtremeKind(type)))
      return .value(scalar(extreme), type)
    }
    let (computed, result): (SQLExpression, ValueType) = try aggregate(total, value, distinct, type, dialect)
    guard case .fatal = nils, !isSet else {
      return .value(scalar(computed, empty: total.forNoMembers), result)
    }
    // `COUNT(x)` leaves nil out, `COUNT(*)` does not.
    let isComplete: SQLExpression = .binary(.equal, .countRows, .builtin("COUNT", [value]))
    let whole: SQLExpression = total.forNoMembers.map { .builtin("COALESCE", [computed, $0]) } ?? computed
    return .value(scalar(.choice(when: isComplete, then: whole, otherwise: .null)), result)
  }

  private func check(_ total: MemberAggregate, _ type: ValueType, _ text: String) throws {
    switch (total, type) {
    case (.min, .date), (.max, .date), (.min, .string), (.max, .string), (.min, .uuid), (.max, .uuid),
      (.min, .data), (.max, .data):
      return
    case (_, _) where type.isNumber: return
    default:
      throw StoreError.invalid(
        part: text,
        reason: total.isExtreme ? "\(type.name) has no order" : "\(type.name) can't be computed with",
        advice: "name an attribute with numbers\(total.isExtreme ? ", dates or strings" : "")")
    }
  }

  private func aggregate(
    _ total: MemberAggregate, _ value: SQLExpression, _ distinct: SQLExpression, _ type: ValueType,
    _ dialect: any SQLDialect
  ) throws -> (SQLExpression, ValueType) {
    let number: SQLExpression = type == .decimal ? try dialect.rewrite(.realOfDecimal(value)) : value
    let counted: SQLExpression = isSet ? .builtin("COUNT", [distinct]) : .countRows
    switch total {
    case .median, .deviation:
      let function: SQLAggregate = total == .median ? .median : .deviation
      return (try dialect.rewrite(.aggregate(function, [isSet ? .distinct(number) : number])), .real)
    case .average where type == .decimal:
      let sum: SQLExpression = try sum(distinct, type, dialect)
      let quotient: SemanticNode = .function(
        .decimalArithmetic, [.text(BuiltinFunction.divide.selector), sum, counted])
      return (try dialect.rewrite(quotient), .decimal)
    case .average: return (try dialect.rewrite(.quotient(try sum(distinct, type, dialect), counted)), .real)
    case .sum, .min, .max: return (try sum(distinct, type, dialect), type)
    }
  }

  /// Integers become reals if their sum exceeds 64 bits, where SQL's own `SUM` fails.
  private func sum(_ value: SQLExpression, _ type: ValueType, _ dialect: any SQLDialect) throws
    -> SQLExpression
  {
    switch type {
    case .decimal: try dialect.rewrite(.aggregate(.sum, [value]))
    case .real: .builtin("SUM", [value])
    default: try dialect.rewrite(.aggregate(.wholeSum, [value]))
    }
  }
}

extension SQLExtremeKind {
  init(_ type: ValueType) {
    switch type {
    case .decimal: self = .decimal
    case .uuid, .data, .externalData, .transformable: self = .bytes
    case .integer, .real, .number, .string, .date, .url: self = .plain
    }
  }
}

extension MemberAggregate {
  /// The result for no members; nil if that is nil.
  fileprivate var forNoMembers: SQLExpression? { self == .sum || self == .average ? .integer(0) : nil }
}
