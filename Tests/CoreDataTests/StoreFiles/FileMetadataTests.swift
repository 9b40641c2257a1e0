import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Metadata of store files that are not open. Source: Apple's documentation of the
/// coordinator's type methods.
@Suite
struct FileMetadataTests {
  private static func read(_ url: URL) throws -> [String: Any] {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
  }

  /// The spellings without options, which are deprecated: called by a requirement, which is not.
  private protocol OlderSpelling {
    static func read(_ type: String?, _ url: URL) throws -> [String: Any]
    static func set(_ metadata: [String: Any]?, _ type: String?, _ url: URL) throws
  }

  private enum Older: OlderSpelling {
    @available(*, deprecated)
    static func read(_ type: String?, _ url: URL) throws -> [String: Any] {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)
    }

    @available(*, deprecated)
    static func set(_ metadata: [String: Any]?, _ type: String?, _ url: URL) throws {
      try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: type, at: url)
    }
  }

  @Test(arguments: [NSSQLiteStoreType, NSXMLStoreType], [true, false])
  func `without a type the file tells it`(type: String, isNamed: Bool) throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("a.store")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    let store: NSPersistentStore = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: url)
    try coordinator.remove(store)
    let older: any OlderSpelling.Type = Older.self
    let given: String? = isNamed ? type : nil
    try older.set(["Author": "me"], given, url)
    let metadata: [String: Any] = try older.read(given, url)
    #expect(metadata["Author"] as? String == "me" && metadata[NSStoreTypeKey] as? String == type)
    let text: URL = folder.file("text")
    try Data("Hello".utf8).write(to: text)
    let error: NSError? = errorThrown { try older.set([:], given, text) } as NSError?
    #expect(error?.domain == NSCocoaErrorDomain && error?.localizedDescription.contains(text.path) == true)
  }

  @Test(arguments: StoreSetting.files, [true, false])
  func `the program's part is set and the file's stays`(setting: StoreSetting, isModern: Bool) throws {
    let stack = try Stack(setting: setting)
    try stack.run { context in
      _ = context.item("a")
      try context.save()
    }
    let url: URL = try #require(stack.store.url)
    try stack.coordinator.remove(stack.store)
    let before: [String: Any] = try Self.read(url)
    let given: [String: Any] = ["Author": "me", NSStoreModelVersionHashesKey: ["Item": Data([1])]]
    if isModern {
      try NSPersistentStoreCoordinator.setMetadata(given, type: .sqlite, at: url, options: nil)
    } else {
      try NSPersistentStoreCoordinator.setMetadata(
        given, forPersistentStoreOfType: NSSQLiteStoreType, at: url)
    }
    var wanted: [String: Any] = before
    wanted["Author"] = "me"
    let now: [String: Any] = try Self.read(url)
    #expect(NSDictionary(dictionary: now).isEqual(NSDictionary(dictionary: wanted)))
    let store: NSPersistentStore = try setting.addStore(to: stack.coordinator, in: stack.folder)
    #expect(store.identifier == stack.store.identifier && store.metadata["Author"] as? String == "me")
    #expect(try stack.titles() == ["a"])
    try stack.coordinator.remove(store)
    let other = UUID().uuidString
    try NSPersistentStoreCoordinator.setMetadata([NSStoreUUIDKey: other], type: .sqlite, at: url)
    #expect(try Self.read(url)[NSStoreUUIDKey] as? String == other)
    try NSPersistentStoreCoordinator.setMetadata(nil, type: .sqlite, at: url)
    #expect(try Self.read(url)["Author"] == nil)
    #expect(try FileContents(url).integrity == "ok")
  }

  @Test func `what can't be set is refused, and the file stays as it is`() throws {
    let stack = try Stack(setting: .rollbackJournal)
    let url: URL = try #require(stack.store.url)
    try stack.coordinator.remove(stack.store)
    let text: URL = stack.folder.file("text")
    try Data(count: 5000).write(to: text)
    let (before, words): (Data, Data) = (try Data(contentsOf: url), try Data(contentsOf: text))
    let readOnly: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: true]
    let cases: [([String: Any], String, URL, [AnyHashable: Any]?, Int)] = [
      (["A": NSObject()], NSSQLiteStoreType, url, nil, NSCoreDataError),
      ([NSStoreUUIDKey: "mine"], NSSQLiteStoreType, url, nil, NSCoreDataError),
      (["A": "b"], NSSQLiteStoreType, url, readOnly, 513),
      (["A": "b"], NSInMemoryStoreType, url, nil, NSCoreDataError),
      (["A": "b"], "Other", url, nil, NSCoreDataError),
      (["A": "b"], NSSQLiteStoreType, text, nil, NSPersistentStoreInvalidTypeError),
      (["A": "b"], NSSQLiteStoreType, stack.folder.file("none"), nil, NSPersistentStoreInvalidTypeError),
      (
        ["A": "b"], NSSQLiteStoreType, URL(fileURLWithPath: "/dev/null"), nil,
        NSPersistentStoreInvalidTypeError
      ),
    ]
    for (metadata, type, url, options, code) in cases {
      #expect(
        codeThrown {
          try NSPersistentStoreCoordinator.setMetadata(
            metadata, forPersistentStoreOfType: type, at: url, options: options)
        } == code, "\(metadata) \(type) \(url)")
    }
    #expect(try Data(contentsOf: url) == before)
    #expect(try Data(contentsOf: text) == words)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: stack.folder.url.path).sorted()
        == ["World.sqlite", "text"])
  }

  /// Taken, with words on standard error.
  @Test(arguments: StoreSetting.every)
  func `a store that is to tell of remote changes is opened`(setting: StoreSetting) async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      [setting = setting as StoreSetting] in
      let folder = try TemporaryFolder()
      let url: URL =
        (setting == .nowhere ? nil : setting.kind.url("World", in: folder))
        ?? URL(fileURLWithPath: "/dev/null")
      for _ in 0..<2 {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
        try coordinator.addPersistentStore(
          ofType: setting.kind.type, configurationName: nil, at: url,
          options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      text.components(separatedBy: "NSPersistentStoreRemoteChange is not posted yet").count == 2, "\(text)")
  }
}
