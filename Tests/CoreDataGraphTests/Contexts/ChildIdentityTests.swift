import CoreData
import Foundation
import StackSupport
import Testing

/// One object a row in each context, while ids become permanent under way.
@Suite
struct ChildIdentityTests {
  private static let lists: [(entity: String, key: String, member: String, inverse: String)] = [
    ("Tag", "items", "Item", "tags"), ("Playlist", "songs", "Song", "playlists"),
    ("Album", "songs", "Song", "album"),
  ]

  private static func contexts(_ stack: Stack, depth: Int) -> [NSManagedObjectContext] {
    var all: [NSManagedObjectContext] = [stack.context]
    for _ in 0..<depth {
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = all.last
      all.append(child)
    }
    return all
  }

  /// Owners named "list", each with one member.
  private static func filled(_ store: StoreKind) throws -> Stack {
    let stack = try Stack(store)
    try stack.run { context in
      for list in lists {
        let owner: NSManagedObject = context.make(list.entity, ["name": "list"])
        add(make(list.member, "old", context), to: owner, list.key)
      }
      try context.save()
    }
    return stack
  }

  private static func make(_ entity: String, _ name: String, _ context: NSManagedObjectContext)
    -> NSManagedObject
  {
    entity == "Item" ? context.item(name) : context.make(entity, ["name": name])
  }

  private static func add(_ member: NSManagedObject, to owner: NSManagedObject, _ key: String) {
    owner.mutableSetValue(forKey: key).add(member)
  }

  private static func list(_ entity: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
    try #require(
      try context.all(NSManagedObject.self, entity, NSPredicate(format: "name == 'list'")).first)
  }

  private static func members(_ object: NSManagedObject, _ key: String) -> [NSManagedObject] {
    let value: Any? = object.value(forKey: key)
    return (value as? NSOrderedSet)?.array as? [NSManagedObject]
      ?? (value as? NSSet)?.allObjects as? [NSManagedObject] ?? [value as? NSManagedObject].compactMap { $0 }
  }

  /// Runs on a thread of its own. False if that takes longer than anything could.
  private static func onOtherThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      body()
      done.signal()
    }
    return done.wait(timeout: .now() + 60) == .success
  }

  /// Saves the contexts above the last one, from below to the root.
  private static func saveAbove(_ contexts: [NSManagedObjectContext], onOtherThread: Bool) throws {
    for context in contexts.dropLast().reversed() {
      guard onOtherThread else {
        try context.performAndWait { try context.save() }
        continue
      }
      let isSaved: Bool = Self.onOtherThread {
        context.performAndWait {
          #expect(throws: Never.self) { try context.save() }
        }
      }
      try #require(isSaved)
    }
  }

  /// What may happen between the root's save and the next look.
  private enum Step: CaseIterable, Sendable { case nothing, refresh, refreshOwner, fetch, rollback, look }

  @Test(arguments: StoreKind.allCases, [1, 2])
  func `an object saved up to the store within one block is the same object afterwards`(
    store: StoreKind, depth: Int
  ) throws {
    for isLoaded in [false, true] {
      for onOtherThread in [false, true] {
        for step in Step.allCases {
          let stack: Stack = try Self.filled(store)
          let contexts: [NSManagedObjectContext] = Self.contexts(stack, depth: depth)
          let leaf: NSManagedObjectContext = contexts[depth]
          try leaf.performAndWait {
            for list in Self.lists {
              let owner: NSManagedObject = try Self.list(list.entity, leaf)
              if isLoaded { _ = Self.members(owner, list.key).map { $0.value(forKey: list.inverse) } }
              let new: NSManagedObject = Self.make(list.member, "new", leaf)
              Self.add(new, to: owner, list.key)
              try leaf.save()
              try Self.saveAbove(contexts, onOtherThread: onOtherThread)
              switch step {
              case .nothing: break
              case .refresh: leaf.refresh(new, mergeChanges: true)
              case .refreshOwner: leaf.refresh(owner, mergeChanges: false)
              case .fetch: _ = try leaf.all(NSManagedObject.self, list.member)
              case .rollback: leaf.rollback()
              case .look:
                let id: NSManagedObjectID = stack.context.performAndWait {
                  stack.context.registeredObjects.first {
                    $0.entity == new.entity && $0.objectID != new.objectID
                  }?
                  .objectID ?? new.objectID
                }
                _ = leaf.object(with: id)
              }
              let found: [NSManagedObject] = Self.members(owner, list.key)
              #expect(found.count == 2 && found.contains { $0 === new }, "\(list.entity) \(step)")
              #expect(Self.members(new, list.inverse).map(ObjectIdentifier.init) == [ObjectIdentifier(owner)])
              let fetched = try leaf.all(NSManagedObject.self, list.member)
              #expect(fetched.contains { $0 === new } && !leaf.hasChanges)
              // At the latest when the context has asked for anything.
              #expect(!new.objectID.isTemporaryID)
              // Both sides still follow one another.
              owner.mutableSetValue(forKey: list.key).remove(new)
              #expect(Self.members(new, list.inverse).isEmpty)
              try leaf.save()
            }
          }
        }
      }
    }
  }

  @Test(arguments: StoreKind.allCases, [1, 2])
  func `ids that the root obtains ahead of its save come to the objects of children`(
    store: StoreKind, depth: Int
  ) throws {
    let stack: Stack = try Self.filled(store)
    let contexts: [NSManagedObjectContext] = Self.contexts(stack, depth: depth)
    let sibling: NSManagedObjectContext = Self.contexts(stack, depth: 1)[1]
    let leaf: NSManagedObjectContext = contexts[depth]
    try leaf.performAndWait {
      let owner: NSManagedObject = try Self.list("Playlist", leaf)
      let new: NSManagedObject = leaf.make("Song", ["name": "new"])
      Self.add(new, to: owner, "songs")
      for context in contexts.dropFirst().reversed() { try context.performAndWait { try context.save() } }
      try sibling.performAndWait {
        let theirs: NSManagedObject = try #require(
          try sibling.all(NSManagedObject.self, "Song", NSPredicate(format: "name == 'new'")).first)
        #expect(theirs.objectID == new.objectID && theirs.objectID.isTemporaryID)
        let permanent: NSManagedObjectID = try stack.run { root in
          let object: NSManagedObject = root.object(with: theirs.objectID)
          try root.obtainPermanentIDs(for: [object])
          return object.objectID
        }
        #expect(sibling.object(with: permanent) === theirs && theirs.objectID == permanent)
      }
      #expect(Self.members(owner, "songs").last === new && !new.objectID.isTemporaryID)
      new.setValue("newer", forKey: "name")
      for context in contexts.reversed() { try context.performAndWait { try context.save() } }
      #expect(Self.members(owner, "songs").last === new)
    }
    let names: [String?] = try stack.elsewhere { context in
      Self.members(try Self.list("Playlist", context), "songs").map { $0.value(forKey: "name") as? String }
    }
    #expect(names == ["old", "newer"])
  }

  @Test(arguments: StoreKind.allCases, [1, 2])
  func `a root that saves all the time gives no child two objects for a row`(store: StoreKind, depth: Int)
    async throws
  {
    let stack: Stack = try Self.filled(store)
    let contexts: [NSManagedObjectContext] = Self.contexts(stack, depth: depth)
    let leaves: [NSManagedObjectContext] =
      [contexts[depth]]
      + (0..<2).map { _ in
        let leaf = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        leaf.parent = contexts[depth - 1]
        return leaf
      }
    let root: NSManagedObjectContext = stack.context
    try await withThrowingTaskGroup(of: Void.self) { group in
      for leaf in leaves {
        group.addTask {
          try await leaf.perform {
            for round in 0..<30 {
              let owner: NSManagedObject = leaf.make("Tag", ["name": "\(round)"])
              let new: NSManagedObject = leaf.item("\(round)")
              Self.add(new, to: owner, "items")
              try leaf.save()
              for context in contexts.dropLast().dropFirst() {
                try context.performAndWait { try context.save() }
              }
              leaf.refresh(owner, mergeChanges: false)
              let found: [NSManagedObject] = Self.members(owner, "items")
              #expect(found.count == 1 && found.first === new)
              #expect(Self.members(new, "tags").first === owner)
              let fetched: [NSManagedObject] = try leaf.all(NSManagedObject.self, "Item")
              #expect(fetched.contains { $0 === new })
            }
          }
        }
      }
      group.addTask {
        for _ in 0..<60 { try await root.perform { try root.save() } }
      }
      try await group.waitForAll()
    }
    try stack.run { try $0.save() }
    #expect(try stack.count("Item") == 91)
  }
}
