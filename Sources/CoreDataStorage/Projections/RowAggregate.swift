import CoreDataPredicates

/// A function that computes one value from many rows.
///
///     sum:(price)          the prices of the rows
///     count:(tags)         the members of all the rows' relationships together
///     tags.@count          the same, in the spelling of key paths
///     @max.price           over the rows themselves
package struct RowAggregate: Sendable, Hashable {
  package enum Function: String, Sendable, CaseIterable {
    /// Counts the values that are not nil.
    case count = "count:"
    /// Counts rows, or members of a to-many relationship, whatever they hold.
    case members = "@count"
    /// 0 if there are no values.
    case sum = "sum:"
    /// Of the values that are not nil; nil if there are none.
    case average = "average:"
    /// nil counts as 0, as in key-value coding; nil if there are no values.
    case mean = "@avg"
    case min = "min:"
    case max = "max:"
  }

  package var function: Function
  /// Read from every row. A path over to-many relationships gives all the values at its end.
  package var argument: ExpressionNode

  init(_ function: Function, _ argument: ExpressionNode) {
    self.function = function
    self.argument = argument
  }

  /// The aggregate that an expression is; nil for any other. Functions of literal lists are no aggregates.
  package init?(_ expression: ExpressionNode) {
    switch expression {
    case .function(target: nil, let name, let arguments):
      guard arguments.count == 1, let function = Function(rawValue: name) else { return nil }
      switch arguments[0] {
      case .constant, .aggregate, .variable, .set: return nil
      case .subquery where function == .count: self.init(.sum, .path(arguments[0], "@count"))
      default: self.init(function, arguments[0])
      }
    case .path(.subquery, "@count"): self.init(.sum, expression)
    case .keyPath(let path): self.init(keyPath: path)
    default: return nil
    }
  }

  private init?(keyPath: String) {
    let parts: [Substring] = keyPath.split(separator: ".", omittingEmptySubsequences: false)
    guard let place = parts.firstIndex(where: { $0.hasPrefix("@") }) else { return nil }
    let rest: ArraySlice<Substring> = parts[(place + 1)...]
    let function: Function
    switch parts[place] {
    case "@count" where rest.isEmpty: function = .members
    case "@sum" where !rest.isEmpty: function = .sum
    case "@avg" where !rest.isEmpty: function = .mean
    case "@min" where !rest.isEmpty: function = .min
    case "@max" where !rest.isEmpty: function = .max
    default: return nil
    }
    let path: String = (parts[..<place] + rest).joined(separator: ".")
    // `self` may be the name of a property.
    let isObject: Bool = path.isEmpty || path != "self" && path.lowercased() == "self"
    self.init(function, isObject ? .evaluatedObject : .keyPath(path))
  }

  /// Whether the expression contains an aggregate of the fetched rows, so that a fetch without groups has one
  /// row. An operator after a relationship (`tags.@count`) is a value of each row.
  static func isOverRows(_ expression: ExpressionNode) -> Bool {
    switch expression {
    case .keyPath(let path): return path.hasPrefix("@")
    case .function where RowAggregate(expression) != nil: return true
    // Functions in a subquery's predicate apply to the members of one row.
    case .subquery: return false
    default: break
    }
    var found: Bool = false
    expression.forEachChild(
      { found = found || isOverRows($0) }, predicate: { found = found || isOverRows($0) })
    return found
  }

  private static func isOverRows(_ predicate: PredicateNode) -> Bool {
    switch predicate {
    case .constant, .block: false
    case .comparison(let node): isOverRows(node.left) || isOverRows(node.right)
    case .compound(_, let members): members.contains { isOverRows($0) }
    }
  }
}
