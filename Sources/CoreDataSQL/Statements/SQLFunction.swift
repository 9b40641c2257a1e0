import CoreDataEvaluation
import CoreDataPredicates

/// Functions that compiled statements need and that standard SQL lacks. A dialect rewrites these, or its
/// engine registers them on every connection under names of its own.
///
/// All are thin: `CoreDataEvaluation` implements the rules, so memory and SQL agree. `options` is the raw
/// value of `ComparisonOptions`. Text arguments that are `NULL` or no text never match.
package enum SQLFunction: Sendable, Hashable, CaseIterable {
  /// (a, b, options) → 1 if equal as text (`StringMatching.equals`), or both `NULL`; else 0.
  case equal
  /// (a, b, options) → -1, 0, 1 (`StringMatching.compare`); `NULL` if either is `NULL`.
  case compare
  /// (text, part, kind, options) → 0 or 1; kind is a raw value of `SQLSearchKind`.
  case search
  /// (text, pattern, options) → 0 or 1 (`StringMatching.like`).
  case like
  /// (text, pattern, options) → 0 or 1 (`StringMatching.matches`); an invalid pattern is an error.
  case matches
  /// (text) → text; `NULL` stays `NULL`, here and below. These evaluate the ``builtin`` function.
  case lowercase
  case uppercase
  case canonical
  /// (text) → number of UTF-16 units.
  case length
  /// (base, exponent) → real.
  case power
  /// (number) → real.
  case squareRoot
  case exponential
  case naturalLogarithm
  /// (number) → real, base 10.
  case logarithm
  /// (number) → number of the same type.
  case floor
  case ceiling
  case truncate
  /// (a, b) → the remainder of reals.
  case modulus
  /// (a, b) → a divided by b: integers without fraction, `NULL` for an integer divided by 0; a real may be
  /// infinite.
  case divide
  /// (number) → number; the least integer becomes a real.
  case absolute
  /// (number) → integer, the fraction dropped; `NULL` if it does not fit.
  case whole
  /// (a, b) → integer.
  case bitXor
  /// (value, key, kind) → what `ScalarKeys` reads; kind is a raw value of `ScalarKind`.
  case key
  /// (value, type, kind) → the value cast as `CAST(value, "type")` does, as columns hold it; `NULL` for text
  /// that spells none.
  case cast
  /// (text) → the number it spells, as `CAST(text, "NSNumber")`; `NULL` if none.
  case number
  /// (number) → its text, as `CAST(number, "NSString")`.
  case description
  /// (a, b) → -1, 0, 1: two decimals or integers, exactly; `NULL` if either is none. A decimal, here and
  /// below, is a value of a decimal column (``DecimalText``).
  case compareDecimals
  /// (decimal) → a blob; blobs have the same order as the numbers.
  case decimalKey
  /// (decimal) → its text.
  case decimalDescription
  /// (selector, a) → decimal: the built-in function of a decimal.
  case decimalFunction
  /// (selector, a, b) → decimal: the same of two decimals or integers.
  case decimalArithmetic

  /// The built-in function of the predicate language that implements it, if there is one.
  package var builtin: BuiltinFunction? {
    switch self {
    case .equal, .compare, .search, .like, .matches, .number, .description, .compareDecimals, .decimalKey,
      .decimalDescription, .decimalFunction, .decimalArithmetic, .key, .cast, .whole:
      nil
    case .lowercase: .lowercase
    case .uppercase: .uppercase
    case .canonical: .canonical
    case .length: .length
    case .power: .raise
    case .squareRoot: .squareRoot
    case .exponential: .exponential
    case .naturalLogarithm: .naturalLogarithm
    case .logarithm: .logarithm
    case .floor: .floor
    case .ceiling: .ceiling
    case .truncate: .truncate
    case .modulus: .modulus
    case .divide: .divide
    case .absolute: .absolute
    case .bitXor: .bitwiseXor
    }
  }

  package var argumentCount: Int {
    switch self {
    case .search: 4
    case .equal, .compare, .like, .matches, .decimalArithmetic, .key, .cast: 3
    case .power, .modulus, .divide, .bitXor, .compareDecimals, .decimalFunction: 2
    case .lowercase, .uppercase, .canonical, .length, .squareRoot, .exponential, .naturalLogarithm,
      .logarithm, .floor, .ceiling, .truncate, .absolute, .whole, .number, .description, .decimalKey,
      .decimalDescription:
      1
    }
  }
}

/// Aggregates that compiled statements call and an engine registers: exact ones where SQL's own would add
/// decimals as reals, and those that SQL lacks. They ignore `NULL` and return `NULL` if there are no values.
/// Decimals are values of a decimal column.
package enum SQLAggregate: Sendable, Hashable, CaseIterable {
  /// (number)
  case sum
  case min
  case max
  /// (number, the count of the values it is the sum of)
  case average
  /// (integer) → integer, or a real if the sum exceeds 64 bits.
  case wholeSum
  /// (number) → real.
  case median
  /// (number) → real, the population's standard deviation.
  case deviation

  package var argumentCount: Int { self == .average ? 2 : 1 }
}

/// The position at which ``SQLFunction/search`` looks for the part. An empty part is never found.
package enum SQLSearchKind: Int64, Sendable, Hashable {
  case contains = 0
  case beginsWith = 1
  case endsWith = 2
}

/// The collations that compiled statements order by and an engine registers, for text only.
package enum SQLCollation: Sendable, Hashable, CaseIterable {
  case caseInsensitive
  case localized
  case localizedCaseInsensitive
  case localizedStandard

  /// The rule that it implements: `StringMatching.compare(_:_:by:)`.
  package var comparison: StringComparison {
    switch self {
    case .caseInsensitive: .caseInsensitive
    case .localized: .localized
    case .localizedCaseInsensitive: .localizedCaseInsensitive
    case .localizedStandard: .localizedStandard
    }
  }

  /// nil for the plain order, which is the database's own.
  package init?(_ comparison: StringComparison) {
    switch comparison {
    case .plain: return nil
    case .caseInsensitive: self = .caseInsensitive
    case .localized: self = .localized
    case .localizedCaseInsensitive: self = .localizedCaseInsensitive
    case .localizedStandard: self = .localizedStandard
    }
  }
}
