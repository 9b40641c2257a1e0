import Foundation
import TestSupport
import Testing

/// A package outside of the repository that applies the plugin as the README shows, built by `swift build`.
/// One of the slow runs: the first build takes minutes.
@Suite(.enabled(if: Soak.isOn, "builds a package, which takes minutes; make soak runs it"))
struct ClientPackageTests {
  private static let manifest: String = """
    // swift-tools-version: 6.1
    import PackageDescription

    let package = Package(
      name: "App",
      dependencies: [.package(name: "clarus", path: "CLARUS")],
      targets: [
        .executableTarget(
          name: "App", dependencies: [.product(name: "CoreData", package: "clarus")],
          plugins: [MODELPLUGIN])
      ]
    )

    """.replacing("MODELPLUGIN", with: modelPlugin)
  private static let modelPlugin: String = #".plugin(name: "CoreDataModelPlugin", package: "clarus")"#
  private static let sourcesPlugin: String = #".plugin(name: "CoreDataSourcesPlugin", package: "clarus")"#

  private static let generatedCategory: String = """
    <entity name="Category" representedClassName="Category" syncable="YES" codeGenerationType="class">
    """

  private static let byHand: String = """
    import CoreData

    final class Category: NSManagedObject {
      @NSManaged var name: String
      @NSManaged var items: Set<Item>
      @NSManaged func addToItems(_ value: Item)
    }

    """

  private static let program: String = """
    import CoreData

    let container = NSPersistentContainer(name: "ToDo")
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in if let error { fatalError("\\(error)") } }
    let item = Item(context: container.viewContext)
    item.title = "Water the plants"
    let category = Category(context: container.viewContext)
    category.name = "Garden"
    category.addToItems(item)
    try container.viewContext.save()
    for item in try container.viewContext.fetch(Item.fetchRequest()) {
      print(item.title ?? "", item.category?.name ?? "", NSExpression(forConstantValue: 1))
    }
    for (name, kind) in [("ToDo", "momd"), ("ToDo1to2", "cdm")] {
      print(Bundle.module.url(forResource: name, withExtension: kind)?.lastPathComponent ?? "none")
    }

    """

  @Test func `a package with the README's lines builds, runs, and rebuilds what has changed`() throws {
    let folder = try TemporaryFolder()
    let sources: URL = folder.url.appendingPathComponent("Sources/App")
    let manager = FileManager.default
    try manager.createDirectory(at: sources, withIntermediateDirectories: true)
    try Data(Self.manifest.replacing("CLARUS", with: SharedFiles.package.path).utf8).write(
      to: folder.file("Package.swift"))
    try Data(Self.program.utf8).write(to: sources.appendingPathComponent("main.swift"))
    let example: URL = SharedFiles.package.appendingPathComponent("Examples/ToDo")
    for name in ["Sources/ToDo/ToDo.xcdatamodeld", "Migration/Mapping/ToDo1to2.xcmappingmodel"] {
      let url: URL = example.appendingPathComponent(name)
      try manager.copyItem(at: url, to: sources.appendingPathComponent(url.lastPathComponent))
    }

    let first: Output = try build(folder.url)
    #expect(first.status == 0, "\(first.text.suffix(2000))")
    #expect(first.text.contains("Compiling model ToDo.xcdatamodeld"))
    #expect(
      !first.text.contains("unhandled") && !first.text.contains("warning: "), "\(first.text.suffix(2000))")
    let run: Output = try Programs.run(folder.url.appendingPathComponent(".build/debug/App"), [])
    #expect(run.text == "Water the plants Garden 1\nToDo.momd\nToDo1to2.cdm\n")

    // SwiftPM links the tools of plugins once more in the second build, and has them run.
    #expect(try build(folder.url).status == 0)
    // A change of the program does not concern the model.
    try Data((Self.program + "print(1)\n").utf8).write(to: sources.appendingPathComponent("main.swift"))
    let second: Output = try build(folder.url)
    #expect(second.status == 0 && !second.text.contains("Compiling model"), "\(second.text)")

    // A property more is one in the class.
    let version: URL = sources.appendingPathComponent("ToDo.xcdatamodeld/ToDo 2.xcdatamodel/contents")
    let model: String = try String(contentsOf: version, encoding: .utf8)
    let line = #"<attribute name="title" attributeType="String"/>"#
    try Data(model.replacing(line, with: line + line.replacing("title", with: "subtitle")).utf8).write(
      to: version)
    try Data((Self.program + "item.subtitle = nil\n").utf8).write(
      to: sources.appendingPathComponent("main.swift"))
    let third: Output = try build(folder.url)
    #expect(third.status == 0 && third.text.contains("Compiling model ToDo.xcdatamodeld"), "\(third.text)")

    // A mistake has its line.
    let mistake: Int = model.components(separatedBy: line)[0].count { $0 == "\n" } + 1
    try Data(model.replacing(line, with: line.replacing("String", with: "Strong")).utf8).write(to: version)
    let fourth: Output = try build(folder.url)
    #expect(fourth.status != 0)
    #expect(
      fourth.text.contains("\(version.path):\(mistake): error: Attribute 'title' has the type 'Strong'"),
      "\(fourth.text)")

    // `@NSManaged` in generated classes and in one by hand, whose property has the type of a generated one.
    try Data(
      model.replacing(
        Self.generatedCategory, with: Self.generatedCategory.replacing("class\"", with: "none\"")
      ).utf8
    ).write(to: version)
    try Data("{\"accessors\": \"managed\", \"access\": \"internal\"}".utf8).write(
      to: sources.appendingPathComponent("coredata-modelc.json"))
    try Data(Self.byHand.utf8).write(to: sources.appendingPathComponent("Category.swift"))
    try Data(Self.program.utf8).write(to: sources.appendingPathComponent("main.swift"))
    try Data(
      Self.manifest.replacing("CLARUS", with: SharedFiles.package.path).replacing(
        Self.modelPlugin, with: "\(Self.modelPlugin), \(Self.sourcesPlugin)"
      ).utf8
    ).write(to: folder.file("Package.swift"))
    let fifth: Output = try build(folder.url)
    #expect(fifth.status == 0 && !fifth.text.contains("warning: "), "\(fifth.text.suffix(2000))")
    let managed: Output = try Programs.run(folder.url.appendingPathComponent(".build/debug/App"), [])
    #expect(managed.text == run.text)
    let generated: String = try generatedClasses(folder.url)
    #expect(generated.contains("@NSManaged var title: String?") && !generated.contains("class Category"))

    // A folder that an app shares: the class as it is written there, and the model, outside of the target.
    let shared: URL = sources.appendingPathComponent("Shared")
    try manager.createDirectory(at: shared, withIntermediateDirectories: true)
    // A mapping model is found with its models.
    for name in ["ToDo.xcdatamodeld", "ToDo1to2.xcmappingmodel"] {
      try manager.moveItem(
        at: sources.appendingPathComponent(name), to: shared.appendingPathComponent(name))
    }
    try manager.removeItem(at: sources.appendingPathComponent("Category.swift"))
    try Data(Self.byHand.replacing("final class", with: "@objc(Category)\nfinal class").utf8).write(
      to: shared.appendingPathComponent("Category.swift"))
    try Data("{\"folders\": [\"Shared\"], \"access\": \"internal\"}".utf8).write(
      to: sources.appendingPathComponent("coredata-modelc.json"))
    try Data(
      Self.manifest.replacing("CLARUS", with: SharedFiles.package.path).replacing(
        Self.modelPlugin, with: "\(Self.modelPlugin), \(Self.sourcesPlugin)"
      ).replacing("],\n      plugins:", with: "], exclude: [\"Shared\"],\n      plugins:").utf8
    ).write(to: folder.file("Package.swift"))
    let sixth: Output = try build(folder.url)
    #expect(sixth.status == 0 && !sixth.text.contains("warning: "), "\(sixth.text.suffix(2000))")
    #expect(try Programs.run(folder.url.appendingPathComponent(".build/debug/App"), []).text == run.text)

    // A model in a folder that the options do not name is told of, once, and so are those of other targets.
    try Data("{\"folders\": []}".utf8).write(to: sources.appendingPathComponent("coredata-modelc.json"))
    let stray: Output = try build(folder.url)
    let told: String =
      "ToDo.xcdatamodeld: Nothing compiles this model, since the target App excludes its folder"
    #expect(stray.text.ranges(of: told).count == 1, "\(stray.text.suffix(2000))")

    // One that does not exist has its line.
    let options: URL = sources.appendingPathComponent("coredata-modelc.json")
    try Data("{\n  \"folders\": [\n    \"Shaerd\"\n  ]\n}".utf8).write(to: options)
    let seventh: Output = try build(folder.url)
    #expect(
      seventh.status != 0 && seventh.text.contains("\(options.path):3: folders: There is no folder"),
      "\(seventh.text.suffix(2000))")
  }

  private func generatedClasses(_ folder: URL) throws -> String {
    let outputs: URL = folder.appendingPathComponent(".build/plugins/outputs")
    let names: [String] =
      FileManager.default.enumerator(atPath: outputs.path)?.compactMap { $0 as? String } ?? []
    let name: String = try #require(names.first { $0.hasSuffix("ToDo+CoreDataClasses.swift") })
    return try String(contentsOf: outputs.appendingPathComponent(name), encoding: .utf8)
  }

  private func build(_ folder: URL) throws -> Output {
    try Programs.run(URL(fileURLWithPath: "/usr/bin/env"), ["swift", "build"], in: folder)
  }
}
