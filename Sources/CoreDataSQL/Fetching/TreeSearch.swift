import CoreDataStorage

/// The search of an R-tree that a fetch over a box makes, such as one by latitude and longitude:
///
///     latitude BETWEEN {51, 52} AND longitude BETWEEN {0, 1}
///
///     t0.Z_PK IN (SELECT Z_RT_Asset_place.Z_PK FROM Z_RT_Asset_place
///                 WHERE Z_RT_Asset_place.ZLATITUDE_MAX >= ? AND Z_RT_Asset_place.ZLATITUDE_MIN <= ? AND …)
///     AND t0.ZLATITUDE BETWEEN ? AND ? AND …
///
/// The tree has single-precision numbers, the lower bound rounded down and the upper one up, and 0 for a
/// missing number, so it finds too many rows, never too few; the fetch's own condition stays. Numbers that
/// single precision can't tell apart are the exceptions: those beyond it are infinite in the tree, those next
/// to 0 are rounded either way. So a bound among them is made wider, and equal numbers always count.
///
/// Only for fetches that bound every column of the tree on both sides: others would rather read the table.
struct TreeSearch {
  private var lower: [String: SQLExpression] = [:]
  private var upper: [String: SQLExpression] = [:]

  /// `conditions`: all of them hold. `alias`: that of the fetched table.
  init(_ conditions: [SQLExpression], of alias: String?) {
    for condition in conditions {
      switch condition {
      case .between(.column(alias, let column), let low, let high)
      where Self.isNumber(low) && Self.isNumber(high):
        lower[column] = low
        upper[column] = high
      case .binary(let symbol, .column(alias, let column), let bound) where Self.isNumber(bound):
        switch symbol {
        case .greater, .greaterOrEqual: lower[column] = bound
        case .less, .lessOrEqual: upper[column] = bound
        default: continue
        }
      default: continue
      }
    }
  }

  private static func isNumber(_ bound: SQLExpression) -> Bool {
    switch bound {
    case .bound(let value), .constant(let value, use: _):
      switch value {
      case .integer, .real: true
      default: false
      }
    default: false
    }
  }

  /// Whether a row is among those that the tree finds; nil if the fetch does not bound all of its columns.
  func condition(_ key: SQLExpression, in tree: RTree) -> SQLExpression? {
    var tests: [SQLExpression] = []
    for column in tree.columns {
      guard let low = lower[column], let high = upper[column] else { return nil }
      tests += Self.tests(of: column, in: tree, from: low, to: high)
    }
    if tests.isEmpty { return nil }
    var search = SelectStatement(
      columns: [.tableColumn(tree.name, tree.key)], source: .table(tree.name, alias: nil))
    search.condition = .all(tests)
    return .inSelect(key, search)
  }

  /// Whether what a tree has of a column reaches into a range of numbers.
  static func tests(of column: String, in tree: RTree, from low: SQLExpression, to high: SQLExpression)
    -> [SQLExpression]
  {
    [
      .binary(
        .greaterOrEqual, .tableColumn(tree.name, column + "_MAX"),
        widened(low, .less, -largest, -.infinity, -smallest)),
      .binary(
        .lessOrEqual, .tableColumn(tree.name, column + "_MIN"),
        widened(high, .greater, largest, .infinity, smallest)),
    ]
  }

  /// Below the largest number of single precision.
  private static let largest: Double = 3e38
  /// Above the smallest number that single precision has with all its digits.
  private static let smallest: Double = 1e-37

  private static func widened(
    _ bound: SQLExpression, _ symbol: SQLOperator, _ limit: Double, _ infinity: Double, _ nextToZero: Double
  ) -> SQLExpression {
    let isNextToZero: SQLExpression = .between(
      bound, .bound(.real(-smallest)), .bound(.real(smallest)))
    return .choice(
      when: .binary(symbol, bound, .bound(.real(limit))), then: .bound(.real(infinity)),
      otherwise: .choice(when: isNextToZero, then: .bound(.real(nextToZero)), otherwise: bound))
  }
}
