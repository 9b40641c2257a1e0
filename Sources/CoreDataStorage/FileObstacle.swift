/// What in a file system stands in the way of a store, and is no fault of its file.
package enum FileObstacle: Sendable, Equatable {
  case isLocked
  case isFull
  case hasFailed
  case opensNoFile

  /// By the primary result code of SQLite (https://www.sqlite.org/rescode.html); nil for the codes of other
  /// trouble.
  package init?(databaseCode code: Int32) {
    switch code {
    case 5, 6: self = .isLocked  // BUSY, LOCKED
    case 10: self = .hasFailed  // IOERR
    case 13: self = .isFull  // FULL
    case 14: self = .opensNoFile  // CANTOPEN
    default: return nil
    }
  }
}
