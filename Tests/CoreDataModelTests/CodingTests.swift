import CoreDataModel
import CoreDataPredicates
import Foundation
import Testing

/// Descriptions and requests in `NSKeyedArchiver`.
struct CodingTests {
  private static func shop() -> NSManagedObjectModel {
    let item = NSEntityDescription()
    item.name = "Item"
    let title = NSAttributeDescription()
    title.name = "title"
    title.attributeType = .stringAttributeType
    title.setValidationPredicates(
      [NSPredicate(format: "length > %@", 0)], withValidationWarnings: ["empty"])
    let shelf = NSEntityDescription()
    shelf.name = "Shelf"
    let name = NSAttributeDescription()
    (name.name, name.attributeType) = ("name", .stringAttributeType)
    let items = NSRelationshipDescription()
    (items.name, items.destinationEntity, items.deleteRule) = ("items", item, .cascadeDeleteRule)
    let place = NSRelationshipDescription()
    (place.name, place.destinationEntity, place.maxCount) = ("shelf", shelf, 1)
    (items.inverseRelationship, place.inverseRelationship) = (place, items)
    let special = NSEntityDescription()
    special.name = "Special"
    let size = NSCompositeAttributeDescription()
    size.name = "size"
    let width = NSAttributeDescription()
    (width.name, width.attributeType) = ("width", .doubleAttributeType)
    size.elements = [width]
    let upper = NSDerivedAttributeDescription()
    (upper.name, upper.attributeType) = ("upper", .stringAttributeType)
    upper.derivationExpression = NSExpression(format: "uppercase:(title)")
    let recent = NSFetchedPropertyDescription()
    recent.name = "recent"
    let fetch = NSFetchRequest<any NSFetchRequestResult>()
    fetch.entity = item
    fetch.predicate = NSPredicate(format: "title == $FETCH_SOURCE.title")
    recent.fetchRequest = fetch
    item.properties = [title, place, size, upper, recent]
    shelf.properties = [name, items]
    item.subentities = [special]
    let element = NSFetchIndexElementDescription(property: title, collationType: .binary)
    element.isAscending = false
    let index = NSFetchIndexDescription(name: "byTitle", elements: [element])
    index.partialIndexPredicate = NSPredicate(format: "title != nil")
    item.indexes = [index]
    item.uniquenessConstraints = [["title"]]
    let model = NSManagedObjectModel()
    model.entities = [item, shelf]
    let template = NSFetchRequest<any NSFetchRequestResult>()
    template.entity = item
    model.setFetchRequestTemplate(template, forName: "all")
    return model
  }

  private static func copy<Value: NSObject & NSCoding>(_ value: Value) throws -> Value {
    let data: Data = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
    return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: Value.self, from: data))
  }

  @Test func `an entity comes back in a model that is equal, in its twin's place`() throws {
    let model: NSManagedObjectModel = Self.shop()
    for name in ["Item", "Shelf", "Special"] {
      let entity: NSEntityDescription = try #require(model.entitiesByName[name])
      let read: NSEntityDescription = try Self.copy(entity)
      #expect(read == entity)
      #expect(read.managedObjectModel == model)
      #expect(read.managedObjectModel.entitiesByName[name] === read)
      #expect(read.versionHash == entity.versionHash)
      for other in read.managedObjectModel.entities {
        for relationship in other.relationshipsByName.values {
          #expect(relationship.destinationEntity?.managedObjectModel === read.managedObjectModel)
          #expect(relationship.inverseRelationship?.inverseRelationship === relationship)
        }
      }
    }
    let item: NSEntityDescription = try Self.copy(try #require(model.entitiesByName["Item"]))
    #expect(item.subentities.map(\.superentity) == [item])
    #expect(item.managedObjectModel.fetchRequestTemplate(forName: "all")?.entity === item)
  }

  @Test func `a property comes back in its entity`() throws {
    let model: NSManagedObjectModel = Self.shop()
    for entity in model.entities {
      for property in entity.properties where property.entity === entity {
        let read: NSPropertyDescription = try Self.copy(property)
        #expect(read == property && type(of: read) == type(of: property))
        #expect(read.entity?.name == entity.name)
        #expect(read.entity?.propertiesByName[property.name] === read)
        let relationship = read as? NSRelationshipDescription
        #expect(relationship?.inverseRelationship?.inverseRelationship === relationship)
      }
    }
  }

  @Test func `parts of one model are parts of one model again`() throws {
    let model: NSManagedObjectModel = Self.shop()
    let entities: [NSEntityDescription] = model.entities
    let attributes: [NSPropertyDescription] = [("Item", "title"), ("Shelf", "name")].compactMap {
      model.entitiesByName[$0.0]?.propertiesByName[$0.1]
    }
    try #require(attributes.count == 2)
    let list: NSArray = (entities as [Any] + attributes as [Any]) as NSArray
    let data: Data = try NSKeyedArchiver.archivedData(withRootObject: list, requiringSecureCoding: true)
    let read = try #require(
      try NSKeyedUnarchiver.unarchivedObject(
        ofClasses: [NSArray.self, NSEntityDescription.self, NSAttributeDescription.self], from: data)
        as? [NSObject])
    let readEntities: [NSEntityDescription] = read.compactMap { $0 as? NSEntityDescription }
    #expect(readEntities.map(\.name) == entities.map(\.name))
    #expect(Set(readEntities.map { ObjectIdentifier($0.managedObjectModel) }).count == 1)
    let readAttributes: [NSAttributeDescription] = read.compactMap { $0 as? NSAttributeDescription }
    #expect(readAttributes.map { $0.entity?.name } == ["Item", "Shelf"])
    for attribute in readAttributes {
      #expect(readEntities.contains { $0 === attribute.entity })
    }
  }

  @Test func `descriptions that belong to nothing come back so`() throws {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.attributeType, attribute.defaultValue) = ("count", .integer16AttributeType, 7)
    attribute.userInfo = ["a": "b"]
    let readAttribute: NSAttributeDescription = try Self.copy(attribute)
    #expect(readAttribute == attribute && readAttribute.entity == nil)

    let entity = NSEntityDescription()
    entity.name = "Alone"
    entity.properties = [attribute]
    let readEntity: NSEntityDescription = try Self.copy(entity)
    #expect(readEntity == entity)

    let total = NSExpressionDescription()
    (total.name, total.expressionResultType) = ("total", .doubleAttributeType)
    total.expression = NSExpression(format: "sum:(price)")
    let readTotal: NSExpressionDescription = try Self.copy(total)
    #expect(readTotal == total && readTotal.expression == total.expression)

    let element = NSFetchIndexElementDescription(property: attribute, collationType: .rTree)
    let readElement: NSFetchIndexElementDescription = try Self.copy(element)
    #expect(readElement == element && readElement.indexDescription == nil)
    let index = NSFetchIndexDescription(name: "byCount", elements: [element])
    let readIndex: NSFetchIndexDescription = try Self.copy(index)
    #expect(readIndex == index && readIndex.entity == nil)
    #expect(readIndex.elements.allSatisfy { $0.indexDescription === readIndex })
  }

  @Test func `an index and its elements come back in their entity`() throws {
    let model: NSManagedObjectModel = Self.shop()
    let index: NSFetchIndexDescription = try #require(model.entitiesByName["Item"]?.indexes.first)
    let read: NSFetchIndexDescription = try Self.copy(index)
    #expect(read == index)
    #expect(read.entity?.indexes.first === read)
    #expect(read.elements.first?.property === read.entity?.propertiesByName["title"])
    let element: NSFetchIndexElementDescription = try Self.copy(index.elements[0])
    #expect(element == index.elements[0])
  }

  @Test func `a fetch request comes back, and is executed only after permission`() throws {
    let request = NSFetchRequest<NSNumber>(entityName: "Item")
    request.predicate = NSPredicate(format: "title BEGINSWITH %@ AND ANY items.size.width > 3", "a")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
    (request.fetchLimit, request.fetchOffset, request.fetchBatchSize) = (3, 4, 5)
    request.resultType = .dictionaryResultType
    request.returnsDistinctResults = true
    request.includesSubentities = false
    let total = NSExpressionDescription()
    (total.name, total.expressionResultType) = ("total", .integer64AttributeType)
    total.expression = NSExpression(format: "sum:(size.width)")
    request.propertiesToFetch = ["title", total]
    request.propertiesToGroupBy = ["title"]
    request.havingPredicate = NSPredicate(format: "total > 10")
    request.relationshipKeyPathsForPrefetching = ["shelf"]
    let data: Data = try NSKeyedArchiver.archivedData(withRootObject: request, requiringSecureCoding: true)
    let read = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: NSFetchRequest<NSNumber>.self, from: data))
    #expect(read.entityName == "Item")
    #expect(read.predicate?.formatText == request.predicate?.formatText)
    #expect(read.havingPredicate?.formatText == "total > 10")
    #expect(read.sortDescriptors?.map(\.ascending) == [false])
    #expect(read.fetchLimit == 3 && read.fetchOffset == 4 && read.fetchBatchSize == 5)
    #expect(read.resultType == .dictionaryResultType && read.returnsDistinctResults)
    #expect(!read.includesSubentities && read.relationshipKeyPathsForPrefetching == ["shelf"])
    #expect(read.propertiesToFetch?.first as? String == "title")
    let column = try #require(read.propertiesToFetch?.last as? NSExpressionDescription)
    #expect(column.expression == total.expression && column.expressionResultType == .integer64AttributeType)
    #expect(throws: (any Error).self) { try read.predicate?.checkEvaluationAllowed() }
    #expect(throws: (any Error).self) { try column.expression?.checkEvaluationAllowed() }
    read.allowEvaluation()
    try read.predicate?.checkEvaluationAllowed()
    try read.havingPredicate?.checkEvaluationAllowed()
    try column.expression?.checkEvaluationAllowed()
    for descriptor in read.sortDescriptors ?? [] { try descriptor.checkEvaluationAllowed() }
  }

  @Test func `what has no archived form is an error that names it`() {
    let request = NSFetchRequest<NSNumber>(entityName: "Item")
    request.predicate = NSPredicate(block: { _, _ in true })
    #expect(throws: (any Error).self) {
      try NSKeyedArchiver.archivedData(withRootObject: request, requiringSecureCoding: true)
    }
    #expect(throws: (any Error).self) {
      try NSKeyedArchiver.archivedData(withRootObject: NSEntityDescription(), requiringSecureCoding: true)
    }
  }

  @Test func `damaged data is an error`() throws {
    let request = NSFetchRequest<NSNumber>(entityName: "Item")
    request.predicate = NSPredicate(format: "a == 1")
    let data: Data = try NSKeyedArchiver.archivedData(withRootObject: request, requiringSecureCoding: true)
    for length in stride(from: 0, to: data.count, by: 7) {
      #expect(throws: ModelFileError.self) {
        try NSKeyedUnarchiver.unarchivedObject(
          ofClass: NSFetchRequest<NSNumber>.self, from: data.prefix(length))
      }
    }
  }
}
