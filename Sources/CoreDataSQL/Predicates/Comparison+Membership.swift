import CoreDataPredicates
import CoreDataStorage
import Foundation

extension Comparison {
  /// `element IN collection`, and `collection CONTAINS element`.
  func membership(of element: Operand, in collection: Operand) throws -> SQLExpression {
    switch collection {
    case .members(let members): return try membership(of: element, in: members)
    case .list(let members): return .disjunction(try members.map { try equality(element, $0) })
    case .combined(let operation, let left, let right):
      return try membership(of: element, operation, left, right)
    case .choice: return try collection.eachBranch { try membership(of: element, in: $0) }
    case .value(_, .string): return try search(.contains, collection, element)
    case .value(_, .externalData), .value(_, .transformable):
      throw unsupported("the database can't read what may be a collection", "filter the fetched objects")
    case .value(_, let type):
      throw invalid("\(type.name) is no collection", "give IN a list, a set or a string")
    case .object, .entity: throw invalid("a to-one relationship is no collection", "compare it with ==")
    case .constant(let constant):
      if case .dictionary(let entries) = constant {
        return try membership(of: element, in: Array(entries.values))
      }
      if let members = constant.elements { return try membership(of: element, in: members) }
      if case .string = constant { return try search(.contains, collection, element) }
      if constant.isNull { return .truth(false) }
      throw invalid("\(constant.kindName) is no collection", "give IN a list, a set or a string")
    }
  }

  /// Members of a to-many: an object among them, or a value among those of an attribute. Nil is no member of
  /// a set.
  private func membership(of element: Operand, in members: Members) throws -> SQLExpression {
    let test: SQLExpression = tracedMember(try equality(members.element, element), members.element, element)
    let needsValue: Bool = members.dropsNil && members.canHoldNil && element.constant.map(\.isNull) != false
    return members.exists(where: .conjunction([test, needsValue ? .isNotNull(members.value) : .truth(true)]))
  }

  /// A set operation with a missing collection has no result, so that nothing is a member of it.
  private func membership(
    of element: Operand, _ operation: SetOperation, _ left: Operand, _ right: Operand
  ) throws -> SQLExpression {
    let first: SQLExpression = try membership(of: element, in: left)
    let second: SQLExpression = try membership(of: element, in: right)
    let present: SQLExpression =
      .disjunction([left.isMissingCollection, right.isMissingCollection]).negated
    switch operation {
    case .union: return .conjunction([present, .disjunction([first, second])])
    case .intersect: return .conjunction([first, second])
    case .minus: return .conjunction([present, first, second.negated])
    }
  }

  private func membership(of element: Operand, in members: [PredicateValue]) throws -> SQLExpression {
    switch element {
    case .choice: return try element.eachBranch { try membership(of: $0, in: members) }
    case .members: throw toManyNotAllowed()
    case .constant, .list, .combined, .entity:
      return .disjunction(try members.map { try equality(element, .constant($0)) })
    case .object(let place):
      let keys: [SQLValue] = members.compactMap { key(of: $0, as: place).map(SQLValue.integer) }
      let holdsNil: Bool = place.canBeMissing && members.contains(where: \.isNull)
      return try list(place.key, keys, orNull: holdsNil)
    case .value(let value, let type):
      if type == .string, !isLiteral {
        return .disjunction(try members.map { try equality(value, type, $0) })
      }
      let holdsNil: Bool = members.contains(where: \.isNull)
      var bound: [SQLValue] = []
      // A double equals several stored decimals.
      var others: [SQLExpression] = []
      for member in members where !member.isNull {
        if type == .decimal, member.isNumber,
          let test = try schema.encoding.numberTest(.equal, value, type, member)
        {
          if case .binary(.equal, value, .bound(let exact)) = test {
            bound.append(exact)
          } else {
            others.append(test)
          }
        } else if case .value(let member) = bind(member, as: type) {
          bound.append(member)
        }
      }
      // Evaluated for its error: some types can't be compared at all.
      if let first = members.first(where: { !$0.isNull }) { _ = try equality(value, type, first) }
      return .disjunction([try list(value, bound, orNull: holdsNil)] + others)
    }
  }

  private func list(_ value: SQLExpression, _ members: [SQLValue], orNull: Bool) throws -> SQLExpression {
    let test: SQLExpression = try sql(.member(value, members))
    return orNull ? .disjunction([test, .isNull(value)]) : test
  }
}
