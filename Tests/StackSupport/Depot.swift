import CoreData
import Foundation

/// A model in which nearly everything is derived.
///
///     Author.books ── Book.author      Author.region → Region (no inverse)     Book.tags ── Tag.books  many-to-many
///     Novel ← Book                     Novel.notes ── Note.novel               Box.things → Thing      no inverse
///     Node.children ── Node.parent     Node.friends  its own inverse           Book.chapters ── Chapter.book  ordered
public enum Depot {
  public static let model: NSManagedObjectModel = makeModel()

  private static func makeModel() -> NSManagedObjectModel {
    let region = World.entity("Region", [World.attribute("name", .stringAttributeType)])
    let author = World.entity("Author", [World.attribute("name", .stringAttributeType)])
    let book = World.entity(
      "Book",
      [
        World.attribute("title", .stringAttributeType), World.attribute("pages", .integer32AttributeType),
        World.attribute("price", .doubleAttributeType), World.attribute("cost", .decimalAttributeType),
      ])
    let novel = World.entity("Novel", [])
    book.subentities = [novel]
    let note = World.entity("Note", [World.attribute("stars", .integer16AttributeType)])
    let chapter = World.entity("Chapter", [World.attribute("length", .integer64AttributeType)])
    let tag = World.entity(
      "Label",
      [World.attribute("weight", .integer32AttributeType), World.attribute("worth", .doubleAttributeType)])
    let box = World.entity("Box", [World.attribute("name", .stringAttributeType)])
    let thing = World.entity("Thing", [World.attribute("mass", .doubleAttributeType)])
    let node = World.entity(
      "Node",
      [World.attribute("name", .stringAttributeType), World.attribute("value", .integer16AttributeType)])
    func pair(
      _ left: NSEntityDescription, _ name: String, _ side: World.Cardinality, _ right: NSEntityDescription,
      _ inverse: String, _ other: World.Cardinality
    ) {
      World.pair(left, name, side, .nullifyDeleteRule, right, inverse, other, .nullifyDeleteRule)
    }
    pair(author, "books", .many, book, "author", .one)
    pair(book, "tags", .many, tag, "books", .many)
    pair(book, "chapters", .ordered, chapter, "book", .one)
    pair(novel, "notes", .many, note, "novel", .one)
    pair(node, "children", .many, node, "parent", .one)
    author.properties.append(World.relationship("region", region, .one, .nullifyDeleteRule))
    box.properties.append(World.relationship("things", thing, .many, .nullifyDeleteRule))
    let friends = World.relationship("friends", node, .many, .nullifyDeleteRule)
    friends.inverseRelationship = friends
    node.properties.append(friends)

    derive(author, "bookCount", "books.@count", .integer32AttributeType)
    derive(author, "pageTotal", "books.@sum.pages", .integer64AttributeType)
    derive(author, "worth", "books.@sum.price", .doubleAttributeType)
    derive(author, "costs", "books.@sum.cost", .decimalAttributeType)
    derive(author, "searchName", "canonical:(name)", .stringAttributeType)
    derive(author, "regionName", "region.name", .stringAttributeType)
    derive(author, "saved", "now()", .dateAttributeType)
    derive(book, "authorName", "author.name", .stringAttributeType)
    derive(book, "regionName", "uppercase:(author.region.name)", .stringAttributeType)
    derive(book, "titleCopy", "title", .stringAttributeType)
    derive(book, "tagCount", "tags.@count", .integer16AttributeType)
    derive(book, "tagWeight", "tags.@sum.weight", .integer64AttributeType)
    derive(book, "tagWorth", "tags.@sum.worth", .doubleAttributeType)
    derive(book, "length", "chapters.@sum.length", .integer64AttributeType)
    derive(book, "costCopy", "cost", .decimalAttributeType)
    derive(novel, "noteCount", "notes.@count", .integer16AttributeType)
    derive(novel, "stars", "notes.@sum.stars", .doubleAttributeType)
    derive(novel, "lowTitle", "lowercase:(title)", .stringAttributeType)
    derive(novel, "writer", "author.name", .stringAttributeType)
    derive(novel, "labels", "tags.@count", .integer64AttributeType)
    derive(novel, "changed", "now()", .dateAttributeType)
    derive(tag, "bookCount", "books.@count", .integer64AttributeType)
    derive(tag, "pages", "books.@sum.pages", .integer64AttributeType)
    derive(box, "thingCount", "things.@count", .integer16AttributeType)
    derive(box, "mass", "things.@sum.mass", .doubleAttributeType)
    derive(node, "childCount", "children.@count", .integer16AttributeType)
    derive(node, "childTotal", "children.@sum.value", .integer64AttributeType)
    derive(node, "parentName", "parent.name", .stringAttributeType)
    derive(node, "eldersName", "parent.parent.name", .stringAttributeType)
    derive(node, "friendCount", "friends.@count", .integer16AttributeType)
    derive(node, "friendTotal", "friends.@sum.value", .integer64AttributeType)
    let model = NSManagedObjectModel()
    model.entities = [region, author, book, novel, note, chapter, tag, box, thing, node]
    return model
  }

  @discardableResult
  public static func derive(
    _ entity: NSEntityDescription, _ name: String, _ expression: String, _ type: NSAttributeType
  ) -> NSDerivedAttributeDescription {
    let derived = NSDerivedAttributeDescription()
    derived.name = name
    derived.attributeType = type
    derived.derivationExpression = NSExpression(format: expression)
    entity.properties.append(derived)
    return derived
  }

  /// Where stored derived values differ from their expressions, evaluated over the objects. `now()`
  /// is left out.
  public static func differences(_ context: NSManagedObjectContext) throws -> [String] {
    var result: [String] = []
    for entity in model.entities.sorted(by: { $0.name ?? "" < $1.name ?? "" }) {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      for object in try context.fetch(request) {
        for attribute in entity.attributesByName.values.sorted(by: { $0.name < $1.name }) {
          guard let derived = attribute as? NSDerivedAttributeDescription,
            derived.attributeType != .dateAttributeType, let expression = derived.derivationExpression
          else { continue }
          let expected: NSObject? = try expected(expression, of: object)
          let stored: NSObject? = object.value(forKey: derived.name) as? NSObject
          if !same(expected, stored) {
            result.append(
              "\(entity.name ?? "") \(object.objectID.uriRepresentation().lastPathComponent).\(derived.name): "
                + "stored \(stored.map { "\($0)" } ?? "nil"), derived \(expected.map { "\($0)" } ?? "nil")")
          }
        }
      }
    }
    return result
  }

  /// A function of no value has none.
  private static func expected(_ expression: CoreData.NSExpression, of object: NSManagedObject) throws
    -> NSObject?
  {
    if expression.expressionType == .function,
      try expression.arguments?.first?.expressionValueThrowing(with: object) == nil
    {
      return nil
    }
    return try expression.expressionValueThrowing(with: object) as? NSObject
  }

  private static func same(_ left: NSObject?, _ right: NSObject?) -> Bool {
    if let left = left as? NSNumber, let right = right as? NSNumber {
      return left.doubleValue == right.doubleValue
    }
    return left == right
  }
}
