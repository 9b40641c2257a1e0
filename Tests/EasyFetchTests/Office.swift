import CoreData
import EasyFetch
import Testing

/// The stores that the tests run over.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case sqlite, inMemory

  var testDescription: String { rawValue }
}

/// Employees, as in the read-me of Core Data Easy Fetch, and books, as in MacTech's article.
///
///     Employee (firstName, lastName, salary, hired, badge) ──team──→ Team (name)
///     Item (abstract; id, title) ← Book (authors, publisher, year), Journal
final class Office {
  let context: NSManagedObjectContext
  let coordinator: NSPersistentStoreCoordinator
  private let folder: URL

  init(_ kind: StoreKind, model: NSManagedObjectModel = Office.model) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("easy-fetch-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _ = try coordinator.addPersistentStore(
      ofType: kind == .sqlite ? NSSQLiteStoreType : NSInMemoryStoreType, configurationName: nil,
      at: kind == .sqlite ? folder.appendingPathComponent("Office.sqlite") : nil, options: nil)
    context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
  }

  deinit {
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
    try? FileManager.default.removeItem(at: folder)
  }

  func run<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
    try context.performAndWait { try body(context) }
  }

  /// Saves employees with these last names, salaries from 10,000 up in steps of 10,000, and forgets them.
  func employ(_ lastNames: [String?]) throws {
    try run { context in
      for (number, name) in lastNames.enumerated() {
        let employee = Employee(context: context)
        employee.setValue(name, forKey: "lastName")
        employee.setValue(Double(number + 1) * 10_000, forKey: "salary")
      }
      try context.save()
      context.reset()
    }
  }

  /// Saves the books of the article's kind: two of one publisher, two of one year.
  func shelve() throws {
    try run { context in
      for (id, title, authors, publisher, year) in [
        (1, "Cocoa Programming", "Hillegass", "Addison-Wesley", 2004),
        (2, "Learning Cocoa", "Davidson", "O'Reilly", 2002),
        (3, "Cocoa in a Nutshell", "Beam, Davidson", "O'Reilly", 2003),
        (4, "Mac OS X Panther", "Davidson", nil, 2003),
      ] as [(Int, String, String, String?, Int)] {
        let book: NSManagedObject = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
        book.setValue(id, forKey: "id")
        book.setValue(title, forKey: "title")
        book.setValue(authors, forKey: "authors")
        book.setValue(publisher, forKey: "publisher")
        book.setValue(year, forKey: "year")
      }
      try context.save()
      context.reset()
    }
  }

  // MARK: The model

  static let model: NSManagedObjectModel = {
    let team = entity("Team", [("name", .stringAttributeType)])
    let employee = entity(
      "Employee",
      [
        ("firstName", .stringAttributeType), ("lastName", .stringAttributeType),
        ("salary", .doubleAttributeType), ("hired", .dateAttributeType), ("badge", .UUIDAttributeType),
      ])
    employee.managedObjectClassName = NSStringFromClass(Employee.self)
    let members = NSRelationshipDescription()
    let home = NSRelationshipDescription()
    (members.name, members.destinationEntity, members.inverseRelationship) = ("members", employee, home)
    (home.name, home.destinationEntity, home.inverseRelationship) = ("team", team, members)
    home.maxCount = 1
    team.properties.append(members)
    employee.properties.append(home)
    let item = entity("Item", [("id", .integer64AttributeType), ("title", .stringAttributeType)])
    item.isAbstract = true
    let book = entity(
      "Book",
      [
        ("authors", .stringAttributeType), ("publisher", .stringAttributeType),
        ("year", .integer16AttributeType),
      ])
    item.subentities = [book, entity("Journal", [])]
    let model = NSManagedObjectModel()
    model.entities = [team, employee, item] + item.subentities
    let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
    template.predicate = NSPredicate(format: "year >= $FIRST AND authors CONTAINS $AUTHOR")
    template.sortDescriptors = [NSSortDescriptor(key: "id", ascending: true)]
    model.setFetchRequestTemplate(template, forName: "booksSince")
    return model
  }()

  private static func entity(
    _ name: String, _ attributes: [(String, NSAttributeType)]
  ) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = attributes.map { name, type in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
      return attribute
    }
    return entity
  }
}

/// Models name classes without their module too, and another target's tests have an `Employee`.
typealias Employee = StaffMember

final class StaffMember: NSManagedObject {
  var lastName: String? { value(forKey: "lastName") as? String }
  var salary: Double { value(forKey: "salary") as? Double ?? 0 }
}

/// A class that no entity names.
final class Visitor: NSManagedObject {}

extension [NSManagedObject] {
  /// The values of a key as text, to be compared in one line.
  func texts(_ key: String) -> [String] { map { $0.value(forKey: key).map { "\($0)" } ?? "nil" } }
}

/// Text as users type it: syntax of formats and of SQL, what ends strings early, what folds or composes.
let hostileTexts: [String] = [
  "", " ", "'", "\"", "O'Reilly", "' OR '1' == '1", "') OR (TRUEPREDICATE", "%@", "%K == %@", "%", "%%",
  "$FIRST", "(", ")",
  "\\", "\\'", "*", "?", "nil", "NULL", "SELF", "1; DROP TABLE ZEMPLOYEE", "--", "\n", "🧑‍🚀", "é", "a\u{0}b",
  "\u{0}",
]
