import CoreDataModel
import CoreDataStorage
import Foundation
import Testing

@Suite struct RowSlabTests {
  private let layout = ModelLayout(
    model: makeModel([
      ModelEntity(
        "Thing",
        [("count", .integer64AttributeType), ("name", .stringAttributeType), ("ratio", .doubleAttributeType)])
    ]))

  private var thing: EntityLayout { layout.entities[0] }

  private func word(_ name: String) -> Int {
    guard case .stored(_, let word) = thing.slot(named: name)?.role else {
      Issue.record("\(name) is not stored")
      return 0
    }
    return word
  }

  @Test func `a fresh row is all nil and knows its identity`() {
    let slab = RowSlab(layout: thing, family: false, rowCapacity: 1)
    _ = slab.appendRow(key: 42, entity: 0, version: 3)
    let row: RowRef = slab.row(0)
    #expect(row.key == 42)
    #expect(row.version == 3)
    #expect(row.id == RowID(entity: 0, key: 42))
    for name in ["count", "name", "ratio"] { #expect(!row.hasValue(word(name))) }
  }

  @Test func `values survive the growth of rows and tail`() {
    let slab = RowSlab(layout: thing, family: false, rowCapacity: 1)
    for number in 0..<1000 {
      let row = slab.appendRow(key: Int64(number), entity: 0, version: 1)
      slab.set(row, word: word("count"), toInteger: Int64(-number))
      slab.set(row, word: word("ratio"), toDouble: Double(number) / 3)
      if number % 3 != 0 {
        let text = Array("row number \(number)".utf8)
        slab.set(
          row, word: word("name"),
          to: text.withUnsafeBytes { slab.appendTail($0.baseAddress, count: $0.count) })
      }
    }
    for number in 0..<1000 {
      let row: RowRef = slab.row(number)
      #expect(row.integer(word("count")) == Int64(-number))
      #expect(row.double(word("ratio")) == Double(number) / 3)
      #expect(row.hasValue(word("name")) == (number % 3 != 0))
      if number % 3 != 0 { #expect(row.string(word("name")) == "row number \(number)") }
    }
  }

  /// Names as long as foreseen, longer, and much longer than the memory that is left for them.
  @Test(arguments: [(8, 8), (8, 300), (0, 9), (40, 0), (8, 90_000), (90_000, 90_000)])
  func `a slab in one block keeps all values, whatever was foreseen`(foreseen: Int, length: Int) {
    var slabs: [RowSlab] = []
    for _ in 0..<3 {
      let slab = RowSlab(layout: thing, family: false, tailPerRow: foreseen)
      var number: Int64 = 0
      while !slab.isFull {
        number += 1
        let row = slab.appendRow(key: number, entity: 0, version: 1)
        slab.set(row, word: word("count"), toInteger: -number)
        let text = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)
        slab.set(
          row, word: word("name"),
          to: text.withUnsafeBytes { slab.appendTail($0.baseAddress, count: $0.count) })
      }
      #expect(slab.count * slab.stride + slab.tailCount < RowSlab.targetSizeInBytes + slab.stride + length)
      slabs.append(slab)
    }
    for slab in slabs {
      for position in 0..<slab.count {
        let row: RowRef = slab.row(position)
        #expect(row.key == Int64(position + 1))
        #expect(row.integer(word("count")) == -row.key)
        #expect(!row.hasValue(word("ratio")), "the memory of a slab before holds other values")
        let name: UnsafeRawBufferPointer = row.bytes(word("name"))
        #expect(name.count == length)
        #expect(name.allSatisfy { $0 == UInt8(truncatingIfNeeded: row.key) })
      }
    }
  }

  @Test func `empty bytes are a value`() {
    let slab = RowSlab(layout: thing, family: false, rowCapacity: 1)
    let row = slab.appendRow(key: 1, entity: 0, version: 1)
    slab.set(row, word: word("name"), to: slab.appendTail(nil, count: 0))
    #expect(slab.row(0).hasValue(word("name")))
    #expect(slab.row(0).string(word("name")) == "")
    #expect(slab.row(0).data(word("name")).isEmpty)
  }

  @Test func `broken UTF-8 is repaired, not fatal`() {
    let slab = RowSlab(layout: thing, family: false, rowCapacity: 1)
    let row = slab.appendRow(key: 1, entity: 0, version: 1)
    let bytes: [UInt8] = [0x61, 0xFF, 0x62]
    slab.set(row, word: word("name"), to: bytes.withUnsafeBytes { slab.appendTail($0.baseAddress, count: 3) })
    #expect(slab.row(0).string(word("name")) == "a\u{FFFD}b")
  }

  @Test func `an entity of more than 64 words has a presence bit for each`() {
    let names: [String] = (0..<150).map { "a\($0)" }
    let layout = ModelLayout(
      model: makeModel([ModelEntity("Wide", names.map { ($0, .integer32AttributeType) })]))
    let wide: EntityLayout = layout.entities[0]
    #expect(wide.headerSize == 16 + 8 * 3)
    let slab = RowSlab(layout: wide, family: false, rowCapacity: 2)
    let row = slab.appendRow(key: 1, entity: 0, version: 1)
    for word in stride(from: 0, to: 150, by: 7) { slab.set(row, word: word, toInteger: Int64(word)) }
    for word in 0..<150 {
      #expect(slab.row(0).hasValue(word) == (word % 7 == 0))
      if word % 7 == 0 { #expect(slab.row(0).integer(word) == Int64(word)) }
    }
  }

  @Test func `a copy in another slab equals its source and stands on its own`() {
    var copied: RowRef
    let target = RowSlab(layout: thing, family: false, rowCapacity: 1)
    do {
      let source = RowSlab(layout: thing, family: false, rowCapacity: 1)
      let row = source.appendRow(key: 9, entity: 0, version: 4)
      let text = Array("copied".utf8)
      source.set(
        row, word: word("name"), to: text.withUnsafeBytes { source.appendTail($0.baseAddress, count: 6) })
      source.set(row, word: word("count"), toInteger: 5)
      _ = target.appendCopy(of: source.row(0), layout: thing)
      copied = target.row(0)
    }
    #expect(copied.id == RowID(entity: 0, key: 9))
    #expect(copied.version == 4)
    #expect(copied.string(word("name")) == "copied")
    #expect(copied.integer(word("count")) == 5)
    #expect(!copied.hasValue(word("ratio")))
  }

  @Test func `a row taken back leaves no trace in the count`() {
    let slab = RowSlab(layout: thing, family: false, rowCapacity: 4)
    _ = slab.appendRow(key: 1, entity: 0, version: 1)
    let second = slab.appendRow(key: 2, entity: 0, version: 1)
    slab.set(second, word: word("count"), toInteger: 8)
    slab.removeLastRow()
    _ = slab.appendRow(key: 3, entity: 0, version: 1)
    #expect(slab.count == 2)
    #expect(slab.row(1).key == 3)
    #expect(!slab.row(1).hasValue(word("count")), "the new row does not inherit the old one's values")
  }

  @Test func `a batch counts and visits the rows of all its slabs in order`() {
    let slabs: [RowSlab] = [2, 0, 3].map { count in
      let slab = RowSlab(layout: thing, family: false, rowCapacity: 4)
      for _ in 0..<count { _ = slab.appendRow(key: Int64(count), entity: 0, version: 1) }
      return slab
    }
    let batch = RowBatch(slabs: slabs)
    var keys: [Int64] = []
    batch.forEach { keys.append($0.key) }
    #expect(keys == [2, 2, 3, 3, 3])
    #expect(batch.count == 5)
    #expect(!batch.isEmpty)
    #expect(RowBatch(slabs: [slabs[1]]).isEmpty)
    #expect(RowBatch(slabs: [slabs[1], slabs[2]]).first?.key == 3)
  }
}
