import Foundation

/// A built-in function, found once by its selector.
package struct BuiltinFunction: Sendable {
  typealias Body = @Sendable ([PredicateValue]) throws -> PredicateValue

  private let name: String
  private let body: Body?

  package init(_ selector: String) {
    name = selector
    body = Self.table[selector]
  }

  /// The function as it is: throws where ``result(of:rules:)`` has nil to give.
  ///
  /// - Throws: ``PredicateError`` for arguments of the wrong kind or number, and for functions that don't exist here.
  package func call(_ arguments: [PredicateValue]) throws -> PredicateValue {
    guard let body else {
      throw PredicateError.unsupported(
        "The function \(name) can't be evaluated on this platform. FUNCTION(…) calls those registered with "
          + "PredicateFunctions.register(_:_:).")
    }
    let expected: Int = name == FunctionTable.negation ? 1 : FunctionTable.colons(name)
    guard arguments.count == expected else {
      throw PredicateError.evaluation("\(name) takes \(expected) arguments, not \(arguments.count).")
    }
    return try body(arguments)
  }

  /// The result for values as rows hold them: nil of nil, and nil where values of the right kinds have no result. What is not a number
  /// counts as none, as in a database.
  ///
  /// - Throws: ``PredicateError`` for arguments of kinds that the function never takes, unless the rules are lenient, and for
  ///   functions that don't exist here.
  package func result(
    of arguments: [PredicateValue], rules: EvaluationRules = .strict
  ) throws -> PredicateValue {
    // Asked first: most rows that an operation fails for have no value, and a thrown error is dear.
    if name != "count:", arguments.contains(where: \.isNull) { return .null }
    do {
      let result: PredicateValue = try call(arguments)
      if case .double(let number) = result, number.isNaN { return .null }
      return result
    } catch let error as PredicateError where error.isAboutValues || rules == .lenient && error.isEvaluation {
      return .null
    }
  }

  private static let table: [String: Body] = arithmetic.merging(numbers) { a, _ in a }.merging(collections) {
    a, _ in a
  }
  .merging(others) { a, _ in a }

  private static let arithmetic: [String: Body] = [
    "add:to:": { try Arithmetic.apply(.add, $0[0], $0[1]) },
    "from:subtract:": { try Arithmetic.apply(.subtract, $0[0], $0[1]) },
    "multiply:by:": { try Arithmetic.apply(.multiply, $0[0], $0[1]) },
    "divide:by:": { try Arithmetic.apply(.divide, $0[0], $0[1]) },
    "modulus:by:": { try Arithmetic.apply(.modulus, $0[0], $0[1]) },
    "raise:toPower:": { try Arithmetic.apply(.raise, $0[0], $0[1]) },
    FunctionTable.negation: { try Arithmetic.apply(.subtract, .integer(0), $0[0]) },
    "bitwiseAnd:with:": { .integer(try bits($0[0], "&") & bits($0[1], "&")) },
    "bitwiseOr:with:": { .integer(try bits($0[0], "|") | bits($0[1], "|")) },
    "bitwiseXor:with:": { .integer(try bits($0[0], "^") ^ bits($0[1], "^")) },
    "leftshift:by:": { .integer(try bits($0[0], "<<") << bits($0[1], "<<")) },
    "rightshift:by:": { .integer(try bits($0[0], ">>") >> bits($0[1], ">>")) },
    "onesComplement:": { .integer(~(try bits($0[0], "onesComplement:"))) },
  ]

  private static let numbers: [String: Body] = [
    "sqrt:": { .double(try double($0[0], "sqrt:").squareRoot()) },
    "exp:": { .double(exp(try double($0[0], "exp:"))) },
    "log:": { .double(log10(try double($0[0], "log:"))) },
    "ln:": { .double(log(try double($0[0], "ln:"))) },
    "floor:": { try rounded($0[0], "floor:", .down) },
    "ceiling:": { try rounded($0[0], "ceiling:", .up) },
    "trunc:": { try rounded($0[0], "trunc:", .towardZero) },
    "abs:": { arguments in
      let value: Double = try double(arguments[0], "abs:")
      return value < 0 ? try Arithmetic.apply(.subtract, .integer(0), arguments[0]) : arguments[0]
    },
    // Apple's gives a fraction.
    "random": { _ in .double(Double.random(in: 0..<1)) },
    "randomn:": { arguments in
      let bound: Int64 = try integer(arguments[0], "randomn:")
      guard bound > 0 else { throw PredicateError.noResult("randomn: needs a number above 0.") }
      return .integer(Int64.random(in: 0..<bound))
    },
  ]

  private static let collections: [String: Body] = [
    "sum:": { try Arithmetic.sum(members($0[0], "sum:"), of: "sum:") },
    "count:": { arguments in
      if arguments[0].isNull { return .integer(0) }
      if case .dictionary(let entries) = arguments[0] { return .integer(Int64(entries.count)) }
      return .integer(Int64(try members(arguments[0], "count:").count))
    },
    "average:": { arguments in
      let values: [PredicateValue] = try members(arguments[0], "average:")
      if values.isEmpty { return .integer(0) }
      return try Arithmetic.divide(Arithmetic.sum(values, of: "average:"), byCount: values.count)
    },
    "min:": { try CollectionOperator.min.collect(members($0[0], "min:")) as? PredicateValue ?? .null },
    "max:": { try CollectionOperator.max.collect(members($0[0], "max:")) as? PredicateValue ?? .null },
    "median:": { arguments in
      let values: [Double] = try doubles(arguments[0], "median:").sorted()
      if values.isEmpty { return .null }
      let middle: Int = values.count / 2
      return .double(values.count % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2)
    },
    "mode:": { arguments in
      let values: [PredicateValue] = try members(arguments[0], "mode:")
      var counts: [PredicateValue: Int] = [:]
      for value in values { counts[value, default: 0] += 1 }
      let most: Int = counts.values.max() ?? 0
      var seen: Set<PredicateValue> = []
      return .array(values.filter { counts[$0] == most && seen.insert($0).inserted })
    },
    "stddev:": { arguments in
      let values: [Double] = try doubles(arguments[0], "stddev:")
      if values.isEmpty { return .null }
      let mean: Double = values.reduce(0, +) / Double(values.count)
      let squares: Double = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
      return .double((squares / Double(values.count)).squareRoot())
    },
  ]

  private static let others: [String: Body] = [
    "now": { _ in .date(PredicateClock.now) },
    "lowercase:": { .string(try string($0[0], "lowercase:").lowercased()) },
    "uppercase:": { .string(try string($0[0], "uppercase:").uppercased()) },
    "length:": { .integer(Int64(try string($0[0], "length:").utf16.count)) },
    // Without case and diacritics, as Apple's page on NSDerivedAttributeDescription says.
    "canonical:": {
      let text: String = try string($0[0], "canonical:")
      return .string(StringMatching.fold(text, options: [.caseInsensitive, .diacriticInsensitive]))
    },
    "tokenize:using:": { arguments in
      let letters: String = try string(arguments[1], "tokenize:using:")
      let options: ComparisonOptions = ComparisonOptions(letters: letters) ?? []
      let words: [String] = Tokens.words(of: try string(arguments[0], "tokenize:using:"), options)
      return .array(words.map(PredicateValue.string))
    },
    "distanceToLocation:fromLocation:": { arguments in
      .double(try Location(arguments[0]).distance(to: Location(arguments[1])))
    },
    "noindex:": { $0[0] },
    "castObject:toType:": { try Cast.apply($0[0], to: string($0[1], "CAST")) },
    "objectFrom:withIndex:": { arguments in
      let element: Any? = try RawCollection.element(
        of: arguments[0], at: arguments[1], "objectFrom:withIndex:")
      return PredicateValue(normalizing: element)
    },
  ]

  // MARK: Arguments

  private static func wrong(_ value: PredicateValue, _ name: String, _ wanted: String) -> PredicateError {
    .evaluation("\(name) needs \(wanted), not \(value.kindName).")
  }

  /// What is no number, or a number that is not whole.
  private static func notWhole(_ value: PredicateValue, _ name: String) -> PredicateError {
    value.isNumber
      ? .noResult("\(name) needs a whole number that fits 64 bits.") : wrong(value, name, "a whole number")
  }

  private static func integer(_ value: PredicateValue, _ name: String) throws -> Int64 {
    guard let number = NumberComparison.integer(value) else { throw notWhole(value, name) }
    return number
  }

  /// The bits of a number as an integer; a fraction is dropped.
  private static func bits(_ value: PredicateValue, _ name: String) throws -> Int64 {
    if case .unsigned(let number) = value { return Int64(bitPattern: number) }
    if let number = NumberComparison.integer(value) { return number }
    guard let number = NumberComparison.double(value), let whole = Int64(exactly: number.rounded(.towardZero))
    else { throw notWhole(value, name) }
    return whole
  }

  private static func double(_ value: PredicateValue, _ name: String) throws -> Double {
    guard let number = NumberComparison.double(value) else { throw wrong(value, name, "a number") }
    return number
  }

  private static func string(_ value: PredicateValue, _ name: String) throws -> String {
    guard case .string(let text) = value else { throw wrong(value, name, "a string") }
    return text
  }

  private static func members(_ value: PredicateValue, _ name: String) throws -> [PredicateValue] {
    guard let members = value.elements else { throw wrong(value, name, "an array or a set") }
    return members
  }

  private static func doubles(_ value: PredicateValue, _ name: String) throws -> [Double] {
    try members(value, name).map { member in
      if member.isNull { throw PredicateError.noResult("\(name) found nil among the values.") }
      return try double(member, name)
    }
  }

  private static func rounded(
    _ value: PredicateValue, _ name: String, _ rule: FloatingPointRoundingRule
  ) throws -> PredicateValue {
    switch value {
    case .integer, .unsigned, .bool: return value
    case .decimal(var number):
      var result: Decimal = Decimal()
      let mode: NSDecimalNumber.RoundingMode =
        rule == .down ? .down : rule == .up ? .up : number.isSignMinus ? .up : .down
      NSDecimalRound(&result, &number, 0, mode)
      return .decimal(result)
    default: return .double(try double(value, name).rounded(rule))
    }
  }
}
