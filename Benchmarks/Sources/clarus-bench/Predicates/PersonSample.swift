import Foundation

/// A person that is not stored yet; also the plain Swift struct that predicates are evaluated on.
struct PersonSample: Sendable {
  struct Department: Sendable {
    var name: String
  }

  struct Order: Sendable {
    var total: Double
  }

  var name: String
  var city: String
  var note: String
  var age: Int
  var active: Bool
  var salary: Double
  var rating: Double
  var joined: Date
  var department: Department
  var orders: [Order]

  static let cities: [String] = [
    "Lisbon", "Porto", "Vienna", "Graz", "Oslo", "Bergen", "Turin", "Naples", "Lyon", "Nantes", "Ghent",
    "Bruges",
    "Krakow", "Gdansk", "Utrecht", "Leiden", "Malmö", "Uppsala", "Zürich", "San Sebastián de los Reyes",
  ]
  static let departments: [String] = (1...50).map { "Department \($0)" }
  private static let firstNames: [String] = [
    "Anna", "andrea", "Angela", "Bruno", "Carla", "Dario", "Elena", "Fabio", "Greta", "Hugo", "Irene",
    "Jonas",
    "Karin", "Lucas", "Maria", "Nadia", "Otto", "Paula", "Quentin", "Rosa", "Sofia", "Teresa", "Ulrich",
    "Vera",
    "Élodie", "Ángel",
  ]
  private static let lastNames: [String] = [
    "Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Ginkgo", "Hazel", "Ivy", "Juniper", "Larch",
    "Mühlbauer",
  ]

  /// The person at a position. The same position always gives the same person.
  init(_ position: Int) {
    var random = SplitMix(seed: UInt64(position) &+ 1_000_003)
    func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
    name =
      Self.firstNames[below(Self.firstNames.count)] + " " + Self.lastNames[below(Self.lastNames.count)]
      + " \(below(1000))"
    city = Self.cities[below(Self.cities.count)]
    note = "Customer number \(position), introduced by number \(below(100_000))"
    age = 18 + below(50)
    active = below(2) == 1
    salary = Double(20_000 + below(100_000))
    rating = Double(below(51)) / 10
    joined = Date(timeIntervalSinceReferenceDate: Double(below(700_000_000)))
    department = Department(name: Self.departments[below(Self.departments.count)])
    orders = (0..<below(5)).map { _ in Order(total: Double(below(15_000)) / 100) }
  }

  static func make(count: Int) -> [PersonSample] { (0..<count).map { PersonSample($0) } }

  /// The same as a dictionary of dictionaries.
  var dictionary: [String: Any] {
    [
      "name": name, "city": city, "note": note, "age": age, "active": active, "salary": salary,
      "rating": rating, "joined": joined, "department": ["name": department.name],
      "orders": orders.map { ["total": $0.total] },
    ]
  }
}
