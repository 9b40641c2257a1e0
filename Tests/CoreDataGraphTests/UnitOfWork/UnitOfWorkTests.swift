import CoreData
import StackSupport
import TestSupport
import Testing

@testable import CoreDataGraph

/// The unit of work alone: objects without a context, a store or a save.
@Suite struct UnitOfWorkTests {
  private func objects(_ count: Int) -> [NSManagedObject] {
    (0..<count).map { _ in NSManagedObject(entity: World.shared.entitiesByName["Item"]!, insertInto: nil) }
  }

  // MARK: Events

  /// What happened to an object in one event, and what it is announced as.
  private static let outcomes: [(steps: [Step], outcome: UnitOfWork.Outcome)] = [
    ([], .nothing),
    ([.insert], .inserted), ([.insert, .update], .inserted), ([.insert, .delete], .discarded),
    ([.insert, .delete, .restoreUnsaved], .deleted),
    ([.update], .updated), ([.update, .delete], .deleted), ([.update, .discardUpdate], .updated),
    ([.delete], .deleted), ([.delete, .undoDeletion], .deleted), ([.delete, .reverseDeletion], .nothing),
    ([.update, .delete, .reverseDeletion], .updated),
    ([.refresh], .refreshed), ([.refresh, .update], .updated), ([.loseRow], .invalidated),
    ([.loseRow, .refresh], .invalidated), ([.deleteRemotely], .deleted),
  ]

  @Test(arguments: outcomes.indices)
  func `an object is announced as the first kind that fits, once`(_ index: Int) throws {
    let (steps, outcome) = Self.outcomes[index]
    var work = UnitOfWork()
    let object: NSManagedObject = objects(1)[0]
    for step in steps { step.apply(to: object, &work) }
    let event: [NSManagedObject]? = work.beginEndOfEvent()
    #expect(event == (steps.isEmpty ? nil : [object]))
    #expect(work.endEvent(of: object) == outcome)
    work.finishEndOfEvent()
    #expect(work.endEvent(of: object) == (outcome == .discarded ? .discarded : .nothing))
    #expect(work.event.isEmpty)
  }

  @Test func `only the first change of an event begins one`() {
    var work = UnitOfWork()
    let two: [NSManagedObject] = objects(2)
    let isFirst: [Bool] = [
      work.recordUpdate(of: two[0]), work.recordUpdate(of: two[0]), work.recordInsertion(of: two[1]),
    ]
    #expect(isFirst == [true, false, false])
    var ended: [[NSManagedObject]?] = [work.beginEndOfEvent()]
    for object in two { _ = work.endEvent(of: object) }
    // A change that an observer makes belongs to the next event, which does not end within this one.
    let isFirstOfNext: Bool = work.recordUpdate(of: two[0])
    #expect(isFirstOfNext)
    ended.append(work.beginEndOfEvent())
    work.finishEndOfEvent()
    ended.append(work.beginEndOfEvent())
    #expect(ended == [two, nil, [two[0]]])
  }

  // MARK: Saves

  @Test func `a save does not begin within a save`() {
    var work = UnitOfWork()
    var begins: [Bool] = [work.beginSave(), work.beginSave()]
    work.endSave()
    begins.append(work.beginSave())
    #expect(begins == [true, false, true])
  }

  @Test func `after a save in part, what was not saved stays to be saved`() {
    var work = UnitOfWork()
    let three: [NSManagedObject] = objects(3)
    for object in three { _ = work.recordInsertion(of: object) }
    work.recordSave(of: three[1])
    work.removeSaved()
    #expect(work.pendingChanges(isChild: true).inserted == [three[0], three[2]])
    #expect(work.inserted == [three[0], three[2]])
    // The saved object is like any other: changed, it is listed as updated.
    _ = work.recordUpdate(of: three[1])
    #expect(work.pendingChanges(isChild: true).updated == [three[1]])
  }

  @Test func `nothing is saved for an object that another context deleted`() {
    var work = UnitOfWork()
    let four: [NSManagedObject] = objects(4)
    _ = work.recordUpdate(of: four[0])
    _ = work.recordDeletion(of: four[1])
    _ = work.recordInsertion(of: four[2])
    work.checkLock(of: four[3])
    _ = work.recordRemoteDeletion(of: four)
    #expect(!work.hasChanges)
    #expect(!work.hasPendingPropagation)
    #expect(work.lockChecked.isEmpty)
    #expect(work.objectsDeletedRemotely == four)
    #expect(four.map(\.isDeleted) == [true, true, true, true])
    // A row under the same id makes the object a usual one.
    work.reverseRemoteDeletion(of: four[0])
    _ = work.recordUpdate(of: four[0])
    #expect(work.pendingChanges(isChild: true).updated == [four[0]])
  }

  @Test func `delete rules are applied once for a deletion, unless the propagation is repeated`() {
    var work = UnitOfWork()
    let two: [NSManagedObject] = objects(2)
    _ = work.recordDeletion(of: two[0])
    _ = work.recordDeletion(of: two[1], isPropagated: true)
    var pending: [[NSManagedObject]] = [work.removePendingPropagation()]
    work.recordPropagation(of: two[0])
    #expect(!work.hasPendingPropagation)
    work.repeatPropagation(of: two[0])
    pending.append(work.removePendingPropagation())
    #expect(pending == [[two[0]], [two[0]]])
  }

  // MARK: Law

  @Test func `random operations do what a list of sets does`() throws {
    for seed in Seed.given.map({ [$0] }) ?? Array(1...(Soak.isOn ? 10_000 : 500)) {
      var walk = Walk(objects: objects(6), seed: seed)
      for _ in 0..<60 {
        walk.step()
        if let difference = walk.difference() {
          Issue.record("seed \(seed): \(difference)\n\(walk.log.suffix(25).joined(separator: "\n"))")
          return
        }
      }
    }
  }
}

// MARK: -

extension UnitOfWorkTests {
  /// One operation on one object.
  fileprivate enum Step {
    case insert, update, delete, refresh, loseRow, deleteRemotely
    case discardUpdate, undoDeletion, reverseDeletion, restoreUnsaved

    func apply(to object: NSManagedObject, _ work: inout UnitOfWork) {
      switch self {
      case .insert: _ = work.recordInsertion(of: object)
      case .update: _ = work.recordUpdate(of: object)
      case .delete: _ = work.recordDeletion(of: object)
      case .refresh: _ = work.recordEvent(.eventRefreshed, of: object)
      case .loseRow: _ = work.recordMissingRow(of: object)
      case .deleteRemotely: _ = work.recordRemoteDeletion(of: [object])
      case .discardUpdate: work.discardUpdate(of: object)
      case .undoDeletion: work.undoDeletion(of: object)
      case .reverseDeletion: work.reverseDeletion(of: object)
      case .restoreUnsaved: work.discardDeletion(ofUnsaved: object)
      }
    }
  }

  /// A unit of work, and beside it sets that say what it should hold.
  fileprivate struct Walk {
    private var work = UnitOfWork()
    private var random: SeededRandom
    private(set) var log: [String] = []
    /// By number. Those that were deleted and saved, or discarded, are not used any more.
    private let objects: [NSManagedObject]
    private var left: Set<Int> = []

    private var inserted: Set<Int> = []
    private var updated: Set<Int> = []
    private var deleted: Set<Int> = []
    private var event: Set<Int> = []
    /// The order in which objects were recorded first since the last save or rollback.
    private var insertions: [Int] = []
    private var updates: [Int] = []
    private var deletions: [Int] = []
    private var lastEpoch: UInt64 = 0

    init(objects: [NSManagedObject], seed: UInt64) {
      self.objects = objects
      random = SeededRandom(seed: seed)
    }

    mutating func step() {
      guard let number = objects.indices.filter({ !left.contains($0) }).randomElement(using: &random) else {
        return
      }
      let object: NSManagedObject = objects[number]
      lastEpoch = work.epoch
      switch Int.random(in: 0..<12, using: &random) {
      case 0, 1:
        if updated.contains(number) || deleted.contains(number) { break }
        log.append("insert \(number)")
        _ = work.recordInsertion(of: object)
        inserted.insert(number)
        if !insertions.contains(number) { insertions.append(number) }
        event.insert(number)
      case 2, 3, 4:
        log.append("update \(number)")
        _ = work.recordUpdate(of: object)
        if !inserted.contains(number) {
          updated.insert(number)
          if !updates.contains(number) { updates.append(number) }
        }
        event.insert(number)
      case 5 where !deleted.contains(number):
        log.append("delete \(number)")
        _ = work.recordDeletion(of: object)
        deleted.insert(number)
        if !deletions.contains(number) { deletions.append(number) }
        event.insert(number)
      case 6:
        log.append("undo the deletion of \(number)")
        work.undoDeletion(of: object)
        deleted.remove(number)
      case 7:
        log.append("discard the update of \(number)")
        work.discardUpdate(of: object)
        updated.remove(number)
      case 8: save()
      case 9: rollback()
      default: endEvent()
      }
    }

    private mutating func endEvent() {
      log.append("end the event")
      for object in work.beginEndOfEvent() ?? [] where work.endEvent(of: object) == .discarded {
        work.discard(object)
        leave(objects.firstIndex(of: object)!)
      }
      work.finishEndOfEvent()
      event = []
    }

    /// A save ends the event first, as the context's does.
    private mutating func save() {
      endEvent()
      log.append("save")
      let changes: PendingChanges = work.pendingChanges(isChild: true)
      _ = work.beginSave()
      for object in changes.inserted + changes.updated { work.recordSave(of: object) }
      for object in changes.deleted { work.recordSavedDeletion(of: object) }
      work.finishSave()
      for object in changes.deleted { work.finishDeletion(of: object) }
      work.endSave()
      for number in deleted { leave(number) }
      inserted = []
      updated = []
      clearOrder()
    }

    private mutating func rollback() {
      log.append("roll back")
      let listed: [NSManagedObject] = work.beginRollback()
      for object in listed { work.discardChanges(of: object) }
      // What was never saved leaves the context.
      for number in inserted { leave(number) }
      updated = []
      deleted = []
      event = []
      clearOrder()
    }

    private mutating func clearOrder() {
      insertions = []
      updates = []
      deletions = []
    }

    private mutating func leave(_ number: Int) {
      left.insert(number)
      inserted.remove(number)
      updated.remove(number)
      deleted.remove(number)
      event.remove(number)
    }

    /// What differs between the unit of work and the sets; nil: nothing.
    func difference() -> String? {
      let changes: PendingChanges = work.pendingChanges(isChild: true)
      func numbers(_ list: [NSManagedObject]) -> [Int] {
        list.map { objects.firstIndex(of: $0)! }
      }
      let pairs: [(String, [Int], [Int])] = [
        (
          "inserted", numbers(changes.inserted),
          insertions.filter { inserted.subtracting(deleted).contains($0) }
        ),
        ("updated", numbers(changes.updated), updates.filter { updated.subtracting(deleted).contains($0) }),
        (
          "deleted", numbers(changes.deleted), deletions.filter { deleted.subtracting(inserted).contains($0) }
        ),
        ("in the event", numbers(work.event).sorted(), event.sorted()),
      ]
      for (name, found, expected) in pairs where found != expected {
        return "\(name): \(found), expected \(expected)"
      }
      for list in [work.inserted, work.updated, work.deleted, work.event] where Set(list).count != list.count
      {
        return "a list holds an object twice: \(numbers(list))"
      }
      if work.hasChanges != pairs.prefix(3).contains(where: { !$0.2.isEmpty }) {
        return "hasChanges is wrong"
      }
      if work.epoch < lastEpoch { return "the epoch went back" }
      if work.isSaving || work.isEndingEvent { return "a save or an event has not ended" }
      return nil
    }
  }
}
