import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Every pair of deeds of two contexts, with every merge policy (Decisions/0033; finding A4, A5).
@Suite
struct DeletionConflictTests {
  /// Where the store is, and who changes it.
  enum Place: CaseIterable, Sendable, CustomTestStringConvertible {
    case inMemory, sqlite, otherProcess, rollbackJournal

    var testDescription: String { "\(self)" }
    var setting: StoreSetting {
      switch self {
      case .inMemory: .inMemory
      case .sqlite, .otherProcess: .wal
      case .rollbackJournal: .rollbackJournal
      }
    }
    /// Whether the other context knows the store by another coordinator.
    var isStranger: Bool { self == .otherProcess || self == .rollbackJournal }
  }

  private static let policies: [NSMergePolicy] = [
    .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
  ]

  /// All shapes in memory; elsewhere those whose references are written in more ways.
  private static let cases: [(Place, ConflictShape)] = Place.allCases.flatMap { place in
    ConflictShape.all.filter { shape in
      if Soak.isOn || place == .inMemory { return true }
      return shape.isOrdered
        && (!place.isStranger || shape.isManyToMany == (shape.rule == .nullifyDeleteRule))
    }.map { (place, $0) }
  }

  @Test(arguments: cases)
  func `each policy has its outcome for each pair of deeds, and no reference leads to a row that is gone`(
    place: Place, shape: ConflictShape
  ) throws {
    let deeds: [ConflictDeed] = ConflictDeed.allCases.filter { shape.isOrdered || $0 != .reorder }
    var run: Int = 0
    var number: Int = shape.number
    var differences: [String] = []
    for here in deeds {
      // A store for each: to find a run's objects among those of all runs would cost most of the time.
      let stack = try Stack(setting: place.setting, model: ConflictShape.model)
      let strange: NSManagedObjectContext? = place.isStranger ? try stack.stranger() : nil
      for there in deeds {
        let doMeet: Bool = !here.touched.isDisjoint(with: there.touched)
        for policy in doMeet ? Self.policies : [.error] {
          // Every third one: another third for the next shape, so that all are run by every third shape.
          number += 1
          if !Soak.isOn, number % 3 != 0 { continue }
          run += 1
          // Whether relationships were read before makes no difference.
          for listed in here == .reorder
            ? [true] : Soak.isOn ? [true, false] : [(run + shape.number) % 3 != 0]
          {
            run += 1
            let meeting = Meeting(
              stack: stack, shape: shape, here: here, there: there, policy: policy, run: run, listed: listed)
            let found: [String] = try meeting.run(strange: strange)
            differences += found.map {
              "here \(here), there \(there), \(Self.name(policy)), \(listed ? "read" : "not read"): \($0)"
            }
          }
        }
      }
      if stack.kind == .sqlite {
        differences += try DanglingReferences.all(
          in: stack.folder.file("World.sqlite"), of: ConflictShape.model)
      }
    }
    #expect(
      differences.isEmpty, "\(differences.count) differ:\n\(differences.prefix(40).joined(separator: "\n"))")
  }

  private static func name(_ policy: NSMergePolicy) -> String {
    ["error", "store trumps", "object trumps", "overwrite", "rollback"][Int(policy.mergeType.rawValue)]
  }
}

/// One pair of deeds.
private struct Meeting {
  let stack: Stack
  let shape: ConflictShape
  let here: ConflictDeed
  let there: ConflictDeed
  let policy: NSMergePolicy
  let run: Int
  let listed: Bool

  /// What is not as it should be.
  func run(strange: NSManagedObjectContext?) throws -> [String] {
    try stack.elsewhere { try ConflictScene.make(shape, run: run, in: $0) }
    let context: NSManagedObjectContext = stack.other()
    context.mergePolicy = policy
    return try context.performAndWait {
      var mine = try ConflictScene(shape, run: run, reading: context, listed: listed)
      let other: NSManagedObjectContext = strange ?? stack.other()
      try other.performAndWait {
        other.reset()
        var theirs = try ConflictScene(shape, run: run, reading: other, listed: true)
        theirs.act(there, new: "n", note: "y")
        try other.save()
      }
      mine.act(here, new: "h", note: "x")
      return try check(mine, errorThrown { try context.save() }, context)
    }
  }

  private func check(
    _ mine: ConflictScene, _ error: NSError?, _ context: NSManagedObjectContext
  ) throws -> [String] {
    let (stored, inverses): (ConflictGraph, [String: Set<String>]) = try stack.elsewhere { fresh in
      let scene = try ConflictScene(shape, run: run, reading: fresh, listed: false)
      return (scene.graph, scene.inverses)
    }
    var differences: [String] = []
    func compare<T: Equatable>(_ what: String, _ found: T, _ wanted: T) {
      if found != wanted { differences.append("\(what): \(found), should be \(wanted)") }
    }
    compare(
      "the two sides as stored", inverses, stored.lists.mapValues(Set.init).filter { !$0.value.isEmpty })
    // Members that are read by the deed itself are read after the other context's save.
    let outcome: ConflictOutcome? =
      listed || !here.readsMembers ? ConflictOutcome(here: here, there: there, policy.mergeType, shape) : nil
    let theirs: ConflictGraph = .start.after(there, shape, new: "n", note: "y")
    switch outcome {
    case .stored(let graph):
      compare("the error", error?.code ?? 0, 0)
      compare("stored", stored, ordered(graph))
    case .conflict:
      compare("the error", error?.code ?? 0, NSManagedObjectMergeError)
      compare("stored", stored, ordered(theirs))
    case .denied:
      compare("the error", error?.code ?? 0, NSValidationRelationshipDeniedDeleteError)
      compare("stored", stored, ordered(theirs))
    case nil: break
    }
    // Who meets nothing hears of nothing.
    if error != nil || here.touched.isDisjoint(with: there.touched) { return differences }
    compare("has changes", context.hasChanges, false)
    var wanted: ConflictGraph = stored
    wanted.notes["n"] = nil
    var found: ConflictGraph = mine.graph
    // Notes of objects that this context has not changed are told by merging only.
    for key in found.notes.keys where !here.touched.contains(key) {
      found.notes[key] = wanted.notes[key] ?? "there"
    }
    // And so is what nothing here has led to: pairs were not read.
    if !listed, shape.isManyToMany {
      for key in found.notes.keys where !wanted.has(key) { (found.notes[key], found.lists[key]) = (nil, nil) }
    }
    compare("in memory", found, wanted)
    compare(
      "the two sides in memory", mine.inverses,
      inverses.mapValues { $0.subtracting(["n"]) }.filter { !$0.value.isEmpty })
    return differences
  }

  private func ordered(_ graph: ConflictGraph) -> ConflictGraph {
    if shape.isOrdered { return graph }
    var graph: ConflictGraph = graph
    graph.lists = graph.lists.mapValues { $0.sorted() }
    return graph
  }
}
