import CoreDataGraph
import CoreDataModel
import Foundation
import GRDB
import TestSupport
import Testing

/// `clarus convert`
@Suite struct ConvertTests {
  @Test(arguments: StoreRegistry.fileKinds.map { $0.type.lowercased() })
  func `a store goes to another kind and back with equal contents`(kind: String) throws {
    let store = try RichStore()
    defer { store.remove() }
    let there: String = store.file("There").path
    let back: String = store.file("Back.sqlite").path
    let before = try Data(contentsOf: store.url)
    let run = try CommandLineRun(["convert", store.path, there, "--to", kind, "--verify", "--json"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors == "")
    let report = try #require(try run.json() as? [String: Any])
    let verified = try #require(report["verified"] as? [String: Any])
    #expect(verified["objects"] as? Int == 29)
    let second = try CommandLineRun([
      "convert", there, back, "--model", store.path, "--to", "sqlite", "--verify",
    ])
    #expect(second.status == 0, "\(second.errors)")
    #expect(second.output.contains("Verified: 29 objects"))
    // The numbers of the first new store stay in the second one.
    let diff = try CommandLineRun(["diff", there, back, "--model", store.path])
    #expect(diff.status == 0, "\(diff.output)\(diff.errors)")
    #expect(diff.output == "The stores are equal: 29 objects compared.\n")
    let info = try CommandLineRun(["info", back, "--json"])
    let metadata = (try info.json() as? [String: Any])?["metadata"] as? [String: Any]
    #expect(metadata?["launches"] as? Int == 42)
    #expect(metadata?["NSStoreUUID"] as? String != (report["from"] as? [String: Any])?["uuid"] as? String)
    #expect(try Data(contentsOf: store.url) == before)
    #expect(store.names == ["Back.sqlite", "Rich.sqlite", "There"])
  }

  // Finding: one side was taken, and nothing said so.
  @Test func `relationships whose sides disagree are told`() throws {
    let store = try PhotoStore()
    defer { store.remove() }
    try makeDatabase(store.url, ["UPDATE ZPHOTO SET ZNEXT = 3 WHERE Z_PK = 1"])
    let folder = try TemporaryFolder()
    let document: String = folder.file("Photos.xml").path
    let run = try CommandLineRun(["convert", store.path, document])
    #expect(
      run.output.contains(
        "sides disagree: Photo.next names an object whose former does not name it in turn."),
      "\(run)")
    let check = try CommandLineRun(["check", document, "--model", store.path, "--json"])
    // What the new store keeps is not lost.
    #expect((run.status == 1) == !check.output.contains("\"inverse\""), "\(run) \(check)")
    let json = try CommandLineRun(["convert", store.path, folder.file("Second.xml").path, "--json"])
    #expect(
      ((try json.json() as? [String: Any])?["disagreeing"] as? [Any])?.isEmpty == false, "\(json)")
    // Pages are copied as they are.
    let copy = try CommandLineRun(["convert", store.path, folder.file("Copy.sqlite").path])
    #expect(copy.status == 0 && !copy.output.contains("disagree"), "\(copy)")
  }

  @Test func `of a document the side that was not taken is told, and the exit status is 1`() throws {
    let store = try PlaceStore()
    defer { store.remove() }
    let url: URL = store.file("Places.xml")
    #expect(try CommandLineRun(["convert", store.path, url.path]).status == 0)
    var text: String = try String(contentsOf: url, encoding: .utf8)
    // The first of a place's items is not in it any more.
    let list = try #require(
      text.firstMatch(of: /name="items" type="0\/0" destination="ITEM" idrefs="(z[0-9]+)"/))
    text.replaceSubrange(list.1.startIndex..<list.1.endIndex, with: "")
    try text.write(to: url, atomically: true, encoding: .utf8)
    let run = try CommandLineRun(["convert", url.path, store.file("Out.sqlite").path, "--model", store.path])
    #expect(run.output.contains("sides disagree: Item.place names an object whose items did not"), "\(run)")
    #expect(run.status == 1, "\(run)")
  }

  // Finding: "--model: --model-version: …".
  @Test func `a version that there is not is told of its own option`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let model: String = "Examples/ToDo/Sources/ToDo/ToDo.xcdatamodeld"
    let run = try CommandLineRun([
      "convert", store.path, store.file("x.xml").path, "--model",
      CommandLineRun.packageRoot.appendingPathComponent(model).path, "--model-version", "None",
    ])
    #expect(run.status == 1 && run.errors.hasPrefix("clarus: --model-version: "), "\(run)")
  }

  @Test func `the copy of a write-protected store may be written`() throws {
    let store = try RichStore()
    defer { store.remove() }
    func mode(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o440], ofItemAtPath: store.path)
    let copy: String = store.file("Copy.sqlite").path
    #expect(try CommandLineRun(["convert", store.path, copy]).status == 0)
    #expect(try mode(copy) == 0o640)
    #expect(try mode(store.path) == 0o440)
  }

  @Test func `values in files go along and come back`() throws {
    let store = try PhotoStore()
    defer { store.remove() }
    let copy: String = store.folder.appendingPathComponent("Copy.sqlite").path
    for (out, more) in [(copy, []), (store.folder.path + "/Photos.xml", ["--model", store.path])] {
      let run = try CommandLineRun(["convert", store.path, out, "--verify"])
      #expect(run.status == 0, "\(run.errors)")
      let diff = try CommandLineRun(["diff", store.path, out, "--by", "Photo=name"] + more)
      #expect(diff.status == 0, "\(diff.output)\(diff.errors)")
    }
    let files: [String] = try FileManager.default.contentsOfDirectory(
      atPath: store.folder.path + "/.Copy_SUPPORT/_EXTERNAL_DATA")
    #expect(files.count == 2)
    // Another store of the same name but for the ending has its files where those of the new one would be.
    let run = try CommandLineRun([
      "convert", store.folder.path + "/Photos.xml", store.folder.path + "/Copy.db",
      "--model", store.path, "--to", "sqlite",
    ])
    #expect(run.status == 1)
    #expect(run.errors.contains("Give a name that differs before its ending"), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: store.folder.path + "/Copy.db"))
  }

  @Test(arguments: ["xml", "bin"])
  func `references that lead nowhere are left out, and listed`(kind: String) throws {
    let store = try RichStore()
    defer { store.remove() }
    try makeDatabase(
      store.url,
      ["UPDATE ZITEM SET ZCATEGORY = 99 WHERE Z_PK < 3", "INSERT INTO Z_8TAGS VALUES (1, 99)"])
    let out: String = store.file("Out.\(kind)").path
    let run = try CommandLineRun(["convert", store.path, out, "--verify", "--json"])
    #expect(run.status == 0, "\(run.errors)")
    let report = try #require(try run.json() as? [String: Any])
    let found = try #require(report["leftOut"] as? [[String: Any]])
    #expect(found.map { $0["entity"] as? String } == ["Item", "Item"], "\(run.output)")
    #expect(found.map { $0["property"] as? String } == ["category", "tags"], "\(run.output)")
    #expect(found.map { $0["count"] as? Int } == [2, 1])
    #expect(found[0]["objects"] as? [String] == ["Item/p1", "Item/p2"])
    let check = try CommandLineRun(["check", out, "--model", store.path])
    #expect(check.status == 0, "\(check.output)")
    let text = try CommandLineRun(["convert", store.path, store.file("2.\(kind)").path])
    #expect(
      text.output.contains(
        "left out: Item.category names an object that does not exist; it is nil in the copy. 2 times: Item/p1, Item/p2\n"
      ),
      "\(text.output)")
    // Pages are copied as they are.
    let copy = try CommandLineRun(["convert", store.path, store.file("3.sqlite").path, "--json"])
    #expect(((try copy.json() as? [String: Any])?["leftOut"] as? [Any])?.isEmpty == true, "\(copy.output)")
  }

  @Test func `references to an object of a wrong entity are left out, and the copy can be read`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let folder = try TemporaryFolder()
    let model: URL = try folder.writeShop(
      "Shop",
      "<relationship name=\"cat\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"Cat\"/></entity>"
        + "<entity name=\"Animal\" syncable=\"YES\"><attribute name=\"name\" attributeType=\"String\" optional=\"YES\"/></entity>"
        + "<entity name=\"Cat\" parentEntity=\"Animal\" syncable=\"YES\"></entity>"
        + "<entity name=\"Dog\" parentEntity=\"Animal\" syncable=\"YES\">")
    try Data(
      #"{"Cat": [{"$id": "Cat/p1", "name": "Tom"}], "Dog": [{"name": "Rex"}], "Item": [{"cat": "Cat/p1"}]}"#
        .utf8
    )
    .write(to: folder.file("all.json"))
    let old: String = folder.file("Old.sqlite").path
    let made = try CommandLineRun([
      "import", old, folder.file("all.json").path, "--create", "--model", model.path,
    ])
    #expect(made.status == 0, "\(made.errors)")
    try makeDatabase(
      folder.file("Old.sqlite"), ["UPDATE ZITEM SET ZCAT = (SELECT Z_PK FROM ZANIMAL WHERE ZNAME = 'Rex')"])
    let new: String = folder.file("New.xml").path
    let run = try CommandLineRun(["convert", old, new, "--verify"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.contains("left out: Item.cat names an object that is no Cat"), "\(run.output)")
    #expect(try CommandLineRun(["check", new, "--model", old]).status == 0)
  }

  @Test func `equal values that are to be unique stop a copy, which names store, values and objects`() throws
  {
    let store = try RichStore()
    defer { store.remove() }
    try makeDatabase(
      store.url, ["DROP INDEX Z_Category_UNIQUE_name", "UPDATE ZCATEGORY SET ZNAME = 'fruit'"])
    let run = try CommandLineRun(["convert", store.path, store.file("Out.xml").path])
    #expect(run.status == 1)
    for text in [
      store.path, "Category", "name \"fruit\"", "/Category/p1 and ", "/Category/p2", "clarus check",
    ] {
      #expect(run.errors.contains(text), "\(run.errors)")
    }
    #expect(store.names == ["Rich.sqlite"])
  }

  @Test(arguments: ["Copy.sqlite", "Copy.xml"])
  func `a folder in the place of a value's file stops a conversion, which names attribute and object`(
    name: String
  ) throws {
    let store = try PhotoStore()
    defer { store.remove() }
    let file: URL = store.support.appendingPathComponent(store.valueFiles[0])
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    let run = try CommandLineRun(["convert", store.path, store.folder.appendingPathComponent(name).path])
    #expect(run.status == 1)
    for text in ["Photo.image of p", "It is a folder, not a file."] {
      #expect(run.errors.contains(text), "\(run.errors)")
    }
  }

  @Test func `a missing file of a value stops a conversion, and nothing is left`() throws {
    let store = try PhotoStore()
    defer { store.remove() }
    let gone: String = store.valueFiles[0]
    try FileManager.default.removeItem(at: store.support.appendingPathComponent(gone))
    let before = try FolderState(store.folder)
    for (name, more) in [("Copy.sqlite", []), ("Copy.sqlite", ["--verify"]), ("Copy.xml", ["--verify"])] {
      let run = try CommandLineRun(
        ["convert", store.path, store.folder.appendingPathComponent(name).path] + more)
      #expect(run.status == 1)
      #expect(run.errors.contains("Photo.image of "), "\(run.errors)")
      #expect(run.errors.contains(gone))
      #expect(run.errors.contains("`clarus check \(store.path) --repair OUT`"), "\(run.errors)")
      #expect(!run.errors.contains("includesPropertyValues"))
      #expect(try FolderState(store.folder) == before)
    }
    let export = try CommandLineRun(["export", store.path])
    #expect(export.status == 1)
    #expect(export.errors.contains("`clarus check \(store.path) --repair OUT`"), "\(export.errors)")
    #expect(!export.errors.contains("includesPropertyValues"))
  }

  /// A value that nothing can compute again.
  @Test func `the times of saves come through every kind, and through a repair`() throws {
    let folder = try TemporaryFolder()
    func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }
    let note = NSEntityDescription()
    note.name = "Note"
    let text = NSAttributeDescription()
    text.name = "text"
    text.attributeType = .stringAttributeType
    let saved = NSDerivedAttributeDescription()
    saved.name = "saved"
    saved.attributeType = .dateAttributeType
    saved.derivationExpression = .init(format: "now()")
    note.properties = [text, saved]
    let model = NSManagedObjectModel()
    model.entities = [note]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store: NSPersistentStore = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path("A.sqlite")))
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for number in 0..<3 {
        NSManagedObject(entity: note, insertInto: context).setValue("\(number)", forKey: "text")
        try context.save()
      }
    }
    try coordinator.remove(store)
    let places: [String] = ["A.sqlite", "B.xml", "C.binary", "D.sqlite", "E.binary", "F.xml", "G.sqlite"]
    for (from, to) in zip(places, places.dropFirst()) {
      let run = try CommandLineRun([
        "convert", path(from), path(to), "--model", path("A.sqlite"), "--verify",
      ])
      #expect(run.status == 0, "\(from) → \(to): \(run.errors)")
    }
    for name in ["Repaired.sqlite", "Repaired.xml", "Repaired.binary"] {
      let run = try CommandLineRun(["check", path("A.sqlite"), "--repair", path(name)])
      #expect(run.status == 0, "\(run.errors)\(run.output)")
      let diff = try CommandLineRun([
        "diff", path("A.sqlite"), path(name), "--model", path("A.sqlite"), "--by", "Note=text",
      ])
      #expect(diff.status == 0, "\(name): \(diff.output)\(diff.errors)")
    }
  }

  @Test(arguments: [
    ("Out.bin", "Binary"), ("Out.BINARY", "Binary"), ("Out.xml", "XML"), ("Out.db", "SQLite"),
    ("Out.sqlite3", "SQLite"), ("Out.store", "SQLite"), ("Out", "SQLite"),
  ])
  func `the ending of a name tells the kind, and --to wins`(name: String, type: String) throws {
    let store = try RichStore()
    defer { store.remove() }
    let run = try CommandLineRun(["convert", store.path, store.file(name).path])
    #expect(run.status == 0 && run.output.contains(": \(type) store with "), "\(run.output)\(run.errors)")
    let chosen = try CommandLineRun(["convert", store.path, store.file("a" + name).path, "--to", "xml"])
    #expect(chosen.output.contains(": XML store with "), "\(chosen.output)\(chosen.errors)")
    let diff = try CommandLineRun(["diff", store.path, store.file("a" + name).path, "--model", store.path])
    #expect(diff.status == 1)
    #expect(
      diff.output.contains("stores of these two kinds number them differently")
        && diff.output.contains("--by"),
      "\(diff.output.suffix(300))")
  }

  @Test func `folders that killed commands have left are removed by the next command at that place`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let temporary: URL = store.file("tmp")
    try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
    // A store with a log is read from a copy.
    try FileManager.default.copyItem(atPath: store.path, toPath: store.file("Log.sqlite").path)
    let queue = try DatabaseQueue(path: store.file("Log.sqlite").path)
    try queue.writeWithoutTransaction { database in
      _ = try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL")
      try database.execute(sql: "UPDATE ZTAG SET Z_OPT = Z_OPT + 1")
    }
    var old: [URL] = []
    for place in [temporary.appendingPathComponent("clarus-read"), store.file(".Out.xml.new")] {
      let folder = URL(fileURLWithPath: place.path + "-" + UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      try Data().write(to: folder.appendingPathComponent(".owner"))
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -3600)], ofItemAtPath: folder.path)
      old.append(folder)
    }
    let run = try CommandLineRun(
      shell: "TMPDIR='\(temporary.path)' \"$CLARUS\" convert '\(store.file("Log.sqlite").path)' "
        + "'\(store.file("Out.xml").path)'")
    try queue.close()
    #expect(run.status == 0, "\(run.errors)")
    for folder in old { #expect(!FileManager.default.fileExists(atPath: folder.path), "\(folder.path)") }
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path).isEmpty)
    #expect(!store.names.contains { $0.hasPrefix(".Out") }, "\(store.names)")
  }

  @Test func `nothing is written where something is, or where no store can be`() throws {
    let store = try RichStore()
    defer { store.remove() }
    let taken: URL = store.file("Taken.xml")
    try Data("mine".utf8).write(to: taken)
    try FileManager.default.createDirectory(at: store.file("Folder"), withIntermediateDirectories: false)
    let before = try FolderState(store.folder)
    for (name, says) in [
      ("Taken.xml", "already"), ("Rich.sqlite", "already"), ("Folder", "already"),
      ("no/Out.xml", "No such file"),
    ] {
      let run = try CommandLineRun(["convert", store.path, store.file(name).path])
      #expect(run.status == 1)
      #expect(run.errors.contains(says), "\(run.errors)")
      if says == "already" {
        #expect(run.errors.contains(store.file(name).path) && run.errors.contains("nothing was made"))
        #expect(!run.errors.contains("can't be opened"), "\(run.errors)")
      }
      #expect(run.errors.split(separator: "\n").count == 1)
    }
    let kind = try CommandLineRun(["convert", store.path, store.file("Out").path, "--to", "excel"])
    #expect(kind.status == 1)
    #expect(kind.errors.hasPrefix("clarus: --to: "))
    #expect(try FolderState(store.folder) == before)
  }

  @Test(arguments: [0, 1, 2, 5, 10, 20, 40, 80, 120, 160])
  func `an interrupted conversion leaves a whole store or nothing`(milliseconds: Int) throws {
    let store = try RichStore()
    defer { store.remove() }
    let out: URL = store.file("Out.xml")
    _ = try CommandLineRun(
      shell:
        "timeout -s INT 0.\(String(format: "%03d", milliseconds + 1)) \"$CLARUS\" convert '\(store.path)' '\(out.path)'"
    )
    if FileManager.default.fileExists(atPath: out.path) {
      let diff = try CommandLineRun(["info", out.path])
      #expect(diff.status == 0, "\(diff.errors)")
      #expect(store.names == ["Out.xml", "Rich.sqlite"])
    } else {
      #expect(store.names == ["Rich.sqlite"])
    }
  }

  @Test(arguments: ["Out.sqlite-wal", "Out.sqlite-journal"])
  func `a log that another database has left is not applied to the new store`(name: String) throws {
    let store = try RichStore()
    defer { store.remove() }
    try Data("left".utf8).write(to: store.file(name))
    let before = try FolderState(store.folder)
    let run = try CommandLineRun(["convert", store.path, store.file("Out.sqlite").path])
    #expect(run.status == 1)
    #expect(run.errors.contains(name), "\(run.errors)")
    let log = try CommandLineRun(["convert", store.path, store.path + "-wal"])
    #expect(log.status == 1)
    #expect(try FolderState(store.folder) == before)
  }

  /// A limit on the size of files takes the place of a full disk.
  @Test(arguments: ["convert '$STORE' '$OUT'", "check '$STORE' --repair '$OUT'"])
  func `errors name the new store, not the hidden place where it is made`(command: String) throws {
    let store = try RichStore()
    defer { store.remove() }
    // Without a log, the store is read where it is.
    try makeDatabase(store.url, [])
    for name in ["Out.xml", "Out.sqlite"] {
      let line: String = command.replacing("$STORE", with: store.path)
        .replacing("$OUT", with: store.file(name).path)
      let run = try CommandLineRun(shell: "trap '' XFSZ; ulimit -f 4; \"$CLARUS\" \(line)")
      #expect(run.status == 1)
      // A store without a log is read from a copy; then the error names the store.
      #expect(
        run.errors.contains(store.file(name).path) || run.errors.contains("The store \(store.path):"),
        "\(run.errors)")
      #expect(!run.errors.contains(".new-") && !run.errors.contains("store.sqlite"), "\(run.errors)")
      #expect(store.names == ["Rich.sqlite"])
    }
  }

  /// An XML store keeps the archives that transformers make; a binary store writes their objects again.
  @Test func `archives are compared by their values`() throws {
    let store = try TransformedStore()
    defer { store.remove() }
    let files: [String] = ["Out.xml", "Out.binary", "Out.sqlite"].map { store.folder.path + "/" + $0 }
    var source: String = store.path
    for (kind, out) in zip(["xml", "binary", "sqlite"], files) {
      let run = try CommandLineRun([
        "convert", source, out, "--model", store.path, "--to", kind, "--verify",
      ])
      #expect(run.status == 0, "\(run.errors)")
      source = out
    }
    let diff = try CommandLineRun(["diff", files[0], files[1], "--model", store.path])
    #expect(diff.status == 0, "\(diff.output)\(diff.errors)")
    let other: URL = store.folder.appendingPathComponent("Other.sqlite")
    try TransformedStore.fill(other, ["b": 2, "a": [1, 2, "4"]])
    let found = try CommandLineRun(["diff", store.path, other.path])
    #expect(found.status == 1)
    #expect(found.output.contains("tags"), "\(found.output)")
  }

  @Test(arguments: [
    ("ZSTRING = CAST(x'41FF42' AS TEXT)", "Everything.string", "bytes that are not UTF-8"),
    ("ZURI = CAST(x'EDA080' AS TEXT)", "Everything.uri", "bytes that are not UTF-8"),
    ("ZDECIMAL = 'twelve'", "Everything.decimal", "'twelve' is no decimal number"),
  ])
  func `a value that a file can't give back is refused by its object, and left out by a repair`(
    change: String, property: String, reason: String
  ) throws {
    let store = try RichStore()
    defer { store.remove() }
    try makeDatabase(store.url, ["UPDATE ZEVERYTHING SET \(change) WHERE Z_PK = 2"])
    for kind in ["xml", "binary"] {
      let out: String = store.file("Out").path
      let run = try CommandLineRun(["convert", store.path, out, "--to", kind])
      #expect(run.status == 1)
      #expect(run.errors.contains("\(property) of x-coredata://"), "\(run.errors)")
      #expect(run.errors.contains("/Everything/p2 can't be written"), "\(run.errors)")
      #expect(run.errors.contains(reason), "\(run.errors)")
    }
    #expect(store.names == ["Rich.sqlite"])
    let repair = try CommandLineRun(["check", store.path, "--repair", store.file("Out.xml").path])
    #expect(repair.status == 1)
    #expect(repair.output.contains("error: \(property) "), "\(repair.output)\(repair.errors)")
    let info = try CommandLineRun(["check", store.file("Out.xml").path, "--model", store.path])
    #expect(info.status == 0, "\(info.output)\(info.errors)")
  }
}

/// A store with a transformable attribute.
private struct TransformedStore {
  let folder: URL
  var path: String { folder.appendingPathComponent("Things.sqlite").path }

  init() throws {
    folder = try TemporaryFolder().url
    try Self.fill(
      URL(fileURLWithPath: path),
      ["a": [1, 2, ["x": "y"]], "b": 2, "c": "text", "d": Date(timeIntervalSince1970: 0)])
  }

  static func fill(_ url: URL, _ value: [String: Any]) throws {
    let attribute = NSAttributeDescription()
    attribute.name = "tags"
    attribute.attributeType = .transformableAttributeType
    attribute.valueTransformerName = "NSSecureUnarchiveFromData"
    attribute.isOptional = true
    let thing = NSEntityDescription()
    thing.name = "Thing"
    thing.properties = [attribute]
    let model = NSManagedObjectModel()
    model.entities = [thing]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store: NSPersistentStore = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for place in 0..<3 {
        let object = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
        object.setValue(place == 2 ? ["x", "y"] : value as Any, forKey: "tags")
      }
      try context.save()
    }
    try coordinator.remove(store)
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }
}
