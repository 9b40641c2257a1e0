import Foundation
import Testing

@testable import CoreDataModel

/// Every real model reads with every element accounted for.
@Suite(
  .enabled(
    if: FixtureFolder.isPresent, "\(FixtureFolder.absence)"))
struct FixtureModelTests {
  @Test func `every source model reads without warnings`() throws {
    var counts = Counts()
    var complaints: [String] = []
    for url in FixtureFolder.find(["xcdatamodel"], under: "models") {
      do {
        let loaded = try NSManagedObjectModel.load(contentsOf: url)
        counts.add(loaded.model)
        complaints += loaded.warnings.map(\.description)
        let twin = loaded.model.copy() as! NSManagedObjectModel
        complaints += ModelComparison.differences(loaded.model, twin).map {
          "\(FixtureFolder.relative(url)) copied: \($0)"
        }
      } catch let error as ModelFileError {
        guard error.reason.contains("Xcode 3") else { throw error }
        counts.xcode3 += 1
      }
    }
    print("source models: \(counts)")
    #expect(complaints == [])
    #expect(counts.models == 210)
    #expect(counts.xcode3 == 23)
    // Counted by an independent reader over the same files.
    #expect(counts.entities == 3961)
    #expect(counts.attributes == 35_997)
    #expect(counts.relationships == 6775)
    #expect(counts.fetchedProperties == 224)
    #expect(counts.templates == 35)
    // 241 fetch indexes, and those that indexed attributes and compound indexes stand for.
    #expect(counts.indexes == 1481)
  }

  /// Bytes are compared without the diagram, the header and what only the editor reads.
  @Test func `every model is the same after it was written as a source and read again`() throws {
    var counts = (equal: 0, models: 0)
    for url in FixtureFolder.find(["xcdatamodel"], under: "models")
      + FixtureFolder.find(["mom"], under: "mom")
    {
      guard let model = try? NSManagedObjectModel.load(contentsOf: url).model else { continue }
      let data: Data = try model.sourceData()
      let read = try ModelSourceReader.read(data, file: "contents")
      #expect(read.warnings == [])
      let differences: [String] = ModelComparison.differences(model, read.model)
      #expect(differences == [], "\(FixtureFolder.relative(url))")
      #expect(read.model.entityVersionHashesByName == model.entityVersionHashesByName)
      guard url.pathExtension == "xcdatamodel" else { continue }
      counts.models += 1
      let text = try String(contentsOf: url.appendingPathComponent("contents"), encoding: .utf8)
      let (own, theirs) = (Self.plain(String(decoding: data, as: UTF8.self)), Self.plain(text))
      if own == theirs { counts.equal += 1 }
    }
    print("sources written with the bytes of the editor: \(counts.equal) of \(counts.models)")
    #expect(counts.models == 210)
    // Predicates keep their meaning, not their text; so do defaults such as 0 for NO.
    #expect(counts.equal >= 91)
  }

  private static func plain(_ text: String) -> [String] {
    var lines: [String] = text.replacingOccurrences(
      of: #"(?<!/)>\n *<userInfo/>\n *</(attribute|relationship|entity|fetchedProperty)>"#, with: "/>",
      options: .regularExpression
    ).split(separator: "\n").map(String.init)
    lines.removeAll { $0.contains("<?xml") || $0.contains("<model ") || $0.contains("<userInfo/>") }
    if let start = lines.firstIndex(where: { $0.contains("<elements>") }) { lines.removeSubrange(start...) }
    return lines.filter { !$0.contains("</model>") }.map {
      $0.replacingOccurrences(of: #" syncable="(YES|NO)""#, with: "", options: .regularExpression)
    }
  }

  @Test func `every compiled model reads without warnings`() throws {
    var counts = Counts()
    var complaints: [String] = []
    for url in FixtureFolder.find(["mom"], under: "mom") {
      let loaded = try NSManagedObjectModel.load(contentsOf: url)
      counts.add(loaded.model)
      complaints += loaded.warnings.map(\.description)
    }
    print("compiled models: \(counts)")
    #expect(complaints == [])
    #expect(counts.models == 17)
    #expect(counts.entities == 59)
    #expect(counts.attributes == 135)
    #expect(counts.relationships == 44)
  }

  @Test func `every model is the same after it was written as an archive and read again`() throws {
    for url in FixtureFolder.find(["xcdatamodel"], under: "models")
      + FixtureFolder.find(["mom"], under: "mom")
    {
      guard let model = NSManagedObjectModel(contentsOf: url) else { continue }
      let archive = try NSManagedObjectModel.archivedModelData(model)
      let again = try ModelArchiveReader.read(archive, file: url.path)
      #expect(again.warnings == [])
      #expect(ModelComparison.differences(model, again.model) == [], "\(FixtureFolder.relative(url))")
      #expect(again.model.versionChecksum == model.versionChecksum)
    }
  }

  @Test func `packages of versions open at their current version`() throws {
    var count = 0
    for url in FixtureFolder.find(["xcdatamodeld", "momd"], under: "models")
      + FixtureFolder.find(["momd"], under: "mom")
    {
      let versions: [String: ModelFile]
      do { versions = try ModelFileLocator.versions(at: url) } catch { continue }
      do {
        let current = try ModelFileLocator.currentVersion(at: url)
        #expect(versions.values.contains { $0.url == current.url })
        count += 1
      } catch let error as ModelFileError {
        // Fixture folders hold some versions only; then the error must name what is there.
        #expect(versions.keys.allSatisfy { error.reason.contains($0) }, "\(error)")
      }
    }
    #expect(count > 40)
  }

  struct Counts: CustomStringConvertible {
    var models = 0
    var entities = 0
    var attributes = 0
    var relationships = 0
    var fetchedProperties = 0
    var indexes = 0
    var templates = 0
    var xcode3 = 0

    mutating func add(_ model: NSManagedObjectModel) {
      models += 1
      entities += model.entities.count
      templates += model.fetchRequestTemplatesByName.count
      for entity in model.entities {
        indexes += entity.indexes.count
        for property in entity.ownProperties {
          switch property {
          case is NSAttributeDescription: attributes += 1
          case is NSRelationshipDescription: relationships += 1
          default: fetchedProperties += 1
          }
        }
      }
    }

    var description: String {
      """
      \(models) models, \(entities) entities, \(attributes) attributes, \(relationships) relationships, \
      \(fetchedProperties) fetched properties, \(indexes) indexes, \(templates) templates; \(xcode3) of Xcode 3 refused
      """
    }
  }
}
