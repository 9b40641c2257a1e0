import CoreDataEvaluation
import CoreDataPredicates
import CoreDataStorage

extension PredicateCompiler {
  // MARK: Collections of every origin

  /// The members of an operand that is a collection; nil for nil. Lists become rows:
  ///
  ///     {price, cost, 3}     FROM (SELECT t0.ZPRICE AS value UNION ALL SELECT t0.ZCOST UNION ALL SELECT ?) t1
  func members(of operand: Operand, _ text: String, _ scope: PredicateScope) throws -> Members? {
    switch operand {
    case .members(let members): return members
    case .constant(let value):
      if value.isNull { return nil }
      guard let elements = value.elements else { break }
      var members: Members = try rows(of: elements.map(Operand.constant), text, scope)
      if case .set = value {
        members.isSet = true
        members.isUnique = false
      }
      return members
    case .list(let parts): return try rows(of: parts, text, scope)
    case .combined(let operation, let left, let right):
      return try members(operation, left, right, text, scope)
    case .choice:
      throw StoreError.unsupported(
        part: text, reason: "one of two collections is chosen row by row",
        advice: "put the function into the branches of TERNARY")
    case .value, .object, .entity: try operand.checkReadable(text)
    }
    throw StoreError.invalid(
      part: text, reason: "a collection is needed here", advice: "give it a path such as items.price")
  }

  private func rows(of parts: [Operand], _ text: String, _ scope: PredicateScope) throws -> Members {
    let values: [(SQLExpression, ValueType?)] = try parts.map { part in
      guard let single = single(part) else {
        throw StoreError.unsupported(
          part: text, reason: "a part of the list is no single value", advice: "filter the fetched objects")
      }
      return single
    }
    let types: Set<ValueType> = Set(values.compactMap(\.1))
    guard let type = Self.common(types), let first = values.first else {
      throw StoreError.unsupported(
        part: text, reason: values.isEmpty ? "the list is empty" : "the list's parts are of different types",
        advice: "filter the fetched objects")
    }
    var select = SelectStatement(columns: [.named(first.0, "value")], source: .nothing)
    select.union = values.dropFirst().map { SelectStatement(columns: [$0.0], source: .nothing) }
    select.keepsDuplicates = true
    return Members.values(of: select, like: .value(.null, type), outer: scope.object.frame)
  }

  /// The common type of values of several types; nil if SQL could not distinguish them, and for no type at
  /// all.
  static func common(_ types: Set<ValueType>) -> ValueType? {
    if types.count <= 1 { return types.first }
    if types == [.integer, .decimal] { return .decimal }
    return types.isSubset(of: [.integer, .real, .number]) ? .number : nil
  }

  // MARK: SUBQUERY

  /// `SUBQUERY(collection, $v, predicate)`: the collection with another condition. nil is an empty
  /// collection.
  func subquery(
    _ collection: ExpressionNode, _ variable: String, _ predicate: PredicateNode,
    _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    let text: String = Printer.print(expression)
    let source: Operand = try operand(collection, scope)
    return try source.mapBranches { source in
      guard var members = try self.members(of: source, text, scope) else { return .constant(.array([])) }
      if members.dropsNil, members.canHoldNil { members.conditions.append(.isNotNull(members.value)) }
      members.isMissing = nil
      members.isFlat = members.isSet
      var inner: PredicateScope = scope
      inner.values[variable] = members.element
      members.conditions.append(try condition(predicate, inner))
      return .members(members)
    }
  }

  // MARK: Positions

  /// `songs[0]`, `songs[FIRST]`, `songs[LAST]`, `items[SIZE]`. An index without a member gives nil.
  ///
  ///     (SELECT t1.ZNAME FROM ZSONG t1 WHERE t1.ZALBUM = t0.Z_PK ORDER BY t1.Z_FOK_ALBUM, t1.Z_PK LIMIT 1 OFFSET ?)
  func element(
    of target: ExpressionNode, at index: IndexNode, _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    let index: Operand =
      switch index {
      case .first: .constant(.string("FIRST"))
      case .last: .constant(.string("LAST"))
      case .size: .constant(.string("SIZE"))
      case .at(let place): try operand(place, scope)
      }
    return try operand(target, scope).mapBranches {
      try element(of: $0, at: index, expression, scope)
    }
  }

  func element(
    of target: Operand, at index: Operand, _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> Operand {
    if target.isNull { return target }
    guard let index = index.constant else {
      throw unsupported(
        expression, "a position that differs from row to row has no counterpart in SQL",
        "filter the fetched objects")
    }
    switch target {
    case .list(let parts):
      if index == .string("SIZE") { return .constant(.integer(Int64(parts.count))) }
      if index == .string("FIRST") { return parts.first ?? .constant(.null) }
      if index == .string("LAST") { return parts.last ?? .constant(.null) }
      let place: Int? = NumberComparison.integer(index).flatMap { Int(exactly: $0) }
      return place.flatMap { parts.indices.contains($0) ? parts[$0] : nil } ?? .constant(.null)
    case .members(let members):
      if index == .string("SIZE") { return .value(members.scalar(members.count), .integer) }
      return try element(of: members, at: index, expression)
    case .combined where index == .string("SIZE"):
      // `count:` of nil is 0, its size is nil.
      guard case .value(let count, let type) = try total(.count, of: target, expression, scope) else {
        return .constant(.null)
      }
      let missing: SQLExpression = target.isMissingCollection
      return .value(
        missing == .truth(false) ? count : .choice(when: missing, then: .null, otherwise: count), type)
    case .constant(let collection):
      let node: ExpressionNode = .index(.constant(collection), .at(.constant(index)))
      return .constant(try ExpressionProgram(node).value(nil))
    case .value, .object, .entity, .choice, .combined:
      try target.checkReadable(Printer.print(expression))
      throw invalid(
        expression, "only a collection has positions", "name an ordered relationship before the brackets")
    }
  }

  private func element(
    of members: Members, at index: PredicateValue, _ expression: ExpressionNode
  ) throws -> Operand {
    guard let order = members.order else {
      if members.isSet {
        throw invalid(
          expression, "a set has no positions",
          "use an ordered relationship, or a sort order with a fetch limit")
      }
      throw unsupported(
        expression, "its members come in no order that a database knows", "filter the fetched objects")
    }
    let ascending: Bool = index != .string("LAST")
    var offset: Int64 = 0
    if index != .string("FIRST"), index != .string("LAST") {
      guard index.isNumber else {
        throw invalid(expression, "a position is a whole number", "write [0], [FIRST] or [LAST]")
      }
      guard let place = NumberComparison.integer(index), place >= 0 else { return .constant(.null) }
      offset = place
    }
    var select: SelectStatement = members.select([members.value])
    select.order = order.map { SQLOrderTerm($0, ascending: ascending) }
    select.limit = .integer(1)
    if offset > 0 { select.offset = .bound(.integer(offset)) }
    return member(.scalar(select), of: members)
  }

  /// One member's key or value as an operand. Its table is joined in the owner's frame.
  private func member(_ value: SQLExpression, of members: Members) -> Operand {
    switch members.element {
    case .object(let member):
      .object(
        JoinedObject(
          entity: member.entity, table: member.table, key: value, canBeMissing: true, joinKind: .left,
          frame: members.outer))
    case .value(_, let type): .value(value, type)
    default: members.element
    }
  }

  // MARK: Set operations

  /// `a UNION b`, `a INTERSECT b`, `a MINUS b`. The result for nil is no set.
  func combination(
    _ operation: SetOperation, _ left: Operand, _ right: Operand, _ expression: ExpressionNode
  ) throws -> Operand {
    if left.isNull || right.isNull { return .constant(.null) }
    for side in [left, right] { try side.checkReadable(Printer.print(expression)) }
    guard left.isSet else {
      throw invalid(
        expression, "\(operation.rawValue) needs a set on its left side",
        "name an unordered relationship there")
    }
    guard right.isCollection else {
      throw invalid(
        expression, "\(operation.rawValue) needs a collection on its right side", "name a relationship there")
    }
    return .combined(operation, left, right)
  }

  /// The members of the left set that INTERSECT or MINUS keeps.
  private func members(
    _ operation: SetOperation, _ left: Operand, _ right: Operand, _ text: String, _ scope: PredicateScope
  ) throws -> Members? {
    guard operation != .union else {
      throw StoreError.unsupported(
        part: text, reason: "the members of two sets are not in one select",
        advice: "combine conditions with OR, or filter the fetched objects")
    }
    guard var members = try self.members(of: left, text, scope) else { return nil }
    members.leavesOutNil = true
    let node = ComparisonNode(left: .evaluatedObject, right: .evaluatedObject, comparison: .in)
    let inBoth: SQLExpression = try Comparison(node: node, compiler: self)
      .membership(of: members.element, in: right)
    members.conditions.append(operation == .intersect ? inBoth : inBoth.negated)
    let missing: [SQLExpression] = [members.isMissing ?? .truth(false), right.isMissingCollection]
    let isMissing: SQLExpression = .disjunction(missing)
    if isMissing != .truth(false) {
      members.isMissing = isMissing
      members.conditions.append(isMissing.negated)
    }
    members.order = nil
    return members
  }
}

extension Operand {
  /// Whether the operand is a set in memory.
  fileprivate var isSet: Bool {
    switch self {
    case .members(let members): members.isSet
    case .constant(.set): true
    case .combined: true
    default: false
    }
  }

  /// Whether the operand is a collection in memory.
  var isCollection: Bool {
    switch self {
    case .members, .list, .combined: true
    case .constant(let value): value.elements != nil
    default: false
    }
  }
}
