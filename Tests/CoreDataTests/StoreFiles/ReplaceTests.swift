import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// `replacePersistentStore` (Decisions/0048): backups, and putting them back.
@Suite
struct ReplaceTests {
  private static func anybody() -> NSPersistentStoreCoordinator {
    NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
  }

  private static func options(_ mode: String) -> [AnyHashable: Any] {
    [NSSQLitePragmasOption: ["journal_mode": mode]]
  }

  private static func add(_ titles: [String], _ context: NSManagedObjectContext) throws {
    try context.performAndWait {
      for title in titles {
        _ = context.make("Photo", ["title": title, "data": Data(title.utf8) + Data(count: PhotoStore.size)])
      }
      try context.save()
    }
  }

  /// The titles of the photos, having checked that each has its own data.
  private static func titles(_ photos: PhotoStore) throws -> [String] {
    let context: NSManagedObjectContext = try photos.open()
    defer { try? photos.close(context) }
    return try context.performAndWait {
      try context.all(NSManagedObject.self, "Photo", sort: ["title"]).map { photo in
        let title: String = try #require(photo.value(forKey: "title") as? String)
        #expect(photo.value(forKey: "data") as? Data == Data(title.utf8) + Data(count: PhotoStore.size))
        return title
      }
    }
  }

  private static func bytes(_ folder: URL) throws -> [String: Data] {
    var result: [String: Data] = [:]
    let files = FileManager.default.enumerator(atPath: folder.path)
    while let name = files?.nextObject() as? String {
      // The index over the log has marks of readers.
      guard !name.hasSuffix("-shm") else { continue }
      result[name] = (try? Data(contentsOf: folder.appendingPathComponent(name))) ?? Data()
    }
    return result
  }

  @Test(arguments: ["WAL", "DELETE"], [true, false])
  func `a backup has all that was saved; the source stays as it is, open or not`(mode: String, isOpen: Bool)
    throws
  {
    let folder = try TemporaryFolder()
    let photos = PhotoStore(url: folder.file("Photos.sqlite"))
    let context: NSManagedObjectContext = try photos.open(Self.options(mode))
    try Self.add(["a", "b"], context)
    if !isOpen { try photos.close(context) }
    let log: Int? = try? Data(contentsOf: URL(fileURLWithPath: photos.url.path + "-wal")).count
    #expect((log ?? 0 > 0) == (mode == "WAL" && isOpen))
    let before: [String: Data] = try Self.bytes(folder.url)
    let backups = try TemporaryFolder()
    let copy = PhotoStore(url: backups.file("Backup.sqlite"))
    try Self.anybody().replacePersistentStore(
      at: copy.url, withPersistentStoreFrom: photos.url, type: .sqlite)
    #expect(try Self.bytes(folder.url) == before)
    #expect(try Self.titles(copy) == ["a", "b"])
    #expect(copy.names == photos.names)
    #expect(copy.notes.isEmpty)
    let identifiers: [String] = try [photos.url, copy.url].map {
      try #require(
        try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: $0)[NSStoreUUIDKey]
          as? String)
    }
    #expect(identifiers[0] == identifiers[1])
    if isOpen { try Self.add(["c"], context) }
    #expect(try Self.titles(copy) == ["a", "b"])
  }

  @Test(arguments: ["WAL", "DELETE"], ["WAL", "DELETE"])
  func `a backup is put back over what was saved since, while the store is open`(mode: String, other: String)
    throws
  {
    let folder = try TemporaryFolder()
    let photos = PhotoStore(url: folder.file("Photos.sqlite"))
    let backup = PhotoStore(url: folder.file("Backup.sqlite"))
    let context: NSManagedObjectContext = try photos.open(Self.options(mode))
    try Self.add(["a", "b"], context)
    // A destination with a journal of its own.
    try backup.close(try backup.open(Self.options(other)))
    let coordinator: NSPersistentStoreCoordinator = try #require(context.persistentStoreCoordinator)
    try coordinator.replacePersistentStore(
      at: backup.url, destinationOptions: nil, withPersistentStoreFrom: photos.url, sourceOptions: nil,
      ofType: NSSQLiteStoreType)
    #expect(coordinator.persistentStores.count == 1)
    let kept: [String] = photos.names
    try context.performAndWait {
      context.delete(try context.all(NSManagedObject.self, "Photo", sort: ["title"])[0])
      try context.save()
    }
    try Self.add(["c", "d"], context)
    try coordinator.replacePersistentStore(
      at: photos.url, destinationOptions: nil, withPersistentStoreFrom: backup.url, sourceOptions: nil,
      ofType: NSSQLiteStoreType)
    #expect(coordinator.persistentStores.isEmpty)
    #expect(photos.names == kept)
    #expect(photos.notes.isEmpty)
    #expect(try Self.titles(photos) == ["a", "b"])
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: photos.url)
    try Self.add(["e"], context)
    #expect(try Self.titles(photos) == ["a", "b", "e"])
    #expect(try FileContents(photos.url).integrity == "ok")
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `copies that are taken while somebody saves have one state each`(mode: String) async throws {
    let folder = try TemporaryFolder()
    let photos = PhotoStore(url: folder.file("Photos.sqlite"))
    let writer: NSManagedObjectContext = try photos.open(Self.options(mode))
    try Self.add(["0"], writer)
    let copy = PhotoStore(url: folder.file("Copy.sqlite"))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        // One photo at a time, and a new one each time.
        for number in 1..<60 {
          try await writer.perform {
            for photo in try writer.all(NSManagedObject.self, "Photo") { writer.delete(photo) }
            let data: Data = Data("\(number)".utf8) + Data(count: PhotoStore.size)
            _ = writer.make("Photo", ["title": "\(number)", "data": data])
            try writer.save()
          }
        }
      }
      group.addTask {
        for _ in 0..<12 {
          try Self.anybody().replacePersistentStore(
            at: copy.url, withPersistentStoreFrom: photos.url, type: .sqlite)
          #expect(try Self.titles(copy).count == 1)
          #expect(copy.names == (try copy.referredNames()))
        }
      }
      try await group.waitForAll()
    }
    #expect(try Self.titles(photos) == ["59"])
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `who opens the destination meanwhile takes no files away`(mode: String) async throws {
    let folder = try TemporaryFolder()
    let photos = PhotoStore(url: folder.file("Photos.sqlite"))
    let context: NSManagedObjectContext = try photos.open(Self.options(mode))
    try Self.add((0..<6).map { "\($0)" }, context)
    let copy = PhotoStore(url: folder.file("Copy.sqlite"))
    let empty = PhotoStore(url: folder.file("Empty.sqlite"))
    for store in [copy, empty] { try store.close(try store.open(Self.options(mode))) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 0..<20 {
          let source: PhotoStore = number % 2 == 0 ? photos : empty
          try Self.anybody().replacePersistentStore(
            at: copy.url, withPersistentStoreFrom: source.url, type: .sqlite)
        }
        try Self.anybody().replacePersistentStore(
          at: copy.url, withPersistentStoreFrom: photos.url, type: .sqlite)
      }
      group.addTask {
        for _ in 0..<60 { try copy.close(try copy.open()) }
      }
      try await group.waitForAll()
    }
    #expect(try Self.titles(copy).count == 6)
    #expect(copy.names == (try copy.referredNames()))
    #expect(copy.notes.isEmpty)
  }

  private static func title(_ photo: NSManagedObject) -> String? { photo.value(forKey: "title") as? String }

  /// A backup has the UUID, the keys and the versions of what it is put back over.
  @Test(arguments: ["WAL", "DELETE"], [false, true])
  func `who has a store open that a backup of itself replaces gets errors`(mode: String, isReadOnly: Bool)
    throws
  {
    let folder = try TemporaryFolder()
    let photos = PhotoStore(url: folder.file("Photos.sqlite"))
    let backup = PhotoStore(url: folder.file("Backup.sqlite"))
    let mine: NSManagedObjectContext = try photos.open(Self.options(mode))
    try Self.add(["old"], mine)
    try Self.anybody().replacePersistentStore(
      at: backup.url, withPersistentStoreFrom: photos.url, type: .sqlite)
    try mine.performAndWait {
      try mine.all(NSManagedObject.self, "Photo")[0].setValue("new", forKey: "title")
      try mine.save()
    }
    let theirs: NSManagedObjectContext = try photos.open(
      Self.options(mode).merging(isReadOnly ? [NSReadOnlyPersistentStoreOption: true] : [:]) { $1 })
    let held: NSManagedObject = try theirs.performAndWait {
      let held: NSManagedObject = try theirs.all(NSManagedObject.self, "Photo")[0]
      #expect(Self.title(held) == "new")
      return held
    }
    try mine.persistentStoreCoordinator?.replacePersistentStore(
      at: photos.url, withPersistentStoreFrom: backup.url, type: .sqlite)
    func isRefused(_ body: () throws -> Void) -> Bool {
      let error: NSError? = errorThrown(body)
      return error?.code == NSPersistentStoreOperationError
        && error?.localizedDescription.contains("replaced while the store was open") == true
    }
    theirs.performAndWait {
      #expect(isRefused { _ = try theirs.all(NSManagedObject.self, "Photo") })
      #expect(isRefused { _ = try theirs.count(for: NSFetchRequest<NSManagedObject>(entityName: "Photo")) })
      // What can't throw: not the value of another row that has the number now.
      theirs.refresh(held, mergeChanges: false)
      #expect(Self.title(held) == nil)
      if isReadOnly { return }
      _ = theirs.make("Photo", ["title": "lost"])
      #expect(isRefused { try theirs.save() })
    }
    try mine.persistentStoreCoordinator?.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: photos.url, options: Self.options(mode))
    #expect(try Self.titles(photos) == ["old"])
  }

  /// Not every change of a file's schema is an exchange.
  @Test(arguments: ["WAL", "DELETE"])
  func `who has a store open goes on when others add an index, compact the file or fail to replace it`(
    mode: String
  ) throws {
    let folder = try TemporaryFolder()
    let photos = PhotoStore(url: folder.file("Photos.sqlite"))
    let context: NSManagedObjectContext = try photos.open(Self.options(mode))
    try Self.add(["a"], context)
    let queue = try DatabaseQueue(path: photos.url.path)
    try queue.writeWithoutTransaction {
      try $0.execute(sql: "CREATE INDEX OTHERS ON ZPHOTO (ZTITLE); VACUUM")
    }
    try queue.close()
    // Its files of values can't be made.
    let other = PhotoStore(url: folder.file("Other.sqlite"))
    try Self.add(["b"], try other.open())
    try FileManager.default.moveItem(at: photos.folder, to: folder.file("aside"))
    try Data().write(to: photos.folder)
    #expect(
      codeThrown {
        try Self.anybody().replacePersistentStore(
          at: photos.url, withPersistentStoreFrom: other.url, type: .sqlite)
      } == CocoaError.fileWriteFileExists.rawValue)
    try FileManager.default.removeItem(at: photos.folder)
    try FileManager.default.moveItem(at: folder.file("aside"), to: photos.folder)
    #expect(try context.performAndWait { try context.all(NSManagedObject.self, "Photo").count } == 1)
    try Self.add(["c"], context)
    #expect(try Self.titles(photos) == ["a", "c"])
  }

  @Test func `a destination with pages of another size is replaced, and a link is followed`() throws {
    let folder = try TemporaryFolder()
    let photos = PhotoStore(url: folder.file("Photos.sqlite"))
    let context: NSManagedObjectContext = try photos.open()
    try Self.add(["a"], context)
    let copy = PhotoStore(url: folder.file("Copy.sqlite"))
    let old = try DatabaseQueue(path: copy.url.path)
    try old.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA page_size = 1024; PRAGMA journal_mode = WAL")
    }
    try old.close()
    let link: URL = folder.file("link.sqlite")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: photos.url)
    try Self.anybody().replacePersistentStore(at: copy.url, withPersistentStoreFrom: link, type: .sqlite)
    #expect(try Self.titles(copy) == ["a"])
    // The same file.
    try Self.anybody().replacePersistentStore(at: photos.url, withPersistentStoreFrom: link, type: .sqlite)
    #expect(try Self.titles(photos) == ["a"])
  }

  enum Misuse: String, CaseIterable, Sendable {
    case noSource, textSource, textDestination, foreignDestination, sameStem, inMemory, noFolder
  }

  @Test(arguments: Misuse.allCases)
  func `what can't be replaced is refused, and nothing changes`(misuse: Misuse) throws {
    let folder = try TemporaryFolder()
    let photos = PhotoStore(url: folder.file("Photos.sqlite"))
    let context: NSManagedObjectContext = try photos.open(Self.options("DELETE"))
    try Self.add(["a"], context)
    var (from, to, type): (URL, URL, String) = (photos.url, folder.file("Copy.sqlite"), NSSQLiteStoreType)
    switch misuse {
    case .noSource: from = folder.file("none")
    case .textSource:
      from = folder.file("text")
      try Data(count: 5000).write(to: from)
    case .textDestination: try Data(count: 5000).write(to: to)
    case .foreignDestination:
      let queue = try DatabaseQueue(path: to.path)
      try queue.write { try $0.execute(sql: "CREATE TABLE note (text)") }
      try queue.close()
    case .sameStem: to = folder.file("Photos.backup")
    case .inMemory: type = NSInMemoryStoreType
    case .noFolder: to = folder.file("none/Copy.sqlite")
    }
    let before: [String: Data] = try Self.bytes(folder.url)
    let error: NSError? = errorThrown {
      try Self.anybody().replacePersistentStore(
        at: to, destinationOptions: nil, withPersistentStoreFrom: from, sourceOptions: nil, ofType: type)
    }
    #expect(error != nil)
    if misuse != .inMemory {
      #expect(
        error?.localizedDescription.contains(
          misuse == .noSource || misuse == .textSource ? from.path : to.path) == true)
      #expect(
        error?.userInfo[NSFilePathErrorKey] as? String
          == (misuse == .noSource || misuse == .textSource ? from.path : to.path))
    }
    if misuse == .noFolder {
      let text: String = error?.localizedDescription ?? ""
      #expect(text.contains("The folder \(folder.file("none").path) does not exist; create it"), "\(text)")
    }
    #expect(try Self.bytes(folder.url) == before)
  }
}
