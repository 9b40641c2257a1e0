import Foundation

/// Files that are not part of the repository: models and stores that other programs wrote, predicate vectors.
/// They lie in `shared` beside it, or where `CLARUS_FIXTURES` says; tests that need them are skipped with a
/// message where there are none.
public enum SharedFiles {
  /// The repository.
  public static let package: URL = {
    var folder: URL = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    repeat { folder.deleteLastPathComponent() } while folder.path != "/" && !exists(folder, "Package.swift")
    return folder
  }()

  /// The folder of models and stores; nil where there is none.
  public static let fixtures: URL? = {
    let given: String? = ProcessInfo.processInfo.environment["CLARUS_FIXTURES"]
    let folder: URL =
      given.map { URL(fileURLWithPath: $0) }
      ?? package.deletingLastPathComponent().appendingPathComponent("shared/fixtures")
    return exists(folder, "") ? folder : nil
  }()

  /// Why a test was skipped.
  public static let absence = "needs the folder of real models and stores; set CLARUS_FIXTURES to its path"

  /// A folder beside that of the models and stores, or within it; nil where there is none.
  public static func folder(_ name: String) -> URL? {
    let beside: URL = package.deletingLastPathComponent().appendingPathComponent("shared")
    return [fixtures, fixtures?.deletingLastPathComponent(), beside].compactMap { $0 }
      .first { exists($0, name) }?.appendingPathComponent(name)
  }

  private static func exists(_ folder: URL, _ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.appendingPathComponent(name).path)
  }

  /// The SQLite files of the collection, by path below its folder `stores-sqlite`.
  public static let stores: [String] = {
    guard let folder = fixtures?.appendingPathComponent("stores-sqlite"),
      let walk = FileManager.default.enumerator(atPath: folder.path)
    else { return [] }
    return walk.compactMap { $0 as? String }.filter { path in
      guard let file = FileHandle(forReadingAtPath: folder.appendingPathComponent(path).path) else {
        return false
      }
      defer { try? file.close() }
      return (try? file.read(upToCount: 15)) == Data("SQLite format 3".utf8)
    }.sorted()
  }()
}
