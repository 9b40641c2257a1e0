import Foundation
import TestSupport

/// The folder of real files beside the repository. Absent on most machines; tests that need it say
/// so and skip.
enum FixtureFolder {
  static let url: URL? = SharedFiles.fixtures
  static var isPresent: Bool { url != nil }
  static let absence: String = SharedFiles.absence

  /// The files and packages below `folder` that have one of these extensions, packages as a whole.
  static func find(_ extensions: Set<String>, under folder: String) -> [URL] {
    guard let root = url?.appendingPathComponent(folder),
      let walk = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
    else { return [] }
    return walk.compactMap { $0 as? URL }.filter { extensions.contains($0.pathExtension) }
      .sorted { $0.path < $1.path }
  }

  static func relative(_ url: URL) -> String {
    url.path.replacingOccurrences(of: (self.url?.path ?? "") + "/", with: "")
  }
}

/// The files shipped beside these tests.
enum OwnFixtures {
  static let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fixtures")

  static func file(_ name: String) -> URL {
    url.appendingPathComponent(name)
  }
}
