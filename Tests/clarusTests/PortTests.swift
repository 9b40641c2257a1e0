import Foundation
import TestSupport
import Testing

/// `clarus port`, as a process.
@Suite struct PortTests {
  private static let item: String = """
    import CoreData
    import Foundation

    @objc(Item)
    public class Item: NSManagedObject {
      @NSManaged public var title: String?
      @objc dynamic var short: String { title ?? "@objc" }
      let expression: NSExpression? = nil
    }

    let path = #keyPath(Item.title)

    """

  private func folder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let sources: URL = folder.url.appendingPathComponent("Sources/Shop")
    try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
    try Self.item.write(to: sources.appendingPathComponent("Item.swift"), atomically: true, encoding: .utf8)
    try "let x = 1\nlet s = #selector(f)\n".write(
      to: sources.appendingPathComponent("View.swift"), atomically: true, encoding: .utf8)
    try "let s = \"open\n@objc class A {}\n".write(
      to: sources.appendingPathComponent("Broken.swift"), atomically: true, encoding: .utf8)
    return folder
  }

  @Test func `without --write nothing changes, and the diff is shown`() throws {
    let folder = try folder()
    let before = try FolderState(folder.url)
    let run = try CommandLineRun(shell: "cd '\(folder.url.path)' && \"$CLARUS\" port .")
    #expect(run.status == 0)
    #expect(run.output.contains("-@objc(Item)\n public class Item"))
    #expect(
      run.output.contains(
        "-  @objc dynamic var short: String { title ?? \"@objc\" }\n+  var short: String { title ?? \"@objc\" }\n"
      ))
    #expect(run.output.contains("--- /dev/null\n+++ b/Sources/Shop/CoreDataNames.swift\n@@ -0,0 +1,9 @@\n"))
    #expect(run.output.contains("+let path = \"title\"\n"))
    #expect(run.output.contains("+  public typealias NSExpression = CoreDataPredicates.NSExpression\n"))
    #expect(run.output.contains("Sources/Shop/View.swift:2:9"))
    #expect(
      run.output.contains("Broken.swift:1: not understood, not changed: This string literal has no end."))
    #expect(run.output.hasSuffix("3 files; 12 lines to change in 2 files; 1 place left to do by hand.\n"))
    #expect(try FolderState(folder.url) == before)
  }

  @Test func `with --write the files are changed, once`() throws {
    let folder = try folder()
    let first = try CommandLineRun(["port", folder.url.path, "--write", "--json"])
    let report = try #require(first.json() as? [String: Any])
    #expect(report["written"] as? Bool == true)
    #expect((report["files"] as? [[String: Any]])?.count == 2)
    let item: URL = folder.url.appendingPathComponent("Sources/Shop/Item.swift")
    let text: String = try String(contentsOf: item, encoding: .utf8)
    #expect(
      !text.contains("@objc(") && text.contains("\"@objc\"") && text.contains("@NSManaged public var title"))
    let after = try FolderState(folder.url)
    let second = try CommandLineRun(["port", folder.url.path, "--write"])
    #expect(second.output.hasSuffix("4 files; 0 lines changed in 0 files; 1 place left to do by hand.\n"))
    #expect(try FolderState(folder.url) == after)
  }

  @Test func `only a target without the plugin gets a file of aliases`() throws {
    let folder = try folder()
    try """
    let package = Package(name: "Shop", targets: [
      .target(name: "Shop", dependencies: [.product(name: "CoreData", package: "clarus")]),
      .testTarget(name: "Tests", plugins: [.plugin(name: "CoreDataModelPlugin", package: "clarus")]),
    ])
    """.write(to: folder.file("Package.swift"), atomically: true, encoding: .utf8)
    let without = try CommandLineRun(["port", folder.url.path])
    #expect(without.output.contains("CoreDataNames.swift"))
    let manifest: String = try String(contentsOf: folder.file("Package.swift"), encoding: .utf8)
    try manifest.replacing("\"clarus\")])", with: "\"clarus\")], plugins: [\"CoreDataModelPlugin\"])").write(
      to: folder.file("Package.swift"), atomically: true, encoding: .utf8)
    let with = try CommandLineRun(["port", folder.url.path])
    #expect(with.status == 0 && !with.output.contains("CoreDataNames.swift"))
  }

  // MARK: What is no file of the folder

  @Test func `a link out of the folder is left out and named, and what it leads to stays`() throws {
    let folder = try folder()
    let other = try TemporaryFolder()
    let text: String = "@objc class A {}\n"
    try FileManager.default.createDirectory(
      at: other.file("Shared"), withIntermediateDirectories: false)
    for name in ["Out.swift", "Shared/B.swift", "Names.swift"] {
      try text.write(to: other.file(name), atomically: true, encoding: .utf8)
    }
    let manifest: String = #"let package = Package(name: "Shop", targets: [.target(name: "Shop")])"#
    try manifest.write(to: other.file("Package.swift"), atomically: true, encoding: .utf8)
    let sources: URL = folder.file("Sources/Shop")
    for (name, place) in [
      (sources.appendingPathComponent("Out.swift"), other.file("Out.swift")),
      (sources.appendingPathComponent("Shared"), other.file("Shared")),
      (sources.appendingPathComponent("Gone.swift"), other.file("none")),
      (sources.appendingPathComponent("CoreDataNames.swift"), other.file("new")),
      (sources.appendingPathComponent("Again.swift"), sources.appendingPathComponent("View.swift")),
      (folder.file("Package.swift"), other.file("Package.swift")),
    ] { try FileManager.default.createSymbolicLink(at: name, withDestinationURL: place) }
    let before = try FolderState(other.url)
    let run = try CommandLineRun(["port", folder.url.path, "--write"])
    #expect(run.status == 0, "\(run)")
    for words in [
      "Shop/Out.swift: left out: It is a link out of the folder.",
      "Shop/Shared: left out: It is a link out of the folder.",
      "Shop/Gone.swift: left out: It is a link that leads to no file.",
      "Shop/CoreDataNames.swift: left out: It is a link that leads to no file",
    ] { #expect(run.output.contains(words), "\(run)") }
    #expect(!run.output.contains("Again.swift"), "\(run)")
    #expect(try FolderState(other.url) == before)
    let json = try CommandLineRun(["port", folder.url.path, "--json"])
    #expect(((try json.json() as? [String: Any])?["skipped"] as? [Any])?.count == 4, "\(json)")
  }

  @Test func `a pipe among the sources is left out and named`() throws {
    let folder = try folder()
    let run = try CommandLineRun(
      shell:
        "cd '\(folder.url.path)' && mkfifo Sources/Shop/Pipe.swift Package.swift && timeout 20 \"$CLARUS\" port ."
    )
    #expect(run.status == 0, "\(run)")
    #expect(run.output.contains("Sources/Shop/Pipe.swift: left out: It is a pipe, not a file."), "\(run)")
    let alone = try CommandLineRun(
      shell: "cd '\(folder.url.path)' && timeout 20 \"$CLARUS\" port Sources/Shop/Pipe.swift")
    #expect(alone.status == 1 && alone.errors.contains("It is a pipe, not a file."), "\(alone)")
  }

  @Test func `line ends of Windows stay, and only changed lines are shown`() throws {
    let folder = try TemporaryFolder()
    let text: String = "import UIKit\r\n@objc class A {}\r\n\r\nlet b = 1\r\n"
    let file: URL = folder.file("A.swift")
    try Data(text.utf8).write(to: file)
    let plan = try CommandLineRun(["port", folder.url.path])
    #expect(plan.output.contains("-@objc class A {}\r\n"), "\(plan)")
    #expect(plan.output.contains("\n let b = 1\r\n") && !plan.output.contains("-let b"), "\(plan)")
    #expect(try CommandLineRun(["port", folder.url.path, "--write"]).status == 0)
    let new: String = String(decoding: try Data(contentsOf: file), as: UTF8.self)
    #expect(
      new == "#if canImport(UIKit)\r\n  import UIKit\r\n#else\r\n  import Foundation\r\n#endif\r\n"
        + "class A {}\r\n\r\nlet b = 1\r\n")
  }

  @Test func `a target with the name of Apple's module is imported; a folder of that name is none`() throws {
    let folder = try TemporaryFolder()
    for (name, text) in [
      ("os/Log.swift", "let a = 1\n"), ("Shop/A.swift", "#if canImport(os)\nimport os\n#endif\n"),
    ] {
      let file: URL = folder.file("Sources/\(name)")
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(try !CommandLineRun(["port", folder.url.path]).output.contains("own-module"))
    try #"let package = Package(name: "Shop", targets: [.target(name: "os"), .target(name: "Shop")])"#.write(
      to: folder.file("Package.swift"), atomically: true, encoding: .utf8)
    let run = try CommandLineRun(["port", folder.url.path])
    #expect(run.output.contains("own-module (1 place)"), "\(run)")
  }

  // MARK: Manifests

  private static let library: String = #".product(name: "CoreData", package: "clarus")"#
  private static let sources: String = #".plugin(name: "CoreDataSourcesPlugin", package: "clarus")"#
  private static let models: String = #".plugin(name: "CoreDataModelPlugin", package: "clarus")"#
  private static let dependency: String = #"dependencies: [.package(name: "clarus", path: "../clarus")],"#

  /// The declaration of the target before and after; `Shop` has members with `@NSManaged`.
  @Test(arguments: [
    (#".target(name: "Shop")"#, #".target(name: "Shop", dependencies: [LIBRARY], plugins: [SOURCES])"#),
    (
      #".target(name: "Shop", dependencies: ["Base",], path: "Sources/Shop",)"#,
      #".target(name: "Shop", dependencies: ["Base", LIBRARY], path: "Sources/Shop", plugins: [SOURCES])"#
    ),
    (
      #".target(name: "Shop", dependencies: [], plugins: ["Other"])"#,
      #".target(name: "Shop", dependencies: [LIBRARY], plugins: ["Other", SOURCES])"#
    ),
    (
      #".target(name: "Shop", /* ) */ dependencies: [LIBRARY], plugins: [])"#,
      #".target(name: "Shop", /* ) */ dependencies: [LIBRARY], plugins: [SOURCES])"#
    ),
    (
      #".target(name: "Shop", dependencies: [LIBRARY], plugins: [SOURCES])"#,
      #".target(name: "Shop", dependencies: [LIBRARY], plugins: [SOURCES])"#
    ),
  ])
  func `a manifest that depends on Clarus gets the library and the plugin`(before: String, after: String)
    throws
  {
    func filled(_ text: String) -> String {
      "let package = Package(name: \"P\", \(Self.dependency) targets: [\(text)])\n"
        .replacing("LIBRARY", with: Self.library).replacing("SOURCES", with: Self.sources)
    }
    let folder = try folder()
    try filled(before).write(to: folder.file("Package.swift"), atomically: true, encoding: .utf8)
    let run = try CommandLineRun(["port", folder.url.path, "--write"])
    #expect(run.status == 0 && !run.output.contains("needs"), "\(run)")
    let manifest: String = try String(contentsOf: folder.file("Package.swift"), encoding: .utf8)
    #expect(manifest == filled(after).replacing(",, ", with: ", "))
    let state = try FolderState(folder.url)
    _ = try CommandLineRun(["port", folder.url.path, "--write"])
    #expect(try FolderState(folder.url) == state)
  }

  @Test func `a target with a model gets both plugins, and no file of aliases beside the plugin's`() throws {
    let folder = try folder()
    try FileManager.default.createDirectory(
      at: folder.file("Sources/Shop/Shop.xcdatamodeld"), withIntermediateDirectories: true)
    try
      "let package = Package(name: \"P\", \(Self.dependency) targets: [.target(name: \"Shop\", plugins: [\"A\"])])"
      .write(
        to: folder.file("Package.swift"), atomically: true, encoding: .utf8)
    _ = try CommandLineRun(["port", folder.url.path, "--write"])
    let manifest: String = try String(contentsOf: folder.file("Package.swift"), encoding: .utf8)
    #expect(manifest.contains("plugins: [\(Self.models), \"A\", \(Self.sources)])"), "\(manifest)")
    #expect(!FileManager.default.fileExists(atPath: folder.file("Sources/Shop/CoreDataNames.swift").path))
  }

  @Test(
    arguments: [
      (
        #"dependencies: all, targets: [.target(name: "Shop")]"#, ".",
        ["doesn't name Clarus yet: add .package(url:"]
      ),
      (
        dependency + #"targets: [.target(name: "Shop")]"#, "Sources/Shop",
        ["names Clarus already; what is missing has to be added by hand, since it is outside"]
      ),
      (dependency + #"targets: [.target(name: "Shop", dependencies: all)]"#, ".", []),
    ] as [(String, String, [String])])
  func `where a manifest can't be changed it is told what to write`(
    text: String, path: String, says: [String]
  ) throws {
    let folder = try folder()
    let manifest: String = "let package = Package(name: \"P\", \(text))\n"
    try manifest.write(to: folder.file("Package.swift"), atomically: true, encoding: .utf8)
    let run = try CommandLineRun(shell: "cd '\(folder.url.path)' && \"$CLARUS\" port \(path) --write")
    let needs: String =
      "Package.swift: the target Shop needs dependencies: [\(Self.library)] and plugins: [\(Self.sources)]"
    for text in says + [needs] { #expect(run.output.contains(text), "\(run.output)") }
    #expect(try String(contentsOf: folder.file("Package.swift"), encoding: .utf8) == manifest)
  }

  // A copy of Clarus in a folder of another name, as packages are that lie side by side.
  @Test func `Clarus is found by what the manifest in its folder says`() throws {
    let folder = try folder()
    try FileManager.default.createDirectory(at: folder.file("Core"), withIntermediateDirectories: true)
    try "let package = Package(name: \"clarus\")".write(
      to: folder.file("Core/Package.swift"), atomically: true, encoding: .utf8)
    try
      #"let package = Package(name: "P", dependencies: [.package(path: "Core")], targets: [.target(name: "Shop")])"#
      .write(to: folder.file("Package.swift"), atomically: true, encoding: .utf8)
    _ = try CommandLineRun(["port", folder.url.path, "--write"])
    let manifest: String = try String(contentsOf: folder.file("Package.swift"), encoding: .utf8)
    #expect(manifest.contains(#".product(name: "CoreData", package: "Core")"#), "\(manifest)")
  }

  @Test func `only what is imported asks for the library, and each package is told what it lacks`() throws {
    let folder = try TemporaryFolder()
    for (name, text) in [("A", Self.item), ("B", Self.item), ("C", "// import CoreData\nlet x = 1\n")] {
      let sources: URL = folder.file("\(name)/Sources/\(name)")
      try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
      try text.write(to: sources.appendingPathComponent("Item.swift"), atomically: true, encoding: .utf8)
      try "let package = Package(name: \"\(name)\", targets: [.target(name: \"\(name)\")])\n".write(
        to: folder.file("\(name)/Package.swift"), atomically: true, encoding: .utf8)
    }
    let run = try CommandLineRun(shell: "cd '\(folder.url.path)' && \"$CLARUS\" port .")
    for name in ["A", "B"] {
      #expect(run.output.contains("\(name)/Package.swift doesn't name Clarus yet"), "\(run.output)")
    }
    #expect(!run.output.contains("C/Package.swift"), "\(run.output)")
  }

  @Test func `where one file is write-protected none is changed`() throws {
    let folder = try folder()
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o444], ofItemAtPath: folder.file("Sources/Shop/Item.swift").path)
    let before = try FolderState(folder.url)
    let run = try CommandLineRun(["port", folder.url.path, "--write"])
    #expect(run.status == 1 && run.errors.contains("Item.swift: The file is write-protected"), "\(run)")
    #expect(try FolderState(folder.url) == before)
  }

  @Test(arguments: [
    ("Notes.md", "It is no Swift source: its name does not end in .swift."),
    ("Package.swift", "It is the manifest of a package."),
  ])
  func `a file that is no source is refused`(name: String, says: String) throws {
    let folder = try TemporaryFolder()
    try "@objc class A {}\n".write(to: folder.file(name), atomically: true, encoding: .utf8)
    let before = try FolderState(folder.url)
    let run = try CommandLineRun(["port", folder.file(name).path, "--write"])
    #expect(run.status == 1 && run.output.isEmpty && run.errors.contains(says), "\(run)")
    #expect(try FolderState(folder.url) == before)
  }

  @Test func `places to look at are counted apart from those that are left`() throws {
    let folder = try TemporaryFolder()
    try "let b = Bundle(identifier: \"a\")\nlet i: UIImage? = nil\n".write(
      to: folder.file("A.swift"), atomically: true, encoding: .utf8)
    let run = try CommandLineRun(["port", folder.url.path])
    #expect(
      run.status == 0 && run.output.hasSuffix("; 1 place left to do by hand, 1 to look at.\n"), "\(run)")
    #expect(run.output.contains("A.swift:1: Bundle(identifier:) is nil here"), "\(run)")
    #expect(run.output.contains("A.swift:2: UIImage is in UIKit"), "\(run)")
  }

  // Finding: the places were those of the files before the command changed them.
  @Test func `places are those of the files as they are afterwards`() throws {
    let folder = try TemporaryFolder()
    try "import UIKit\n@objc class A {}\nlet a = 1; @objc let i: UIImage? = nil; let j: UIImage? = nil\n"
      .write(
        to: folder.file("A.swift"), atomically: true, encoding: .utf8)
    let plan = try CommandLineRun(["port", folder.url.path])
    #expect(plan.output.contains("A.swift:3:25  UIImage"), "\(plan)")
    #expect(plan.output.contains("A.swift:3 (and in 1 other place): UIImage is in UIKit"), "\(plan)")
    for arguments in [["--write"], []] {
      let run = try CommandLineRun(["port", folder.url.path] + arguments)
      #expect(run.output.contains("A.swift:7:19  UIImage"), "\(run)")
    }
  }

  @Test func `what isn't there is an error`() throws {
    let run = try CommandLineRun(["port", "/nowhere"])
    #expect(run.status == 1 && run.errors.contains("There is no such file or folder"))
  }
}
