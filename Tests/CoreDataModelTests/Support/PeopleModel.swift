import CoreDataModel
import CoreDataPredicates
import Foundation

// The model that predicates are checked against.
//
//     Person ←─owner── Pet ──toys──→ Toy      Person.friends: ordered, to Person     Person.boss: to-one
//     Person ← Employee (title, reports) ← Chief (perks)
//     Person.address: composite of street, city and position (composite of latitude)
//     Person.neighbours: fetched property      nick: transient      whatever: undefined      upper: derived

enum PeopleModel {
  static let shared: NSManagedObjectModel = make()
  static func entity(_ name: String) -> NSEntityDescription { shared.entitiesByName[name]! }

  static func make() -> NSManagedObjectModel {
    let person = entity(
      "Person",
      [
        attribute("name", .stringAttributeType), attribute("age", .integer16AttributeType),
        attribute("height", .doubleAttributeType), attribute("salary", .decimalAttributeType),
        attribute("active", .booleanAttributeType), attribute("born", .dateAttributeType),
        attribute("site", .URIAttributeType), attribute("code", .UUIDAttributeType),
        attribute("photo", .binaryDataAttributeType), attribute("thing", .transformableAttributeType),
        attribute("nick", .stringAttributeType, isTransient: true),
        attribute("whatever", .undefinedAttributeType, isTransient: true), upper(), address(),
      ])
    let employee = entity("Employee", [attribute("title", .stringAttributeType)])
    let chief = entity("Chief", [attribute("perks", .stringAttributeType)])
    let pet = entity(
      "Pet", [attribute("name", .stringAttributeType), attribute("weight", .doubleAttributeType)])
    let toy = entity(
      "Toy", [attribute("name", .stringAttributeType), attribute("price", .doubleAttributeType)])
    person.subentities = [employee]
    employee.subentities = [chief]
    pair(person, "pets", 0, pet, "owner", 1)
    pair(pet, "toys", 0, toy, "pet", 1)
    pair(employee, "reports", 0, person, "boss", 1)
    pair(person, "friends", 0, person, "friendOf", 0)
    person.relationshipsByName["friends"]?.isOrdered = true
    let model = NSManagedObjectModel()
    model.entities = [person, employee, chief, pet, toy]
    person.properties.append(neighbours(person))
    return model
  }

  private static func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = properties
    return entity
  }

  private static func attribute(
    _ name: String, _ type: NSAttributeType, isTransient: Bool = false
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isTransient = isTransient
    return attribute
  }

  private static func upper() -> NSAttributeDescription {
    let upper = NSDerivedAttributeDescription()
    upper.name = "upper"
    upper.attributeType = .stringAttributeType
    upper.derivationExpression = NSExpression(format: "uppercase:(name)")
    return upper
  }

  private static func address() -> NSAttributeDescription {
    let position = NSCompositeAttributeDescription()
    position.name = "position"
    position.elements = [attribute("latitude", .doubleAttributeType)]
    let address = NSCompositeAttributeDescription()
    address.name = "address"
    address.elements = [
      attribute("street", .stringAttributeType), attribute("city", .stringAttributeType), position,
    ]
    return address
  }

  private static func neighbours(_ person: NSEntityDescription) -> NSPropertyDescription {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = person
    request.predicate = NSPredicate(format: "address.city == $FETCH_SOURCE.address.city")
    let neighbours = NSFetchedPropertyDescription()
    neighbours.name = "neighbours"
    neighbours.fetchRequest = request
    return neighbours
  }

  private static func pair(
    _ owner: NSEntityDescription, _ name: String, _ count: Int, _ other: NSEntityDescription, _ back: String,
    _ backCount: Int
  ) {
    let (there, home) = (NSRelationshipDescription(), NSRelationshipDescription())
    there.name = name
    there.maxCount = count
    there.destinationEntity = other
    home.name = back
    home.maxCount = backCount
    home.destinationEntity = owner
    there.inverseRelationship = home
    home.inverseRelationship = there
    owner.properties.append(there)
    other.properties.append(home)
  }
}
