import CoreDataMacros

// snippet classes
@ManagedObject(unique: [["number"]], indexes: [["placedAt"]])
final class Order: NSManagedObject {
  @Managed var number: String
  @Managed var placedAt: Date?
  @Managed(default: 1) var priority: Int16
  @Managed(inverse: \Customer.orders) var customer: Customer?
  @Managed(rule: .cascadeDeleteRule) var lines: [OrderLine]
}

@ManagedObject
final class Customer: NSManagedObject {
  @Managed(was: "fullName") var name: String
  @Managed(rule: .denyDeleteRule) var orders: Set<Order>
}

@ManagedObject
final class OrderLine: NSManagedObject {
  @Managed var text: String
  @Managed(inverse: \Order.lines) var order: Order?
}
// end

enum Page {
  static func container() throws -> NSPersistentContainer {
    // snippet model
    let model = try NSManagedObjectModel(declaredBy: Order.self, Customer.self, OrderLine.self)
    let container = NSPersistentContainer(name: "Orders", managedObjectModel: model)
    // end
    return container
  }
}
