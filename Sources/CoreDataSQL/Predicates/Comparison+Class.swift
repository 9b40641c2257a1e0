import CoreDataPredicates
import CoreDataStorage

extension PredicateCompiler {
  /// `AND`. If one member tests the class of an object, the others may use properties of that class: `SELF
  /// isKindOfClass: Manager AND budget > 100`.
  func conjunction(_ members: [PredicateNode], _ scope: PredicateScope) throws -> SQLExpression {
    var inner: PredicateScope = scope
    let isQuestion: [Bool] = members.map { narrow(&inner, by: $0) }
    return .conjunction(
      try zip(members, isQuestion).map { try condition($0, $1 ? scope : inner) })
  }

  /// Whether the predicate tests the class of an object of the scope; if so, the object counts as one of that
  /// class from then on.
  private func narrow(_ scope: inout PredicateScope, by predicate: PredicateNode) -> Bool {
    guard case .comparison(let node) = predicate, node.selector == ClassTest.selector,
      node.modifier == .direct, case .constant(.object(let box)) = node.right,
      let family = box.value as? EntityFamily
    else { return false }
    switch node.left {
    case .evaluatedObject: scope.object = narrowed(scope.object, to: family)
    case .variable(let name):
      guard case .object(let place)? = scope.values[name] else { return false }
      scope.values[name] = .object(narrowed(place, to: family))
    default: return false
    }
    return true
  }

  private func narrowed(_ place: JoinedObject, to family: EntityFamily) -> JoinedObject {
    let possible: ClosedRange<Int> = schema.layout.entities[place.entity].family
    let wanted: [Int] = possible.filter(family.entities.contains)
    // The nearest entity that is an ancestor of all of them, or one of them.
    let common: Int? = possible.last { entity in
      wanted.allSatisfy(schema.layout.entities[entity].family.contains)
    }
    guard let common, !wanted.isEmpty else { return place }
    return JoinedObject(place, narrowedTo: common)
  }
}

extension Comparison {
  /// `object isKindOfClass: Class`, by the entity's number in the object's row. Objects of a class are those
  /// of the entities that use the class or a subclass of it.
  func isKind(_ left: Operand, _ right: Operand) throws -> SQLExpression {
    guard case .object(let place) = left, case .constant(.object(let box)) = right,
      let family = box.value as? EntityFamily
    else {
      throw unsupported(
        "a store knows the classes of managed objects only",
        "put SELF or a to-one relationship on the left and a managed object class on the right")
    }
    let possible: ClosedRange<Int> = schema.layout.entities[place.entity].family
    let wanted: [Int] = possible.filter(family.entities.contains)
    if wanted.isEmpty { return .truth(false) }
    if wanted.count == possible.count {
      return place.canBeMissing ? .isNotNull(place.key) : .truth(true)
    }
    return .inList(
      place.entityNumber, wanted.map { .bound(.integer(Int64(schema.entityNumbers[$0]))) })
  }
}
