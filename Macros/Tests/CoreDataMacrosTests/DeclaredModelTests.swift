import CoreDataMacros
import Foundation
import Testing

@Suite struct DeclaredModelTests {
  private static func context() throws -> NSManagedObjectContext {
    let model = try NSManagedObjectModel(declaredBy: Item.self, SpecialItem.self, Shelf.self, Tag.self)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
    let context = NSManagedObjectContext(.mainQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test @MainActor func `objects have the values that are set, and relationships their inverses`() throws {
    let context: NSManagedObjectContext = try Self.context()
    let item = Item(context: context)
    #expect(item.priority == 3 && item.size == .small && item.maximum == nil && item.title == nil)
    (item.code, item.title, item.size, item.maximum) = ("a", "tea", .large, .small)
    (item.due, item.price, item.ratio) = (Date(timeIntervalSinceReferenceDate: 5), 1.25, 0.5)
    (item.photo, item.id, item.link) = (Data([1]), UUID(), URL(string: "https://example.org"))
    (item.words, item.rank, item.isDone) = (["x", "y"], 7, true)
    let shelf = Shelf(context: context)
    let (one, two): (Tag, Tag) = (Tag(context: context), Tag(context: context))
    one.text = "one"
    item.shelf = shelf
    item.tags = [one, two]
    let book = SpecialItem(context: context)
    (book.code, book.pages, book.before) = ("b", 12, item)
    shelf.items.append(book)
    #expect(shelf.items == [item, book] && one.items == [item] && item.next === book)
    item.priority += 1
    item.title?.append("!")
    try context.save()
    context.reset()
    let request = Item.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(keyPath: \Item.code, ascending: true)]
    let read: [Item] = try context.fetch(request)
    #expect(read.map(\.code) == ["a", "b"])
    #expect(read[0].priority == 4 && read[0].title == "tea!" && read[0].size == .large)
    #expect(read[0].words == ["x", "y"] && read[0].upper == "TEA!" && read[0].rank == 7)
    #expect((read[1] as? SpecialItem)?.pages == 12 && read[1].before === read[0])
    #expect(read[0].tags.count == 2 && read[0].shelf?.items.count == 2)
    #expect(try context.fetch(SpecialItem.fetchRequest() as NSFetchRequest<SpecialItem>).count == 1)
    #expect(read[0].shout == "TEA!")
  }

  @Test func `the model is that of the declarations`() throws {
    let model = try NSManagedObjectModel(declaredBy: SpecialItem.self, Shelf.self, Tag.self)
    let byName: [String: NSEntityDescription] = model.entitiesByName
    #expect(Set(byName.keys) == ["Item", "Book", "Shelf", "Label", "Tag"])
    let item: NSEntityDescription = try #require(byName["Item"])
    #expect(byName["Book"]?.superentity === item && byName["Book"]?.renamingIdentifier == "Volume")
    #expect(byName["Label"]?.isAbstract == true && byName["Tag"]?.superentity === byName["Label"])
    #expect(item.managedObjectClassName == NSStringFromClass(Item.self))
    #expect(item.uniquenessConstraints as? [[String]] == [["code"]])
    #expect(item.indexes.map(\.name) == ["byDueAndPriority"])
    #expect(item.indexes.first?.elements.map(\.isAscending) == [true, false])
    #expect(item.userInfo as? [String: String] == ["note": "a thing"])
    let attributes: [String: NSAttributeDescription] = item.attributesByName
    let types: [String: NSAttributeDescription.AttributeType] = [
      "code": .string, "due": .date, "priority": .integer16, "size": .integer16, "isDone": .boolean,
      "photo": .binaryData, "price": .decimal, "ratio": .double, "id": .uuid, "link": .uri,
      "rank": .integer16, "words": .transformable, "upper": .string,
    ]
    for (name, type) in types { #expect(attributes[name]?.type == type, "\(name)") }
    #expect(attributes["code"]?.isOptional == false && attributes["title"]?.isOptional == true)
    #expect(attributes["due"]?.renamingIdentifier == "deadline")
    #expect(attributes["size"]?.defaultValue as? Int16 == 1)
    #expect(attributes["photo"]?.allowsExternalBinaryDataStorage == true)
    #expect(attributes["isShown"]?.isTransient == true)
    #expect(attributes["upper"] is NSDerivedAttributeDescription)
    let shelf: NSRelationshipDescription = try #require(item.relationshipsByName["shelf"])
    #expect(!shelf.isToMany && shelf.inverseRelationship?.name == "items")
    #expect(shelf.inverseRelationship?.isOrdered == true)
    #expect(shelf.inverseRelationship?.deleteRule == .cascadeDeleteRule)
    #expect(item.relationshipsByName["before"]?.inverseRelationship?.name == "next")
    #expect(item.propertiesByName["shout"] == nil)
  }

  @Test func `the hashes are those of the same model drawn in Xcode`() throws {
    let drawn: NSManagedObjectModel = try Self.drawn(
      """
      <entity name="Shelf" representedClassName="Shelf" syncable="YES">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="items" optional="YES" toMany="YES" deletionRule="Cascade" ordered="YES" \
      destinationEntity="Item" inverseName="shelf" inverseEntity="Item"/>
      </entity>
      <entity name="Label" representedClassName="Label" isAbstract="YES" syncable="YES">
        <attribute name="text" optional="YES" attributeType="String"/>
      </entity>
      <entity name="Tag" representedClassName="Tag" parentEntity="Label" syncable="YES">
        <relationship name="items" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Item" \
      inverseName="tags" inverseEntity="Item"/>
      </entity>
      <entity name="Book" representedClassName="SpecialItem" elementID="Volume" parentEntity="Item" syncable="YES">
        <attribute name="pages" attributeType="Integer 32" defaultValueString="0" usesScalarValueType="YES"/>
      </entity>
      <entity name="Item" representedClassName="Item" syncable="YES">
        <attribute name="code" attributeType="String"/>
        <attribute name="title" optional="YES" attributeType="String"/>
        <attribute name="due" optional="YES" attributeType="Date" elementID="deadline" usesScalarValueType="NO"/>
        <attribute name="priority" attributeType="Integer 16" defaultValueString="3" usesScalarValueType="YES"/>
        <attribute name="size" attributeType="Integer 16" defaultValueString="1" usesScalarValueType="YES"/>
        <attribute name="maximum" optional="YES" attributeType="Integer 16" usesScalarValueType="YES"/>
        <attribute name="isDone" defaultValueString="NO" attributeType="Boolean" usesScalarValueType="YES"/>
        <attribute name="photo" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        <attribute name="price" optional="YES" attributeType="Decimal"/>
        <attribute name="ratio" defaultValueString="0.0" attributeType="Double" usesScalarValueType="YES"/>
        <attribute name="id" optional="YES" attributeType="UUID" usesScalarValueType="NO"/>
        <attribute name="link" optional="YES" attributeType="URI"/>
        <attribute name="rank" defaultValueString="0" attributeType="Integer 16" usesScalarValueType="YES"/>
        <attribute name="words" optional="YES" attributeType="Transformable" \
      valueTransformerName="NSSecureUnarchiveFromData"/>
        <attribute name="upper" optional="YES" attributeType="String" derived="YES" \
      derivationExpression="uppercase:(title)"/>
        <attribute name="isShown" defaultValueString="NO" transient="YES" attributeType="Boolean" usesScalarValueType="YES"/>
        <relationship name="shelf" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Shelf" \
      inverseName="items" inverseEntity="Shelf"/>
        <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Tag" \
      inverseName="items" inverseEntity="Tag"/>
        <relationship name="before" optional="YES" maxCount="1" deletionRule="Deny" destinationEntity="Item" \
      inverseName="next" inverseEntity="Item"/>
        <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Item" \
      inverseName="before" inverseEntity="Item"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="code"/></uniquenessConstraint></uniquenessConstraints>
      </entity>
      """)
    let declared = try NSManagedObjectModel(declaredBy: SpecialItem.self, Shelf.self, Tag.self)
    for (name, hash) in drawn.entityVersionHashesByName {
      #expect(declared.entityVersionHashesByName[name] == hash, "\(name)")
    }
    #expect(declared.entities.count == drawn.entities.count)
    let difference = ModelDifference(from: drawn, to: declared)
    for property in difference.entities.flatMap(\.properties) { #expect(property.changes.isEmpty) }
  }

  @Test @MainActor func `a property has another name in the model than in the class, its inverse too`() throws
  {
    let model = try NSManagedObjectModel(declaredBy: Chapter.self)
    let entity: NSEntityDescription = try #require(model.entitiesByName["Chapter"])
    #expect(entity.propertiesByName.keys.sorted() == ["description", "entity", "notes", "up"])
    let up: NSRelationshipDescription = try #require(entity.relationshipsByName["up"])
    #expect(up.inverseRelationship?.name == "entity" && up.minCount == 1 && up.maxCount == 1)
    #expect(entity.attributesByName["notes"]?.preservesValueInHistoryOnDeletion == true)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
    let context = NSManagedObjectContext(.mainQueue)
    context.persistentStoreCoordinator = coordinator
    let (one, two): (Chapter, Chapter) = (Chapter(context: context), Chapter(context: context))
    (one.text, one.notes, two.parent) = ("a", "b", one)
    #expect(one.parts == [two] && one.value(forKey: "description") as? String == "a")
    let request: NSFetchRequest<Chapter> = Chapter.fetchRequest()
    request.predicate = NSPredicate(format: "entity.@count == 1 AND description == 'a'")
    #expect(try context.fetch(request) == [one])
  }

  private static func drawn(_ entities: String) throws -> NSManagedObjectModel {
    let folder: URL = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID()).xcdatamodel")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let text = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22222" \
      systemVersion="23A344" minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="">
      \(entities)
      </model>
      """
    try Data(text.utf8).write(to: folder.appendingPathComponent("contents"))
    return try NSManagedObjectModel.load(contentsOf: folder).model
  }

  @Test func `declarations that make no model are errors that name what to write`() throws {
    func message(_ classes: any DeclaredEntity.Type...) -> String {
      do {
        _ = try NSManagedObjectModel(declaredBy: classes)
        return "none"
      } catch { return "\(error)" }
    }
    #expect(message(Shelf.self).contains("Shelf.items leads to Item, which is not in the model"))
    #expect(message(Wrong.self).contains("The inverse 'nothing' of Wrong.other is no relationship"))
    #expect(message(Twin.self, OtherTwin.self).contains("both declare the entity 'Twin'"))
    #expect(message(Nameless.self).contains("names 'tittle' in unique"))
    #expect(message(Mistyped.self).contains("Mistyped.count: "))
    let ordered: NSEntityDescription? = try NSManagedObjectModel(declaredBy: Ordered.self).entitiesByName[
      "Ordered"]
    #expect(ordered?.relationshipsByName["before"]?.isOrdered == true)
    #expect(ordered?.relationshipsByName["next"]?.isOrdered == false)
    #expect(message(Mistyped.self).contains("[default-type]"))
  }
}

@ManagedObject
final class Chapter: NSManagedObject {
  @Managed(name: "description") var text: String?
  @Managed(isKeptInHistory: true) var notes: String?
  @Managed(inverse: \Chapter.parts, name: "up", min: 1) var parent: Chapter?
  @Managed(name: "entity", rule: .nullifyDeleteRule) var parts: Set<Chapter>
}

@ManagedObject
final class Ordered: NSManagedObject {
  @Managed(inverse: "next", isOrdered: true) var before: Ordered?
  @Managed(inverse: "before", rule: .denyDeleteRule) var next: Ordered?
}

@ManagedObject
final class Wrong: NSManagedObject {
  @Managed(inverse: "nothing") var other: Wrong?
}

@ManagedObject
final class Twin: NSManagedObject {}

@ManagedObject("Twin")
final class OtherTwin: NSManagedObject {}

@ManagedObject
final class Mistyped: NSManagedObject {
  @Managed(default: "many") var count: Int16
}

@ManagedObject(unique: [["tittle"]])
final class Nameless: NSManagedObject {
  @Managed var title: String?
}
