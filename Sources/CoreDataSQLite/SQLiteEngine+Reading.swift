import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

extension SQLiteEngine {
  // MARK: Fetching

  package func fetch(_ plan: FetchPlan) throws -> RowBatch {
    let found: StatementCache.Found = try statements.statement(plan, .rows)
    guard let reader = found.reader else { preconditionFailure("A statement of rows has no reader.") }
    // Looking up targets afterwards takes a second statement, but a row never changes its entity.
    if let kept = found.kept,
      let (batch, open) = try readKept(
        kept, found.statement, { try reader.readAll($0, expected: plan.limit) })
    {
      StoreTally.note(rows: batch.count)
      if !open.isEmpty { try read { try resolve(open, in: batch, $0) } }
      return batch
    }
    return try read(isSingleStatement: true) { database in
      let statement: RawStatement = try prepared(found.statement, database)
      return try logged(found.statement, database) {
        let (batch, open) = try reader.readAll(statement, expected: plan.limit)
        try resolve(open, in: batch, database)
        return (batch, batch.count)
      } ids: {
        $0.ids
      }
    }
  }

  package func fetchIDs(_ plan: FetchPlan) throws -> [RowID] {
    let compiled: CompiledStatement = try statements.statement(plan, .ids).statement
    return try read(isSingleStatement: true) { database in
      let statement: RawStatement = try prepared(compiled, database)
      return try logged(compiled, database) {
        defer { statement.reset() }
        var ids: [RowID] = []
        try statement.withValues { values in
          while try statement.step() {
            values.find(statement.handle)
            let number = Int(sqlite3_value_int64(values[1]))
            guard let entity = schema.entityIndex(ofNumber: number) else { continue }
            ids.append(RowID(entity: entity, key: sqlite3_value_int64(values[0])))
          }
        }
        return (ids, ids.count)
      } ids: {
        $0
      }
    }
  }

  package func count(_ plan: FetchPlan) throws -> Int {
    let compiled: CompiledStatement = try statements.statement(plan, .count).statement
    return try read(isSingleStatement: true) { database in
      let statement: RawStatement = try prepared(compiled, database)
      return try logged(compiled, database) {
        defer { statement.reset() }
        return (try statement.step() ? Int(statement.integer(0)) : 0, 1)
      }
    }
  }

  package func check(_ plan: FetchPlan) throws {
    let compiled: CompiledStatement = try fetchCompiler.ids(plan)
    // SQLite's parser has limits of its own.
    try read { database in try prepared(compiled, database).reset() }
  }

  package func explain(_ plan: FetchPlan) throws -> ExplainedStatement? {
    let compiled: CompiledStatement = try fetchCompiler.rows(plan).statement
    return try read { database in
      ExplainedStatement(
        sql: compiled.sql, bindings: compiled.bindings.map(\.description),
        queryPlan: try queryPlan(compiled, database))
    }
  }

  func queryPlan(_ compiled: CompiledStatement, _ database: Database) throws -> [String] {
    let statement: RawStatement = try prepared(SQLiteDialect.plan(of: compiled), database)
    defer { statement.reset() }
    var lines: [String] = []
    while try statement.step() { lines.append(statement.text(3) ?? "") }
    return lines
  }

  /// Runs a statement that the statement cache keeps, prepared once by each connection that reads. nil if no
  /// such connection is used, or if statements are logged: the statement is then run like any other.
  private func readKept<T>(
    _ kept: KeptStatement, _ compiled: CompiledStatement, _ body: (RawStatement) throws -> T
  ) throws -> T? {
    guard LogSink.level == 0, !StoreTally.canBeCancelled, case .writable(let pool) = try currentAccess()
    else { return nil }
    return try explainingChangedContents(of: pool) {
      try pool.readKept(kept) { statement in
        try statement.bind(compiled.bindings)
        return try body(statement)
      }
    }
  }

  /// A cached statement with its values bound.
  func prepared(_ compiled: CompiledStatement, _ database: Database) throws -> RawStatement {
    let statement = try RawStatement(database, compiled.sql, url: url)
    try statement.bind(compiled.bindings)
    return statement
  }

  /// Runs a statement's body, which returns the number of rows. Counts the statement, and logs it if the
  /// level asks for that, with the ids of what was found.
  func logged<T>(
    _ compiled: @autoclosure () -> CompiledStatement, _ database: Database, _ body: () throws -> (T, Int),
    ids: (T) -> [RowID] = { _ in [] }
  ) throws -> T {
    let level: Int = LogSink.level
    guard level > 0 else {
      let (result, count) = try body()
      StoreTally.note(rows: count)
      return result
    }
    let statement: CompiledStatement = compiled()
    var entry = LogEntry(.statement, statement.sql)
    if level > 1 { entry.values = statement.bindings.map(\.description) }
    if level > 3 { entry.plan = try queryPlan(statement, database) }
    defer { LogSink.log(entry) }
    let start: ContinuousClock.Instant = .now
    do {
      let (result, count) = try body()
      StoreTally.note(rows: count)
      (entry.rows, entry.duration) = (count, start.duration(to: .now))
      if level > 2 {
        entry.objects = ids(result).map { "\(layout.entities[Int($0.entity)].name)/p\($0.key)" }
      }
      return result
    } catch {
      entry.failure = "\(error)"
      throw error
    }
  }

  // MARK: Rows by key

  package func rows(of layout: EntityLayout, keys: [Int64]) throws -> RowBatch {
    try readForFault(isSingleStatement: keys.count <= 1000, orGone: RowBatch()) {
      try rows(of: layout, keys: keys, $0)
    }
  }

  /// Reads rows of the entity's family first, which are usually all; the remaining keys belong to another
  /// branch of the hierarchy, or to no row.
  func rows(of layout: EntityLayout, keys: [Int64], _ database: Database) throws -> RowBatch {
    var batch: RowBatch = try familyRows(of: layout, keys: keys, database)
    guard layout.index != layout.rootIndex, batch.count < keys.count else { return batch }
    var found: Set<Int64> = []
    batch.forEach { found.insert($0.key) }
    let rest: [Int64] = keys.filter { !found.contains($0) }
    let root: EntityLayout = self.layout.entities[layout.rootIndex]
    batch.slabs += try familyRows(of: root, keys: rest, database).slabs
    return batch
  }

  private func familyRows(of layout: EntityLayout, keys: [Int64], _ database: Database) throws -> RowBatch {
    guard let text: EngineStatements.RowsByKey = texts.rows[layout.index] else {
      _ = try schema.table(of: layout.index)
      return RowBatch()
    }
    let reader: RowReader = text.reader {
      RowReader(
        schema: schema, columns: text.columns, layout: layout, external: external.lenient,
        looksTargetsUp: options.looksTargetsUp)
    }
    var batch = RowBatch()
    func read(
      _ list: ArraySlice<Int64>, _ count: Int, _ sql: String, upTo last: Int64? = nil,
      _ bind: (RawStatement) throws -> Void
    ) throws {
      let statement = try RawStatement(database, sql, url: url)
      try bind(statement)
      _ = try logged(CompiledStatement(sql: sql, bindings: list.map { .integer($0) }), database) {
        var (part, open): (RowBatch, [OpenTarget]) = try reader.readAll(statement, expected: count)
        try resolve(open, in: part, database)
        // In place of rows that are gone there are some after the last one.
        if let last { part.removeRows(after: last) }
        batch.slabs += part.slabs
        return (part, part.count)
      } ids: {
        $0.ids
      }
    }
    if let first = keys.first, let last = keys.last, Self.isSequence(keys) {
      // The table is read along, not searched for each key.
      try read([first, Int64(keys.count)], keys.count, text.run, upTo: last) { statement in
        try statement.bind(1, first)
        try statement.bind(2, Int64(keys.count))
      }
      return batch
    }
    try forEachList(keys) { list, size in
      try read(list, list.count, text.text(keys: size)) { try bind(list, filling: size, $0) }
    }
    return batch
  }

  /// Whether the keys are many, each the one after the one before it.
  private static func isSequence(_ keys: [Int64]) -> Bool {
    guard keys.count > 16, let first = keys.first, let last = keys.last,
      last &- first == Int64(keys.count - 1)
    else { return false }
    var next: Int64 = first
    for key in keys {
      if key != next { return false }
      next &+= 1
    }
    return true
  }

  /// Divides keys into lists of a few fixed sizes.
  func forEachList(_ keys: [Int64], _ body: (ArraySlice<Int64>, Int) throws -> Void) throws {
    var rest: ArraySlice<Int64> = keys[...]
    while !rest.isEmpty {
      let size: Int = EngineStatements.listSize(for: rest.count)
      try body(rest.prefix(size), size)
      rest = rest.dropFirst(size)
    }
  }

  /// Binds a list to a statement with `size` parameters; the last value fills the parameters that are left.
  func bind(_ list: ArraySlice<Int64>, filling size: Int, _ statement: RawStatement) throws {
    guard let last = list.last else { return }
    for place in 0..<size {
      try statement.bind(
        place + 1, place < list.count ? list[list.startIndex + place] : last)
    }
  }

  // MARK: Targets whose entity is not in the row

  /// Looks up the entities of to-one targets that their rows leave open, and writes them into the fresh
  /// slabs. A target that does not exist keeps the declared destination.
  private func resolve(_ open: [OpenTarget], in batch: RowBatch, _ database: Database) throws {
    if open.isEmpty { return }
    var byDestination: [Int: [OpenTarget]] = [:]
    for target in open { byDestination[target.destination, default: []].append(target) }
    for (destination, targets) in byDestination.sorted(by: { $0.key < $1.key }) {
      let entities: [Int64: Int] = try entityIndexes(
        of: Array(Set(targets.map(\.key))), destination: destination, database)
      for target in targets {
        guard let entity = entities[target.key] else { continue }
        let row: RowRef = batch.slabs[target.slab].row(target.row)
        row.slab.set(row.base, word: target.word, toTargetOfEntity: entity)
      }
    }
  }

  private func entityIndexes(
    of keys: [Int64], destination: Int, _ database: Database
  ) throws -> [Int64: Int] {
    guard let text: EngineStatements.RowsByKey = texts.rows[destination] else {
      _ = try schema.table(of: destination)
      return [:]
    }
    var result: [Int64: Int] = [:]
    try forEachList(keys) { list, size in
      let statement = try RawStatement(database, text.entities(keys: size), url: url)
      defer { statement.reset() }
      try bind(list, filling: size, statement)
      while try statement.step() {
        result[statement.integer(0)] = schema.entityIndex(ofNumber: Int(statement.integer(1)))
      }
      StoreTally.note(rows: 0)
    }
    return result
  }

  // MARK: Members of to-many relationships

  package func members(of layout: EntityLayout, slot: Int, owners: [RowID]) throws -> [[RowID]] {
    func nothing() -> [[RowID]] { Array(repeating: [], count: owners.count) }
    var places = Int64HashMap()
    places.reserve(more: owners.count)
    var keys: [Int64] = []
    var twins: [(from: Int, to: Int)] = []
    for (place, owner) in owners.enumerated() {
      if let first = places.find(owner.key) {
        twins.append((from: Int(first), to: place))
      } else {
        places.insert(owner.key, UInt64(place))
        keys.append(owner.key)
      }
    }
    return try readForFault(isSingleStatement: keys.count <= 1000, orGone: nothing()) { database in
      var result: [[RowID]] = nothing()
      try forEachList(keys) { list, size in
        let filled: [Int64] = list + Array(repeating: list.last ?? 0, count: size - list.count)
        let compiled: CompiledStatement = try memberStatements.statement(
          of: layout, slot: slot, owners: filled)
        let statement: RawStatement = try prepared(compiled, database)
        defer { statement.reset() }
        try logged(compiled, database) {
          var count: Int = 0
          while try statement.step() {
            guard let place = places.find(statement.integer(0)),
              let entity = schema.entityIndex(ofNumber: Int(statement.integer(2)))
            else { continue }
            result[Int(place)].append(RowID(entity: entity, key: statement.integer(1)))
            count += 1
          }
          return ((), count)
        }
      }
      for twin in twins { result[twin.to] = result[twin.from] }
      return result
    }
  }

  package func members(of layout: EntityLayout, slot: Int, owner: RowID, among candidates: [RowID]) throws
    -> [RowID]
  {
    try readForFault(isSingleStatement: candidates.count <= 1000, orGone: []) { database in
      var result: [RowID] = []
      try forEachList(candidates.map(\.key)) { list, size in
        let filled: [Int64] = list + Array(repeating: list.last ?? 0, count: size - list.count)
        try forEachMember(of: layout, slot: slot, owner: owner, among: filled, database) { member in
          result.append(member)
          return true
        }
      }
      return result
    }
  }

  package func member(
    of layout: EntityLayout, slot: Int, owner: RowID, after member: RowID, leftOut: Set<RowID>
  ) throws -> RowID? {
    try readForFault(isSingleStatement: true, orGone: nil) { database in
      var isBehind: Bool = false
      var result: RowID?
      try forEachMember(of: layout, slot: slot, owner: owner, among: nil, database) { other in
        if isBehind, !leftOut.contains(other) { result = other }
        if other.key == member.key { isBehind = true }
        return result == nil
      }
      return result
    }
  }

  /// An owner's members, read within an access to the database that is in progress.
  func members(of layout: EntityLayout, slot: Int, owner: RowID, _ database: Database) throws -> [RowID] {
    var result: [RowID] = []
    try forEachMember(of: layout, slot: slot, owner: owner, among: nil, database) { member in
      result.append(member)
      return true
    }
    return result
  }

  /// Steps over an owner's members in their order, until `body` returns false.
  private func forEachMember(
    of layout: EntityLayout, slot: Int, owner: RowID, among candidates: [Int64]?, _ database: Database,
    _ body: (RowID) throws -> Bool
  ) throws {
    let compiled: CompiledStatement = try memberStatements.statement(
      of: layout, slot: slot, owners: [owner.key], among: candidates)
    let statement: RawStatement = try prepared(compiled, database)
    defer { statement.reset() }
    try logged(compiled, database) {
      var count: Int = 0
      while try statement.step() {
        guard let entity = schema.entityIndex(ofNumber: Int(statement.integer(2))) else { continue }
        count += 1
        if try !body(RowID(entity: entity, key: statement.integer(1))) { break }
      }
      return ((), count)
    }
  }
}
