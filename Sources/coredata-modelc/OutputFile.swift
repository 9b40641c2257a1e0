import Foundation

/// Writes generated sources where they have changed and nothing else, so that a build that looks at times of
/// files does no more than needed.
enum OutputFile {
  /// - Parameter replacing: what a file may begin with that is replaced; any, unless given.
  static func write(_ contents: Data, to path: String, replacing heads: [String]? = nil) throws {
    let url = URL(fileURLWithPath: path)
    if let present = try? Data(contentsOf: url) {
      if present == contents { return }
      if let heads, !present.isEmpty, !heads.contains(where: { present.starts(with: Data($0.utf8)) }) {
        ModelCompiler.report(
          "\(path):1: error: The file was not generated, so it is not replaced. Give another output, or remove it first."
        )
        throw ReportedFailure()
      }
    }
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try contents.write(to: url, options: .atomic)
  }
}
