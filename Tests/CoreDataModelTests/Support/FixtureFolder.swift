import Foundation

/// The folder of real files beside the repository. Absent on most machines; tests that need it say so and skip.
enum FixtureFolder {
  static let url: URL? = {
    if let path = ProcessInfo.processInfo.environment["CLARUS_FIXTURES"] { return existing(path) }
    let package = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return existing(package.deletingLastPathComponent().appendingPathComponent("shared/fixtures").path)
  }()

  static var isPresent: Bool { url != nil }
  static let absence = "needs the folder of real model files; set CLARUS_FIXTURES to its path"

  private static func existing(_ path: String) -> URL? {
    FileManager.default.fileExists(atPath: path) ? URL(fileURLWithPath: path) : nil
  }

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
