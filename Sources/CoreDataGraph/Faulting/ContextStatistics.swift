import CoreDataStorage

extension NSManagedObjectContext {
  /// What a context has read since it was made or ``NSManagedObjectContext/resetStatistics()`` was called.
  public struct Statistics: Sendable, Equatable, CustomStringConvertible {
    /// Statements that read, those for contexts below included. Of a store that runs no SQL, its calls; the
    /// calls of an `NSIncrementalStore` are not counted.
    public internal(set) var statements: Int = 0
    /// The rows that they returned: rows of objects, ids, members, dictionaries, counts.
    public internal(set) var rows: Int = 0
    /// Faults whose values had to be found: objects without a row, and to-many relationships that were not
    /// loaded. Objects of a fetch have their rows and are not counted.
    public internal(set) var faults: Int = 0
    /// Those of the faults that took no statement: another context had the row, or it was read ahead. A child
    /// asks its parent, and counts none.
    public internal(set) var cacheHits: Int = 0
    /// The time that the context spent in its stores to read.
    public internal(set) var duration: Duration = .zero

    public var description: String {
      "\(statements) statements, \(rows) rows, \(faults) faults, \(cacheHits) of them from memory, \(duration) in stores"
    }
  }

  /// What this context has read. Counting is always on: it costs two readings of the clock for a call to a
  /// store.
  public final var statistics: Statistics {
    requireQueue("statistics was read")
    return Statistics(
      statements: tally.counts.statements, rows: tally.counts.rows, faults: faultCounts.faults,
      cacheHits: faultCounts.cacheHits,
      duration: .nanoseconds(Int64(clamping: tally.counts.nanoseconds)))
  }

  /// Begins ``statistics`` anew.
  public final func resetStatistics() {
    requireQueue("resetStatistics() was called")
    tally.counts = StoreTally.Counts()
    faultCounts = FaultCounts()
  }
}

/// The faults of a context.
struct FaultCounts {
  var faults: Int = 0
  var cacheHits: Int = 0
}
