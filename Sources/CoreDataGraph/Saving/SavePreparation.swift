import Foundation

/// The part of a save that calls the program: `willSave`, validation and value transformers. It repeats until
/// none of them changes anything any more, and runs again if a merge policy has changed objects. No store is
/// written meanwhile, and no lock is held.
///
/// Flags of objects, from here until the save ends (`end()`): `notifiedWillSave` and `validated`, which any
/// change of the object removes.
final class SavePreparation {
  private static let mostRounds: Int = 1000

  private unowned let context: NSManagedObjectContext
  private var marked: [NSManagedObject] = []
  private(set) var values = TransformedValues()

  init(of context: NSManagedObjectContext) { self.context = context }

  func end() {
    context.work.finishPreparation(of: marked)
  }

  /// Returns the changes to save. Objects that were prepared and not changed since are skipped.
  ///
  /// Throws if a relationship that delete rules or checks need can't be read.
  func run() throws -> PendingChanges {
    try context.finishUnreadDeletions()
    let changes: PendingChanges = try context.throwingReadFailures { try prepare() }
    // Deletions of the preparation itself.
    return context.unreadDeletions.isEmpty ? changes : try run()
  }

  private func prepare() throws -> PendingChanges {
    var rounds: Int = 0
    while true {
      var changes: PendingChanges = try announce()
      try validate(&changes)
      let before: UInt64 = context.work.epoch
      context.clearReferences(toDeletedIn: changes)
      context.reconcilePartners(of: changes)
      try transform(changes)
      // References that were cleared and values that transformers have changed are announced and validated
      // too.
      // Nor may a deletion by an observer of those announcements be saved without its delete rules.
      if context.work.epoch == before, !context.work.hasPendingPropagation { return changes }
      rounds += 1
      if rounds > Self.mostRounds { throw runaway(changes, rounds) }
      context.endEvent()
    }
  }

  private func runaway(_ changes: PendingChanges, _ rounds: Int) -> GraphError {
    let last: NSManagedObject? = changes.all.first { !$0.flags.contains(.notifiedWillSave) }
    return .runawayWillSave(rounds: rounds - 1, object: last.map { "\($0.objectID)" } ?? "a deleted object")
  }

  /// Calls `willSave` on every object concerned until no call changes anything.
  private func announce() throws -> PendingChanges {
    var rounds: Int = 0
    while true {
      let changes: PendingChanges = context.pendingChanges()
      let waiting: [NSManagedObject] = changes.all.filter { !$0.flags.contains(.notifiedWillSave) }
      if waiting.isEmpty { return changes }
      rounds += 1
      if rounds > Self.mostRounds { throw runaway(changes, rounds) }
      // A change during the calls removes an object's flag: it is called again.
      // Strong: an unowned reference costs a check for each object.
      let context: NSManagedObjectContext = context
      let before: UInt64 = context.work.epoch
      for object in waiting {
        context.work.recordWillSave(of: object)
        object.willSave()
      }
      marked += waiting
      if context.work.epoch == before { return changes }
      context.endEvent()
    }
  }

  private func validate(_ changes: inout PendingChanges) throws {
    let context: NSManagedObjectContext = context
    if context.savesUnvalidated { return }
    let before: UInt64 = context.work.epoch
    var failures: [any Error] = []
    func check(_ objects: [NSManagedObject], _ validate: (NSManagedObject) throws -> Void) {
      for object in objects where !object.flags.contains(.validated) {
        context.work.recordValidation(of: object)
        do { try validate(object) } catch { failures.append(error) }
      }
    }
    context.readForDenyRules(of: changes.deleted.filter { !$0.flags.contains(.validated) })
    check(changes.deleted) { try $0.validateForDelete() }
    context.membersOfDeleted = nil
    check(changes.inserted) { try $0.validateForInsert() }
    check(changes.updated) { try $0.validateForUpdate() }
    try NSManagedObject.throwFailures(failures)
    // A check may have replaced a value: the other side of a relationship must be saved too.
    if context.work.epoch != before {
      context.endEvent()
      changes = context.pendingChanges()
    }
  }

  private func transform(_ changes: PendingChanges) throws {
    // A child stores nothing: it only compares what was changed.
    if context.parent == nil { for object in changes.inserted { try values.add(object) } }
    for object in changes.updated { try values.add(object) }
  }
}
