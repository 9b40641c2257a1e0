import CoreDataModel
import Foundation

/// The model of the scenarios: each kind of attribute and relationship once, and a hierarchy.
///
///     Item ── category ⟷ items ── Category            one-to-many, Category.name unique
///     Item ── tags ⟷ items ── Tag                     many-to-many
///     Album ── tracks (ordered) ⟷ album ── Track      ordered one-to-many
///     Playlist ── songs (ordered) ⟷ playlists ── Track  many-to-many, ordered on one side
///     Person ── friends ⟷ friends                     its own inverse
///     Person ── notes → Note                          no inverse
///     Animal (abstract) ◁ Cat ◁ HouseCat, Dog; Person.pets ⟷ owner
///     Everything                                      every attribute type
package enum ShopModel {
  static let attributeTypes: [(name: String, type: NSAttributeType)] = [
    ("int16", .integer16AttributeType), ("int32", .integer32AttributeType),
    ("int64", .integer64AttributeType),
    ("bool", .booleanAttributeType), ("double", .doubleAttributeType), ("float", .floatAttributeType),
    ("date", .dateAttributeType), ("decimal", .decimalAttributeType), ("string", .stringAttributeType),
    ("uri", .URIAttributeType), ("uuid", .UUIDAttributeType), ("data", .binaryDataAttributeType),
  ]

  package static func make() -> NSManagedObjectModel {
    func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
      let entity = NSEntityDescription()
      entity.name = name
      entity.properties = attributes.map { name, type in
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
      }
      return entity
    }
    let item = entity(
      "Item",
      [
        ("title", .stringAttributeType), ("due", .dateAttributeType), ("priority", .integer16AttributeType),
        ("isDone", .booleanAttributeType), ("price", .doubleAttributeType),
      ])
    let category = entity("Category", [("name", .stringAttributeType), ("rank", .integer32AttributeType)])
    category.uniquenessConstraints = [["name"]]
    let tag = entity("Tag", [("label", .stringAttributeType)])
    let album = entity("Album", [("name", .stringAttributeType)])
    let track = entity("Track", [("name", .stringAttributeType)])
    let playlist = entity("Playlist", [("name", .stringAttributeType)])
    let person = entity("Person", [("name", .stringAttributeType)])
    let note = entity("Note", [("text", .stringAttributeType)])
    let animal = entity("Animal", [("name", .stringAttributeType)])
    animal.isAbstract = true
    let cat = entity("Cat", [("lives", .integer16AttributeType)])
    let houseCat = entity("HouseCat", [("sofa", .stringAttributeType)])
    let dog = entity("Dog", [("breed", .stringAttributeType)])
    animal.subentities = [cat, dog]
    cat.subentities = [houseCat]
    let everything = entity("Everything", attributeTypes.map { ($0.name, $0.type) })

    connect(item, "category", .one, category, "items", .many)
    connect(item, "tags", .many, tag, "items", .many)
    connect(album, "tracks", .ordered, track, "album", .one)
    connect(playlist, "songs", .ordered, track, "playlists", .many)
    connect(person, "pets", .many, animal, "owner", .one)
    let friends: NSRelationshipDescription = relationship("friends", .many, person)
    friends.inverseRelationship = friends
    person.properties.append(friends)
    person.properties.append(relationship("notes", .many, note))

    let model = NSManagedObjectModel()
    model.entities = [
      item, category, tag, album, track, playlist, person, note, animal, cat, houseCat, dog, everything,
    ]
    return model
  }

  private enum Arity {
    case one
    case many
    case ordered
  }

  private static func relationship(
    _ name: String, _ arity: Arity, _ destination: NSEntityDescription
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.isOptional = true
    relationship.maxCount = arity == .one ? 1 : 0
    relationship.isOrdered = arity == .ordered
    return relationship
  }

  private static func connect(
    _ left: NSEntityDescription, _ leftName: String, _ leftArity: Arity, _ right: NSEntityDescription,
    _ rightName: String, _ rightArity: Arity
  ) {
    let there: NSRelationshipDescription = relationship(leftName, leftArity, right)
    let back: NSRelationshipDescription = relationship(rightName, rightArity, left)
    there.inverseRelationship = back
    back.inverseRelationship = there
    left.properties.append(there)
    right.properties.append(back)
  }
}
