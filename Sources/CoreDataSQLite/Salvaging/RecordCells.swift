import Foundation

/// Rows as they are in the leaves of tables, https://www.sqlite.org/fileformat2.html#record_format:
///
///     varint  bytes of the record
///     varint  the row's key
///     record  varint: bytes of the record's header, itself included; a varint for each value, its type; values
///     4       if the record does not fit: the page on which it goes on. Such a page begins with the next one
///
/// A varint has 1 to 9 bytes, seven bits in each, the highest bit of all but the last one set; a ninth byte
/// has eight. Example: a book with key 5, entity 2, version 1 and the title "It":
///
///     08 05            a record of 8 bytes, key 5
///     05 00 01 09 11   its header of 5 bytes: NULL (the key stands before), an integer of 1 byte, 1, text of 2
///     02 49 74         entity 2 and the text; the 1 is in its type
struct RecordCells {
  struct Row {
    var key: Int64
    var values: [Value]
    /// What the values' ranges refer to.
    var record: [UInt8]
  }

  enum Value: Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(Range<Int>)
    case blob(Range<Int>)

    var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  }

  private let pages: DatabasePages
  /// A page that continues a record belongs to that record alone, so that pages that name each other in
  /// circles, or thousands of cells that name one page, cost no more than the file has pages.
  private var usedPages: Set<Int> = []

  init(_ pages: DatabasePages) { self.pages = pages }

  /// The rows of a leaf, and how many more cells could not be read; nil for a page that is none.
  mutating func rows(ofLeaf number: Int) -> (rows: [Row], unreadable: Int)? {
    guard let page = pages.page(number), let (kind, offsets) = pages.cells(page, number), kind == .leafTable
    else { return nil }
    let rows: [Row] = offsets.compactMap { row(page, $0) }
    return (rows, offsets.count - rows.count)
  }

  private mutating func row(_ page: [UInt8], _ offset: Int) -> Row? {
    var place: Int = offset
    guard let size = Self.varint(page, &place, pages.usableSize),
      let key = Self.varint(page, &place, pages.usableSize), size >= 1,
      size <= Int64(pages.count) * Int64(pages.usableSize),
      let record = record(page, place, Int(size)), let values = Self.values(record)
    else { return nil }
    return Row(key: key, values: values, record: record)
  }

  private mutating func record(_ page: [UInt8], _ start: Int, _ size: Int) -> [UInt8]? {
    let usable: Int = pages.usableSize
    // The format's own arithmetic of how much of a record stays on the leaf.
    var local: Int = size
    if size > usable - 35 {
      let least: Int = (usable - 12) * 32 / 255 - 23
      let wanted: Int = least + (size - least) % (usable - 4)
      local = wanted <= usable - 35 ? wanted : least
    }
    guard start + local + (local < size ? 4 : 0) <= usable else { return nil }
    var record = Array(page[start..<start + local])
    if local == size { return record }
    var next: Int = DatabasePages.number(page, start + local, 4)
    while record.count < size {
      guard next > 1, next <= pages.count, usedPages.insert(next).inserted, let more = pages.page(next)
      else { return nil }
      record += more[4..<min(usable, 4 + size - record.count)]
      next = DatabasePages.number(more, 0, 4)
    }
    return record
  }

  /// nil if the bytes end before the number does.
  private static func varint(_ bytes: [UInt8], _ place: inout Int, _ end: Int) -> Int64? {
    var value: UInt64 = 0
    for number in 0..<9 {
      guard place < end else { return nil }
      let byte: UInt8 = bytes[place]
      place += 1
      if number == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte & 0x80 == 0 { break }
    }
    return Int64(bitPattern: value)
  }

  /// nil for bytes that are no record.
  private static func values(_ record: [UInt8]) -> [Value]? {
    var place: Int = 0
    guard let header = varint(record, &place, record.count), header >= Int64(place),
      header <= Int64(record.count)
    else { return nil }
    let end = Int(header)
    var body: Int = end
    var values: [Value] = []
    while place < end {
      guard let type = varint(record, &place, end), type >= 0, let size = size(type),
        size <= record.count - body
      else { return nil }
      values.append(value(type, record, body..<body + size))
      body += size
    }
    return values
  }

  private static func size(_ type: Int64) -> Int? {
    switch type {
    case 0...4: Int(type)
    case 5: 6
    case 6, 7: 8
    case 8, 9: 0
    case 10, 11: nil
    default: Int((type - 12) / 2)
    }
  }

  private static func value(_ type: Int64, _ record: [UInt8], _ range: Range<Int>) -> Value {
    switch type {
    case 0: return .null
    case 8: return .integer(0)
    case 9: return .integer(1)
    case 1...7:
      let bits: UInt64 = record[range].reduce(0) { $0 << 8 | UInt64($1) }
      if type == 7 { return .real(Double(bitPattern: bits)) }
      // The sign is that of the first byte.
      let unused = 64 - 8 * range.count
      return .integer(Int64(bitPattern: bits << UInt64(unused)) >> Int64(unused))
    default: return type % 2 == 0 ? .blob(range) : .text(range)
    }
  }
}
