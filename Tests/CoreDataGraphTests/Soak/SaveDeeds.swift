import CoreData
import Foundation
import StackSupport
import TestSupport

/// What one context of a soak does to the few objects that all share, at random.
struct SaveDeeds {
  static let entities: [String] = [
    "Album", "Playlist", "Song", "Category", "Shelf", "Vault", "Basket", "Item", "Tag", "Detail", "Node",
    "Unique",
  ]
  private static let policies: [NSMergePolicy] = [
    .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
  ]
  private static let most: Int = 12

  let context: NSManagedObjectContext
  private var random: SeededRandom
  /// What the program keeps, so that it is old when others have changed it.
  private var held: [NSManagedObject] = []
  /// Takes a line for each deed.
  private let log: (String) -> Void

  init(_ context: NSManagedObjectContext, seed: UInt64, log: @escaping (String) -> Void) {
    self.context = context
    self.log = log
    random = SeededRandom(seed: seed)
  }

  /// How a save ended.
  struct Save {
    /// 0: it did well.
    let code: Int
    let text: String
  }

  /// One deed; gives how a save ended, if it was one. What is saved may be merged into one of the `others`.
  mutating func act(besides others: [NSManagedObjectContext]) throws -> Save? {
    let deed: Int = Int.random(in: 0..<100, using: &random)
    switch deed {
    case 0..<12: try insert()
    case 12..<22: try set()
    case 22..<34: try move()
    case 34..<46: try changeMembers()
    case 46..<54: try reorder()
    case 54..<63: try delete()
    case 63..<68: try hold()
    case 68..<72: refresh()
    case 72..<75:
      log("refresh all")
      context.refreshAllObjects()
    case 75..<77: context.automaticallyMergesChangesFromParent.toggle()
    case 77..<79:
      log("rollback")
      context.rollback()
    case 79: reset()
    default: return save(besides: others)
    }
    return nil
  }

  private func name(_ object: NSManagedObject) -> String {
    object.objectID.uriRepresentation().pathComponents.suffix(2).joined(separator: "/")
  }

  private func all(_ entity: String) throws -> [NSManagedObject] {
    try context.all(NSManagedObject.self, entity)
  }

  private mutating func any(_ entity: String) throws -> NSManagedObject? {
    try all(entity).randomElement(using: &random)
  }

  private mutating func anyEntity() -> String { Self.entities.randomElement(using: &random) ?? "Item" }

  // MARK: Objects

  private mutating func insert() throws {
    let entity: String = anyEntity()
    if try all(entity).count >= Self.most { return }
    let object: NSManagedObject = context.make(entity)
    log("insert \(name(object))")
    change(object)
    try relate(object)
  }

  private mutating func set() throws {
    guard let object = try any(anyEntity()) else { return }
    log("edit \(name(object))")
    change(object)
  }

  private mutating func change(_ object: NSManagedObject) {
    let number: Int = Int.random(in: 0..<6, using: &random)
    switch object.entity.name {
    case "Item":
      object.setValue("title \(number)", forKey: "title")
      if number % 2 == 0 { object.setValue(Double(number), forKey: "price") }
    case "Unique": object.setValue("code \(number)", forKey: "code")
    case "Detail": object.setValue("text \(number)", forKey: "text")
    default: object.setValue("name \(number)", forKey: "name")
    }
  }

  private mutating func delete() throws {
    guard let object = try any(anyEntity()) else { return }
    log("delete \(name(object))")
    context.delete(object)
    if Bool.random(using: &random) { context.processPendingChanges() }
  }

  // MARK: Relationships

  private mutating func anyRelationship(
    _ isWanted: (NSRelationshipDescription) -> Bool
  ) throws -> (owner: NSManagedObject, relationship: NSRelationshipDescription)? {
    let relationships: [NSRelationshipDescription] = Self.entities.flatMap { entity in
      World.shared.entitiesByName[entity]?.relationshipsByName.values.sorted { $0.name < $1.name } ?? []
    }
    guard let one = relationships.filter(isWanted).randomElement(using: &random),
      let owner = try any(one.entity.name ?? "")
    else { return nil }
    return (owner, one)
  }

  private mutating func move() throws {
    guard let (object, relationship) = try anyRelationship({ !$0.isToMany }) else { return }
    let isCleared: Bool = Int.random(in: 0..<5, using: &random) == 0
    let target: NSManagedObject? = isCleared ? nil : try any(relationship.destinationEntity?.name ?? "")
    log("\(name(object)).\(relationship.name) = \(target.map(name) ?? "nil")")
    object.setValue(target, forKey: relationship.name)
  }

  private mutating func changeMembers() throws {
    guard let (owner, relationship) = try anyRelationship(\.isToMany) else { return }
    try changeMembers(owner, relationship)
  }

  private mutating func changeMembers(
    _ owner: NSManagedObject, _ relationship: NSRelationshipDescription
  ) throws {
    guard let member = try any(relationship.destinationEntity?.name ?? "") else { return }
    let what: String = "\(name(owner)).\(relationship.name), \(name(member))"
    if relationship.isOrdered {
      let members: NSMutableOrderedSet = owner.mutableOrderedSetValue(forKey: relationship.name)
      let isIn: Bool = members.contains(member)
      log("\(isIn ? "take out of" : "put into") \(what)")
      if isIn { members.remove(member) } else { members.add(member) }
    } else {
      let members: NSMutableSet = owner.mutableSetValue(forKey: relationship.name)
      let isIn: Bool = members.contains(member)
      log("\(isIn ? "take out of" : "put into") \(what)")
      if isIn { members.remove(member) } else { members.add(member) }
    }
  }

  /// Gives a new object something of each relationship, or nothing.
  private mutating func relate(_ object: NSManagedObject) throws {
    for relationship in object.entity.relationshipsByName.values.sorted(by: { $0.name < $1.name })
    where Bool.random(using: &random) {
      if relationship.isToMany {
        try changeMembers(object, relationship)
      } else if let target = try any(relationship.destinationEntity?.name ?? "") {
        log("\(name(object)).\(relationship.name) = \(name(target))")
        object.setValue(target, forKey: relationship.name)
      }
    }
  }

  private mutating func reorder() throws {
    guard let (owner, relationship) = try anyRelationship(\.isOrdered),
      let members = owner.value(forKey: relationship.name) as? NSOrderedSet
    else { return }
    log("reorder \(name(owner)).\(relationship.name)")
    owner.setValue(
      NSOrderedSet(array: members.array.shuffled(using: &random)), forKey: relationship.name)
  }

  // MARK: What is known

  private mutating func hold() throws {
    log("hold")
    held = []
    for entity in Self.entities where Bool.random(using: &random) {
      for object in try all(entity) {
        held.append(object)
        for relationship in object.entity.relationshipsByName.keys.sorted() where Bool.random(using: &random)
        {
          _ = object.objectIDs(forRelationshipNamed: relationship)
        }
      }
    }
  }

  private mutating func refresh() {
    let registered: [NSManagedObject] = context.registeredObjects.sorted { name($0) < name($1) }
    for object in registered where Int.random(in: 0..<4, using: &random) == 0 {
      let merges: Bool = object.hasChanges || Bool.random(using: &random)
      log("refresh \(name(object)), \(merges)")
      context.refresh(object, mergeChanges: merges)
    }
  }

  private mutating func reset() {
    log("reset")
    held = []
    context.reset()
  }

  // MARK: Saving

  private var changes: String {
    func names(_ what: String, _ objects: Set<NSManagedObject>) -> String {
      if objects.isEmpty { return "" }
      let named: [String] = objects.map { object in
        let keys: [String] = what == "updated" ? object.changedValues().keys.sorted() : []
        return name(object) + (keys.isEmpty ? "" : " (\(keys.joined(separator: ", ")))")
      }
      return "; \(what) \(named.sorted().joined(separator: ", "))"
    }
    return names("inserted", context.insertedObjects) + names("updated", context.updatedObjects)
      + names("deleted", context.deletedObjects)
  }

  /// A program whose save fails begins anew.
  private mutating func save(besides others: [NSManagedObjectContext]) -> Save {
    let policy: NSMergePolicy = Self.policies.randomElement(using: &random) ?? .error
    let merges: Bool = Bool.random(using: &random)
    context.mergePolicy = policy
    log("save, policy \(policy.mergeType.rawValue)\(changes)")
    var saved: [AnyHashable: Any] = [:]
    let recorder = Recorder([.NSManagedObjectContextDidSaveObjectIDs], of: context) {
      saved = $0.userInfo ?? [:]
    }
    let error: NSError? = withExtendedLifetime(recorder) { errorThrown { try context.save() } }
    if error != nil {
      context.rollback()
    } else if merges, let other = others.filter({ $0 !== context }).randomElement(using: &random) {
      nonisolated(unsafe) let saved: [AnyHashable: Any] = saved
      other.perform {
        other.mergeChanges(
          fromContextDidSave: Notification(
            name: .NSManagedObjectContextDidSave, object: nil, userInfo: saved))
      }
    }
    log("saved: \(error?.code ?? 0)")
    return Save(code: error?.code ?? 0, text: error.map { "\($0)" } ?? "")
  }
}
