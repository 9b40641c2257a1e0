import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Finding A3: a store whose files were taken away or exchanged while it was open says so, and reports
/// nothing as saved.
@Suite
struct MissingFileTests {
  enum Deed: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case removed, movedAway, replaced, folderMoved, logRemoved, linkTurned
    var testDescription: String { rawValue }
  }

  /// A store in its own folder `home`, opened through a symbolic link if the deed asks for one.
  fileprivate struct Scene {
    let folder: TemporaryFolder
    let file: URL
    let url: URL
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    let store: NSPersistentStore
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)

    init(_ mode: String, isLinked: Bool) throws {
      folder = try TemporaryFolder()
      let home: URL = folder.file("home")
      try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
      file = home.appendingPathComponent("World.sqlite")
      let link: URL = folder.file("link.sqlite")
      if isLinked {
        try Data().write(to: file)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
      }
      url = isLinked ? link : file
      store = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url,
        options: [NSSQLitePragmasOption: ["journal_mode": mode]])
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait {
        _ = context.item("first")
        try context.save()
      }
    }

    func make(_ name: String) throws -> URL {
      let other: URL = folder.file(name)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
      let store: NSPersistentStore = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: other)
      try coordinator.remove(store)
      return other
    }

    /// Runs something while the store's folder has another name.
    func away(_ body: () throws -> Void) throws {
      let (home, away): (URL, URL) = (folder.file("home"), folder.file("away"))
      try FileManager.default.moveItem(at: home, to: away)
      try body()
      try FileManager.default.moveItem(at: away, to: home)
    }

    func act(_ deed: Deed) throws {
      let files: FileManager = .default
      switch deed {
      case .removed:
        for ending in ["", "-wal", "-shm"] { try? files.removeItem(atPath: file.path + ending) }
      case .movedAway: try files.moveItem(at: file, to: folder.file("elsewhere.sqlite"))
      case .replaced:
        let other: URL = try make("other.sqlite")
        #expect(rename(other.path, file.path) == 0)
      case .folderMoved: try files.moveItem(at: folder.file("home"), to: folder.file("new home"))
      case .logRemoved: try files.removeItem(atPath: file.path + "-wal")
      case .linkTurned:
        let other: URL = try make("other.sqlite")
        try files.removeItem(at: url)
        try files.createSymbolicLink(at: url, withDestinationURL: other)
      }
    }
  }

  fileprivate static func expectExplained(_ error: NSError?, _ path: String, _ note: Comment) {
    let text: String = error?.localizedDescription ?? "nothing thrown"
    #expect(error?.domain == NSCocoaErrorDomain, note)
    #expect(text.contains(path), "\(text)")
    #expect(text.contains("removed, moved, migrated or replaced"), "\(text)")
    #expect(text.contains("addPersistentStore"), "\(text)")
  }

  @Test(arguments: ["WAL", "DELETE"], Deed.allCases)
  func `saves and reads say what happened to the file`(mode: String, deed: Deed) throws {
    if deed == .logRemoved, mode != "WAL" { return }
    let scene = try Scene(mode, isLinked: deed == .linkTurned)
    let context: NSManagedObjectContext = scene.context
    let path: String = deed == .logRemoved ? scene.file.path + "-wal" : scene.url.path
    try scene.act(deed)
    let note: Comment = "\(mode) \(deed)"
    context.performAndWait {
      let second: Item = context.item("second")
      for _ in 0..<2 { Self.expectExplained(errorThrown { try context.save() }, path, note) }
      #expect(second.objectID.isTemporaryID && context.hasChanges, note)
      Self.expectExplained(errorThrown { try context.obtainPermanentIDs(for: [second]) }, path, note)
    }
    // Readers of a log that is gone still have what was committed; another process would not.
    if deed != .logRemoved {
      let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      other.persistentStoreCoordinator = scene.coordinator
      other.performAndWait {
        Self.expectExplained(errorThrown { _ = try other.all(Item.self, "Item") }, path, note)
        Self.expectExplained(
          errorThrown { _ = try other.count(for: other.request(Item.self, "Item")) }, path, note)
      }
    }
  }

  @Test(arguments: ["WAL", "DELETE"], [Deed.removed, .replaced, .folderMoved])
  func `what can't throw goes on with the file that is open`(mode: String, deed: Deed) throws {
    for isReadOnly in [false, true] {
      let scene = try Scene(mode, isLinked: false)
      try scene.coordinator.remove(scene.store)
      let context: NSManagedObjectContext = try Scene.opened(scene.url, isReadOnly: isReadOnly)
      try context.performAndWait {
        let request: NSFetchRequest<Item> = context.request(Item.self, "Item")
        request.includesPropertyValues = false
        let item: Item = try #require(try context.fetch(request).first)
        try scene.act(deed)
        #expect(item.isFault)
        #expect(item.title == "first")
        #expect(item.tags.isEmpty)
      }
    }
  }

  @Test func `a context that is pinned to an earlier state hears of it too`() throws {
    let scene = try Scene("WAL", isLinked: false)
    let context: NSManagedObjectContext = scene.context
    try context.performAndWait {
      try context.setQueryGenerationFrom(.current)
      #expect(try context.all(Item.self, "Item").count == 1)
      try scene.act(.replaced)
      Self.expectExplained(errorThrown { _ = try context.all(Item.self, "Item") }, scene.url.path, "pinned")
    }
  }

  @Test func `a read-only store does not go on with another file`() throws {
    let scene = try Scene("DELETE", isLinked: false)
    try scene.coordinator.remove(scene.store)
    let context: NSManagedObjectContext = try Scene.opened(scene.url, isReadOnly: true)
    try context.performAndWait {
      #expect(try context.all(Item.self, "Item").count == 1)
      try scene.act(.replaced)
      Self.expectExplained(
        errorThrown { _ = try context.all(Item.self, "Item") }, scene.url.path, "read-only")
    }
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `a file that is moved away and back is the same file`(mode: String) throws {
    let scene = try Scene(mode, isLinked: false)
    let context: NSManagedObjectContext = scene.context
    try context.performAndWait {
      _ = context.item("second")
      try scene.away { #expect(codeThrown { try context.save() } != 0) }
      try context.save()
      #expect(try context.all(Item.self, "Item").count == 2)
    }
    let again = try Scene.opened(scene.url, isReadOnly: false)
    #expect(try again.storedTitles == ["first", "second"])
  }
}

extension MissingFileTests.Scene {
  fileprivate static func opened(_ url: URL, isReadOnly: Bool) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      options: [NSReadOnlyPersistentStoreOption: isReadOnly])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }
}

extension NSManagedObjectContext {
  /// The titles of the items that a new context above the same coordinator finds.
  var storedTitles: [String?] {
    get throws {
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = persistentStoreCoordinator
      return try context.performAndWait {
        try context.all(Item.self, "Item", sort: ["title"]).map(\.title)
      }
    }
  }
}
