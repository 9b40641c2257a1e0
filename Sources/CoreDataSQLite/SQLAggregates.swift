import CoreDataPredicates
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// The aggregate functions that statements name (``SQLAggregate``): decimals added and compared as decimals,
/// sums that may exceed 64 bits, and statistics.
enum SQLAggregates {
  static func register(on database: Database) {
    guard let connection = database.sqliteConnection else { return }
    for (place, function) in SQLAggregate.allCases.enumerated() {
      sqlite3_create_function_v2(
        connection, function.sqliteName, Int32(function.argumentCount), SQLITE_UTF8 | SQLITE_DETERMINISTIC,
        UnsafeMutableRawPointer(bitPattern: place + 1), nil, step, finish, nil)
    }
  }

  /// The state of one call so far. SQLite keeps a pointer to it between rows.
  private final class AggregateState {
    var value: Decimal?
    var count: Int64 = 0
    /// Integers, until they need more than 64 bits.
    var whole: Int64? = 0
    var real: Double = 0
    /// For statistics.
    var numbers: [PredicateValue] = []
  }

  /// SQLite's memory for one call, initially zero; nil if SQLite is out of memory, or, at the end, if there
  /// was no row.
  private static func place(
    _ context: OpaquePointer?, isEnd: Bool = false
  ) -> UnsafeMutablePointer<Unmanaged<AggregateState>?>? {
    let size = Int32(MemoryLayout<Unmanaged<AggregateState>?>.size)
    return sqlite3_aggregate_context(context, isEnd ? 0 : size)?
      .assumingMemoryBound(to: Unmanaged<AggregateState>?.self)
  }

  private static func function(_ context: OpaquePointer?) -> SQLAggregate {
    let place: Int = Int(bitPattern: sqlite3_user_data(context)) - 1
    return SQLAggregate.allCases[place]
  }

  private static let step:
    @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
      context, count, values in
      guard let values, let place = place(context) else { return sqlite3_result_error_nomem(context) }
      let total: AggregateState
      if let known = place.pointee {
        total = known.takeUnretainedValue()
      } else {
        total = AggregateState()
        place.pointee = Unmanaged.passRetained(total)
      }
      let function: SQLAggregate = function(context)
      switch function {
      case .wholeSum: return add(values[0], to: total)
      case .median, .deviation:
        if sqlite3_value_type(values[0]) != SQLITE_NULL {
          total.numbers.append(.double(sqlite3_value_double(values[0])))
        }
        return
      case .sum, .average, .min, .max: break
      }
      if count > 1 { total.count += sqlite3_value_int64(values[1]) }
      guard let value = DecimalText.decimal(values[0]) else { return }
      guard let before = total.value else {
        total.value = value
        return
      }
      switch function {
      case .min: total.value = Swift.min(before, value)
      case .max: total.value = Swift.max(before, value)
      default: total.value = before + value
      }
    }

  /// Adds like the sum in memory: as an integer while it fits, then as a real.
  private static func add(_ value: OpaquePointer?, to total: AggregateState) {
    guard sqlite3_value_type(value) != SQLITE_NULL else { return }
    total.count += 1
    guard let whole = total.whole else {
      total.real += sqlite3_value_double(value)
      return
    }
    if sqlite3_value_type(value) == SQLITE_INTEGER {
      let (sum, isTooLarge) = whole.addingReportingOverflow(sqlite3_value_int64(value))
      if !isTooLarge {
        total.whole = sum
        return
      }
    }
    total.whole = nil
    total.real = Double(whole) + sqlite3_value_double(value)
  }

  private static let finish: @convention(c) (OpaquePointer?) -> Void = { context in
    guard let total = place(context, isEnd: true)?.pointee?.takeRetainedValue() else {
      return sqlite3_result_null(context)
    }
    switch function(context) {
    case .sum, .min, .max: return DecimalText.setResult(total.value, context)
    case .wholeSum:
      if total.count == 0 { return sqlite3_result_null(context) }
      guard let whole = total.whole else { return sqlite3_result_double(context, total.real) }
      return sqlite3_result_int64(context, whole)
    case .median: return statistic(.median, of: total, context)
    case .deviation: return statistic(.standardDeviation, of: total, context)
    case .average: break
    }
    if total.count == 0 { return sqlite3_result_null(context) }
    DecimalText.setResult((total.value ?? 0) / Decimal(total.count), context)
  }
}

extension SQLAggregates {
  private static func statistic(
    _ function: BuiltinFunction, of total: AggregateState, _ context: OpaquePointer?
  ) {
    let value: PredicateValue? = try? function.result(of: [.array(total.numbers)])
    guard let number = value.flatMap(NumberComparison.double) else { return sqlite3_result_null(context) }
    sqlite3_result_double(context, number)
  }
}

extension DecimalText {
  /// The number that a column of a decimal attribute holds; nil for `NULL` and for what is no number.
  static func decimal(_ value: OpaquePointer?) -> Decimal? {
    switch sqlite3_value_type(value) {
    case SQLITE_NULL: return nil
    case SQLITE_INTEGER: return Decimal(sqlite3_value_int64(value))
    case SQLITE_FLOAT: return number(shortest(sqlite3_value_double(value)))
    default:
      guard let bytes = sqlite3_value_text(value) else { return nil }
      var count = Int(sqlite3_value_bytes(value))
      // The zero byte that keeps a long number from becoming a real.
      if count > 0, bytes[count - 1] == 0 { count -= 1 }
      return number(String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self))
    }
  }

  /// Returns a number from the function in the form that a column of a decimal attribute holds.
  static func setResult(_ value: Decimal?, _ context: OpaquePointer?) {
    switch value.flatMap(stored) {
    case .integer(let integer): sqlite3_result_int64(context, integer)
    case .real(let real): sqlite3_result_double(context, real)
    case .text(var text):
      text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
          sqlite3_result_text64(
            context, $0.baseAddress, UInt64($0.count), RawStatement.copied, RawStatement.utf8)
        }
      }
    default: sqlite3_result_null(context)
    }
  }
}
