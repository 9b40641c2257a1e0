import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A store with one entity whose `data` is kept in files.
struct PhotoStore {
  static let model: NSManagedObjectModel = {
    let data = World.attribute("data", .binaryDataAttributeType)
    data.allowsExternalBinaryDataStorage = true
    let thing = World.attribute("thing", .binaryDataAttributeType)
    thing.allowsExternalBinaryDataStorage = true
    let photo: NSEntityDescription = World.entity(
      "Photo", [World.attribute("title", .stringAttributeType), data, thing])
    let album: NSEntityDescription = World.entity("Album", [World.attribute("title", .stringAttributeType)])
    album.managedObjectClassName = "NSManagedObject"
    World.pair(
      album, "photos", .many, .cascadeDeleteRule, photo, "album", .one, .nullifyDeleteRule)
    let model = NSManagedObjectModel()
    model.entities = [photo, album]
    return model
  }()

  static let size: Int = 200_000

  let url: URL
  var support: URL {
    url.deletingLastPathComponent()
      .appendingPathComponent(".\(url.deletingPathExtension().lastPathComponent)_SUPPORT")
  }
  var folder: URL { support.appendingPathComponent("_EXTERNAL_DATA") }
  /// The names of the files of values.
  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
  }

  /// What lies in the hidden folder besides the folder of values.
  var notes: [String] {
    let names: [String] = (try? FileManager.default.contentsOfDirectory(atPath: support.path)) ?? []
    return names.filter { $0 != "_EXTERNAL_DATA" }
  }

  func open(_ options: [AnyHashable: Any]? = nil) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  func close(_ context: NSManagedObjectContext) throws {
    let coordinator: NSPersistentStoreCoordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// The names that rows refer to.
  func referredNames() throws -> [String] {
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    let values: [Data] = try queue.read {
      try Data.fetchAll(
        $0,
        sql:
          "SELECT ZDATA FROM ZPHOTO WHERE ZDATA > x'02' UNION ALL SELECT ZTHING FROM ZPHOTO WHERE ZTHING > x'02'"
      )
    }
    return values.map { String(decoding: $0.dropFirst().prefix(36), as: UTF8.self) }.sorted()
  }
}

/// Finding A9: what has happened to the file of a value.
@Suite
struct ExternalDataTests {
  enum Harm: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case missing, folderMissing, directory, unreadable, empty, link, pipe
    var testDescription: String { rawValue }
  }

  let folder: TemporaryFolder
  let photos: PhotoStore

  init() throws {
    folder = try TemporaryFolder()
    photos = PhotoStore(url: folder.file("Photos.sqlite"))
    let context: NSManagedObjectContext = try photos.open()
    try context.performAndWait {
      let album: NSManagedObject = context.make("Album", ["title": "trip"])
      let photo: NSManagedObject = context.make(
        "Photo", ["title": "sea", "data": Data(repeating: 1, count: PhotoStore.size)])
      photo.setValue(album, forKey: "album")
      try context.save()
    }
    try photos.close(context)
    #expect(photos.names.count == 1)
  }

  private func inflict(_ harm: Harm) throws {
    let files: FileManager = .default
    let file: URL = photos.folder.appendingPathComponent(try #require(photos.names.first))
    if harm == .unreadable {
      try files.setAttributes([.posixPermissions: 0], ofItemAtPath: file.path)
      return
    }
    try files.removeItem(at: file)
    switch harm {
    case .missing, .unreadable: break
    case .folderMissing: try files.removeItem(at: photos.support)
    case .directory:
      try files.createDirectory(at: file, withIntermediateDirectories: true)
      try Data("kept".utf8).write(to: file.appendingPathComponent("inside"))
    case .empty: try Data().write(to: file)
    case .link:
      let secret: URL = folder.file("secret")
      try Data(repeating: 9, count: PhotoStore.size).write(to: secret)
      try files.createSymbolicLink(at: file, withDestinationURL: secret)
    case .pipe: #expect(mkfifo(file.path, 0o600) == 0)
    }
  }

  private func photo(_ context: NSManagedObjectContext) throws -> NSManagedObject {
    let request: NSFetchRequest<NSManagedObject> = context.request(NSManagedObject.self, "Photo")
    request.includesPropertyValues = false
    return try #require(try context.fetch(request).first)
  }

  /// Root may read everything.
  private func can(_ harm: Harm) -> Bool { harm != .unreadable || geteuid() != 0 }

  @Test(arguments: Harm.allCases)
  func `a fetch names the object and the file, and the object stays usable`(harm: Harm) throws {
    guard can(harm) else { return }
    try inflict(harm)
    let context: NSManagedObjectContext = try photos.open()
    try context.performAndWait {
      let error: NSError? = errorThrown { _ = try context.all(NSManagedObject.self, "Photo") }
      let text: String = error?.localizedDescription ?? "nothing thrown"
      #expect(error?.domain == NSCocoaErrorDomain)
      for part in ["Photo.data", "p1", photos.folder.path, "includesPropertyValues"] {
        #expect(text.contains(part), "\(text)")
      }
      let photo: NSManagedObject = try photo(context)
      #expect(photo.value(forKey: "data") == nil)
      #expect(photo.value(forKey: "title") as? String == "sea")
      // What is not touched stays: the file may come back.
      photo.setValue("lake", forKey: "title")
      try context.save()
      #expect(try photos.referredNames().count == 1)
      // A new value mends it.
      photo.setValue(Data(repeating: 2, count: PhotoStore.size), forKey: "data")
      try context.save()
      context.reset()
      let again: [NSManagedObject] = try context.all(NSManagedObject.self, "Photo")
      #expect(again.map { ($0.value(forKey: "data") as? Data)?.first } == [2])
    }
  }

  @Test(arguments: Harm.allCases, [false, true])
  func `the object can be deleted, by itself and with its owner`(harm: Harm, isCascade: Bool) throws {
    guard can(harm) else { return }
    // Fetched while all was well, and found as a fault.
    let context: NSManagedObjectContext = try photos.open()
    let early: NSManagedObjectContext = try photos.open()
    let known: [NSManagedObject] = try early.performAndWait { try early.all(NSManagedObject.self, "Photo") }
    try inflict(harm)
    try context.performAndWait {
      let doomed: NSManagedObject =
        isCascade ? try #require(try context.all(NSManagedObject.self, "Album").first) : try photo(context)
      context.delete(doomed)
      try context.save()
      #expect(try context.count(for: context.request(NSManagedObject.self, "Photo")) == 0)
    }
    if harm == .directory {
      let inside: String = photos.names.first.map { $0 + "/inside" } ?? ""
      #expect(FileManager.default.fileExists(atPath: photos.folder.appendingPathComponent(inside).path))
    }
    if harm == .link { #expect(FileManager.default.fileExists(atPath: folder.file("secret").path)) }
    // A conflict is met by its version, not by its file.
    early.performAndWait {
      for photo in known { photo.setValue("changed", forKey: "title") }
      #expect(codeThrown { try early.save() } == NSManagedObjectMergeError)
    }
  }

  @Test func `a conflict over a row whose file is gone is settled`() throws {
    let mine: NSManagedObjectContext = try photos.open()
    let theirs: NSManagedObjectContext = try photos.open()
    try mine.performAndWait { try photo(mine).setValue("mine", forKey: "title") }
    try theirs.performAndWait {
      try photo(theirs).setValue("theirs", forKey: "title")
      try theirs.save()
    }
    try inflict(.missing)
    mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try mine.performAndWait { try mine.save() }
    try theirs.performAndWait {
      theirs.reset()
      let photo: NSManagedObject = try photo(theirs)
      #expect(photo.value(forKey: "title") as? String == "mine")
      #expect(try photos.referredNames().count == 1)
    }
  }

  @Test(arguments: [
    "../../../../../../../../../../../etc/pwd", "/etc/passwd\u{0}/////////////////////////",
    "....................................", "{0F3A6C1E-0000-0000-0000-0000000000}",
  ])
  func `a row can't name a file outside the folder`(name: String) throws {
    let value: Data = Data([2]) + Data(name.utf8.prefix(36)) + Data([0])
    let queue = try DatabaseQueue(path: photos.url.path)
    try queue.write { try $0.execute(sql: "UPDATE ZPHOTO SET ZDATA = ?", arguments: [value]) }
    try queue.close()
    let context: NSManagedObjectContext = try photos.open()
    try context.performAndWait {
      let photo: NSManagedObject = try #require(try context.all(NSManagedObject.self, "Photo").first)
      #expect(photo.value(forKey: "data") as? Data == value)
      context.delete(photo)
      try context.save()
    }
    #expect(FileManager.default.fileExists(atPath: "/etc/passwd"))
    #expect(photos.names.count == 1)
  }
}
