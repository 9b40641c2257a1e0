import CoreData
import Foundation
import StackSupport
import TestSupport

struct GraphDifference: Error {
  let text: String
}

/// One random history of a context, kept beside what should have become of it.
///
///     odd seeds    an undo manager takes part; `undone` and `redone` are the graphs that it should bring back
///     every seed   a second context changes the store, and its saves are merged
struct GraphWalk {
  let stack: Stack
  let context: NSManagedObjectContext
  let entities: [String] = ["Item", "Category", "Tag", "Playlist", "Song", "Detail", "Album", "Employee"]
  var random: SeededRandom
  var now = ObviousGraph()
  var saved = ObviousGraph()
  /// The graphs before each event that can be undone, and after each that can be redone; the last comes next.
  var undone: [ObviousGraph] = []
  var redone: [ObviousGraph] = []
  var next: Int = 0
  var log: [String] = []
  /// Objects by number; dropped now and then, so that they must come back from the store.
  var objects: [Int: NSManagedObject] = [:]
  /// The ids of saved objects.
  var ids: [Int: NSManagedObjectID] = [:]

  init(_ kind: StoreKind, seed: UInt64) throws {
    stack = try Stack(kind)
    context = stack.context
    if seed % 2 == 1 { context.undoManager = UndoManager() }
    random = SeededRandom(seed: seed)
  }

  var hasUndo: Bool { context.undoManager != nil }

  mutating func run(steps: Int) throws {
    for _ in 0..<steps {
      let step: Int = Int.random(in: 0..<150, using: &random)
      try inContext { (walk) throws in
        try walk.takeEvent(step)
        try walk.checkInvariants()
      }
    }
    try inContext { (walk) throws in
      try walk.save()
      try walk.check(walk.context, walk.now, "at the end")
    }
  }

  /// What holds in the context between operations, whatever they were. Debug builds know.
  func checkInvariants() throws {
    #if DEBUG
      let violations: [String] = context.checkInvariants()
      if !violations.isEmpty { throw GraphDifference(text: violations.joined(separator: "\n")) }
    #endif
  }

  private mutating func inContext(_ body: (inout GraphWalk) throws -> Void) throws {
    var failure: (any Error)?
    context.performAndWait {
      do { try body(&self) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// One step as one event of the undo manager.
  private mutating func takeEvent(_ step: Int) throws {
    guard let manager = context.undoManager else { return try take(step) }
    let before: ObviousGraph = now
    let count: Int = manager.undoCount
    try take(step)
    context.processPendingChanges()
    guard manager.undoCount != count else { return }
    if manager.undoCount == count + 1, step < Self.firstUndoStep {
      undone.append(before)
      redone = []
    }
    guard manager.undoCount == undone.count else {
      throw GraphDifference(text: "\(manager.undoCount) events can be undone, wanted \(undone.count)")
    }
  }

  /// Nothing from before can be undone any more.
  mutating func forgetUndo() {
    context.undoManager?.removeAllActions()
    undone = []
    redone = []
  }

  // MARK: Objects by number

  func number(_ object: NSManagedObject) -> Int {
    Int(
      object.value(forKey: ["Item": "title", "Detail": "text"][object.entity.name ?? ""] ?? "name") as? String
        ?? "")
      ?? -1
  }

  /// The number is kept in the name: of items in front of the title's changes.
  mutating func make(_ entity: String) -> Int {
    next += 1
    let key: String = ["Item": "title", "Detail": "text"][entity] ?? "name"
    objects[next] = context.make(entity, [key: "\(next)"])
    return next
  }

  mutating func object(_ number: Int) throws -> NSManagedObject {
    if let known = objects[number], known.managedObjectContext != nil { return known }
    guard let id = ids[number] else { throw GraphDifference(text: "object \(number) has no id") }
    let found: NSManagedObject = context.object(with: id)
    objects[number] = found
    return found
  }

  mutating func any(_ numbers: some Sequence<Int>) -> Int? {
    numbers.sorted().randomElement(using: &random)
  }

  mutating func save() throws {
    do {
      try context.save()
    } catch {
      throw GraphDifference(text: "the save failed: \(error)")
    }
    if context.hasChanges { throw GraphDifference(text: "changes are left after the save") }
    saved = now
    for (number, object) in objects where !now.has(number) && object.managedObjectContext != nil {
      throw GraphDifference(text: "\(number) is deleted and still there after the save")
    }
    for (number, object) in objects where object.managedObjectContext != nil {
      if object.objectID.isTemporaryID {
        throw GraphDifference(text: "\(number) has a temporary id after the save")
      }
      ids[number] = object.objectID
    }
    // An object whose deletion can be undone comes back as itself.
    if !hasUndo { objects = objects.filter { $0.value.managedObjectContext != nil } }
    let fresh: NSManagedObjectContext = stack.other()
    try fresh.performAndWait { try check(fresh, now, "in a second context") }
    if Bool.random(using: &random) {
      try check(context, now, "after the save")
    } else {
      // What comes next is to find nothing loaded.
      log.append("refresh all after the save")
      context.refreshAllObjects()
    }
  }
}
