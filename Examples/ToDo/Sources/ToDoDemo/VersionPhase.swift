import CoreData
import ToDo

/// A store of the program's first release, and what its second one makes of it.
@MainActor
struct VersionPhase {
  let url: URL

  /// 2026-03-08 10:00 UTC, and a minute more with each look.
  private final class Clock {
    private(set) var now: Date = Demo.today

    func next() -> Date {
      defer { now.addTimeInterval(60) }
      return now
    }
  }

  /// Version 1: items, and the alerts of the first minutes.
  func writeFirst() throws {
    let container: NSPersistentContainer = try ToDoStore.open(
      url, model: ToDoStore.models.appendingPathComponent("ToDo.mom"))
    let context: NSManagedObjectContext = container.viewContext
    let calls: ToDo.Category = ToDo.Category(context: context)
    calls.name = "Calls"
    for (title, minutes) in [("Answer Ada's letter", 2), ("Water the plants", 4), ("Learn to whistle", 90)] {
      let item = Item(context: context)
      item.title = title
      item.dueDate = Demo.today.addingTimeInterval(Double(minutes) * 60)
      item.category = title.hasPrefix("Answer") ? calls : nil
    }
    // Quitting: what the user changed is kept.
    if context.hasChanges { try context.save() }
    print("saved    \(try context.count(for: Item.fetchRequest())) items in \(url.lastPathComponent)")
    alert(context, .one)
  }

  /// Version 2: the store is migrated when it is added, by the mapping model that lies beside the model, or
  /// else by an inferred one.
  func migrate(modelsIn folder: URL?) throws {
    let file: URL = folder?.appendingPathComponent("ToDo.xcdatamodeld") ?? ToDoStore.models
    let plan = try MigrationPlan(forStoreAt: url, to: NSManagedObjectModel.load(contentsOf: file).model)
    print("plan     \("\(plan)".replacing("\n", with: "\n         "))")
    let container: NSPersistentContainer = try ToDoStore.open(url, model: file)
    let request: NSFetchRequest<Item> = Item.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "dueDate", ascending: true)]
    print("items")
    for item in try container.viewContext.fetch(request) {
      let category: String = item.category?.name.map { " (\($0))" } ?? ""
      print("         \(item.line)\(category)\(item.doNotAlert ? ", no alerts" : "")")
    }
    alert(container.viewContext, .two)
  }

  /// Three minutes of the timer, each a few milliseconds long.
  private func alert(_ context: NSManagedObjectContext, _ version: Alerts.Version) {
    let clock = Clock()
    let alerts = Alerts(context, version, now: clock.next) { items, time in
      print("alert    \(time.minute): \(items.compactMap(\.title).joined(separator: ", "))")
    }
    alerts.start(every: 0.02)
    defer { alerts.stop() }
    while clock.now < Demo.today.addingTimeInterval(180) {
      RunLoop.main.run(until: Date.now.addingTimeInterval(0.005))
    }
  }
}

extension Date {
  /// `10:04`, in UTC.
  fileprivate var minute: String { String(ISO8601DateFormatter().string(from: self).dropFirst(11).prefix(5)) }
}
