import CoreDataStorage
import TestSupport
import Testing

@Suite struct SlotSetTests {
  @Test func `members come ascending, on both sides of the first 64`() {
    let set = SlotSet([200, 3, 63, 64, 65, 0, 127, 128])
    #expect(set.members == [0, 3, 63, 64, 65, 127, 128, 200])
    #expect(set.contains(128))
    #expect(!set.contains(129))
    #expect(!set.contains(5000))
    #expect(!set.isEmpty)
  }

  @Test func `sets with the same members are equal, whatever was in them before`() {
    var set = SlotSet([1, 300])
    set.remove(300)
    #expect(set == SlotSet([1]))
    #expect(set.hashValue == SlotSet([1]).hashValue)
    set.remove(1)
    set.remove(77)
    #expect(set == SlotSet())
    #expect(set.isEmpty)
  }

  @Test(arguments: 0..<10)
  func `a slot set agrees with a set of integers under random operations`(round: Int) {
    let seed: UInt64 = .random(in: 0...(.max)) &+ UInt64(round)
    var random = SeededRandom(seed: seed)
    var slots = SlotSet()
    var model: Set<Int> = []
    for _ in 0..<500 {
      let slot = Int.random(in: 0..<200, using: &random)
      if Bool.random(using: &random) {
        slots.insert(slot)
        model.insert(slot)
      } else {
        slots.remove(slot)
        model.remove(slot)
      }
    }
    #expect(slots.members == model.sorted(), "seed \(seed)")
    #expect(slots == SlotSet(model), "seed \(seed)")
    #expect(slots.isEmpty == model.isEmpty, "seed \(seed)")
  }
}
