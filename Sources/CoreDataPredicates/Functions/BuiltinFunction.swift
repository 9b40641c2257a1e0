/// The built-in functions of the predicate language, declared once: the selector (the raw value), the kinds
/// of arguments and of the result, the result for nil, and the spelling.
///
/// Parser and printer read the names here; ``call(_:)`` evaluates; the checker evaluates samples; the SQL
/// compiler has a form for each case. Evaluation and SQL are switches without a default, so that an
/// incomplete new case does not compile.
package enum BuiltinFunction: String, Sendable, Hashable, CaseIterable {
  case sum = "sum:"
  case average = "average:"
  case min = "min:"
  case max = "max:"
  case count = "count:"
  case median = "median:"
  case mode = "mode:"
  case standardDeviation = "stddev:"

  case add = "add:to:"
  case subtract = "from:subtract:"
  case multiply = "multiply:by:"
  case divide = "divide:by:"
  case modulus = "modulus:by:"
  case raise = "raise:toPower:"
  /// Unary minus of anything but a number. Apple has no selector for it; trees use this one, and formats
  /// can't name it.
  case negate = "negate:"

  case bitwiseAnd = "bitwiseAnd:with:"
  case bitwiseOr = "bitwiseOr:with:"
  case bitwiseXor = "bitwiseXor:with:"
  case leftShift = "leftshift:by:"
  case rightShift = "rightshift:by:"
  case onesComplement = "onesComplement:"

  case squareRoot = "sqrt:"
  case exponential = "exp:"
  case logarithm = "log:"
  case naturalLogarithm = "ln:"
  case absolute = "abs:"
  case floor = "floor:"
  case ceiling = "ceiling:"
  case truncate = "trunc:"
  case random = "random"
  case randomBelow = "randomn:"

  case lowercase = "lowercase:"
  case uppercase = "uppercase:"
  case canonical = "canonical:"
  case length = "length:"
  case tokenize = "tokenize:using:"

  case now = "now"
  case noIndex = "noindex:"
  case cast = "castObject:toType:"
  case element = "objectFrom:withIndex:"
  case distance = "distanceToLocation:fromLocation:"
}

extension BuiltinFunction {
  /// The kind of an argument or of a result.
  package enum Kind: Sendable, Hashable {
    /// Any kind, or the kind of the argument.
    case value
    case number
    /// An integer.
    case whole
    /// A number with a fraction.
    case real
    case text
    case date
    /// An array or a set.
    case collection
    /// An array or a set of numbers.
    case numbers
    case location
  }

  /// What a function takes. An enumeration and no array, since each call of the evaluation reads the number
  /// of arguments.
  package enum Parameters: Sendable, Hashable {
    case none
    case one(Kind)
    case two(Kind, Kind)

    package var count: Int {
      switch self {
      case .none: 0
      case .one: 1
      case .two: 2
      }
    }

    package var kinds: [Kind] {
      switch self {
      case .none: []
      case .one(let kind): [kind]
      case .two(let first, let second): [first, second]
      }
    }
  }

  /// The result of a function if one of its arguments is nil.
  package enum NilRule: Sendable, Hashable {
    case givesNil
    /// nil counts as a collection without members.
    case isEmpty
  }

  package struct Declaration: Sendable, Hashable {
    package let parameters: Parameters
    package let result: Kind
    package let ofNil: NilRule
    /// The operator between the operands, for functions that are operators too.
    package let mark: String?

    fileprivate init(
      _ parameters: Parameters, _ result: Kind, ofNil: NilRule = .givesNil, mark: String? = nil
    ) {
      self.parameters = parameters
      self.result = result
      self.ofNil = ofNil
      self.mark = mark
    }
  }

  package var declaration: Declaration {
    switch self {
    case .sum, .average: Declaration(.one(.numbers), .number)
    case .min, .max: Declaration(.one(.collection), .value)
    case .count: Declaration(.one(.collection), .whole, ofNil: .isEmpty)
    case .median, .standardDeviation: Declaration(.one(.numbers), .real)
    case .mode: Declaration(.one(.collection), .collection)

    case .add: Declaration(.two(.number, .number), .number, mark: "+")
    case .subtract: Declaration(.two(.number, .number), .number, mark: "-")
    case .multiply: Declaration(.two(.number, .number), .number, mark: "*")
    case .divide: Declaration(.two(.number, .number), .number, mark: "/")
    case .modulus: Declaration(.two(.number, .number), .number)
    case .raise: Declaration(.two(.number, .number), .real, mark: "**")
    case .negate: Declaration(.one(.number), .number)

    case .bitwiseAnd: Declaration(.two(.number, .number), .whole, mark: "&")
    case .bitwiseOr: Declaration(.two(.number, .number), .whole, mark: "|")
    case .bitwiseXor: Declaration(.two(.number, .number), .whole, mark: "^")
    case .leftShift: Declaration(.two(.number, .number), .whole, mark: "<<")
    case .rightShift: Declaration(.two(.number, .number), .whole, mark: ">>")
    case .onesComplement: Declaration(.one(.number), .whole)

    case .squareRoot, .exponential, .logarithm, .naturalLogarithm: Declaration(.one(.number), .real)
    case .absolute, .floor, .ceiling, .truncate: Declaration(.one(.number), .number)
    case .random: Declaration(.none, .real)
    case .randomBelow: Declaration(.one(.whole), .whole)

    case .lowercase, .uppercase, .canonical: Declaration(.one(.text), .text)
    case .length: Declaration(.one(.text), .whole)
    case .tokenize: Declaration(.two(.text, .text), .collection)

    case .now: Declaration(.none, .date)
    case .noIndex: Declaration(.one(.value), .value)
    case .cast: Declaration(.two(.value, .text), .value)
    case .element: Declaration(.two(.collection, .whole), .value)
    case .distance: Declaration(.two(.location, .location), .real)
    }
  }

  package var argumentCount: Int { declaration.parameters.count }

  /// Whether two calls with the same arguments may differ.
  package var isRandom: Bool { self == .random || self == .randomBelow }

  // MARK: Names

  package var selector: String { rawValue }

  /// The operator between the operands, for functions that are operators too.
  package var mark: String? { declaration.mark }

  /// The name that a format may use in place of the selector, with as many arguments as the function takes.
  var plainName: String {
    switch self {
    // The only function of two arguments with a plain name: ALL tokenize(%@, 'Cdl') IN allTokens.
    case .tokenize: "tokenize"
    default: argumentCount == 1 ? String(selector.dropLast()) : selector
    }
  }

  /// The functions that a format may call.
  package static let callable: [BuiltinFunction] = allCases.filter { $0 != .negate }

  /// The selectors that a format may call.
  package static let selectors: Set<String> = Set(callable.map(\.selector))

  /// The function that `name(…)` with this number of arguments calls.
  package init?(name: String, argumentCount: Int) {
    guard let function = Self.byName[name], function.argumentCount == argumentCount else { return nil }
    self = function
  }

  /// The function of a name or a selector, whatever the number of arguments.
  static func named(_ name: String) -> BuiltinFunction? { byName[name] }

  private static let byName: [String: BuiltinFunction] = {
    var result: [String: BuiltinFunction] = [:]
    for function in callable {
      result[function.selector] = function
      result[function.plainName] = function
    }
    return result
  }()

  /// The operator of a selector, if it has one.
  package static func mark(of selector: String) -> String? {
    BuiltinFunction(rawValue: selector)?.mark
  }
}

extension String {
  /// The number of arguments of a selector of this name.
  package var selectorArgumentCount: Int { utf8.count { $0 == UInt8(ascii: ":") } }
}
