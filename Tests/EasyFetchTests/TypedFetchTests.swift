import CoreData
import EasyFetch
import Testing

/// Fetches by class.
@Suite
struct TypedFetchTests {
  @Test(arguments: StoreKind.allCases)
  func `a class is fetched, filtered and sorted in one line`(kind: StoreKind) throws {
    let office = try Office(kind)
    try office.employ(["Adams", "Worsley", "Adams", nil])
    try office.run { context throws in
      func names(_ employees: [Employee]) -> [String?] { employees.map(\.lastName) }
      #expect(try context.fetch(Employee.self).count == 4)
      #expect(
        try names(context.fetch(Employee.self, sortedBy: "salary")) == ["Adams", "Worsley", "Adams", nil])
      #expect(
        try context.fetch(Employee.self, sortedBy: .descending("lastName"), "salary").map(\.salary)
          == [20_000, 10_000, 30_000, 40_000])
      #expect(
        try names(context.fetch(Employee.self, where: "salary > %@ AND lastName != %@", 10_000, nil))
          .sorted { $0! < $1! } == ["Adams", "Worsley"])
      #expect(
        try names(
          context.fetch(Employee.self, where: "salary >= %@", 20_000, sortedBy: .descending("salary")))
          == [nil, "Adams", "Worsley"])
      let adams = NSPredicate(format: "lastName == 'Adams'")
      #expect(
        try context.fetch(Employee.self, where: adams, sortedBy: .descending("salary")).map(\.salary)
          == [30_000, 10_000])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `first, count and exists`(kind: StoreKind) throws {
    let office = try Office(kind)
    try office.run { context throws in
      #expect(try context.first(Employee.self) == nil)
      #expect(try context.count(Employee.self) == 0)
      #expect(try !context.exists(Employee.self))
    }
    try office.employ(["Adams", "Worsley", "Zander"])
    try office.run { context throws in
      let late = NSPredicate(format: "lastName > 'B'")
      #expect(try context.first(Employee.self, sortedBy: .descending("salary"))?.lastName == "Zander")
      #expect(
        try context.first(Employee.self, where: "lastName > %@", "B", sortedBy: "salary")?.lastName
          == "Worsley")
      #expect(
        try context.first(Employee.self, where: late, sortedBy: .descending("salary"))?.lastName == "Zander")
      #expect(try context.first(Employee.self, where: "lastName == %@", "Nobody") == nil)
      #expect(try context.count(Employee.self) == 3)
      #expect(try context.count(Employee.self, where: "lastName > %@", "B") == 2)
      #expect(try context.count(Employee.self, where: late) == 2)
      #expect(try context.exists(Employee.self))
      #expect(try context.exists(Employee.self, where: "lastName > %@", "B"))
      #expect(try !context.exists(Employee.self, where: "lastName > %@", "Zz"))
      #expect(try context.exists(Employee.self, where: late))
    }
  }

  @Test func `the entity is the one that names the class, however it does`() throws {
    for name in ["StaffMember", ".StaffMember", "EasyFetchTests.StaffMember", "App.StaffMember"] {
      let model = try #require(Office.model.copy() as? NSManagedObjectModel)
      let entity = try #require(model.entitiesByName["Employee"])
      entity.name = "Person"
      entity.managedObjectClassName = name
      model.setFetchRequestTemplate(nil, forName: "booksSince")
      let office = try Office(.inMemory, model: model)
      let found: [Employee] = try office.run { try $0.fetch(Employee.self) }
      #expect(found.isEmpty, "\(name)")
    }
  }

  @Test func `a class of several entities needs a name`() throws {
    let model = try #require(Office.model.copy() as? NSManagedObjectModel)
    for name in ["Book", "Journal"] {
      model.entitiesByName[name]?.managedObjectClassName = NSStringFromClass(Visitor.self)
    }
    let office = try Office(.inMemory, model: model)
    try office.run { context throws in
      let error: EasyFetchError? = #expect(throws: EasyFetchError.self) { try context.fetch(Visitor.self) }
      #expect(error?.reason == .unknownEntity)
      for part in ["Book, Journal", "fetchObjects(forEntityName:)"] {
        #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
      }
    }
  }
}
