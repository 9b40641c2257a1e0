import CoreData
import CoreDataPredicates
import CoreDataStorage
import Foundation
import GRDB
import StackSupport
import TestSupport

/// Four contexts that share a few objects: two of one coordinator, a child of the first, and one of another
/// coordinator where there is a file, else of the same.
final class SaveCrowd: @unchecked Sendable {
  // Sendable: `tally` is guarded; the rest is immutable, and contexts are used on their queues.

  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  private struct Tally {
    var saves: [Int: Int] = [:]
    var deeds: Int = 0
    var failure: String?
    /// The last deeds of all contexts.
    var log: [String] = []
  }

  private let stack: Stack
  private let setting: StoreSetting
  private let seed: UInt64
  private let contexts: [NSManagedObjectContext]
  private let tally = Guarded(Tally())

  init(_ setting: StoreSetting, seed: UInt64) throws {
    self.setting = setting
    self.seed = seed
    let stack = try Stack(setting: setting)
    self.stack = stack
    let first: NSManagedObjectContext = stack.other()
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = first
    let isFile: Bool = StoreSetting.files.contains(setting)
    contexts = [first, stack.other(), child, isFile ? try stack.stranger() : stack.other()]
    try stack.run { context in
      for entity in SaveDeeds.entities { for _ in 0..<4 { _ = context.make(entity) } }
      try context.save()
    }
  }

  /// Rounds, after each of which the store is looked through: of the contexts in turn, which a seed repeats,
  /// and, if `usesThreads`, of a thread each, which it does not.
  func run(seconds: Double, usesThreads: Bool) throws {
    let end = Date(timeIntervalSinceNow: seconds)
    var round: UInt64 = 0
    while Date.now < end {
      let deeds: [SaveDeeds] = contexts.enumerated().map { place, context in
        SaveDeeds(context, seed: seed &+ round &* 1_000_003 &+ UInt64(place) &* 7919) { self.note(place, $0) }
      }
      do {
        if !usesThreads || round % 2 == 0 {
          try inTurn(deeds, round)
        } else {
          try atOnce(deeds, until: min(end, Date.now + 3))
        }
        try check()
      } catch {
        let log: String = tally.withLock { $0.log.suffix(150).joined(separator: "\n") }
        throw Failed(description: "\(log)\nround \(round): \(error)")
      }
      round += 1
    }
  }

  private func inTurn(_ given: [SaveDeeds], _ round: UInt64) throws {
    var deeds: [SaveDeeds] = given
    var random = SeededRandom(seed: seed &+ round)
    for _ in 0..<400 {
      let place: Int = Int.random(in: 0..<4, using: &random)
      let isSaved: Bool = step(&deeds[place], place)
      // What was handed to a queue is done before the next deed.
      for context in contexts { context.performAndWait {} }
      if isSaved { try check() }
      if let failure = tally.withLock({ $0.failure }) { throw Failed(description: failure) }
    }
  }

  private func atOnce(_ deeds: [SaveDeeds], until end: Date) throws {
    let done = DispatchGroup()
    for (place, given) in deeds.enumerated() {
      nonisolated(unsafe) let given: SaveDeeds = given
      done.enter()
      Thread.detachNewThread { [self] in
        var deeds: SaveDeeds = given
        while Date.now < end, tally.withLock({ $0.failure }) == nil { step(&deeds, place) }
        done.leave()
      }
    }
    done.wait()
    if let failure = tally.withLock({ $0.failure }) { throw Failed(description: failure) }
  }

  /// What conflicts and what others have deleted may make of a save.
  private static let foreseen: Set<Int> = [
    0, NSManagedObjectMergeError, NSManagedObjectConstraintMergeError, NSManagedObjectValidationError,
    NSValidationMultipleErrorsError, NSValidationRelationshipDeniedDeleteError,
  ]

  private func note(_ place: Int, _ what: String) {
    tally.withLock { tally in
      if tally.log.count > 600 { tally.log.removeFirst(300) }
      tally.log.append("\(place): \(what)")
    }
  }

  /// What holds in a context between operations. Relationships are left out: others have changed the store,
  /// and not all is merged.
  private static func checkInvariants(of context: NSManagedObjectContext) throws {
    #if DEBUG
      let violations: [String] = context.checkInvariants(withRelationships: false)
      if !violations.isEmpty { throw Failed(description: violations.joined(separator: "\n")) }
    #endif
  }

  /// Whether the deed was a save that did well.
  @discardableResult
  private func step(_ deeds: inout SaveDeeds, _ place: Int) -> Bool {
    let context: NSManagedObjectContext = deeds.context
    do {
      let save: SaveDeeds.Save? = try context.performAndWait {
        let save: SaveDeeds.Save? = try deeds.act(besides: contexts)
        try Self.checkInvariants(of: context)
        return save
      }
      tally.withLock { tally in
        tally.deeds += 1
        guard let save else { return }
        tally.saves[save.code, default: 0] += 1
        if !Self.foreseen.contains(save.code) {
          tally.failure = "context \(place): \(save.text)"
        }
      }
      return save?.code == 0
    } catch {
      tally.withLock { $0.failure = "context \(place): \(error)" }
      return false
    }
  }

  var summary: String {
    tally.withLock { tally in
      let saves: String = tally.saves.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
        .joined(separator: ", ")
      return "\(tally.deeds) deeds; saves by code: \(saves)"
    }
  }

  // MARK: Looking through the store

  private func check() throws {
    var wrong: [String] = []
    let isFile: Bool = StoreSetting.files.contains(setting)
    // What a coordinator keeps of rows may be older than what another one has saved.
    let context: NSManagedObjectContext = isFile ? try stack.stranger() : stack.other()
    try context.performAndWait {
      for entity in SaveDeeds.entities {
        for object in try context.all(NSManagedObject.self, entity) { wrong += try check(object, context) }
      }
    }
    if isFile {
      let file: URL = stack.folder.file("World.sqlite")
      wrong += try DanglingReferences.all(in: file, of: World.shared)
      let queue = try DatabaseQueue(path: file.path)
      let integrity: String? = try queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
      if integrity != "ok" { wrong.append(integrity ?? "") }
    }
    if !wrong.isEmpty { throw Failed(description: wrong.joined(separator: "\n")) }
  }

  private func check(_ object: NSManagedObject, _ context: NSManagedObjectContext) throws -> [String] {
    var wrong: [String] = []
    for (name, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
      for id in object.objectIDs(forRelationshipNamed: name) {
        guard let target = try? context.existingObject(with: id) else {
          wrong.append("\(object.objectID).\(name) refers to \(id), which is gone")
          continue
        }
        guard let inverse = relationship.inverseRelationship else { continue }
        if !target.objectIDs(forRelationshipNamed: inverse.name).contains(object.objectID) {
          wrong.append("\(object.objectID).\(name) refers to \(id), which does not refer back")
        }
      }
    }
    return wrong
  }
}
