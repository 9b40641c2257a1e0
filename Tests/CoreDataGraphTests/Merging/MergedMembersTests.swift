import CoreData
import Foundation
import StackSupport
import Testing

/// Members that two contexts change, one of which merges what the other has saved.
@Suite
struct MergedMembersTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let entity: String
    let key: String
    let member: String
    var isOrdered: Bool = false
    var testDescription: String { "\(entity).\(key)" }
  }

  private static let cases: [Case] = [
    Case(entity: "Tag", key: "items", member: "Item"),
    Case(entity: "Basket", key: "items", member: "Item"),
    Case(entity: "Category", key: "items", member: "Item"),
    Case(entity: "Employee", key: "friends", member: "Employee"),
    Case(entity: "Playlist", key: "songs", member: "Song", isOrdered: true),
    Case(entity: "Album", key: "songs", member: "Song", isOrdered: true),
  ]

  /// Two contexts over an owner with the members "a" … "e"; "y" is none.
  private struct Scene {
    let stack: Stack
    let shape: Case
    let mine: NSManagedObjectContext
    let theirs: NSManagedObjectContext

    init(_ kind: StoreKind, _ shape: Case) throws {
      stack = try Stack(kind)
      self.shape = shape
      mine = stack.other()
      theirs = stack.other()
      let key: String = shape.member == "Item" ? "title" : "name"
      try stack.run { context in
        let members: [NSManagedObject] = ["a", "b", "c", "d", "e"].map {
          context.make(shape.member, [key: $0])
        }
        _ = context.make(shape.member, [key: "y"])
        context.make(shape.entity, ["name": "owner"]).setValue(
          shape.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: shape.key)
        try context.save()
      }
    }

    func find(_ entity: String, _ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
      let key: String = entity == "Item" ? "title" : "name"
      let found: NSManagedObject? = try context.all(
        NSManagedObject.self, entity, NSPredicate(format: "%K == %@", key, name)
      ).first
      return try #require(found)
    }

    func set(_ context: NSManagedObjectContext) throws -> NSMutableSet {
      try find(shape.entity, "owner", context).mutableSetValue(forKey: shape.key)
    }

    func add(_ name: String, _ context: NSManagedObjectContext) throws {
      try set(context).add(try find(shape.member, name, context))
    }

    func remove(_ name: String, _ context: NSManagedObjectContext) throws {
      try set(context).remove(try find(shape.member, name, context))
    }

    /// In order if there is one.
    func names(_ context: NSManagedObjectContext) throws -> String {
      let value: Any? = try find(shape.entity, "owner", context).value(forKey: shape.key)
      let members: [Any] = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? []
      let names: [String] = members.compactMap {
        ($0 as? NSManagedObject)?.value(forKey: shape.member == "Item" ? "title" : "name") as? String
      }
      return (shape.isOrdered ? names : names.sorted()).joined()
    }

    func stored() throws -> String { try stack.elsewhere { try names($0) } }

    /// The other context changes and saves; this one merges.
    func mergeSave(_ change: (NSManagedObjectContext) throws -> Void) throws {
      nonisolated(unsafe) var told: Notification?
      let recorder = Recorder([.NSManagedObjectContextDidSave], of: theirs) { told = $0 }
      try theirs.performAndWait {
        try change(theirs)
        try theirs.save()
      }
      _ = recorder
      mine.mergeChanges(fromContextDidSave: try #require(told))
    }

    func run(_ body: (NSManagedObjectContext) throws -> Void) throws {
      try mine.performAndWait { try body(mine) }
    }
  }

  @Test(arguments: StoreKind.allCases, cases)
  func `a member that both took out can be added again`(kind: StoreKind, shape: Case) throws {
    for isLoaded in [false, true] {
      let scene = try Scene(kind, shape)
      try scene.run { context in
        if isLoaded { #expect(try scene.names(context) == "abcde") }
        try scene.remove("b", context)
        try scene.mergeSave { try scene.remove("b", $0) }
        try scene.add("b", context)
        try context.save()
        let names: String = try scene.names(context)
        #expect(names == (shape.isOrdered ? "acdeb" : "abcde"), "loaded: \(isLoaded)")
      }
      let stored: String = try scene.stored()
      #expect(stored == (shape.isOrdered ? "acdeb" : "abcde"), "loaded: \(isLoaded)")
    }
  }

  @Test(arguments: StoreKind.allCases, cases)
  func `a member that both added can be taken out again`(kind: StoreKind, shape: Case) throws {
    for isLoaded in [false, true] {
      let scene = try Scene(kind, shape)
      try scene.run { context in
        if isLoaded { #expect(try scene.names(context) == "abcde") }
        try scene.add("y", context)
        try scene.mergeSave { try scene.add("y", $0) }
        try scene.remove("y", context)
        try context.save()
        let names: String = try scene.names(context)
        #expect(names == "abcde", "loaded: \(isLoaded)")
      }
      let stored: String = try scene.stored()
      #expect(stored == "abcde", "loaded: \(isLoaded)")
    }
  }

  @Test(arguments: StoreKind.allCases, cases)
  func `what is new on one side only stays after a merge`(kind: StoreKind, shape: Case) throws {
    let scene = try Scene(kind, shape)
    try scene.run { context in
      try scene.remove("b", context)
      try scene.add("y", context)
      try scene.mergeSave { try scene.remove("c", $0) }
      try context.save()
    }
    let stored: String = try scene.stored()
    #expect(stored == "adey")
  }

  @Test(arguments: StoreKind.allCases, cases)
  func `an undo past a save leaves alone what another context has taken back already`(
    kind: StoreKind, shape: Case
  ) throws {
    let added = try Scene(kind, shape)
    try added.run { context in
      context.undoManager = UndoManager()
      try added.add("y", context)
      try context.save()
      try added.mergeSave { try added.remove("y", $0) }
      context.undo()
      try added.add("y", context)
      try context.save()
    }
    let more: String = try added.stored()
    #expect(more == "abcdey")
    let removed = try Scene(kind, shape)
    try removed.run { context in
      context.undoManager = UndoManager()
      try removed.remove("b", context)
      try context.save()
      try removed.mergeSave { try removed.add("b", $0) }
      context.undo()
      try removed.remove("b", context)
      try context.save()
    }
    let less: String = try removed.stored()
    #expect(less == "acde")
  }

  @Test(arguments: StoreKind.allCases, cases.filter(\.isOrdered))
  func `an undo past a save of a move to the end puts the member where it was`(kind: StoreKind, shape: Case)
    throws
  {
    for isOneEvent in [false, true] {
      let scene = try Scene(kind, shape)
      try scene.run { context in
        context.undoManager = UndoManager()
        try scene.remove("b", context)
        if !isOneEvent { context.processPendingChanges() }
        try scene.add("b", context)
        try context.save()
        context.undo()
        if !isOneEvent { context.undo() }
        try context.save()
        let names: String = try scene.names(context)
        #expect(names == "abcde", "one event: \(isOneEvent)")
      }
      let back: String = try scene.stored()
      #expect(back == "abcde", "one event: \(isOneEvent)")
      try scene.run { context in
        context.redo()
        if !isOneEvent { context.redo() }
        try context.save()
        let names: String = try scene.names(context)
        #expect(names == "acdeb", "one event: \(isOneEvent)")
      }
      let again: String = try scene.stored()
      #expect(again == "acdeb", "one event: \(isOneEvent)")
    }
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `a member that both added counts once`(kind: StoreKind, isMerged: Bool) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let parts: [NSManagedObject] = ["a", "b"].map { context.make("Part", ["name": $0]) }
      _ = context.make("Part", ["name": "y"])
      _ = context.make(
        "Strict", ["name": "good", "home": context.make("Home"), "parts": NSSet(array: parts)])
      try context.save()
    }
    func addPart(_ context: NSManagedObjectContext) throws -> NSManagedObject {
      let owner: NSManagedObject = try #require(try context.all(NSManagedObject.self, "Strict").first)
      let part: NSManagedObject = try #require(
        try context.all(NSManagedObject.self, "Part", NSPredicate(format: "name == 'y'")).first)
      owner.mutableSetValue(forKey: "parts").add(part)
      return owner
    }
    try stack.elsewhere { context in
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let owner: NSManagedObject = try addPart(context)
      let other: NSManagedObjectContext = stack.other()
      nonisolated(unsafe) var told: Notification?
      let recorder = Recorder([.NSManagedObjectContextDidSave], of: other) { told = $0 }
      try other.performAndWait {
        _ = try addPart(other)
        try other.save()
      }
      _ = recorder
      if isMerged { context.mergeChanges(fromContextDidSave: try #require(told)) }
      owner.setValue("well", forKey: "name")
      #expect(owner.hasFault(forRelationshipNamed: "parts"))
      try context.save()
      #expect((owner.value(forKey: "parts") as? NSSet)?.count == 3)
    }
  }
}
