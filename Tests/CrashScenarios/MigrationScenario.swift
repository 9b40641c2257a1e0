import CoreData
import Foundation
import StackSupport
import Synchronization
import TestSupport

/// A store is added with a later version of its model.
///
/// In place: one inferred step. Copying: two steps by mapping models with a policy, from number over text to
/// date; no step leads from the first version to the third.
public enum MigrationScenario: String, CaseIterable, CrashScenario, CustomStringConvertible, Sendable {
  case inPlace, sqlite, xml, binary

  public var description: String { "migrates \(rawValue)" }

  public var type: String {
    switch self {
    case .inPlace, .sqlite: NSSQLiteStoreType
    case .xml: NSXMLStoreType
    case .binary: NSBinaryStoreType
    }
  }

  public func url(in folder: URL) -> URL { folder.appendingPathComponent("People.\(rawValue)") }

  // MARK: Versions

  /// People with pets in an order; `mark` has a type of each version's own.
  private static func version(
    _ type: NSAttributeType, _ change: (NSManagedObjectModel) -> Void = { _ in }
  ) -> NSManagedObjectModel {
    let person = World.entity(
      "Person",
      [
        World.attribute("name", .stringAttributeType, optional: false), World.attribute("mark", type),
        World.attribute("photo", .binaryDataAttributeType),
      ])
    let pet = World.entity("Pet", [World.attribute("name", .stringAttributeType)])
    World.pair(person, "pets", .ordered, .cascadeDeleteRule, pet, "owner", .one, .nullifyDeleteRule)
    person.attributesByName["photo"]?.allowsExternalBinaryDataStorage = true
    let model = NSManagedObjectModel()
    model.entities = [person, pet]
    for entity in model.entities { entity.managedObjectClassName = nil }
    change(model)
    return model
  }

  /// In their order; the last one is the program's.
  public var versions: [NSManagedObjectModel] {
    let first: NSManagedObjectModel = Self.version(.integer32AttributeType)
    guard self == .inPlace else {
      return [first, Self.version(.stringAttributeType), Self.version(.dateAttributeType)]
    }
    let second: NSManagedObjectModel = Self.version(.integer32AttributeType) { model in
      let pet: NSEntityDescription? = model.entitiesByName["Pet"]
      pet?.name = "Animal"
      pet?.renamingIdentifier = "Pet"
      let note = World.attribute("note", .stringAttributeType, optional: false)
      note.defaultValue = "none"
      model.entitiesByName["Person"]?.properties.append(note)
    }
    return [first, second]
  }

  /// From one version to the next: everything is copied, and the policy converts `mark`.
  private static func mapping(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) throws
    -> NSMappingModel
  {
    let type: NSAttributeType =
      destination.entitiesByName["Person"]?.attributesByName["mark"]?.attributeType ?? .undefinedAttributeType
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: version(type), destinationModel: destination)
    for entity in mapping.entityMappings where entity.sourceEntityName == "Person" {
      entity.sourceEntityVersionHash = source.entitiesByName["Person"]?.versionHash
      entity.mappingType = .customEntityMappingType
      entity.entityMigrationPolicyClassName = NSStringFromClass(MarkPolicy.self)
      entity.attributeMappings?.first { $0.name == "mark" }?.valueExpression = nil
    }
    return mapping
  }

  // MARK: The work

  public static let people: Int = 5

  public func prepare(_ folder: URL) throws {
    let versions: [NSManagedObjectModel] = versions
    _ = try SourceModel.write(versions, in: try TemporaryFolder(keptAt: folder.path), name: "People")
    if self != .inPlace {
      for number in 1..<versions.count {
        try Self.mapping(versions[number - 1], versions[number]).archivedData()
          .write(to: folder.appendingPathComponent("\(number)to\(number + 1).cdm"))
      }
    }
    try using(versions[0], folder) { context in
      for number in 0..<Self.people {
        let person = context.make("Person", ["name": "person \(number)", "mark": number * 100])
        if number % 2 == 0 {
          person.setValue(Data(repeating: UInt8(number + 1), count: 110_000), forKey: "photo")
        }
        let pets = (0..<number % 4).map { context.make("Pet", ["name": "pet \(number).\(3 - $0)"]) }
        person.setValue(NSOrderedSet(array: pets), forKey: "pets")
      }
      try context.save()
    }
  }

  /// Opens the store, and closes it after `body`.
  public func using<Result>(
    _ model: NSManagedObjectModel, _ folder: URL, _ options: [AnyHashable: Any]? = nil,
    _ body: (NSManagedObjectContext) throws -> Result
  ) throws -> Result {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: url(in: folder), options: options)
    defer { try? coordinator.remove(store) }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try body(context) }
  }

  public static var automatic: [AnyHashable: Any] {
    [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
  }

  /// The program's model, which knows the versions before it.
  public static func program(_ folder: URL) throws -> NSManagedObjectModel {
    try NSManagedObjectModel.load(contentsOf: folder.appendingPathComponent("People.xcdatamodeld")).model
  }

  /// What a store holds, the same for each version.
  public static func state(_ context: NSManagedObjectContext) throws -> [String] {
    try context.all(NSManagedObject.self, "Person").map { person in
      let pets = person.mutableOrderedSetValue(forKey: "pets").array.compactMap {
        ($0 as? NSManagedObject)?.value(forKey: "name") as? String
      }
      let photo = (person.value(forKey: "photo") as? Data).map { "\($0.count) of \($0[0])" } ?? "none"
      let mark: Int? = person.value(forKey: "mark").flatMap(MarkPolicy.number)
      return "\(person.value(forKey: "name") ?? "nil") \(mark ?? -1) \(photo) \(pets)"
    }.sorted()
  }

  /// Reports how many steps by mapping models were done.
  public func run(in folder: URL) throws -> [String] {
    do {
      let program: NSManagedObjectModel = try Self.program(folder)
      let plan = try MigrationPlan(forStoreAt: url(in: folder), to: program)
      let state: [String] = try using(program, folder, Self.automatic) {
        CrashPoint.note(1)
        return try Self.state($0)
      }
      return ["steps \(MarkPolicy.steps)", "planned \(plan.steps.count - plan.completedSteps)"]
        + (state.count == Self.people ? [] : ["\(faultMark) \(state)"])
    } catch {
      let text: String = text(of: error)
      guard CrashPoint.lift() else { return ["\(faultMark) \(text)"] }
      let names: Bool = text.contains(folder.path) && text.contains(url(in: folder).lastPathComponent)
      // Users know the store, not the files of the hidden folder.
      let isHidden: Bool = text.contains(".migration/")
      return ["failed"] + (names ? [] : ["\(faultMark) the error does not name the file: \(text)"])
        + (isHidden ? ["\(faultMark) the error names a hidden file: \(text)"] : [])
    }
  }
}

/// Number, text, date.
public final class MarkPolicy: NSEntityMigrationPolicy {
  private static let begun = Mutex(0)
  /// How many steps this process has begun.
  public static var steps: Int { begun.withLock { $0 } }

  private static let hook = Mutex<(@Sendable () throws -> Void)?>(nil)

  /// Runs `body`, and `hook` at the beginning of each step meanwhile.
  public static func onBegin(_ hook: @escaping @Sendable () throws -> Void, in body: () throws -> Void)
    rethrows
  {
    self.hook.withLock { $0 = hook }
    defer { self.hook.withLock { $0 = nil } }
    try body()
  }

  public override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    Self.begun.withLock { $0 += 1 }
    try Self.hook.withLock { $0 }?()
    try super.begin(mapping, with: manager)
  }

  public override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    let made = manager.destinationInstances(
      forEntityMappingName: mapping.name, sourceInstances: [source])
    guard let number = source.value(forKey: "mark").flatMap(Self.number) else { return }
    for person in made {
      let isText: Bool = person.entity.attributesByName["mark"]?.attributeType == .stringAttributeType
      person.setValue(
        isText ? "\(number)" : Date(timeIntervalSinceReferenceDate: Double(number)), forKey: "mark")
    }
  }

  static func number(_ value: Any) -> Int? {
    switch value {
    case let number as Int: number
    case let number as NSNumber: number.intValue
    case let text as String: Int(text)
    case let date as Date: Int(date.timeIntervalSinceReferenceDate)
    default: nil
    }
  }
}
