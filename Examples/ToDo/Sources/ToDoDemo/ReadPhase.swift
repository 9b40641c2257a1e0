import CoreData
import ToDo

/// The second process: everything here comes from the file.
struct ReadPhase {
  let container: NSPersistentContainer
  var context: NSManagedObjectContext { container.viewContext }

  func run() throws {
    let dueSoon: NSFetchRequest<Item> = Item.fetchRequest()
    dueSoon.predicate = NSPredicate(
      format: "dueDate >= %@ AND dueDate <= %@", Demo.today as NSDate, Demo.day(7) as NSDate)
    dueSoon.sortDescriptors = [NSSortDescriptor(key: "dueDate", ascending: true)]

    print("due from \(Demo.today.day) to \(Demo.day(7).day):")
    let items: [Item] = try context.fetch(dueSoon)
    for item in items { print("         \(item.line)") }
    guard !items.isEmpty else { throw DemoError("nothing is due; write the store first") }

    print("as SQL   which the fetch index on dueDate serves:")
    for statement in try dueSoon.explain(in: context) {
      for line in statement.description.split(separator: "\n") { print("         \(line)") }
    }

    let home: NSFetchRequest<ToDo.Category> = ToDo.Category.fetchRequest()
    home.predicate = NSPredicate(format: "name == %@", "Home")
    for category in try context.fetch(home) {
      print("category \(category.name ?? ""), its items through the relationship:")
      for item in category.items.sorted(by: { $0.title ?? "" < $1.title ?? "" }) {
        print("         \(item.line)" + (item.notes.map { "\n                            (\($0))" } ?? ""))
      }
    }

    let open: NSFetchRequest<Item> = Item.fetchRequest()
    open.predicate = NSPredicate(format: "completed == NO AND category.name == %@", "Work")
    print("count    \(try context.count(for: open)) open items at work")
  }
}
