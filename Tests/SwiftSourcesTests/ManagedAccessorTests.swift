import Foundation
import TestSupport
import Testing

@testable import SwiftSources

/// The accessors of `Forms`, compiled, linked with the modules of this build, and run.
///
/// A compiler that names accessors otherwise, or wants others, makes these tests fail in the linker.
struct ManagedAccessorTests {
  static let compiler: SwiftCompiler? =
    SwiftCompiler.found(inPath: ProcessInfo.processInfo.environment["PATH"] ?? "")

  private func accessors(
    _ module: String, _ sources: [SourceText], dependencies: [ManagedAccessors.Dependency] = [],
    in folder: URL
  ) throws -> ManagedAccessors {
    let compiler: SwiftCompiler = try #require(Self.compiler, "swiftc is in no folder of PATH")
    return try ManagedAccessors(
      module: module, sources: sources, dependencies: dependencies, compiler: compiler, folder: folder)
  }

  private func made(_ text: String, path: String = "/sources/Test.swift") throws -> ManagedAccessors {
    let folder = try TemporaryFolder()
    return try accessors("App", [SourceText(path: path, text)], in: folder.url)
  }

  // MARK: Programs

  struct Output {
    let status: Int32
    let text: String
  }

  static func run(_ arguments: [String], in folder: URL) throws -> Output {
    let log: URL = folder.appendingPathComponent("\(UUID().uuidString).log")
    try Data().write(to: log)
    let handle = try FileHandle(forWritingTo: log)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.standardOutput = handle
    process.standardError = handle
    try process.run()
    process.waitUntilExit()
    return Output(status: process.terminationStatus, text: try String(contentsOf: log, encoding: .utf8))
  }

  /// The folder of the build that this test belongs to.
  static let build: URL = {
    let folders: [URL] = [
      URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
      Bundle.main.bundleURL.deletingLastPathComponent(),
    ]
    return
      (folders.first {
        FileManager.default.fileExists(atPath: $0.appendingPathComponent("Modules/CoreData.swiftmodule").path)
      } ?? folders[0]).resolvingSymlinksInPath()
  }()

  /// Options that find the modules of this build.
  static var search: [String] {
    let checkouts: URL = build.appendingPathComponent("../../checkouts").standardizedFileURL
    return [
      build.appendingPathComponent("Modules").path,
      SharedFiles.package.appendingPathComponent("Sources/CZlib").path,
      SharedFiles.package.appendingPathComponent("Sources/CSwiftRuntime").path,
      checkouts.appendingPathComponent("GRDB.swift/Sources/GRDBSQLite").path,
    ].flatMap { ["-I", $0] }
  }

  /// The object files of the library, without those of its second build, for the tools of plugins.
  static func objects() throws -> [String] {
    let folders: [URL] = try FileManager.default.contentsOfDirectory(
      at: build, includingPropertiesForKeys: nil
    ).filter {
      let name: String = $0.lastPathComponent
      return name == "GRDB.build"
        || name.hasPrefix("CoreData") && name.hasSuffix(".build") && !name.contains("Test")
          && !name.contains("CodeGeneration") && !name.hasSuffix("-tool.build")
    }
    // What is not in the map was made of a file that is gone.
    return try folders.flatMap { folder in
      let map: Data = try Data(contentsOf: folder.appendingPathComponent("output-file-map.json"))
      let outputs: [String: [String: String]] = try JSONDecoder().decode(
        [String: [String: String]].self, from: map)
      return outputs.values.compactMap { $0["object"] }
        .filter { $0.hasSuffix(".o") && FileManager.default.fileExists(atPath: $0) }
    }.sorted()
  }

  /// Every way in which packages are built: each file on its own and whole modules, with and without the
  /// optimiser; for tests, which see internal members; with the code on the main actor by default.
  private static let ways: [[String]] =
    Soak.isOn
    ? [
      ["-Onone"], ["-O", "-wmo"], ["-O"], ["-Osize", "-wmo"], ["-Onone", "-wmo"],
      ["-Onone", "-enable-testing"],
      ["-O", "-wmo", "-D", "FORMS"], ["-Onone", "-swift-version", "6"], ["-O", "-wmo", "-enable-testing"],
    ] : [["-Onone", "-D", "FORMS"], ["-O", "-wmo"]]

  @Test(arguments: ways)
  func `every form compiles, links and works`(_ way: [String]) throws {
    let folder = try TemporaryFolder()
    let base = try Forms.sources("FormsBase")
    let forms = try Forms.sources("Forms")
    var objects: [String] = try Self.objects()
    for (module, sources, dependencies) in [
      ("FormsBase", base, []),
      ("Forms", forms, [ManagedAccessors.Dependency(name: "FormsBase", sources: base)]),
    ] {
      let made: ManagedAccessors = try accessors(
        module, sources, dependencies: dependencies, in: folder.url.appendingPathComponent(module))
      #expect(made.remarks.map(\.description) == [])
      let generated: URL = folder.url.appendingPathComponent("\(module)Accessors.swift")
      try made.text.write(to: generated, atomically: true, encoding: .utf8)
      var arguments: [String] = ["swiftc"] + way + ["-module-name", module, "-package-name", "forms"]
      arguments += Self.search + ["-I", folder.url.path]
      let place: URL = folder.url.appendingPathComponent("\(module)Objects")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      if module == "FormsBase" {
        arguments += ["-parse-as-library", "-c", "-emit-module", "-emit-module-path"]
        arguments.append(folder.url.appendingPathComponent("\(module).swiftmodule").path)
      } else {
        arguments += objects + ["-lsqlite3", "-lz", "-o", folder.url.appendingPathComponent("program").path]
      }
      arguments += sources.map(\.path) + [generated.path]
      let compiled: Output = try Self.run(arguments, in: place)
      objects += try FileManager.default.contentsOfDirectory(at: place, includingPropertiesForKeys: nil)
        .filter { $0.pathExtension == "o" }.map(\.path)
      try #require(compiled.status == 0, "\(module): \(compiled.text.suffix(4000))")
      #expect(!compiled.text.contains("Accessors.swift:"), "\(compiled.text)")
    }
    let run: Output = try Self.run([folder.url.appendingPathComponent("program").path], in: folder.url)
    #expect(run.status == 0)
    #expect(!run.text.contains("line ") && run.text.hasSuffix(" checks\n"), "\(run.text)")
  }

  // MARK: What is generated

  @Test func `an unchanged skeleton is not compiled again`() throws {
    let folder = try TemporaryFolder()
    func run(_ text: String) throws -> ManagedAccessors {
      try accessors("App", [SourceText(path: "/a/Item.swift", text)], in: folder.url)
    }
    let text: String = "import CoreData\nclass Item: NSManagedObject { @NSManaged var title: String? }"
    let first: ManagedAccessors = try run(text)
    #expect(first.didCompile && first.functionCount == 2)
    let second: ManagedAccessors = try run("// A comment.\n\n" + text + "\nfunc body() { print(1) }")
    #expect(!second.didCompile && second.text == first.text)
    let third: ManagedAccessors = try run(text.replacing("String?", with: "Int16"))
    #expect(third.didCompile && third.text != first.text)
  }

  @Test(arguments: [
    (
      "class Item: NSManagedObject {\n  @NSManaged private var kind: Kind\n}\nprivate enum Kind: Int16 { case a }",
      "2:26: warning: no accessors can be generated for 'kind', so that the program won't link: the type Kind is private"
    ),
    (
      "private class Item: NSManagedObject { @NSManaged var x: Int16 }",
      "1:71: warning: no accessors can be generated for 'x', so that the program won't link: the class is private"
    ),
    ("class Item<T>: NSManagedObject { @NSManaged var x: Int16 }", "the class is generic"),
    ("class Item: NSManagedObject { @NSManaged var x: Missing? }", "cannot find type 'Missing' in scope"),
    (
      "class Item: NSManagedObject { @NSManaged func frobnicate(_ x: Int16) }",
      "its name isn't one of the methods"
    ),
    (
      "func f() { class Item: NSManagedObject { @NSManaged var x: Int16 } }",
      "1:59: warning: no accessors can be generated for a member here"
    ),
    ("class Item: NSManagedObject { @NSManaged func countOfTags() -> Int }", "it returns a value"),
  ])
  func `what can't be placed is a remark at its line`(_ text: String, _ expected: String) throws {
    let made: ManagedAccessors = try made(
      "import CoreData; " + text + "\nclass Other: NSManagedObject { @NSManaged var y: Bool }")
    #expect(made.remarks.count == 1)
    #expect(made.remarks.first?.description.contains(expected) == true, "\(made.remarks)")
    #expect(made.functionCount == 2)
  }

  @Test func `sources without members need no compiler`() throws {
    let made: ManagedAccessors = try made("import CoreData\nclass Item: NSManagedObject {}")
    #expect(!made.didCompile && made.functionCount == 0 && made.remarks.isEmpty)
  }

  @Test func `a qualified type of Foundation is not the class of that name`() throws {
    let made: ManagedAccessors = try made(
      "import CoreData\nclass Data: NSManagedObject { @NSManaged var bytes: Foundation.Data?; @NSManaged var next: Data? }"
    )
    #expect(made.remarks.isEmpty)
    #expect(made.text.contains("-> Foundation.Data? { managedValue("))
    #expect(made.text.contains("-> Data? { managedObject("))
  }

  @Test func `a property has its static key, and reads no name`() throws {
    let made: ManagedAccessors = try made(
      "import CoreData\nopen class Item: NSManagedObject { @NSManaged open var title: String? }")
    #expect(
      made.text == """
        // The accessors of members with @NSManaged, under the names by which the compiler calls them. Made from the
        // sources of this module at each build; do not edit.
        import CoreData

        private enum ManagedAccessorKeys {
          nonisolated static let key0 = ManagedKey("title")
        }

        extension `Item` {
          @_silgen_name("$s3App4ItemC5titleSSSgvg") public nonisolated func _managed0() -> String? { managedValue(ManagedAccessorKeys.key0) }
          @_silgen_name("$s3App4ItemC5titleSSSgvs") public nonisolated func _setManaged0(_ newValue: __owned String?) { setManagedValue(newValue, ManagedAccessorKeys.key0) }
        }

        """)
  }

  /// The names of the modules in ``CoreDataTypes`` are part of the names of accessors.
  @Test func `the classes of the library are in the modules that the skeleton has them in`() throws {
    for (module, classes) in CoreDataTypes.classes {
      let folder: URL = SharedFiles.package.appendingPathComponent("Sources/\(module)")
      let paths: [String] = try #require(FileManager.default.subpaths(atPath: folder.path))
      let text: String = try paths.filter { $0.hasSuffix(".swift") }.map {
        try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
      }.joined(separator: "\n")
      for name in classes {
        #expect(
          text.firstMatch(of: try Regex("(open|public final|public) class \(name)\\b")) != nil,
          "\(module).\(name)")
      }
    }
  }
}
