import Foundation

extension Parser {
  /// Levels parsed on the caller's stack. A level takes up to 20 KiB without optimisation, and nearly every format has fewer.
  static let shallowNesting: Int = 16
  /// Levels parsed at most: a level of the tree may print as an operator and a parenthesis.
  static let deepNesting: Int = 2 * TreeLimits.depth + 8
  private static let deepStack: Int = 16 << 20

  /// Parses on the caller's stack, and once more on a stack of its own when the format nests deeper than surely fits.
  static func run<Node: Sendable>(
    _ format: String, _ arguments: [Any?],
    _ body: @escaping @Sendable (inout Parser) throws(PredicateError) -> Node
  ) throws(PredicateError) -> Node {
    var parser: Parser = Parser(format, arguments: arguments, nestingLimit: shallowNesting)
    do {
      return try body(&parser)
    } catch {
      if !parser.isOutOfNesting { throw error }
    }
    let work: DeepParse<Node> = DeepParse(
      parser: Parser(format, arguments: arguments, nestingLimit: deepNesting), body: body)
    let thread: Thread = Thread { work.run() }
    thread.stackSize = deepStack
    thread.start()
    return try work.wait().get()
  }
}

private final class DeepParse<Node: Sendable>: @unchecked Sendable {
  // Only the thread touches `parser` and `result` until `done` is signalled; the caller waits for that.
  private var parser: Parser
  private var result: Result<Node, PredicateError>?
  private let body: @Sendable (inout Parser) throws(PredicateError) -> Node
  private let done: DispatchSemaphore = .init(value: 0)

  init(parser: Parser, body: @escaping @Sendable (inout Parser) throws(PredicateError) -> Node) {
    self.parser = parser
    self.body = body
  }

  func run() {
    do throws(PredicateError) {
      result = .success(try body(&parser))
    } catch {
      result = .failure(error)
    }
    done.signal()
  }

  func wait() -> Result<Node, PredicateError> {
    done.wait()
    guard let result else { preconditionFailure("a parse ended without a result") }
    return result
  }
}
