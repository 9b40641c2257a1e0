import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// Stores whose names differ in their ending only have one folder of large values, and a plain copy's rows
/// name the same files there: no file goes that another store refers to (Decisions/0048).
@Suite
struct SharedFolderTests {
  private struct Scene {
    let folder: TemporaryFolder
    let photos: PhotoStore
    let copy: PhotoStore
    let names: [String]

    /// A store, and a copy of its file beside it.
    init(_ mode: String = "DELETE") throws {
      folder = try TemporaryFolder()
      photos = PhotoStore(url: folder.file("Photos.sqlite"))
      copy = PhotoStore(url: folder.file("Photos.bak"))
      let context: NSManagedObjectContext = try photos.open([NSSQLitePragmasOption: ["journal_mode": mode]])
      try context.performAndWait {
        for title in ["a", "b"] {
          _ = context.make(
            "Photo", ["title": title, "data": Data(title.utf8) + Data(count: PhotoStore.size)])
        }
        try context.save()
      }
      try photos.close(context)
      try FileManager.default.copyItem(at: photos.url, to: copy.url)
      names = photos.names
    }

    /// The titles of a store's photos that have their data.
    func titles(_ store: PhotoStore) throws -> [String] {
      let context: NSManagedObjectContext = try store.open()
      defer { try? store.close(context) }
      return try context.performAndWait {
        try context.all(NSManagedObject.self, "Photo", sort: ["title"]).compactMap { photo in
          let title: String = try #require(photo.value(forKey: "title") as? String)
          let data = photo.value(forKey: "data") as? Data
          return data == Data(title.utf8) + Data(count: PhotoStore.size) ? title : nil
        }
      }
    }
  }

  private static func anybody() -> NSPersistentStoreCoordinator {
    NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
  }

  enum Deed: String, CaseIterable, Sendable { case destroyed, forced, replaced }

  @Test(arguments: Deed.allCases, ["WAL", "DELETE"])
  func `destroying or replacing a copy beside a store leaves the store its files`(deed: Deed, mode: String)
    throws
  {
    let scene = try Scene(mode)
    let open: NSManagedObjectContext? = mode == "WAL" ? try scene.photos.open() : nil
    switch deed {
    case .destroyed: try Self.anybody().destroyPersistentStore(at: scene.copy.url, type: .sqlite)
    case .forced:
      try Data(contentsOf: scene.copy.url).prefix(100).write(to: scene.copy.url)
      try Self.anybody().destroyPersistentStore(
        at: scene.copy.url, type: .sqlite, options: [NSPersistentStoreForceDestroyOption: true])
    case .replaced:
      let other = PhotoStore(url: scene.folder.file("Other.sqlite"))
      try other.close(try other.open())
      try Self.anybody().replacePersistentStore(
        at: scene.copy.url, withPersistentStoreFrom: other.url, type: .sqlite)
    }
    #expect(scene.photos.names == scene.names)
    #expect(scene.photos.notes.isEmpty)
    if let open { try scene.photos.close(open) }
    #expect(try scene.titles(scene.photos) == ["a", "b"])
    if deed != .forced { #expect(try scene.titles(scene.copy) == []) }
    // When both are gone nobody refers to the files any more.
    try Self.anybody().destroyPersistentStore(at: scene.photos.url, type: .sqlite)
    #expect(scene.photos.names.isEmpty)
  }

  @Test func `a file that a copy beside the store refers to stays when the store lets go of it`() throws {
    let scene = try Scene()
    let context: NSManagedObjectContext = try scene.photos.open()
    try context.performAndWait {
      context.delete(try context.all(NSManagedObject.self, "Photo", sort: ["title"])[0])
      try context.save()
    }
    try scene.photos.close(context)
    #expect(try scene.titles(scene.copy) == ["a", "b"])
    #expect(try scene.titles(scene.photos) == ["b"])
    // From then on it is the copy's alone.
    #expect(scene.photos.notes.isEmpty)
    try Self.anybody().destroyPersistentStore(at: scene.copy.url, type: .sqlite)
    #expect(try scene.titles(scene.photos) == ["b"])
    #expect(scene.photos.names.count == 1)
  }

  @Test func `where a store beside can't be read all files stay`() throws {
    let scene = try Scene()
    var bytes: Data = try Data(contentsOf: scene.photos.url)
    // The page of the schema.
    for place in 100..<4096 { bytes[place] = 0xFF }
    try bytes.write(to: scene.photos.url)
    try Self.anybody().destroyPersistentStore(at: scene.copy.url, type: .sqlite)
    #expect(scene.photos.names == scene.names)
    try Self.anybody().destroyPersistentStore(
      at: scene.photos.url, type: .sqlite, options: [NSPersistentStoreForceDestroyOption: true])
    #expect(scene.photos.names.isEmpty)
  }

  /// Other names that are no other stores.
  @Test func `links and other names of a store don't keep its files`() throws {
    let scene = try Scene()
    try FileManager.default.removeItem(at: scene.copy.url)
    try FileManager.default.createSymbolicLink(at: scene.copy.url, withDestinationURL: scene.photos.url)
    try FileManager.default.linkItem(at: scene.photos.url, to: scene.folder.file("Photos.other"))
    try Data("notes".utf8).write(to: scene.folder.file("Photos.txt"))
    try Self.anybody().destroyPersistentStore(at: scene.photos.url, type: .sqlite)
    #expect(scene.photos.names.isEmpty)
  }

  #if os(Linux)
    // A look at the index, which lies beside the store under a name with the same stem, gave up this
    // process's locks on it.
    @Test func `a save that replaces a value keeps the locks on the log of its store`() throws {
      let scene = try Scene("WAL")
      let context: NSManagedObjectContext = try scene.photos.open()
      try context.performAndWait {
        let photo = try #require(
          try context.all(NSManagedObject.self, "Photo", sort: ["title"]).first)
        let index: String = scene.photos.url.path + "-shm"
        let inode = try #require(
          try FileManager.default.attributesOfItem(atPath: index)[.systemFileNumber] as? NSNumber)
        func isLocked() throws -> Bool {
          let locks = try String(contentsOfFile: "/proc/locks", encoding: .utf8)
          return locks.split(separator: "\n").contains {
            $0.contains(" \(ProcessInfo.processInfo.processIdentifier) ") && $0.contains(":\(inode) ")
          }
        }
        try #require(try isLocked())
        photo.setValue(Data(count: PhotoStore.size + 1), forKey: "data")
        try context.save()
        #expect(try isLocked())
      }
      try scene.photos.close(context)
    }
  #endif
}
