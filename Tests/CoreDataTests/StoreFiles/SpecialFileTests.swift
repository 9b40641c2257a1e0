import CoreData
import Foundation
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

/// Finding B16, and part of D: what is no file, or may not be read, is said to be so at once.
@Suite(.timeLimit(.minutes(2)))
struct SpecialFileTests {
  enum Kind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case pipe, socket, folder, device, linkedPipe, brokenPath
    var testDescription: String { rawValue }

    func make(in folder: TemporaryFolder) throws -> URL {
      let url: URL = folder.file("store.sqlite")
      switch self {
      case .pipe: #expect(mkfifo(url.path, 0o600) == 0)
      case .socket: try SpecialFileTests.makeSocket(url.path)
      case .folder: try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
      case .device: return URL(fileURLWithPath: "/dev/zero")
      case .linkedPipe:
        #expect(mkfifo(folder.file("pipe").path, 0o600) == 0)
        try FileManager.default.createSymbolicLink(at: url, withDestinationURL: folder.file("pipe"))
      case .brokenPath:
        try Data("a".utf8).write(to: url)
        return url.appendingPathComponent("store.sqlite")
      }
      return url
    }

    var says: String {
      switch self {
      case .pipe, .linkedPipe: "pipe"
      case .socket: "socket"
      case .folder: "folder"
      case .device: "device"
      case .brokenPath: "not a folder"
      }
    }
  }

  private static func makeSocket(_ path: String) throws {
    #if canImport(Glibc)
      let file: Int32 = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let file: Int32 = socket(AF_UNIX, SOCK_STREAM, 0)
    #endif
    defer { close(file) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let code: Int32 = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(file, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(code == 0, "\(String(cString: strerror(errno)))")
  }

  @Test(arguments: Kind.allCases)
  func `every way to open one says what it is`(kind: Kind) throws {
    let folder = try TemporaryFolder()
    let url: URL = try kind.make(in: folder)
    let ways: [(String, () throws -> Void)] = [
      ("add", { _ = try Self.add(url) }),
      ("add, read-only", { _ = try Self.add(url, [NSReadOnlyPersistentStoreOption: true]) }),
      (
        "metadata",
        {
          _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: url)
        }
      ), ("model", { _ = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url) }),
    ]
    for (name, way) in ways {
      let error: NSError? = errorThrown(way)
      let text: String = error?.localizedDescription ?? "nothing thrown"
      #expect(error?.domain == NSCocoaErrorDomain, "\(name)")
      #expect(text.contains(kind.says) && text.contains(url.path), "\(name): \(text)")
    }
  }

  fileprivate static func add(_ url: URL, _ options: [AnyHashable: Any]? = nil) throws -> NSPersistentStore {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    return try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
  }

  /// In a process that is not root's, for root may read everything.
  @Test(arguments: ["file", "folder"])
  func `a store that may not be read says so`(what: String) async throws {
    let folder = try TemporaryFolder()
    let home: URL = folder.file("home")
    let files: FileManager = .default
    try files.createDirectory(at: home, withIntermediateDirectories: true)
    let url: URL = home.appendingPathComponent("World.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    try coordinator.remove(
      try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url))
    let (path, isFolder): (String, Bool) = (url.path, what == "folder")
    try files.setAttributes([.posixPermissions: 0], ofItemAtPath: isFolder ? home.path : path)
    defer { try? files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: home.path) }
    await #expect(processExitsWith: .success) { [path = path as String, isFolder = isFolder as Bool] in
      if geteuid() == 0 { #expect(setuid(65534) == 0) }
      for options in [[:], [NSReadOnlyPersistentStoreOption: true]] as [[String: Bool]] {
        let error: NSError? = errorThrown {
          _ = try SpecialFileTests.add(URL(fileURLWithPath: path), options)
        }
        let text: String = error?.localizedDescription ?? "nothing thrown"
        #expect(text.contains("may not") && text.contains(isFolder ? "folder" : "read the file"), "\(text)")
        #expect(text.contains(path) && text.contains("permissions"), "\(text)")
      }
    }
  }

  @Test func `a second name of an open store's file is refused with the reason`() throws {
    let stack = try Stack(setting: .wal)
    try stack.run { context in
      _ = context.item("a")
      try context.save()
    }
    let second: URL = stack.folder.file("Second.sqlite")
    try FileManager.default.linkItem(at: try #require(stack.store.url), to: second)
    let error: NSError? = errorThrown {
      try stack.coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: second)
    }
    #expect(error?.localizedDescription.contains("hard links") == true)
    #expect(error?.localizedDescription.contains(second.path) == true)
    #expect(try stack.titles() == ["a"])
    try FileManager.default.removeItem(at: second)
    try stack.run { context in
      _ = context.item("b")
      try context.save()
    }
    #expect(try stack.titles() == ["a", "b"])
  }
}
