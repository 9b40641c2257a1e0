import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A process that migrates a store to the next version and back again is killed at random moments.
@Suite(.serialized)
struct MigrationCrashTests {
  /// The child.
  static func act(_ kind: StoreKind, _ folder: URL) throws {
    let package: URL = folder.appendingPathComponent("Shop.xcdatamodeld")
    let versions = try NSManagedObjectModel.loadVersions(contentsOf: package)
    guard let url = kind.url("store", in: try TemporaryFolder(keptAt: folder.path)) else { return }
    while true {
      for name in ["Shop 1", "Shop 2"] {
        guard let model = versions[name]?.model else { return }
        try Versions.using(model, kind, url, Versions.automatic) { _ in }
      }
    }
  }

  @Test(arguments: [StoreKind.sqlite, .xml, .binary])
  func `a killed migration leaves the old store or the new one, whole`(kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    _ = try SourceModel.write([Versions.first(), Versions.second()], in: folder)
    let url: URL = try Versions.makeStore(kind, in: folder, people: 40)
    let people: [String] = try Versions.using(Versions.first(), kind, url) { try Versions.people($0) }
    var random = SeededRandom(seed: Crash.seed)
    var seen: Set<Int> = []
    for round in 0..<(Soak.isOn ? 200 : 3) {
      let path: String = folder.url.path
      let microseconds: UInt32 = UInt32.random(in: 20_000...500_000, using: &random)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, microseconds = microseconds as UInt32, kind = kind.rawValue as String] in
        Crash.comes(afterMicroseconds: microseconds)
        try MigrationCrashTests.act(
          try #require(StoreKind(rawValue: kind)), URL(fileURLWithPath: path, isDirectory: true))
      }
      let note: Comment = "seed \(Crash.seed), round \(round), \(kind), killed after \(microseconds) µs"
      let isFirst: Bool = errorThrown { try Versions.using(Versions.first(), kind, url) { _ in } } == nil
      seen.insert(isFirst ? 1 : 2)
      let after: [String] = try Versions.using(isFirst ? Versions.first() : Versions.second(), kind, url) {
        try Versions.people($0, name: isFirst ? "name" : "fullName")
      }
      #expect(after == people, note)
      if kind == .sqlite { #expect(try FileContents(url).integrity == "ok", note) }
    }
    // What the killed processes have left is gone after a migration that ends.
    for name in ["Shop 1", "Shop 2", "Shop 1"] {
      let versions = try NSManagedObjectModel.loadVersions(contentsOf: folder.file("Shop.xcdatamodeld"))
      try Versions.using(try #require(versions[name]?.model), kind, url, Versions.automatic) { _ in }
    }
    let names: [String] = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    #expect(!names.contains { $0.contains("migrat") }, "\(names)")
    #expect(!seen.isEmpty)
  }
}
