import CoreData
import EasyFetch
import Testing

/// The nine methods of Core Data Easy Fetch, by their Objective-C names.
@Suite
struct EasyFetchTests {
  /// One of the nine, asked for the employees of the read-me: all, or the Worsleys that earn
  /// more than 15,000.
  struct Call: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let names: [String]
    let isSorted: Bool
    let fetch: @Sendable (NSManagedObjectContext) throws -> [NSManagedObject]

    init(
      _ testDescription: String, _ names: [String], isSorted: Bool,
      _ fetch: @escaping @Sendable (NSManagedObjectContext) throws -> [NSManagedObject]
    ) {
      (self.testDescription, self.names) = (testDescription, names)
      (self.isSorted, self.fetch) = (isSorted, fetch)
    }
  }

  private static let format: String = "(lastName LIKE[c] 'Worsley') AND (salary > %@)"
  private static let all: [String] = ["Adams", "Worsley", "worsley", "Zander"]

  private static let calls: [Call] = [
    Call("fetchObjectsForEntityName:", all, isSorted: false) {
      try $0.fetchObjects(forEntityName: "Employee")
    },
    Call("fetchObjectsForEntityName:sortWith:", all, isSorted: true) {
      try $0.fetchObjects(
        forEntityName: "Employee", sortWith: [NSSortDescriptor(key: "salary", ascending: true)])
    },
    Call("fetchObjectsForEntityName:sortByKey:ascending:", all, isSorted: true) {
      try $0.fetchObjects(forEntityName: "Employee", sortByKey: "salary", ascending: true)
    },
    Call("fetchObjectsForEntityName:withPredicate:", ["Worsley", "worsley"], isSorted: false) {
      try $0.fetchObjects(forEntityName: "Employee", with: NSPredicate(format: format, 15_000))
    },
    Call("fetchObjectsForEntityName:predicateWithFormat:", ["Worsley", "worsley"], isSorted: false) {
      try $0.fetchObjects(forEntityName: "Employee", predicateWithFormat: format, 15_000)
    },
    Call("fetchObjectsForEntityName:sortWith:withPredicate:", ["worsley", "Worsley"], isSorted: true) {
      try $0.fetchObjects(
        forEntityName: "Employee", sortWith: [NSSortDescriptor(key: "salary", ascending: false)],
        with: NSPredicate(format: format, 15_000))
    },
    Call(
      "fetchObjectsForEntityName:sortByKey:ascending:withPredicate:", ["worsley", "Worsley"], isSorted: true
    ) {
      try $0.fetchObjects(
        forEntityName: "Employee", sortByKey: "salary", ascending: false,
        with: NSPredicate(format: format, 15_000))
    },
    Call("fetchObjectsForEntityName:sortWith:predicateWithFormat:", ["worsley", "Worsley"], isSorted: true) {
      try $0.fetchObjects(
        forEntityName: "Employee", sortWith: [NSSortDescriptor(key: "salary", ascending: false)],
        predicateWithFormat: format, 15_000)
    },
    Call(
      "fetchObjectsForEntityName:sortByKey:ascending:predicateWithFormat:", ["worsley", "Worsley"],
      isSorted: true
    ) {
      try $0.fetchObjects(
        forEntityName: "Employee", sortByKey: "salary", ascending: false, predicateWithFormat: format, 15_000)
    },
  ]

  @Test(arguments: StoreKind.allCases, calls)
  func `the nine calls of the read-me filter and sort`(kind: StoreKind, call: Call) throws {
    let office = try Office(kind)
    try office.employ(Self.all)
    try office.run { context throws in
      let names: [String] = try call.fetch(context).texts("lastName")
      #expect(call.isSorted ? names == call.names : Set(names) == Set(call.names))
      #expect(names.count == call.names.count)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `predicateWithFormat: takes arguments of any kind, nil too`(kind: StoreKind) throws {
    let office = try Office(kind)
    try office.run { context throws in
      let badge = UUID()
      let hired = Date(timeIntervalSinceReferenceDate: 1000)
      let team: NSManagedObject = NSEntityDescription.insertNewObject(forEntityName: "Team", into: context)
      let ann = Employee(context: context)
      for (key, value) in [
        ("lastName", "Ann"), ("salary", 5.5), ("hired", hired), ("badge", badge), ("team", team),
      ] as [(String, Any)] { ann.setValue(value, forKey: key) }
      _ = Employee(context: context)
      try context.save()
      for (format, argument) in [
        ("lastName == %@", "Ann"), ("salary == %@", 5.5), ("salary > %d", 5), ("hired <= %@", hired),
        ("badge == %@", badge), ("team == %@", team), ("team == %@", team.objectID),
        ("lastName IN %@", ["Ann", "Bob"]), ("lastName IN %@", Set(["Ann"])), ("lastName != %@", nil),
        ("%K != nil", "badge"),
      ] as [(String, Any?)] {
        let found: [NSManagedObject] = try context.fetchObjects(
          forEntityName: "Employee", predicateWithFormat: format, argument)
        #expect(found == [ann], "\(format)")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `children and unsaved objects are found`(kind: StoreKind) throws {
    let office = try Office(kind)
    try office.run { context throws in
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = context
      try child.performAndWait {
        Employee(context: child).setValue("Worsley", forKey: "lastName")
        let found: [NSManagedObject] = try child.fetchObjects(
          forEntityName: "Employee", predicateWithFormat: "lastName == %@", "Worsley")
        #expect(found.count == 1)
      }
    }
  }

  // MARK: Mistakes

  @Test(arguments: StoreKind.allCases)
  func `unknown names are explained with what there is`(kind: StoreKind) throws {
    let office = try Office(kind)
    try office.run { context throws in
      let mistakes: [(EasyFetchError.Reason, [String], () throws -> Any)] = [
        (
          .unknownEntity, ["Employe", "Book", "Employee", "Team"],
          {
            try context.fetchObjects(forEntityName: "Employe")
          }
        ),
        (
          .unknownEntity, ["TRUEPREDICATE"],
          {
            try context.fetchObjects(forEntityName: "Employee WHERE TRUEPREDICATE")
          }
        ),
        (
          .unknownKey, ["Employee", "'lastname'", "lastName", "salary"],
          {
            try context.fetchObjects(forEntityName: "Employee", sortByKey: "lastname", ascending: true)
          }
        ),
        (
          .unknownKey, ["Team", "'title'", "'team.title'", "name"],
          {
            try context.fetchObjects(
              forEntityName: "Employee", sortWith: [NSSortDescriptor(key: "team.title", ascending: true)])
          }
        ),
        (
          .unknownKey, ["lastName", "attribute", "Employee"],
          {
            try context.fetchObjects(forEntityName: "Employee", sortByKey: "lastName.x", ascending: true)
          }
        ),
        (.unknownEntity, ["Visitor", "Employee"], { try context.fetch(Visitor.self) }),
        (
          .noModel, ["persistentStoreCoordinator"],
          {
            try NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
              .fetchObjects(forEntityName: "Employee")
          }
        ),
      ]
      for (reason, parts, mistake) in mistakes {
        let error: EasyFetchError? = #expect(throws: EasyFetchError.self) { _ = try mistake() }
        #expect(error?.reason == reason)
        for part in parts {
          #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
        }
        #expect(error?.localizedDescription == error?.description && "\(error!)" == error?.description)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a format with a mistake is thrown, not stopped at`(kind: StoreKind) throws {
    let office = try Office(kind)
    try office.run { context throws in
      for (format, part) in [
        ("lastName ==", "lastName =="), ("lastName == %@", "%@"), ("lastname == 'x'", "lastName"),
      ] {
        let error: (any Error)? = #expect(throws: (any Error).self) {
          try context.fetchObjects(forEntityName: "Employee", predicateWithFormat: format)
        }
        #expect("\(error!)".contains(part), "\(error!)")
      }
    }
  }

  // MARK: Text from users

  @Test(arguments: StoreKind.allCases)
  func `hostile text in an argument matches only itself`(kind: StoreKind) throws {
    let office = try Office(kind)
    try office.employ(hostileTexts + ["Worsley"])
    try office.run { context throws in
      for text in hostileTexts {
        let found: [[NSManagedObject]] = [
          try context.fetchObjects(
            forEntityName: "Employee", predicateWithFormat: "lastName == %@", text),
          try context.fetchObjects(
            forEntityName: "Employee", sortByKey: "salary", ascending: true,
            predicateWithFormat: "%K == %@ AND salary > %@", "lastName", text, 0),
          try context.fetchObjects(
            forEntityName: "Employee", with: NSPredicate(format: "lastName == %@", text)),
          try context.fetch(Employee.self, where: "lastName == %@", text),
          try context.fetch(Employee.self, where: NSPredicate(format: "lastName == %@", text)),
          try context.first(Employee.self, where: "lastName == %@", text).map { [$0] } ?? [],
          try context.fetch(Employee.self, where: "lastName IN %@", [text]),
          try MTCDUtilities.objects(
            forEntityNamed: "Employee", matchingKey: "lastName", andValue: text, in: context),
          try MTCDUtilities.object(
            forEntityNamed: "Employee", matchingKey: "lastName", andValue: text, in: context
          ).map { [$0] } ?? [],
          try MTCDUtilities.objects(
            forEntityNamed: "Employee", matchingKeysAndValues: ["lastName": text, "firstName": nil],
            usingOR: false, in: context),
          [
            try MTCDUtilities.findOrCreateObject(
              forEntityNamed: "Employee", matchingKey: "lastName", andValue: text, in: context)
          ],
        ]
        for objects in found { #expect(objects.texts("lastName") == [text], "\(text.debugDescription)") }
        #expect(try context.count(Employee.self, where: "lastName == %@", text) == 1)
        #expect(try context.exists(Employee.self, where: "lastName == %@", text))
      }
      #expect(!context.hasChanges)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `hostile text in place of a name is refused`(kind: StoreKind) throws {
    let office = try Office(kind)
    try office.employ(["Worsley"])
    try office.run { context throws in
      for text in hostileTexts {
        for attempt: () throws -> Any in [
          { try context.fetchObjects(forEntityName: text) },
          { try MTCDUtilities.objects(forEntityNamed: text, in: context) },
          { try MTCDUtilities.insertObject(forEntityNamed: text, in: context) },
          { try MTCDUtilities.objects(forFetchRequestTemplate: text, in: context) },
          {
            try MTCDUtilities.findOrCreateObject(
              forEntityNamed: "Employee", matchingKey: text, andValue: 1, in: context)
          },
        ] {
          #expect(throws: EasyFetchError.self, "\(text.debugDescription)") { _ = try attempt() }
        }
        // The object itself has no name in the model, but a meaning.
        if text == "SELF" { continue }
        #expect(throws: EasyFetchError.self, "\(text.debugDescription)") {
          try context.fetchObjects(forEntityName: "Employee", sortByKey: text, ascending: true)
        }
        #expect(throws: EasyFetchError.self, "\(text.debugDescription)") {
          try MTCDUtilities.objects(
            forEntityNamed: "Employee", matchingKey: text, andValue: 1, in: context)
        }
      }
      #expect(try context.count(Employee.self) == 1)
    }
  }
}
