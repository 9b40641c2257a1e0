import CoreData
import ToDo

/// The first process: a new store, objects into it, a save, and a change of mind.
struct WritePhase {
  let container: NSPersistentContainer
  var context: NSManagedObjectContext { container.viewContext }

  func run() throws {
    print("model    ToDo.xcdatamodeld, as drawn in Xcode:")
    for entity in container.managedObjectModel.entities.sorted(by: { $0.name ?? "" < $1.name ?? "" }) {
      let properties: [String] = entity.propertiesByName.keys.sorted()
      print("         \(entity.name ?? "") (\(properties.joined(separator: ", ")))")
    }

    let home: ToDo.Category = category("Home")
    let work: ToDo.Category = category("Work")
    item("Water the plants", due: 1, priority: 2, in: home)
    item("Pay the electricity bill", due: 3, priority: 3, in: home)
    item("Renew the passport", due: 40, in: home, notes: "Photo booth at the station; needs the old one.")
    item("Answer Ada's letter", due: 2, priority: 1, in: work)
    item("Prepare the talk on difference engines", due: 6, priority: 2, in: work)
    item("Archive last year's invoices", due: -5, in: work).completed = true
    item("Learn to whistle", due: nil, in: nil)

    print("insert   \(context.insertedObjects.count) objects, not saved yet")
    try context.save()
    print(
      "save     \(try context.count(for: Item.fetchRequest())) items, \(home.items.count) of them at home")

    try changeOfMind()
  }

  /// An edit and a deletion that never reach the store.
  private func changeOfMind() throws {
    let request: NSFetchRequest<Item> = Item.fetchRequest()
    request.predicate = NSPredicate(format: "title BEGINSWITH[c] %@", "pay")
    guard let bill: Item = try context.fetch(request).first else { return }
    bill.title = "Ignore the electricity bill"
    bill.dueDate = nil
    for item in bill.category?.items ?? [] where item != bill { context.delete(item) }
    print("edit     \(bill.line)   and \(context.deletedObjects.count) items deleted")
    context.rollback()
    print("rollback \(bill.line)   has unsaved changes: \(context.hasChanges)")
  }

  private func category(_ name: String) -> ToDo.Category {
    let category = ToDo.Category(context: context)
    category.name = name
    return category
  }

  @discardableResult
  private func item(
    _ title: String, due: Int?, priority: Int16 = 0, in category: ToDo.Category?, notes: String? = nil
  ) -> Item {
    let item = Item(context: context)
    item.title = title
    item.dueDate = due.map { Demo.day($0) }
    item.priority = priority
    item.category = category
    item.notes = notes
    return item
  }
}
