import CoreDataPredicates
import CoreDataStorage

extension Comparison {
  /// `==`: nil equals nil and nothing else; values of different kinds are unequal, without complaint.
  func equality(_ left: Operand, _ right: Operand) throws -> SQLExpression {
    switch (left, right) {
    case (.members, _), (_, .members): throw toManyNotAllowed()
    case (.constant(let a), .constant(let b)): return .truth(a == b)
    case (.value(let value, let type), .constant(let constant)),
      (.constant(let constant), .value(let value, let type)):
      return try equality(value, type, constant)
    case (.object(let place), .constant(let constant)), (.constant(let constant), .object(let place)):
      return equality(place, constant)
    case (.object(let a), .object(let b)): return equality(a, b)
    case (.value(let a, let typeA), .value(let b, let typeB)): return try equality(a, typeA, b, typeB)
    case (.object(let place), .value(let value, _)), (.value(let value, _), .object(let place)):
      // An object never equals a plain value; nil equals nil.
      return .conjunction([isMissing(place), .isNull(value)])
    case (.list, _), (_, .list):
      throw unsupported("a collection can't be compared in a store", "use IN, or compare its parts")
    }
  }

  func equality(_ value: SQLExpression, _ type: ValueType, _ constant: PredicateValue) throws -> SQLExpression
  {
    if constant.isNull { return .isNull(value) }
    try checkComparable(type)
    if type.isNumber, constant.isNumber, let test = decimalTest(.equal, value, type, constant) { return test }
    switch ValueBinding.bind(constant, as: type) {
    case .null: return .isNull(value)
    case .never: return .truth(false)
    case .value(let bound):
      if type == .string, !isLiteral { return .function(.equal, [value, .bound(bound), optionsValue]) }
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
    if leftType == .string, !isLiteral { return .function(.equal, [left, right, optionsValue]) }
    return .binary(
      .is, left.comparable(leftType, with: rightType), right.comparable(rightType, with: leftType))
  }

  /// Bytes in a file beside the store, or made by a transformer, are out of the database's sight.
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
    case .integer, .real, .decimal, .string, .date, .uuid, .url, .data: return
    }
  }

  private func isMissing(_ place: ObjectPlace) -> SQLExpression {
    place.canBeMissing ? .isNull(place.key) : .truth(false)
  }

  private func equality(_ place: ObjectPlace, _ constant: PredicateValue) -> SQLExpression {
    if constant.isNull { return isMissing(place) }
    guard let key = key(of: constant, as: place) else { return .truth(false) }
    return .binary(.equal, place.key, .bound(.integer(key)))
  }

  private func equality(_ left: ObjectPlace, _ right: ObjectPlace) -> SQLExpression {
    guard isSameHierarchy(left.entity, right.entity) else {
      return .conjunction([isMissing(left), isMissing(right)])
    }
    let symbol: SQLOperator = left.canBeMissing && right.canBeMissing ? .is : .equal
    return .binary(symbol, left.key, right.key)
  }

  private func isSameHierarchy(_ left: Int, _ right: Int) -> Bool {
    schema.layout.entities[left].rootIndex == schema.layout.entities[right].rootIndex
  }

  /// The key of an object constant; nil if it can't be the object at this place: not an object, unsaved, of another store or of
  /// another hierarchy.
  func key(of constant: PredicateValue, as place: ObjectPlace) -> Int64? {
    guard case .object(let box) = constant, let id = (box.value as? ObjectReference)?.id,
      schema.layout.entities.indices.contains(Int(id.entity)), isSameHierarchy(Int(id.entity), place.entity)
    else { return nil }
    return id.key
  }
}
