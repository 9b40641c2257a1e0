import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDBSQLite

/// The statement that writes some slots of an entity's rows, and how words become parameters.
///
///     INSERT INTO ZUSER (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?, ?, ?, ?)
///     UPDATE ZUSER SET Z_OPT = ?, ZNAME = ? WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?
///
/// Text and bytes are bound where they lie in the slab, without copying: the slab outlives the step.
struct WriteShape {
  struct Step {
    enum Kind: UInt8 {
      case integer, double, decimal, text, blob, tagged, toOne
    }
    var word: Int32
    var parameter: Int32
    /// For a to-one value: the parameter for the target's entity number, -1 if there is none.
    var entityParameter: Int32
    var kind: Kind
  }

  let sql: String
  let steps: [Step]
  /// The first parameter after the values.
  let next: Int32

  /// The shape of inserts: every stored slot of the entity but derived ones.
  static func insert(_ entity: EntityLayout, schema: StoreSchema) throws -> WriteShape {
    let table: TableSchema = try schema.table(of: entity.index)
    var columns: [String] = [table.key, table.entity, table.version]
    let steps: [Step] = makeSteps(Array(entity.slots.indices), entity, schema, columns: &columns)
    let list: String = columns.map(SQLIdentifier.quoted).joined(separator: ", ")
    return WriteShape(
      sql: "INSERT INTO \(SQLIdentifier.quoted(table.name)) (\(list)) VALUES "
        + "(\(EngineTexts.placeholders(columns.count)))",
      steps: steps, next: Int32(columns.count + 1))
  }

  /// The shape of updates of these slots.
  static func update(_ entity: EntityLayout, slots: SlotSet, schema: StoreSchema) throws -> WriteShape {
    let table: TableSchema = try schema.table(of: entity.index)
    var columns: [String] = [table.version]
    let changed: [Int] = slots.members.filter { $0 < entity.slots.count }
    let steps: [Step] = makeSteps(changed, entity, schema, columns: &columns)
    var assignments: [String] = columns.map { "\(SQLIdentifier.quoted($0)) = ?" }
    for slot in changed {
      // The place among the old owner's members means nothing to the new one, whose ordering is written later.
      if case .toOne(let toOne) = schema.storage(of: entity.index, slot: slot), let order = toOne.order {
        assignments.append("\(SQLIdentifier.quoted(order)) = NULL")
      }
    }
    return WriteShape(
      sql: "UPDATE \(SQLIdentifier.quoted(table.name)) SET \(assignments.joined(separator: ", ")) "
        + "WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?",
      steps: steps, next: Int32(columns.count + 1))
  }

  private static func makeSteps(
    _ slots: [Int], _ entity: EntityLayout, _ schema: StoreSchema, columns: inout [String]
  ) -> [Step] {
    var steps: [Step] = []
    for number in slots {
      let slot: PropertySlot = entity.slots[number]
      guard case .stored(let kind, let word) = slot.role, !slot.isDerived else { continue }
      switch schema.storage(of: entity.index, slot: number) {
      case .attribute(let column):
        columns.append(column.name)
        steps.append(
          Step(
            word: Int32(word), parameter: Int32(columns.count), entityParameter: -1,
            kind: column.isTagged ? .tagged : self.kind(kind)))
      case .toOne(let toOne):
        columns.append(toOne.key)
        var step = Step(
          word: Int32(word), parameter: Int32(columns.count), entityParameter: -1, kind: .toOne)
        if let name = toOne.entity {
          columns.append(name)
          step.entityParameter = Int32(columns.count)
        }
        steps.append(step)
      case .none, .toMany: continue
      }
    }
    return steps
  }

  private static func kind(_ kind: ColumnKind) -> Step.Kind {
    switch kind {
    case .int16, .int32, .int64, .bool: .integer
    case .double, .float, .date: .double
    case .decimal: .decimal
    case .string, .uri: .text
    case .uuid, .data, .transformable: .blob
    case .toOne: .toOne
    }
  }

  /// Binds a row's values. `numbers` maps entity indexes to the file's entity numbers.
  @inline(__always)
  func bind(
    _ base: UnsafeMutableRawPointer, _ row: RowRef, to statement: RawStatement, numbers: [Int],
    files: ExternalDataChanges
  ) throws {
    let handle: OpaquePointer = statement.handle
    let headerSize: Int = row.slab.headerSize
    for step in steps {
      let word = Int(step.word)
      let bits: UInt64 = (base + 16 + (word >> 6) << 3).load(as: UInt64.self)
      if bits >> UInt64(word & 63) & 1 == 0 {
        var code: Int32 = sqlite3_bind_null(handle, step.parameter)
        if step.entityParameter >= 0 { code |= sqlite3_bind_null(handle, step.entityParameter) }
        if code != SQLITE_OK { throw statement.failure() }
        continue
      }
      let place: UnsafeMutableRawPointer = base + headerSize + word << 3
      var code: Int32
      switch step.kind {
      case .integer:
        code = sqlite3_bind_int64(handle, step.parameter, place.load(as: Int64.self))
      case .double:
        // SQLite would take NaN for NULL and keep infinities.
        code = sqlite3_bind_double(handle, step.parameter, place.load(as: Double.self))
      case .text:
        let bytes: UnsafeRawBufferPointer = row.bytes(word)
        code = sqlite3_bind_text64(
          handle, step.parameter, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64(bytes.count),
          nil, RawStatement.utf8)
      case .blob:
        let bytes: UnsafeRawBufferPointer = row.bytes(word)
        code = sqlite3_bind_blob64(handle, step.parameter, bytes.baseAddress, UInt64(bytes.count), nil)
      case .decimal:
        code = Self.bindDecimal(row.bytes(word), handle, step.parameter)
      case .tagged:
        try statement.bind(Int(step.parameter), files.columnValue(of: row.bytes(word)))
        code = SQLITE_OK
      case .toOne:
        code = sqlite3_bind_int64(handle, step.parameter, place.load(as: Int64.self))
        if step.entityParameter >= 0 {
          let entity = Int((place + 8).load(as: Int64.self))
          if numbers.indices.contains(entity) {
            code |= sqlite3_bind_int64(handle, step.entityParameter, Int64(numbers[entity]))
          } else {
            code |= sqlite3_bind_null(handle, step.entityParameter)
          }
        }
      }
      if code != SQLITE_OK { throw statement.failure() }
    }
  }

  private static func bindDecimal(
    _ text: UnsafeRawBufferPointer, _ handle: OpaquePointer, _ parameter: Int32
  ) -> Int32 {
    if DecimalText.survivesAffinity(text) {
      return sqlite3_bind_text64(
        handle, parameter, text.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64(text.count), nil,
        RawStatement.utf8)
    }
    let marked: [UInt8] = text + [0]
    return marked.withUnsafeBytes {
      sqlite3_bind_text64(
        handle, parameter, $0.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64($0.count),
        RawStatement.copied, RawStatement.utf8)
    }
  }
}
