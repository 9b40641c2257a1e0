import CoreDataStorage
import TestSupport
import Testing

@Suite struct Int64HashMapTests {
  @Test func `an empty table holds nothing`() {
    var table = Int64HashMap()
    #expect(table.count == 0)
    #expect(table.find(1) == nil)
    #expect(table.remove(1) == nil)
    var visited: Int = 0
    table.forEach { _, _ in visited += 1 }
    #expect(visited == 0)
  }

  @Test func `a key holds the payload set last`() {
    var table = Int64HashMap()
    #expect(table.insert(7, 1) == nil)
    #expect(table.insert(7, 2) == 1)
    #expect(table.find(7) == 2)
    #expect(table.count == 1)
    #expect(table.remove(7) == 2)
    #expect(table.find(7) == nil)
    #expect(table.count == 0)
  }

  @Test(arguments: [0, 1, 2, 11, 12, 13, 100, 10_000])
  func `keys in sequence are all found, also after every second one went`(count: Int) {
    var table = Int64HashMap()
    for key in 0..<Int64(count) { table.insert(key, UInt64(key) * 3) }
    for key in stride(from: Int64(0), to: Int64(count), by: 2) { table.remove(key) }
    for key in 0..<Int64(count) { #expect(table.find(key) == (key % 2 == 0 ? nil : UInt64(key) * 3)) }
    #expect(table.count == count / 2)
  }

  @Test(arguments: 0..<20)
  func `a table agrees with a dictionary under random operations`(round: Int) {
    let seed: UInt64 = .random(in: 0...(.max)) &+ UInt64(round)
    var random = SeededRandom(seed: seed)
    // Few keys make long probe chains and many hits; neighbours and far ones mixed.
    // Some share the place where their search begins: their lowest four bits are the same.
    let keys: [Int64] = (0..<100).map {
      $0 < 30 ? Int64($0) - 15 : $0 < 70 ? Int64($0) << 4 : Int64(truncatingIfNeeded: random.next() >> 1)
    }
    var table = Int64HashMap()
    var model: [Int64: UInt64] = [:]
    for step in 0..<2000 {
      let key: Int64 = keys[Int.random(in: 0..<keys.count, using: &random)]
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1:
        let payload: UInt64 = random.next()
        #expect(
          table.insert(key, payload) == model.updateValue(payload, forKey: key), "seed \(seed) step \(step)")
      case 2, 3: #expect(table.remove(key) == model.removeValue(forKey: key), "seed \(seed) step \(step)")
      default: table.reserve(more: Int.random(in: 0..<50, using: &random))
      }
      #expect(table.count == model.count, "seed \(seed) step \(step)")
    }
    for key in keys { #expect(table.find(key) == model[key], "seed \(seed) key \(key)") }
    var visited: [Int64: UInt64] = [:]
    table.forEach { visited[$0] = $1 }
    #expect(visited == model, "seed \(seed)")
  }

  @Test func `a copy does not follow its original`() {
    var table = Int64HashMap()
    for key in 1...100 as ClosedRange<Int64> { table.insert(key, 1) }
    let copy: Int64HashMap = table
    table.remove(5)
    table.insert(6, 2)
    #expect(copy.find(5) == 1)
    #expect(copy.find(6) == 1)
    #expect(copy.count == 100)
  }
}
