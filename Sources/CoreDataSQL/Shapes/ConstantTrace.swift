import CoreDataPredicates

/// Follows the parameters of a shape through one compilation.
///
/// The compiler makes decisions by the values of constants: nil is `IS NULL`, a NaN is never equal, a pattern
/// may be a range. So a statement is right for another value only if the compiler has used the first one in a
/// way that is the same for both. If it has, the comparison records that (``Comparison/traced(_:_:_:)``), and
/// the expression contains the use in place of the value. A parameter used anywhere else, or nowhere, is
/// fixed: the statement is valid for this value only.
///
/// The predicate to compile has a variable in the place of each parameter, by which the comparison is found
/// again.
final class ConstantTrace {
  private let comparisons: [ComparisonNode]
  private var states: [State]
  private(set) var uses: [ConstantUse] = []
  /// The position of each use.
  private var numbers: [ConstantUse: Int] = [:]
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

  /// A name that neither a format nor a program can use for a variable.
  private static let mark: String = "\0"
  private static func name(_ number: Int) -> String { "\(mark)\(number)" }

  /// The original comparison, and the number of its parameter.
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

  /// Records a use; returns its number.
  func add(_ use: ConstantUse) -> Int {
    if let known = numbers[use] { return known }
    numbers[use] = uses.count
    uses.append(use)
    return uses.count - 1
  }

  func noteTraced(_ parameter: Int) {
    if states[parameter] == .unmet { states[parameter] = .traced }
  }

  func noteFixed(_ parameter: Int) { states[parameter] = .fixed }

  /// The parameters for whose exact values the statement was made.
  var fixed: [Int] { states.indices.filter { states[$0] != .traced } }
}
