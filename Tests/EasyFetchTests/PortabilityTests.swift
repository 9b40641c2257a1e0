import Foundation
import Testing

/// The module is to compile over Apple's framework as it stands. The package builds it without access to
/// anything internal (`packageAccess: false`); this looks at what the compiler can't see here.
@Suite
struct PortabilityTests {
  private static let sources: [(name: String, text: String)] = {
    let folder: URL = URL(filePath: #filePath).appendingPathComponent("../../../Sources/EasyFetch")
      .standardized
    let files: [URL] =
      (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    return files.filter { $0.pathExtension == "swift" }.sorted { $0.path < $1.path }.compactMap { file in
      (try? String(contentsOf: file, encoding: .utf8)).map { (file.lastPathComponent, $0) }
    }
  }()

  /// The lines that Apple's platforms compile.
  private static func compiledThere(_ text: String) -> [String] {
    var isOurs = false
    return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).filter { line in
      switch line.trimmingCharacters(in: .whitespaces) {
      case "#if canImport(CoreDataPredicates)": isOurs = true
      case "#else", "#endif": isOurs = false
      default: return !isOurs
      }
      return false
    }
  }

  @Test func `its sources import nothing but CoreData`() {
    #expect(Self.sources.count > 5)
    for (name, text) in Self.sources {
      let imports: [Substring] = text.split(separator: "\n").filter {
        $0.contains("import ") && !$0.hasPrefix("//")
      }
      #expect(imports == ["import CoreData"], "\(name)")
    }
  }

  @Test func `what only Clarus has stands behind a fence`() {
    for (name, text) in Self.sources {
      for line in Self.compiledThere(text) {
        #expect(!line.contains("#if"), "\(name): another fence than canImport(CoreDataPredicates)")
        for own in [
          "parsing:", "rawRows", "ManagedKey", "explain(", "problems(", "evaluateThrowing", "readValue(",
        ] {
          #expect(!line.contains(own), "\(name): \(line)")
        }
      }
    }
  }
}
