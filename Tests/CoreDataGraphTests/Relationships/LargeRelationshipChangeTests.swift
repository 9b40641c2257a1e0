import CoreData
import Foundation
import StackSupport
import Testing

@testable import CoreDataGraph

/// What becomes of recorded changes of members: deletions, undo past a save, moves.
@Suite
struct LargeRelationshipChangeTests {
  private static let count: Int = 2000

  /// Items "0", "1", … that all have the tag "large"; a song in many playlists; friends of one employee.
  private static func filled(_ store: StoreKind) throws -> Stack {
    let stack = try Stack(store)
    try stack.run { context in
      let tag: NSManagedObject = context.make("Tag", ["name": "large"])
      tag.setValue(NSSet(array: (0..<count).map { context.item("\($0)") }), forKey: "items")
      let song: NSManagedObject = context.make("Song", ["name": "large"])
      song.setValue(
        NSSet(array: (0..<count).map { context.make("Playlist", ["name": "\($0)"]) }), forKey: "playlists")
      let one: NSManagedObject = context.make("Employee", ["name": "large"])
      one.setValue(
        NSSet(array: (0..<count).map { context.make("Employee", ["name": "\($0)"]) }), forKey: "friends")
      try context.save()
    }
    return stack
  }

  private static let manyToMany: [(entity: String, key: String, member: String, inverse: String)] = [
    ("Tag", "items", "Item", "tags"), ("Song", "playlists", "Playlist", "songs"),
    ("Employee", "friends", "Employee", "friends"),
  ]

  private static func find(_ name: String, _ entity: String, _ context: NSManagedObjectContext) throws
    -> NSManagedObject
  {
    try #require(
      try context.all(
        NSManagedObject.self, entity,
        NSPredicate(format: "%K == %@", entity == "Item" ? "title" : "name", name)
      ).first)
  }

  private static func members(_ object: NSManagedObject, _ key: String) -> [NSManagedObject] {
    (object.value(forKey: key) as? NSOrderedSet)?.array as? [NSManagedObject]
      ?? (object.value(forKey: key) as? NSSet)?.allObjects as? [NSManagedObject] ?? []
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `deleting an object of many-to-many relationships loads its partners only for an undo`(
    store: StoreKind, isUndoable: Bool
  ) throws {
    let stack: Stack = try Self.filled(store)
    for (entity, key, memberEntity, inverse) in Self.manyToMany {
      try stack.elsewhere { context in
        if isUndoable { context.undoManager = UndoManager() }
        let owner: NSManagedObject = try Self.find("large", entity, context)
        // One whose side is loaded, one whose side is not.
        let (loaded, other) = try (
          Self.find("1", memberEntity, context), Self.find("2", memberEntity, context)
        )
        #expect(Self.members(loaded, inverse) == [owner])
        context.delete(owner)
        context.processPendingChanges()
        #expect(Self.members(loaded, inverse).isEmpty && Self.members(other, inverse).isEmpty)
        #expect(loaded.isUpdated)
        #expect(Self.members(try Self.find("3", memberEntity, context), inverse).isEmpty)
        if isUndoable {
          context.undo()
          #expect(Self.members(owner, key).count == Self.count)
          for name in ["1", "2", "3", "4"] {
            #expect(Self.members(try Self.find(name, memberEntity, context), inverse) == [owner], "\(name)")
          }
          context.redo()
          for name in ["1", "2", "3", "4"] {
            #expect(Self.members(try Self.find(name, memberEntity, context), inverse).isEmpty, "\(name)")
          }
        }
        try context.save()
        if !isUndoable { #expect(context.registeredObjects.count < 9) }
        #expect(Self.members(loaded, inverse).isEmpty && Self.members(other, inverse).isEmpty)
        guard isUndoable else { return }
        context.undo()
        #expect(Self.members(owner, key).count == Self.count)
        #expect(Self.members(try Self.find("5", memberEntity, context), inverse) == [owner])
        try context.save()
      }
      try stack.elsewhere { context in
        let left: [NSManagedObject] = try ["1", "2", "3", "5"].flatMap {
          Self.members(try Self.find($0, memberEntity, context), inverse)
        }
        #expect(left.count == (isUndoable ? 4 : 0))
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a deletion that is rolled back is back in lists that were read meanwhile`(store: StoreKind) throws {
    let stack: Stack = try Self.filled(store)
    for (entity, _, memberEntity, inverse) in Self.manyToMany {
      try stack.elsewhere { context in
        let owner: NSManagedObject = try Self.find("large", entity, context)
        context.delete(owner)
        context.processPendingChanges()
        let member: NSManagedObject = try Self.find("1", memberEntity, context)
        #expect(Self.members(member, inverse).isEmpty)
        context.rollback()
        #expect(Self.members(member, inverse) == [owner])
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a merged deletion leaves no list with the object in it`(store: StoreKind) throws {
    let stack: Stack = try Self.filled(store)
    for (entity, key, memberEntity, inverse) in Self.manyToMany {
      try stack.elsewhere { context in
        let member: NSManagedObject = try Self.find("7", memberEntity, context)
        let owner: NSManagedObject = try Self.find("large", entity, context)
        #expect(Self.members(member, inverse) == [owner] && owner.hasFault(forRelationshipNamed: key))
        let other: NSManagedObjectContext = stack.other()
        nonisolated(unsafe) var told: Notification?
        let recorder = Recorder([.NSManagedObjectContextDidSave], of: other) { told = $0 }
        try other.performAndWait {
          other.delete(try Self.find("large", entity, other))
          try other.save()
        }
        _ = recorder
        context.mergeChanges(fromContextDidSave: try #require(told))
        #expect(Self.members(member, inverse).isEmpty)
      }
    }
  }

  /// "a" … "e" in an album and in a playlist, none of them loaded.
  private static func music(_ store: StoreKind) throws -> Stack {
    let stack = try Stack(store)
    try stack.run { context in
      let songs: [NSManagedObject] = ["a", "b", "c", "d", "e"].map { context.make("Song", ["name": $0]) }
      for entity in ["Album", "Playlist"] {
        let list: NSManagedObject = context.make(entity, ["name": "list"])
        list.setValue(NSOrderedSet(array: songs), forKey: "songs")
      }
      try context.save()
    }
    return stack
  }

  private static func names(_ list: NSManagedObject) -> String {
    members(list, "songs").compactMap { $0.value(forKey: "name") as? String }.joined()
  }

  @Test(arguments: StoreKind.allCases, ["Album", "Playlist"])
  func `an undo past a save puts ordered members back where they were`(store: StoreKind, entity: String)
    throws
  {
    let stack: Stack = try Self.music(store)
    try stack.elsewhere { context in
      context.undoManager = UndoManager()
      let list: NSManagedObject = try Self.find("list", entity, context)
      let songs: NSMutableSet = list.mutableSetValue(forKey: "songs")
      for name in ["b", "c", "e"] { songs.remove(try Self.find(name, "Song", context)) }
      let new: NSManagedObject = context.make("Song", ["name": "x"])
      songs.add(new)
      context.processPendingChanges()
      songs.remove(try Self.find("a", "Song", context))
      #expect(list.hasFault(forRelationshipNamed: "songs"))
      try context.save()
      #expect(list.hasFault(forRelationshipNamed: "songs"))
      context.undo()
      #expect(Self.names(list) == "adx")
      context.undo()
      #expect(Self.names(list) == "abcde")
      context.redo()
      context.redo()
      #expect(Self.names(list) == "dx")
      context.undo()
      context.undo()
      try context.save()
    }
    let stored: String = try stack.elsewhere { Self.names(try Self.find("list", entity, $0)) }
    #expect(stored == "abcde")
  }

  @Test(arguments: StoreKind.allCases, ["Album", "Playlist"])
  func `many removals with an undo manager load the list instead of asking for each place`(
    store: StoreKind, entity: String
  ) throws {
    let stack = try Stack(store)
    let names: [String] = (0..<30).map { String(UnicodeScalar(UInt8(65 + $0))) }
    try stack.run { context in
      let list: NSManagedObject = context.make(entity, ["name": "list"])
      list.setValue(NSOrderedSet(array: names.map { context.make("Song", ["name": $0]) }), forKey: "songs")
      try context.save()
    }
    try stack.elsewhere { context in
      context.undoManager = UndoManager()
      let list: NSManagedObject = try Self.find("list", entity, context)
      let songs: NSMutableSet = list.mutableSetValue(forKey: "songs")
      for (place, name) in (names[3..<13].reversed() + names[18..<24]).enumerated() {
        let song: NSManagedObject = try Self.find(name, "Song", context)
        #expect(list.hasFault(forRelationshipNamed: "songs") == (place <= 8))
        songs.remove(song)
      }
      context.processPendingChanges()
      try context.save()
      #expect(Self.names(list) == (names[..<3] + names[13..<18] + names[24...]).joined())
      context.undo()
      #expect(Self.names(list) == names.joined())
      try context.save()
    }
    let stored: String = try stack.elsewhere { Self.names(try Self.find("list", entity, $0)) }
    #expect(stored == names.joined())
  }

  @Test(arguments: StoreKind.allCases, ["Album", "Playlist"])
  func `an undo before a save leaves nothing to save`(store: StoreKind, entity: String) throws {
    let stack: Stack = try Self.music(store)
    try stack.elsewhere { context in
      context.undoManager = UndoManager()
      for isLoaded in [false, true] {
        let list: NSManagedObject = try Self.find("list", entity, context)
        if isLoaded { #expect(Self.names(list) == "abcde") }
        let songs: NSMutableSet = list.mutableSetValue(forKey: "songs")
        let (b, e) = try (Self.find("b", "Song", context), Self.find("e", "Song", context))
        songs.remove(e)
        songs.remove(b)
        songs.add(b)
        context.processPendingChanges()
        #expect(context.hasChanges)
        context.undo()
        #expect(!context.hasChanges, "loaded: \(isLoaded)")
        context.redo()
        #expect(Self.names(list) == "acdb")
        context.undo()
        #expect(Self.names(list) == "abcde" && !context.hasChanges)
      }
    }
  }

  @Test(arguments: StoreKind.allCases, ["Album", "Playlist"])
  func `members before their changes are told in the order of the store`(store: StoreKind, entity: String)
    throws
  {
    let stack: Stack = try Self.music(store)
    func text(_ values: [String: Any]) -> String {
      let songs: [Any] = (values["songs"] as? NSOrderedSet)?.array ?? []
      return songs.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }.joined()
    }
    for isLoaded in [false, true] {
      try stack.elsewhere { context in
        let list: NSManagedObject = try Self.find("list", entity, context)
        if isLoaded { #expect(Self.names(list) == "abcde") }
        let songs: NSMutableSet = list.mutableSetValue(forKey: "songs")
        songs.add(context.make("Song", ["name": "x"]))
        if isLoaded { list.mutableOrderedSetValue(forKey: "songs").moveObjects(at: [3], to: 0) }
        for name in ["b", "e"] { songs.remove(try Self.find(name, "Song", context)) }
        if isLoaded { #expect(text(list.changedValuesForCurrentEvent()) == "abcde") }
        #expect(text(list.committedValues(forKeys: ["songs"])) == "abcde", "loaded: \(isLoaded)")
        #expect(Self.names(list) == (isLoaded ? "dacx" : "acdx"))
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `changes of an event name all members that were there before, or none`(store: StoreKind) throws {
    let stack: Stack = try Self.music(store)
    try stack.elsewhere { context in
      let song: NSManagedObject = try Self.find("b", "Song", context)
      let list: NSManagedObject = try Self.find("list", "Playlist", context)
      #expect(song.hasFault(forRelationshipNamed: "playlists"))
      let new: NSManagedObject = context.make("Playlist", ["name": "new"])
      context.processPendingChanges()
      song.mutableSetValue(forKey: "playlists").add(new)
      #expect(song.changedValuesForCurrentEvent()["playlists"] == nil)
      #expect(song.hasFault(forRelationshipNamed: "playlists"))
      #expect(Set(Self.members(song, "playlists")) == [list, new])
      #expect(song.changedValuesForCurrentEvent()["playlists"] as? Set<NSManagedObject> == [list])
    }
  }

  @Test func `moves are recorded as moves`() throws {
    let stack = try Stack(.inMemory)
    try stack.run { context in
      context.undoManager = UndoManager()
      let list: NSManagedObject = context.make("Album", ["name": "list"])
      let songs: [NSManagedObject] = (0..<1000).map { context.make("Song", ["name": "\($0)"]) }
      list.setValue(NSOrderedSet(array: songs), forKey: "songs")
      try context.save()
      context.processPendingChanges()
      var wanted: [NSManagedObject] = songs
      wanted.insert(wanted.remove(at: 10), at: 900)
      wanted.swapAt(0, 999)
      list.setValue(NSOrderedSet(array: wanted), forKey: "songs")
      #expect(list.state?.event.count == 3)
      #expect(Self.members(list, "songs") == wanted)
      list.mutableOrderedSetValue(forKey: "songs").moveObjects(at: [500], to: 3)
      #expect(list.state?.event.count == 4)
      wanted.insert(wanted.remove(at: 500), at: 3)
      #expect(Self.members(list, "songs") == wanted)
      context.undo()
      #expect(Self.members(list, "songs") == songs && !context.hasChanges)
      context.redo()
      #expect(Self.members(list, "songs") == wanted)
    }
  }

  @Test(arguments: [false, true])
  func `members that come one by one do not have the others copied`(isUndoable: Bool) throws {
    let stack = try Stack(.inMemory)
    try stack.run { context in
      if isUndoable { context.undoManager = UndoManager() }
      let list: NSManagedObject = context.make("Album", ["name": "list"])
      let slot: Int = list.requireSlot("songs")
      func songs() -> [NSManagedObject] { (0..<10_000).map { _ in context.make("Song") } }
      list.setValue(NSOrderedSet(array: songs()), forKey: "songs")
      try context.save()
      let set: NSMutableSet = list.mutableSetValue(forKey: "songs")
      var copies: Int = 0
      var place: UInt = 0
      /// The list's first word says where its storage is.
      func look() {
        let now: UInt = withUnsafeBytes(of: list.toManyState(slot).members) { $0.load(as: UInt.self) }
        if now != place { copies += 1 }
        place = now
      }
      let new: [NSManagedObject] = songs()
      for song in new {
        set.add(song)
        look()
      }
      for song in new.reversed().prefix(3000) {
        set.remove(song)
        look()
      }
      for song in new.prefix(3000) {
        set.remove(song)
        look()
      }
      #expect(set.count == 14_000)
      #expect(copies < 50)
      #expect(list.state?.event.count == 16_000)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a child context changes a large to-many without loading it`(store: StoreKind) throws {
    let stack: Stack = try Self.music(store)
    try stack.elsewhere { context in
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = context
      try child.performAndWait {
        let list: NSManagedObject = try Self.find("list", "Playlist", child)
        let songs: NSMutableSet = list.mutableSetValue(forKey: "songs")
        songs.remove(try Self.find("b", "Song", child))
        songs.add(child.make("Song", ["name": "x"]))
        songs.add(try Self.find("c", "Song", child))
        #expect(list.hasFault(forRelationshipNamed: "songs"))
        try child.save()
        #expect(list.hasFault(forRelationshipNamed: "songs"))
      }
      let list: NSManagedObject = try Self.find("list", "Playlist", context)
      #expect(list.hasFault(forRelationshipNamed: "songs") && list.isUpdated)
      try context.save()
      #expect(list.hasFault(forRelationshipNamed: "songs"))
      let names: String = try child.performAndWait { Self.names(try Self.find("list", "Playlist", child)) }
      #expect(names == "acdex")
    }
    let stored: String = try stack.elsewhere { Self.names(try Self.find("list", "Playlist", $0)) }
    #expect(stored == "acdex")
  }
}
