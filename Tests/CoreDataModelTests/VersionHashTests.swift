import Foundation
import Testing

@testable import CoreDataModel

struct VersionHashTests {
  @Test func `the worked example of the format gives its hash`() {
    let user = NSEntityDescription()
    user.name = "User"
    let name = NSAttributeDescription()
    name.name = "name"
    name.attributeType = .stringAttributeType
    name.isOptional = false
    let petName = NSAttributeDescription()
    petName.name = "petName"
    petName.attributeType = .stringAttributeType
    user.properties = [petName, name]
    #expect(hex(name.versionHash).hasPrefix("8cb9965c0031ac68"))
    #expect(hex(petName.versionHash).hasPrefix("3600ceedf50b080f"))
    #expect(hex(user.versionHash) == "6b31f4e97b691d16c4c820bae55f89408d47013bd42151ecfde1eac7fe4be798")
  }

  @Test(
    .enabled(
      if: FixtureFolder.isPresent, "\(FixtureFolder.absence)"))
  func `hashes of source models are those Apple's framework recorded`() throws {
    let root = try #require(FixtureFolder.url)
    let rows = try String(contentsOf: root.appendingPathComponent("hash-vectors.tsv"), encoding: .utf8)
      .split(separator: "\n").dropFirst()
    #expect(rows.count == 99)
    var models: [String: [String: Data]] = [:]
    for row in rows {
      let fields = row.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      if models[fields[0]] == nil {
        models[fields[0]] =
          try NSManagedObjectModel.load(contentsOf: root.appendingPathComponent(fields[0])).model
          .entityVersionHashesByName
      }
      #expect(models[fields[0]]?[fields[1]].map(hex) == fields[2], "\(fields[0]) \(fields[1])")
    }
  }

  @Test(
    .enabled(
      if: FixtureFolder.isPresent, "\(FixtureFolder.absence)"))
  func `hashes and checksums of compiled models are those of their version lists`() throws {
    var compared = 0
    var checksums = 0
    var known: [String] = []
    for url in FixtureFolder.find(["momd"], under: "mom") {
      let file = url.appendingPathComponent("VersionInfo.plist")
      guard let data = try? Data(contentsOf: file),
        let info = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
        let versions = info["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]]
      else { continue }
      let recorded = info["NSManagedObjectModel_VersionChecksums"] as? [String: String] ?? [:]
      for (name, hashes) in versions {
        let mom = url.appendingPathComponent("\(name).mom")
        guard FileManager.default.fileExists(atPath: mom.path) else { continue }
        let model = try NSManagedObjectModel.load(contentsOf: mom).model
        for (entity, hash) in hashes {
          compared += 1
          #expect(
            model.entitiesByName[entity]?.versionHash == hash, "\(FixtureFolder.relative(mom)) \(entity)")
        }
        if let checksum = recorded[name] {
          checksums += 1
          #expect(model.versionChecksum == checksum)
        }
      }
      known.append(url.lastPathComponent)
    }
    print("\(compared) entity hashes and \(checksums) checksums of compiled models compared")
    #expect(compared > 0)
    #expect(checksums > 0)
  }

  @Test(
    .enabled(
      if: FixtureFolder.isPresent, "\(FixtureFolder.absence)"),
    .enabled(if: StoreBlobs.isPossible, "needs the sqlite3 command"))
  func `hashes of cached models are those in the metadata of their stores`() throws {
    var compared = 0
    var derived: [String] = []
    for url in StoreBlobs.stores() {
      guard let blobs = try StoreBlobs.read(url) else { continue }
      let loaded = try NSManagedObjectModel.load(cachedModelBlob: blobs.model, source: url.lastPathComponent)
      for warning in loaded.warnings where !warning.message.contains("kept undecoded") {
        Issue.record("\(FixtureFolder.relative(url)): \(warning.message)")
      }
      let metadata = try #require(
        try PropertyListSerialization.propertyList(from: blobs.metadata, format: nil) as? [String: Any])
      let hashes = try #require(metadata["NSStoreModelVersionHashes"] as? [String: Data])
      #expect(Set(hashes.keys).isSubset(of: loaded.model.entitiesByName.keys))
      for (name, hash) in hashes {
        let entity = try #require(loaded.model.entitiesByName[name])
        guard entity.hashIsExact else {
          derived.append("\(url.lastPathComponent) \(name)")
          continue
        }
        compared += 1
        #expect(entity.versionHash == hash, "\(FixtureFolder.relative(url)) \(name)")
      }
      if let digest = metadata["NSStoreModelVersionHashesDigest"] as? String {
        #expect(VersionHash.digest(hashes) == digest, "\(FixtureFolder.relative(url))")
      }
      if let checksum = metadata["NSStoreModelVersionChecksumKey"] as? String {
        #expect(VersionHash.checksum(hashes) == checksum, "\(FixtureFolder.relative(url))")
      }

      let again = try NSManagedObjectModel.load(
        cachedModelBlob: try loaded.model.cachedModelBlob(), source: "copy")
      #expect(ModelComparison.differences(loaded.model, again.model) == [], "\(FixtureFolder.relative(url))")
    }
    print(
      "\(compared) entity hashes of cached models compared; with derived attributes, not compared: \(derived)"
    )
    #expect(compared > 100)
  }

  private func hex(_ data: Data) -> String {
    data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
