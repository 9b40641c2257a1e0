import Foundation

extension Parser {
  /// Levels that are parsed on the caller's stack without checking it. Nearly every format has fewer.
  static let shallowNesting: Int = 16
  /// The greatest number of levels: a level of the tree may print as an operator and a parenthesis.
  static let deepNesting: Int = 2 * TreeLimits.depth + 8
  /// The most stack that a level takes. Without optimisation frames are several times larger.
  private static let bytesPerLevel: Int = _isDebugAssertConfiguration() ? 32 << 10 : 14 << 10

  /// Parses on the caller's stack, and again with stack for all levels if the format is nested deeper than is
  /// certain to fit.
  static func run<Node>(
    _ format: String, _ arguments: [Any?], _ body: (inout Parser) throws(PredicateError) -> Node
  ) throws(PredicateError) -> Node {
    var parser: Parser = Parser(format, arguments: arguments, nestingLimit: shallowNesting)
    do {
      return try body(&parser)
    } catch {
      if !parser.isOutOfNesting { throw error }
    }
    return try StackGuard.run(bytes: deepNesting * bytesPerLevel) { () throws(PredicateError) in
      var parser: Parser = Parser(format, arguments: arguments, nestingLimit: deepNesting)
      return try body(&parser)
    }
  }
}
