import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// `migratePersistentStore` (Decisions/0049). Source: Apple's documentation ("save as", other store types);
/// the file's ids are new.
@Suite
struct MigrateTests {
  // MARK: The graph as text

  private static func dump(_ context: NSManagedObjectContext) throws -> [String] {
    try dump(context) { $0.objectID.uriRepresentation().path }
  }

  /// A name for an object that does not depend on its number.
  private static func content(_ object: NSManagedObject) -> String {
    let texts: [String] = object.entity.attributesByName.keys.sorted()
      .compactMap { object.value(forKey: $0) as? String }
    return "\(object.entity.name ?? "") \(texts)"
  }

  /// Every object with all its values; related objects by entity and number, or by what `name` gives.
  private static func dump(_ context: NSManagedObjectContext, _ name: (NSManagedObject) -> String) throws
    -> [String]
  {
    let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
    var lines: [String] = []
    for entity in model.entities where !entity.isAbstract {
      let request = NSFetchRequest<NSManagedObject>(entityName: try #require(entity.name))
      request.includesSubentities = false
      for object in try context.fetch(request) {
        for (key, property) in entity.propertiesByName.sorted(by: { $0.key < $1.key }) {
          var text: String = "nil"
          switch object.value(forKey: key) {
          case let set as NSOrderedSet:
            text = set.array.map { name($0 as! NSManagedObject) }.joined(separator: " ")
          case let set as NSSet:
            text = set.allObjects.map { name($0 as! NSManagedObject) }.sorted().joined(separator: " ")
          case let target as NSManagedObject: text = name(target)
          case let data as Data: text = "\(data.count) \(data.first ?? 0)"
          case let value?: text = "\(value)"
          case nil: break
          }
          if property.isTransient { continue }
          lines.append("\(name(object)).\(key) = \(text)")
        }
      }
    }
    return lines.sorted()
  }

  private static func fill(_ context: NSManagedObjectContext) throws {
    let category: Category = context.category("c")
    let items: [Item] = (0..<5).map { context.item("item \($0)", category) }
    for (place, item) in items.enumerated() {
      item.price = Double(place) / 3
      item.due = Date(timeIntervalSinceReferenceDate: Double(place))
      for name in ["x", "y"].prefix(place) {
        let tag: NSManagedObject = context.make("Tag", ["name": name])
        tag.setValue(NSSet(array: [item, items[0]]), forKey: "items")
      }
    }
    context.make("Basket", ["name": "b"]).setValue(NSSet(array: Array(items.prefix(2))), forKey: "items")
    context.make("Detail", ["text": "d"]).setValue(items[1], forKey: "item")
    let songs: [NSManagedObject] = (0..<6).map { context.make("Song", ["name": "song \($0)"]) }
    let album: NSManagedObject = context.make("Album", ["name": "a"])
    album.setValue(NSOrderedSet(array: [songs[4], songs[1], songs[3]]), forKey: "songs")
    for order in [[5, 0, 4], [0, 4, 5, 2]] {
      context.make("Playlist").setValue(NSOrderedSet(array: order.map { songs[$0] }), forKey: "songs")
    }
    let people: [NSManagedObject] = ["Employee", "Manager", "Employee"].map { context.make($0, ["name": $0]) }
    people[0].setValue(NSSet(array: [people[0], people[1]]), forKey: "friends")
    people[2].setValue(people[0], forKey: "spouse")
    people[1].setValue(NSSet(array: [people[0], people[2]]), forKey: "reports")
    _ = context.make(
      "Kinds",
      [
        "i16": -7, "i64": Int64.max, "flag": true, "float": Float(0.1), "decimal": Decimal(string: "12.50")!,
        "text": "ü",
        "uri": URL(fileURLWithPath: "/x"), "uuid": UUID(), "bytes": Data([1, 2]),
        "thing": ["a", "b"] as NSArray,
      ])
    _ = context.make("Unique", ["code": "u"])
    try context.save()
    // A version that is not the first, a key that is free.
    items[0].title = "changed"
    context.delete(items[4])
    try context.save()
  }

  private static func target(_ setting: StoreSetting, _ folder: TemporaryFolder) -> (
    URL, String, [AnyHashable: Any]?
  ) {
    switch setting {
    case .wal: (folder.file("New.sqlite"), NSSQLiteStoreType, nil)
    case .rollbackJournal:
      (folder.file("New.sqlite"), NSSQLiteStoreType, [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
    case .nowhere: (URL(fileURLWithPath: "/dev/null"), NSSQLiteStoreType, nil)
    case .inMemory: (URL(fileURLWithPath: "/dev/null"), NSInMemoryStoreType, nil)
    case .xml, .binary, .atomic, .incremental: (folder.file("New.\(setting)"), setting.kind.type, nil)
    }
  }

  /// From each setting to each, except for those where objects get other numbers.
  private static let keepingNumbers: [(StoreSetting, StoreSetting)] = StoreSetting.every.flatMap { from in
    StoreSetting.every.filter { from.kind.isAtomic || !$0.kind.isAtomic }.map { (from, $0) }
  }

  @Test(arguments: [StoreSetting.wal, .nowhere, .inMemory], [StoreSetting.xml, .binary])
  func `in a store with one sequence of numbers everything is there under others`(
    from: StoreSetting, to: StoreSetting
  ) throws {
    let stack = try Stack(setting: from)
    try stack.run(Self.fill)
    let before: [String] = try stack.elsewhere { try Self.dump($0, Self.content) }
    let (url, type, options) = Self.target(to, stack.folder)
    try stack.coordinator.migratePersistentStore(stack.store, to: url, options: options, withType: type)
    #expect(try stack.elsewhere { try Self.dump($0, Self.content) } == before)
    try stack.run { context in
      _ = context.item("newer")
      try context.save()
    }
    #expect(try stack.count("Item") == 5)
  }

  @Test(arguments: keepingNumbers)
  func `everything goes along, under the same numbers, and is saved there from then on`(
    from: StoreSetting, to: StoreSetting
  ) throws {
    let stack = try Stack(setting: from)
    stack.store.metadata = ["Author": "me"]
    try stack.run(Self.fill)
    let before: [String] = try stack.elsewhere(Self.dump)
    let held: Item = try stack.run { try $0.all(Item.self, "Item", sort: ["title"])[0] }
    let new: NSManagedObject = try stack.run { context in
      held.count = 99
      let new: NSManagedObject = context.item("new")
      try context.obtainPermanentIDs(for: [new])
      return new
    }
    let oldID: NSManagedObjectID = stack.context.performAndWait { held.objectID }
    let (url, type, options) = Self.target(to, stack.folder)
    let store: NSPersistentStore = try stack.coordinator.migratePersistentStore(
      stack.store, to: url, options: options, withType: type)
    #expect(stack.coordinator.persistentStores == [store])
    #expect(store.type == type && store.url == url && store.identifier != stack.store.identifier)
    #expect(store.metadata["Author"] as? String == "me")
    #expect(store.metadata[NSStoreUUIDKey] as? String == store.identifier)
    #expect(try stack.elsewhere(Self.dump) == before)
    try stack.run { context in
      #expect(held.hasChanges && held.count == 99)
      #expect(held.objectID.persistentStore === store)
      #expect(held.objectID.uriRepresentation().path == oldID.uriRepresentation().path)
      #expect(held.objectID != oldID)
      #expect(try context.existingObject(with: oldID) === held)
      #expect(try context.all(Item.self, "Item").contains { $0 === held })
      _ = context.item("newer")
      try context.save()
      #expect(new.objectID.persistentStore === store)
    }
    #expect(Set(try stack.titles()).isSuperset(of: ["new", "newer"]))
    #expect(try stack.count("Item") == 6)
    // What the old store is asked for is not there, and it has nothing of this.
    if from.kind == .sqlite, from != .nowhere {
      let url: URL = try #require(stack.store.url)
      #expect(try FileContents(url).tables["ZITEM"]?.count == 4)
    }
    if to.kind == .sqlite, to != .nowhere {
      try stack.coordinator.remove(store)
      #expect(try FileContents(url).integrity == "ok")
      let again = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
      let opened: NSPersistentStore = try again.addPersistentStore(
        ofType: type, configurationName: nil, at: url, options: options)
      #expect(opened.identifier == store.identifier && opened.metadata["Author"] as? String == "me")
    }
  }

  @Test(arguments: [StoreSetting.wal, .inMemory], [StoreSetting.wal, .inMemory])
  func `what is undone after a migration is undone in the new store`(from: StoreSetting, to: StoreSetting)
    throws
  {
    let stack = try Stack(setting: from)
    try stack.run { context in
      context.undoManager = UndoManager()
      let items: [Item] = ["a", "b"].map { context.item($0) }
      try context.save()
      context.undoManager?.removeAllActions()
      items[0].title = "c"
      context.delete(items[1])
      context.processPendingChanges()
      try context.save()
    }
    let (url, type, options) = Self.target(to, stack.folder)
    try stack.coordinator.migratePersistentStore(stack.store, to: url, options: options, withType: type)
    #expect(try stack.titles() == ["c"])
    try stack.run { context in
      context.undoManager?.undo()
      try context.save()
    }
    #expect(try stack.titles() == ["a", "b"])
  }

  @Test func `contexts on other queues, and children, take the new ids over`() throws {
    let stack = try Stack(setting: .wal)
    try stack.run(Self.fill)
    let other: NSManagedObjectContext = stack.other()
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = other
    let (mine, theirs): (Item, Item) = (
      try other.performAndWait { try other.all(Item.self, "Item", sort: ["title"])[0] },
      try child.performAndWait { try child.all(Item.self, "Item", sort: ["title"])[0] }
    )
    let store: NSPersistentStore = try stack.coordinator.migratePersistentStore(
      stack.store, to: stack.folder.file("New.sqlite"), type: .sqlite)
    try child.performAndWait {
      #expect(try child.all(Item.self, "Item", sort: ["title"])[0] === theirs)
      #expect(theirs.objectID.persistentStore === store)
      theirs.title = "by the child"
      try child.save()
    }
    try other.performAndWait {
      #expect(mine.title == "by the child" && mine.objectID.persistentStore === store)
      #expect(mine.category?.name == "c")
      try other.save()
    }
    #expect(try stack.titles().contains("by the child"))
  }

  /// The other stores in between have the same numbers, or others.
  @Test(arguments: [StoreSetting.wal, .rollbackJournal], [NSSQLiteStoreType, NSXMLStoreType])
  func `saves that are under way go to the old store before, or to the new one after`(
    setting: StoreSetting, other: String
  ) async throws {
    let stack = try Stack(setting: setting)
    let writers: [NSManagedObjectContext] = (0..<2).map { _ in stack.other() }
    let (coordinator, folder, first) = (stack.coordinator, stack.folder, stack.store)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in writers {
        group.addTask {
          for number in 0..<60 {
            try await writer.perform {
              let item: Item = writer.item("\(number)")
              try writer.save()
              #expect(item.objectID.persistentStore != nil)
            }
          }
        }
      }
      group.addTask {
        var store: NSPersistentStore = first
        for number in 0..<6 {
          store = try coordinator.migratePersistentStore(
            store, to: folder.file("\(number).store"),
            withType: number.isMultiple(of: 2) ? other : NSSQLiteStoreType)
        }
      }
      try await group.waitForAll()
    }
    #expect(try stack.count("Item") == 120)
  }

  @Test(arguments: [StoreSetting.wal, .rollbackJournal, .inMemory])
  func `large values and copied attributes go along`(to: StoreSetting) throws {
    let folder = try TemporaryFolder()
    let photos = PhotoStore(url: folder.file("Photos.sqlite"))
    let context: NSManagedObjectContext = try photos.open()
    try context.performAndWait {
      for place in 0..<3 {
        _ = context.make(
          "Photo", ["title": "\(place)", "data": Data(repeating: UInt8(place), count: PhotoStore.size)])
      }
      try context.save()
    }
    let coordinator: NSPersistentStoreCoordinator = try #require(context.persistentStoreCoordinator)
    func read() throws -> [String] {
      let fresh = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      fresh.persistentStoreCoordinator = coordinator
      return try fresh.performAndWait { try Self.dump(fresh) }
    }
    let before: [String] = try read()
    let (url, type, options) = Self.target(to, folder)
    var store: NSPersistentStore = try coordinator.migratePersistentStore(
      coordinator.persistentStores[0], to: url, options: options, withType: type)
    #expect(try read() == before)
    #expect(photos.names.count == 3)
    if to == .inMemory {
      store = try coordinator.migratePersistentStore(store, to: folder.file("New.sqlite"), type: .sqlite)
      #expect(try read() == before)
    }
    let copy = PhotoStore(url: folder.file("New.sqlite"))
    #expect(copy.names.count == 3)
    #expect(copy.names == (try copy.referredNames()))
    #expect(copy.notes.isEmpty)
  }

  @Test(arguments: [StoreSetting.wal, .inMemory], [StoreSetting.wal, .inMemory])
  func `derived attributes are right in the new store`(from: StoreSetting, to: StoreSetting) throws {
    let stack = try Stack(setting: from, model: Depot.model)
    try stack.run { context in
      let author: NSManagedObject = context.make("Author", ["name": "Ada"])
      author.setValue(context.make("Region", ["name": "north"]), forKey: "region")
      let labels: [NSManagedObject] = [2, 3].map { context.make("Label", ["weight": $0, "worth": 0.5]) }
      for (place, kind) in ["Book", "Novel", "Book"].enumerated() {
        let book: NSManagedObject = context.make(
          kind, ["title": "t\(place)", "pages": place, "price": 1.5, "author": author])
        book.setValue(NSSet(array: Array(labels.prefix(place))), forKey: "tags")
        let chapters: [NSManagedObject] = (0..<place).map { context.make("Chapter", ["length": $0 + 1]) }
        book.setValue(NSOrderedSet(array: chapters), forKey: "chapters")
      }
      let nodes: [NSManagedObject] = (0..<3).map { context.make("Node", ["name": "n\($0)", "value": $0]) }
      nodes[0].setValue(NSSet(array: [nodes[1], nodes[2]]), forKey: "children")
      nodes[1].setValue(NSSet(array: nodes), forKey: "friends")
      context.make("Box").setValue(NSSet(object: context.make("Thing", ["mass": 2.0])), forKey: "things")
      try context.save()
    }
    func read() throws -> [String] { try stack.elsewhere { try Self.dump($0) } }
    let before: [String] = try read()
    #expect(before.contains { $0.hasSuffix(".bookCount = 3") })
    let (url, type, options) = Self.target(to, stack.folder)
    try stack.coordinator.migratePersistentStore(stack.store, to: url, options: options, withType: type)
    #expect(try read() == before)
    #expect(try stack.elsewhere(Depot.differences) == [])
  }

  private static let ownStores: [StoreSetting] = [.wal, .inMemory, .xml, .binary]

  @Test(arguments: ownStores, ownStores)
  func `the times of saves stay in the new store, and the next save sets others`(
    from: StoreSetting, to: StoreSetting
  ) throws {
    let stack = try Stack(setting: from, model: Depot.model)
    try stack.run { context in
      // Two saves, so that there are two times.
      for name in ["Ada", "Bob"] {
        let author: NSManagedObject = context.make("Author", ["name": name])
        _ = context.make("Novel", ["title": "by \(name)", "author": author])
        try context.save()
      }
    }
    func times() throws -> [String: Date] {
      try stack.elsewhere { context in
        var times: [String: Date] = [:]
        for author in try context.all(NSManagedObject.self, "Author") {
          times[try #require(author.value(forKey: "name") as? String)] =
            author.value(forKey: "saved") as? Date
        }
        for novel in try context.all(NSManagedObject.self, "Novel") {
          times[try #require(novel.value(forKey: "title") as? String)] =
            novel.value(forKey: "changed") as? Date
        }
        return times
      }
    }
    let before: [String: Date] = try times()
    #expect(before.count == 4 && Set(before.values).count >= 2)
    let (url, type, options) = Self.target(to, stack.folder)
    try stack.coordinator.migratePersistentStore(stack.store, to: url, options: options, withType: type)
    #expect(try times() == before)
    try stack.elsewhere { context in
      let ada = try #require(try context.all(NSManagedObject.self, "Author", sort: ["name"]).first)
      ada.setValue("Ada L.", forKey: "name")
      try context.save()
    }
    let after: [String: Date] = try times()
    #expect(try #require(after["Ada L."]) > #require(before["Ada"]))
    #expect(after["Bob"] == before["Bob"] && after["by Ada"] == before["by Ada"])
  }

  @Test(arguments: StoreSetting.every)
  func `a store with persistent history becomes one that can be written to`(to: StoreSetting) throws {
    let stack = try Stack(setting: .rollbackJournal)
    try stack.run(Self.fill)
    func read() throws -> [String] {
      try stack.elsewhere { context in
        try to.kind.isAtomic ? Self.dump(context, Self.content) : Self.dump(context)
      }
    }
    let before: [String] = try read()
    try stack.coordinator.remove(stack.store)
    let queue = try DatabaseQueue(path: stack.folder.file("World.sqlite").path)
    try queue.write {
      try $0.execute(sql: "CREATE TABLE ACHANGE (Z_PK INTEGER); CREATE TABLE ATRANSACTION (Z_PK INTEGER)")
    }
    try queue.close()
    let old: NSPersistentStore = try StoreSetting.rollbackJournal.addStore(
      to: stack.coordinator, in: stack.folder)
    #expect(old.isReadOnly)
    let (url, type, options) = Self.target(to, stack.folder)
    let store: NSPersistentStore = try stack.coordinator.migratePersistentStore(
      old, to: url, options: options, withType: type)
    #expect(!store.isReadOnly)
    #expect(try read() == before)
    try stack.run { context in
      context.reset()
      _ = context.item("new")
      try context.save()
    }
    #expect(try stack.titles().contains("new"))
  }

  enum Obstacle: String, CaseIterable, Sendable { case store, text, folder, pragma, type, stranger, itself }

  @Test(arguments: Obstacle.allCases, [StoreSetting.wal, .inMemory])
  func `a migration that fails leaves everything as it was`(obstacle: Obstacle, from: StoreSetting) throws {
    let stack = try Stack(setting: from)
    try stack.run(Self.fill)
    let url: URL = stack.folder.file("New.sqlite")
    var (to, type, options): (URL, String, [AnyHashable: Any]?) = (url, NSSQLiteStoreType, nil)
    var coordinator: NSPersistentStoreCoordinator = stack.coordinator
    switch obstacle {
    case .store: _ = try PhotoStore(url: url).open()
    case .text: try Data("notes".utf8).write(to: url)
    case .folder: to = stack.folder.file("none/New.sqlite")
    case .pragma: options = [NSSQLitePragmasOption: ["journal_mode": "sideways"]]
    case .type: type = "Other"
    case .stranger: coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    case .itself: to = stack.store.url ?? to
    }
    if obstacle == .itself, from == .inMemory { return }
    let before: [String] = try stack.elsewhere(Self.dump)
    let names: [String] = try FileManager.default.contentsOfDirectory(atPath: stack.folder.url.path).sorted()
    let item: Item = try stack.run { try $0.all(Item.self, "Item")[0] }
    let id: NSManagedObjectID = stack.context.performAndWait { item.objectID }
    let error: NSError? = errorThrown {
      try coordinator.migratePersistentStore(stack.store, to: to, options: options, withType: type)
    }
    #expect(error?.domain == NSCocoaErrorDomain)
    #expect(stack.coordinator.persistentStores == [stack.store])
    #expect(try FileManager.default.contentsOfDirectory(atPath: stack.folder.url.path).sorted() == names)
    #expect(try stack.elsewhere(Self.dump) == before)
    try stack.run { context in
      #expect(item.objectID == id)
      item.title = "goes on"
      try context.save()
    }
    #expect(try stack.titles().contains("goes on"))
  }

  /// A link that leads to no file.
  @Test(arguments: [StoreSetting.wal, .rollbackJournal, .inMemory], [true, false])
  func `a migration goes where a link leads, and leaves the link when it fails`(
    from: StoreSetting, fails: Bool
  ) throws {
    let stack = try Stack(setting: from, model: PhotoStore.model)
    try stack.run { context in
      _ = context.make("Photo", ["data": Data(count: PhotoStore.size)])
      try context.save()
    }
    let home: URL = stack.folder.file("home")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    let link: URL = stack.folder.file("Link.sqlite")
    try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "home/Real.sqlite")
    let options: [AnyHashable: Any]? =
      fails ? [NSSQLitePragmasOption: ["journal_mode": "sideways"]] : nil
    let code: Int = codeThrown {
      try stack.coordinator.migratePersistentStore(stack.store, to: link, options: options, type: .sqlite)
    }
    #expect((code != 0) == fails)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "home/Real.sqlite")
    let real = PhotoStore(url: home.appendingPathComponent("Real.sqlite"))
    #expect(FileManager.default.fileExists(atPath: real.url.path) == !fails)
    #expect(real.names.count == (fails ? 0 : 1))
    if fails {
      #expect(try FileManager.default.contentsOfDirectory(atPath: home.path) == [])
      #expect(stack.coordinator.persistentStores == [stack.store])
    } else {
      #expect(real.names == (try real.referredNames()))
    }
  }

  @Test(arguments: [StoreSetting.wal, .inMemory])
  func `a migration into a folder that is not there names the folder`(from: StoreSetting) throws {
    let stack = try Stack(setting: from)
    let folder: URL = stack.folder.file("none")
    let link: URL = stack.folder.file("Link.sqlite")
    try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "none/New.sqlite")
    for url in [folder.appendingPathComponent("New.sqlite"), link] {
      let error: NSError? = errorThrown {
        try stack.coordinator.migratePersistentStore(stack.store, to: url, type: .sqlite)
      }
      let text: String = error?.localizedDescription ?? ""
      #expect(text.contains("The folder \(folder.path) does not exist; create it"), "\(text)")
    }
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "none/New.sqlite")
  }

  /// Somebody looks all the time: a process that dies must not leave the UUID of the source either.
  @Test(arguments: StoreSetting.files)
  func `the destination has a UUID of its own from the first moment`(from: StoreSetting) async throws {
    let stack = try Stack(setting: from)
    try stack.run(Self.fill)
    let folder: TemporaryFolder = stack.folder
    let (coordinator, first) = (stack.coordinator, stack.store)
    let seen: Set<String> = try await withThrowingTaskGroup(of: Set<String>.self) { group in
      group.addTask {
        var store: NSPersistentStore = first
        for number in 0..<8 {
          store = try coordinator.migratePersistentStore(
            store, to: folder.file("\(number).sqlite"), type: .sqlite)
        }
        return []
      }
      group.addTask {
        var seen: Set<String> = []
        for number in 0..<8 {
          let url: URL = folder.file("\(number).sqlite")
          var identifier: String?
          while identifier == nil, !Task.isCancelled {
            identifier =
              (try? NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url))?[
                NSStoreUUIDKey] as? String
            await Task.yield()
          }
          if let identifier { seen.insert(identifier) }
        }
        return seen
      }
      return try await group.reduce(into: []) { $0.formUnion($1) }
    }
    // One for each destination, and none of a source of these.
    #expect(seen.count == 8)
    #expect(!seen.contains(first.identifier))
  }

  /// As a save and a reset do.
  @Test func `a context that is pinned goes on to the new store's state at its next read`() throws {
    let stack = try Stack(setting: .wal)
    try stack.run(Self.fill)
    let pinned: NSManagedObjectContext = stack.other()
    let old: NSQueryGenerationToken? = try pinned.performAndWait {
      try pinned.setQueryGenerationFrom(.current)
      #expect(try pinned.all(Item.self, "Item").count == 4)
      return pinned.queryGenerationToken
    }
    try stack.run { context in
      _ = context.item("new")
      try context.save()
    }
    try stack.coordinator.migratePersistentStore(
      stack.store, to: stack.folder.file("New.sqlite"), type: .sqlite)
    try pinned.performAndWait {
      let count: Int = try pinned.all(Item.self, "Item").count
      #expect(count == 5)
      #expect(pinned.queryGenerationToken != nil && pinned.queryGenerationToken != old)
      #expect(pinned.queryGenerationToken != .current)
    }
  }

  @Test func `the notification tells of both stores, and of no others`() throws {
    let stack = try Stack(setting: .wal)
    let bystander: NSPersistentStore = try StoreSetting.inMemory.addStore(
      to: stack.coordinator, in: stack.folder)
    let recorder = Recorder([.NSPersistentStoreCoordinatorStoresDidChange], of: stack.coordinator)
    let store: NSPersistentStore = try stack.coordinator.migratePersistentStore(
      stack.store, to: URL(fileURLWithPath: "/dev/null"), type: .inMemory)
    #expect(stack.coordinator.persistentStores == [store, bystander])
    let info: [AnyHashable: Any]? = recorder.received.first?.userInfo
    #expect(recorder.received.count == 1)
    #expect(info?[NSUUIDChangedPersistentStoresKey] as? [NSPersistentStore] == [stack.store, store])
    #expect(info?[NSAddedPersistentStoresKey] as? [NSPersistentStore] == [store])
    #expect(info?[NSRemovedPersistentStoresKey] as? [NSPersistentStore] == [stack.store])
    #expect(stack.store.persistentStoreCoordinator == nil)
  }

  // MARK: Progress

  @Test(arguments: [NSXMLStoreType, NSSQLiteStoreType], [NSInMemoryStoreType, NSSQLiteStoreType])
  func `a migration reports its progress`(target: String, source: String) throws {
    let folder = try TemporaryFolder()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    let store: NSPersistentStore = try coordinator.addPersistentStore(
      ofType: source, configurationName: nil,
      at: source == NSSQLiteStoreType ? folder.file("a.sqlite") : nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for number in 0..<5000 { _ = context.item("\(number)") }
      try context.save()
    }
    func migrate(_ progress: Progress, to url: URL) throws -> NSPersistentStore {
      progress.becomeCurrent(withPendingUnitCount: 10)
      defer { progress.resignCurrent() }
      return try coordinator.migratePersistentStore(store, to: url, withType: target)
    }
    let cancelled = Progress(totalUnitCount: 10)
    cancelled.cancel()
    let url: URL = folder.file("b.store")
    let error: NSError? = errorThrown { _ = try migrate(cancelled, to: url) } as NSError?
    #expect(error?.domain == NSCocoaErrorDomain && error?.code == CocoaError.userCancelled.rawValue)
    #expect(coordinator.persistentStores == [store] && store.persistentStoreCoordinator === coordinator)
    #expect(!FileManager.default.fileExists(atPath: url.path))
    let progress = Progress(totalUnitCount: 10)
    _ = try migrate(progress, to: url)
    #expect(progress.fractionCompleted == 1)
    #expect(try context.performAndWait { try context.count(for: context.request(Item.self, "Item")) } == 5000)
  }
}
