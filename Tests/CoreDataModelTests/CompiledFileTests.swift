import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreDataModel

struct CompiledFileTests {
  /// Two builds that compile one model into one place; the second ended with an error.
  @Test func `a folder that several write at once is one of theirs at last`() throws {
    let folder = try TemporaryFolder()
    let place: URL = folder.file("Shop.momd")
    let contents: [[String: Data]] = (0..<3).map { number in
      ["Shop.mom": Data("\(number)".utf8), CompiledFile.versionInfo: Data(count: number)]
    }
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: contents.count) { number in
      for _ in 0..<50 {
        do {
          _ = try CompiledFile.write(folder: contents[number], to: place)
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
    }
    #expect(failures.withLock { $0 } == [])
    let names: [String] = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(names == ["Shop.momd"])
    let found: [String: Data] = Dictionary(
      uniqueKeysWithValues: try FileManager.default.contentsOfDirectory(atPath: place.path).map {
        ($0, try Data(contentsOf: place.appendingPathComponent($0)))
      })
    #expect(contents.contains(found))
  }
}
