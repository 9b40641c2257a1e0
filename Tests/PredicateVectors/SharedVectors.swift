import Foundation

/// The shared vectors: beside the repository, or where `CLARUS_FIXTURES` points (its folder `predicates`, or the one
/// next to it).
package enum SharedVectors {
  package static let url: URL? = {
    var candidates: [URL] = []
    if let path = ProcessInfo.processInfo.environment["CLARUS_FIXTURES"] {
      let folder: URL = URL(fileURLWithPath: path)
      candidates += [folder, folder.deletingLastPathComponent()]
    }
    var folder: URL = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
    while folder.path != "/",
      !FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path)
    {
      folder.deleteLastPathComponent()
    }
    candidates.append(folder.deletingLastPathComponent().appendingPathComponent("shared"))
    return candidates.map { $0.appendingPathComponent("predicates/vectors.json") }.first {
      FileManager.default.fileExists(atPath: $0.path)
    }
  }()

  package static var isPresent: Bool { url != nil }
}
