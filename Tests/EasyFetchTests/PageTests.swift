import CoreData
import EasyFetch
import Testing

/// The code of Documentation/easy-fetch.md.
@Suite
struct PageTests {
  @Test(arguments: StoreKind.allCases)
  func `fetches by name, by class and by value`(kind: StoreKind) throws {
    let office = try Office(kind)
    try office.employ(["Adams", "Worsley", "Worsley"])
    try office.shelve()
    try office.run { context throws in
      // snippet names
      let everybody = try context.fetchObjects(forEntityName: "Employee")
      let worsleys = try context.fetchObjects(
        forEntityName: "Employee", sortByKey: "salary", ascending: false,
        predicateWithFormat: "(lastName LIKE[c] 'Worsley') AND (salary > %@)", 15_000)
      // end
      #expect(everybody.count == 3 && worsleys.count == 2)

      // snippet classes
      let rich = try context.fetch(
        Employee.self, where: "salary > %@", 15_000, sortedBy: "lastName", .descending("salary"))
      let best = try context.first(Employee.self, sortedBy: .descending("salary"))
      let count = try context.count(Employee.self, where: "lastName == %@", "Worsley")
      let isThere = try context.exists(Employee.self, where: "team.name == %@ OR team == nil", "Sales")
      // end
      #expect(rich.map(\.salary) == [30_000, 20_000] && best?.salary == 30_000 && count == 2 && isThere)

      // snippet utilities
      let book = try MTCDUtilities.object(
        forEntityNamed: "Book", matchingKey: "id", andValue: 42, in: context)
      let some = try MTCDUtilities.objects(
        forEntityNamed: "Book", matchingKeysAndValues: ["publisher": "O'Reilly", "year": 2003], usingOR: true,
        in: context)
      let sales = try MTCDUtilities.findOrCreateObject(
        forEntityNamed: "Team", matchingKey: "name", andValue: "Sales", in: context)
      let recent = try MTCDUtilities.objects(
        forFetchRequestTemplate: "booksSince", bindings: ["FIRST": 2003, "AUTHOR": "Davidson"], in: context)
      // end
      #expect(book == nil && some.count == 3 && sales.isInserted && recent.count == 2)

      let text = "' OR TRUEPREDICATE OR '"
      // snippet text
      let safe = try context.fetch(Employee.self, where: "lastName == %@", text)
      let alsoSafe = try context.fetchObjects(
        forEntityName: "Employee", predicateWithFormat: "lastName CONTAINS[cd] %@", text)
      // end
      #expect(safe.isEmpty && alsoSafe.isEmpty)
    }
  }

  @Test func `reports by SQL`() throws {
    let office = try Office(.sqlite)
    try office.shelve()
    try office.run { context throws in
      // snippet rows
      let rows = try MTCDUtilities.rawRows(
        forSQL:
          "SELECT ZYEAR AS year, count(*) AS books FROM ZITEM WHERE ZPUBLISHER = ? GROUP BY ZYEAR ORDER BY 1",
        "O'Reilly", in: context)
      // end
      #expect(rows.map { $0["year"] as? Int } == [2002, 2003])
    }
  }
}
