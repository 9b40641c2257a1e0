import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

@testable import CoreDataGraph

/// To-many relationships with many members: changing some of them reads and writes nothing of the others.
@Suite
struct LargeRelationshipTests {
  /// A to-many relationship of the model, by name.
  struct Kind: Sendable, CustomTestStringConvertible {
    let owner: String
    let key: String
    let member: String
    /// The other side; nil: the relationship is one-way.
    var inverse: String?
    var isOrdered = false
    var inverseIsToOne = false

    var testDescription: String { "\(owner).\(key)" }
    var nameOfMember: String { member == "Item" ? "title" : "name" }
    var nameOfOwner: String { owner == "Item" ? "title" : "name" }
  }

  static let kinds: [Kind] = [
    Kind(owner: "Category", key: "items", member: "Item", inverse: "category", inverseIsToOne: true),
    Kind(
      owner: "Album", key: "songs", member: "Song", inverse: "album", isOrdered: true, inverseIsToOne: true),
    Kind(owner: "Item", key: "tags", member: "Tag", inverse: "items"),
    Kind(owner: "Playlist", key: "songs", member: "Song", inverse: "playlists", isOrdered: true),
    Kind(owner: "Song", key: "playlists", member: "Playlist", inverse: "songs"),
    Kind(owner: "Employee", key: "friends", member: "Employee", inverse: "friends"),
    Kind(owner: "Basket", key: "items", member: "Item"),
  ]

  /// A store in which "large" has the members "0", "1", …, "small" has none, and "a", "b", "c" and "A", "B",
  /// "C" are nobody's.
  private static func filled(_ store: StoreKind, _ kind: Kind, _ count: Int) throws -> Stack {
    StatementTrace.listen()
    let stack = try Stack(store)
    try stack.run { context in
      let owner: NSManagedObject = context.make(kind.owner, [kind.nameOfOwner: "large"])
      _ = context.make(kind.owner, [kind.nameOfOwner: "small"])
      for name in ["a", "b", "c", "A", "B", "C"] { _ = context.make(kind.member, [kind.nameOfMember: name]) }
      let members: [NSManagedObject] = (0..<count).map {
        context.make(kind.member, [kind.nameOfMember: "\($0)"])
      }
      owner.setValue(kind.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: kind.key)
      try context.save()
    }
    return stack
  }

  /// The names of an owner's members: in their order, or sorted.
  private static func names(_ owner: NSManagedObject, _ kind: Kind) -> [String] {
    let members: [Any] =
      (owner.value(forKey: kind.key) as? NSOrderedSet)?.array
      ?? (owner.value(forKey: kind.key) as? NSSet)?.allObjects ?? []
    let names: [String] = members.compactMap {
      ($0 as? NSManagedObject)?.value(forKey: kind.nameOfMember) as? String
    }
    return kind.isOrdered ? names : names.sorted()
  }

  private static func find(_ name: String, _ entity: String, _ key: String, _ context: NSManagedObjectContext)
    throws -> NSManagedObject
  {
    try #require(
      try context.all(NSManagedObject.self, entity, NSPredicate(format: "%K == %@", key, name)).first)
  }

  /// Changes a large relationship in every way, and tells after each step what it took.
  private final class Changes {
    let kind: Kind
    let context: NSManagedObjectContext
    let trace: StatementTrace?
    let owner: NSManagedObject
    var steps: [String] = []

    init(_ kind: Kind, _ context: NSManagedObjectContext, _ trace: StatementTrace?) throws {
      self.kind = kind
      self.context = context
      self.trace = trace
      owner = try LargeRelationshipTests.find("large", kind.owner, kind.nameOfOwner, context)
    }

    var members: NSMutableSet { owner.mutableSetValue(forKey: kind.key) }

    func member(_ name: String) throws -> NSManagedObject {
      try find(name, kind.member, kind.nameOfMember, context)
    }

    /// No step may load the members: neither as a list nor as objects.
    func step(_ name: String, _ body: () throws -> Void) throws {
      _ = trace?.take()
      try body()
      steps.append("\(name): \(trace?.take().count ?? 0) statements")
      #expect(owner.hasFault(forRelationshipNamed: kind.key), "\(name) loads the members")
      #expect(context.registeredObjects.count < 12, "\(name) makes objects of the members")
    }

    /// The names: three of members, three of those who are none, and one of an object that is made.
    func make(_ present: [String], _ absent: [String], _ made: String) throws {
      let (a, b) = try (member(absent[0]), member(absent[1]))
      let (first, second, third) = try (member(present[0]), member(present[1]), member(present[2]))
      let new: NSManagedObject = context.make(kind.member, [kind.nameOfMember: made])
      try step("add") { members.add(a) }
      try step("add a new one") { members.add(new) }
      try step("add a member") { members.add(first) }
      try step("remove") { members.remove(first) }
      try step("remove what is none") { members.remove(b) }
      try step("ask") {
        #expect(members.contains(a) && members.contains(second) && !members.contains(b))
      }
      try step("the other side") { try changeOtherSide(b, second) }
      if context.undoManager != nil {
        try step("undo") { context.undo() }
        try step("redo") { context.redo() }
      }
      try step("save") { try context.save() }
      try step("remove and add") {
        members.remove(third)
        members.add(third)
      }
      try step("save again") { try context.save() }
      try step("refresh") { context.refresh(owner, mergeChanges: false) }
      let c: NSManagedObject = try member(absent[2])
      try step("add after a refresh") { members.add(c) }
      try step("refresh and merge") { context.refresh(owner, mergeChanges: true) }
      try step("save at last") { try context.save() }
    }

    /// One comes and one goes, from their own side.
    private func changeOtherSide(_ coming: NSManagedObject, _ going: NSManagedObject) throws {
      guard let inverse = kind.inverse else {
        members.add(coming)
        members.remove(going)
        return
      }
      if kind.inverseIsToOne {
        coming.setValue(owner, forKey: inverse)
        going.setValue(try find("small", kind.owner, kind.nameOfOwner, context), forKey: inverse)
      } else {
        coming.mutableSetValue(forKey: inverse).add(owner)
        going.mutableSetValue(forKey: inverse).remove(owner)
      }
    }

  }

  /// What is left of so many members.
  private static func wanted(_ kind: Kind, _ count: Int) -> [String] {
    var names: [String] = (0..<count).map { "\($0)" }
    names.removeAll { ["1", "2", "4", "5"].contains($0) }
    if kind.isOrdered {
      names.removeAll { ["3", "6"].contains($0) }
      return names + ["a", "new", "b", "3", "c", "A", "newer", "B", "6", "C"]
    }
    return (names + ["a", "new", "b", "c", "A", "newer", "B", "C"]).sorted()
  }

  @Test(arguments: StoreKind.allCases, kinds)
  func `a large to-many is changed without being loaded, at the same cost as a small one`(
    store: StoreKind, kind: Kind
  ) throws {
    var steps: [[String]] = []
    for count in [10, Soak.isOn ? 10_000 : 2_000] {
      let stack: Stack = try Self.filled(store, kind, count)
      let trace: StatementTrace? = store == .sqlite ? StatementTrace(stack.folder.file("World.sqlite")) : nil
      steps.append([])
      try stack.elsewhere { context in
        let changes = try Changes(kind, context, trace)
        try changes.make(["1", "2", "3"], ["a", "b", "c"], "new")
        steps[steps.count - 1] += changes.steps
      }
      try stack.elsewhere { context in
        context.undoManager = UndoManager()
        let changes = try Changes(kind, context, trace)
        try changes.make(["4", "5", "6"], ["A", "B", "C"], "newer")
        steps[steps.count - 1] += changes.steps
        #expect(Self.names(changes.owner, kind) == Self.wanted(kind, count), "in the context itself")
      }
      try stack.elsewhere { context in
        let large: NSManagedObject = try Self.find("large", kind.owner, kind.nameOfOwner, context)
        #expect(Self.names(large, kind) == Self.wanted(kind, count), "in a fresh context")
        let small: NSManagedObject = try Self.find("small", kind.owner, kind.nameOfOwner, context)
        #expect(Self.names(small, kind) == (kind.inverseIsToOne ? ["2", "5"] : []))
      }
    }
    #expect(steps[0] == steps[1])
    #expect(store != .sqlite || steps[0].contains { !$0.contains(": 0 ") }, "the trace hears something")
  }
}
