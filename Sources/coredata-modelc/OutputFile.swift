import Foundation

/// Writes what has changed and nothing else, so that a build that looks at times of files does no more than
/// needed.
enum OutputFile {
  static func write(_ contents: Data, to path: String) throws {
    let url = URL(fileURLWithPath: path)
    if (try? Data(contentsOf: url)) == contents { return }
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try contents.write(to: url, options: .atomic)
  }

  /// A folder with these files and no others. It is made anew when one of them differs: builds look at the
  /// folder's own time.
  static func write(folder files: [String: Data], to path: String) throws {
    let manager = FileManager.default
    let url = URL(fileURLWithPath: path, isDirectory: true)
    let names: Set<String> = Set((try? manager.contentsOfDirectory(atPath: path)) ?? [])
    let isSame: Bool =
      names == Set(files.keys)
      && files.allSatisfy { (try? Data(contentsOf: url.appendingPathComponent($0.key))) == $0.value }
    if isSame { return }
    if manager.fileExists(atPath: path) { try manager.removeItem(at: url) }
    try manager.createDirectory(at: url, withIntermediateDirectories: true)
    for (name, contents) in files { try contents.write(to: url.appendingPathComponent(name)) }
  }
}
