import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDBSQLite

/// One step of filling a row: copies one column of the result into one word.
private struct ReadStep {
  enum Kind: UInt8 {
    case int16, int32, int64, bool, double, date, decimal, text, uuid, blob, tagged, toOne, toOneOfFamily
  }
  var column: Int32
  var word: Int32
  /// For a to-one value: the column with the target's entity number.
  var entityColumn: Int32
  /// For a to-one value: the declared destination.
  var target: Int32
  var kind: Kind
}

/// A to-one value whose row does not contain the target's entity; the engine looks it up after the fetch.
struct OpenTarget {
  var slab: Int
  var row: Int
  var word: Int
  var destination: Int
  var key: Int64
}

/// The row loop, which copies the rows of a stepping statement straight into slabs.
///
/// Everything that can be decided before the loop is decided in `init`: for each entity a list of steps
/// sorted by word, and a table from entity numbers to entities. The loop uses no string, no dictionary, no
/// optional, and allocates nothing but a new slab every 256 KiB.
///
/// SQLite types values, not columns, so every step accepts any type: text in an integer column reads as the
/// integer that SQLite makes of it, a number in a text column as its digits. A value without meaning (a UUID
/// of 3 bytes) reads as nil.
///
/// Asking SQLite for the type of each value would be a second call. Instead numbers are read directly, and
/// the type is checked only for 0, which is also what NULL reads as.
///
/// A class, because each fetch of a kept statement would copy its many references.
final class RowReader: Sendable {
  private let schema: StoreSchema
  private let columns: RowColumns
  private let layout: EntityLayout
  private let isFamily: Bool
  private let steps: [ReadStep]
  private let ranges: [Range<Int>]
  private let external: ExternalData
  private let resolvesTargets: Bool

  init(schema: StoreSchema, columns: RowColumns, layout: EntityLayout, external: ExternalData) {
    self.schema = schema
    self.columns = columns
    self.layout = layout
    self.external = external
    isFamily = columns.family.count > 1
    var steps: [ReadStep] = []
    var ranges: [Range<Int>] = []
    var resolvesTargets = false
    for reads in columns.readsByEntity {
      let start: Int = steps.count
      for read in reads.sorted(by: { $0.word < $1.word }) {
        var step = ReadStep(
          column: read.column, word: read.word, entityColumn: read.entityColumn, target: read.target,
          kind: Self.kind(of: read))
        if step.kind == .toOne, read.target >= 0, schema.layout.entities[Int(read.target)].hasSubentities {
          // The destination has sub-entities but no column with the target's entity: look every target up.
          step.kind = .toOneOfFamily
        }
        if step.kind == .toOneOfFamily { resolvesTargets = true }
        steps.append(step)
      }
      ranges.append(start..<steps.count)
    }
    self.steps = steps
    self.ranges = ranges
    self.resolvesTargets = resolvesTargets
  }

  private static func kind(of read: ColumnRead) -> ReadStep.Kind {
    if read.isTagged { return .tagged }
    switch read.kind {
    case .int16: return .int16
    case .int32: return .int32
    case .int64: return .int64
    case .bool: return .bool
    case .double, .float: return .double
    case .date: return .date
    case .decimal: return .decimal
    case .string, .uri: return .text
    case .uuid: return .uuid
    case .data, .transformable: return .blob
    case .toOne: return read.entityColumn >= 0 ? .toOneOfFamily : .toOne
    }
  }

  /// Steps the statement to its end. The statement is reset afterwards, also when this throws.
  ///
  /// Rows whose entity number is not in the model, or lies outside the family, are left out. `expected`: how
  /// many rows there are at most, 0 if that is not known; memory for so many is allocated at first.
  func readAll(_ statement: RawStatement, expected: Int = 0) throws -> (batch: RowBatch, open: [OpenTarget]) {
    defer { statement.reset() }
    var slabs: [RowSlab] = []
    var open: [OpenTarget] = []
    let stride: Int = isFamily ? layout.familyRowSize : layout.rowSize
    // Most fetches find one object or few; the memory doubles for more.
    var capacity: Int = expected > 0 ? min(expected, 32) : 4
    var tailCapacity: Int = 256
    while true {
      let slab = RowSlab(
        layout: layout, family: isFamily, rowCapacity: capacity, tailCapacity: tailCapacity)
      let isFull: Bool = try fill(slab, at: slabs.count, statement, &open)
      if slab.count > 0 { slabs.append(slab) }
      if !isFull { return (RowBatch(slabs: slabs), open) }
      capacity = min(slab.count + 32, RowSlab.targetSizeInBytes / stride + 1)
      tailCapacity = 64
    }
  }

  /// Steps the statement until the slab is full (true) or there are no more rows.
  // The slab is a parameter, not a variable: that would be retained for every value.
  private func fill(
    _ slab: RowSlab, at place: Int, _ statement: RawStatement, _ open: inout [OpenTarget]
  ) throws -> Bool {
    let handle: OpaquePointer = statement.handle
    let headerSize: Int = layout.headerSize
    let lowest: Int = columns.family.lowerBound
    let highest: Int = columns.family.upperBound
    return try steps.withUnsafeBufferPointer { steps in
      try ranges.withUnsafeBufferPointer { ranges in
        try schema.indexOfNumber.withUnsafeBufferPointer { numbers in
          while !slab.isFull {
            let code: Int32 = sqlite3_step(handle)
            if code != SQLITE_ROW {
              if code == SQLITE_DONE { return false }
              throw statement.failure()
            }
            let number = Int(sqlite3_column_int64(handle, 1))
            guard number > 0, number < numbers.count else { continue }
            let entity: Int = numbers[number]
            guard entity >= lowest, entity <= highest else { continue }
            let row: UnsafeMutableRawPointer = slab.appendRow(
              key: sqlite3_column_int64(handle, 0), entity: entity,
              version: Int32(truncatingIfNeeded: sqlite3_column_int64(handle, 2)))
            var filler = RowFiller(row, headerSize: headerSize)
            let range: Range<Int> = ranges[entity - lowest]
            for position in range {
              let step: ReadStep = steps[position]
              let word = Int(step.word)
              let slot: UnsafeMutableRawPointer = filler.address(word)
              let column: Int32 = step.column
              switch step.kind {
              case .int64, .int32, .int16, .bool:
                var value: Int64 = sqlite3_column_int64(handle, column)
                if value == 0, sqlite3_column_type(handle, column) == SQLITE_NULL { continue }
                if step.kind == .int32 {
                  value = Int64(Int32(truncatingIfNeeded: value))
                } else if step.kind == .int16 {
                  value = Int64(Int16(truncatingIfNeeded: value))
                } else if step.kind == .bool {
                  value = value == 0 ? 0 : 1
                }
                slot.storeBytes(of: value, as: Int64.self)
              case .double, .date:
                let value: Double = sqlite3_column_double(handle, column)
                if value == 0, sqlite3_column_type(handle, column) == SQLITE_NULL { continue }
                slot.storeBytes(of: value, as: Double.self)
              case .text:
                guard let bytes = sqlite3_column_text(handle, column) else { continue }
                let place: UInt64 = slab.appendTail(bytes, count: Int(sqlite3_column_bytes(handle, column)))
                slot.storeBytes(of: place, as: UInt64.self)
              case .blob:
                guard let place = Self.blob(handle, column, slab) else { continue }
                slot.storeBytes(of: place, as: UInt64.self)
              case .uuid:
                guard let place = Self.uuid(handle, column, slab) else { continue }
                slot.storeBytes(of: place, as: UInt64.self)
              case .decimal:
                guard let place = Self.decimal(handle, column, slab) else { continue }
                slot.storeBytes(of: place, as: UInt64.self)
              case .tagged:
                guard let place = try tagged(handle, step, entity, slab) else { continue }
                slot.storeBytes(of: place, as: UInt64.self)
              case .toOne:
                let key: Int64 = sqlite3_column_int64(handle, column)
                if key == 0, sqlite3_column_type(handle, column) == SQLITE_NULL { continue }
                slot.storeBytes(of: key, as: Int64.self)
                RowLayout.setTargetEntity(slot, to: Int64(step.target))
              case .toOneOfFamily:
                let key: Int64 = sqlite3_column_int64(handle, column)
                if key == 0, sqlite3_column_type(handle, column) == SQLITE_NULL { continue }
                slot.storeBytes(of: key, as: Int64.self)
                let number: Int =
                  step.entityColumn < 0 ? 0 : Int(sqlite3_column_int64(handle, step.entityColumn))
                if number > 0, number < numbers.count, numbers[number] >= 0 {
                  RowLayout.setTargetEntity(slot, to: Int64(numbers[number]))
                } else {
                  RowLayout.setTargetEntity(slot, to: Int64(step.target))
                  open.append(
                    OpenTarget(
                      slab: place, row: slab.count - 1, word: word, destination: Int(step.target),
                      key: key))
                }
              }
              filler.notePresence(of: word)
            }
            filler.finish()
          }
          return true
        }
      }
    }
  }

  /// A value that may be stored in a file; nil for NULL.
  private func tagged(
    _ handle: OpaquePointer, _ step: ReadStep, _ entity: Int, _ slab: RowSlab
  ) throws -> UInt64? {
    do {
      return try external.read(handle, step.column, into: slab)
    } catch let problem as ExternalFile.Problem {
      let layout: EntityLayout = schema.layout.entities[entity]
      let name: String? = layout.slots.first {
        if case .stored(_, let word) = $0.role { return word == Int(step.word) }
        return false
      }?.name
      throw external.error(
        for: problem, property: name.map { "\(layout.name).\($0)" },
        row: RowID(entity: entity, key: sqlite3_column_int64(handle, 0)))
    }
  }

  @inline(__always)
  private static func blob(_ handle: OpaquePointer, _ column: Int32, _ slab: RowSlab) -> UInt64? {
    guard let bytes = sqlite3_column_blob(handle, column) else {
      // A blob of no bytes has no address either.
      return sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : slab.appendTail(nil, count: 0)
    }
    return slab.appendTail(bytes, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// 16 bytes, or (written by hand) the 36 characters of the usual text.
  private static func uuid(_ handle: OpaquePointer, _ column: Int32, _ slab: RowSlab) -> UInt64? {
    guard let bytes = sqlite3_column_blob(handle, column) else { return nil }
    let count = Int(sqlite3_column_bytes(handle, column))
    if count == 16 { return slab.appendTail(bytes, count: 16) }
    guard count == 36 else { return nil }
    let text = String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    guard let uuid = UUID(uuidString: text) else { return nil }
    return withUnsafeBytes(of: uuid.uuid) { slab.appendTail($0.baseAddress, count: 16) }
  }

  /// The number's text: digits of an integer, the shortest text of a real, and text up to the zero byte that
  /// keeps a long number from becoming a real (see `DecimalText`).
  private static func decimal(_ handle: OpaquePointer, _ column: Int32, _ slab: RowSlab) -> UInt64? {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_NULL: return nil
    case SQLITE_FLOAT:
      var text: String = DecimalText.shortest(sqlite3_column_double(handle, column))
      return text.withUTF8 { slab.appendTail($0.baseAddress, count: $0.count) }
    default:
      guard let bytes = sqlite3_column_text(handle, column) else { return nil }
      var count = Int(sqlite3_column_bytes(handle, column))
      if count > 0, bytes[count - 1] == 0 { count -= 1 }
      return slab.appendTail(bytes, count: count)
    }
  }
}
