/// A set of slot numbers; no allocation for entities of up to 64 properties.
package struct SlotSet: Hashable, Sendable {
  package private(set) var low: UInt64 = 0
  package private(set) var high: [UInt64] = []

  package init() {}

  package init(_ slots: some Sequence<Int>) {
    for slot in slots { insert(slot) }
  }

  package mutating func insert(_ slot: Int) {
    if slot < 64 {
      low |= 1 << UInt64(slot)
      return
    }
    let place: Int = slot / 64 - 1
    while high.count <= place { high.append(0) }
    high[place] |= 1 << UInt64(slot % 64)
  }

  package mutating func remove(_ slot: Int) {
    if slot < 64 {
      low &= ~(1 << UInt64(slot))
    } else if slot / 64 - 1 < high.count {
      high[slot / 64 - 1] &= ~(1 << UInt64(slot % 64))
      while high.last == 0 { high.removeLast() }
    }
  }

  package func contains(_ slot: Int) -> Bool {
    if slot < 64 { return low >> UInt64(slot) & 1 == 1 }
    let place: Int = slot / 64 - 1
    return place < high.count && high[place] >> UInt64(slot % 64) & 1 == 1
  }

  package var isEmpty: Bool { low == 0 && high.isEmpty }

  /// Members, ascending.
  package var members: [Int] {
    var result: [Int] = []
    for (place, word) in ([low] + high).enumerated() {
      var rest: UInt64 = word
      while rest != 0 {
        result.append(place * 64 + rest.trailingZeroBitCount)
        rest &= rest - 1
      }
    }
    return result
  }
}
