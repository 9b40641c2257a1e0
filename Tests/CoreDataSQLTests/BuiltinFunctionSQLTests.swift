import CoreDataPredicates
import CoreDataStorage
import Testing

@testable import CoreDataSQL

/// Walks the declarations of the built-in functions: each has an SQL form over attributes of the kinds that
/// it takes, or is one of the few that are known to have none.
@Suite struct BuiltinFunctionSQLTests {
  static let withoutCounterpart: Set<BuiltinFunction> = [.tokenize, .distance]

  /// An attribute of `Person`, or of its books, for each kind that a declaration can name.
  static func operand(_ kind: BuiltinFunction.Kind) -> ExpressionNode {
    switch kind {
    case .number, .real: .keyPath("score")
    case .whole: .keyPath("age")
    case .value, .text: .keyPath("name")
    case .date: .keyPath("born")
    case .collection, .numbers: .keyPath("books.pages")
    case .location: .keyPath("boss")
    }
  }

  @Test(arguments: BuiltinFunction.allCases)
  func `every built-in function becomes SQL or is known to have no counterpart`(
    _ function: BuiltinFunction
  ) throws {
    var arguments: [ExpressionNode] = function.declaration.parameters.kinds.map(Self.operand)
    if function == .cast { arguments[1] = .constant(.string("NSString")) }
    if function == .element { arguments = [.keyPath("tags.label"), .constant(.integer(0))] }
    let call: ExpressionNode = .function(target: nil, name: function.selector, arguments: arguments)
    let test: PredicateNode
    if function == .mode {
      test = .comparison(ComparisonNode(left: .keyPath("age"), right: call, comparison: .in))
    } else {
      test = .comparison(ComparisonNode(left: call, right: .constant(.null), comparison: .notEqualTo))
    }
    let compiler: FetchCompiler = FetchCompiler(schema: TestModel.schema)
    if Self.withoutCounterpart.contains(function) {
      #expect(throws: StoreError.self) { try compiler.ids(TestModel.plan("Person", test)) }
    } else {
      #expect(try !compiler.ids(TestModel.plan("Person", test)).sql.isEmpty)
    }
  }

  @Test(arguments: SQLFunction.allCases)
  func `a registered function of the predicate language takes as many values as it declares`(
    _ function: SQLFunction
  ) {
    guard let builtin = function.builtin else { return }
    #expect(function.argumentCount == builtin.argumentCount)
  }
}
