import CoreData

/// Models in a few lines.
enum ModelParts {
  static func attribute(
    _ name: String, _ type: NSAttributeType = .stringAttributeType, isOptional: Bool = true,
    default value: Any? = nil, was: String? = nil, valid: String? = nil
  ) -> NSAttributeDescription {
    let made = NSAttributeDescription()
    (made.name, made.attributeType, made.isOptional, made.defaultValue) = (name, type, isOptional, value)
    if let was { made.renamingIdentifier = was }
    if let valid {
      made.setValidationPredicates([NSPredicate(format: valid)], withValidationWarnings: ["not valid"])
    }
    return made
  }

  static func entity(
    _ name: String, _ properties: [NSPropertyDescription] = [], was: String? = nil, isAbstract: Bool = false
  ) -> NSEntityDescription {
    let made = NSEntityDescription()
    (made.name, made.isAbstract, made.properties) = (name, isAbstract, properties)
    if let was { made.renamingIdentifier = was }
    return made
  }

  /// `counts`: the minimum and the maximum; 0 is no maximum.
  static func relate(
    _ from: NSEntityDescription, _ name: String, _ to: NSEntityDescription, _ counts: (Int, Int),
    isOptional: Bool = true, isOrdered: Bool = false
  ) -> NSRelationshipDescription {
    let made = NSRelationshipDescription()
    (made.name, made.destinationEntity, made.isOptional) = (name, to, isOptional)
    (made.minCount, made.maxCount, made.isOrdered) = (counts.0, counts.1, isOrdered)
    from.properties.append(made)
    return made
  }

  static func invert(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) {
    (one.inverseRelationship, other.inverseRelationship) = (other, one)
  }

  static func model(_ entities: [NSEntityDescription], version: String) -> NSManagedObjectModel {
    let made = NSManagedObjectModel()
    made.entities = entities
    made.versionIdentifiers = [version]
    return made
  }

  /// Every type of attribute and every kind of relationship. The second version renames, widens, adds,
  /// requires and drops. `hasComposite`: XML and binary stores have no composite attributes.
  static func everything(isSecond: Bool, hasComposite: Bool = true) -> NSManagedObjectModel {
    let person = entity(
      isSecond ? "Human" : "Person",
      [
        attribute("name", isOptional: false, default: "nobody", valid: "length >= 3 AND length <= 12"),
        attribute("code", valid: "SELF MATCHES '[A-Z]{3}-[0-9]{2,4}'"),
        attribute(isSecond ? "size" : "height", .integer16AttributeType, was: isSecond ? "height" : nil),
        attribute("age", .integer32AttributeType, valid: "SELF >= 18 AND SELF <= 99"),
        attribute("points", isSecond ? .decimalAttributeType : .integer64AttributeType),
        attribute("weight", isSecond ? .doubleAttributeType : .floatAttributeType),
        attribute("ratio", .doubleAttributeType, isOptional: false, default: 0.5),
        attribute("balance", .decimalAttributeType),
        attribute("isMember", .booleanAttributeType, isOptional: false, default: true),
        attribute("born", .dateAttributeType), attribute("key", .UUIDAttributeType),
        attribute("page", .URIAttributeType), attribute("small", .binaryDataAttributeType),
        attribute("settings", .transformableAttributeType),
      ], was: isSecond ? "Person" : nil)
    let picture = attribute("picture", .binaryDataAttributeType)
    picture.allowsExternalBinaryDataStorage = true
    let address = NSCompositeAttributeDescription()
    address.name = "address"
    address.elements = [attribute("street"), attribute("number", .integer32AttributeType)]
    person.properties += hasComposite ? [picture, address] : [picture]
    person.properties.append(
      isSecond ? attribute("rank", .integer16AttributeType, isOptional: false, default: 7) : attribute("nick")
    )
    person.uniquenessConstraints = [["name"]]
    let student = entity("Student", [attribute("school", isOptional: !isSecond, default: "none")])
    person.subentities = [student]
    let house = entity("House", [attribute("label")])
    let tag = entity("Tag", [attribute("text", isOptional: false, default: "")])
    let base = entity("Base", [attribute("note")], isAbstract: true)
    base.subentities = [tag, house]
    invert(
      relate(person, "home", house, (1, 1), isOptional: false),
      relate(house, "people", person, (0, 0), isOrdered: true))
    invert(relate(person, "tags", tag, (0, 3)), relate(tag, "people", person, (0, 0)))
    invert(relate(person, "boss", person, (0, 1)), relate(person, "staff", person, (0, 0)))
    invert(
      relate(person, "partner", person, (0, 1)), relate(person, "partnerOf", person, (0, 1)))
    let friends = relate(person, "friends", person, (0, 0))
    friends.inverseRelationship = friends
    _ = relate(house, "favourites", tag, (2, 4), isOptional: false)
    let lock = entity("Lock", [attribute("serial", .integer64AttributeType)])
    invert(
      relate(house, "lock", lock, (1, 1), isOptional: false),
      relate(lock, "house", house, (1, 1), isOptional: false))
    return model([person, student, house, tag, base, lock], version: isSecond ? "Two" : "One")
  }
}
