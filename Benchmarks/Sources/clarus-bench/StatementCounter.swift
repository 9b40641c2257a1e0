import Foundation
import GRDBSQLite
import Synchronization

/// How many statements are run, counted by SQLite itself on every connection that any contestant opens while
/// `isOn`: the same for C, GRDB and Clarus. Counting costs time, so it is done in a pass that is not timed.
enum StatementCounter {
  private static let count = Atomic<Int>(0)

  /// Runs `body`; connections opened in it are counted.
  static func on<Result>(_ body: () throws -> Result) rethrows -> Result {
    // SQLite's declaration has no parameters; what it calls has three (sqlite3_auto_extension).
    let entry: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Int32 = {
      database, _, _ in
      sqlite3_trace_v2(
        database, UInt32(SQLITE_TRACE_STMT),
        { _, _, _, text in
          // The statements of triggers come as comments.
          let first = text?.assumingMemoryBound(to: UInt8.self).pointee
          if first != UInt8(ascii: "-") { StatementCounter.count.wrappingAdd(1, ordering: .relaxed) }
          return 0
        }, nil)
      return SQLITE_OK
    }
    let plain = unsafeBitCast(entry, to: (@convention(c) () -> Void).self)
    sqlite3_auto_extension(plain)
    defer { sqlite3_cancel_auto_extension(plain) }
    return try body()
  }

  static func startOver() { count.store(0, ordering: .relaxed) }

  static var statements: Int { count.load(ordering: .relaxed) }
}
