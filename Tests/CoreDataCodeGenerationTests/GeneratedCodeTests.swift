import CoreDataCodeGeneration
import CoreDataModel
import Foundation
import TestSupport
import Testing

/// Generated code compiles, without a warning, in every mode.
struct GeneratedCodeTests {
  private static let stubs: String = """
    import CoreData
    public class KitchenPerson: NSManagedObject {}
    public class KitchenStep: NSManagedObject {}
    public class Color: NSObject {}

    """

  @Test(arguments: CodeGenerationOptions.Accessors.allCases, ["nonisolated", "MainActor"])
  func `the classes with every kind of property compile`(
    _ accessors: CodeGenerationOptions.Accessors, _ isolation: String
  ) throws {
    let folder = try TemporaryFolder()
    var sources: [URL] = [folder.url.appendingPathComponent("Stubs.swift")]
    try Data(Self.stubs.utf8).write(to: sources[0])
    let model: NSManagedObjectModel = try NSManagedObjectModel.load(
      contentsOf: OwnFixtures.kitchen
    ).model
    let options = CodeGenerationOptions(accessors: accessors, module: "Kitchen")
    for file in ClassGenerator(options: options).classes(of: model, file: "contents").files {
      sources.append(folder.url.appendingPathComponent(file.name))
      try Data(file.contents.utf8).write(to: sources[sources.count - 1])
    }
    #expect(try Programs.typeCheck(sources, module: "Kitchen", isolation: isolation) == "")
  }

  @Test func `names that Swift or Foundation uses compile`() throws {
    let types: [String] = ["Data", "String", "Set", "NSManagedObject2", "Date", "Bool", "NSObject", "NSSet"]
    let names: [String] = [
      "class", "default", "init", "self1", "Type", "Protocol", "Any", "in", "nil", "true", "operator", "func",
      "get",
      "set", "newValue", "key", "context", "value", "insert", "name", "delete", "id", "version", "deleted",
      "async",
      "actor", "some", "fault", "inserted",
    ]
    let model = try TextModel(
      types.map { type in
        #"<entity name="\#(type)" representedClassName="\#(type)" codeGenerationType="class">"#
          + names.map { #"<attribute name="\#($0)" attributeType="String"/>"# }.joined()
          + #"<relationship name="ordered\#(type)" toMany="YES" ordered="YES" destinationEntity="\#(type)"/>"#
          + #"<attribute name="flag" attributeType="Boolean"/><attribute name="day" attributeType="Date"/></entity>"#
      }.joined())
    #expect(model.messages() == [])
    let folder = try TemporaryFolder()
    let file: URL = folder.url.appendingPathComponent("Classes.swift")
    for accessors in CodeGenerationOptions.Accessors.allCases {
      try Data(model.source(CodeGenerationOptions(accessors: accessors)).utf8).write(to: file)
      #expect(try Programs.typeCheck([file]) == "")
    }
  }

  /// A fixture's models; in the slow runs all of them.
  private static let models: [URL] = {
    guard let folder = SharedFiles.folder("fixtures")?.appendingPathComponent("models"),
      let walk = FileManager.default.enumerator(atPath: folder.path)
    else { return [] }
    let all: [URL] = walk.compactMap { $0 as? String }.filter { $0.hasSuffix(".xcdatamodel") }.sorted()
      .map { folder.appendingPathComponent($0) }
      .filter { FileManager.default.fileExists(atPath: $0.appendingPathComponent("contents").path) }
    return Soak.isOn ? all : all.enumerated().filter { $0.offset % 53 == 7 }.map(\.element)
  }()

  @Test(.enabled(if: SharedFiles.fixtures != nil, "\(SharedFiles.absence)"))
  func `the classes of real models compile in every mode`() throws {
    let folder = try TemporaryFolder()
    let stubs: URL = folder.url.appendingPathComponent("Stubs.swift")
    try Data("import Foundation\npublic class Color: NSObject {}\n".utf8).write(to: stubs)
    let file: URL = folder.url.appendingPathComponent("Classes.swift")
    var counts: [CodeGenerationOptions.Accessors: Int] = [:]
    for url in Self.models {
      let model: NSManagedObjectModel = try NSManagedObjectModel.load(contentsOf: url).model
      for accessors in [CodeGenerationOptions.Accessors.slots, .managed] {
        let generator = ClassGenerator(options: CodeGenerationOptions(accessors: accessors, entities: .all))
        let (contents, messages) = generator.source(of: model, file: url.path)
        #expect(messages == [])
        try Data(contents.utf8).write(to: file)
        let complaints: String = try Programs.typeCheck([file, stubs])
        #expect(complaints == "", "\(url.lastPathComponent), \(accessors)")
        if complaints.isEmpty { counts[accessors, default: 0] += 1 }
      }
    }
    print("real models whose classes compile: \(counts.sorted { $0.key.rawValue < $1.key.rawValue })")
    #expect(counts == [.slots: Self.models.count, .managed: Self.models.count])
    #expect(Self.models.count == (Soak.isOn ? 210 : 4))
  }
}
