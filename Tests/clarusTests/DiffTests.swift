import CoreDataStorage
import Foundation
import StoreConformance
import TestSupport
import Testing

/// `clarus diff`
@Suite struct DiffTests {
  /// A copy of a rich store after some changes.
  private func pair(_ change: (StoreWorld) throws -> Void) throws -> (RichStore, URL) {
    let store = try RichStore()
    let copy: URL = store.file("Copy.sqlite")
    #expect(try CommandLineRun(["convert", store.path, copy.path]).status == 0)
    let world: StoreWorld = try ShopStore.world(copy)
    try change(world)
    try world.engine.close()
    return (store, copy)
  }

  private func id(_ world: StoreWorld, _ entity: String, _ key: Int64) -> RowID {
    RowID(entity: world.layout.byName[entity]?.index ?? -1, key: key)
  }

  @Test func `copies are equal`() throws {
    let (store, copy) = try pair { _ in }
    defer { store.remove() }
    let run = try CommandLineRun(["diff", store.path, copy.path])
    #expect((run.output, run.errors, run.status) == ("The stores are equal: 29 objects compared.\n", "", 0))
  }

  @Test func `changed, added and removed objects are told with their properties`() throws {
    let (store, copy) = try pair { world in
      try world.update(id(world, "Item", 2), ["title": "new", "price": nil, "category": nil])
      try world.delete([id(world, "Tag", 1)])
      try world.insert("Tag", [["label": "z"]])
      let album: RowID = id(world, "Album", 1)
      try world.edit(album, "tracks", order: (1...5).map { id(world, "Track", $0) })
    }
    defer { store.remove() }
    let run = try CommandLineRun(["diff", store.path, copy.path])
    #expect(run.status == 1)
    #expect(run.errors == "")
    #expect(
      run.output.contains(
        "~ Album/p1\n    tracks: Track/p4, Track/p2, Track/p5, Track/p1, Track/p3 → Track/p1, Track/p2, Track/p3, Track/p4, Track/p5\n"
      ), "\(run.output)")
    #expect(
      run.output.contains(
        "~ Item/p2\n    category: Category/p2 → nil\n    price: 0.1 → nil\n    tags: Tag/p1 → nothing\n    title: item 1 → new\n"
      ),
      "\(run.output)")
    #expect(run.output.contains("\n- Tag/p1\n"))
    #expect(run.output.contains("\n+ Tag/p4\n"))
    let json = try CommandLineRun(["diff", store.path, copy.path, "--json", "--entity", "Tag"])
    #expect(json.status == 1)
    let report = try #require(try json.json() as? [String: Any])
    #expect(report["equal"] as? Bool == false)
    let differences = try #require(report["differences"] as? [[String: Any]])
    #expect(differences.map { $0["change"] as? String } == ["removed", "added"])
  }

  @Test func `objects correspond by the values of attributes`() throws {
    let store = try RichStore()
    defer { store.remove() }
    // An XML store numbers all objects anew.
    let other: String = store.file("Other.xml").path
    #expect(try CommandLineRun(["convert", store.path, other]).status == 0)
    let keys: [String] = [
      "Item=title", "Tag=label", "Album=name", "Track=name", "Playlist=name", "Person=name", "Note=text",
      "Animal=name", "Everything=int64,double", "unique",
    ]
    let run = try CommandLineRun(
      ["diff", store.path, other, "--model", store.path] + keys.flatMap { ["--by", $0] })
    #expect((run.output, run.status) == ("The stores are equal: 29 objects compared.\n", 0), "\(run.errors)")
    let identity = try CommandLineRun(["diff", store.path, other, "--model", store.path])
    #expect(identity.status == 1)
  }

  // Finding: a store differed from itself where a sub-entity's key was given and its parent's objects went by
  // their numbers.
  @Test(arguments: ["AudioBook=title", "Book=title", "Book=title,firstPublished"])
  func `a sub-entity may have a key of its own, or that of its parent`(key: String) throws {
    let store: String =
      CommandLineRun.packageRoot.appendingPathComponent("Examples/Stores/Library.sqlite").path
    let run = try CommandLineRun(["diff", store, store, "--by", key])
    #expect((run.output, run.status) == ("The stores are equal: 30 objects compared.\n", 0), "\(run)")
  }

  // Finding: `--by` was advised where it led nowhere: without attributes, or with the same values in objects
  // of the same numbers.
  @Test func `attributes are advised that tell the objects apart, and none where there are none`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let other: String = store.file("Other.xml").path
    #expect(try CommandLineRun(["convert", store.path, other]).status == 0)
    let base: [String] = ["diff", store.path, other, "--model", store.path]
    let plain = try CommandLineRun(base)
    let hint: String = try #require(plain.output.split(separator: "\n").last.map(String.init))
    #expect(hint.contains("number them differently. To compare them by their values: --by "), "\(hint)")
    #expect(!hint.contains("Entity="), "\(hint)")
    // As it says.
    let words: [String] = hint.components(separatedBy: " ").filter { $0.contains("=") }
      .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: ".")) }
    let led = try CommandLineRun(base + words.flatMap { ["--by", $0] })
    let entities: [String] = words.map { String($0.prefix { $0 != "=" }) }
    for entity in entities { #expect(!led.output.contains("- \(entity)/"), "\(led.output)") }
  }

  @Test func `nothing is advised where every object differs by its values alone`() throws {
    let (store, copy) = try pair { world in
      for key: Int64 in 1...3 { try world.update(id(world, "Tag", key), ["label": "new \(key)"]) }
    }
    defer { store.remove() }
    let run = try CommandLineRun(["diff", store.path, copy.path, "--entity", "Tag"])
    #expect(run.status == 1 && run.output.hasSuffix("3 objects differ.\n"), "\(run.output)")
  }

  @Test func `objects with equal keys are named`() throws {
    let (store, copy) = try pair { try $0.insert("Tag", [["label": "a"]]) }
    defer { store.remove() }
    let run = try CommandLineRun(["diff", store.path, copy.path, "--by", "Tag=label", "--entity", "Tag"])
    #expect(run.status == 1)
    #expect(run.output.contains("? not matched, with equal keys: Tag/p1, Tag/p4\n"), "\(run.output)")
  }

  @Test func `trouble is status 2`() throws {
    let store = try RichStore()
    defer { store.remove() }
    for arguments in [
      [store.path, store.file("none.sqlite").path], [store.path, store.folder.path],
      [store.path, store.path, "--by", "Itm=x"], [store.path, store.path, "--by", "Item=x"],
      [store.path, store.path, "--by", "Item"], [store.path, store.path, "--entity", "Itm"],
    ] {
      let run = try CommandLineRun(["diff"] + arguments)
      #expect(run.status == 2, "\(arguments)")
      #expect(run.output == "")
      #expect(
        run.errors.hasPrefix("clarus: ") && run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    }
  }
}
