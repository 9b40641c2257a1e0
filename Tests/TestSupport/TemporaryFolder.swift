import Foundation
import Synchronization

/// A folder of its own for a test, removed when the process ends unless its place is given.
///
/// Not with the instance: stores open further connections to their files as long as they live.
public final class TemporaryFolder: Sendable {
  public let url: URL

  public init(keptAt path: String? = nil) throws {
    url =
      path.map { URL(fileURLWithPath: $0) }
      ?? FileManager.default.temporaryDirectory.appendingPathComponent("clarus-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    guard path == nil else { return }
    _ = Self.removalAtExit
    Self.made.withLock { $0.append(url) }
  }

  private static let made = Mutex<[URL]>([])
  private static let removalAtExit: Void = {
    atexit {
      for url in TemporaryFolder.made.withLock({ $0 }) { try? FileManager.default.removeItem(at: url) }
    }
  }()

  public func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}
