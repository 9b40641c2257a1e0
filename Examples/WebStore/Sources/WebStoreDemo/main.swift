import CoreData
import CoreDataStoreTests
import Foundation
import RecordService
import WebStore

// Tasks in a web service, then the tests that every store passes.

func makeModel() -> NSManagedObjectModel {
  func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
    return attribute
  }
  let task = NSEntityDescription()
  task.name = "Task"
  task.properties = [
    attribute("title", .stringAttributeType), attribute("priority", .integer16AttributeType),
  ]
  let model = NSManagedObjectModel()
  model.entities = [task]
  return model
}

func makeContext(_ url: URL) throws -> NSManagedObjectContext {
  let coordinator = NSPersistentStoreCoordinator(managedObjectModel: makeModel())
  try coordinator.addPersistentStore(ofType: WebStore.storeType, configurationName: nil, at: url)
  let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
  context.persistentStoreCoordinator = coordinator
  return context
}

func show(_ what: String, _ service: RecordService) {
  print("\(what):")
  for request in service.takeRequests() { print("    \(request)") }
}

func demonstrate(_ service: RecordService, _ url: URL) throws {
  let context: NSManagedObjectContext = try makeContext(url)
  show("Adding the store", service)
  for (title, priority) in [("Write", 2), ("Test", 3), ("Rest", 1)] {
    let task = NSEntityDescription.insertNewObject(forEntityName: "Task", into: context)
    task.setValue(title, forKey: "title")
    task.setValue(priority, forKey: "priority")
  }
  try context.save()
  show("Saving three tasks", service)

  // Of another coordinator: another program, as far as the service can tell.
  let reader: NSManagedObjectContext = try makeContext(url)
  let request = NSFetchRequest<NSManagedObject>(entityName: "Task")
  request.predicate = NSPredicate(format: "priority > 1")
  request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
  let tasks: [NSManagedObject] = try reader.fetch(request)
  let titles: [String] = tasks.compactMap { $0.value(forKey: "title") as? String }
  show("Fetching \(titles.joined(separator: ", "))", service)

  let other: NSManagedObjectContext = try makeContext(url)
  try other.fetch(request)[0].setValue("Test again", forKey: "title")
  try other.save()
  _ = service.takeRequests()
  tasks[0].setValue("Test later", forKey: "title")
  do {
    try reader.save()
    print("Nothing was thrown.")
  } catch {
    show("Saving a task that another program has changed", service)
    print("    \(error.localizedDescription)")
  }
  reader.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
  try reader.save()
  print("With a merge policy it is saved as \(tasks[0].value(forKey: "title") ?? "").")
}

func check(_ service: RecordService, _ url: URL) -> Int {
  var failures: Int = 0
  for test in StoreTest.all {
    service.clear()
    do {
      try test.run(
        on: StoreUnderTest(
          WebStore.self, type: WebStore.storeType,
          features: .all.subtracting([.transformables, .uniqueness]), at: { _ in url }))
    } catch {
      failures += 1
      print("✘ \(test): \(error)")
    }
  }
  print("\(StoreTest.all.count - failures) of \(StoreTest.all.count) tests of a store passed.")
  return failures
}

WebStore.register()
let service = RecordService()
let url: URL = try service.start()
try demonstrate(service, url)
print()
exit(check(service, url) == 0 ? 0 : 1)
