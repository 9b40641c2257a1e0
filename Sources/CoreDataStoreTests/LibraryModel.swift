import CoreData
import Foundation

/// The model of the tests: a library.
///
/// | entity | attributes | relationships |
/// |---|---|---|
/// | `Author` | `name` | `books` (to many, cascade), `mentor` and `students` |
/// | `Book` | one of each kind | `author`, `tags` (many to many), `shelf` |
/// | `Novel`, a `Book` | `genre` | |
/// | `Shelf` | `label`, unique | `books` (ordered) |
/// | `Tag` | `name` | `books` |
public enum LibraryModel {
  /// A new model; the same entities each time. `features`: what the store offers; what it lacks is left out.
  public static func make(_ features: StoreUnderTest.Features = .all) -> NSManagedObjectModel {
    func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
      let entity = NSEntityDescription()
      entity.name = name
      entity.properties = properties
      return entity
    }
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      attribute.isOptional = true
      return attribute
    }
    var values: [NSAttributeDescription] = [
      attribute("title", .stringAttributeType), attribute("pages", .integer32AttributeType),
      attribute("edition", .integer16AttributeType), attribute("sold", .integer64AttributeType),
      attribute("price", .doubleAttributeType), attribute("rating", .floatAttributeType),
      attribute("cost", .decimalAttributeType), attribute("isRead", .booleanAttributeType),
      attribute("published", .dateAttributeType), attribute("cover", .binaryDataAttributeType),
      attribute("number", .UUIDAttributeType), attribute("link", .URIAttributeType),
    ]
    if features.contains(.transformables) {
      values.append(attribute("keywords", .transformableAttributeType))
    }
    let book: NSEntityDescription = entity("Book", values)
    let author: NSEntityDescription = entity("Author", [attribute("name", .stringAttributeType)])
    let shelf: NSEntityDescription = entity("Shelf", [attribute("label", .stringAttributeType)])
    let tag: NSEntityDescription = entity("Tag", [attribute("name", .stringAttributeType)])
    var entities: [NSEntityDescription] = [book, author, shelf, tag]
    if features.contains(.subentities) {
      let novel: NSEntityDescription = entity("Novel", [attribute("genre", .stringAttributeType)])
      book.subentities = [novel]
      entities.append(novel)
    }
    if features.contains(.relationships) {
      relate(author, "books", isToMany: true, .cascadeDeleteRule, to: book, "author", isToMany: false)
      relate(author, "students", isToMany: true, .nullifyDeleteRule, to: author, "mentor", isToMany: false)
      relate(book, "tags", isToMany: true, .nullifyDeleteRule, to: tag, "books", isToMany: true)
      relate(
        shelf, "books", isToMany: true, .nullifyDeleteRule, to: book, "shelf", isToMany: false,
        isOrdered: features.contains(.ordering))
    }
    if features.contains(.uniqueness) { shelf.uniquenessConstraints = [["label"]] }
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  private static func relate(
    _ owner: NSEntityDescription, _ name: String, isToMany: Bool, _ rule: NSDeleteRule,
    to other: NSEntityDescription, _ inverse: String, isToMany inverseIsToMany: Bool, isOrdered: Bool = false
  ) {
    let there = NSRelationshipDescription()
    there.name = name
    there.destinationEntity = other
    there.maxCount = isToMany ? 0 : 1
    there.isOrdered = isOrdered
    there.deleteRule = rule
    there.isOptional = true
    let back = NSRelationshipDescription()
    back.name = inverse
    back.destinationEntity = owner
    back.maxCount = inverseIsToMany ? 0 : 1
    back.deleteRule = .nullifyDeleteRule
    back.isOptional = true
    there.inverseRelationship = back
    back.inverseRelationship = there
    owner.properties += [there]
    other.properties += [back]
  }
}
