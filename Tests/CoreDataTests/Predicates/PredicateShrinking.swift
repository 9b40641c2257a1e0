import CoreDataPredicates

// Making a predicate that fails a law smaller, so that people can read it.

extension PredicateNode {
  /// The smallest predicate found by leaving parts out for which `fails` still holds.
  func shrunk(tries: Int = 400, while fails: (PredicateNode) -> Bool) -> PredicateNode {
    var smallest: PredicateNode = self
    var left: Int = tries
    search: while left > 0 {
      for candidate in smallest.simpler {
        left -= 1
        if left == 0 { break search }
        if fails(candidate) {
          smallest = candidate
          continue search
        }
      }
      break
    }
    return smallest
  }

  /// Predicates with one part less.
  var simpler: [PredicateNode] {
    switch self {
    case .constant, .block: return []
    case .compound(let kind, let members):
      var result: [PredicateNode] = members
      for (place, member) in members.enumerated() {
        result += member.simpler.map { simple in
          var changed: [PredicateNode] = members
          changed[place] = simple
          return .compound(kind, changed)
        }
      }
      return result
    case .comparison(let node):
      var result: [ComparisonNode] = []
      func add(_ change: (inout ComparisonNode) -> Void) {
        var changed: ComparisonNode = node
        change(&changed)
        result.append(changed)
      }
      if !node.options.isEmpty { add { $0.options = [] } }
      for simple in node.left.simpler { add { $0.left = simple } }
      for simple in node.right.simpler { add { $0.right = simple } }
      return result.map(PredicateNode.comparison)
    }
  }
}

extension ExpressionNode {
  /// Expressions with one part less: parts in place of the whole, and wholes with a smaller part.
  fileprivate var simpler: [ExpressionNode] {
    switch self {
    case .constant(let value): return Self.simpler(value)
    case .evaluatedObject, .variable, .anyKey, .block, .assignment, .fetch: return []
    case .keyPath(let path):
      let parts: [Substring] = path.split(separator: ".")
      return parts.count > 1
        ? [
          .keyPath(parts.dropFirst().joined(separator: ".")),
          .keyPath(parts.dropLast().joined(separator: ".")),
        ] : []
    case .path(let target, let path): return [target] + target.simpler.map { .makePath($0, path) }
    case .dynamicPath(let target, let key): return [target] + target.simpler.map { .dynamicPath($0, key) }
    case .index(let target, let index): return [target] + target.simpler.map { .index($0, index) }
    case .function(let target, let name, let arguments):
      var result: [ExpressionNode] = (target.map { [$0] } ?? []) + arguments
      if let target {
        result += target.simpler.map { .function(target: $0, name: name, arguments: arguments) }
      }
      for (place, argument) in arguments.enumerated() {
        result += argument.simpler.map { simple in
          var changed: [ExpressionNode] = arguments
          changed[place] = simple
          return .function(target: target, name: name, arguments: changed)
        }
      }
      return result
    case .aggregate(let members):
      return members.indices.map { place in
        var fewer: [ExpressionNode] = members
        fewer.remove(at: place)
        return .aggregate(fewer)
      }
    case .subquery(let collection, let variable, let predicate):
      let tests: [PredicateNode] = (predicate == .constant(true) ? [] : [.constant(true)]) + predicate.simpler
      return [collection] + tests.map { .subquery(collection: collection, variable: variable, predicate: $0) }
        + collection.simpler.map { .subquery(collection: $0, variable: variable, predicate: predicate) }
    case .conditional(let test, let then, let otherwise):
      return [then, otherwise] + test.simpler.map { .conditional($0, then, otherwise) }
        + then.simpler.map { .conditional(test, $0, otherwise) }
        + otherwise.simpler.map { .conditional(test, then, $0) }
    case .set(let operation, let left, let right):
      return [left, right] + left.simpler.map { .set(operation, $0, right) }
        + right.simpler.map { .set(operation, left, $0) }
    }
  }

  private static func simpler(_ value: PredicateValue) -> [ExpressionNode] {
    switch value {
    case .array(let members):
      return members.indices.map { place in
        var fewer: [PredicateValue] = members
        fewer.remove(at: place)
        return .constant(.array(fewer))
      }
    case .set(let members): return members.map { .constant(.set(members.subtracting([$0]))) }
    default: return []
    }
  }
}
