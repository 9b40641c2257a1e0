/// A set of slot numbers; no allocation for entities of up to 64 properties.
///
/// Operations that run for every property of every object are inlined into other modules.
package struct SlotSet: Hashable, Sendable {
  @usableFromInline
  package var low: UInt64 = 0
  @usableFromInline
  package var high: [UInt64] = []

  package init() {}

  package init(_ slots: some Sequence<Int>) {
    for slot in slots { insert(slot) }
  }

  @inlinable
  package mutating func insert(_ slot: Int) {
    if slot < 64 { low |= 1 << UInt64(slot) } else { insertHigh(slot) }
  }

  @usableFromInline
  mutating func insertHigh(_ slot: Int) {
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

  @inlinable
  package func contains(_ slot: Int) -> Bool {
    slot < 64 ? low >> UInt64(slot) & 1 == 1 : containsHigh(slot)
  }

  @usableFromInline
  func containsHigh(_ slot: Int) -> Bool {
    let place: Int = slot / 64 - 1
    return place < high.count && high[place] >> UInt64(slot % 64) & 1 == 1
  }

  @inlinable
  package var isEmpty: Bool { low == 0 && high.isEmpty }

  /// Members, ascending.
  package var members: [Int] {
    var result: [Int] = []
    result.reserveCapacity(low.nonzeroBitCount)
    Self.add(low, from: 0, to: &result)
    for (place, word) in high.enumerated() { Self.add(word, from: (place + 1) * 64, to: &result) }
    return result
  }

  /// Calls `body` with each member, ascending, without an array of them.
  @inlinable
  package func forEach(_ body: (Int) throws -> Void) rethrows {
    var rest: UInt64 = low
    while rest != 0 {
      try body(rest.trailingZeroBitCount)
      rest &= rest - 1
    }
    if high.isEmpty { return }
    for (place, word) in high.enumerated() {
      var rest: UInt64 = word
      while rest != 0 {
        try body((place + 1) * 64 + rest.trailingZeroBitCount)
        rest &= rest - 1
      }
    }
  }

  private static func add(_ word: UInt64, from first: Int, to members: inout [Int]) {
    var rest: UInt64 = word
    while rest != 0 {
      members.append(first + rest.trailingZeroBitCount)
      rest &= rest - 1
    }
  }
}
