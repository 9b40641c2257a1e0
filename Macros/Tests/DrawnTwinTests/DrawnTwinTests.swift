import CoreDataMacros
import Foundation
import Testing

/// A real model, and the classes that declare it. `Generated.swift`, which `make macro-twins` writes, has
/// them.
struct DrawnTwin {
  var path: String
  /// Those that are declared whole.
  var entities: [String]
  /// How many of them are among the largest.
  var largest: Int
  var classes: [any DeclaredEntity.Type]
}

/// Models declared by macros have the hashes of their drawn twins.
struct DrawnTwinTests {
  private static let fixtures: URL = {
    let given: String? = ProcessInfo.processInfo.environment["CLARUS_FIXTURES"]
    if let given { return URL(fileURLWithPath: given) }
    var folder = URL(fileURLWithPath: #filePath)
    for _ in 0..<5 { folder.deleteLastPathComponent() }
    return folder.appendingPathComponent("shared/fixtures")
  }()

  @Test func `the hashes of declared models are those of the drawn ones`() throws {
    let vectors: [String: Data] = try Self.vectors()
    var counts = (largest: 0, entities: 0, vectors: 0)
    for twin in drawnTwins {
      let drawn: NSManagedObjectModel = try .load(contentsOf: Self.fixtures.appendingPathComponent(twin.path))
        .model
      let declared = try NSManagedObjectModel(declaredBy: twin.classes)
      let theirs: [String: Data] = drawn.entityVersionHashesByName
      for name in twin.entities {
        let hash: Data = try #require(declared.entityVersionHashesByName[name])
        #expect(hash == theirs[name], "\(twin.path): \(name)")
        counts.entities += 1
        guard let vector = vectors["\(twin.path) \(name)"] else { continue }
        // What Apple's tools recorded.
        #expect(hash == vector, "\(twin.path): \(name)")
        counts.vectors += 1
      }
      counts.largest += twin.largest
    }
    print("declared entities with the hashes of their drawn twins: \(counts)")
    #expect(counts.largest == 30)
  }

  /// The hashes in files that Apple's tools wrote, by model and entity.
  private static func vectors() throws -> [String: Data] {
    let text = try String(contentsOf: fixtures.appendingPathComponent("hash-vectors.tsv"), encoding: .utf8)
    var result: [String: Data] = [:]
    for line in text.split(separator: "\n").dropFirst() {
      let fields: [Substring] = line.split(separator: "\t")
      var digits: Substring = fields[2]
      var bytes: [UInt8] = []
      while let byte = UInt8(digits.prefix(2), radix: 16) {
        bytes.append(byte)
        digits = digits.dropFirst(2)
      }
      result["\(fields[0]) \(fields[1])"] = Data(bytes)
    }
    return result
  }
}
