import CoreData
import Foundation
import StackSupport
import Testing

/// Undo of deletions that were saved, of objects that were members of each other.
@Suite
struct RestoredMembersTests {
  /// What the context knows of the objects before they are deleted.
  enum Knowledge: CaseIterable { case loaded, refreshed, fetched }
  enum Deletion: CaseIterable { case oneSave, aSaveEach, aSaveEachBackwards }

  struct Case: CustomTestStringConvertible {
    var kind: StoreKind
    var relationship: String
    var knowledge: Knowledge
    var deletion: Deletion
    var undoneSaves: Bool
    var testDescription: String { "\(kind) \(relationship) \(knowledge) \(deletion) saving: \(undoneSaves)" }

    static let all: [Case] = StoreKind.allCases.flatMap { kind in
      ["friends", "tags", "children", "next"].flatMap { relationship in
        Knowledge.allCases.flatMap { knowledge in
          Deletion.allCases.flatMap { deletion in
            [false, true].map {
              Case(
                kind: kind, relationship: relationship, knowledge: knowledge, deletion: deletion,
                undoneSaves: $0)
            }
          }
        }
      }
    }
  }

  private static let entities: [String: [String]] = [
    "friends": ["Employee"], "tags": ["Item", "Tag"], "children": ["Node"], "next": ["Node"],
  ]

  /// Two or three objects, each with its members' names.
  private func make(_ test: Case, in context: NSManagedObjectContext) throws {
    func new(_ entity: String, _ name: String) -> NSManagedObject {
      context.make(entity, [entity == "Item" ? "title" : "name": name])
    }
    switch test.relationship {
    case "friends":
      let all: [NSManagedObject] = ["a", "b", "c"].map { new("Employee", $0) }
      all[0].setValue(Set(all), forKey: "friends")
    case "tags":
      let items: [NSManagedObject] = ["a", "b"].map { new("Item", $0) }
      let tags: [NSManagedObject] = ["c", "d"].map { new("Tag", $0) }
      for item in items { item.setValue(Set(tags), forKey: "tags") }
    case "children":
      let all: [NSManagedObject] = ["a", "b", "c"].map { new("Node", $0) }
      all[0].setValue(Set(all[1...2]), forKey: "children")
    default:
      let all: [NSManagedObject] = ["a", "b"].map { new("Node", $0) }
      all[0].setValue(all[0], forKey: "next")
      all[1].setValue(all[0], forKey: "parent")
    }
    try context.save()
  }

  private func objects(_ test: Case, in context: NSManagedObjectContext) throws -> [NSManagedObject] {
    try Self.entities[test.relationship]!.flatMap { entity in
      try context.all(NSManagedObject.self, entity, sort: [entity == "Item" ? "title" : "name"])
    }
  }

  private func name(_ object: NSManagedObject) -> String {
    let key: String = object.entity.name == "Item" ? "title" : "name"
    return (object.value(forKey: key) as? String) ?? "nil"
  }

  /// Each object's name with those of all its members, by relationship.
  private func graph(_ test: Case, in context: NSManagedObjectContext) throws -> [String] {
    let all: [NSManagedObject] = try objects(test, in: context)
    let known: Set<NSManagedObject> = Set(all)
    return all.flatMap { object in
      object.entity.relationshipsByName.keys.sorted().compactMap { key in
        let targets: [NSManagedObject] =
          (object.value(forKey: key) as? Set<NSManagedObject>).map { Array($0) }
          ?? (object.value(forKey: key) as? NSManagedObject).map { [$0] } ?? []
        if targets.isEmpty { return nil }
        let names: [String] = targets.map { name($0) + (known.contains($0) ? "" : " unknown") }
        return "\(name(object)).\(key) = \(names.sorted().joined(separator: ", "))"
      }
    }
  }

  @Test(arguments: Case.all)
  func `undoing saved deletions gives the members back, once each`(_ test: Case) throws {
    let stack = try Stack(test.kind)
    try stack.run { context in
      try make(test, in: context)
      let before: [String] = try graph(test, in: context)
      switch test.knowledge {
      case .loaded: break
      case .refreshed:
        for object in try objects(test, in: context) { context.refresh(object, mergeChanges: true) }
      case .fetched: context.reset()
      }
      var all: [NSManagedObject] = try objects(test, in: context)
      if test.deletion == .aSaveEachBackwards { all.reverse() }
      let manager = UndoManager()
      context.undoManager = manager
      manager.groupsByEvent = false
      let steps: [[NSManagedObject]] = test.deletion == .oneSave ? [all] : all.map { [$0] }
      for step in steps {
        manager.beginUndoGrouping()
        for object in step { context.delete(object) }
        context.processPendingChanges()
        manager.endUndoGrouping()
        try save(context)
      }
      #expect(try objects(test, in: context).isEmpty)
      for _ in 0..<2 {
        while manager.canUndo {
          context.undo()
          if test.undoneSaves { try save(context) }
        }
        let restored: [String] = try graph(test, in: context)
        #expect(restored == before)
        while manager.canRedo {
          context.redo()
          if test.undoneSaves { try save(context) }
        }
        #expect(try objects(test, in: context).isEmpty)
      }
      while manager.canUndo { context.undo() }
      try save(context)
      let stored: [String] = try stack.elsewhere { try graph(test, in: $0) }
      #expect(stored == before)
    }
  }

  /// Without new actions of the undo manager.
  private func save(_ context: NSManagedObjectContext) throws {
    context.undoManager?.disableUndoRegistration()
    defer { context.undoManager?.enableUndoRegistration() }
    try context.save()
  }
}
