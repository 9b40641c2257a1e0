import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates

/// Traverses a predicate and reports everything in it that doesn't fit an entity.
///
/// Every expression gets an example of the values it will have: an attribute a value of its type, a
/// relationship a placeholder for an object (``ExampleObject``) or a collection of such, a constant itself.
/// nil is an expression of unknown type, which is not checked. Operators and functions are evaluated on the
/// examples (`SampleEvaluation`), so the check and the evaluator refuse the same.
///
/// ```
/// ANY items.price > 3     items.price → {1.0, 2.0}; one of them, 1.0 > 3: a number and a number, well
/// items.price > 3         {1.0, 2.0} > 3: many values where one is needed
/// name.length > 'x'       name.length → 1; 1 > 'x': there is no order between the two
/// ```
///
/// Cost: one look-up a key and a few comparisons an operator; text is made for problems only. Deep trees are
/// traversed on a thread with enough stack.
struct PredicateCheck {
  /// Whether a variable without a value is a problem; templates get theirs later.
  private let needsVariables: Bool
  /// Whether the predicate was made from a format with arguments, or typed.
  let takesArguments: Bool
  /// Whether warnings are reported; a fetch needs errors only.
  let findsWarnings: Bool
  /// The entity whose keys the predicate reads, also inside of subqueries.
  let entity: NSEntityDescription
  private(set) var problems: [PredicateProblem] = []
  /// The current depth in the tree.
  private var level: Int = 0
  /// Values of variables: those given by the caller, and those of the enclosing subqueries.
  var variables: [String: PredicateValue?]

  init(
    _ entity: NSEntityDescription, variables: [String: PredicateValue?] = [:], needsVariables: Bool = true,
    findsWarnings: Bool = true, takesArguments: Bool = true
  ) {
    self.takesArguments = takesArguments
    self.entity = entity
    self.variables = variables
    self.needsVariables = needsVariables
    self.findsWarnings = findsWarnings
  }

  /// The limit of the list; a generated predicate may be wrong in a million places.
  static let mostProblems: Int = 100

  /// Whether the check ends here.
  var isFull: Bool { problems.count >= Self.mostProblems }

  mutating func report(_ problem: PredicateProblem) {
    // A key that is read twice is wrong once.
    if !isFull, !problems.contains(problem) { problems.append(problem) }
  }

  // MARK: Depth

  /// Levels that fit the stack of any thread.
  private static let shallow: Int = 16
  /// The most stack that a level takes, frames of the evaluator included.
  private static let bytesPerLevel: Int = _isDebugAssertConfiguration() ? 16 << 10 : 4 << 10

  /// Continues one level deeper, on a thread with more stack where this one's is too small.
  mutating func descend<Value>(or nothing: Value, _ walk: (inout PredicateCheck) -> Value) -> Value {
    level += 1
    defer { level -= 1 }
    if level > TreeLimits.depth {
      reportTooDeep()
      return nothing
    }
    guard level == Self.shallow else { return walk(&self) }
    return StackGuard.run(bytes: TreeLimits.depth * Self.bytesPerLevel) { walk(&self) }
  }

  mutating func reportTooDeep() {
    report(
      PredicateProblem(
        .tooDeep, part: "the predicate", reason: "it is nested more than \(TreeLimits.depth) levels deep",
        advice: "Give one AND or OR all its members at once."))
  }

  // MARK: Traversal

  /// An example of a variable's value.
  mutating func value(ofVariable name: String) -> PredicateValue? {
    if let known = variables[name] { return known }
    if needsVariables {
      report(
        PredicateProblem(
          .unboundVariable, part: "$\(name)", name: name, reason: "the variable has no value",
          advice: takesArguments
            ? "Give it one with withSubstitutionVariables(_:) before the fetch." : "Write the value."))
    }
    return nil
  }

  mutating func check(_ predicate: PredicateNode) {
    if isFull { return }
    switch predicate {
    case .constant: break
    case .compound(_, let members): descend(or: ()) { for member in members { $0.check(member) } }
    case .comparison(let node): check(node)
    // Code, which only its execution could check. Compounds that are too deep for a traversal are stored in
    // this case too.
    case .block(let block):
      if block.isTooDeep { reportTooDeep() }
    }
  }

  private mutating func check(_ node: ComparisonNode) {
    let count: Int = problems.count
    checkOperands(of: node)
    guard node.left == .evaluatedObject || node.right == .evaluatedObject, problems.count > count else {
      return
    }
    for place in count..<problems.count { problems[place].advice += adviceOnSelf(problems[place]) }
  }

  /// A comparison of `SELF` with a value probably means a property, perhaps one of that name.
  private func adviceOnSelf(_ problem: PredicateProblem) -> String {
    let names: [String] = entity.propertiesByName.keys.filter { $0.lowercased() == "self" }.sorted()
    if !names.isEmpty {
      return " SELF is the object itself; its property of that name is written "
        + names.map { "#\($0)" }.joined(separator: " or ") + "."
    }
    if problem.advice.contains("its properties") { return "" }
    return " SELF is the object itself; compare one of its properties."
  }

  private mutating func checkOperands(of node: ComparisonNode) {
    let left: PredicateValue? = example(of: node.left)
    let right: PredicateValue? = example(of: node.right)
    if node.modifier == .direct { return compare(left, node, right, isMember: false) }
    if let left, !left.isNull, !left.isCollection {
      if node.takesSingleValue { return compare(left, node, right, isMember: false) }
      report(
        PredicateProblem(
          .notCollection, part: Printer.print(.comparison(node)), subject: subject(node.left),
          reason:
            "ANY, SOME, ALL and NONE need a collection, and \(Printer.print(node.left)) is \(left.kindName)",
          advice: "Leave the quantifier out, or name a to-many relationship."))
    }
    compare(left?.innermostMember, node, right, isMember: true)
  }

  /// - Parameter isMember: whether `left` is one of the members of the node's left side.
  private mutating func compare(
    _ left: PredicateValue?, _ node: ComparisonNode, _ right: PredicateValue?, isMember: Bool
  ) {
    if refusesConstant(left, node, right) { return }
    switch node.comparison {
    case .equalTo, .notEqualTo:
      if let right, !right.isCollection, !isMember, refusesMany(left, node.left, node) { return }
      if let left, !left.isCollection, refusesMany(right, node.right, node) { return }
      if let right { warnIfNeverEqual(left, CollectionOfOne(right), node) }
    case .in:
      if let right, !right.holdsCollections, !isMember, refusesMany(left, node.left, node) { return }
      checkMembership(of: left, in: right, node.right, node, left, right)
    case .contains:
      if let left, !left.holdsCollections, refusesMany(right, node.right, node) { return }
      checkMembership(of: right, in: left, node.left, node, left, right)
    case .between:
      if !isMember, refusesMany(left, node.left, node) { return }
      checkBounds(left, node, right)
    case .matches, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .like, .beginsWith,
      .endsWith:
      if !isMember, refusesMany(left, node.left, node) { return }
      if refusesMany(right, node.right, node) { return }
      if node.comparison == .matches, refusesPattern(node) { return }
      attempt(left, node, right)
    case .customSelector where node.block != nil: break
    case .customSelector:
      _ = answer(to: node.selector ?? "", from: left, [right], part: Printer.print(.comparison(node)))
    case .tokenMatches, .utiEquals: attempt(left, node, right)
    case .utiConformsTo:
      // Conformance to a UTI depends on the value; that it is a text does not.
      var test: ComparisonNode = node
      test.comparison = .utiEquals
      attempt(left, node, right, trying: test)
    }
  }
}
