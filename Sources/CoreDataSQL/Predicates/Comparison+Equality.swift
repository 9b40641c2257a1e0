import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates
import CoreDataStorage

extension Comparison {
  /// `==`: nil equals nil and nothing else; values of different kinds are unequal, without an error.
  func equality(_ left: Operand, _ right: Operand) throws -> SQLExpression {
    switch (left, right) {
    case (.choice, _): return try left.eachBranch { try equality($0, right) }
    case (_, .choice): return try right.eachBranch { try equality(left, $0) }
    case (.members(let members), .constant(let constant)) where constant.isNull,
      (.constant(let constant), .members(let members)) where constant.isNull:
      return members.isMissing ?? .truth(false)
    case (.members, let other), (let other, .members):
      throw other.isCollection ? collectionsNotCompared() : toManyNotAllowed()
    case (.constant(let a), .constant(let b)):
      // Two objects that this store does not hold are different objects.
      return .truth(a.isUnknownObject || b.isUnknownObject ? false : ValueComparison.equal(a, b, options))
    case (.value(let value, let type), .constant(let constant)),
      (.constant(let constant), .value(let value, let type)):
      return try equality(value, type, constant)
    case (.object(let place), .constant(let constant)), (.constant(let constant), .object(let place)):
      return equality(place, constant)
    case (.object(let a), .object(let b)): return equality(a, b)
    case (.value(let a, let typeA), .value(let b, let typeB)): return try equality(a, typeA, b, typeB)
    case (.entity(let place), .constant(let constant)), (.constant(let constant), .entity(let place)):
      return entityEquality(place, constant)
    case (.entity(let a), .entity(let b)):
      return .binary(.same, a.entityNumber, b.entityNumber)
    case (.object(let place), .value(let value, _)), (.value(let value, _), .object(let place)),
      (.entity(let place), .value(let value, _)), (.value(let value, _), .entity(let place)):
      // An object never equals a plain value; nil equals nil.
      return .conjunction([isMissing(place), .isNull(value)])
    case (.entity(let a), .object(let b)), (.object(let a), .entity(let b)):
      return .conjunction([isMissing(a), isMissing(b)])
    case (.list, _), (_, .list), (.combined, _), (_, .combined): throw collectionsNotCompared()
    }
  }

  private func collectionsNotCompared() -> StoreError {
    unsupported("a collection can't be compared in a store", "use IN, or compare its parts")
  }

  func equality(_ value: SQLExpression, _ type: ValueType, _ constant: PredicateValue) throws -> SQLExpression
  {
    if constant.isNull { return .isNull(value) }
    try checkComparable(type)
    if type.isNumber, constant.isNumber,
      let test = try schema.encoding.numberTest(.equal, value, type, constant)
    {
      return test
    }
    switch bind(constant, as: type) {
    case .null: return .isNull(value)
    case .never: return .truth(false)
    case .value(let bound):
      if type == .string, !isLiteral { return try sql(.textTest(.equal, value, .bound(bound), options)) }
      return .binary(.equal, value, .bound(bound))
    }
  }

  private func equality(
    _ left: SQLExpression, _ leftType: ValueType, _ right: SQLExpression, _ rightType: ValueType
  ) throws -> SQLExpression {
    try checkComparable(leftType)
    try checkComparable(rightType)
    let isSame: Bool = leftType == rightType || leftType.isNumber && rightType.isNumber
    guard isSame else { return .conjunction([.isNull(left), .isNull(right)]) }
    try checkMixed(leftType, rightType)
    if leftType == .string, !isLiteral { return try sql(.textTest(.equal, left, right, options)) }
    return .binary(
      .same, try comparable(left, leftType, with: rightType), try comparable(right, rightType, with: leftType)
    )
  }

  /// The value in the form in which it is compared with one of another type.
  func comparable(_ value: SQLExpression, _ type: ValueType, with other: ValueType) throws -> SQLExpression {
    type == .decimal && other == .real ? try sql(.realOfDecimal(value)) : value
  }

  /// The database can't compare values that are stored in files or made by a transformer.
  private func checkComparable(_ type: ValueType) throws {
    switch type {
    case .externalData:
      throw unsupported(
        "the attribute may keep its data in a file outside the database",
        "compare it with nil, or filter the fetched objects")
    case .transformable:
      throw unsupported(
        "the database holds what a value transformer made of the attribute",
        "compare it with nil, or filter the fetched objects")
    case .integer, .real, .number, .decimal, .string, .date, .uuid, .url, .data: return
    }
  }

  /// A decimal is compared with integers as a decimal, with doubles as a double.
  func checkMixed(_ left: ValueType, _ right: ValueType) throws {
    guard left == .decimal && right == .number || left == .number && right == .decimal else { return }
    throw unsupported(
      "a number read from text meets a decimal, and is whole or not row by row",
      "CAST the text to NSDecimalNumber")
  }

  private func isMissing(_ place: JoinedObject) -> SQLExpression {
    place.canBeMissing ? .isNull(place.key) : .truth(false)
  }

  private func equality(_ place: JoinedObject, _ constant: PredicateValue) -> SQLExpression {
    if constant.isNull { return isMissing(place) }
    guard let key = key(of: constant, as: place) else { return .truth(false) }
    return .binary(.equal, place.key, .bound(.integer(key)))
  }

  private func equality(_ left: JoinedObject, _ right: JoinedObject) -> SQLExpression {
    guard isSameHierarchy(left.entity, right.entity) else {
      return .conjunction([isMissing(left), isMissing(right)])
    }
    let symbol: SQLOperator = left.canBeMissing && right.canBeMissing ? .same : .equal
    return .binary(symbol, left.key, right.key)
  }

  /// `entity == …`: just this entity, no ancestor or descendant.
  private func entityEquality(_ place: JoinedObject, _ constant: PredicateValue) -> SQLExpression {
    if constant.isNull { return isMissing(place) }
    guard case .object(let box) = constant, let entity = box.value as? NSEntityDescription,
      let layout = entity.name.flatMap({ schema.layout.byName[$0] }),
      isSameHierarchy(layout.index, place.entity)
    else { return .truth(false) }
    return .binary(
      .equal, place.entityNumber,
      .bound(.integer(Int64(schema.entityNumber(of: layout.index)))))
  }

  private func isSameHierarchy(_ left: Int, _ right: Int) -> Bool {
    schema.layout.entities[left].rootIndex == schema.layout.entities[right].rootIndex
  }

  /// The key of an object constant; nil if it can't be the object at this place: not an object, unsaved, of
  /// another store or of another hierarchy.
  func key(of constant: PredicateValue, as place: JoinedObject) -> Int64? {
    guard case .object(let box) = constant, let id = (box.value as? ObjectReference)?.id,
      schema.layout.entities.indices.contains(Int(id.entity)), isSameHierarchy(Int(id.entity), place.entity)
    else { return nil }
    return id.key
  }
}

extension PredicateValue {
  /// A reference to an object that is not in the store.
  fileprivate var isUnknownObject: Bool {
    guard case .object(let box) = self, let reference = box.value as? ObjectReference else { return false }
    return reference.id == nil
  }
}
