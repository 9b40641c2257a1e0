import CoreDataArchives
import Foundation
import TestSupport
import Testing

/// Stores and models written by Apple's tools, where they are at hand.
@Suite(.enabled(if: Fixtures.areThere, "There are no fixtures; set CLARUS_FIXTURES to their folder."))
struct FixtureTests {
  @Test(arguments: Fixtures.stores)
  func `info counts what plain SQL counts and changes nothing`(store: String) throws {
    let folder: URL = try Fixtures.copy(store)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file: URL = folder.appendingPathComponent(URL(fileURLWithPath: store).lastPathComponent)
    let before = try FolderState(folder)
    let run = try CommandLineRun(["info", file.path, "--json"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(try FolderState(folder) == before, "file, journal and folder are as before")
    let root = try #require(try run.json() as? [String: Any])
    let entities = try #require(root["entities"] as? [[String: Any]])
    let table = try CommandLineRun(["info", file.path])
    #expect(table.status == 0)

    // SQL looks last: opening the file changes it.
    let expected = try plainCounts(file)
    #expect(entities.map { $0["count"] as? Int } == expected.map(\.count))
    // A migrated store may keep an entity's old name in its table.
    let renamed: Int = zip(entities, expected).count { $0["name"] as? String != $1.name }
    #expect(renamed <= 2)
    for (entity, row) in zip(entities, expected) {
      #expect(table.output.contains(entity["name"] as? String ?? "?"), "\(row.name)")
    }
  }

  @Test(arguments: Fixtures.stores)
  func `every entity of a store that carries its model can be fetched`(store: String) throws {
    let folder: URL = try Fixtures.copy(store)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file: URL = folder.appendingPathComponent(URL(fileURLWithPath: store).lastPathComponent)
    let before = try FolderState(folder)
    let info = try CommandLineRun(["info", file.path, "--json"])
    let root = try #require(try info.json() as? [String: Any])
    guard (root["model"] as? [String: Any])?["source"] is String else { return }
    let entities = try #require(root["entities"] as? [[String: Any]])
    for entity in entities where (entity["count"] as? Int ?? 0) > 0 && entity["superentity"] is NSNull {
      let name: String = entity["name"] as? String ?? ""
      let run = try CommandLineRun(["fetch", file.path, name, "--json", "--limit", "50"])
      #expect(run.status == 0, "\(name): \(run.errors)")
      let rows = try #require(try run.json() as? [[String: Any]])
      #expect(!rows.isEmpty)
    }
    #expect(try FolderState(folder) == before)
  }

  @Test(arguments: Fixtures.stores)
  func `the first object of every entity is shown with its data decoded`(store: String) throws {
    let folder: URL = try Fixtures.copy(store)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file: URL = folder.appendingPathComponent(URL(fileURLWithPath: store).lastPathComponent)
    let before = try FolderState(folder)
    let counts = try CommandLineRun(["info", file.path, "--counts", "--json"])
    let model = try CommandLineRun(["model", "hash", file.path])
    guard model.status == 0 else { return }
    let entities = try #require((try counts.json() as? [String: Any])?["entities"] as? [[String: Any]])
    for entity in entities where (entity["count"] as? Int ?? 0) > 0 {
      let name: String = entity["name"] as? String ?? ""
      let facts = try CommandLineRun(["info", file.path, "--entity", name, "--json"])
      #expect(facts.status == 0, "\(name): \(facts.errors)")
      #expect((try facts.json() as? [String: Any])?["count"] as? Int == entity["count"] as? Int)
      let first = try CommandLineRun([
        "fetch", file.path, name, "--columns", "objectID", "--limit", "1", "--sort", "objectID", "--json",
      ])
      let id = try #require((try first.json() as? [[String: String]])?.first?["objectID"], "\(name)")
      let shown = try CommandLineRun(["show", file.path, id, "--json"])
      #expect(shown.status == 0, "\(name): \(shown.errors)")
      let root = try #require(try shown.json() as? [String: Any])
      #expect(root["objectID"] as? String == id)
      #expect(try CommandLineRun(["show", file.path, id]).status == 0)
    }
    #expect(try FolderState(folder) == before)
  }

  @Test(arguments: [
    (
      "73153+apple-ios-samples-master/iPhoneCoreDataRecipes/RecipeData/Recipes.sqlite",
      "73153+apple-ios-samples-master/iPhoneCoreDataRecipes/Recipes.xcdatamodel"
    ),
    (
      "artsy+energy/Resources/CoreData/oss_stubbed_data.sqlite",
      "artsy+energy/Resources/CoreData/ArtsyPartner.xcdatamodeld"
    ),
    (
      "duckduckgo+BrowserServicesKit/Tests/BookmarksTests/Resources/Bookmarks_V3.sqlite",
      "duckduckgo+BrowserServicesKit/Sources/Bookmarks/BookmarksModel.xcdatamodeld"
    ),
  ])
  func `a model of several versions lends the one that fits, or says what differs`(
    store: String, model: String
  ) throws {
    let folder: URL = try Fixtures.copy("stores-sqlite/" + store)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file: URL = folder.appendingPathComponent(URL(fileURLWithPath: store).lastPathComponent)
    let path: String = Fixtures.folder.appendingPathComponent("models/" + model).path
    let run = try CommandLineRun(["info", file.path, "--model", path, "--json"])
    if run.status == 0 {
      let root = try #require(try run.json() as? [String: Any])
      #expect((root["model"] as? [String: Any])?["path"] as? String == path)
    } else {
      #expect(run.errors.contains("fit") || run.errors.contains("Xcode 3"), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1)
    }
  }

  @Test(arguments: Fixtures.files("stores-binary"))
  func `binary stores tell their entities and counts without a model`(store: String) throws {
    let url: URL = Fixtures.folder.appendingPathComponent(store)
    let run = try CommandLineRun(["info", url.path, "--json"])
    #expect(run.status == 0 && run.errors.isEmpty)
    let root = try #require(try run.json() as? [String: Any])
    let entities = try #require(root["entities"] as? [[String: Any]])
    let count: Int = entities.reduce(0) { $0 + ($1["count"] as? Int ?? 0) }
    // Each object has the field once, inline.
    let bytes: Data = try Data(contentsOf: url)
    let archive = try KeyedArchive(bytes[64..<64 + Int(bytes[40..<48].reduce(0) { $0 << 8 | UInt64($1) })])
    let nodes: Int = archive.objects.count { node in
      if case .dictionary(let fields) = node { fields["NSPrimaryKey64"] != nil } else { false }
    }
    #expect(count == nodes)
    let model = try CommandLineRun(["model", "hash", url.path])
    #expect(model.errors.contains("carry no model"))
  }

  @Test(arguments: Fixtures.files("stores-xml"))
  func `XML stores tell their entities and counts without a model`(store: String) throws {
    let url: URL = Fixtures.folder.appendingPathComponent(store)
    let run = try CommandLineRun(["info", url.path, "--json"])
    #expect(run.status == 0 && run.errors.isEmpty)
    let root = try #require(try run.json() as? [String: Any])
    let entities = try #require(root["entities"] as? [[String: Any]])
    let count: Int = entities.reduce(0) { $0 + ($1["count"] as? Int ?? 0) }
    let text = try String(contentsOf: url, encoding: .utf8)
    #expect(count == text.components(separatedBy: "<object ").count - 1)
    let model = try CommandLineRun(["model", "hash", url.path])
    #expect(model.errors.contains("carry no model"))
  }

  @Test(arguments: Fixtures.models)
  func `every model shows and hashes, or says why not`(model: String) throws {
    let path: String = Fixtures.folder.appendingPathComponent(model).path
    let show = try CommandLineRun(["model", "show", path, "--json"])
    let hash = try CommandLineRun(["model", "hash", path, "--json"])
    #expect(show.status == hash.status)
    if show.status != 0 {
      #expect(show.errors.split(separator: "\n").count == 1)
      #expect(show.errors.contains("Xcode 3") || show.errors.contains("version"), "\(show.errors)")
      return
    }
    let entities = try #require((try show.json() as? [String: Any])?["entities"] as? [[String: Any]])
    let hashes = try #require(try hash.json() as? [String: String])
    #expect(Set(entities.compactMap { $0["name"] as? String }) == Set(hashes.keys))
    for entity in entities {
      #expect(entity["versionHash"] as? String == hashes[entity["name"] as? String ?? ""])
    }
  }
}

enum Fixtures {
  static let folder: URL = SharedFiles.fixtures ?? SharedFiles.package

  static let areThere: Bool = FileManager.default.fileExists(
    atPath: folder.appendingPathComponent("stores-sqlite").path)

  /// Paths below the fixtures' folder.
  static let stores: [String] = files("stores-sqlite").filter {
    !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
  }

  static let models: [String] =
    files("models").filter { $0.hasSuffix(".xcdatamodel/contents") }
    .map { String($0.dropLast("/contents".count)) } + files("mom").filter { $0.hasSuffix(".mom") }

  static func files(_ part: String) -> [String] {
    let base: URL = folder.appendingPathComponent(part)
    var paths: [String] = []
    let files: FileManager.DirectoryEnumerator? = FileManager.default.enumerator(atPath: base.path)
    while let name = files?.nextObject() as? String {
      var isFolder: ObjCBool = false
      let path: String = base.appendingPathComponent(name).path
      if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue {
        paths.append("\(part)/\(name)")
      }
    }
    return paths.sorted()
  }

  /// A folder with a writable copy of a store and what belongs to it.
  static func copy(_ store: String) throws -> URL {
    let target: URL = try TemporaryFolder().url
    let source: URL = folder.appendingPathComponent(store)
    for suffix in ["", "-wal"] {
      let from = URL(fileURLWithPath: source.path + suffix)
      guard FileManager.default.fileExists(atPath: from.path) else { continue }
      let to: URL = target.appendingPathComponent(from.lastPathComponent)
      try Data(contentsOf: from).write(to: to)
    }
    return target
  }
}
