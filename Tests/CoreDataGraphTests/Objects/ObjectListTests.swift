import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

@testable import CoreDataGraph

/// The list behind to-many relationships against an array.
@Suite
struct ObjectListTests {
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `a list does what an array does`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let stack = try Stack(.inMemory)
    try stack.run { context in
      let objects: [NSManagedObject] = (0..<60).map { _ in context.make("Song") }
      var wanted: [NSManagedObject] = Array(objects.shuffled(using: &random).prefix(Int(seed) * 2))
      var list = ObjectList(wanted)
      func place(_ object: NSManagedObject) -> Int? { wanted.firstIndex { $0 === object } }
      for _ in 0..<400 {
        let object: NSManagedObject = objects.randomElement(using: &random)!
        let other: NSManagedObject = objects.randomElement(using: &random)!
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<3:
          #expect(list.append(object) == (place(object) == nil))
          if place(object) == nil { wanted.append(object) }
        case 3..<6:
          let isNew: Bool = place(object) == nil
          let isLast: Bool = list.insert(object, before: other)
          #expect(isLast == (isNew && place(other) == nil))
          if isNew { wanted.insert(object, at: place(other) ?? wanted.count) }
        case 6..<10:
          #expect(list.remove(object) == (place(object) != nil))
          wanted.removeAll { $0 === object }
        case 10:
          let next: Int? = place(object).map { $0 + 1 }
          #expect(list.successor(of: object) === next.flatMap { $0 < wanted.count ? wanted[$0] : nil })
        default:
          let before: [NSManagedObject] = wanted
          wanted.shuffle(using: &random)
          let moves = list.arrange(like: ObjectList(wanted))
          #expect(moves.count < max(1, wanted.count))
          var back: ObjectList = list
          for move in moves.reversed() {
            back.remove(move.object)
            back.insert(move.object, before: move.before)
          }
          #expect(back.objects == before)
        }
        #expect(list.objects == wanted && list.count == wanted.count && list.first === wanted.first)
        #expect(list.contains(object) == (place(object) != nil))
        #expect(list.indexes(other) == (place(other) != nil))
      }
    }
  }
}
