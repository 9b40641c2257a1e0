import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// `destroyPersistentStore` (Decisions/0048). Source: Apple's documentation, and programs that destroy stores
/// which are open and add them again, or remove the files afterwards.
@Suite
struct DestroyTests {
  /// A coordinator whose model has nothing to do with the store: it is the file that counts.
  private static func anybody() -> NSPersistentStoreCoordinator {
    NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
  }

  private static func filled(_ setting: StoreSetting) throws -> Stack {
    let stack = try Stack(setting: setting)
    try stack.run { context in
      _ = context.item("a")
      try context.save()
    }
    return stack
  }

  @Test(arguments: StoreSetting.every)
  func `a store that is destroyed while it is open leaves its coordinator, and can be added anew`(
    setting: StoreSetting
  ) throws {
    let stack: Stack = try Self.filled(setting)
    let url: URL = stack.store.url ?? URL(fileURLWithPath: "/dev/null")
    let item: Item = try stack.run { try $0.all(Item.self, "Item")[0] }
    // One in memory without a URL is named by the one that the coordinator tells.
    try stack.coordinator.destroyPersistentStore(
      at: stack.coordinator.url(for: stack.store), ofType: setting.kind.type)
    #expect(stack.coordinator.persistentStores.isEmpty)
    #expect(
      item.managedObjectContext == nil || stack.context.performAndWait { item.managedObjectContext == nil })
    let made: NSPersistentStore = try setting.addStore(to: stack.coordinator, in: stack.folder)
    #expect(made.identifier != stack.store.identifier)
    #expect(try stack.titles() == [])
    try stack.run { context in
      _ = context.item("b")
      try context.save()
    }
    #expect(try stack.titles() == ["b"])
    if setting.kind == .sqlite, setting != .nowhere { #expect(try FileContents(url).integrity == "ok") }
  }

  @Test(arguments: [StoreKind.sqlite, .inMemory])
  func `of stores in memory that share a URL none is destroyed by it`(kind: StoreKind) throws {
    let nowhere = URL(fileURLWithPath: "/dev/null")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    let named = URL(fileURLWithPath: "/dev/null/named")
    let stores: [NSPersistentStore] = try [nowhere, nowhere, named].map {
      try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: $0)
    }
    let error: NSError? = errorThrown {
      try coordinator.destroyPersistentStore(at: nowhere, ofType: kind.type)
    }
    #expect(error?.code == NSCoreDataError)
    #expect(error?.localizedDescription.contains("2 stores in memory") == true)
    #expect(coordinator.persistentStores == stores)
    try coordinator.destroyPersistentStore(at: named, ofType: kind.type)
    #expect(coordinator.persistentStores == Array(stores.prefix(2)))
    try coordinator.remove(stores[0])
    try coordinator.destroyPersistentStore(at: nowhere, ofType: kind.type)
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test func `a store in memory is destroyed by another name of its place`() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(at: folder.file("real"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      at: folder.file("link"), withDestinationURL: folder.file("real"))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    _ = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: folder.file("link/a"))
    try coordinator.destroyPersistentStore(at: folder.file("real/a"), ofType: NSInMemoryStoreType)
    #expect(coordinator.persistentStores.isEmpty)
  }

  enum OtherName: String, CaseIterable, Sendable {
    case link, hardLink

    func make(_ url: URL, for file: URL) throws {
      switch self {
      case .link: try FileManager.default.createSymbolicLink(at: url, withDestinationURL: file)
      case .hardLink: try FileManager.default.linkItem(at: file, to: url)
      }
    }
  }

  @Test(arguments: StoreSetting.files, OtherName.allCases)
  func `an open store is destroyed by any name of its file, and by none replaced with itself`(
    setting: StoreSetting, name: OtherName
  ) throws {
    let stack: Stack = try Self.filled(setting)
    let url: URL = try #require(stack.store.url)
    let other: URL = stack.folder.file("other")
    try name.make(other, for: url)
    for (to, from) in [(url, other), (other, url), (other, other)] {
      try stack.coordinator.replacePersistentStore(at: to, withPersistentStoreFrom: from, type: .sqlite)
      #expect(stack.coordinator.persistentStores == [stack.store])
    }
    try stack.run { context in
      _ = context.item("b")
      try context.save()
    }
    #expect(try stack.titles() == ["a", "b"])
    // With what is in the log only.
    let copy: URL = stack.folder.file("copy.sqlite")
    try stack.coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: other, type: .sqlite)
    #expect(try FileContents(copy).tables["ZITEM"]?.count == 2)
    try stack.coordinator.destroyPersistentStore(at: other, type: .sqlite)
    #expect(stack.coordinator.persistentStores.isEmpty)
    _ = try setting.addStore(to: stack.coordinator, in: stack.folder)
    #expect(try stack.titles() == [])
    #expect(try FileContents(url).integrity == "ok")
  }

  @Test(arguments: StoreSetting.files)
  func `a store of any model is destroyed by any coordinator; an empty file stays`(setting: StoreSetting)
    throws
  {
    let stack: Stack = try Self.filled(setting)
    let url: URL = try #require(stack.store.url)
    try stack.coordinator.remove(stack.store)
    let before: Int = try Data(contentsOf: url).count
    try Self.anybody().destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
    #expect(try FileManager.default.contentsOfDirectory(atPath: stack.folder.url.path) == ["World.sqlite"])
    #expect(try Data(contentsOf: url).count < before)
    #expect(try Data(contentsOf: url).range(of: Data("ZITEM".utf8)) == nil)
    #expect(
      codeThrown { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url) }
        != 0)
    // Again, and of a file that the program has removed.
    try Self.anybody().destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
    try FileManager.default.removeItem(at: url)
    try Self.anybody().destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
    // CoreDataPlus' tests destroy a store twice and remove its file each time: an empty one is there also
    // where none was.
    #expect(try FileManager.default.contentsOfDirectory(atPath: stack.folder.url.path) == ["World.sqlite"])
    #expect(try Data(contentsOf: url).isEmpty)
    let nowhere: URL = stack.folder.url.appendingPathComponent("no/folder/World.sqlite")
    try Self.anybody().destroyPersistentStore(at: nowhere, ofType: NSSQLiteStoreType)
    #expect(!FileManager.default.fileExists(atPath: stack.folder.url.appendingPathComponent("no").path))
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `files of large values are destroyed with their store`(mode: String) throws {
    let folder = try TemporaryFolder()
    let photos = PhotoStore(url: folder.file("Photos.sqlite"))
    let context: NSManagedObjectContext = try photos.open([NSSQLitePragmasOption: ["journal_mode": mode]])
    try context.performAndWait {
      for place in 0..<3 {
        _ = context.make("Photo", ["data": Data(repeating: UInt8(place), count: PhotoStore.size)])
      }
      try context.save()
    }
    #expect(photos.names.count == 3)
    try context.persistentStoreCoordinator?.destroyPersistentStore(at: photos.url, type: .sqlite)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["Photos.sqlite"])
  }

  enum Stranger: String, CaseIterable, Sendable { case text, database, folder, xml }

  @Test(arguments: Stranger.allCases)
  func `what is no store is refused, and stays`(stranger: Stranger) throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("notes")
    switch stranger {
    case .text: try Data(String(repeating: "notes ", count: 1000).utf8).write(to: url)
    case .xml: try Data("<?xml version=\"1.0\"?><!DOCTYPE database><database/>".utf8).write(to: url)
    case .folder: try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    case .database:
      let queue = try DatabaseQueue(path: url.path)
      try queue.write { try $0.execute(sql: "CREATE TABLE note (text); INSERT INTO note VALUES ('kept')") }
      try queue.close()
    }
    let before: Data? = try? Data(contentsOf: url)
    for options in [nil, [NSPersistentStoreForceDestroyOption: true]] {
      let code: Int = codeThrown {
        try Self.anybody().destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: options)
      }
      #expect(code == NSPersistentStoreInvalidTypeError)
    }
    #expect((try? Data(contentsOf: url)) == before)
    #expect(FileManager.default.fileExists(atPath: url.path))
    #expect(
      codeThrown { try Self.anybody().destroyPersistentStore(at: url, ofType: "Other") } == NSCoreDataError)
  }

  @Test(arguments: StoreSetting.files)
  func `others that have the store open get errors, also when there is a new one`(setting: StoreSetting)
    throws
  {
    let stack: Stack = try Self.filled(setting)
    let stranger: NSManagedObjectContext = try stack.stranger()
    let item: Item = try stranger.performAndWait { try stranger.all(Item.self, "Item")[0] }
    let url: URL = try #require(stack.store.url)
    try stack.coordinator.destroyPersistentStore(at: url, type: .sqlite)
    func check() throws {
      stranger.performAndWait {
        item.title = "lost"
        let error: NSError? = errorThrown { try stranger.save() }
        #expect(error?.code == NSPersistentStoreOperationError)
        #expect(error?.localizedDescription.contains("replaced while the store was open") == true)
      }
    }
    try check()
    let error: NSError? = errorThrown {
      _ = try stranger.performAndWait { try stranger.all(Item.self, "Item") }
    }
    #expect(error?.code == NSPersistentStoreOperationError)
    _ = try setting.addStore(to: stack.coordinator, in: stack.folder)
    try stack.run { context in
      _ = context.item("b")
      try context.save()
    }
    // The new store has a row of the same key and version.
    try check()
    #expect(try stack.titles() == ["b"])
  }

  @Test func `a state that somebody goes on reading stays readable`() throws {
    let stack: Stack = try Self.filled(.wal)
    let reader: NSManagedObjectContext = try stack.stranger()
    try reader.performAndWait {
      try reader.setQueryGenerationFrom(.current)
      #expect(try reader.all(Item.self, "Item").count == 1)
    }
    try stack.coordinator.destroyPersistentStore(at: try #require(stack.store.url), type: .sqlite)
    _ = try StoreSetting.wal.addStore(to: stack.coordinator, in: stack.folder)
    #expect(try stack.titles() == [])
    try reader.performAndWait {
      reader.reset()
      try reader.setQueryGenerationFrom(reader.queryGenerationToken)
    }
  }

  @Test(arguments: StoreSetting.files)
  func `who writes keeps the store, unless it is taken by force`(setting: StoreSetting) throws {
    let stack: Stack = try Self.filled(setting)
    let url: URL = try #require(stack.store.url)
    try stack.coordinator.remove(stack.store)
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let writer = try DatabaseQueue(path: url.path, configuration: configuration)
    try writer.writeWithoutTransaction {
      try $0.execute(sql: "BEGIN IMMEDIATE; UPDATE ZITEM SET ZTITLE = 'c'")
    }
    let options: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: 0.1]
    let code: Int = codeThrown {
      try Self.anybody().destroyPersistentStore(at: url, type: .sqlite, options: options)
    }
    #expect(code == NSPersistentStoreTimeoutError)
    try writer.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
    let again: NSPersistentStore = try setting.addStore(to: stack.coordinator, in: stack.folder)
    #expect(try stack.titles() == ["c"])
    try stack.coordinator.remove(again)
    try writer.writeWithoutTransaction {
      try $0.execute(sql: "BEGIN IMMEDIATE; UPDATE ZITEM SET ZTITLE = 'd'")
    }
    let force: [AnyHashable: Any] = options.merging([NSPersistentStoreForceDestroyOption: true]) { $1 }
    try Self.anybody().destroyPersistentStore(at: url, type: .sqlite, options: force)
    _ = try setting.addStore(to: stack.coordinator, in: stack.folder)
    #expect(try stack.titles() == [])
    try? writer.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
  }

  @Test func `a damaged store is destroyed by force only`() throws {
    let stack: Stack = try Self.filled(.rollbackJournal)
    let url: URL = try #require(stack.store.url)
    try stack.coordinator.remove(stack.store)
    var bytes: Data = try Data(contentsOf: url)
    // The schema's page tells of more cells than it has room for.
    for place in 100..<4096 { bytes[place] = 0xFF }
    try bytes.write(to: url)
    let error: NSError? = errorThrown { try Self.anybody().destroyPersistentStore(at: url, type: .sqlite) }
    #expect(error?.code == NSPersistentStoreInvalidTypeError)
    #expect(error?.localizedDescription.contains("NSPersistentStoreForceDestroyOption") == true)
    #expect(try Data(contentsOf: url) == bytes)
    try Self.anybody().destroyPersistentStore(
      at: url, type: .sqlite, options: [NSPersistentStoreForceDestroyOption: true])
    _ = try StoreSetting.rollbackJournal.addStore(to: stack.coordinator, in: stack.folder)
    #expect(try stack.titles() == [])
  }

  @Test func `a damaged store that is destroyed takes its files of large values along`() throws {
    let folder = try TemporaryFolder()
    let photos = PhotoStore(url: folder.file("Photos.sqlite"))
    let context: NSManagedObjectContext = try photos.open([NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
    try context.performAndWait {
      _ = context.make("Photo", ["data": Data(count: PhotoStore.size)])
      try context.save()
    }
    try photos.close(context)
    var bytes: Data = try Data(contentsOf: photos.url)
    for place in 100..<4096 { bytes[place] = 0xFF }
    try bytes.write(to: photos.url)
    let stranger: URL = photos.folder.appendingPathComponent("notes.txt")
    try Data([1]).write(to: stranger)
    let force: [AnyHashable: Any] = [NSPersistentStoreForceDestroyOption: true]
    try Self.anybody().destroyPersistentStore(at: photos.url, type: .sqlite, options: force)
    // What is none stays.
    #expect(photos.names == ["notes.txt"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [".Photos_SUPPORT"])
  }
}
