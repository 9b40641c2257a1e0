import CoreDataPredicates
import CoreDataSQL
import CoreDataStorage

/// Statements of fetch plans, by the shape of the plan (Decisions/0061). For a shape that was fetched before,
/// nothing is compiled or rendered; only the new constants are bound.
///
///     shape ─▸ a few statements ─▸ the first that accepts the constants ─▸ values to bind
///                none: compile, and keep the statement with what it takes to use it again
///
/// A shape has several statements if constants are part of the statement. `name == nil` and `name == "a"`
/// have different shapes. But patterns that search for a prefix share one shape with other patterns, and so
/// do expressions whose value decides the statement.
///
/// The cache belongs to one schema: an engine and the readers of its earlier states share it; a store that is
/// opened again has a new cache.
final class StatementCache: @unchecked Sendable {
  // Sendable: `state` is guarded by its lock; everything else is immutable.

  /// The statement that was found or compiled for a plan.
  struct Found {
    var statement: CompiledStatement
    /// For statements that yield rows.
    var reader: RowReader?
    /// Set if the cache keeps the statement.
    var kept: KeptStatement?
  }

  /// How often something happened since the store was opened.
  struct Counts: Equatable {
    /// Plans whose statement was in the cache.
    var hits: Int = 0
    /// Plans that were compiled and kept.
    var misses: Int = 0
    /// Plans that were compiled and could not be kept.
    var unshaped: Int = 0
    /// Shapes that were evicted.
    var evictions: Int = 0
  }

  private final class Entry {
    // Accessed under the lock of `state`.
    /// The most recently used one is first.
    @exclusivity(unchecked) var statements: [KeptStatement] = []
    /// The time of the last use.
    @exclusivity(unchecked) var use: Int = 0
  }

  private struct State {
    var entries: [FetchShape.Key: Entry] = [:]
    var uses: Int = 0
    var counts = Counts()
  }

  private let compiler: FetchCompiler
  private let makeReader: @Sendable (FetchPlan) -> RowReader
  /// How many shapes are kept.
  private let limit: Int
  private let state = Guarded(State())

  /// Statements that are kept of a shape.
  static let statementsPerShape: Int = 8

  init(
    _ compiler: FetchCompiler, limit: Int, makeReader: @escaping @Sendable (FetchPlan) -> RowReader
  ) {
    self.compiler = compiler
    self.limit = limit
    self.makeReader = makeReader
  }

  var counts: Counts { state.withLock { $0.counts } }
  var shapeCount: Int { state.withLock { $0.entries.count } }

  /// The statement of a plan with its values. Throws the errors of compiling the plan.
  func statement(_ plan: FetchPlan, _ result: FetchResult) throws -> Found {
    guard let shape = FetchShape(plan, result) else { return try unshaped(plan, result) }
    if let found = find(shape) { return found }
    // The lock is not held here: compiling may take long, and other threads fetch meanwhile.
    let (statement, shaped): (CompiledStatement, ShapedStatement?) = try compiler.shaped(plan, result, shape)
    let reader: RowReader? = result == .rows ? makeReader(plan) : nil
    if let shaped {
      keep(KeptStatement(shaped, reader), shape.key)
    } else {
      noteUnshaped()
    }
    return Found(statement: statement, reader: reader)
  }

  private func unshaped(_ plan: FetchPlan, _ result: FetchResult) throws -> Found {
    noteUnshaped()
    return Found(
      statement: try compiler.statement(plan, result), reader: result == .rows ? makeReader(plan) : nil)
  }

  private func noteUnshaped() { state.withLock { $0.counts.unshaped += 1 } }

  private func find(_ shape: FetchShape) -> Found? {
    state.withLock { state in
      guard let entry = state.entries[shape.key] else { return nil }
      state.uses += 1
      entry.use = state.uses
      for (place, kept) in entry.statements.enumerated() {
        guard let values = kept.statement.bindings(for: shape.parameters) else { continue }
        if place > 0 {
          entry.statements.remove(at: place)
          entry.statements.insert(kept, at: 0)
        }
        state.counts.hits += 1
        return Found(
          statement: CompiledStatement(sql: kept.statement.sql, bindings: values), reader: kept.reader,
          kept: kept)
      }
      return nil
    }
  }

  private func keep(_ kept: KeptStatement, _ key: FetchShape.Key) {
    state.withLock { state in
      state.counts.misses += 1
      state.uses += 1
      let entry: Entry = state.entries[key] ?? Entry()
      entry.use = state.uses
      entry.statements.insert(kept, at: 0)
      if entry.statements.count > Self.statementsPerShape { entry.statements.removeLast() }
      guard state.entries.updateValue(entry, forKey: key) == nil, state.entries.count > limit else { return }
      // A linear search is fine: compiling the statement that needs the space costs far more.
      guard let oldest = state.entries.min(by: { $0.value.use < $1.value.use }) else { return }
      state.entries[oldest.key] = nil
      state.counts.evictions += 1
    }
  }
}

/// A statement that the cache keeps. Connections know by it what they have prepared: see `ReaderConnection`.
final class KeptStatement: Sendable {
  let statement: ShapedStatement
  let reader: RowReader?

  init(_ statement: ShapedStatement, _ reader: RowReader?) {
    self.statement = statement
    self.reader = reader
  }
}
