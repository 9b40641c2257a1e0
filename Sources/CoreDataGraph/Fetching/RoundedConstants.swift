import CoreDataPredicates
import CoreDataStorage
import Foundation

// Constants with more digits than stores keep, in the comparisons of a fetch (Decisions/0037, 0055):
//
//     price == 0.12345678901234567890                  the double 0.12345678901234568: price is what a save kept of such a number
//     SUBQUERY(items, $i, $i.price == 0.123…)          the same: $i is an object of items' destination
//     items.@max.price, max(price), {price, fee}       computed from stored values, and compared in the same way
//
// Decimals and doubles are compared by the nearest doubles, in memory and in SQL, so that the value that was
// set finds the object.

extension PredicateNode {
  /// Whether a constant has more digits than stores keep.
  var hasRoundedConstants: Bool {
    var result = false
    forEachExpression { if case .constant(let value) = $0, value.isRounded { result = true } }
    return result
  }

  /// The predicate with constants as stores keep them. If there are none to round, it only examines each
  /// constant.
  func comparingRounded(from entity: EntityRuntime) -> PredicateNode {
    guard hasRoundedConstants else { return self }
    return StackGuard.run(levels: depth) { RoundedConstants(subject: entity).rounded(self) }
  }
}

extension ExpressionNode {
  private var hasRoundedConstants: Bool {
    var result = false
    forEachExpression { if case .constant(let value) = $0, value.isRounded { result = true } }
    return result
  }

  /// The expression with constants as stores keep them, in the predicates inside it.
  func comparingRounded(from entity: EntityRuntime) -> ExpressionNode {
    guard hasRoundedConstants else { return self }
    return StackGuard.run(levels: depth) { RoundedConstants(subject: entity).rounded(self) }
  }
}

/// Walks from the top: the entity of a variable is known only below its `SUBQUERY`.
private struct RoundedConstants {
  let subject: EntityRuntime
  /// The entities of the variables of the enclosing subqueries.
  var variables: [String: EntityRuntime] = [:]

  func rounded(_ node: PredicateNode) -> PredicateNode {
    switch node {
    case .constant, .block: return node
    case .compound(let kind, let members): return .compound(kind, members.map(rounded))
    case .comparison(var comparison):
      comparison.left = rounded(comparison.left)
      comparison.right = rounded(comparison.right)
      let (left, right): (Bool, Bool) = (isRounded(comparison.left), isRounded(comparison.right))
      if left { comparison.right = comparison.right.mapConstants { $0.rounded } }
      if right { comparison.left = comparison.left.mapConstants { $0.rounded } }
      return .comparison(comparison)
    }
  }

  /// Only predicates within an expression contain comparisons.
  func rounded(_ node: ExpressionNode) -> ExpressionNode {
    guard case .subquery(let collection, let variable, let predicate) = node else {
      return node.mapChildren(rounded, predicate: rounded)
    }
    var inner: RoundedConstants = self
    inner.variables[variable] = destination(of: collection)
    return .subquery(
      collection: rounded(collection), variable: variable, predicate: inner.rounded(predicate))
  }

  /// Whether the value comes from a decimal attribute that is rounded.
  private func isRounded(_ node: ExpressionNode) -> Bool {
    switch node {
    case .keyPath(let path): return end(of: path, from: subject).isRounded
    case .path(let target, let path):
      return destination(of: target).map { end(of: path, from: $0).isRounded } ?? false
    case .index(let target, _): return isRounded(target)
    case .conditional(_, let then, let otherwise): return isRounded(then) || isRounded(otherwise)
    case .set(_, let left, let right): return isRounded(left) || isRounded(right)
    case .function(target: nil, let name, let arguments):
      return !Self.counting.contains(name) && arguments.contains(where: isRounded)
    case .aggregate(let members): return members.contains(where: isRounded)
    default: return false
    }
  }

  /// Functions whose result is no decimal, whatever their arguments.
  private static let counting: Set<String> = ["count:", "distinct:", "length:", "castObject:toType:"]

  /// The entity of the objects that are an expression's value.
  private func destination(of node: ExpressionNode) -> EntityRuntime? {
    switch node {
    case .evaluatedObject: subject
    case .variable(let name): variables[name]
    case .keyPath(let path): end(of: path, from: subject).entity
    case .path(let target, let path): destination(of: target).flatMap { end(of: path, from: $0).entity }
    case .subquery(let collection, _, _): destination(of: collection)
    case .index(let target, _): destination(of: target)
    case .set(_, let left, _): destination(of: left)
    default: nil
    }
  }

  /// The entity at the end of a path; collection operators continue with the path after them.
  private func end(of path: String, from entity: EntityRuntime) -> (entity: EntityRuntime?, isRounded: Bool) {
    var rest: Substring = path[...]
    var entity: EntityRuntime = entity
    while true {
      if let number = entity.layout.slotByName[String(rest)] {
        let destination: Int? = entity.layout.slots[number].destination
        return (destination.map { entity.model.entities[$0] }, entity.compactSlots[number].isRounded)
      }
      guard let point = rest.firstIndex(of: ".") else { return (rest == "self" ? entity : nil, false) }
      let name: Substring = rest[..<point]
      rest = rest[rest.index(after: point)...]
      if name.hasPrefix("@") { continue }
      guard let destination = entity.layout.slot(named: String(name))?.destination else {
        return (nil, false)
      }
      entity = entity.model.entities[destination]
    }
  }
}

extension PredicateValue {
  /// Whether it is a number, or contains one, that a store would round.
  fileprivate var isRounded: Bool {
    switch self {
    case .decimal(let number):
      let text: String = number.description
      return DecimalText.kept(text) != text
    case .unsigned(let number): return number > UInt64(Int64.max)
    case .array(let members): return members.contains(where: \.isRounded)
    case .set(let members): return members.contains(where: \.isRounded)
    default: return false
    }
  }

  /// Numbers that a store would round, as the nearest real.
  fileprivate var rounded: PredicateValue {
    switch self {
    case .decimal(let number):
      return isRounded ? Double(number.description).map { .double($0) } ?? self : self
    case .unsigned(let number): return isRounded ? .double(Double(number)) : self
    case .array(let members): return .array(members.map(\.rounded))
    case .set(let members): return .set(Set(members.map(\.rounded)))
    default: return self
    }
  }
}
