import CoreData

/// The objects of the predicates: a department to-one, orders to-many.
final class BenchPerson: NSManagedObject {
  class func fetchRequest() -> NSFetchRequest<BenchPerson> { NSFetchRequest(entityName: "Person") }

  private static let nameKey = ManagedKey("name")
  private static let cityKey = ManagedKey("city")
  private static let noteKey = ManagedKey("note")
  private static let ageKey = ManagedKey("age")
  private static let activeKey = ManagedKey("active")
  private static let salaryKey = ManagedKey("salary")
  private static let ratingKey = ManagedKey("rating")
  private static let joinedKey = ManagedKey("joined")
  private static let departmentKey = ManagedKey("department")
  private static let ordersKey = ManagedKey("orders")

  var name: String? {
    get { managedValue(Self.nameKey) }
    set { setManagedValue(newValue, Self.nameKey) }
  }

  var city: String? {
    get { managedValue(Self.cityKey) }
    set { setManagedValue(newValue, Self.cityKey) }
  }

  var note: String? {
    get { managedValue(Self.noteKey) }
    set { setManagedValue(newValue, Self.noteKey) }
  }

  var age: Int16 {
    get { managedValue(Self.ageKey) }
    set { setManagedValue(newValue, Self.ageKey) }
  }

  var active: Bool {
    get { managedValue(Self.activeKey) }
    set { setManagedValue(newValue, Self.activeKey) }
  }

  var salary: Double {
    get { managedValue(Self.salaryKey) }
    set { setManagedValue(newValue, Self.salaryKey) }
  }

  var rating: Double {
    get { managedValue(Self.ratingKey) }
    set { setManagedValue(newValue, Self.ratingKey) }
  }

  var joined: Date? {
    get { managedValue(Self.joinedKey) }
    set { setManagedValue(newValue, Self.joinedKey) }
  }

  var department: BenchDepartment? {
    get { managedObject(Self.departmentKey) }
    set { setManagedObject(newValue, Self.departmentKey) }
  }

  var orders: Set<BenchOrder> { managedSet(Self.ordersKey) }
}

final class BenchDepartment: NSManagedObject {
  class func fetchRequest() -> NSFetchRequest<BenchDepartment> { NSFetchRequest(entityName: "Department") }

  private static let nameKey = ManagedKey("name")

  var name: String? {
    get { managedValue(Self.nameKey) }
    set { setManagedValue(newValue, Self.nameKey) }
  }
}

final class BenchOrder: NSManagedObject {
  private static let totalKey = ManagedKey("total")
  private static let personKey = ManagedKey("person")

  var total: Double {
    get { managedValue(Self.totalKey) }
    set { setManagedValue(newValue, Self.totalKey) }
  }

  var person: BenchPerson? {
    get { managedObject(Self.personKey) }
    set { setManagedObject(newValue, Self.personKey) }
  }
}

extension BenchPerson {
  /// Person ≫ Department, Person ≪ Order. No index beside those of the relationships: each predicate reads
  /// every row.
  static func makeModel() -> NSManagedObjectModel {
    let person: NSEntityDescription = BenchStore.entity(
      "Person", BenchPerson.self,
      [
        "name": .stringAttributeType, "city": .stringAttributeType, "note": .stringAttributeType,
        "age": .integer16AttributeType, "active": .booleanAttributeType, "salary": .doubleAttributeType,
        "rating": .doubleAttributeType, "joined": .dateAttributeType,
      ])
    let department: NSEntityDescription = BenchStore.entity(
      "Department", BenchDepartment.self, ["name": .stringAttributeType])
    let order: NSEntityDescription = BenchStore.entity(
      "Order", BenchOrder.self, ["total": .doubleAttributeType])
    BenchStore.pair(department, "people", person, "department")
    BenchStore.pair(person, "orders", order, "person")
    let model = NSManagedObjectModel()
    model.entities = [department, order, person]
    return model
  }
}
