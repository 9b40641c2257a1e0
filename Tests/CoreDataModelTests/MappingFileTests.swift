import CoreDataArchives
import CoreDataPredicates
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

/// Mapping models in files: those of real programs, and damaged ones.
@Suite(.enabled(if: FixtureFolder.isPresent, "\(FixtureFolder.absence)"))
struct MappingFileTests {
  /// The models of the fixtures that a mapping model of the editor names; nil if one is not there, or is of
  /// Xcode 3.
  static func models(of file: URL) throws -> (NSManagedObjectModel, NSManagedObjectModel)? {
    let data = try Data(contentsOf: file.appendingPathComponent("xcmapping.xml"))
    let editor: EditorMapping = try EditorMappingReader.read(data, file: file.path)
    // The fixtures keep models and mapping models of a program apart, in folders of the same name.
    let path: String = file.path.replacingOccurrences(of: "/fixtures/mapping/", with: "/fixtures/models/")
    let place = URL(fileURLWithPath: path)
    guard let from = editor.sourcePath.flatMap({ MappedModels.find($0, near: place) }),
      let to = editor.destinationPath.flatMap({ MappedModels.find($0, near: place) })
    else { return nil }
    return (from, to)
  }

  static func load(_ file: URL) throws -> NSMappingModel? {
    guard let (source, destination) = try models(of: file) else { return nil }
    return try .load(contentsOf: file, forSourceModel: source, destinationModel: destination)
  }

  static let editorFiles: [URL] = FixtureFolder.find(["xcmappingmodel"], under: "mapping")
  private static let compiledFiles: [URL] = FixtureFolder.find(["cdm"], under: "mapping")

  /// How many entity mappings the files have.
  private static let counts: [String: Int] = [
    "V2toV3": 5, "Version1_to_Version2": 1, "Version2_to_Version3": 2, "Modelv1v4": 6, "WordPress-11-12": 9,
    "WordPress-20-21": 13, "WordPress-22-23": 13, "WordPress-30-31": 13, "WordPress-32-33": 13,
    "WordPress-37-38": 18, "WordPress-41-42": 21,
  ]

  @Test func `every mapping model of the editor reads, and is compiled where its models are there`() throws {
    var counts: [String: Int] = [:]
    var uncompiled: [String] = []
    for file in Self.editorFiles {
      let name: String = file.deletingPathExtension().lastPathComponent
      let data = try Data(contentsOf: file.appendingPathComponent("xcmapping.xml"))
      let editor: EditorMapping = try EditorMappingReader.read(data, file: file.path)
      counts[name] = editor.entities.count
      guard let model: NSMappingModel = try Self.load(file) else {
        uncompiled.append(name)
        continue
      }
      #expect(model.entityMappings.count == editor.entities.count)
      #expect(Set(model.entityMappings.map { $0.name }).count == editor.entities.count, "\(name)")
      let twin: NSMappingModel = try MappingArchive.read(model.archivedData(), file: name)
      #expect(twin == model, "\(name)")
    }
    #expect(counts == Self.counts)
    // Its models are of Xcode 3.
    #expect(uncompiled == ["WordPress-11-12"])
  }

  @Test func `a compiled mapping model is written as Xcode's compiler writes it`() throws {
    for file in Self.compiledFiles {
      let data = try Data(contentsOf: file)
      let model: NSMappingModel = try .load(contentsOf: file)
      #expect(model.entityMappings.count == 5)
      #expect(try Self.canonical(model.archivedData()) == Self.canonical(data))
      #expect(try MappingArchive.read(model.archivedData(), file: "twin") == model)
    }
    #expect(Self.compiledFiles.count == 2)
  }

  @Test func `the editor's mapping model is compiled as by Xcode`() throws {
    let editor: URL = try #require(Self.editorFiles.first { $0.lastPathComponent == "V2toV3.xcmappingmodel" })
    let compiled: URL = try #require(Self.compiledFiles.first { !$0.path.contains("_history") })
    let (mine, theirs) = (try #require(try Self.load(editor)), try NSMappingModel.load(contentsOf: compiled))
    for (mine, theirs) in zip(mine.entityMappings, theirs.entityMappings) {
      #expect(mine == theirs, "\(mine.name ?? "")")
    }
    #expect(mine == theirs)
  }

  /// A folder of resources as a package copies them.
  private func bundle(_ files: [URL]) throws -> (TemporaryFolder, Bundle) {
    let folder = try TemporaryFolder()
    for file in files {
      try FileManager.default.copyItem(
        at: file, to: folder.url.appendingPathComponent(file.lastPathComponent))
    }
    return (folder, try #require(Bundle(path: folder.url.path)))
  }

  @Test func `a bundle's mapping model is found by the versions of the models`() throws {
    let editor: URL = try #require(Self.editorFiles.first { $0.lastPathComponent == "V2toV3.xcmappingmodel" })
    let compiled: URL = try #require(Self.compiledFiles.first { !$0.path.contains("_history") })
    let models: URL = try #require(
      FixtureFolder.find(["xcdatamodeld"], under: "models").first {
        $0.lastPathComponent == "SampleModel.xcdatamodeld"
      })
    let versions: [String: LoadedModel] = try NSManagedObjectModel.loadVersions(contentsOf: models)
    let (first, second, third) = (
      try #require(versions["SampleModel"]).model, try #require(versions["SampleModel2"]).model,
      try #require(versions["SampleModel3"]).model
    )
    for files in [[compiled], [models, editor], [models, editor, compiled]] {
      let (folder, bundle) = try bundle(files)
      defer { try? FileManager.default.removeItem(at: folder.url) }
      let found = try #require(
        NSMappingModel(from: [bundle], forSourceModel: second, destinationModel: third))
      #expect(found.entityMappings.map { $0.name ?? "" }.contains("LuxuryCarToLuxuryCar"))
      #expect(NSMappingModel(from: [bundle], forSourceModel: third, destinationModel: second) == nil)
      let error: CocoaError = try #require(throws: CocoaError.self) {
        try NSMappingModel.load(from: [bundle], forSourceModel: first, destinationModel: second)
      }
      #expect(error.code.rawValue == 134_140)
      #expect(error.localizedDescription.contains("V2toV3."))
      let file: URL = folder.url.appendingPathComponent("V2toV3.cdm")
      #expect(NSMappingModel(contentsOf: file) == found)
    }
    let (folder, bundle) = try bundle([editor])
    defer { try? FileManager.default.removeItem(at: folder.url) }
    let error: ModelFileError = try #require(throws: ModelFileError.self) {
      try NSMappingModel.load(contentsOf: folder.url.appendingPathComponent("V2toV3.xcmappingmodel"))
    }
    #expect(error.reason.contains("SampleModel2.xcdatamodel"))
    #expect(NSMappingModel(from: [bundle], forSourceModel: second, destinationModel: third) == nil)
  }

  @Test func `damaged files throw an explained error or are read`() throws {
    var generator = SeededRandom(seed: 12)
    let compiled = try Data(contentsOf: try #require(Self.compiledFiles.first))
    let editor: URL = try #require(
      Self.editorFiles.first { $0.lastPathComponent == "Version2_to_Version3.xcmappingmodel" })
    let (source, destination) = try #require(try Self.models(of: editor))
    let text = try Data(contentsOf: editor.appendingPathComponent("xcmapping.xml"))
    var outcomes: [Bool: Int] = [:]
    for data in [compiled, text] {
      for number in 0..<300 {
        var damaged: Data = data
        if number % 3 == 0 {
          damaged = damaged.prefix(Int.random(in: 0..<data.count, using: &generator))
        } else {
          for _ in 0..<(number % 5 + 1) {
            damaged[Int.random(in: 0..<data.count, using: &generator)] ^=
              1 << UInt8.random(in: 0..<8, using: &generator)
          }
        }
        do {
          if data == compiled {
            _ = try MappingArchive.read(damaged, file: "damaged.cdm").archivedData()
          } else {
            let editor: EditorMapping = try EditorMappingReader.read(damaged, file: "damaged.xml")
            _ = try MappingCompiler(editor, source: source, destination: destination, file: "damaged.xml")
              .model()
          }
          outcomes[true, default: 0] += 1
        } catch let error as ModelFileError {
          #expect(!error.reason.isEmpty)
          outcomes[false, default: 0] += 1
        }
      }
    }
    // Cut-off files can't be read.
    #expect(outcomes[false, default: 0] >= 190)
  }

  /// In what the mapping models that programs wrote differ from inferred ones.
  private static let differences: [String: [String]] = [
    "Modelv1v4": [
      "+ DeletedCarbObject → CachedCarbObject", "- → CgmEvent", "- → DosingDecisionObject",
      "- → SettingsObject",
      "- DeletedCarbObject →",
    ],
    "V2toV3": [],
    "Version1_to_Version2": [
      "Employee.companyDateFounded = now()", "Employee.companyName = \"Unknown\"",
      "Employee.companyProfits = 0",
    ],
    "Version2_to_Version3": ["+ Employee → Company", "- → Company"],
    "WordPress-20-21": [
      "+ ReaderComment → Comment", "- NoteSimperium →", "- ReaderComment →", "- → Notification",
    ],
    "WordPress-22-23": [], "WordPress-30-31": [],
    // A transient attribute of the source, which only an accessor of its class can compute.
    "WordPress-32-33": ["Blog.username = $source.username"],
    "WordPress-37-38": [
      "+ ReaderTopic → ReaderDefaultTopic", "+ ReaderTopic → ReaderListTopic",
      "+ ReaderTopic → ReaderSiteTopic", "+ ReaderTopic → ReaderTagTopic", "- ReaderTopic →",
      "- → ReaderDefaultTopic", "- → ReaderListTopic", "- → ReaderSiteTopic", "- → ReaderTagTopic",
    ],
    "WordPress-41-42": ["+ Blog → BlogSettings", "- → BlogSettings"],
  ]

  @Test func `programs' mapping models and inferred ones differ in what the programs wanted`() throws {
    var found: [String: [String]] = [:]
    for file in Self.editorFiles {
      guard let (source, destination) = try Self.models(of: file), let model = try Self.load(file) else {
        continue
      }
      let name: String = file.deletingPathExtension().lastPathComponent
      let inferred: NSMappingModel = try .inferredMappingModel(
        forSourceModel: source, destinationModel: destination)
      var lines: [String] = []
      let theirs: [String: NSEntityMapping] = Dictionary(
        model.entityMappings.map { (Self.pair($0), $0) }, uniquingKeysWith: { first, _ in first })
      let mine: [String: NSEntityMapping] = Dictionary(
        inferred.entityMappings.map { (Self.pair($0), $0) }, uniquingKeysWith: { first, _ in first })
      lines += theirs.keys.filter { mine[$0] == nil }.map { "+ \($0)" }
      lines += mine.keys.filter { theirs[$0] == nil }.map { "- \($0)" }
      for (pair, mapping) in mine {
        guard let twin = theirs[pair] else { continue }
        for attribute in mapping.attributeMappings ?? [] {
          let other: NSPropertyMapping? = twin.attributeMappings?.first { $0.name == attribute.name }
          if other?.valueExpression == attribute.valueExpression { continue }
          lines.append(
            "\(mapping.destinationEntityName ?? "").\(attribute.name ?? "") = \(other?.valueExpression?.description ?? "")"
          )
        }
      }
      found[name] = lines.sorted()
    }
    for name in Set(found.keys).union(Self.differences.keys).sorted() {
      #expect(found[name] == Self.differences[name]?.sorted(), "\(name)")
    }
  }

  private static func pair(_ mapping: NSEntityMapping) -> String {
    [mapping.sourceEntityName, "→", mapping.destinationEntityName].compactMap(\.self).joined(separator: " ")
  }

  /// The archive with its references resolved, arrays as such and without the order of keys.
  private static func canonical(_ data: Data) throws -> String {
    let archive = try KeyedArchive(data)
    func text(_ node: PlistNode, _ depth: Int) throws -> String {
      precondition(depth < 100)
      switch node {
      case .uid(let index):
        if index == 0 { return "nil" }
        if case .dictionary(let fields) = archive.objects[index], fields["$classname"] != nil {
          guard case .string(let name) = fields["$classname"] else { return "?" }
          return name == "NSMutableArray" ? "NSArray" : name
        }
        return try text(archive.objects[index], depth + 1)
      case .array(let members):
        return try "[" + members.map { try text($0, depth + 1) }.joined(separator: ",") + "]"
      case .dictionary(let fields):
        // The order of a dictionary's pairs means nothing.
        if case .array(let keys)? = fields["NS.keys"], case .array(let objects)? = fields["NS.objects"] {
          return try "{"
            + zip(keys, objects).map { try text($0, depth + 1) + ":" + text($1, depth + 1) }.sorted().joined(
              separator: ",") + "}"
        }
        return try "{"
          + fields.sorted { $0.key < $1.key }.map { try $0 + ":" + text($1, depth + 1) }.joined(
            separator: ",") + "}"
      default: return "\(node)"
      }
    }
    return try text(archive.top["root"] ?? .uid(0), 0)
  }
}
