import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDBSQLite

/// How words of a row become the parameters of a compiled statement, decided before the loop over rows.
///
/// Text and bytes are bound in place in the slab, without copying: the slab outlives the step.
struct RowBinder: Sendable {
  private struct Step: Sendable {
    enum Kind: UInt8 {
      case integer, double, decimal, text, blob, tagged, entityNumber
    }
    var word: Int32
    var parameter: Int32
    var kind: Kind
  }

  let sql: String
  private let steps: [Step]
  /// Parameters of the row's own columns; 0 where the statement has none.
  let key: Int32
  let entityNumber: Int32
  let version: Int32
  let expectedVersion: Int32

  init(_ statement: WriteStatement, _ encoding: any ValueEncoding) throws {
    sql = statement.sql
    var steps: [Step] = []
    var (key, entityNumber, version, expectedVersion): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    for (place, parameter) in statement.parameters.enumerated() {
      let number = Int32(place + 1)
      switch parameter {
      case .key: key = number
      case .entityNumber: entityNumber = number
      case .version: version = number
      case .expectedVersion: expectedVersion = number
      case .value(let word, let kind, let isTagged):
        steps.append(
          Step(
            word: Int32(word), parameter: number,
            kind: isTagged ? .tagged : try Self.kind(encoding.form(of: kind))))
      case .target(let word): steps.append(Step(word: Int32(word), parameter: number, kind: .integer))
      case .targetEntityNumber(let word):
        steps.append(Step(word: Int32(word), parameter: number, kind: .entityNumber))
      }
    }
    self.steps = steps
    self.key = key
    self.entityNumber = entityNumber
    self.version = version
    self.expectedVersion = expectedVersion
  }

  private static func kind(_ form: StoredForm) throws -> Step.Kind {
    switch form {
    case .integer: .integer
    case .real: .double
    case .decimalText: .decimal
    case .text: .text
    case .bytes: .blob
    case .boolean, .timestamp, .uuid, .numeric:
      throw StoreError.unsupported(
        part: "\(form)", reason: "SQLite has no columns of this type", advice: "report this")
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
      if !RowLayout.hasValue(word, base) {
        if sqlite3_bind_null(handle, step.parameter) != SQLITE_OK { throw statement.failure() }
        continue
      }
      let place: UnsafeMutableRawPointer = RowLayout.address(word, base, headerSize: headerSize)
      let code: Int32
      switch step.kind {
      case .integer:
        code = sqlite3_bind_int64(handle, step.parameter, place.load(as: Int64.self))
      case .double:
        // SQLite would store NaN as NULL and would keep infinities.
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
      case .entityNumber:
        let entity: Int = RowLayout.targetEntity(place)
        code =
          numbers.indices.contains(entity)
          ? sqlite3_bind_int64(handle, step.parameter, Int64(numbers[entity]))
          : sqlite3_bind_null(handle, step.parameter)
      }
      if code != SQLITE_OK { throw statement.failure() }
    }
  }

  private static func bindDecimal(
    _ text: UnsafeRawBufferPointer, _ handle: OpaquePointer, _ parameter: Int32
  ) -> Int32 {
    if let number = PlainNumber(text) {
      return number.isWhole
        ? sqlite3_bind_int64(handle, parameter, number.digits)
        : sqlite3_bind_double(handle, parameter, number.real)
    }
    switch DecimalText.stored(String(decoding: text, as: UTF8.self)) {
    case .integer(let integer): return sqlite3_bind_int64(handle, parameter, integer)
    case .real(let real): return sqlite3_bind_double(handle, parameter, real)
    case .text(var text):
      return text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
          sqlite3_bind_text64(
            handle, parameter, $0.baseAddress, UInt64($0.count), RawStatement.copied, RawStatement.utf8)
        }
      }
    default: return sqlite3_bind_null(handle, parameter)
    }
  }
}

/// The text of most decimals: at most 15 digits, at most 22 of them behind the point, no exponent. Digits and
/// power of ten are then exact as doubles, so that one division gives the nearest real.
private struct PlainNumber {
  private(set) var digits: Int64 = 0
  private var places: Int = 0

  init?(_ text: UnsafeRawBufferPointer) {
    var count: Int = 0
    var sawPoint = false
    for (place, byte) in text.enumerated() {
      switch byte {
      case 0x30...0x39:
        if digits != 0 || byte != 0x30 { count += 1 }
        if sawPoint { places += 1 }
        if count > 15 || places > 22 { return nil }
        digits = digits * 10 + Int64(byte - 0x30)
      case 0x2E where !sawPoint: sawPoint = true
      case 0x2D where place == 0: continue
      default: return nil
      }
    }
    if text.isEmpty { return nil }
    if text[0] == 0x2D { digits = -digits }
  }

  var isWhole: Bool { places == 0 }
  var real: Double { Double(digits) / Self.powers[places] }

  private static let powers: [Double] = (0...22).map { Double("1e\($0)") ?? .nan }
}
