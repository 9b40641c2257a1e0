import CoreData
import Foundation
import StackSupport
import Testing

/// New objects, their values, their ids.
@Suite
struct ObjectTests {
  @Test(.rule("LIFE-1", "NSManagedObject.awakeFromInsert()"), arguments: StoreKind.every)
  func `a new object is awoken once, has default values and is inserted`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item = Item(context: context)
      #expect(stack.journal.lines == ["awakeFromInsert Item"])
      #expect(item.count == 7)
      #expect(item.title == nil)
      #expect(item.isInserted && !item.isUpdated && !item.isDeleted && !item.isFault && item.hasChanges)
      #expect(context.insertedObjects == [item] && context.updatedObjects.isEmpty)
      #expect(item.managedObjectContext === context)
      context.insert(item)
      #expect(stack.journal.lines == ["awakeFromInsert Item"])
      #expect(item.changedValues().isEmpty, "a default value is no change")
      #expect(item.committedValues(forKeys: nil).isEmpty)
      try context.save()
      #expect(!item.isInserted && !item.hasChanges && !context.hasChanges)
      #expect(item.committedValues(forKeys: ["count", "title"])["count"] as? Int == 7)
      #expect(item.committedValues(forKeys: ["count", "title"])["title"] is NSNull)
    }
    try stack.elsewhere { context in
      let item: Item = try #require(try context.all(Item.self, "Item").first)
      #expect(item.count == 7 && item.title == nil && !item.done && item.due == nil)
    }
  }

  @Test func `generic code makes objects of a class it only knows as a parameter`() throws {
    func made<Model: NSManagedObject>(_ type: Model.Type, _ context: NSManagedObjectContext) -> Model {
      Model(context: context)
    }
    let stack = try Stack(.inMemory)
    try stack.run { context in
      let item: Item = made(Item.self, context)
      #expect(item.entity.name == "Item" && item.isInserted)
      let subclass: NSManagedObject.Type = Tag.self
      #expect(subclass.init(context: context) is Tag)
    }
  }

  @Test(
    .rule("ID-1", "NSManagedObjectID.isTemporaryID", "permanent with the save"),
    .rule("FAULT-3", "NSManagedObject.isEqual(_:), hash", "they outlast the change of the id"),
    arguments: StoreKind.numbering)
  func `a temporary id becomes permanent, and its URI finds the row again`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a")
      let temporary: NSManagedObjectID = item.objectID
      #expect(temporary.isTemporaryID && temporary.persistentStore == nil)
      #expect(context.object(with: temporary) === item)
      #expect(stack.coordinator.managedObjectID(forURIRepresentation: temporary.uriRepresentation()) == nil)
      let hash: Int = item.hash
      try context.save()
      let id: NSManagedObjectID = item.objectID
      #expect(!id.isTemporaryID && id != temporary && id.persistentStore === stack.store)
      #expect(item.hash == hash)
      #expect(item.objectID === id)
      let uri: URL = id.uriRepresentation()
      #expect(uri.absoluteString == "x-coredata://\(stack.store.identifier!)/Item/p\(kind.firstKey)")
      let again: NSManagedObjectID = try #require(
        stack.coordinator.managedObjectID(forURIRepresentation: uri))
      #expect(again == id && again.hash == id.hash && again !== id)
      #expect(Set([again, id]).count == 1)
      #expect(context.object(with: again) === item)
      #expect(context.registeredObject(for: again) === item)
      for wrong in [
        "x-coredata://\(stack.store.identifier!)/Item/t1", "x-coredata://\(stack.store.identifier!)/Itm/p1",
        "x-coredata://\(UUID().uuidString)/Item/p1", "http://example.org/Item/p1",
        "x-coredata://\(stack.store.identifier!)/Item/p0", "x-coredata://\(stack.store.identifier!)/Item",
        "x-coredata://\(stack.store.identifier!)/Item/p99999999999999999999",
      ] {
        #expect(
          stack.coordinator.managedObjectID(forURIRepresentation: url(wrong)) == nil)
      }
    }
  }

  @Test(arguments: StoreKind.numbering)
  func `ids of different entities with the same key differ, ids of one hierarchy do not by entity`(
    kind: StoreKind
  ) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a")
      let tag = Tag(context: context)
      let boss = context.make("Manager") as! Manager
      let worker = context.make("Employee") as! Employee
      try context.save()
      #expect(item.objectID != tag.objectID)
      #expect(boss.objectID != worker.objectID)
      // A URI may name the super-entity.
      let text: String = boss.objectID.uriRepresentation().absoluteString
        .replacingOccurrences(of: "/Manager/", with: "/Employee/")
      let loose: NSManagedObjectID = try #require(
        stack.coordinator.managedObjectID(forURIRepresentation: url(text)))
      #expect(loose == boss.objectID)
      #expect(try context.existingObject(with: loose) === boss)
    }
  }

  @Test(.rule("ID-2", "NSManagedObjectContext.obtainPermanentIDs(for:)"), arguments: StoreKind.every)
  func `permanent ids can be had before the save`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let items: [Item] = ["a", "b"].map { context.item($0) }
      try context.obtainPermanentIDs(for: items)
      let ids: [NSManagedObjectID] = items.map(\.objectID)
      #expect(ids.allSatisfy { !$0.isTemporaryID } && ids[0] != ids[1])
      #expect(items.allSatisfy { $0.isInserted })
      try context.obtainPermanentIDs(for: items)
      #expect(items.map(\.objectID) == ids)
      #expect(try stack.elsewhere { try $0.count(for: $0.request(Item.self, "Item")) } == 0)
      try context.save()
      #expect(items.map(\.objectID) == ids)
      #expect(context.object(with: ids[0]) === items[0])
      #expect(try stack.elsewhere { try $0.count(for: $0.request(Item.self, "Item")) } == 2)
    }
  }

  @Test(arguments: StoreKind.every)
  func `an object with a permanent id that is deleted before its first save leaves no trace`(
    kind: StoreKind
  ) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a")
      let kept: Item = context.item("b")
      try context.obtainPermanentIDs(for: [item])
      context.delete(item)
      #expect(context.deletedObjects.isEmpty)
      try context.save()
      #expect(try context.all(Item.self, "Item") == [kept])
      context.delete(kept)
      try context.obtainPermanentIDs(for: [context.item("c")])
      context.rollback()
      #expect(!context.hasChanges)
      #expect(try context.all(Item.self, "Item") == [kept])
    }
  }

  @Test(arguments: StoreKind.every)
  func `key-value coding gives numbers, sets, ordered sets and objects`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let kinds: NSManagedObject = context.make(
        "Kinds",
        [
          "i16": 1, "i32": Int32(2), "i64": NSNumber(value: 3), "flag": true, "double": 1.5,
          "float": Float(2.5),
          "decimal": Decimal(string: "1.25") as Any, "text": "x", "thing": ["a", "b"] as NSArray,
        ])
      func check() {
        #expect((kinds.value(forKey: "i16") as? NSNumber)?.intValue == 1)
        #expect((kinds.value(forKey: "i32") as? NSNumber)?.intValue == 2)
        #expect((kinds.value(forKey: "i64") as? NSNumber)?.intValue == 3)
        #expect((kinds.value(forKey: "flag") as? NSNumber)?.boolValue == true)
        #expect(kinds.value(forKey: "flag") as? Bool == true)
        #expect((kinds.value(forKey: "double") as? NSNumber)?.doubleValue == 1.5)
        #expect((kinds.value(forKey: "float") as? NSNumber)?.floatValue == 2.5)
        #expect((kinds.value(forKey: "decimal") as? NSDecimalNumber)?.decimalValue == Decimal(string: "1.25"))
        #expect(kinds.value(forKey: "thing") as? NSArray == ["a", "b"])
        #expect(kinds.value(forKey: "uuid") == nil)
      }
      check()
      try context.save()
      check()
      context.refresh(kinds, mergeChanges: false)
      check()
      let playlist = Playlist(context: context)
      let song: NSManagedObject = context.make("Song", ["name": "one"])
      playlist.songs = [song]
      #expect(playlist.value(forKey: "songs") as? NSOrderedSet == NSOrderedSet(array: [song]))
      #expect(song.value(forKey: "playlists") as? NSSet == NSSet(array: [playlist]))
      #expect(song.value(forKey: "playlists") as? Set<Playlist> == [playlist])
      #expect(song.value(forKey: "album") == nil)
      let album = Album(context: context)
      song.setValue(album, forKey: "album")
      #expect(song.value(forKey: "album") as? NSManagedObject === album)
      #expect(song.value(forKeyPath: "album.songs.@count") as? Int == 1)
      #expect(playlist.value(forKeyPath: "songs.name").map { "\($0)" }?.contains("one") == true)
      let values: [String: Any] = song.dictionaryWithValues(forKeys: ["name", "album"])
      #expect(values["name"] as? String == "one" && values["album"] as? NSManagedObject === album)
      song.setValuesForKeys(["name": "two", "album": NSNull()])
      #expect(song.value(forKey: "name") as? String == "two" && song.value(forKey: "album") == nil)
      #expect(album.songs.isEmpty)
    }
  }

  @Test(.rule("STATE-3", "NSManagedObject.changedValues()"), arguments: StoreKind.every)
  func `changed and committed values tell the difference to the last save`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let old: Category = context.category("old")
      let item: Item = context.item("a", old)
      try context.save()
      #expect(item.changedValues().isEmpty && !item.hasPersistentChangedValues)
      item.title = "b"
      let new: Category = context.category("new")
      item.category = new
      #expect(Set(item.changedValues().keys) == ["title", "category"])
      #expect(item.changedValues()["title"] as? String == "b")
      let committed: [String: Any] = item.committedValues(forKeys: ["title", "category"])
      #expect(committed["title"] as? String == "a" && committed["category"] as? Category === old)
      #expect(old.committedValues(forKeys: ["items"])["items"] as? NSSet == NSSet(array: [item]))
      #expect(item.isUpdated && old.isUpdated && new.isInserted && item.hasPersistentChangedValues)
      item.title = "a"
      item.category = old
      #expect(item.hasChanges && !item.hasPersistentChangedValues)
      item.note = "not stored"
      #expect(!item.hasPersistentChangedValues && item.changedValues()["note"] == nil)
    }
  }

  @Test(arguments: StoreKind.every)
  func `setting the same value writes nothing`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a")
      try context.save()
      item.title = "a"
      #expect(item.hasChanges && context.hasChanges)
      try context.save()
      #expect(!item.hasChanges)
      // Had it been written, the version would have moved and this save would fail.
      try stack.elsewhere { other in
        let twin: Item = try #require(try other.all(Item.self, "Item").first)
        #expect(twin.title == "a")
        item.title = "a"
        try context.save()
        twin.title = "b"
        try other.save()
      }
    }
  }

  @Test(.rule("ACC-2", "NSManagedObject.setPrimitiveValue(_:forKey:)"), arguments: StoreKind.fetchingRows)
  func `primitive values bypass the graph, and their brackets bring it back in`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let category: Category = context.category("c")
      let item: Item = context.item("a")
      try context.save()
      item.setPrimitiveValue("quiet", forKey: "title")
      #expect(item.title == "quiet" && !item.hasChanges && !context.hasChanges)
      item.willChangeValue(forKey: "title")
      item.setPrimitiveValue("loud", forKey: "title")
      item.didChangeValue(forKey: "title")
      #expect(item.primitiveValue(forKey: "title") as? String == "loud")
      #expect(item.isUpdated && context.updatedObjects == [item])
      item.willChangeValue(forKey: "category")
      item.setPrimitiveValue(category, forKey: "category")
      #expect(category.items.isEmpty)
      item.didChangeValue(forKey: "category")
      #expect(category.items == [item])
      category.willChangeValue(forKey: "items")
      category.setPrimitiveValue(NSSet(), forKey: "items")
      #expect(item.category === category)
      category.didChangeValue(forKey: "items")
      #expect(item.category == nil)
      try context.save()
    }
    try stack.elsewhere { context in
      let item: Item = try #require(try context.all(Item.self, "Item").first)
      #expect(item.primitiveValue(forKey: "title") as? String == "loud")
      #expect(item.category == nil)
    }
  }

  @Test(
    .rule(
      "REF-2", "NSManagedObjectContext.refresh(_:mergeChanges:)",
      "transient values stay with true, go with false"), arguments: StoreKind.every)
  func `a transient value lives in the object only`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a")
      item.note = "remember"
      try context.save()
      #expect(item.note == "remember")
      item.title = "b"
      context.refresh(item, mergeChanges: true)
      #expect(item.note == "remember" && item.title == "b")
      try context.save()
      context.refresh(item, mergeChanges: false)
      #expect(item.note == nil && item.title == "b")
    }
  }

  @Test(.rule("LIFE-17", "NSManagedObject.init(context:), entity()"), arguments: StoreKind.every)
  func `classes find their entity in the context's model`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      #expect(Item(context: context).entity.name == "Item")
      #expect(type(of: context.make("Employee")) == Employee.self)
      #expect(type(of: context.make("Song")) == NSManagedObject.self)
      #expect(NSEntityDescription.entity(forEntityName: "Nothing", in: context) == nil)
      #expect(Item.entity().name == "Item")
      #expect(Item.fetchRequest().entityName == "Item")
    }
  }

  @Test func `an object that was never stored keeps its attributes when its context is gone`() throws {
    let stack = try Stack(.inMemory)
    let item: Item = {
      let context: NSManagedObjectContext = stack.other()
      return context.performAndWait { context.item("a") }
    }()
    #expect(item.managedObjectContext == nil && item.title == "a")
    item.title = "b"
    #expect(item.title == "b")
  }

  /// Typed accessors over transient attributes of every scalar type.
  private static let shadow: NSManagedObjectModel = {
    let types: [(String, NSAttributeType)] = [
      ("small", .integer16AttributeType), ("large", .integer64AttributeType), ("flag", .booleanAttributeType),
      ("single", .floatAttributeType), ("double", .doubleAttributeType), ("date", .dateAttributeType),
      ("text", .stringAttributeType), ("decimal", .decimalAttributeType), ("bytes", .binaryDataAttributeType),
    ]
    let entity: NSEntityDescription = World.entity(
      "Shadow", [World.attribute("name", .stringAttributeType)] + types.map { World.attribute($0, $1) })
    for attribute in entity.attributesByName.values where attribute.name != "name" {
      attribute.isTransient = true
    }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }()

  @Test(arguments: StoreKind.every)
  func `transient attributes give back through typed accessors what was set`(kind: StoreKind) throws {
    let stack = try Stack(kind, model: Self.shadow)
    try stack.run { context in
      let object: NSManagedObject = context.make("Shadow", ["name": "a"])
      let date = Date(timeIntervalSinceReferenceDate: 5.5)
      func key(_ name: String) -> ManagedKey { ManagedKey(name) }
      func check(_ comment: Comment) {
        #expect(object.managedValue(key("small")) as Int16 == -3, comment)
        #expect(object.managedValue(key("large")) as Int == 50, comment)
        #expect(object.managedValue(key("flag")) as Bool == true, comment)
        #expect(object.managedValue(key("single")) as Float == 0.5, comment)
        #expect(object.managedValue(key("double")) as Double? == 2.25, comment)
        #expect(object.managedValue(key("date")) as Date? == date, comment)
        #expect(object.managedValue(key("text")) as String? == "t", comment)
        #expect(object.managedValue(key("decimal")) as Decimal? == 7, comment)
        #expect(object.managedValue(key("bytes")) as Data? == Data([1]), comment)
        #expect(object.value(forKey: "date") as? Date == date, comment)
        #expect(object.value(forKey: "flag") as? Bool == true, comment)
      }
      #expect(object.managedValue(key("large")) as Int == 0)
      object.setManagedValue(-3 as Int16, key("small"))
      object.setManagedValue(50 as Int, key("large"))
      object.setManagedValue(true, key("flag"))
      object.setManagedValue(0.5 as Float, key("single"))
      object.setManagedValue(2.25 as Double, key("double"))
      object.setManagedValue(date, key("date"))
      object.setManagedValue("t" as String?, key("text"))
      object.setManagedValue(7 as Decimal?, key("decimal"))
      object.setManagedValue(Data([1]), key("bytes"))
      check("set")
      try context.save()
      check("saved")
      for (name, value) in [("small", -3), ("large", 50), ("flag", true), ("date", date)] as [(String, Any)] {
        object.setValue(value, forKey: name)
      }
      check("set by key")
      object.setManagedValue(nil as String?, key("text"))
      object.setValue(nil, forKey: "large")
      #expect(object.managedValue(key("text")) as String? == nil)
      #expect(
        object.managedValue(key("large")) as Int == 0 && object.managedValue(key("large")) as Int64? == nil)
      context.refresh(object, mergeChanges: false)
      #expect(
        object.managedValue(key("small")) as Int16 == 0 && object.managedValue(key("date")) as Date? == nil)
    }
  }
}
