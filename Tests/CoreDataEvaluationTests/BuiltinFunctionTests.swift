import Foundation
import Testing

@testable import CoreDataEvaluation
@testable import CoreDataPredicates

/// Walks the declarations of the built-in functions: parser, printer and evaluation do what each
/// of them says.
@Suite struct BuiltinFunctionTests {
  /// Values of each kind that a declaration can name.
  static let samples: [BuiltinFunction.Kind: [PredicateValue]] = [
    .value: [.integer(4), .string("a"), .date(Date(timeIntervalSinceReferenceDate: 0))],
    .number: [.integer(4), .double(4.5), .decimal(4), .unsigned(4)],
    .whole: [.integer(1)],
    .real: [.double(4.5)],
    .text: [.string("2001-01-01")],
    .date: [.date(Date(timeIntervalSinceReferenceDate: 0))],
    .collection: [.array([.integer(1), .integer(2)]), .set([.integer(1)])],
    .numbers: [.array([.integer(1), .integer(2)]), .set([.double(2.5)])],
    .location: [.dictionary([.string("latitude"): .double(1), .string("longitude"): .double(2)])],
  ]

  /// Lists of arguments as the declaration wants them.
  static func arguments(of function: BuiltinFunction) -> [[PredicateValue]] {
    var lists: [[PredicateValue]] = [[]]
    for (place, kind) in function.declaration.parameters.kinds.enumerated() {
      var values: [PredicateValue] = samples[kind] ?? []
      // The text behind CAST's value is a type.
      if function == .cast, place == 1 { values = [.string("NSString")] }
      if function == .element, place == 0 {
        values = values.filter { if case .array = $0 { true } else { false } }
      }
      lists = lists.flatMap { list in values.map { list + [$0] } }
    }
    return lists
  }

  static func fits(_ value: PredicateValue, _ kind: BuiltinFunction.Kind) -> Bool {
    switch kind {
    case .value: true
    case .number: value.isNumber
    case .whole: if case .integer = value { true } else { false }
    case .real: if case .double = value { true } else { false }
    case .text: if case .string = value { true } else { false }
    case .date: if case .date = value { true } else { false }
    case .collection, .numbers: value.elements != nil
    case .location: false
    }
  }

  @Test(arguments: BuiltinFunction.allCases)
  func `a function takes the kinds that it declares and gives the kind that it declares`(
    _ function: BuiltinFunction
  ) throws {
    let lists: [[PredicateValue]] = Self.arguments(of: function)
    try #require(!lists.isEmpty)
    for list in lists {
      let result: PredicateValue = try function.call(list)
      #expect(
        Self.fits(result, function.declaration.result), "\(function.selector) of \(list) gave \(result)")
    }
    #expect(throws: PredicateError.self) { try function.call((lists.first ?? []) + [.integer(1)]) }
  }

  @Test(arguments: BuiltinFunction.allCases)
  func `a function refuses what it does not declare`(_ function: BuiltinFunction) throws {
    let wrong: [BuiltinFunction.Kind: PredicateValue] = [
      .number: .string("x"), .whole: .string("x"), .text: .integer(1), .collection: .integer(1),
      .numbers: .array([.string("x")]), .location: .integer(1),
    ]
    let fitting: [PredicateValue] = try #require(Self.arguments(of: function).first)
    for (place, kind) in function.declaration.parameters.kinds.enumerated() {
      guard let value = wrong[kind] else { continue }
      var list: [PredicateValue] = fitting
      list[place] = value
      #expect(throws: PredicateError.self, "\(function.selector) took \(list)") { try function.call(list) }
    }
  }

  @Test(arguments: BuiltinFunction.allCases)
  func `nil is treated as the function declares`(_ function: BuiltinFunction) throws {
    for place in 0..<function.argumentCount {
      var list: [PredicateValue] = try #require(Self.arguments(of: function).first)
      list[place] = .null
      let result: PredicateValue = try function.result(of: list)
      switch function.declaration.ofNil {
      case .givesNil: #expect(result.isNull)
      case .isEmpty: #expect(result == .integer(0))
      }
    }
  }

  @Test(arguments: BuiltinFunction.callable)
  func `every name of a function leads to it, and what prints parses back`(
    _ function: BuiltinFunction
  ) throws {
    let names: [String] = (0..<function.argumentCount).map { "a\($0)" }
    for name in [function.selector, function.plainName] {
      let text: String = "\(name)(\(names.joined(separator: ", "))) == nil"
      let node: PredicateNode = try NSPredicate(parsing: text, arguments: []).predicateNode()
      guard case .comparison(let comparison) = node else {
        Issue.record("\(text) is no comparison")
        continue
      }
      switch comparison.left {
      case .function(nil, let selector, let arguments):
        #expect(selector == function.selector)
        #expect(arguments == names.map(ExpressionNode.keyPath))
      case .index: #expect(function == .element)
      default: Issue.record("\(text) is no call")
      }
      #expect(try NSPredicate(parsing: Printer.print(node), arguments: []).predicateNode() == node)
    }
  }

  @Test func `selectors have as many colons as their functions have arguments`() {
    for function in BuiltinFunction.callable {
      #expect(function.selector.selectorArgumentCount == function.argumentCount)
    }
  }
}
