import CoreDataPredicates
import CoreDataStorage
import Foundation
import GRDBSQLite

/// The statements that SQLite runs over one file, whichever connection runs them: SQLite tells, not
/// the code under test.
public final class StatementTrace {
  private let file: String

  /// Hears of connections that were opened since `listen()`.
  public init(_ url: URL) {
    file = url.resolvingSymlinksInPath().path
    Self.statements.withLock { $0[file] = [] }
  }

  deinit { Self.statements.withLock { $0[file] = nil } }

  /// The statements since the last call.
  public func take() -> [String] {
    Self.statements.withLock { all in
      defer { all[file] = [] }
      return all[file] ?? []
    }
  }

  private static let statements = Guarded<[String: [String]]>([:])

  private typealias Entry =
    @convention(c) (
      OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, OpaquePointer?
    ) -> Int32

  public static func listen() { _ = listening }

  /// SQLite calls this for every connection that the process opens.
  private static let listening: Int32 = {
    let entry: Entry = { connection, _, _ in
      sqlite3_trace_v2(
        connection, UInt32(SQLITE_TRACE_STMT),
        { _, _, statement, text in
          guard let connection = sqlite3_db_handle(OpaquePointer(statement)),
            let name = sqlite3_db_filename(connection, "main"),
            let text = text?.assumingMemoryBound(to: CChar.self)
          else { return 0 }
          let file = URL(fileURLWithPath: String(cString: name)).resolvingSymlinksInPath().path
          let sql = String(cString: text)
          StatementTrace.statements.withLock { $0[file]?.append(sql) }
          return 0
        }, nil)
    }
    return sqlite3_auto_extension(unsafeBitCast(entry, to: (@convention(c) () -> Void).self))
  }()
}
