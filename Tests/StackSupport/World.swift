import CoreData
import Foundation

// The model of the behaviour suite, and its classes.
//
//     Category ──items (cascade)──→ Item ──tags──→ Tag            many-to-many
//     Shelf ──items (nullify)──→ Item ←──item── Detail            one-to-one, cascade from Item
//     Vault ──items (deny)──→ Item        Basket ──items──→ Item  to-many without inverse
//     Album ──songs (ordered)──→ Song ←──(ordered) songs── Playlist
//     Person (abstract) ← Employee ← Manager    friends: reflexive many-to-many; spouse: reflexive one-to-one
//     Node: next/previous one-to-one, children/parent cascading both ways
//     Kinds: every attribute type.   Strict: every validation.   Unique: a uniqueness constraint.

public enum World {
  /// One for all stacks: a model may serve many coordinators, and making one costs more than most tests.
  public static let shared: NSManagedObjectModel = model()

  public static func model() -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = shop() + music() + people() + [node(), kinds(), unique()] + strict()
    return model
  }

  private static func shop() -> [NSEntityDescription] {
    let category = entity(
      "Category", [attribute("name", .stringAttributeType), attribute("rank", .integer32AttributeType)])
    let shelf = entity("Shelf", [attribute("name", .stringAttributeType)])
    let vault = entity("Vault", [attribute("name", .stringAttributeType)])
    let tag = entity("Tag", [attribute("name", .stringAttributeType)])
    let detail = entity("Detail", [attribute("text", .stringAttributeType)])
    let basket = entity("Basket", [attribute("name", .stringAttributeType)])
    let note = attribute("note", .stringAttributeType)
    note.isTransient = true
    let count = attribute("count", .integer64AttributeType)
    count.defaultValue = 7
    let item = entity(
      "Item",
      [
        attribute("title", .stringAttributeType), attribute("price", .doubleAttributeType), count,
        attribute("done", .booleanAttributeType), attribute("due", .dateAttributeType), note,
      ])
    pair(category, "items", .many, .cascadeDeleteRule, item, "category", .one, .nullifyDeleteRule)
    pair(shelf, "items", .many, .nullifyDeleteRule, item, "shelf", .one, .nullifyDeleteRule)
    pair(vault, "items", .many, .denyDeleteRule, item, "vault", .one, .nullifyDeleteRule)
    pair(item, "tags", .many, .nullifyDeleteRule, tag, "items", .many, .nullifyDeleteRule)
    pair(item, "detail", .one, .cascadeDeleteRule, detail, "item", .one, .nullifyDeleteRule)
    basket.properties.append(relationship("items", item, .many, .nullifyDeleteRule))
    return [category, shelf, vault, tag, detail, basket, item]
  }

  private static func music() -> [NSEntityDescription] {
    let album = entity("Album", [attribute("name", .stringAttributeType)])
    let playlist = entity("Playlist", [attribute("name", .stringAttributeType)])
    let song = entity("Song", [attribute("name", .stringAttributeType)])
    pair(album, "songs", .ordered, .cascadeDeleteRule, song, "album", .one, .nullifyDeleteRule)
    pair(playlist, "songs", .ordered, .nullifyDeleteRule, song, "playlists", .many, .nullifyDeleteRule)
    return [album, playlist, song]
  }

  private static func people() -> [NSEntityDescription] {
    let person = entity("Person", [attribute("name", .stringAttributeType)])
    person.isAbstract = true
    let employee = entity("Employee", [attribute("salary", .integer32AttributeType)])
    let manager = entity("Manager", [attribute("title", .stringAttributeType)])
    person.subentities = [employee]
    employee.subentities = [manager]
    pair(manager, "reports", .many, .nullifyDeleteRule, employee, "boss", .one, .nullifyDeleteRule)
    let friends = relationship("friends", person, .many, .nullifyDeleteRule)
    friends.inverseRelationship = friends
    let spouse = relationship("spouse", person, .one, .nullifyDeleteRule)
    spouse.inverseRelationship = spouse
    person.properties += [friends, spouse]
    return [person, employee, manager]
  }

  private static func node() -> NSEntityDescription {
    let node = entity("Node", [attribute("name", .stringAttributeType)])
    pair(node, "next", .one, .nullifyDeleteRule, node, "previous", .one, .nullifyDeleteRule)
    pair(node, "children", .many, .cascadeDeleteRule, node, "parent", .one, .cascadeDeleteRule)
    return node
  }

  private static func kinds() -> NSEntityDescription {
    entity(
      "Kinds",
      [
        attribute("i16", .integer16AttributeType), attribute("i32", .integer32AttributeType),
        attribute("i64", .integer64AttributeType), attribute("flag", .booleanAttributeType),
        attribute("double", .doubleAttributeType), attribute("float", .floatAttributeType),
        attribute("date", .dateAttributeType), attribute("decimal", .decimalAttributeType),
        attribute("text", .stringAttributeType), attribute("uri", .URIAttributeType),
        attribute("uuid", .UUIDAttributeType), attribute("bytes", .binaryDataAttributeType),
        attribute("thing", .transformableAttributeType),
      ])
  }

  private static func unique() -> NSEntityDescription {
    let unique = entity(
      "Unique", [attribute("code", .stringAttributeType), attribute("note", .stringAttributeType)])
    unique.uniquenessConstraints = [["code"]]
    return unique
  }

  private static func strict() -> [NSEntityDescription] {
    let name = attribute("name", .stringAttributeType, optional: false)
    name.setValidationPredicates(
      [NSPredicate(format: "length >= 2"), NSPredicate(format: "length <= 5")],
      withValidationWarnings: ["\(NSValidationStringTooShortError)", "\(NSValidationStringTooLongError)"])
    let code = attribute("code", .stringAttributeType)
    code.setValidationPredicates(
      [NSPredicate(format: "SELF MATCHES %@", "[A-Z]{2}[0-9]+")],
      withValidationWarnings: ["\(NSValidationStringPatternMatchingError)"])
    let age = attribute("age", .integer16AttributeType, optional: false)
    age.defaultValue = 18
    age.setValidationPredicates(
      [NSPredicate(format: "SELF >= 0"), NSPredicate(format: "SELF <= 150")],
      withValidationWarnings: ["\(NSValidationNumberTooSmallError)", "\(NSValidationNumberTooLargeError)"])
    let born = attribute("born", .dateAttributeType)
    born.setValidationPredicates(
      [
        NSPredicate(format: "SELF >= %@", Date(timeIntervalSinceReferenceDate: 0)),
        NSPredicate(format: "SELF <= %@", Date(timeIntervalSinceReferenceDate: 1000)),
      ],
      withValidationWarnings: ["\(NSValidationDateTooSoonError)", "\(NSValidationDateTooLateError)"])
    let strict = entity("Strict", [name, code, age, born])
    let part = entity("Part", [attribute("name", .stringAttributeType)])
    let home = entity("Home", [attribute("name", .stringAttributeType)])
    pair(strict, "parts", .many, .nullifyDeleteRule, part, "owner", .one, .nullifyDeleteRule)
    pair(home, "tenants", .many, .nullifyDeleteRule, strict, "home", .one, .nullifyDeleteRule)
    for property in strict.properties {
      guard let relationship = property as? NSRelationshipDescription else { continue }
      if relationship.name == "parts" { (relationship.minCount, relationship.maxCount) = (2, 3) }
      if relationship.name == "home" { relationship.isOptional = false }
    }
    return [strict, part, home]
  }

  // MARK: Making descriptions

  public enum Cardinality { case one, many, ordered }

  public static func entity(_ name: String, _ attributes: [NSAttributeDescription]) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    // The classes below, or those of the tests that make a model of their own; a model in a file would name
    // them the same way.
    entity.managedObjectClassName =
      ["StackSupport", "CoreDataGraphTests", "CoreDataTests"].map { "\($0).\(name)" }
      .first { NSClassFromString($0) is NSManagedObject.Type } ?? entity.managedObjectClassName
    entity.properties = attributes
    return entity
  }

  public static func attribute(
    _ name: String, _ type: NSAttributeType, optional: Bool = true
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = optional
    return attribute
  }

  public static func relationship(
    _ name: String, _ destination: NSEntityDescription, _ cardinality: Cardinality, _ rule: NSDeleteRule
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.maxCount = cardinality == .one ? 1 : 0
    relationship.isOrdered = cardinality == .ordered
    relationship.deleteRule = rule
    return relationship
  }

  public static func pair(
    _ left: NSEntityDescription, _ leftName: String, _ leftSide: Cardinality, _ leftRule: NSDeleteRule,
    _ right: NSEntityDescription, _ rightName: String, _ rightSide: Cardinality, _ rightRule: NSDeleteRule
  ) {
    let forth = relationship(leftName, right, leftSide, leftRule)
    let back = relationship(rightName, left, rightSide, rightRule)
    forth.inverseRelationship = back
    back.inverseRelationship = forth
    left.properties.append(forth)
    right.properties.append(back)
  }
}

// MARK: Classes

/// Tells the context's journal what it is told.
open class Told: NSManagedObject {
  private var journal: Journal? { managedObjectContext?.userInfo["journal"] as? Journal }
  private func note(_ what: String) { journal?.lines.append("\(what) \(entity.name ?? "")") }

  open override func awakeFromInsert() {
    super.awakeFromInsert()
    note("awakeFromInsert")
  }
  open override func awakeFromFetch() {
    super.awakeFromFetch()
    note("awakeFromFetch")
    journal?.onAwakeFromFetch?(self)
  }
  open override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
    super.awake(fromSnapshotEvents: flags)
    note("awakeFromSnapshot\(flags.rawValue)")
  }
  open override func prepareForDeletion() { note("prepareForDeletion") }
  open override func willSave() {
    note("willSave")
    journal?.onWillSave?(self)
  }
  open override func didSave() {
    note("didSave")
    journal?.onDidSave?(self)
  }
  open override func willTurnIntoFault() { note("willTurnIntoFault") }
  open override func didTurnIntoFault() { note("didTurnIntoFault") }
}

open class Category: Told {
  private static let nameKey = ManagedKey("name")
  private static let rankKey = ManagedKey("rank")
  private static let itemsKey = ManagedKey("items")

  public var name: String? {
    get { managedValue(Self.nameKey) }
    set { setManagedValue(newValue, Self.nameKey) }
  }
  public var rank: Int32 {
    get { managedValue(Self.rankKey) }
    set { setManagedValue(newValue, Self.rankKey) }
  }
  public var items: Set<Item> {
    get { managedSet(Self.itemsKey) }
    set { setManagedMembers(newValue, Self.itemsKey) }
  }
  public func addToItems(_ item: Item) { addManagedMember(item, Self.itemsKey) }
  public func removeFromItems(_ item: Item) { removeManagedMember(item, Self.itemsKey) }
}

open class Item: Told {
  private static let titleKey = ManagedKey("title")
  private static let priceKey = ManagedKey("price")
  private static let countKey = ManagedKey("count")
  private static let doneKey = ManagedKey("done")
  private static let dueKey = ManagedKey("due")
  private static let noteKey = ManagedKey("note")
  private static let categoryKey = ManagedKey("category")
  private static let shelfKey = ManagedKey("shelf")
  private static let vaultKey = ManagedKey("vault")
  private static let detailKey = ManagedKey("detail")
  private static let tagsKey = ManagedKey("tags")

  public var title: String? {
    get { managedValue(Self.titleKey) }
    set { setManagedValue(newValue, Self.titleKey) }
  }
  public var price: Double {
    get { managedValue(Self.priceKey) }
    set { setManagedValue(newValue, Self.priceKey) }
  }
  public var count: Int64 {
    get { managedValue(Self.countKey) }
    set { setManagedValue(newValue, Self.countKey) }
  }
  public var done: Bool {
    get { managedValue(Self.doneKey) }
    set { setManagedValue(newValue, Self.doneKey) }
  }
  public var due: Date? {
    get { managedValue(Self.dueKey) }
    set { setManagedValue(newValue, Self.dueKey) }
  }
  public var note: String? {
    get { managedObjectValue(Self.noteKey) }
    set { setManagedObjectValue(newValue, Self.noteKey) }
  }
  public var category: Category? {
    get { managedObject(Self.categoryKey) }
    set { setManagedObject(newValue, Self.categoryKey) }
  }
  public var shelf: NSManagedObject? {
    get { managedObject(Self.shelfKey) }
    set { setManagedObject(newValue, Self.shelfKey) }
  }
  public var vault: NSManagedObject? {
    get { managedObject(Self.vaultKey) }
    set { setManagedObject(newValue, Self.vaultKey) }
  }
  public var detail: NSManagedObject? {
    get { managedObject(Self.detailKey) }
    set { setManagedObject(newValue, Self.detailKey) }
  }
  public var tags: Set<Tag> {
    get { managedSet(Self.tagsKey) }
    set { setManagedMembers(newValue, Self.tagsKey) }
  }
  public func addToTags(_ tag: Tag) { addManagedMember(tag, Self.tagsKey) }
  public func removeFromTags(_ tag: Tag) { removeManagedMember(tag, Self.tagsKey) }
}

open class Tag: Told {
  private static let nameKey = ManagedKey("name")
  private static let itemsKey = ManagedKey("items")

  public var name: String? {
    get { managedValue(Self.nameKey) }
    set { setManagedValue(newValue, Self.nameKey) }
  }
  public var items: Set<Item> {
    get { managedSet(Self.itemsKey) }
    set { setManagedMembers(newValue, Self.itemsKey) }
  }
}

open class Playlist: NSManagedObject {
  private static let songsKey = ManagedKey("songs")
  public var songs: [NSManagedObject] {
    get { managedArray(Self.songsKey) }
    set { setManagedMembers(newValue, Self.songsKey) }
  }
  public var names: [String] { songs.map { $0.value(forKey: "name") as? String ?? "" } }
}

open class Album: NSManagedObject {
  private static let songsKey = ManagedKey("songs")
  public var songs: [NSManagedObject] {
    get { managedArray(Self.songsKey) }
    set { setManagedMembers(newValue, Self.songsKey) }
  }
  public var names: [String] { songs.map { $0.value(forKey: "name") as? String ?? "" } }
}

open class Person: Told {
  private static let nameKey = ManagedKey("name")
  public var name: String? {
    get { managedValue(Self.nameKey) }
    set { setManagedValue(newValue, Self.nameKey) }
  }
}
open class Employee: Person {}
open class Manager: Employee {}
