import CoreDataPredicates
import Foundation
import Testing

@testable import CoreDataModel

/// Finding B13: version hashes that Apple's tools recorded for entities whose hash can't be computed.
struct RecordedHashTests {
  /// PeopleModel with hashes for `Person` (a derived and a composite attribute) and its family that
  /// are not ours.
  private func recorded(_ model: NSManagedObjectModel) -> [String: Data] {
    Dictionary(
      uniqueKeysWithValues: model.entities.map { entity in
        let hash: Data = entity.versionHash
        return (entity.name ?? "", entity.hashIsComputable ? hash : Data(hash.reversed()))
      })
  }

  private func write(
    _ model: NSManagedObjectModel, _ hashes: [String: Data], to folder: URL
  ) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let versions: [String: Any] = ["One": hashes, "Two": [String: Data]()]
    let info: [String: Any] = [
      "NSManagedObjectModel_CurrentVersionName": "One", "NSManagedObjectModel_VersionHashes": versions,
    ]
    try PropertyListSerialization.data(fromPropertyList: info, format: .binary, options: 0)
      .write(to: folder.appendingPathComponent("VersionInfo.plist"))
    let archive: Data = try NSManagedObjectModel.archivedModelData(model)
    for name in ["One", "Two"] { try archive.write(to: folder.appendingPathComponent("\(name).mom")) }
  }

  @Test func `a compiled model has the hashes of its version list`() throws {
    let folder: URL = FileManager.default.temporaryDirectory
      .appendingPathComponent("\(UUID().uuidString).momd")
    defer { try? FileManager.default.removeItem(at: folder) }
    let model: NSManagedObjectModel = PeopleModel.make()
    let hashes: [String: Data] = recorded(model)
    #expect(
      hashes.filter { $0.value != model.entitiesByName[$0.key]?.versionHash }.keys.sorted() == [
        "Chief", "Employee", "Person",
      ])
    try write(model, hashes, to: folder)
    for url in [folder, folder.appendingPathComponent("One.mom")] {
      let read: NSManagedObjectModel = try NSManagedObjectModel.load(contentsOf: url).model
      #expect(read.entityVersionHashesByName == hashes)
      #expect(read.versionChecksum == VersionHash.checksum(hashes))
      #expect(!read.entities.contains { !$0.hashIsExact })
    }
    // The list has none for this version.
    let other: NSManagedObjectModel = try NSManagedObjectModel.load(
      contentsOf: folder.appendingPathComponent("Two.mom")
    ).model
    #expect(other.entityVersionHashesByName == model.entityVersionHashesByName)
  }

  /// Foundation's reader ends the process at a set.
  @Test func `a version list with a set in it is an explained error, and no hashes are taken from it`() throws
  {
    let folder: URL = FileManager.default.temporaryDirectory
      .appendingPathComponent("\(UUID().uuidString).momd")
    defer { try? FileManager.default.removeItem(at: folder) }
    try write(PeopleModel.make(), [:], to: folder)
    // Two objects, at 8 and 10: a set of one, and the text "a"; then their offsets, and the trailer.
    var list = Data("bplist00".utf8) + [0xC1, 0x01, 0x51, 0x61] + [0x08, 0x0A]
    list += Data(count: 6) + [1, 1]
    for number in [2, 0, 12] { list += Data(count: 7) + [UInt8(number)] }
    try list.write(to: folder.appendingPathComponent("VersionInfo.plist"))
    let error = #expect(throws: ModelFileError.self) { try NSManagedObjectModel.load(contentsOf: folder) }
    #expect(error?.reason.contains("not a readable property list") == true, "\(error as Any)")
    _ = try NSManagedObjectModel.load(contentsOf: folder.appendingPathComponent("One.mom"))
  }

  @Test func `hashes of another model are not taken over`() {
    let model: NSManagedObjectModel = PeopleModel.make()
    let own: [String: Data] = model.entityVersionHashesByName
    var hashes: [String: Data] = recorded(model)
    hashes["Pet"] = Data(repeating: 1, count: 32)
    model.record(versionHashes: hashes)
    #expect(model.entityVersionHashesByName == own)
    hashes["Pet"] = own["Pet"]
    hashes["Plant"] = own["Pet"]
    model.record(versionHashes: hashes)
    #expect(model.entityVersionHashesByName == own)
  }

  @Test func `elements of composites, derivations and filters make another structure`() throws {
    let changes: [String: (NSEntityDescription) -> Void] = [
      "element": { entity in
        let address = entity.propertiesByName["address"] as? NSCompositeAttributeDescription
        address?.elements.removeLast()
      },
      "derivation": { entity in
        let upper = entity.propertiesByName["upper"] as? NSDerivedAttributeDescription
        upper?.derivationExpression = NSExpression(format: "lowercase:(name)")
      },
      "filter": { entity in
        let upper = entity.propertiesByName["upper"] as? NSDerivedAttributeDescription
        upper?.filteringPredicate = NSPredicate(format: "age > 3")
      },
    ]
    for (name, change) in changes {
      let model: NSManagedObjectModel = PeopleModel.make()
      let versions = EntityVersions(hashes: recorded(model), carried: model)
      for entity in model.entities { #expect(versions.fits(entity) == true) }
      change(try #require(model.entitiesByName["Person"]))
      for entity in model.entities {
        #expect(versions.fits(entity) == entity.hashIsComputable, "\(name) \(entity)")
      }
    }
  }
}
