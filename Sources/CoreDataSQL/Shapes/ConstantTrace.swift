import CoreDataPredicates

/// Follows the parameters of a shape through one compilation.
///
/// The compiler decides by the values of constants: nil is `IS NULL`, a NaN is never equal, a pattern may be
/// a range. So a statement is right for another value only if the compiler has used the first one in a way
/// that is known to be the same for both. Where it has, the comparison says so
/// (``Comparison/traced(_:_:_:)``), and the expression carries the use in place of the value. A parameter
/// that is met anywhere else, or nowhere, counts as fixed: the statement is for this very value.
///
/// The compiler sees the predicate with a variable in the place of each parameter, by which it finds the
/// comparison again.
final class ConstantTrace {
  private let comparisons: [ComparisonNode]
  private var states: [State]
  private(set) var uses: [ConstantUse] = []
  /// The predicate to compile.
  let predicate: PredicateNode?

  private enum State {
    case unmet, traced, fixed
  }

  /// `parameters`: those of the shape. The predicate's come first.
  init(_ predicate: PredicateNode?, parameters: [PredicateValue]) {
    var comparisons: [ComparisonNode] = []
    self.predicate = predicate?.mapParameters { node, parameter in
      var marked: ComparisonNode = node
      let mark: ExpressionNode = .variable(Self.name(comparisons.count))
      comparisons.append(node)
      if parameter.isLeft { marked.left = mark } else { marked.right = mark }
      return marked
    }
    self.comparisons = comparisons
    states = Array(repeating: .unmet, count: parameters.count)
  }

  /// No format and no program names variables so.
  private static let mark: String = "\0"
  private static func name(_ number: Int) -> String { "\(mark)\(number)" }

  /// The comparison as it was, and the number of its parameter.
  func original(_ node: ComparisonNode) -> (node: ComparisonNode, parameter: Int?) {
    for case .variable(let name) in [node.left, node.right] where name.hasPrefix(Self.mark) {
      guard let number = Int(name.dropFirst()), comparisons.indices.contains(number) else { continue }
      var original: ComparisonNode = node
      if case .variable(name) = node.left {
        original.left = comparisons[number].left
      } else {
        original.right = comparisons[number].right
      }
      return (original, number)
    }
    return (node, nil)
  }

  var parameterCount: Int { states.count }

  /// Notes a use; gives its number.
  func add(_ use: ConstantUse) -> Int {
    if let known = uses.firstIndex(of: use) { return known }
    uses.append(use)
    return uses.count - 1
  }

  func noteTraced(_ parameter: Int) {
    if states[parameter] == .unmet { states[parameter] = .traced }
  }

  func noteFixed(_ parameter: Int) { states[parameter] = .fixed }

  /// Those that the statement is made for the very values of.
  var fixed: [Int] { states.indices.filter { states[$0] != .traced } }
}
