import CoreDataPredicates
import Foundation

extension BuiltinFunction {
  /// Calls the function; throws where ``result(of:rules:)`` returns nil.
  ///
  /// - Throws: ``PredicateError`` for arguments of the wrong kind or number.
  package func call(_ arguments: [PredicateValue]) throws -> PredicateValue {
    guard arguments.count == argumentCount else {
      throw PredicateError.evaluation("\(selector) takes \(argumentCount) arguments, not \(arguments.count).")
    }
    switch self {
    case .add: return try Arithmetic.apply(.add, arguments[0], arguments[1])
    case .subtract: return try Arithmetic.apply(.subtract, arguments[0], arguments[1])
    case .multiply: return try Arithmetic.apply(.multiply, arguments[0], arguments[1])
    case .divide: return try Arithmetic.apply(.divide, arguments[0], arguments[1])
    case .modulus: return try Arithmetic.apply(.modulus, arguments[0], arguments[1])
    case .raise: return try Arithmetic.apply(.raise, arguments[0], arguments[1])
    case .negate: return try Arithmetic.apply(.subtract, .integer(0), arguments[0])

    case .bitwiseAnd: return .integer(try bits(arguments[0]) & bits(arguments[1]))
    case .bitwiseOr: return .integer(try bits(arguments[0]) | bits(arguments[1]))
    case .bitwiseXor: return .integer(try bits(arguments[0]) ^ bits(arguments[1]))
    case .leftShift: return .integer(try bits(arguments[0]) << bits(arguments[1]))
    case .rightShift: return .integer(try bits(arguments[0]) >> bits(arguments[1]))
    case .onesComplement: return .integer(~(try bits(arguments[0])))

    case .squareRoot: return .double(try double(arguments[0]).squareRoot())
    case .exponential: return .double(exp(try double(arguments[0])))
    case .logarithm: return .double(log10(try double(arguments[0])))
    case .naturalLogarithm: return .double(log(try double(arguments[0])))
    case .absolute:
      let isNegative: Bool = try double(arguments[0]) < 0
      return isNegative ? try Arithmetic.apply(.subtract, .integer(0), arguments[0]) : arguments[0]
    case .floor: return try rounded(arguments[0], .down)
    case .ceiling: return try rounded(arguments[0], .up)
    case .truncate: return try rounded(arguments[0], .towardZero)
    // Apple's returns a fraction.
    case .random: return .double(Double.random(in: 0..<1))
    case .randomBelow:
      let bound: Int64 = try integer(arguments[0])
      guard bound > 0 else { throw PredicateError.noResult("randomn: needs a number above 0.") }
      return .integer(Int64.random(in: 0..<bound))

    case .lowercase: return .string(try text(arguments[0]).lowercased())
    case .uppercase: return .string(try text(arguments[0]).uppercased())
    // Without case and diacritics, as Apple's page on NSDerivedAttributeDescription states.
    case .canonical:
      return .string(
        StringMatching.fold(try text(arguments[0]), options: [.caseInsensitive, .diacriticInsensitive]))
    case .length: return .integer(Int64(try text(arguments[0]).utf16.count))
    case .tokenize:
      let options: ComparisonOptions = ComparisonOptions(letters: try text(arguments[1])) ?? []
      return .array(Tokens.words(of: try text(arguments[0]), options).map(PredicateValue.string))

    case .now: return .date(PredicateClock.now)
    case .noIndex: return arguments[0]
    case .cast: return try Cast.apply(arguments[0], to: text(arguments[1]))
    case .element:
      return PredicateValue(
        normalizing: try RawCollection.element(of: arguments[0], at: arguments[1], selector))
    case .distance: return .double(try Location(arguments[0]).distance(to: Location(arguments[1])))

    case .sum: return try Arithmetic.sum(members(arguments[0]), of: selector)
    case .average:
      let values: [PredicateValue] = try members(arguments[0])
      if values.isEmpty { return .integer(0) }
      return try Arithmetic.divide(Arithmetic.sum(values, of: selector), byCount: values.count)
    case .min:
      return try CollectionOperator.min.collect(members(arguments[0])) as? PredicateValue ?? .null
    case .max:
      return try CollectionOperator.max.collect(members(arguments[0])) as? PredicateValue ?? .null
    case .count: return .integer(try count(arguments[0]))
    case .median: return try median(doubles(arguments[0]))
    case .mode: return .array(try mostFrequent(members(arguments[0])))
    case .standardDeviation: return try deviation(doubles(arguments[0]))
    }
  }

  /// The result for values of rows: nil for nil, and nil if values of the right kinds have no result. NaN
  /// counts as no number, as in a database.
  ///
  /// - Throws: ``PredicateError`` for arguments of kinds that the function never accepts, unless the rules
  ///   are lenient.
  package func result(
    of arguments: [PredicateValue], rules: EvaluationRules = .strict
  ) throws -> PredicateValue {
    // Checked first: most rows that an operation fails for have no value, and a thrown error is expensive.
    if declaration.ofNil == .givesNil, arguments.contains(where: \.isNull) { return .null }
    do {
      let result: PredicateValue = try call(arguments)
      if case .double(let number) = result, number.isNaN { return .null }
      return result
    } catch let error as PredicateError where error.isAboutValues || rules == .lenient && error.isEvaluation {
      return .null
    }
  }

  // MARK: Collections

  private func count(_ collection: PredicateValue) throws -> Int64 {
    if collection.isNull { return 0 }
    if case .dictionary(let entries) = collection { return Int64(entries.count) }
    return Int64(try members(collection).count)
  }

  private func median(_ values: [Double]) -> PredicateValue {
    if values.isEmpty { return .null }
    let values: [Double] = values.sorted()
    let middle: Int = values.count / 2
    return .double(values.count % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2)
  }

  /// The most frequent values, in the order of their first occurrence.
  private func mostFrequent(_ values: [PredicateValue]) -> [PredicateValue] {
    var counts: [PredicateValue: Int] = [:]
    for value in values { counts[value, default: 0] += 1 }
    let most: Int = counts.values.max() ?? 0
    var seen: Set<PredicateValue> = []
    return values.filter { counts[$0] == most && seen.insert($0).inserted }
  }

  /// The population's standard deviation.
  private func deviation(_ values: [Double]) -> PredicateValue {
    if values.isEmpty { return .null }
    let mean: Double = values.reduce(0, +) / Double(values.count)
    let squares: Double = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return .double((squares / Double(values.count)).squareRoot())
  }

  // MARK: Arguments

  /// The name of the function in messages.
  private var spelling: String { self == .cast ? "CAST" : mark ?? selector }

  private func wrong(_ value: PredicateValue, _ wanted: String) -> PredicateError {
    .evaluation("\(spelling) needs \(wanted), not \(value.kindName).")
  }

  /// The error for a value that is no number, or is a number with a fraction.
  private func notWhole(_ value: PredicateValue) -> PredicateError {
    value.isNumber
      ? .noResult("\(spelling) needs a whole number that fits 64 bits.") : wrong(value, "a whole number")
  }

  private func integer(_ value: PredicateValue) throws -> Int64 {
    guard let number = NumberComparison.integer(value) else { throw notWhole(value) }
    return number
  }

  /// The bits of a number as an integer; a fraction is dropped.
  private func bits(_ value: PredicateValue) throws -> Int64 {
    if case .unsigned(let number) = value { return Int64(bitPattern: number) }
    if let number = NumberComparison.integer(value) { return number }
    guard let number = NumberComparison.double(value), let whole = Int64(exactly: number.rounded(.towardZero))
    else { throw notWhole(value) }
    return whole
  }

  private func double(_ value: PredicateValue) throws -> Double {
    guard let number = NumberComparison.double(value) else { throw wrong(value, "a number") }
    return number
  }

  private func text(_ value: PredicateValue) throws -> String {
    guard case .string(let text) = value else { throw wrong(value, "a string") }
    return text
  }

  private func members(_ value: PredicateValue) throws -> [PredicateValue] {
    guard let members = value.elements else { throw wrong(value, "an array or a set") }
    return members
  }

  private func doubles(_ value: PredicateValue) throws -> [Double] {
    try members(value).map { member in
      if member.isNull { throw PredicateError.noResult("\(selector) found nil among the values.") }
      return try double(member)
    }
  }

  private func rounded(_ value: PredicateValue, _ rule: FloatingPointRoundingRule) throws -> PredicateValue {
    switch value {
    case .integer, .unsigned, .bool: return value
    case .decimal(var number):
      var result: Decimal = Decimal()
      let mode: NSDecimalNumber.RoundingMode =
        rule == .down ? .down : rule == .up ? .up : number.isSignMinus ? .up : .down
      NSDecimalRound(&result, &number, 0, mode)
      return .decimal(result)
    default: return .double(try double(value).rounded(rule))
    }
  }
}
