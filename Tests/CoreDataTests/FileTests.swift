import CoreData
import Foundation
import GRDB
import StackSupport
import Testing

/// Files written by the graph: every value comes back, and plain SQL finds what Apple's framework
/// would have written.
@Suite
struct FileTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let key: String
    let value: @Sendable () -> Any?
    var testDescription: String { "\(key) \(value().map { "\($0)".prefix(30) } ?? "nil")" }

    init(_ key: String, _ value: @autoclosure @escaping @Sendable () -> Any?) {
      (self.key, self.value) = (key, value)
    }
  }

  static let cases: [Case] =
    [
      "i16", "i32", "i64", "flag", "double", "float", "date", "decimal", "text", "uri", "uuid", "bytes",
      "thing",
    ]
    .map { Case($0, nil) } + [
      Case("i16", Int16.min), Case("i16", Int16.max), Case("i32", Int32.min), Case("i32", Int32.max),
      Case("i64", Int64.min), Case("i64", Int64.max), Case("i64", 0), Case("flag", true), Case("flag", false),
      Case("double", 0.1), Case("double", -0.0), Case("double", Double.greatestFiniteMagnitude),
      Case("double", Double.leastNonzeroMagnitude), Case("double", Double.infinity),
      Case("float", Float(0.1)),
      Case("float", Float.greatestFiniteMagnitude), Case("date", Date(timeIntervalSinceReferenceDate: 0)),
      Case("date", Date(timeIntervalSinceReferenceDate: 785_000_000.123456)),
      Case("date", Date(timeIntervalSinceReferenceDate: -63_000_000_000.654321)),
      Case("date", Date.distantPast),
      Case("date", Date.distantFuture), Case("decimal", Decimal(string: "0")),
      Case("decimal", Decimal(string: "-123456789.012345")),
      Case("decimal", Decimal(string: "0.000000000000000000000000000001")),
      Case("text", ""), Case("text", "naïve 日本語 👩‍👩‍👧 \u{0} after nul"), Case("text", "e\u{301}"),
      Case("text", "\u{e9}"),
      Case("text", String(repeating: "long ", count: 100_000)),
      Case("uri", URL(string: "https://a.b/c?d=e#f")),
      Case("uri", URL(string: "mailto:x@y.z")), Case("uri", URL(fileURLWithPath: "/tmp/a b")),
      Case("uuid", UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")), Case("bytes", Data()),
      Case("bytes", Data([0, 255, 1])), Case("bytes", Data(repeating: 7, count: 300_000)),
      Case("thing", ["a", "b"] as NSArray), Case("thing", ["k": 1] as NSDictionary),
      Case("thing", "text" as NSString),
    ]

  private func same(_ found: Any?, _ wanted: Any?) -> Bool {
    switch (found, wanted) {
    case (nil, nil): return true
    case (let found as String, let wanted as String): return found.utf8.elementsEqual(wanted.utf8)
    case (let found as Date, let wanted as Date):
      return found.timeIntervalSinceReferenceDate == wanted.timeIntervalSinceReferenceDate
    case (let found as NSDecimalNumber, let wanted as Decimal):
      return found.decimalValue.description == wanted.description
    case (let found as Data, let wanted as Data): return found == wanted
    case (let found as UUID, let wanted as UUID): return found == wanted
    case (let found as URL, let wanted as URL): return found.absoluteString == wanted.absoluteString
    case (let found as NSNumber, let wanted?):
      if let wanted = wanted as? Float { return found.floatValue == wanted }
      if let wanted = wanted as? Double { return found.doubleValue == wanted }
      if let wanted = wanted as? Bool { return found.boolValue == wanted }
      if let wanted = wanted as? any BinaryInteger { return found.int64Value == Int64(wanted) }
      return false
    case (let found as NSObject, let wanted as NSObject): return found.isEqual(wanted)
    default: return false
    }
  }

  @Test func `every kind of value is the same in a second stack on the file`() throws {
    let stack = try Stack(.sqlite)
    let uris: [URL] = try stack.run { context in
      let objects: [NSManagedObject] = Self.cases.map { example in
        context.make("Kinds", example.value().map { [example.key: $0] } ?? [:])
      }
      try context.save()
      for (object, example) in zip(objects, Self.cases) {
        #expect(same(object.value(forKey: example.key), example.value()), "\(example.testDescription)")
      }
      // Written over values of another length, and cleared.
      let reused: NSManagedObject = context.make("Kinds", ["text": "x", "bytes": Data([1]), "date": Date()])
      try context.save()
      for key in ["text", "bytes", "date"] { reused.setValue(nil, forKey: key) }
      try context.save()
      return (objects + [reused]).map { $0.objectID.uriRepresentation() }
    }
    try stack.coordinator.remove(stack.store)
    let container = NSPersistentContainer(name: "World", managedObjectModel: World.model())
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: stack.folder.file("World.sqlite"))
    ]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let context: NSManagedObjectContext = container.newBackgroundContext()
    try context.performAndWait {
      for (uri, example) in zip(uris, Self.cases) {
        let id: NSManagedObjectID = try #require(
          container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri))
        let object: NSManagedObject = try context.existingObject(with: id)
        #expect(same(object.value(forKey: example.key), example.value()), "\(example.testDescription)")
        for (key, attribute) in object.entity.attributesByName
        where key != example.key && attribute.defaultValue == nil {
          #expect(object.value(forKey: key) == nil)
        }
      }
      let last: NSManagedObjectID = try #require(
        uris.last.flatMap { container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: $0) })
      let reused: NSManagedObject = try context.existingObject(with: last)
      #expect(["text", "bytes", "date"].allSatisfy { reused.value(forKey: $0) == nil })
    }
    #expect(try FileContents(stack.folder.file("World.sqlite")).integrity == "ok")
  }

  @Test func `keys and versions are as Apple's framework would leave them`() throws {
    let stack = try Stack(.sqlite)
    func file() throws -> FileContents { try FileContents(stack.folder.file("World.sqlite")) }
    try stack.run { context in
      let category: Category = context.category("c")
      let items: [Item] = ["a", "b", "c"].map { context.item($0, category) }
      _ = context.make("Manager", ["name": "m"])
      _ = context.make("Employee", ["name": "e"])
      try context.save()
      var now: FileContents = try file()
      #expect(now.integrity == "ok")
      #expect(now.tables["ZITEM"]?.mapValues { $0["Z_OPT"] } == [1: "1", 2: "1", 3: "1"])
      #expect(now.tables["ZPERSON"]?.count == 2)
      let greatest: [String: Int64] = now.greatestKeys
      #expect(greatest[now.numbers["Item"] ?? ""] == 3)
      #expect(greatest[now.numbers["Person"] ?? ""] == 2)
      #expect(greatest[now.numbers["Employee"] ?? ""] == 0, "the root keeps the count")
      items[0].title = "a!"
      items[0].title = "a!!"
      items[1].title = items[1].title
      context.delete(items[2])
      try context.save()
      now = try file()
      #expect(now.tables["ZITEM"]?.mapValues { $0["Z_OPT"] } == [1: "2", 2: "1"])
      #expect(now.greatestKeys[now.numbers["Item"] ?? ""] == 3, "keys are not used twice")
      _ = context.item("d")
      try context.save()
      #expect(try file().tables["ZITEM"]?.keys.sorted() == [1, 2, 4])
      #expect(codeThrown { try context.obtainPermanentIDs(for: [context.item("e")]) } == 0)
      #expect(try file().greatestKeys[now.numbers["Item"] ?? ""] == 5)
    }
  }

  @Test func `a store of another model is refused with the entities that differ`() throws {
    let stack = try Stack(.sqlite)
    try stack.run { context in
      _ = context.item("a")
      try context.save()
    }
    try stack.coordinator.remove(stack.store)
    let model: NSManagedObjectModel = World.model()
    let item: NSEntityDescription = try #require(model.entitiesByName["Item"])
    item.properties.append(World.attribute("extra", .stringAttributeType))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let error: NSError = try #require(
      errorThrown {
        try coordinator.addPersistentStore(
          ofType: NSSQLiteStoreType, configurationName: nil, at: stack.folder.file("World.sqlite"))
      })
    #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
    #expect(error.localizedDescription.contains("Item"))
    let text: URL = stack.folder.file("text.sqlite")
    try Data("this is no database, but it is long enough to look at".utf8).write(to: text)
    #expect(
      codeThrown {
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: text)
      } != 0)
    #expect(try Data(contentsOf: text).count == 53, "a file that is no store is left alone")
  }

  @Test(
    .rule("STORE-4", "NSPersistentStoreCoordinator.setMetadata(_:for:)"),
    .rule("STORE-5", "NSPersistentStoreCoordinator.metadataForPersistentStore(type:at:options:)"),
    .rule("STORE-6", "NSStoreModelVersionHashesKey"))
  func `metadata set by the program is in the file after the next save`() throws {
    let stack = try Stack(.sqlite)
    try stack.run { context in
      var metadata: [String: Any] = stack.coordinator.metadata(for: stack.store)
      #expect(metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
      #expect(metadata[NSStoreUUIDKey] as? String == stack.store.identifier)
      metadata["mine"] = ["a": 1]
      stack.coordinator.setMetadata(metadata, for: stack.store)
      _ = context.item("a")
      try context.save()
    }
    stack.store.metadata["more"] = "b"
    try stack.run { context in
      _ = context.item("b")
      try context.save()
    }
    let read: [String: Any] = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: stack.folder.file("World.sqlite"))
    #expect((read["mine"] as? [String: Any])?["a"] as? Int == 1)
    #expect(read["more"] as? String == "b")
    #expect(read[NSStoreUUIDKey] as? String == stack.store.identifier)
    #expect((read[NSStoreModelVersionHashesKey] as? [String: Data])?["Item"]?.count == 32)
  }

  @Test func `a SQLite store at /dev/null lives in memory`() throws {
    let bytes: NSAttributeDescription = World.attribute("bytes", .binaryDataAttributeType)
    bytes.allowsExternalBinaryDataStorage = true
    let model = NSManagedObjectModel()
    model.entities = [World.entity("Blob", [World.attribute("name", .stringAttributeType), bytes])]
    let nowhere = URL(fileURLWithPath: "/dev/null")
    func container() throws -> NSPersistentContainer {
      let container = NSPersistentContainer(name: "Nowhere", managedObjectModel: model)
      container.persistentStoreDescriptions = [NSPersistentStoreDescription()]
      var problem: (any Error)?
      container.loadPersistentStores { problem = $1 }
      if let problem { throw problem }
      return container
    }
    let first: NSPersistentContainer = try container()
    #expect(first.persistentStoreDescriptions.map(\.url) == [nowhere])
    #expect(first.persistentStoreCoordinator.persistentStores.map(\.type) == [NSSQLiteStoreType])
    let long = Data(repeating: 7, count: 300_000)
    let background: NSManagedObjectContext = first.newBackgroundContext()
    try background.performAndWait {
      _ = background.make("Blob", ["name": "a", "bytes": long])
      try background.save()
    }
    let other: NSManagedObjectContext = first.newBackgroundContext()
    try other.performAndWait {
      let found = try other.all(
        NSManagedObject.self, "Blob", NSPredicate(format: "name BEGINSWITH[c] 'A'"))
      #expect(found.map { $0.value(forKey: "bytes") as? Data } == [long])
    }
    let second: NSManagedObjectContext = try container().newBackgroundContext()
    let count: Int = try second.performAndWait {
      try second.count(for: second.request(NSManagedObject.self, "Blob"))
    }
    #expect(count == 0)
    let beside: [String] = try FileManager.default.contentsOfDirectory(atPath: "/dev")
      .filter { $0.hasPrefix("null") || $0.hasPrefix(".null") }
    #expect(beside == ["null"])
    let error = try #require(
      errorThrown {
        _ = try NSPersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(
          ofType: NSSQLiteStoreType, configurationName: nil, at: nowhere,
          options: [NSReadOnlyPersistentStoreOption: true])
      })
    #expect(error.localizedDescription.contains("nothing to read"))
  }
}
