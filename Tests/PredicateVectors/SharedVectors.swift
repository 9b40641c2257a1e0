import Foundation
import TestSupport

/// The shared vectors: beside the repository, or where `CLARUS_FIXTURES` points (its folder `predicates`, or
/// the one next to it).
package enum SharedVectors {
  package static let url: URL? = SharedFiles.folder("predicates")
    .map { $0.appendingPathComponent("vectors.json") }
    .flatMap { FileManager.default.fileExists(atPath: $0.path) ? $0 : nil }

  package static var isPresent: Bool { url != nil }
}
