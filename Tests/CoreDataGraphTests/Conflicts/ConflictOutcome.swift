import CoreData
import Foundation
import StackSupport

/// What a save makes of a conflict: the table of Decisions/0033, as a slow and obvious model says it.
enum ConflictOutcome: Equatable {
  /// The save succeeds, and this is stored.
  case stored(ConflictGraph)
  /// The save fails with 133020, and what the other context has saved is stored.
  case conflict
  /// The save fails with 1600: the delete rule Deny has met members that the other context has put there.
  case denied

  /// nil: neither deed deletes anything.
  init?(here: ConflictDeed, there: ConflictDeed, _ policy: NSMergePolicyType, _ shape: ConflictShape) {
    guard here.deletes || there.deletes else { return nil }
    let theirs: ConflictGraph = .start.after(there, shape, new: "n", note: "y")
    let both: Set<String> = here.touched.intersection(there.touched)
    if both.isEmpty {
      self = .stored(theirs.after(here, shape, new: "h", note: "x"))
      return
    }
    let pair = ConflictPair(
      here: here, there: there, shape: shape, isRollback: policy == .rollbackMergePolicyType,
      isOverwrite: policy == .overwriteMergePolicyType, theirs: theirs, both: both)
    switch policy {
    case .errorMergePolicyType: self = .conflict
    case .overwriteMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType:
      self = here.deletes ? pair.winningDeletion : .stored(pair.winningChange)
    default: self = .stored(here.deletes ? pair.lostDeletion : pair.lostChange)
    }
  }
}

extension ConflictGraph {
  func after(_ deed: ConflictDeed, _ shape: ConflictShape, new: String, note: String) -> ConflictGraph {
    var result: ConflictGraph = self
    result.apply(deed, shape, new: new, note: note)
    return result
  }
}

/// Two deeds that meet in at least one object.
private struct ConflictPair {
  let here: ConflictDeed
  let there: ConflictDeed
  let shape: ConflictShape
  let isRollback: Bool
  let isOverwrite: Bool
  /// What the other context has stored.
  let theirs: ConflictGraph
  let both: Set<String>

  private let members: [String] = ["a1", "a2", "a3"]

  // MARK: Deleted here

  /// What was deleted here goes, and the rule goes on to members that only the other context had put there.
  var winningDeletion: ConflictOutcome {
    var graph: ConflictGraph = theirs
    let mine: ConflictGraph = .start.after(here, shape, new: "h", note: "x")
    let gone: [String] = ConflictGraph.start.notes.keys.filter { !mine.has($0) }
    if gone.contains("A") {
      let left: [String] = (theirs.lists["A"] ?? []).filter { !gone.contains($0) }
      if shape.rule == .denyDeleteRule, left.contains(where: { !members.contains($0) }) { return .denied }
      if shape.rule == .cascadeDeleteRule { for member in left { graph.remove(member) } }
      // The members' own to-one was changed here.
      if !shape.isManyToMany { for member in members { graph.take(member, outOf: "B") } }
    }
    for key in gone { graph.remove(key) }
    if isOverwrite { for key in both where graph.has(key) { graph.notes[key] = "0" } }
    return .stored(graph)
  }

  /// A deletion that meets a change in any of the objects that it reached is taken back whole.
  var lostDeletion: ConflictGraph {
    switch here {
    case .deleteMember:
      var graph: ConflictGraph = theirs
      if !both.contains("a1") { graph.remove("a1") }
      return graph
    case .deleteOwner: return lostOwner(isMemberGone: false)
    default:
      let isBack: Bool = both.contains("a1")
      return lostOwner(isMemberGone: !isBack)
    }
  }

  private func lostOwner(isMemberGone: Bool) -> ConflictGraph {
    var graph: ConflictGraph = theirs
    if isMemberGone { graph.remove("a1") }
    guard theirs.has("A") else { return graph }
    let taken: [String] = members.filter { here != .deleteBoth || $0 != "a1" }
    // Members that came back, or whose stored to-one was given back, need their owner.
    let needed: [String] = members.filter { member in
      guard both.contains(member), theirs.has(member) else { return false }
      if shape.rule == .cascadeDeleteRule { return true }
      if shape.isManyToMany { return false }
      return isRollback || !taken.contains(member)
    }
    guard both.contains("A") || !needed.isEmpty else {
      graph.removeOwner("A", shape)
      return graph
    }
    if shape.rule == .denyDeleteRule {
      // These the program has taken out itself.
      for member in taken where shape.isManyToMany || !needed.contains(member) {
        graph.take(member, outOf: "A")
      }
    }
    return graph
  }

  // MARK: Changed here, deleted there

  /// What was changed here is inserted again, with what it was given here.
  var winningChange: ConflictGraph {
    var graph: ConflictGraph = theirs
    switch here {
    case .insert:
      graph.notes["h"] = "0"
      bringBackOwner(&graph)
      graph.put("h", into: "A")
    case .adopt:
      bringBackOwner(&graph)
      graph.put("x", into: "A")
    case .moveIn:
      bringBackOwner(&graph)
      graph.take("b1", outOf: "B")
      graph.put("b1", into: "A")
    case .moveOut:
      graph.notes["a2"] = graph.notes["a2"] ?? "0"
      graph.take("a2", outOf: "A")
      graph.put("a2", into: "B")
    case .editOwner:
      bringBackOwner(&graph)
      graph.notes["A"] = "x"
    case .editMember:
      let wasThere: Bool = graph.has("a1")
      graph.notes["a1"] = "x"
      if !wasThere, !shape.isManyToMany, graph.has("A") { graph.put("a1", into: "A") }
    default: graph.lists["A"]?.reverse()
    }
    return graph
  }

  private func bringBackOwner(_ graph: inout ConflictGraph) {
    if graph.has("A") { return }
    graph.notes["A"] = "0"
    graph.lists["A"] = []
  }

  /// What was deleted there is deleted here, and the rest lets go of it.
  var lostChange: ConflictGraph {
    var graph: ConflictGraph = theirs
    switch here {
    case .insert:
      graph.notes["h"] = "0"
      if graph.has("A") { graph.put("h", into: "A") }
    case .adopt: if graph.has("A") { graph.put("x", into: "A") }
    case .moveIn:
      graph.take("b1", outOf: "B")
      if graph.has("A") { graph.put("b1", into: "A") }
    case .moveOut:
      guard graph.has("a2"), shape.isManyToMany || !both.contains("a2") else { break }
      graph.take("a2", outOf: "A")
      graph.put("a2", into: "B")
    case .editOwner: if graph.has("A"), !isRollback { graph.notes["A"] = "x" }
    case .editMember: if graph.has("a1"), !isRollback { graph.notes["a1"] = "x" }
    default: if !isRollback { graph.lists["A"]?.reverse() }
    }
    return graph
  }
}
