import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// The functions that the statements of a migration call (``MigrationFunction``).
final class MigrationFunctions {
  private let external: ExternalData
  /// Why a value could not be read.
  private(set) var failure: StoreError?

  init(external: ExternalData) { self.external = external }

  /// Registers the functions; they are valid for as long as `self` is.
  func register(on database: Database) {
    guard let connection = database.sqliteConnection else { return }
    let me: UnsafeMutableRawPointer = Unmanaged.passUnretained(self).toOpaque()
    sqlite3_create_function_v2(
      connection, MigrationFunction.untagged, 1, SQLITE_UTF8, me, Self.untag, nil, nil, nil)
    sqlite3_create_function_v2(
      connection, MigrationFunction.tagged, 1, SQLITE_UTF8, nil, Self.tag, nil, nil, nil)
    sqlite3_create_function_v2(
      connection, MigrationFunction.fingerprint, 2, SQLITE_UTF8, nil, nil, Self.step, Self.finish, nil)
  }

  static func unregister(on database: Database) {
    sqlite3_create_function_v2(
      database.sqliteConnection, MigrationFunction.untagged, 1, SQLITE_UTF8, nil, nil, nil, nil, nil)
  }

  private typealias Function =
    @convention(c) (
      OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?
    ) -> Void

  /// SQLite copies what it is given with this.
  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  private static func bytes(_ value: OpaquePointer?) -> UnsafeRawBufferPointer? {
    if sqlite3_value_type(value) == SQLITE_NULL { return nil }
    let start: UnsafeRawPointer? = sqlite3_value_blob(value)
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
  }

  private static func give(_ data: Data, _ context: OpaquePointer?) {
    data.withUnsafeBytes {
      if $0.isEmpty {
        sqlite3_result_zeroblob(context, 0)
      } else {
        sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), copied)
      }
    }
  }

  private static let untag: Function = { context, _, values in
    guard let value = bytes(values?[0]) else { return sqlite3_result_null(context) }
    let me = Unmanaged<MigrationFunctions>.fromOpaque(sqlite3_user_data(context)).takeUnretainedValue()
    do {
      guard let data = try me.external.data(value) else { return sqlite3_result_null(context) }
      give(data, context)
    } catch {
      if let problem = error as? ExternalFile.Problem {
        me.failure = me.external.error(for: problem, property: nil, row: nil)
      }
      sqlite3_result_error(context, "a value's file can't be read", -1)
    }
  }

  private static let tag: Function = { context, _, values in
    guard let value = bytes(values?[0]) else { return sqlite3_result_null(context) }
    give(ExternalData.inline(value), context)
  }

  // MARK: Fingerprints

  /// The sum of the hashes of all pairs, so that their order does not matter.
  private static let step: Function = { context, _, values in
    guard let values, let place = sqlite3_aggregate_context(context, 8) else {
      return sqlite3_result_error_nomem(context)
    }
    let sum = place.assumingMemoryBound(to: UInt64.self)
    sum.pointee &+= mixed(UInt64(bitPattern: sqlite3_value_int64(values[0])) &+ hash(values[1]) &* 31)
  }

  private static let finish: @convention(c) (OpaquePointer?) -> Void = { context in
    let sum = sqlite3_aggregate_context(context, 0)?.assumingMemoryBound(to: UInt64.self).pointee
    sqlite3_result_int64(context, Int64(bitPattern: sum ?? 0))
  }

  /// Equal numbers have equal hashes, whether they are integers or reals: a column's affinity may change
  /// them.
  private static func hash(_ value: OpaquePointer?) -> UInt64 {
    switch sqlite3_value_type(value) {
    case SQLITE_NULL: return 0x9E37
    case SQLITE_INTEGER:
      let number: Int64 = sqlite3_value_int64(value)
      let real = Double(number)
      return mixed(number.magnitude < 1 << 53 ? real.bitPattern : UInt64(bitPattern: number))
    case SQLITE_FLOAT:
      let real: Double = sqlite3_value_double(value)
      if let whole = Int64(exactly: real), whole.magnitude >= 1 << 53 {
        return mixed(UInt64(bitPattern: whole))
      }
      return mixed((real == 0 ? 0 : real).bitPattern)
    default:
      var result: UInt64 = 0xcbf2_9ce4_8422_2325
      for byte in bytes(value) ?? UnsafeRawBufferPointer(start: nil, count: 0) {
        result = (result ^ UInt64(byte)) &* 0x100_0000_01b3
      }
      return mixed(result)
    }
  }

  private static func mixed(_ value: UInt64) -> UInt64 {
    var value: UInt64 = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
