import CoreDataPredicates
import CoreDataStorage

extension PredicateCompiler {
  /// `ANY`, `SOME` and `ALL` over a path with at least one to-many step; several steps are one flat collection.
  func quantified(_ node: ComparisonNode, _ scope: PredicateScope) throws -> SQLExpression {
    let (start, path) = try startOfPath(node.left, scope)
    let text: String = Printer.print(node.left)
    guard let start else {
      throw unsupported(
        node.left, "ANY, SOME, ALL and NONE need a to-many relationship on their left side in a store",
        "compare a path such as items.name, or use SUBQUERY(items, $x, …).@count > 0")
    }
    let frame = SelectFrame(aliases: start.frame.aliases)
    var links: [SQLExpression] = []
    var current: Operand = try paths.resolve(path, from: start, path: text)
    var entered: Bool = false
    while case .members(let many) = current, many.rest.first?.hasPrefix("@") != true {
      let members: EnteredMembers = try paths.enter(many, in: frame, path: text)
      links.append(members.link)
      entered = true
      current = try paths.resolve(many.rest, from: members.member, path: text)
    }
    guard entered else {
      throw StoreError.unsupported(
        part: Printer.print(.comparison(node)),
        reason: "ANY, SOME, ALL and NONE need a to-many relationship, and '\(text)' crosses none",
        advice: "leave the quantifier out")
    }
    if case .members(let many) = current { current = try aggregate(many, text: text) }
    let right: Operand = try operand(node.right, scope)
    let test: SQLExpression = try Comparison(node: node, compiler: self).compile(current, right)
    if node.modifier == .all {
      let failing: SQLExpression = .conjunction(links + [test.negated])
      return exists(frame, failing).negated
    }
    return exists(frame, .conjunction(links + [test]))
  }

  func exists(_ frame: SelectFrame, _ condition: SQLExpression) -> SQLExpression {
    if condition == .truth(false) { return .truth(false) }
    return .exists(frame.select([.integer(1)], where: condition), isNegated: false)
  }

  /// Where a path starts and its components; nil for an expression that is no path.
  func startOfPath(
    _ expression: ExpressionNode, _ scope: PredicateScope
  ) throws -> (ObjectPlace?, ArraySlice<String>) {
    switch expression {
    case .evaluatedObject: return (scope.object, [])
    case .keyPath(let path): return (scope.object, KeyPathResolver.components(path)[...])
    case .variable(let name): return (try variable(name, scope), [])
    case .path(.variable(let name), let path):
      return (try variable(name, scope), KeyPathResolver.components(path)[...])
    case .path(.evaluatedObject, let path): return (scope.object, KeyPathResolver.components(path)[...])
    default: return (nil, [])
    }
  }

  private func variable(_ name: String, _ scope: PredicateScope) throws -> ObjectPlace {
    if let place = scope.variables[name] { return place }
    throw StoreError.unsupported(
      part: "$\(name)", reason: "the variable has no value",
      advice: "give it one with withSubstitutionVariables before fetching")
  }
}
