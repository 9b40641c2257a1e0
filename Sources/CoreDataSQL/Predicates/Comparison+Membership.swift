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

  /// Members of a to-many: an object among them, or a value among those of an attribute. Nil is no member of a set.
  private func membership(of element: Operand, in members: Members) throws -> SQLExpression {
    let test: SQLExpression = tracedMember(try equality(members.element, element), members.element, element)
    let needsValue: Bool = members.dropsNil && members.canHoldNil && element.constant.map(\.isNull) != false
    return members.exists(where: .conjunction([test, needsValue ? .isNotNull(members.value) : .truth(true)]))
  }

  /// Of no collection no set is made, so that nothing is in it.
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
      return list(place.key, keys, orNull: holdsNil)
    case .value(let value, let type):
      if type == .string, !isLiteral {
        return .disjunction(try members.map { try equality(value, type, $0) })
      }
      let holdsNil: Bool = members.contains(where: \.isNull)
      var bound: [SQLValue] = []
      // Doubles among decimals are more than one value.
      var others: [SQLExpression] = []
      for member in members where !member.isNull {
        if type == .decimal, PredicateConstantEncoding.decimal(member) == nil {
          others.append(try equality(value, type, member))
        } else if case .value(let member) = PredicateConstantEncoding.bind(member, as: type) {
          bound.append(member)
        }
      }
      // Asked for its error: some types can't be compared at all.
      if let first = members.first(where: { !$0.isNull }) { _ = try equality(value, type, first) }
      return .disjunction([list(value, bound, orNull: holdsNil)] + others)
    }
  }

  private func list(_ value: SQLExpression, _ members: [SQLValue], orNull: Bool) -> SQLExpression {
    let test: SQLExpression = ListMembership.condition(value, members)
    return orNull ? .disjunction([test, .isNull(value)]) : test
  }
}

/// `value IN (…)` in few shapes: lists are padded to a power of two by repeating their last member, so that lists of 5 and of 8
/// share a prepared statement. Long lists of keys or text travel as one JSON array, since a statement takes 32,766 values only.
enum ListMembership {
  static let longestBoundList: Int = 1024

  static func condition(_ value: SQLExpression, _ members: [SQLValue]) -> SQLExpression {
    switch members.count {
    case 0: return .truth(false)
    case 1: return .binary(.equal, value, .bound(members[0]))
    case ...longestBoundList: return .inList(value, padded(members).map(SQLExpression.bound))
    default: break
    }
    if let json = json(members) {
      var select = SelectStatement(
        columns: [.column(nil, "value")], source: .function("json_each", [.text(json)]))
      select.condition = .truth(true)
      return .inSelect(value, select)
    }
    let groups: [SQLExpression] = stride(from: 0, to: members.count, by: longestBoundList).map { start in
      let end: Int = min(start + longestBoundList, members.count)
      return .inList(value, padded(Array(members[start..<end])).map(SQLExpression.bound))
    }
    return .disjunction(groups)
  }

  static func padded<T>(_ members: [T]) -> [T] {
    guard let last = members.last else { return members }
    var size: Int = 1
    while size < members.count { size *= 2 }
    return members + Array(repeating: last, count: size - members.count)
  }

  /// The members as a JSON array if they are all integers, or all text without NUL; reals would lose digits on the way.
  static func json(_ members: [SQLValue]) -> String? {
    var result: String = "["
    var kinds: (integers: Bool, texts: Bool) = (false, false)
    for (index, member) in members.enumerated() {
      if index > 0 { result += "," }
      switch member {
      case .integer(let value):
        kinds.integers = true
        result += "\(value)"
      case .text(let value):
        kinds.texts = true
        if value.utf8.contains(0) { return nil }
        result += quoted(value)
      case .null, .real, .blob: return nil
      }
    }
    return kinds.integers && kinds.texts ? nil : result + "]"
  }

  private static func quoted(_ text: String) -> String {
    var result: String = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{1}"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
