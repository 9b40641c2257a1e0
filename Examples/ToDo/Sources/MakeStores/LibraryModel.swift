import CoreData

/// The model of the library, made in code.
enum LibraryModel {
  static func make() -> NSManagedObjectModel {
    let author: NSEntityDescription = entity("Author")
    let genre: NSEntityDescription = entity("Genre")
    let book: NSEntityDescription = entity("Book")
    let audioBook: NSEntityDescription = entity("AudioBook")

    let authors: NSRelationshipDescription = toMany("authors", to: author)
    let booksOfAuthor: NSRelationshipDescription = toMany("books", to: book)
    authors.inverseRelationship = booksOfAuthor
    booksOfAuthor.inverseRelationship = authors

    let genreOfBook: NSRelationshipDescription = toOne("genre", to: genre)
    let booksOfGenre: NSRelationshipDescription = toMany("books", to: book)
    booksOfGenre.deleteRule = .denyDeleteRule
    genreOfBook.inverseRelationship = booksOfGenre
    booksOfGenre.inverseRelationship = genreOfBook

    author.properties = [
      attribute("name", .stringAttributeType, optional: false),
      attribute("born", .dateAttributeType), attribute("died", .dateAttributeType), booksOfAuthor,
    ]
    genre.properties = [attribute("name", .stringAttributeType, optional: false), booksOfGenre]
    book.properties = [
      attribute("title", .stringAttributeType, optional: false),
      attribute("firstPublished", .integer16AttributeType), attribute("pages", .integer32AttributeType),
      authors, genreOfBook,
    ]
    audioBook.properties = [attribute("narrator", .stringAttributeType)]
    book.subentities = [audioBook]

    genre.uniquenessConstraints = [["name"]]
    book.indexes = [index("byTitle", on: "title", of: book)]

    let model = NSManagedObjectModel()
    model.entities = [author, genre, book, audioBook]
    return model
  }

  private static func entity(_ name: String) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    return entity
  }

  private static func attribute(
    _ name: String, _ type: NSAttributeType, optional: Bool = true
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = optional
    return attribute
  }

  private static func toOne(_ name: String, to entity: NSEntityDescription) -> NSRelationshipDescription {
    let relationship: NSRelationshipDescription = toMany(name, to: entity)
    relationship.maxCount = 1
    return relationship
  }

  private static func toMany(_ name: String, to entity: NSEntityDescription) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = entity
    relationship.minCount = 0
    relationship.maxCount = 0
    relationship.isOptional = true
    relationship.deleteRule = .nullifyDeleteRule
    return relationship
  }

  private static func index(
    _ name: String, on property: String, of entity: NSEntityDescription
  ) -> NSFetchIndexDescription {
    let element = NSFetchIndexElementDescription(
      property: entity.propertiesByName[property]!, collationType: .binary)
    return NSFetchIndexDescription(name: name, elements: [element])
  }
}
