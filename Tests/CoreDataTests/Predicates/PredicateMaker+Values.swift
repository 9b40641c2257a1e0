import CoreDataPredicates
import Foundation
import StackSupport

extension PredicateMaker {
  // MARK: Places

  /// Where a path may start: the object, or a subquery's variable.
  private mutating func origin(_ scope: Scope) -> (node: ExpressionNode, entity: String) {
    if !scope.variables.isEmpty, chance(3, of: 4) {
      let variable: (name: String, entity: String) =
        chance(2, of: 3) ? scope.variables[scope.variables.count - 1] : pick(scope.variables)
      return (.variable(variable.name), variable.entity)
    }
    return (.evaluatedObject, scope.entity)
  }

  /// An object along to-one relationships.
  private mutating func place(_ scope: Scope) -> (node: ExpressionNode, entity: String) {
    var (node, name): (ExpressionNode, String) = origin(scope)
    while chance(1, of: 4), !entity(name).toOne.isEmpty {
      let step: (name: String, entity: String) = pick(entity(name).toOne)
      node = .makePath(node, step.name)
      name = step.entity
    }
    return (node, name)
  }

  mutating func anyEntity(_ scope: Scope) -> String {
    chance(1, of: 2) ? scope.entity : pick(["LawThing", "LawOwner", "LawTag", "LawStep"])
  }

  // MARK: Values

  /// An expression with values of this kind.
  mutating func value(_ kind: LawKind, _ scope: Scope, _ depth: Int) -> ExpressionNode {
    if depth > 0, chance(2, of: 5) {
      switch kind {
      case .integer: return integer(scope, depth - 1)
      case .real, .decimal: return number(kind, scope, depth - 1)
      case .text: return text(scope, depth - 1)
      case .date: return date(scope, depth - 1)
      case .flag, .uuid, .url, .data: return common(kind, scope, depth - 1)
      }
    }
    return attribute(kind, scope) ?? constant(kind)
  }

  /// An attribute somewhere along to-one relationships.
  private mutating func attribute(_ kind: LawKind, _ scope: Scope) -> ExpressionNode? {
    for _ in 0..<6 {
      let place: (node: ExpressionNode, entity: String) = place(scope)
      let fitting: [String] = entity(place.entity).attributes.filter { $0.kind == kind }.map(\.name)
      guard !fitting.isEmpty else { continue }
      return .makePath(place.node, pick(fitting))
    }
    return nil
  }

  private func call(_ name: String, _ arguments: [ExpressionNode]) -> ExpressionNode {
    .function(target: nil, name: name, arguments: arguments)
  }

  /// What works for every kind.
  private mutating func common(_ kind: LawKind, _ scope: Scope, _ depth: Int) -> ExpressionNode {
    choose([
      (
        4,
        {
          .conditional(
            $0.predicate(scope, min(depth, 1)), $0.value(kind, scope, depth), $0.value(kind, scope, depth))
        }
      ),
      (1, { $0.call("noindex:", [$0.value(kind, scope, depth)]) }),
      (2, { $0.indexedAttribute(kind, scope) ?? $0.value(kind, scope, depth) }),
      (
        1,
        { maker in
          let members: [ExpressionNode] = (0..<2).map { _ in maker.value(kind, scope, 0) }
          return .index(.aggregate(members), maker.pick([.first, .last, .at(.constant(.integer(1)))]))
        }
      ),
      (
        1,
        { maker in
          let entry: PredicateValue = LawValues.constant(kind, &maker.random)
          return .index(.constant(.dictionary([.string("k"): entry])), .at(.constant(.string("k"))))
        }
      ),
      (
        1,
        { maker in
          guard let path = maker.attribute(kind, scope), case .keyPath(let key) = path, !key.contains(".")
          else {
            return maker.value(kind, scope, 0)
          }
          return .function(
            target: .evaluatedObject, name: "valueForKey:", arguments: [.constant(.string(key))])
        }
      ),
    ])
  }

  private mutating func integer(_ scope: Scope, _ depth: Int) -> ExpressionNode {
    choose([
      (
        6,
        { maker in
          let name: String = maker.pick([
            "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:",
          ])
          return maker.call(name, [maker.value(.integer, scope, depth), maker.value(.integer, scope, depth)])
        }
      ),
      (
        10,
        { maker in
          let name: String = maker.pick([
            "bitwiseAnd:with:", "bitwiseOr:with:", "bitwiseXor:with:", "leftshift:by:", "rightshift:by:",
          ])
          return maker.call(name, [maker.value(.integer, scope, depth), maker.value(.integer, scope, 0)])
        }
      ),
      (2, { $0.call("onesComplement:", [$0.value(.integer, scope, depth)]) }),
      (
        2,
        { $0.call($0.pick([BuiltinFunction.negate.selector, "abs:"]), [$0.value(.integer, scope, depth)]) }
      ),
      (3, { $0.call($0.pick(["floor:", "ceiling:", "trunc:"]), [$0.value(.integer, scope, depth)]) }),
      (3, { $0.call("length:", [$0.value(.text, scope, depth)]) }),
      (1, { .makePath($0.attribute(.text, scope) ?? .constant(.string("abc")), "length") }),
      (5, { $0.size(of: $0.objects(scope, depth).node) }),
      (4, { $0.collected(.integer, ["@sum", "@min", "@max"], scope) }),
      (
        1, { $0.call("castObject:toType:", [$0.value(.text, scope, depth), .constant(.string("NSNumber"))]) }
      ),
      (4, { $0.common(.integer, scope, depth) }),
    ])
  }

  private mutating func number(_ kind: LawKind, _ scope: Scope, _ depth: Int) -> ExpressionNode {
    choose([
      (
        6,
        { maker in
          let name: String = maker.pick([
            "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:",
          ])
          let other: LawKind = maker.pick([kind, kind, .integer, .real, .decimal])
          return maker.call(name, [maker.value(kind, scope, depth), maker.value(other, scope, depth)])
        }
      ),
      (
        4,
        {
          $0.call("raise:toPower:", [$0.value(kind, scope, depth), .constant(.integer($0.pick([0, 1, 2])))])
        }
      ),
      (2, { $0.call($0.pick([BuiltinFunction.negate.selector, "abs:"]), [$0.value(kind, scope, depth)]) }),
      (6, { $0.call($0.pick(["floor:", "ceiling:", "trunc:"]), [$0.value(kind, scope, depth)]) }),
      (8, { $0.call($0.pick(["sqrt:", "exp:", "ln:", "log:"]), [$0.value(kind, scope, depth)]) }),
      (5, { $0.collected(kind, ["@sum", "@avg", "@min", "@max"], scope) }),
      (
        12,
        { maker in
          let members: [ExpressionNode] = (0..<2).map { _ in maker.value(kind, scope, 0) }
          let name: String = maker.pick(["sum:", "average:", "min:", "max:", "median:", "stddev:"])
          return maker.call(name, [.aggregate(members)])
        }
      ),
      (
        1,
        { maker in
          let source: ExpressionNode = maker.value(maker.pick([.date, .integer]), scope, depth)
          return maker.call("castObject:toType:", [source, .constant(.string("NSNumber"))])
        }
      ),
      (
        1,
        { maker in
          maker.call(
            "castObject:toType:", [maker.value(.integer, scope, 0), .constant(.string("NSDecimalNumber"))])
        }
      ),
      (4, { $0.common(kind, scope, depth) }),
    ])
  }

  private mutating func text(_ scope: Scope, _ depth: Int) -> ExpressionNode {
    choose([
      (5, { $0.call($0.pick(["lowercase:", "uppercase:", "canonical:"]), [$0.value(.text, scope, depth)]) }),
      (
        2,
        { maker in
          let source: ExpressionNode = maker.value(maker.pick([.integer, .flag, .text]), scope, depth)
          return maker.call("castObject:toType:", [source, .constant(.string("NSString"))])
        }
      ),
      (
        1,
        { maker in
          .function(
            target: maker.value(.text, scope, depth), name: "stringByAppendingString:",
            arguments: [maker.value(.text, scope, 0)])
        }
      ),
      (1, { .function(target: $0.value(.text, scope, depth), name: "uppercaseString", arguments: []) }),
      (1, { .makePath($0.attribute(.text, scope) ?? .constant(.string("abc")), "lowercaseString") }),
      (1, { .makePath($0.attribute(.url, scope) ?? .constant(.url(LawValues.urls[0])), "absoluteString") }),
      (3, { $0.collected(.text, ["@min", "@max"], scope) }),
      (4, { $0.common(.text, scope, depth) }),
    ])
  }

  private mutating func date(_ scope: Scope, _ depth: Int) -> ExpressionNode {
    choose([
      (
        2,
        {
          $0.call(
            "castObject:toType:",
            [$0.value($0.pick([.integer, .real]), scope, depth), .constant(.string("NSDate"))])
        }
      ),
      (
        1,
        { maker in
          .function(
            target: maker.value(.date, scope, depth), name: "dateByAddingTimeInterval:",
            arguments: [maker.value(.integer, scope, 0)])
        }
      ),
      (1, { $0.call("now", []) }),
      (3, { $0.collected(.date, ["@min", "@max"], scope) }),
      (4, { $0.common(.date, scope, depth) }),
    ])
  }

  // MARK: Collections

  /// The members of a relationship, perhaps along others.
  mutating func relationship(_ scope: Scope) -> Members {
    var (node, name): (ExpressionNode, String) = place(scope)
    while entity(name).toMany.isEmpty {
      let step: (name: String, entity: String) = pick(entity(name).toOne)
      (node, name) = (.makePath(node, step.name), step.entity)
    }
    let step: (name: String, entity: String, isOrdered: Bool) = pick(entity(name).toMany)
    return Members(node: .makePath(node, step.name), entity: step.entity, isOrdered: step.isOrdered)
  }

  /// A relationship's members with a further to-one or to-many step now and then.
  private mutating func longRelationship(_ scope: Scope) -> Members {
    var members: Members = relationship(scope)
    if chance(1, of: 6), !entity(members.entity).toOne.isEmpty {
      let step: (name: String, entity: String) = pick(entity(members.entity).toOne)
      members = Members(
        node: .makePath(members.node, step.name), entity: step.entity, isOrdered: members.isOrdered)
    } else if chance(1, of: 6), !entity(members.entity).toMany.isEmpty {
      let step: (name: String, entity: String, isOrdered: Bool) = pick(entity(members.entity).toMany)
      members = Members(
        node: .makePath(members.node, step.name), entity: step.entity, isOrdered: members.isOrdered)
    }
    return members
  }

  /// A collection of objects.
  mutating func objects(_ scope: Scope, _ depth: Int) -> Members {
    if depth == 0 { return relationship(scope) }
    return choose([
      (6, { $0.relationship(scope) }),
      (2, { $0.longRelationship(scope) }),
      (
        5,
        { maker in
          var members: Members = maker.relationship(scope)
          let name: String = maker.pick(["x", "y", "z"])
          var inner: Scope = scope
          inner.variables.append((name, members.entity))
          let test: PredicateNode = maker.predicate(inner, depth - 1)
          members.node = .subquery(collection: members.node, variable: name, predicate: test)
          return members
        }
      ),
      (1, { $0.combined(scope) }),
    ])
  }

  /// `a UNION b` and its kind, over two relationships to one entity where there are two.
  private mutating func combined(_ scope: Scope) -> Members {
    let left: Members = relationship(scope)
    guard !left.isOrdered else { return left }
    var right: Members = relationship(scope)
    for _ in 0..<5 where right.entity != left.entity { right = relationship(scope) }
    return Members(
      node: .set(pick([.union, .intersect, .minus]), left.node, right.node), entity: left.entity,
      isOrdered: false)
  }

  /// The values of an attribute for the members of a collection.
  mutating func memberValues(_ kind: LawKind, _ scope: Scope) -> ExpressionNode? {
    for _ in 0..<6 {
      let members: Members = chance(1, of: 8) ? objects(scope, 1) : longRelationship(scope)
      guard let path = attributePath(kind, members.entity) else { continue }
      if chance(1, of: 10) {
        return .makePath(members.node, pick(["@distinctUnionOfObjects.", "@unionOfObjects."]) + path)
      }
      return .makePath(members.node, path)
    }
    return nil
  }

  /// The name of an attribute of that kind, perhaps of a to-one relationship's target.
  private mutating func attributePath(_ kind: LawKind, _ name: String) -> String? {
    if chance(1, of: 8), !entity(name).toOne.isEmpty {
      let step: (name: String, entity: String) = pick(entity(name).toOne)
      let fitting: [String] = entity(step.entity).attributes.filter { $0.kind == kind }.map(\.name)
      return fitting.isEmpty ? nil : "\(step.name).\(pick(fitting))"
    }
    let fitting: [String] = entity(name).attributes.filter { $0.kind == kind }.map(\.name)
    return fitting.isEmpty ? nil : pick(fitting)
  }

  /// `items.@sum.price`, or `sum:(items.price)`.
  private mutating func collected(_ kind: LawKind, _ marks: [String], _ scope: Scope) -> ExpressionNode {
    for _ in 0..<8 {
      let members: Members = chance(1, of: 6) ? objects(scope, 1) : relationship(scope)
      guard let path = attributePath(kind, members.entity) else { continue }
      let mark: String = pick(marks)
      if chance(3, of: 4) { return .makePath(members.node, "\(mark).\(path)") }
      let names: [String: String] = ["@sum": "sum:", "@avg": "average:", "@min": "min:", "@max": "max:"]
      return call(names[mark] ?? "sum:", [.makePath(members.node, path)])
    }
    return constant(kind)
  }

  /// `steps[0].name`, with an index that some arrays have.
  private mutating func indexedAttribute(_ kind: LawKind, _ scope: Scope) -> ExpressionNode? {
    guard let element = indexedObject(nil, scope), let path = attributePath(kind, element.entity) else {
      return nil
    }
    return .makePath(element.node, path)
  }

  private mutating func indexedObject(
    _ wanted: String?, _ scope: Scope
  ) -> (node: ExpressionNode, entity: String)? {
    for _ in 0..<6 {
      let members: Members = relationship(scope)
      guard members.isOrdered, wanted == nil || members.entity == wanted else { continue }
      let index: IndexNode = pick([.first, .last, .at(.constant(.integer(0))), .at(.constant(.integer(1)))])
      return (.index(members.node, index), members.entity)
    }
    return nil
  }

  // MARK: Objects

  /// An expression that gives an object of this entity, or none.
  mutating func object(_ wanted: String, _ scope: Scope, _ depth: Int) -> ExpressionNode {
    let root: String = entity(wanted).root
    if depth > 0, chance(1, of: 8) {
      return .conditional(
        predicate(scope, 0), object(wanted, scope, 0),
        chance(1, of: 4) ? .constant(.null) : object(wanted, scope, 0))
    }
    if chance(1, of: 8), let element = indexedObject(wanted, scope) { return element.node }
    for _ in 0..<6 {
      let place: (node: ExpressionNode, entity: String) = place(scope)
      guard entity(place.entity).root == root else { continue }
      return place.node
    }
    return constantObject(wanted)
  }
}
