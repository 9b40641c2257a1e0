import Foundation

/// Writes generated sources where they have changed and nothing else, so that a build that looks at times of
/// files does no more than needed.
enum OutputFile {
  static func write(_ contents: Data, to path: String) throws {
    let url = URL(fileURLWithPath: path)
    if (try? Data(contentsOf: url)) == contents { return }
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try contents.write(to: url, options: .atomic)
  }
}
