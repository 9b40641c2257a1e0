import CoreData
import Foundation

/// A library for predicates: every type of attribute, every kind of relationship, and many nils.
///
///     Writer.books ── Book.author           to-many, Novel ← Book       Writer.mentor ── pupils   to-one to the same entity
///     Book.chapters ── Chapter.book         ordered                     Writer.friends            reflexive
///     Writer.tags ── Tag.writers            many-to-many                Tag.group ── Group.tags
///     Writer.wishes ── Book.wishers         ordered many-to-many
public enum Library {
  public static let model: NSManagedObjectModel = makeModel()

  private static func makeModel() -> NSManagedObjectModel {
    let writer = World.entity(
      "Writer",
      [
        World.attribute("number", .integer32AttributeType), World.attribute("name", .stringAttributeType),
        World.attribute("nick", .stringAttributeType), World.attribute("age", .integer16AttributeType),
        World.attribute("big", .integer64AttributeType), World.attribute("score", .doubleAttributeType),
        World.attribute("rate", .floatAttributeType), World.attribute("fee", .decimalAttributeType),
        World.attribute("born", .dateAttributeType), World.attribute("uid", .UUIDAttributeType),
        World.attribute("site", .URIAttributeType), World.attribute("photo", .binaryDataAttributeType),
        World.attribute("active", .booleanAttributeType), World.attribute("pattern", .stringAttributeType),
        World.attribute("digits", .stringAttributeType), World.attribute("stamp", .stringAttributeType),
      ])
    let scan = World.attribute("scan", .binaryDataAttributeType)
    scan.allowsExternalBinaryDataStorage = true
    let memo = World.attribute("memo", .stringAttributeType)
    memo.isTransient = true
    writer.properties += [scan, memo]
    let age = NSFetchIndexDescription(
      name: "byAge",
      elements: [
        NSFetchIndexElementDescription(property: writer.attributesByName["age"]!, collationType: .binary)
      ])
    let name = NSFetchIndexDescription(
      name: "byName",
      elements: [
        NSFetchIndexElementDescription(property: writer.attributesByName["name"]!, collationType: .binary)
      ])
    writer.indexes = [age, name]
    let book = World.entity(
      "Book",
      [
        World.attribute("title", .stringAttributeType), World.attribute("pages", .integer32AttributeType),
        World.attribute("price", .doubleAttributeType), World.attribute("cost", .decimalAttributeType),
        World.attribute("printed", .dateAttributeType),
      ])
    let novel = World.entity("Novel", [World.attribute("genre", .stringAttributeType)])
    book.subentities = [novel]
    let chapter = World.entity(
      "Chapter",
      [World.attribute("title", .stringAttributeType), World.attribute("length", .integer32AttributeType)])
    let tag = World.entity(
      "Label",
      [World.attribute("label", .stringAttributeType), World.attribute("rank", .integer32AttributeType)])
    let group = World.entity("Group", [World.attribute("name", .stringAttributeType)])
    func pair(
      _ left: NSEntityDescription, _ name: String, _ side: World.Cardinality, _ right: NSEntityDescription,
      _ inverse: String, _ other: World.Cardinality
    ) {
      World.pair(left, name, side, .nullifyDeleteRule, right, inverse, other, .nullifyDeleteRule)
    }
    pair(writer, "books", .many, book, "author", .one)
    pair(writer, "mentor", .one, writer, "pupils", .many)
    pair(writer, "tags", .many, tag, "writers", .many)
    pair(writer, "wishes", .ordered, book, "wishers", .many)
    pair(book, "chapters", .ordered, chapter, "book", .one)
    pair(tag, "group", .one, group, "tags", .many)
    let friends = World.relationship("friends", writer, .many, .nullifyDeleteRule)
    friends.inverseRelationship = friends
    writer.properties.append(friends)
    let model = NSManagedObjectModel()
    model.entities = [writer, book, novel, chapter, tag, group]
    return model
  }

  // MARK: Population

  /// Fills a context the same way every time. Of every attribute some values are missing, and some writers
  /// have no books, tags or mentor.
  public static func fill(_ context: NSManagedObjectContext) throws {
    func make(_ entity: String, _ values: [String: Any?]) -> NSManagedObject {
      context.make(entity, values.compactMapValues { $0 })
    }
    /// A value for most numbers.
    func some<T>(_ number: Int, _ modulus: Int, _ value: T) -> T? { number % modulus == 0 ? nil : value }
    let groups: [NSManagedObject] = ["g0", "g1"].map { make("Group", ["name": $0]) }
    let tags: [NSManagedObject] = (0..<5).map { number in
      let tag: NSManagedObject = make(
        "Label", ["label": some(number + 2, 5, "t\(number)"), "rank": some(number + 1, 4, number % 3)])
      if number != 3 { tag.setValue(groups[number % 2], forKey: "group") }
      return tag
    }
    var books: [NSManagedObject] = []
    let writers: [NSManagedObject] = (0..<30).map { number in
      writer(number, make)
    }
    for number in 0..<50 {
      let values: [String: Any?] = [
        "title": some(number, 9, ["Ab", "ab", "Bc", "cd", "äb"][number % 5]),
        "pages": some(number + 1, 7, number % 11 * 10),
        "price": some(number + 2, 6, Double(number % 8) / 2),
        "cost": some(number + 3, 5, NSDecimalNumber(string: "\(number % 4).\(number % 3)5")),
        "printed": some(number + 1, 4, Date(timeIntervalSinceReferenceDate: Double(number % 6) * 1000)),
      ]
      let book: NSManagedObject = make(number % 3 == 0 ? "Novel" : "Book", values)
      if number % 3 == 0, number % 2 == 0 { book.setValue("g\(number % 4)", forKey: "genre") }
      if number % 8 != 7 { book.setValue(writers[number * 7 % 22], forKey: "author") }
      let chapters: [NSManagedObject] = (0..<(number % 4)).map { place in
        make(
          "Chapter",
          [
            "title": some(place + number, 3, "c\(place)"),
            "length": some(number + place, 5, (number + place) % 4),
          ])
      }
      book.setValue(NSOrderedSet(array: chapters), forKey: "chapters")
      books.append(book)
    }
    for (number, writer) in writers.enumerated() {
      if number % 3 != 0 { writer.setValue(writers[(number * 5 + 1) % 30], forKey: "mentor") }
      writer.setValue(
        NSSet(array: tags.enumerated().filter { number & (1 << $0.offset) != 0 }.map(\.element)),
        forKey: "tags")
      let wishes: [NSManagedObject] = (0..<(number % 5)).map { books[(number * 3 + $0 * 7) % 50] }
      writer.setValue(NSOrderedSet(array: wishes), forKey: "wishes")
      if number % 4 == 1 {
        writer.setValue(
          NSSet(array: [writers[(number + 3) % 30], writers[(number + 9) % 30]]), forKey: "friends")
      }
    }
    try context.save()
  }

  private static func writer(
    _ number: Int, _ make: (String, [String: Any?]) -> NSManagedObject
  ) -> NSManagedObject {
    func some<T>(_ modulus: Int, _ value: T) -> T? { number % modulus == 1 ? nil : value }
    let names: [String] = ["Ada", "ada", "Äda", "Bob", "bob b", "Cy", "a*c", "a?c", "", "10", "ß", "x1"]
    let fees: [String] = ["1.5", "2", "0", "-3.25", "12345678901234567890.5", "0.1", "0.3"]
    return make(
      "Writer",
      [
        "number": number, "name": some(7, names[number % 12]), "nick": some(4, names[(number * 5 + 3) % 12]),
        "age": some(5, number % 6 - 1), "big": some(6, [Int64.max, Int64.min, 0, 1 << 40, -7][number % 5]),
        "score": some(3, [0.5, -1.5, 2, 0, 100, 2.5][number % 6]), "rate": some(8, Float(number % 5) / 2),
        "fee": some(9, NSDecimalNumber(string: fees[number % 7])),
        "born": some(4, Date(timeIntervalSinceReferenceDate: [0, 1000.5, -86400, 2000][number % 4])),
        "uid": some(10, "00000000-0000-0000-0000-00000000000\(number % 4)").flatMap(UUID.init(uuidString:)),
        "site": some(6, "http://a.b/\(number % 3)?q=\(number % 2)").flatMap { URL(string: $0) },
        "photo": some(7, Data([UInt8(number % 3), 255])), "active": some(4, number % 2 == 0),
        "pattern": some(6, ["A.*", "[", "a\\*c", "(?i)ada", "*", "b?b"][number % 6]),
        "digits": some(5, ["12", "3.5", "x", "-7", "1e2", ""][number % 6]),
        "stamp": some(
          5, ["2001-01-01T00:00:00Z", "2001-01-01", "no", "2001-01-01T00:16:40.500Z"][number % 4]),
        "scan": some(3, Data([UInt8(number % 2)])),
      ])
  }
}
