import CoreDataPredicates
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDBSQLite

/// Reads the values of a projection from a stepping statement, by the rules of ``RowReader``: SQLite types
/// values, not columns, and a value without meaning reads as nil.
struct ValueReader {
  let schema: StoreSchema
  let reads: [ValueRead]
  let external: ExternalData

  /// The values of the current row.
  func row(_ statement: RawStatement) throws -> [PredicateValue] {
    try reads.map { try value($0, statement) }
  }

  private func value(_ read: ValueRead, _ statement: RawStatement) throws -> PredicateValue {
    let handle: OpaquePointer = statement.handle
    let column = Int32(read.position)
    if sqlite3_column_type(handle, column) == SQLITE_NULL { return .null }
    if read.isTagged { return try tagged(handle, column) }
    switch read.kind {
    case .int16: return .integer(Int64(Int16(truncatingIfNeeded: sqlite3_column_int64(handle, column))))
    case .int32: return .integer(Int64(Int32(truncatingIfNeeded: sqlite3_column_int64(handle, column))))
    case .int64: return .integer(sqlite3_column_int64(handle, column))
    case .bool: return .bool(sqlite3_column_int64(handle, column) != 0)
    case .double, .float: return .double(sqlite3_column_double(handle, column))
    case .date:
      return .date(Date(timeIntervalSinceReferenceDate: sqlite3_column_double(handle, column)))
    case .decimal:
      return DecimalText.decimal(sqlite3_column_value(handle, column)).map { .decimal($0) } ?? .null
    case .string: return statement.text(read.position).map { .string($0) } ?? .null
    case .uri:
      return statement.text(read.position).map { text in URL(string: text).map { .url($0) } ?? .string(text) }
        ?? .null
    case .uuid: return uuid(statement.data(read.position) ?? Data())
    case .data, .transformable: return .data(statement.data(read.position) ?? Data())
    case .toOne: return object(read, statement)
    }
  }

  private func tagged(_ handle: OpaquePointer, _ column: Int32) throws -> PredicateValue {
    do {
      return try external.data(handle, column).map(PredicateValue.data) ?? .null
    } catch let problem as ExternalFile.Problem {
      throw external.error(for: problem, property: nil, row: nil)
    }
  }

  private func uuid(_ bytes: Data) -> PredicateValue {
    if bytes.count == 16 {
      return .uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
    }
    return UUID(uuidString: String(decoding: bytes, as: UTF8.self)).map { .uuid($0) } ?? .null
  }

  private func object(_ read: ValueRead, _ statement: RawStatement) -> PredicateValue {
    let number: Int? = read.entityPosition.map { Int(statement.integer($0)) }
    // A target that does not exist keeps the declared entity.
    let entity: Int = number.flatMap { schema.entityIndex(ofNumber: $0) } ?? read.target
    let id = RowID(entity: entity, key: statement.integer(read.position))
    return .object(ObjectBox(ObjectReference(id: id)))
  }
}

extension SQLiteEngine {
  package func fetch(_ plan: ProjectionPlan) throws -> ProjectedRows {
    let compiled: ProjectionStatement = try fetchCompiler.table(plan)
    let reader = ValueReader(schema: schema, reads: compiled.columns, external: external)
    return try read(isSingleStatement: true) { database in
      let statement: RawStatement = try prepared(compiled.statement, database)
      return try logged(compiled.statement, database) {
        defer { statement.reset() }
        var table = ProjectedRows(width: reader.reads.count)
        var limiter: DistinctLimiter? =
          compiled.leavesDuplicates
          ? DistinctLimiter(isDistinct: true, limit: plan.limit, offset: plan.offset) : nil
        while limiter?.isFull != true, try step(statement) {
          let row: [PredicateValue] = try reader.row(statement)
          if limiter?.accepts(row) ?? true { table.append(row: row) }
        }
        return (table, table.count)
      }
    }
  }

  /// SQLite's own sum fails for integers that need more than 64 bits; the in-memory store throws the same
  /// error.
  private func step(_ statement: RawStatement) throws -> Bool {
    do {
      return try statement.step()
    } catch StoreError.database(_, "integer overflow", _, _) {
      throw StoreError.tooLargeSum("sum:")
    }
  }

  package func explain(_ plan: ProjectionPlan) throws -> ExplainedStatement? {
    let compiled: CompiledStatement = try fetchCompiler.table(plan).statement
    return try read { database in
      ExplainedStatement(
        sql: compiled.sql, bindings: compiled.bindings.map(\.description),
        queryPlan: try queryPlan(compiled, database))
    }
  }
}
