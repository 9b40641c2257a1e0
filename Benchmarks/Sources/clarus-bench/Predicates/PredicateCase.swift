import CoreData

/// A typical predicate, as a format, as the equivalent closure, and as SQL.
enum PredicateCase: String, CaseIterable {
  case numbers, prefix, list, range, toOne, toMany

  private static let someCities: [String] = ["Porto", "Graz", "Bergen", "Malmö", "Leiden"]
  private static let citySet: Set<String> = Set(someCities)

  var title: String {
    switch self {
    case .numbers: "age > 30 AND active == YES"
    case .prefix: "name BEGINSWITH[c] 'an'"
    case .list: "city IN {5 names}"
    case .range: "salary BETWEEN {a, b} OR rating >= 4.5"
    case .toOne: "department.name == 'Department 7'"
    case .toMany: "ANY orders.total > 100"
    }
  }

  func predicate() -> NSPredicate {
    switch self {
    case .numbers: NSPredicate(format: "age > 30 AND active == YES")
    case .prefix: NSPredicate(format: "name BEGINSWITH[c] 'an'")
    case .list: NSPredicate(format: "city IN %@", Self.someCities)
    case .range: NSPredicate(format: "salary BETWEEN {%f, %f} OR rating >= 4.5", 30_000.0, 50_000.0)
    case .toOne: NSPredicate(format: "department.name == 'Department 7'")
    case .toMany: NSPredicate(format: "ANY orders.total > 100")
    }
  }

  /// Over managed objects, with typed accessors.
  var closure: (BenchPerson) -> Bool {
    switch self {
    case .numbers: { $0.age > 30 && $0.active }
    case .prefix: { $0.name?.lowercased().hasPrefix("an") ?? false }
    case .list: { person in person.city.map { Self.citySet.contains($0) } ?? false }
    case .range: { (30_000...50_000).contains($0.salary) || $0.rating >= 4.5 }
    case .toOne: { $0.department?.name == "Department 7" }
    case .toMany: { $0.orders.contains { $0.total > 100 } }
    }
  }

  /// Over plain structs.
  var plainClosure: (PersonSample) -> Bool {
    switch self {
    case .numbers: { $0.age > 30 && $0.active }
    case .prefix: { $0.name.lowercased().hasPrefix("an") }
    case .list: { Self.citySet.contains($0.city) }
    case .range: { (30_000...50_000).contains($0.salary) || $0.rating >= 4.5 }
    case .toOne: { $0.department.name == "Department 7" }
    case .toMany: { $0.orders.contains { $0.total > 100 } }
    }
  }

  /// The text after `FROM`, with every value bound. `LIKE` ignores the case of ASCII only, which is less than
  /// the predicate does, but what a program would write.
  var source: String {
    switch self {
    case .numbers: "ZPERSON p WHERE p.ZAGE > ? AND p.ZACTIVE = ?"
    case .prefix: "ZPERSON p WHERE p.ZNAME LIKE ?"
    case .list: "ZPERSON p WHERE p.ZCITY IN (?, ?, ?, ?, ?)"
    case .range: "ZPERSON p WHERE p.ZSALARY BETWEEN ? AND ? OR p.ZRATING >= ?"
    case .toOne: "ZPERSON p JOIN ZDEPARTMENT d ON d.Z_PK = p.ZDEPARTMENT WHERE d.ZNAME = ?"
    case .toMany:
      "ZPERSON p WHERE EXISTS (SELECT 1 FROM ZORDER o WHERE o.ZPERSON = p.Z_PK AND o.ZTOTAL > ?)"
    }
  }

  enum Value {
    case integer(Int64)
    case real(Double)
    case text(String)
  }

  var values: [Value] {
    switch self {
    case .numbers: [.integer(30), .integer(1)]
    case .prefix: [.text("an%")]
    case .list: Self.someCities.map { .text($0) }
    case .range: [.real(30_000), .real(50_000), .real(4.5)]
    case .toOne: [.text("Department 7")]
    case .toMany: [.real(100)]
    }
  }
}
