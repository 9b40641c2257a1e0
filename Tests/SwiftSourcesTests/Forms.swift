import Foundation
import TestSupport

@testable import SwiftSources

/// The sources that use all forms of `@NSManaged`.
enum Forms {
  static let folder: URL = SharedFiles.package.appendingPathComponent("Tests/SwiftSourcesTests/Forms")

  static func sources(_ module: String) throws -> [SourceText] {
    try FileManager.default.contentsOfDirectory(
      at: folder.appendingPathComponent(module), includingPropertiesForKeys: nil
    ).sorted { $0.path < $1.path }.map { try SourceText(contentsOf: $0) }
  }

  static func urls(_ module: String) throws -> [URL] {
    try sources(module).map { URL(fileURLWithPath: $0.path) }
  }
}
