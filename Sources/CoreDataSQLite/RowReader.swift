import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDBSQLite
import Synchronization

/// One step of filling a row: copies one column of the result into one word. Twenty bytes: the loop over the
/// steps costs more with others.
private struct ReadStep {
  enum Kind: UInt8 {
    case int16, int32, int64, bool, double, date, decimal, text, uuid, blob, tagged, toOne, toOneOfFamily
  }
  /// SQLite refuses a statement with more than 32,767.
  var column: Int16
  /// For a to-one value: the column with the target's entity number; -1 if the target is looked up.
  var entityColumn: Int16
  var word: Int32
  /// For a to-one value: the declared destination, which is the first entity of its family, and the last one.
  /// A number of another hierarchy is not believed.
  var target: Int32
  var lastTarget: Int32
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
  /// How many bytes of the tail a row of the last slab has; −1 before the first one.
  private let tailPerRow = Atomic<Int>(-1)

  /// `looksTargetsUp`: whether the entities of all targets are left open, whatever their rows say.
  init(
    schema: StoreSchema, columns: RowColumns, layout: EntityLayout, external: ExternalData,
    looksTargetsUp: Bool = false
  ) {
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
          column: Int16(clamping: read.column),
          entityColumn: looksTargetsUp ? -1 : Int16(clamping: read.entityColumn),
          word: read.word, target: read.target, lastTarget: read.target, kind: Self.kind(of: read))
        if step.kind == .toOne, read.target >= 0, schema.layout.entities[Int(read.target)].hasSubentities {
          // The destination has sub-entities but no column with the target's entity: look every target up.
          step.kind = .toOneOfFamily
        }
        if step.kind == .toOneOfFamily {
          resolvesTargets = true
          if read.target >= 0 {
            step.lastTarget = Int32(schema.layout.entities[Int(read.target)].family.upperBound)
          }
        }
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
    var slab: RowSlab = firstSlab(expected: expected)
    while true {
      let isFull: Bool = try fill(slab, at: slabs.count, statement, &open)
      if slab.count > 0 {
        slabs.append(slab)
        let tail: Int = slab.tailCount / slab.count
        if tail != tailPerRow.load(ordering: .relaxed) { tailPerRow.store(tail, ordering: .relaxed) }
      }
      if !isFull { return (RowBatch(slabs: slabs), open) }
      // As wide as those before, as far as is known: rows are all nil in a slab that is full without a tail.
      slab = RowSlab(layout: layout, family: isFamily, tailPerRow: tailPerRow.load(ordering: .relaxed))
    }
  }

  /// The slab for the first rows. Most fetches find one object or few; the memory doubles for more.
  private func firstSlab(expected: Int) -> RowSlab {
    let tail: Int = tailPerRow.load(ordering: .relaxed)
    guard expected > 32, tail >= 0 else {
      return RowSlab(
        layout: layout, family: isFamily, rowCapacity: expected > 0 ? min(expected, 32) : 4, tailCapacity: 256
      )
    }
    let size: Int = (isFamily ? layout.familyRowSize : layout.rowSize) + tail + tail / 16
    if expected >= RowSlab.targetSizeInBytes / 2 / size {
      return RowSlab(layout: layout, family: isFamily, tailPerRow: tail)
    }
    return RowSlab(
      layout: layout, family: isFamily, rowCapacity: expected,
      tailCapacity: expected * (tail + tail / 16) + 64)
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
    return try statement.withValues { values in
      try steps.withUnsafeBufferPointer { steps in
        try ranges.withUnsafeBufferPointer { ranges in
          try schema.indexOfNumber.withUnsafeBufferPointer { numbers in
            while !slab.isFull {
              let code: Int32 = sqlite3_step(handle)
              if code != SQLITE_ROW {
                if code == SQLITE_DONE { return false }
                throw statement.failure()
              }
              values.find(handle)
              let number = Int(sqlite3_value_int64(values[1]))
              guard number > 0, number < numbers.count else { continue }
              let entity: Int = numbers[number]
              guard entity >= lowest, entity <= highest else { continue }
              let row: UnsafeMutableRawPointer = slab.appendRow(
                key: sqlite3_value_int64(values[0]), entity: entity,
                version: Int32(truncatingIfNeeded: sqlite3_value_int64(values[2])))
              var filler = RowFiller(row, headerSize: headerSize)
              for position in ranges[entity &- lowest] {
                let step: UnsafePointer<ReadStep> = steps.baseAddress.unsafelyUnwrapped + position
                let word = Int(truncatingIfNeeded: step.pointee.word)
                let slot: UnsafeMutableRawPointer = filler.address(word)
                let value: OpaquePointer? = values[Int(truncatingIfNeeded: step.pointee.column)]
                switch step.pointee.kind {
                case .int64:
                  let number: Int64 = sqlite3_value_int64(value)
                  if number == 0, sqlite3_value_type(value) == SQLITE_NULL { continue }
                  slot.storeBytes(of: number, as: Int64.self)
                case .int32:
                  let number: Int64 = sqlite3_value_int64(value)
                  if number == 0, sqlite3_value_type(value) == SQLITE_NULL { continue }
                  slot.storeBytes(of: Int64(Int32(truncatingIfNeeded: number)), as: Int64.self)
                case .int16:
                  let number: Int64 = sqlite3_value_int64(value)
                  if number == 0, sqlite3_value_type(value) == SQLITE_NULL { continue }
                  slot.storeBytes(of: Int64(Int16(truncatingIfNeeded: number)), as: Int64.self)
                case .bool:
                  let number: Int64 = sqlite3_value_int64(value)
                  if number == 0, sqlite3_value_type(value) == SQLITE_NULL { continue }
                  slot.storeBytes(of: number == 0 ? 0 : 1, as: Int64.self)
                case .double, .date:
                  let number: Double = sqlite3_value_double(value)
                  if number == 0, sqlite3_value_type(value) == SQLITE_NULL { continue }
                  slot.storeBytes(of: number, as: Double.self)
                case .text:
                  guard let bytes = sqlite3_value_text(value) else { continue }
                  let place: UInt64 = slab.appendTail(bytes, count: Int(sqlite3_value_bytes(value)))
                  slot.storeBytes(of: place, as: UInt64.self)
                case .toOne:
                  let key: Int64 = sqlite3_value_int64(value)
                  if key == 0, sqlite3_value_type(value) == SQLITE_NULL { continue }
                  slot.storeBytes(of: key, as: Int64.self)
                  RowLayout.setTargetEntity(slot, to: Int64(step.pointee.target))
                case .toOneOfFamily:
                  let key: Int64 = sqlite3_value_int64(value)
                  if key == 0, sqlite3_value_type(value) == SQLITE_NULL { continue }
                  slot.storeBytes(of: key, as: Int64.self)
                  let column = Int(step.pointee.entityColumn)
                  let number: Int = column < 0 ? 0 : Int(sqlite3_value_int64(values[column]))
                  let target: Int = number > 0 && number < numbers.count ? numbers[number] : -1
                  // A number of another hierarchy is damage; the target's own row tells its entity.
                  if target >= Int(step.pointee.target), target <= Int(step.pointee.lastTarget), target >= 0 {
                    RowLayout.setTargetEntity(slot, to: Int64(target))
                  } else {
                    RowLayout.setTargetEntity(slot, to: Int64(step.pointee.target))
                    open.append(
                      OpenTarget(
                        slab: place, row: slab.count - 1, word: word, destination: Int(step.pointee.target),
                        key: key))
                  }
                case .blob, .uuid, .decimal, .tagged:
                  guard let place = try rare(handle, step.pointee, entity, slab) else { continue }
                  slot.storeBytes(of: place, as: UInt64.self)
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
  }

  /// The place of a value that is not simply copied; nil for none.
  @inline(never)
  private func rare(
    _ handle: OpaquePointer, _ step: ReadStep, _ entity: Int, _ slab: RowSlab
  ) throws -> UInt64? {
    switch step.kind {
    case .blob: Self.blob(handle, Int32(step.column), slab)
    case .uuid: Self.uuid(handle, Int32(step.column), slab)
    case .decimal: Self.decimal(handle, Int32(step.column), slab)
    default: try tagged(handle, step, entity, slab)
    }
  }

  /// A value that may be stored in a file; nil for NULL.
  private func tagged(
    _ handle: OpaquePointer, _ step: ReadStep, _ entity: Int, _ slab: RowSlab
  ) throws -> UInt64? {
    do {
      return try external.read(handle, Int32(step.column), into: slab)
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
