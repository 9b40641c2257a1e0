import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Many threads over one coordinator; `make soak` runs it for a minute, also under ThreadSanitizer.
@Suite
struct ThreadTests {
  private static let seconds: Double = Soak.isOn ? 60 : 1
  private static let threadCount: Int = 16
  private static let counterCount: Int = 8

  /// What one thread did, and what went wrong.
  private struct Tally: Sendable {
    var increments: [Int] = Array(repeating: 0, count: ThreadTests.counterCount)
    var conflicts: Int = 0
    var kept: Int = 0
    var failure: String?
  }

  @Test(arguments: StoreKind.allCases)
  func `sixteen threads change one store at once and no change is lost`(kind: StoreKind) async throws {
    let stack = try Stack(kind)
    try stack.run { context in
      for number in 0..<Self.counterCount { _ = context.item("counter \(number)") }
      try context.save()
    }
    nonisolated(unsafe) let shared: Stack = stack
    let end: Date = Date(timeIntervalSinceNow: Self.seconds)
    var tallies: [Tally] = []
    await withTaskGroup(of: Tally.self) { group in
      for number in 0..<Self.threadCount {
        group.addTask {
          await withCheckedContinuation { continuation in
            // A thread each: tasks would take turns on as many threads as there are cores.
            Thread.detachNewThread {
              continuation.resume(returning: Self.work(shared, seed: UInt64(number), until: end))
            }
          }
        }
      }
      for await tally in group { tallies.append(tally) }
    }
    for tally in tallies { #expect(tally.failure == nil) }
    var increments: [Int] = Array(repeating: 0, count: Self.counterCount)
    for tally in tallies { for place in increments.indices { increments[place] += tally.increments[place] } }
    let (counted, kept): ([Int], Int) = try stack.elsewhere { context in
      let counters: [Item] = try context.all(
        Item.self, "Item", NSPredicate(format: "title BEGINSWITH 'counter'"), sort: ["title"])
      let tags: Int = try context.count(for: context.request(Tag.self, "Tag"))
      return (counters.map { Int($0.price) }, tags)
    }
    #expect(counted == increments)
    #expect(kept == tallies.reduce(0) { $0 + $1.kept })
    if Soak.isOn {
      let sums: [Int] = [increments.reduce(0, +), tallies.reduce(0) { $0 + $1.conflicts }, kept]
      print("\(kind.rawValue): \(sums[0]) increments, \(sums[1]) conflicts tried again, \(sums[2]) tags kept")
    }
  }

  @Test
  func `threads that make objects of a model that no one has used yet see what one of them made`() async {
    for _ in 0..<(Soak.isOn ? 200 : 5) {
      let model: NSManagedObjectModel = World.model()
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<Self.threadCount {
          group.addTask {
            if number % 4 == 0 { _ = NSPersistentStoreCoordinator(managedObjectModel: model) }
            for entity in model.entities where !entity.isAbstract {
              let object = NSManagedObject(entity: entity, insertInto: nil)
              #expect(object.entity === entity)
            }
          }
        }
      }
    }
  }

  /// Counts up random counters, inserts and deletes beside them; a save that meets another's is tried again.
  private static func work(_ stack: Stack, seed: UInt64, until end: Date) -> Tally {
    var random = SeededRandom(seed: seed)
    var tally = Tally()
    let context: NSManagedObjectContext = stack.other()
    while Date.now < end, tally.failure == nil {
      let place: Int = Int.random(in: 0..<counterCount, using: &random)
      let deed: Int = Int.random(in: 0..<4, using: &random)
      context.performAndWait {
        do {
          switch deed {
          case 0:
            _ = context.make("Tag", ["name": "of \(seed)"])
            try context.save()
            tally.kept += 1
          case 1:
            guard
              let tag = try context.all(
                Tag.self, "Tag", NSPredicate(format: "name == %@", "of \(seed)")
              ).first
            else { return }
            context.delete(tag)
            try context.save()
            tally.kept -= 1
          default: try increment(place, context, &tally)
          }
          if Int.random(in: 0..<20, using: &random) == 0 { context.reset() }
        } catch {
          tally.failure = "\(error)"
        }
      }
    }
    return tally
  }

  private static func increment(
    _ place: Int, _ context: NSManagedObjectContext, _ tally: inout Tally
  ) throws {
    let named = NSPredicate(format: "title == %@", "counter \(place)")
    while true {
      guard let counter = try context.all(Item.self, "Item", named).first else { throw CocoaError(.coreData) }
      context.refresh(counter, mergeChanges: false)
      counter.price += 1
      do {
        try context.save()
        tally.increments[place] += 1
        return
      } catch let error as CocoaError where error.errorCode == NSManagedObjectMergeError {
        tally.conflicts += 1
        context.rollback()
      }
    }
  }
}
