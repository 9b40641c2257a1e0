import CoreDataPredicates
import CoreDataStorage

/// Aggregates.
///
///     count:(title)        COUNT(t0.ZTITLE)
///     sum:(price)          COALESCE(SUM(t0.ZPRICE), 0)
///     count:(tags)         COALESCE(SUM((SELECT COUNT(*) FROM Z_1TAGS t1 WHERE t1.Z_1ITEMS = t0.Z_PK)), 0)
///     average:(tags.rank)  SUM((SELECT SUM(t1.ZRANK) …)) / SUM((SELECT COUNT(t1.ZRANK) …))
///
/// Members of a to-many are aggregated for each row, and the results again over the rows: a join would
/// multiply the members of one relationship by those of the next.
extension ProjectionDraft {
  func total(_ aggregate: RowAggregate, _ scope: PredicateScope) throws -> ProjectionValue {
    switch try compiler.operand(aggregate.argument, scope) {
    case .members(let members): return try total(aggregate, of: members)
    case .object(let place): return try total(aggregate, of: place)
    case .value(let value, let type): return try total(aggregate, of: value, type)
    case .constant, .list, .entity, .choice, .combined:
      throw unsupported(aggregate, "it has nothing to read from the rows", "name an attribute")
    }
  }

  private func total(_ aggregate: RowAggregate, of place: JoinedObject) throws -> ProjectionValue {
    guard aggregate.function == .count || aggregate.function == .members else {
      throw unsupported(aggregate, "objects can only be counted", "name an attribute of them")
    }
    return plain(place === root ? .countRows : .builtin("COUNT", [place.key]), .integer)
  }

  private func total(
    _ aggregate: RowAggregate, of value: SQLExpression, _ type: ValueType
  ) throws -> ProjectionValue {
    try check(aggregate, type)
    let isDecimal: Bool = type == .decimal
    switch aggregate.function {
    case .count: return plain(.builtin("COUNT", [value]), .integer)
    case .members:
      throw unsupported(
        aggregate, "@count needs a to-many relationship before it",
        "write relationship.@count, or count: for the values that are not nil")
    case .sum: return plain(orZero(try sum(value, isDecimal)), type)
    case .average:
      return isDecimal
        ? try decimal(.average, [value, .isNotNull(value)]) : plain(.builtin("AVG", [value]), .real)
    case .mean:
      return isDecimal
        ? try decimal(.average, [value, .integer(1)])
        : plain(try compiler.sql(.quotient(orZero(.builtin("SUM", [value])), .countRows)), .real)
    case .min, .max: return try extreme(aggregate, try extreme(aggregate, of: value, type), type)
    }
  }

  // MARK: Members

  private func total(_ aggregate: RowAggregate, of members: Members) throws -> ProjectionValue {
    /// A value of the members of one row.
    func each(_ column: SQLExpression) -> SQLExpression { .scalar(members.select([column])) }
    func sumOfCounts(_ counted: SQLExpression) -> SQLExpression { .builtin("SUM", [each(counted)]) }
    let value: SQLExpression
    let type: ValueType
    switch members.element {
    case .value(let found, let foundType): (value, type) = (found, foundType)
    case .object(let place):
      guard aggregate.function == .count || aggregate.function == .members else {
        throw unsupported(aggregate, "objects can only be counted", "name an attribute of them")
      }
      let key: SQLExpression = place.canBeMissing ? .builtin("COUNT", [place.key]) : .countRows
      return plain(orZero(sumOfCounts(aggregate.function == .count ? key : .countRows)), .integer)
    case .members, .constant, .list, .entity, .choice, .combined:
      throw unsupported(aggregate, "the path ends at no value", "name an attribute of the members")
    }
    try check(aggregate, type)
    let isDecimal: Bool = type == .decimal
    let present: SQLExpression = .builtin("COUNT", [value])
    switch aggregate.function {
    case .count: return plain(orZero(sumOfCounts(present)), .integer)
    case .members: return plain(orZero(sumOfCounts(.countRows)), .integer)
    case .sum: return plain(orZero(try sum(each(try sum(value, isDecimal)), isDecimal)), type)
    case .average, .mean:
      let counted: SQLExpression = aggregate.function == .mean ? .countRows : present
      let total: SQLExpression = each(try sum(value, isDecimal))
      return isDecimal
        ? try decimal(.average, [total, each(counted)])
        : plain(
          try compiler.sql(.quotient(orZero(.builtin("SUM", [total])), sumOfCounts(counted))), .real)
    case .min, .max:
      let inner: SQLExpression = each(try extreme(aggregate, of: value, type))
      return try extreme(aggregate, try extreme(aggregate, of: inner, type), type)
    }
  }

  // MARK: Pieces

  private func plain(_ value: SQLExpression, _ type: ValueType) -> ProjectionValue {
    ProjectionValue(columns: [value], kind: ColumnKind(type), operand: .value(value, type))
  }

  private func decimal(_ function: SQLAggregate, _ arguments: [SQLExpression]) throws -> ProjectionValue {
    plain(try compiler.sql(.aggregate(function, arguments)), .decimal)
  }

  private func sum(_ value: SQLExpression, _ isDecimal: Bool) throws -> SQLExpression {
    isDecimal ? try compiler.sql(.aggregate(.sum, [value])) : .builtin("SUM", [value])
  }

  private func orZero(_ value: SQLExpression) -> SQLExpression { .builtin("COALESCE", [value, .integer(0)]) }

  private func extreme(_ aggregate: RowAggregate, of value: SQLExpression, _ type: ValueType) throws
    -> SQLExpression
  {
    try compiler.sql(.extreme(isLeast: aggregate.function == .min, value, SQLExtremeKind(type)))
  }

  /// The minimum and maximum of an attribute have its kind: a Boolean stays a Boolean.
  private func extreme(
    _ aggregate: RowAggregate, _ value: SQLExpression, _ type: ValueType
  ) throws -> ProjectionValue {
    var result: ProjectionValue = plain(value, type)
    if let (column, _) = try storedColumn(aggregate.argument) { result.kind = column.kind }
    return result
  }

  private func check(_ aggregate: RowAggregate, _ type: ValueType) throws {
    switch aggregate.function {
    case .count, .members: return
    case .sum, .average, .mean:
      if type.isNumber { return }
      throw unsupported(aggregate, "\(type.name) can't be added", "name an attribute with numbers")
    case .min, .max:
      switch type {
      case .integer, .real, .number, .decimal, .date, .string, .uuid, .data: return
      case .url, .externalData, .transformable:
        throw unsupported(aggregate, "\(type.name) has no order", "use it on numbers, dates or strings")
      }
    }
  }

  private func unsupported(_ aggregate: RowAggregate, _ reason: String, _ advice: String) -> StoreError {
    .unsupported(
      part: "\(aggregate.function.rawValue)(\(Printer.print(aggregate.argument)))", reason: reason,
      advice: advice)
  }
}
