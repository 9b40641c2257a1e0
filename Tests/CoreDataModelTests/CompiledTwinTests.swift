import CoreDataArchives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

/// What Xcode's compiler and Apple's framework wrote, beside what is written here from the same model: every
/// class, key and value.
@Suite(.enabled(if: FixtureFolder.isPresent, "\(FixtureFolder.absence)"))
struct CompiledTwinTests {
  /// A source by the version hashes of its model.
  private struct Source {
    var url: URL
    var model: NSManagedObjectModel
    /// The repository that it is from.
    var origin: String

    init?(_ url: URL) {
      guard let model = try? NSManagedObjectModel.load(contentsOf: url).model else { return nil }
      (self.url, self.model, origin) = (url, model, Self.origin(url))
    }

    static func origin(_ url: URL) -> String {
      FixtureFolder.relative(url).split(separator: "/").dropFirst().first.map(String.init) ?? ""
    }
  }

  /// The sources of a repository that have these hashes.
  private func twins(_ hashes: [String: Data], _ url: URL, _ sources: [Source]) -> [Source] {
    let origin: String = Source.origin(url)
    return sources.filter { $0.origin == origin && $0.model.entityVersionHashesByName == hashes }
  }

  private func sources(of origins: Set<String>) -> [Source] {
    FixtureFolder.find(["xcdatamodel"], under: "models")
      .filter { origins.contains(Source.origin($0)) }.compactMap(Source.init)
  }

  /// Differences that are known, and why they stay. Differences that none of these begins are failures.
  private static let known: [(difference: String, reason: String)] = [
    ("NSManagedObjectModel.CDMCompilerToolVersion", "only the compiler of a file can say its own version"),
    ("NSManagedObjectModel.CDMCompilerXcodeVersion", "only the compiler of a file can say its own version"),
    ("NSEntityDescription.NSSubentities: NSDictionary, nil", "frameworks before 2019 wrote nil for none"),
    (
      "NSEntityDescription.NSProperties[]: NSAttributeDescription, _NSPropertyDescriptionProxy",
      "frameworks before 2019 wrote what is inherited as a reference"
    ),
    (
      "NSEntityDescription.NSProperties[]: NSRelationshipDescription, _NSPropertyDescriptionProxy",
      "frameworks before 2019 wrote what is inherited as a reference"
    ),
    ("NSEntityDescription.NSClassNameForEntity: '.", "Xcode's compiler is told the target's module"),
    ("NSAttributeDescription.NSAttributeValueClassName: 'Color', nil", "older compilers left out the class"),
    (
      "NSFetchIndexDescription.NSIndexName: 'byMakerAndNumberPlate', 'maker_numberPlate'",
      "the source was changed after it was compiled"
    ),
    // SampleModel_V2.sqlite has a model that was changed in code.
    ("NSEntityDescription.NSFetchIndexDescriptions: absent, NSArray", "an empty list that code set"),
    ("NSEntityDescription.NSCompoundIndexes: absent, NSArray", "an empty list that code set"),
  ]

  private static func unknown(_ differences: [String], _ url: URL) -> [String] {
    differences.filter { difference in !known.contains { difference.hasPrefix($0.difference) } }
      .map { "\(FixtureFolder.relative(url)): \($0)" }
  }

  @Test func `a compiled model has the keys and values of Apple's compiler`() throws {
    let files: [URL] = FixtureFolder.find(["mom"], under: "mom")
    let sources: [Source] = sources(of: Set(files.map(Source.origin)))
    var counts = (twins: 0, fields: 0)
    var strays: [String] = []
    for file in files {
      let theirs = try Data(contentsOf: file)
      let hashes: [String: Data] = try NSManagedObjectModel.load(contentsOf: file).model
        .entityVersionHashesByName
      // A source changes what the hashes don't cover, too: the nearest is the one that was compiled.
      let all: [ArchiveDifferences] = try twins(hashes, file, sources).map {
        try ArchiveDifferences($0.model.compiledData(), theirs)
      }
      guard let best = all.min(by: { $0.found.count < $1.found.count }) else { continue }
      counts.twins += 1
      counts.fields += best.fields
      strays += Self.unknown(best.found, file)
    }
    print("compiled models beside Apple's: \(counts.twins) of \(files.count), \(counts.fields) fields")
    #expect(strays == [])
    #expect(counts.twins >= 9)
  }

  @Test func `a compiled model that was read and written again has the keys and values that it had`() throws {
    var fields: Int = 0
    for file in FixtureFolder.find(["mom"], under: "mom") {
      let model: NSManagedObjectModel = try .load(contentsOf: file).model
      let differences = try ArchiveDifferences(model.compiledData(), Data(contentsOf: file))
      fields += differences.fields
      #expect(Self.unknown(differences.found, file) == [])
    }
    print("fields of compiled models: \(fields)")
  }

  @Test(.enabled(if: StoreBlobs.isPossible))
  func `a model is cached in a store with the keys and values of Apple's framework`() throws {
    var counts = (rewritten: 0, twins: 0, fields: 0)
    var rewritten: [String] = []
    var strays: [String] = []
    let stores: [URL] = StoreBlobs.stores()
    let sources: [Source] = sources(of: Set(stores.map(Source.origin)))
    for url in stores {
      guard let blob = try StoreBlobs.read(url)?.model else { continue }
      let theirs: Data = try RawDeflate.expand(blob)
      let model: NSManagedObjectModel = try .load(cachedModelBlob: blob, source: url.path).model
      let own = try ArchiveDifferences(ModelArchiveWriter.write(model, as: .cache), theirs)
      counts.rewritten += 1
      counts.fields += own.fields
      rewritten += Self.unknown(own.found, url)
      let twins: [ArchiveDifferences] = try twins(model.entityVersionHashesByName, url, sources).map {
        try ArchiveDifferences(ModelArchiveWriter.write($0.model, as: .cache), theirs)
      }
      guard let best = twins.min(by: { $0.found.count < $1.found.count }) else { continue }
      counts.twins += 1
      // The classes of that store's model are plain managed objects, as a program in code may set them.
      let isOfCode: Bool = url.lastPathComponent == "SampleModel_V2.sqlite"
      strays += Self.unknown(
        best.found.filter { !isOfCode || !$0.hasPrefix("NSEntityDescription.NSClassNameForEntity") }, url)
    }
    print("cached models: \(counts)")
    #expect(rewritten == [])
    #expect(strays == [])
  }

  @Test func `a list of versions has the keys and values of Apple's compiler`() throws {
    let (sums, current) = (
      "NSManagedObjectModel_VersionChecksums", "NSManagedObjectModel_CurrentVersionName"
    )
    var count: Int = 0
    for url in FixtureFolder.find(["xcdatamodeld"], under: "models") {
      guard let compilation = try? ModelCompilation(of: url), case .folder(let files) = compilation.product,
        let data = files[CompiledFile.versionInfo]
      else { continue }
      let mine: [String: Any] = try list(data)
      let name: String = url.deletingPathExtension().lastPathComponent
      for twin in FixtureFolder.find(["plist"], under: "mom") {
        let theirs: [String: Any] = try list(Data(contentsOf: twin))
        guard Source.origin(twin) == Source.origin(url),
          twin.deletingLastPathComponent().lastPathComponent.hasSuffix("\(name).momd"),
          let hashes = Self.hashes(theirs), hashes == Self.hashes(mine)
        else { continue }
        count += 1
        let label: String = FixtureFolder.relative(twin)
        // Before Xcode 15 there were no checksums.
        if theirs[sums] != nil {
          #expect(mine[sums] as? [String: String] == theirs[sums] as? [String: String], "\(label)")
        }
        let marked: String? = try ModelFileLocator.currentVersionName(at: url)
        #expect(mine[current] as? String == marked, "\(label)")
        // The package of one version was marked after it was compiled.
        if hashes.count > 1 { #expect(theirs[current] as? String == marked, "\(label)") }
        #expect(
          Set(mine.keys).subtracting([sums, current]) == Set(theirs.keys).subtracting([sums, current]))
      }
    }
    print("lists of versions beside Apple's: \(count)")
    #expect(count >= 3)
  }

  private static func hashes(_ list: [String: Any]) -> [String: [String: Data]]? {
    list["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]]
  }

  private func list(_ data: Data) throws -> [String: Any] {
    try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
  }

  @Test func `a package that marks no version as current has a list that names none`() throws {
    let folder = try TemporaryFolder()
    let shop: URL = folder.file("Shop.xcdatamodeld")
    try FileManager.default.createDirectory(at: shop, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: OwnFixtures.file("Shop.xcdatamodeld").appendingPathComponent("Shop.xcdatamodel"),
      to: shop.appendingPathComponent("Shop.xcdatamodel"))
    func current() throws -> String? {
      guard case .folder(let files) = try ModelCompilation(of: shop).product else { return nil }
      let info: [String: Any] = try list(try #require(files[CompiledFile.versionInfo]))
      return info["NSManagedObjectModel_CurrentVersionName"] as? String
    }
    #expect(try current() == nil)
    try ModelCompilation(of: shop).write(to: folder.file("Shop.momd"))
    #expect(
      try NSManagedObjectModel.load(contentsOf: folder.file("Shop.momd")).model.entities.isEmpty == false)
    let mark: URL = shop.appendingPathComponent(".xccurrentversion")
    for (name, expected) in [("Shop.xcdatamodel", "Shop"), ("Gone.xcdatamodel", "Shop")] {
      try PropertyListSerialization.data(
        fromPropertyList: ["_XCCurrentVersionName": name], format: .xml, options: 0
      ).write(to: mark)
      #expect(try current() == expected)
    }
  }

  /// The source that a compiled model is decompiled to says the same as the one that was compiled.
  @Test func `every source is the same after it was compiled and decompiled`() throws {
    var count: Int = 0
    for url in FixtureFolder.find(["xcdatamodel"], under: "models") {
      guard let model = try? NSManagedObjectModel.load(contentsOf: url).model else { continue }
      let compiled = try ModelArchiveReader.read(model.compiledData(), file: url.path)
      #expect(compiled.warnings == [])
      let read = try ModelSourceReader.read(compiled.model.sourceData(), file: url.path)
      #expect(ModelComparison.differences(model, read.model) == [], "\(FixtureFolder.relative(url))")
      #expect(read.model.entityVersionHashesByName == model.entityVersionHashesByName)
      count += 1
    }
    #expect(count == 210)
  }
}
