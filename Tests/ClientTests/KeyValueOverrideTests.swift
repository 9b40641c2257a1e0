import CoreData
import Testing

/// Classes that answer keys themselves, as overrides of `value(forKey:)` and its kin do on Apple's platforms
/// (finding D).
@Suite
struct KeyValueOverrideTests {
  private func context(_ store: String) throws -> NSManagedObjectContext {
    let entity = NSEntityDescription()
    entity.name = "Answering"
    entity.managedObjectClassName = NSStringFromClass(Answering.self)
    let title = NSAttributeDescription()
    (title.name, title.attributeType, title.isOptional) = ("title", .stringAttributeType, true)
    let friend = NSRelationshipDescription()
    (friend.name, friend.destinationEntity, friend.maxCount, friend.isOptional) = ("friend", entity, 1, true)
    entity.properties = [title, friend]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: store, configurationName: nil,
      at: FileManager.default.temporaryDirectory.appendingPathComponent("answers-\(UUID().uuidString).sqlite")
    )
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test func `whatever reads or sets by key asks the class`() throws {
    let context: NSManagedObjectContext = try context(NSInMemoryStoreType)
    context.performAndWait {
      let object = Answering(context: context)
      object.setValue("b", forKey: "title")
      #expect(object.title == "b", "a property is not read by its key")
      #expect(object.value(forKey: "title") as? String == "<b>")
      #expect(object["title"] as? String == "<b>")
      #expect(object.value(forKey: "shout") as? String == "B")
      #expect(object.dictionaryWithValues(forKeys: ["title"])["title"] as? String == "<b>")
      let friend = Answering(context: context)
      friend.title = "a"
      object.friend = friend
      #expect(object.value(forKeyPath: "friend.title") as? String == "path <a>")
      object.setValue("c", forKeyPath: "friend.title")
      #expect(friend.title == "c" && Answering.log == ["title", "friend.title", "title", "title"])
      #expect(NSPredicate(format: "title = '<b>'").evaluate(with: object))
      #expect(NSPredicate(format: "shout = 'B' AND friend.shout = 'C'").evaluate(with: object))
      friend.title = "z"
      let sorted = ([object, friend] as NSArray).sortedArray(using: [
        NSSortDescriptor(key: "shout", ascending: false)
      ])
      #expect(sorted as? [Answering] == [friend, object])
      #expect(throws: (any Error).self) {
        try NSPredicate(format: "titel = 'b'").evaluateThrowing(with: object, substitutionVariables: nil)
      }
    }
  }

  @Test(arguments: AccessorFormTests.stores) func `fetches go by what is stored`(store: String) throws {
    let context: NSManagedObjectContext = try context(store)
    try context.performAndWait {
      let object = Answering(context: context)
      object.title = "b"
      let request = NSFetchRequest<Answering>(entityName: "Answering")
      request.predicate = NSPredicate(format: "title = 'b'")
      #expect(try context.fetch(request) == [object])
      try context.save()
      #expect(try context.fetch(request) == [object])
      request.predicate = NSPredicate(format: "title = '<b>'")
      #expect(try context.fetch(request) == [])
    }
  }
}

final class Answering: NSManagedObject {
  nonisolated(unsafe) static var log: [String] = []

  var title: String? {
    get { managedValue("title") }
    set { setManagedValue(newValue, "title") }
  }
  var friend: Answering? {
    get { managedObject("friend") }
    set { setManagedObject(newValue, "friend") }
  }

  override func value(forKey key: String) -> Any? {
    switch key {
    case "shout": title?.uppercased()
    case "title": (super.value(forKey: key) as? String).map { "<\($0)>" }
    default: super.value(forKey: key)
    }
  }

  override func setValue(_ value: Any?, forKey key: String) {
    Self.log.append(key)
    super.setValue(value, forKey: key)
  }

  override func value(forKeyPath keyPath: String) -> Any? {
    guard let text = super.value(forKeyPath: keyPath) as? String else {
      return super.value(forKeyPath: keyPath)
    }
    return "path \(text)"
  }

  override func setValue(_ value: Any?, forKeyPath keyPath: String) {
    Self.log.append(keyPath)
    super.setValue(value, forKeyPath: keyPath)
  }
}
