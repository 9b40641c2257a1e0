import CoreData
import Foundation
import LenientClient
import Testing

/// Source that programs for Apple's SDK have and Linux Foundation lacks or stops at. Found in
/// core-data-model-description (classes local to a test), PredicateKit and QueryKit (`_kvcKeyPathString`,
/// contexts without a type), CoreDataPlus (`autoreleasepool`).
@Suite
struct PortedSourceTests {
  /// Nested.
  final class Inner: NSManagedObject {
    var title: String? {
      get { managedValue(ManagedKey("title")) }
      set { setManagedValue(newValue, ManagedKey("title")) }
    }
    var owner: Inner? {
      get { managedObject(ManagedKey("owner")) }
      set { setManagedObject(newValue, ManagedKey("owner")) }
    }
    var shout: String { (title ?? "") + (owner?.title ?? "") }
  }

  private static func stack(_ type: NSManagedObject.Type, name: String = "Thing") throws
    -> NSManagedObjectContext
  {
    let entity = NSEntityDescription()
    entity.name = name
    entity.managedObjectClassName = NSStringFromClass(type)
    let title = NSAttributeDescription()
    (title.name, title.attributeType, title.isOptional) = ("title", .stringAttributeType, true)
    entity.properties = [title]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func makeOne(_ type: NSManagedObject.Type) throws -> NSManagedObject.Type {
    let context: NSManagedObjectContext = try stack(type)
    return context.performAndWait {
      Swift.type(of: NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context))
    }
  }

  private static func localClass() -> NSManagedObject.Type {
    final class Local: NSManagedObject {}
    return Local.self
  }

  private static func otherLocalClass() -> NSManagedObject.Type {
    final class Local: NSManagedObject {}
    return Local.self
  }

  @Test func `nested, private and local classes have names, and entities find them`() throws {
    final class Local: NSManagedObject {}
    let types: [NSManagedObject.Type] = [
      Inner.self, Hidden.self, Local.self, Self.localClass(), Self.otherLocalClass(), TopLevel.self,
      NSManagedObject.self,
    ]
    for type in types { #expect(try Self.makeOne(type) == type) }
    for type in types.reversed() { #expect(try Self.makeOne(type) == type) }
    #expect(NSStringFromClass(Inner.self) == "ClientTests.PortedSourceTests.Inner")
    #expect(NSStringFromClass(TopLevel.self) == "ClientTests.TopLevel")
    #expect(NSStringFromClass(NSManagedObject.self) == "NSManagedObject")
    // Foundation's, for all other classes.
    #expect(NSStringFromClass(Bystander.self) == "ClientTests.Bystander")
  }

  @Test func `key paths of managed properties have the names that libraries ask for`() {
    #expect((\Inner.title as AnyKeyPath)._kvcKeyPathString == "title")
    #expect((\Inner.owner?.title)._kvcKeyPathString == "owner.title")
    #expect((\Inner.shout)._kvcKeyPathString == nil)
    #expect((\Bystander.name)._kvcKeyPathString == "name")
  }

  /// CoreDataPlus and CoreDataRepository fall back on the name of the class.
  @Test func `a class that no model names has an entity without a name`() throws {
    #expect(Unnamed.entity().name == nil)
    let context: NSManagedObjectContext = try Self.stack(Inner.self)
    #expect(Inner.entity().name == "Thing")
    withExtendedLifetime(context) {}
  }

  /// A model whose two entities share a class, beside one in which a single entity has it.
  private static func sharingStacks() throws -> (
    shared: NSManagedObjectContext, single: NSManagedObjectContext
  ) {
    let single: NSManagedObjectContext = try stack(Shared.self, name: "Left")
    let model = NSManagedObjectModel()
    model.entities = ["Left", "Right"].map { name in
      let entity = NSEntityDescription()
      (entity.name, entity.managedObjectClassName) = (name, NSStringFromClass(Shared.self))
      return entity
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let shared = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    shared.persistentStoreCoordinator = coordinator
    return (shared, single)
  }

  /// Apple's framework logs that "+entity is unable to disambiguate", and gives nil.
  @Test func `a class that entities share has an entity without a name, and a request that waits for one`()
    throws
  {
    let (shared, single) = try Self.sharingStacks()
    try shared.performAndWait { () throws in
      #expect(Shared.entity().name == nil)
      let request: NSFetchRequest<any NSFetchRequestResult> = Shared.fetchRequest()
      #expect(request.entityName == nil && request.entity == nil)
      let error: (any Error)? = #expect(throws: CocoaError.self) { try shared.fetch(request) }
      #expect("\(error.map { "\($0)" } ?? "")".contains("has no entity"))
      request.entity = NSEntityDescription.entity(forEntityName: "Right", in: shared)
      #expect(try shared.fetch(request).isEmpty)
    }
    // The context's model knows of one.
    try single.performAndWait {
      #expect(Shared.entity().name == "Left" && Shared.fetchRequest().entityName == "Left")
      #expect(Shared(context: single).entity.name == "Left")
      try single.save()
    }
  }

  @Test func `what a class stands for that entities share is said with the entities and the cure`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (shared, _) = try PortedSourceTests.sharingStacks()
      shared.performAndWait {
        _ = Shared.entity()
        _ = Shared(context: shared)
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for part in [
      "Multiple NSEntityDescriptions claim the NSManagedObject subclass 'ClientTests.Shared' so +entity is unable to disambiguate",
      "Left, Right", "entity(forEntityName:in:)", "must have a valid NSEntityDescription",
      "init(entity:insertInto:)",
    ] { #expect(text.contains(part), "\(text)") }
  }

  /// From the tests of a browser's persistence library (BrowserServicesKit).
  @Test
  func `a save into a store that was opened to be read is refused with the code for missing permission`()
    throws
  {
    let url: URL = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID().uuidString).sqlite")
    let context: NSManagedObjectContext = try Self.stack(Inner.self)
    let coordinator: NSPersistentStoreCoordinator = try #require(context.persistentStoreCoordinator)
    try coordinator.remove(try #require(coordinator.persistentStores.first))
    let store: NSPersistentStore = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    try context.performAndWait {
      Inner(context: context).title = "a"
      try context.save()
      context.reset()
    }
    try coordinator.remove(store)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      options: [NSReadOnlyPersistentStoreOption: true])
    let changes: [(NSManagedObjectContext) throws -> Void] = [
      { Inner(context: $0).title = "b" },
      { try $0.fetch(NSFetchRequest<Inner>(entityName: "Thing"))[0].title = "c" },
      { $0.delete(try $0.fetch(NSFetchRequest<Inner>(entityName: "Thing"))[0]) },
    ]
    for change in changes {
      context.performAndWait {
        let error: (any Error)? = #expect(throws: CocoaError.self) {
          try change(context)
          try context.save()
        }
        #expect((error as? CocoaError)?.code == .fileWriteNoPermission, "\(String(describing: error))")
        context.reset()
      }
    }
  }

  @Test func `an autorelease pool runs its body and gives and throws what that does`() throws {
    struct Refusal: Error {}
    #expect(autoreleasepool { 7 } == 7)
    #expect(throws: Refusal.self) { try autoreleasepool { throw Refusal() } }
  }

  @Test func `a context without a type is of the confinement type and works on its thread`() throws {
    let context: NSManagedObjectContext = contextWithoutType()
    #expect(context.concurrencyType == .confinementConcurrencyType)
    context.persistentStoreCoordinator = try Self.stack(Inner.self).persistentStoreCoordinator
    let thing = Inner(context: context)
    thing.title = "a"
    try context.save()
    #expect(thing.title == "a")
  }
}

private final class Hidden: NSManagedObject {}
private final class Unnamed: NSManagedObject {}
final class Shared: NSManagedObject {}
final class TopLevel: NSManagedObject {}
final class Bystander { let name = "" }
