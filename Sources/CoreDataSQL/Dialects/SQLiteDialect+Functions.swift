import CoreDataPredicates

// The names under which the SQLite engine registers functions and collations on every connection.

extension SQLFunction {
  package var sqliteName: String {
    switch self {
    case .equal: "CLARUS_EQUAL"
    case .compare: "CLARUS_COMPARE"
    case .search: "CLARUS_SEARCH"
    case .like: "CLARUS_LIKE"
    case .matches: "CLARUS_MATCHES"
    case .lowercase: "CLARUS_LOWERCASE"
    case .uppercase: "CLARUS_UPPERCASE"
    case .canonical: "CLARUS_CANONICAL"
    case .length: "CLARUS_LENGTH"
    case .power: "CLARUS_POWER"
    case .squareRoot: "CLARUS_SQRT"
    case .exponential: "CLARUS_EXP"
    case .naturalLogarithm: "CLARUS_LN"
    case .logarithm: "CLARUS_LOG10"
    case .floor: "CLARUS_FLOOR"
    case .ceiling: "CLARUS_CEILING"
    case .truncate: "CLARUS_TRUNC"
    case .modulus: "CLARUS_MODULUS"
    case .divide: "CLARUS_DIVIDE"
    case .absolute: "CLARUS_ABS"
    case .whole: "CLARUS_WHOLE"
    case .bitXor: "CLARUS_BITXOR"
    case .key: "CLARUS_KEY"
    case .cast: "CLARUS_CAST"
    case .number: "CLARUS_NUMBER"
    case .description: "CLARUS_TEXT"
    case .compareDecimals: "CLARUS_DECIMAL_COMPARE"
    case .decimalKey: "CLARUS_DECIMAL_KEY"
    case .decimalDescription: "CLARUS_DECIMAL_TEXT"
    case .decimalFunction: "CLARUS_DECIMAL"
    case .decimalArithmetic: "CLARUS_DECIMALS"
    }
  }
}

extension SQLAggregate {
  package var sqliteName: String {
    switch self {
    case .sum: "CLARUS_DECIMAL_SUM"
    case .min: "CLARUS_DECIMAL_MIN"
    case .max: "CLARUS_DECIMAL_MAX"
    case .average: "CLARUS_DECIMAL_AVERAGE"
    case .wholeSum: "CLARUS_SUM"
    case .median: "CLARUS_MEDIAN"
    case .deviation: "CLARUS_STDDEV"
    }
  }
}

extension SQLCollation {
  package var sqliteName: String {
    switch self {
    case .caseInsensitive: "CLARUS_CASE_INSENSITIVE"
    case .localized: "CLARUS_LOCALIZED"
    case .localizedCaseInsensitive: "CLARUS_LOCALIZED_CASE_INSENSITIVE"
    case .localizedStandard: "CLARUS_LOCALIZED_STANDARD"
    }
  }
}
