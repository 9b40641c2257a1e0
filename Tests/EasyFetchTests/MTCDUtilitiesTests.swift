import CoreData
import EasyFetch
import Testing

/// The program of MacTech's article, and what EOUtilities had besides.
@Suite
struct MTCDUtilitiesTests {
  private func withBooks(_ kind: StoreKind, _ body: (NSManagedObjectContext) throws -> Void) throws {
    let office = try Office(kind)
    try office.shelve()
    try office.run(body)
  }

  private func titles(_ objects: [NSManagedObject]) -> [String] { objects.texts("title").sorted() }

  @Test(arguments: StoreKind.allCases)
  func `objectsForEntityNamed:inContext: gives all, sub-entities' too`(kind: StoreKind) throws {
    try withBooks(kind) { context throws in
      #expect(try MTCDUtilities.objects(forEntityNamed: "Book", in: context).count == 4)
      #expect(try MTCDUtilities.objects(forEntityNamed: "Item", in: context).count == 4)
      #expect(try MTCDUtilities.objects(forEntityNamed: "Journal", in: context).isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `objectsForEntityNamed:matchingKey:andValue:inContext: compares values, nil too`(kind: StoreKind)
    throws
  {
    try withBooks(kind) { context throws in
      func found(_ key: String, _ value: Any?) throws -> [String] {
        titles(
          try MTCDUtilities.objects(forEntityNamed: "Book", matchingKey: key, andValue: value, in: context))
      }
      #expect(try found("publisher", "O'Reilly") == ["Cocoa in a Nutshell", "Learning Cocoa"])
      #expect(try found("publisher", "o'reilly").isEmpty)
      #expect(try found("year", 2003) == ["Cocoa in a Nutshell", "Mac OS X Panther"])
      #expect(try found("publisher", nil) == ["Mac OS X Panther"])
      #expect(try found("publisher", NSNull()) == ["Mac OS X Panther"])
      #expect(try found("authors", "%").isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `objectForEntityNamed:matchingKey:andValue:inContext: gives one, none, or throws`(kind: StoreKind)
    throws
  {
    try withBooks(kind) { context throws in
      func book(_ key: String, _ value: Any?) throws -> NSManagedObject? {
        try MTCDUtilities.object(forEntityNamed: "Book", matchingKey: key, andValue: value, in: context)
      }
      #expect(try book("id", 3)?.value(forKey: "title") as? String == "Cocoa in a Nutshell")
      #expect(try book("id", 99) == nil)
      let error: MTTooManyEntitiesReturnedException? = #expect(
        throws: MTTooManyEntitiesReturnedException.self
      ) {
        try book("publisher", "O'Reilly")
      }
      #expect(error?.entityName == "Book" && error?.count == 2)
      for part in ["Too many entities returned", "2", "Book", "publisher == O'Reilly"] {
        #expect(
          error?.description.contains(part) == true && error?.localizedDescription.contains(part) == true)
      }
    }
  }

  // The article's id is a number; its text is another value.
  @Test(arguments: StoreKind.allCases)
  func `an id is matched by a number, not by its text`(kind: StoreKind) throws {
    try withBooks(kind) { context throws in
      #expect(
        try MTCDUtilities.object(
          forEntityNamed: "Book", matchingKey: "id", andValue: NSNumber(value: 2), in: context)?
          .value(forKey: "title") as? String == "Learning Cocoa")
      let byText: [NSManagedObject]? = try? MTCDUtilities.objects(
        forEntityNamed: "Book", matchingKey: "id", andValue: "2 OR 1 == 1", in: context)
      #expect(byText?.isEmpty ?? true)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `objectsForEntityNamed:matchingKeysAndValues:usingOR:inContext: joins by AND or OR`(kind: StoreKind)
    throws
  {
    try withBooks(kind) { context throws in
      func found(_ pairs: [String: Any?], _ usingOR: Bool) throws -> [String] {
        titles(
          try MTCDUtilities.objects(
            forEntityNamed: "Book", matchingKeysAndValues: pairs, usingOR: usingOR, in: context))
      }
      #expect(try found(["publisher": "O'Reilly", "year": 2003], false) == ["Cocoa in a Nutshell"])
      #expect(
        try found(["publisher": "O'Reilly", "year": 2003], true)
          == ["Cocoa in a Nutshell", "Learning Cocoa", "Mac OS X Panther"])
      #expect(try found(["publisher": nil, "authors": "Davidson"], false) == ["Mac OS X Panther"])
      #expect(try found([:], false).count == 4)
      #expect(try found([:], true).isEmpty)
      #expect(throws: EasyFetchError.self) { try found(["publisher": "x", "pages": 1], true) }
    }
  }

  // MARK: EOUtilities

  @Test(arguments: StoreKind.allCases)
  func `objects are inserted by entity name`(kind: StoreKind) throws {
    try withBooks(kind) { context throws in
      let journal: NSManagedObject = try MTCDUtilities.insertObject(forEntityNamed: "Journal", in: context)
      #expect(journal.entity.name == "Journal" && journal.isInserted)
      let employee: NSManagedObject = try MTCDUtilities.insertObject(forEntityNamed: "Employee", in: context)
      #expect(employee is Employee)
      let error: EasyFetchError? = #expect(throws: EasyFetchError.self) {
        try MTCDUtilities.insertObject(forEntityNamed: "Item", in: context)
      }
      #expect(error?.reason == .notInsertable && error?.description.contains("Book, Journal") == true)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what is found is not made again`(kind: StoreKind) throws {
    try withBooks(kind) { context throws in
      func book(_ pairs: [String: Any?]) throws -> NSManagedObject {
        try MTCDUtilities.findOrCreateObject(
          forEntityNamed: "Book", matchingKeysAndValues: pairs, in: context)
      }
      let known: NSManagedObject = try MTCDUtilities.findOrCreateObject(
        forEntityNamed: "Book", matchingKey: "id", andValue: 1, in: context)
      #expect(known.value(forKey: "title") as? String == "Cocoa Programming" && !context.hasChanges)
      let made: NSManagedObject = try book(["id": 5, "publisher": nil])
      #expect(made.isInserted && made.value(forKey: "id") as? Int == 5)
      #expect(try book(["id": 5, "publisher": nil]) === made)
      try context.save()
      #expect(try book(["id": 5]) === made)
      #expect(throws: MTTooManyEntitiesReturnedException.self) { try book(["year": 2003]) }
      let error: EasyFetchError? = #expect(throws: EasyFetchError.self) {
        try MTCDUtilities.findOrCreateObject(
          forEntityNamed: "Employee", matchingKey: "team.name", andValue: "x", in: context)
      }
      #expect(error?.reason == .unknownKey && !context.hasChanges)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a template of the model is fetched with values for its variables`(kind: StoreKind) throws {
    try withBooks(kind) { context throws in
      let found: [NSManagedObject] = try MTCDUtilities.objects(
        forFetchRequestTemplate: "booksSince", bindings: ["FIRST": 2003, "AUTHOR": "Davidson"], in: context)
      #expect(found.texts("id") == ["3", "4"])
      #expect(
        try MTCDUtilities.objects(
          forFetchRequestTemplate: "booksSince", bindings: ["FIRST": 0, "AUTHOR": "' OR TRUEPREDICATE"],
          in: context
        ).isEmpty)
      let missing: (any Error)? = #expect(throws: (any Error).self) {
        try MTCDUtilities.objects(forFetchRequestTemplate: "booksSince", bindings: ["FIRST": 0], in: context)
      }
      #expect("\(missing!)".contains("AUTHOR"), "\(missing!)")
      let error: EasyFetchError? = #expect(throws: EasyFetchError.self) {
        try MTCDUtilities.objects(forFetchRequestTemplate: "bookSince", in: context)
      }
      #expect(error?.reason == .unknownTemplate && error?.description.contains("booksSince") == true)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a URI leads to its object`(kind: StoreKind) throws {
    try withBooks(kind) { context throws in
      let book: NSManagedObject = try #require(
        try MTCDUtilities.object(forEntityNamed: "Book", matchingKey: "id", andValue: 2, in: context))
      let uri: URL = book.objectID.uriRepresentation()
      #expect(try MTCDUtilities.object(forURI: uri, in: context) === book)
      context.delete(book)
      try context.save()
      #expect(try MTCDUtilities.object(forURI: uri, in: context) == nil)
      for text in ["https://example.org/Book/p1", "x-coredata:", "x-coredata://\(UUID().uuidString)/Book/p1"]
      {
        let error: EasyFetchError? = #expect(throws: EasyFetchError.self, "\(text)") {
          try MTCDUtilities.object(forURI: #require(URL(string: text)), in: context)
        }
        #expect(error?.reason == .unknownObject && error?.description.contains(text) == true)
      }
    }
  }
}
