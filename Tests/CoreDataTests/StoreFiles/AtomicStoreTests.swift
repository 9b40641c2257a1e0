import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Stores that are one file, as programs use them.
@Suite
struct AtomicStoreTests {
  private static let types: [String] = [NSXMLStoreType, NSBinaryStoreType]

  private static func open(
    _ url: URL, _ type: String, model: NSManagedObjectModel = World.shared,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Texts that a file can't hold as they stand.
  private static let texts: [String] = [
    "", "plain", "a <b> & \"c\" 'd'", "back\\slash \\u3c00", "tab\tline\nreturn\r end ",
    "\u{0}\u{1}\u{1F}\u{7F}",
    "\u{FFFE}\u{FFFF}\u{FFFD}", "日本 e\u{301} é 🧀👩‍👩‍👧", "]]>", "  spaces  ", "<!-- no -->", "&amp;", "$null",
  ]

  @Test(arguments: types, texts.indices)
  func `every value comes back as it was saved`(type: String, place: Int) throws {
    let folder = try TemporaryFolder()
    let text: String = Self.texts[place]
    let doubles: [Double] = [
      0, -0.0, 0.1, 1e300, -.leastNonzeroMagnitude, .infinity, 1e15, 123456789.123456789, -2,
    ]
    // Foundation's own archives keep no such text.
    let archived: String = text == "$null" ? "" : text
    let values: [String: Any] = [
      "i16": Int16.min, "i32": Int32.max, "i64": Int64.min + Int64(place), "flag": place % 2 == 0,
      "double": doubles[place % doubles.count], "float": Float(doubles[place % 3]),
      "date": Date(timeIntervalSinceReferenceDate: doubles[place % 5] / 3),
      "decimal": NSDecimalNumber(string: "-0.\(place)5"), "text": text,
      "uri": URL(string: "https://a.invalid/?b=\(place)&c=%3C")!, "uuid": UUID(),
      "bytes": Data((0..<place * 40).map { UInt8($0 % 256) }),
      "thing": ["k": [archived, place]] as NSDictionary,
    ]
    let first: NSManagedObjectContext = try Self.open(folder.file("a.store"), type)
    try first.performAndWait {
      _ = first.make("Kinds", values)
      _ = first.make("Kinds")
      try first.save()
    }
    let second: NSManagedObjectContext = try Self.open(folder.file("a.store"), type)
    try second.performAndWait {
      let all: [NSManagedObject] = try second.all(NSManagedObject.self, "Kinds")
      #expect(all.count == 2)
      let full: NSManagedObject = try #require(all.first { $0.value(forKey: "i16") != nil })
      let empty: NSManagedObject = try #require(all.first { $0 !== full })
      for (key, value) in values {
        let found: NSObject? = full.value(forKey: key) as? NSObject
        #expect(found == (value as! NSObject), "\(key)")
        #expect(empty.value(forKey: key) == nil, "\(key)")
      }
      let double: Double? = full.value(forKey: "double") as? Double
      #expect(double?.bitPattern == (values["double"] as? Double)?.bitPattern)
    }
  }

  @Test(arguments: types)
  func `names whose upper and lower case have other letters find their entities and properties`(type: String)
    throws
  {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("a.store")
    // Letters that one mapping of case changes, and the other does not change back.
    let letters: [String] = ["ß", "ẞ", "ı", "İ", "ſt", "ŉ", "ϴ", "ΑΣ", "ς", "ǅ", "ﬁ", "ΐ", "ᾳ", "Ⴀ", "ᏸ"]
    let model = NSManagedObjectModel()
    model.entities = letters.enumerated().map { number, letter in
      let (entity, text) = (NSEntityDescription(), NSAttributeDescription())
      let next = NSRelationshipDescription()
      entity.name = "E\(number)\(letter)"
      (text.name, text.attributeType) = ("p\(letter)", .stringAttributeType)
      (next.name, next.destinationEntity, next.maxCount, next.isOptional) = ("r\(letter)", entity, 1, true)
      entity.properties = [text, next]
      return entity
    }
    let first: NSManagedObjectContext = try Self.open(url, type, model: model)
    try first.performAndWait {
      for (number, letter) in letters.enumerated() {
        let object: NSManagedObject = first.make("E\(number)\(letter)", ["p\(letter)": letter])
        object.setValue(object, forKey: "r\(letter)")
      }
      try first.save()
    }
    let second: NSManagedObjectContext = try Self.open(url, type, model: model)
    try second.performAndWait {
      for (number, letter) in letters.enumerated() {
        let all: [NSManagedObject] = try second.all(NSManagedObject.self, "E\(number)\(letter)")
        #expect(all.count == 1)
        #expect(all.first?.value(forKey: "p\(letter)") as? String == letter)
        #expect(all.first?.value(forKey: "r\(letter)") as? NSManagedObject === all.first)
      }
    }
    let found = try NSPersistentStoreCoordinator.examineStore(at: url, model: model)
    #expect(found.problems.isEmpty, "\(found.problems)")
  }

  @Test(arguments: types)
  func `relationships of every kind come back, ordered ones in their order`(type: String) throws {
    let folder = try TemporaryFolder()
    let first: NSManagedObjectContext = try Self.open(folder.file("a.store"), type)
    func graph(_ context: NSManagedObjectContext) throws -> [String] {
      func name(_ object: NSManagedObject) -> String {
        (object.value(forKey: object.entity.attributesByName["title"] == nil ? "name" : "title") as? String)
          ?? "-"
      }
      var lines: [String] = []
      for entity in ["Item", "Category", "Tag", "Album", "Playlist", "Song", "Person", "Basket"] {
        for object in try context.all(NSManagedObject.self, entity) {
          for key in object.entity.relationshipsByName.keys {
            let value: Any? = object.value(forKey: key)
            let members: [String] =
              (value as? NSOrderedSet).map { $0.map { name($0 as! NSManagedObject) } }
              ?? (value as? NSSet).map { $0.map { name($0 as! NSManagedObject) }.sorted() }
              ?? (value as? NSManagedObject).map { [name($0)] } ?? []
            if !members.isEmpty { lines.append("\(name(object)).\(key): \(members)") }
          }
        }
      }
      return lines.sorted()
    }
    let before: [String] = try first.performAndWait {
      let items: [NSManagedObject] = ["i1", "i2", "i3"].map { first.make("Item", ["title": $0]) }
      let tags: [NSManagedObject] = ["t1", "t2"].map { first.make("Tag", ["name": $0]) }
      let songs: [NSManagedObject] = ["s1", "s2", "s3"].map { first.make("Song", ["name": $0]) }
      first.make("Category", ["name": "c"]).setValue(Set(items.prefix(2)), forKey: "items")
      for item in items { item.setValue(Set(tags), forKey: "tags") }
      first.make("Basket", ["name": "b"]).setValue(Set(items.suffix(2)), forKey: "items")
      first.make("Album", ["name": "a"])
        .setValue(NSOrderedSet(array: [songs[2], songs[0], songs[1]]), forKey: "songs")
      first.make("Playlist", ["name": "p"])
        .setValue(NSOrderedSet(array: [songs[1], songs[2]]), forKey: "songs")
      let people: [NSManagedObject] = ["x", "y"].map { first.make("Manager", ["name": $0]) }
      people[0].setValue(Set(people), forKey: "friends")
      people[0].setValue(people[1], forKey: "spouse")
      try first.save()
      return try graph(first)
    }
    let second: NSManagedObjectContext = try Self.open(folder.file("a.store"), type)
    let after: [String] = try second.performAndWait { try graph(second) }
    #expect(after == before)
    #expect(after.count == 20)
  }

  @Test(arguments: types)
  func `a URI names the same object when the file is opened again`(type: String) throws {
    let folder = try TemporaryFolder()
    let context: NSManagedObjectContext = try Self.open(folder.file("a.store"), type)
    let uris: [URL] = try context.performAndWait {
      let objects: [NSManagedObject] = [context.item("a"), context.category("b"), Tag(context: context)]
      try context.save()
      return objects.map { $0.objectID.uriRepresentation() }
    }
    // One sequence serves all entities.
    let first: Int = type == NSXMLStoreType ? 102 : 1
    #expect(Set(uris.map(\.lastPathComponent)) == Set((first...first + 2).map { "p\($0)" }))
    let second: NSManagedObjectContext = try Self.open(folder.file("a.store"), type)
    let coordinator = try #require(second.persistentStoreCoordinator)
    try second.performAndWait {
      let ids: [NSManagedObjectID] = uris.compactMap { coordinator.managedObjectID(forURIRepresentation: $0) }
      #expect(ids.count == 3)
      #expect(try ids.map { try second.existingObject(with: $0).entity.name } == ["Item", "Category", "Tag"])
      // Numbers are not used again.
      second.delete(try second.existingObject(with: ids[2]))
      try second.save()
      let new: Item = second.item("new")
      try second.save()
      #expect(new.objectID.uriRepresentation().lastPathComponent == "p\(first + 3)")
    }
  }

  @Test(arguments: types)
  func `of two that save one file the second is told, and nothing is lost`(type: String) throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("a.store")
    let first: NSManagedObjectContext = try Self.open(url, type)
    let second: NSManagedObjectContext = try Self.open(url, type)
    try first.performAndWait {
      _ = first.item("first")
      try first.save()
    }
    let error: NSError? = second.performAndWait {
      _ = second.item("second")
      return errorThrown { try second.save() }
    }
    #expect(error?.code == NSPersistentStoreOperationError)
    #expect(error?.localizedDescription.contains(url.path) == true)
    second.performAndWait { #expect(second.hasChanges) }
    let third: NSManagedObjectContext = try Self.open(url, type)
    #expect(try third.performAndWait { try third.all(Item.self, "Item").map(\.title) } == ["first"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["a.store"])
  }

  @Test(arguments: types)
  func `metadata is kept, and read and set without opening the store`(type: String) throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("a.store")
    let mine: [String: Any] = [
      "text": "<a> & b", "number": 5, "real": 0.25, "flag": true, "data": Data([0, 255]),
      "list": ["x", ["y": "z\n"]] as [Any], "date": Date(timeIntervalSinceReferenceDate: 1000),
    ]
    let context: NSManagedObjectContext = try Self.open(url, type)
    let store: NSPersistentStore = try #require(context.persistentStoreCoordinator?.persistentStores.first)
    context.persistentStoreCoordinator?.setMetadata(mine, for: store)
    try context.performAndWait {
      _ = context.item("a")
      try context.save()
    }
    func check(_ metadata: [String: Any], _ more: String? = nil) {
      for (key, value) in mine { #expect((metadata[key] as? NSObject) == (value as! NSObject), "\(key)") }
      #expect(metadata[NSStoreTypeKey] as? String == type)
      #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
      #expect(metadata["more"] as? String == more)
      #expect(World.shared.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }
    check(try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url))
    try context.persistentStoreCoordinator?.remove(store)
    try NSPersistentStoreCoordinator.setMetadata(
      mine.merging(["more": "m"]) { $1 }, forPersistentStoreOfType: type, at: url)
    check(try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url), "m")
    let again: NSManagedObjectContext = try Self.open(url, type)
    #expect(try again.performAndWait { try again.all(Item.self, "Item").map(\.title) } == ["a"])
  }

  @Test(arguments: types)
  func `a store of another model is refused with the entities that differ`(type: String) throws {
    let folder = try TemporaryFolder()
    _ = try Self.open(folder.file("a.store"), type)
    let model: NSManagedObjectModel = World.model()
    model.entitiesByName["Tag"]?.properties.append(World.attribute("more", .stringAttributeType))
    let error: NSError? = errorThrown { _ = try Self.open(folder.file("a.store"), type, model: model) }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    #expect(error?.localizedDescription.contains("Tag") == true)
  }

  @Test func `SQLite becomes XML, XML binary and binary SQLite, with every object`() throws {
    let stack = try Stack(.sqlite)
    try stack.run { context in
      let category: Category = context.category("c")
      for title in ["a", "b"] { context.item(title, category).tags = [Tag(context: context)] }
      try context.save()
    }
    var store: NSPersistentStore = try stack.coordinator.migratePersistentStore(
      stack.store, to: stack.folder.file("a.xml"), withType: NSXMLStoreType)
    #expect(try stack.titles() == ["a", "b"])
    let ids: [NSManagedObjectID] = try stack.elsewhere { try $0.all(Item.self, "Item").map(\.objectID) }
    store = try stack.coordinator.migratePersistentStore(
      store, to: stack.folder.file("a.binary"), withType: NSBinaryStoreType)
    // Both have one sequence of numbers.
    let uris: [String] = try stack.elsewhere { context in
      try context.all(Item.self, "Item").map { $0.objectID.uriRepresentation().lastPathComponent }
    }
    #expect(Set(uris) == Set(ids.map { $0.uriRepresentation().lastPathComponent }))
    try stack.elsewhere { context in
      let category: Category = try #require(try context.all(Category.self, "Category").first)
      #expect(category.items.count == 2 && category.items.allSatisfy { $0.tags.count == 1 })
      category.items.first { $0.title == "a" }?.title = "A"
      try context.save()
    }
    _ = try stack.coordinator.migratePersistentStore(
      store, to: stack.folder.file("b.sqlite"), withType: NSSQLiteStoreType)
    #expect(try stack.titles() == ["A", "b"])
    #expect(try stack.count("Tag") == 2)
  }

  @Test(arguments: types)
  func `read-only, destroyed, replaced and missing stores`(type: String) throws {
    let folder = try TemporaryFolder()
    let (url, copy): (URL, URL) = (folder.file("a.store"), folder.file("b.store"))
    let context: NSManagedObjectContext = try Self.open(url, type)
    let coordinator = try #require(context.persistentStoreCoordinator)
    try context.performAndWait {
      _ = context.item("a")
      try context.save()
    }
    let readOnly: NSManagedObjectContext = try Self.open(
      url, type, options: [NSReadOnlyPersistentStoreOption: true])
    readOnly.performAndWait {
      _ = readOnly.item("b")
      #expect(codeThrown { try readOnly.save() } == CocoaError.Code.fileWriteNoPermission.rawValue)
    }
    try coordinator.replacePersistentStore(
      at: copy, withPersistentStoreFrom: url, ofType: type)
    let second: NSManagedObjectContext = try Self.open(copy, type)
    #expect(try second.performAndWait { try second.all(Item.self, "Item").map(\.title) } == ["a"])
    try coordinator.destroyPersistentStore(at: copy, ofType: type)
    #expect(!FileManager.default.fileExists(atPath: copy.path))
    second.performAndWait {
      _ = second.item("b")
      #expect(codeThrown { try second.save() } == NSPersistentStoreOperationError)
    }
    #expect(
      codeThrown { _ = try Self.open(copy, type, options: [NSReadOnlyPersistentStoreOption: true]) }
        == CocoaError.Code.fileReadNoSuchFile.rawValue)
    try coordinator.destroyPersistentStore(at: url, ofType: type)
    #expect(coordinator.persistentStores.isEmpty)
  }

  @Test func `damaged documents are errors that tell the place`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("a.store")
    let type: String = NSXMLStoreType
    let context: NSManagedObjectContext = try Self.open(url, type)
    try context.performAndWait {
      for title in ["a", "b"] {
        let item: Item = context.item(title)
        item.tags = [Tag(context: context)]
        item.price = 2
      }
      try context.save()
    }
    let whole = try String(contentsOf: url, encoding: .utf8)
    for (what, with, words) in [
      ("id=\"z103\"", "id=\"z102\"", "two objects"), ("id=\"z103\"", "id=\"103\"", "z and a number"),
      ("type=\"TAG\"", "type=\"TOG\"", "no entity 'TOG'"),
      ("name=\"title\"", "name=\"tutle\"", "no attribute 'tutle'"),
      ("name=\"tags\"", "name=\"togs\"", "no relationship 'togs'"), ("</database>", "", "is cut off"),
      ("type=\"double\">2", "type=\"double\">x", "no value for Item.price"),
      ("<database>", "<datebase>", "<datebase>"), ("134481920", "7", "version"),
      ("idrefs=\"z", "idrefs=\"z-9", "an object with the id -9"),
    ] {
      let damaged: String = whole.replacingOccurrences(of: what, with: with)
      #expect(damaged != whole, "\(what)")
      try damaged.write(to: folder.file("d.xml"), atomically: true, encoding: .utf8)
      let error: NSError? = errorThrown { _ = try Self.open(folder.file("d.xml"), type) }
      #expect(error?.localizedDescription.contains(words) == true, "\(what): \(String(describing: error))")
    }
  }

  @Test func `validation refuses what other readers of XML stores would not know`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("a.store")
    let context: NSManagedObjectContext = try Self.open(url, NSXMLStoreType)
    try context.performAndWait {
      let item: Item = context.item("a")
      item.tags = [Tag(context: context)]
      item.category = context.category("c")
      try context.save()
    }
    let whole = try String(contentsOf: url, encoding: .utf8)
    let validating: [AnyHashable: Any] = [NSValidateXMLStoreOption: true]
    _ = try Self.open(url, NSXMLStoreType, options: validating)
    for (what, with, words) in [
      ("</databaseInfo>", "</databaseInfo><note>x</note>", "<note>"),
      ("<version>", "<author>me</author><version>", "<author>"),
      ("<object ", "<object color=\"red\" ", "'color'"),
      (" type=\"string\"", "", "has no 'type'"), ("idrefs=\"z", "idrefs=\"z9", "not in the file"),
    ] {
      let strange: String = whole.replacingOccurrences(of: what, with: with)
      #expect(strange != whole, "\(what)")
      let copy: URL = folder.file("d.xml")
      try strange.write(to: copy, atomically: true, encoding: .utf8)
      let error: NSError? = errorThrown { _ = try Self.open(copy, NSXMLStoreType, options: validating) }
      #expect(error?.localizedDescription.contains(words) == true, "\(what): \(String(describing: error))")
      let lenient: NSManagedObjectContext = try Self.open(copy, NSXMLStoreType)
      #expect(try lenient.performAndWait { try lenient.all(Item.self, "Item").map(\.title) } == ["a"])
    }
  }

  @Test func `what the text of a document can't mean is refused`() throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("a.store")
    let context: NSManagedObjectContext = try Self.open(url, NSXMLStoreType)
    try context.performAndWait {
      _ = context.item("a")
      try context.save()
    }
    let whole = try String(contentsOf: url, encoding: .utf8)
    let next = try #require(whole.firstMatch(of: /<nextObjectID>[0-9]+/))
    for (what, with, words) in [
      (
        "<database>", "<!DOCTYPE database [<!ENTITY x SYSTEM \"file:///etc/hostname\">]>\n<database>",
        "entities"
      ),
      (String(next.output), "<nextObjectID>9223372036854775807", "nextObjectID"),
    ] {
      let lines: [Substring] = whole.split(separator: "\n", omittingEmptySubsequences: false)
        .filter { what != "<database>" || !$0.contains("<!DOCTYPE") }
      let copy: URL = folder.file("d.xml")
      try lines.joined(separator: "\n").replacingOccurrences(of: what, with: with)
        .write(to: copy, atomically: true, encoding: .utf8)
      let error: NSError? = errorThrown { _ = try Self.open(copy, NSXMLStoreType) }
      #expect(error?.localizedDescription.contains(words) == true, "\(what): \(String(describing: error))")
    }
  }

  @Test(arguments: types)
  func `destroying and replacing touch no file of another kind`(type: String) throws {
    let folder = try TemporaryFolder()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    let pipe: URL = folder.file("pipe")
    #expect(mkfifo(pipe.path, 0o600) == 0)
    #expect(throws: (any Error).self) { try coordinator.destroyPersistentStore(at: pipe, ofType: type) }
    #expect(FileManager.default.fileExists(atPath: pipe.path))
    let source: URL = folder.file("source.store")
    let context: NSManagedObjectContext = try Self.open(source, type)
    try context.performAndWait {
      _ = context.item("a")
      try context.save()
    }
    let text: URL = folder.file("words.txt")
    try Data("just words".utf8).write(to: text)
    let error: NSError? = errorThrown {
      try coordinator.replacePersistentStore(at: text, withPersistentStoreFrom: source, ofType: type)
    }
    #expect(error?.code == NSPersistentStoreInvalidTypeError)
    #expect(try Data(contentsOf: text) == Data("just words".utf8))
  }
}
