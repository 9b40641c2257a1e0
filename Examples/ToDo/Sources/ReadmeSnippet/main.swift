import CoreData
import ToDo

// README begin
let container = NSPersistentContainer(name: "ToDo")  // ToDo.xcdatamodeld, as Xcode made it
container.loadPersistentStores { _, error in if let error { fatalError("\(error)") } }
let context = container.viewContext

let item = Item(context: context)
item.title = "Water the plants"
item.dueDate = Date.now.addingTimeInterval(86_400)
try context.save()

let dueSoon = Item.fetchRequest()
dueSoon.predicate = NSPredicate(format: "dueDate >= %@ AND completed == NO", Date.now as NSDate)
dueSoon.sortDescriptors = [NSSortDescriptor(key: "dueDate", ascending: true)]
for item in try context.fetch(dueSoon) { print(item.title ?? "") }
// README end
