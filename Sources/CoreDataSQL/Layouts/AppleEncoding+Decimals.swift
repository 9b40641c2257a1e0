import CoreDataPredicates
import Foundation

// Decimals in conditions. A decimal column holds integers, reals (the number is the shortest text of one),
// and numbers with more digits than a real as text, which SQLite sorts after every number:
//
//     fee == 12.10 (decimal)    ZFEE = ?                                               an index serves it
//     fee == 12.1 (double)      ZFEE = ? OR ZFEE >= '' AND CLARUS_NUMBER(ZFEE) = ?           both parts do
//     fee < 12                  ZFEE < ? OR ZFEE >= '' AND CLARUS_DECIMAL_COMPARE(ZFEE, ?) < 0
//     fee > other               CLARUS_DECIMAL_COMPARE(ZFEE, ZOTHER) > 0
//     fee > score               CAST(… ZFEE … AS REAL) > ZSCORE

extension AppleEncoding {
  package func numberTest(
    _ symbol: SQLOperator, _ value: SQLExpression, _ type: ValueType, _ constant: PredicateValue
  ) -> SQLExpression? {
    guard type == .decimal else {
      // A long decimal is between two reals. Doubles are compared with the nearer one, integers exactly.
      guard type == .integer, case .text(let text)? = Self.decimal(constant) else { return nil }
      return .binary(symbol, .function(.compareDecimals, [value, .text(text)]), .integer(0))
    }
    if let exact = Self.decimal(constant) {
      // Each number has only one stored form.
      if symbol == .equal { return .binary(.equal, value, .bound(exact)) }
      let test: SQLExpression = .binary(
        symbol, .function(.compareDecimals, [value, .bound(exact)]), .integer(0))
      if case .text = exact { return test }
      return split(symbol, value, .bound(exact), texts: test) ?? test
    }
    guard case .double(let number) = constant else { return nil }
    if number.isNaN { return .truth(false) }
    let near: SQLExpression = .binary(symbol, SQLiteDialect().real(ofDecimal: value), .bound(.real(number)))
    // Not every greater integer is exact as a double.
    guard abs(number) < 0x1p53 else { return near }
    let texts: SQLExpression = .binary(symbol, .function(.number, [value]), .bound(.real(number)))
    return split(symbol, value, .bound(.real(number)), texts: texts) ?? near
  }

  /// Compares a column's numbers by the database's comparison, which an index serves, and its texts by
  /// another one; nil for a computed value.
  private func split(
    _ symbol: SQLOperator, _ value: SQLExpression, _ bound: SQLExpression, texts: SQLExpression
  ) -> SQLExpression? {
    guard case .column = value else { return nil }
    let isText: SQLExpression = .binary(.greaterOrEqual, value, .text(""))
    let numbers: SQLExpression = .binary(symbol, value, bound)
    switch symbol {
    case .greater, .greaterOrEqual:
      return .disjunction([
        .conjunction([numbers, .binary(.less, value, .text(""))]), .conjunction([isText, texts]),
      ])
    default: return .disjunction([numbers, .conjunction([isText, texts])])
    }
  }
}
