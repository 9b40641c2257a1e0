import CoreDataStorage
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// New stores that appear when they are complete, and the errors on the way.
@Suite struct StagedStoreTests {
  private struct Own: Error, Equatable { let text: String }

  /// What is thrown when work at the hidden place throws what `make` makes of that place.
  private func thrown(_ name: String, _ make: (URL) -> any Error) throws -> (error: any Error, url: URL) {
    let url: URL = try TemporaryFolder().url.appendingPathComponent(name)
    let staged = try StagedStore(at: url)
    defer {
      staged.discard()
      try? FileManager.default.removeItem(at: url.deletingLastPathComponent())
    }
    do {
      try staged.naming { throw make(staged.temporary) }
      throw Own(text: "nothing was thrown")
    } catch {
      return (error, url)
    }
  }

  @Test(arguments: ["Out.sqlite", "My shop.sqlite", "\u{E4}.xml"])
  func `errors of stores, of Foundation and of the system name the place that is meant`(name: String) throws {
    let makes: [(URL) -> any Error] = [
      { StoreError.file(url: $0, operation: "writing \($0.path)", code: ENOSPC) },
      { StoreError.database(code: 13, message: "no room in \($0.path)", sql: nil, url: $0) },
      { CocoaError(.fileWriteOutOfSpace, userInfo: [NSFilePathErrorKey: $0.path]) },
      { CocoaError(.fileWriteOutOfSpace, userInfo: [NSURLErrorKey: $0]) },
      { POSIXError(.ENOSPC, userInfo: [NSLocalizedDescriptionKey: "can't write \($0.absoluteString)"]) },
      { NSError(domain: "Test", code: 7, userInfo: [NSLocalizedDescriptionKey: "can't write \($0.path)"]) },
      {
        let inner = CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: $0.path])
        return NSError(domain: "Test", code: 7, userInfo: [NSUnderlyingErrorKey: inner])
      },
    ]
    for make in makes {
      let (error, url) = try thrown(name, make)
      let expected: any Error = make(url)
      #expect("\(error)" == "\(expected)")
      #expect(type(of: error) == type(of: expected))
      #expect((error as NSError).domain == (expected as NSError).domain)
      #expect((error as NSError).code == (expected as NSError).code)
    }
  }

  @Test func `a store that is taken away again is gone, and a published one has one name`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Out.xml")
    func links() -> Int {
      (try? FileManager.default.attributesOfItem(atPath: url.path))?[.referenceCount] as? Int ?? 0
    }
    let staged = try StagedStore(at: url)
    try Data("store".utf8).write(to: staged.temporary)
    let names: [String] = try staged.publish()
    #expect(names.isEmpty && links() == 1)
    // As after a kill between the two steps of publishing.
    #expect(link(url.path, staged.temporary.path) == 0)
    staged.withdraw(names)
    #expect(links() == 0)
    #expect(FileManager.default.fileExists(atPath: staged.temporary.path))
    staged.discard()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
  }

  @Test func `errors of other types pass as they are`() throws {
    let (error, _) = try thrown("Out.sqlite") { _ in Own(text: "cancelled") }
    #expect(error as? Own == Own(text: "cancelled"))
  }

  @Test func `the system's code is found in errors that have it inside`() {
    let inner = POSIXError(.EDQUOT)
    #expect(DurableFile.code(of: inner) == EDQUOT)
    #expect(
      DurableFile.code(of: CocoaError(.fileWriteOutOfSpace, userInfo: [NSUnderlyingErrorKey: inner]))
        == EDQUOT)
    #expect(DurableFile.code(of: Own(text: "")) == EIO)
  }
}
