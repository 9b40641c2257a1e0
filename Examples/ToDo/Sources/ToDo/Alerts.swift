import CoreData

/// Looks each minute for items that are due within the next five minutes, and shows them.
@MainActor
public final class Alerts {
  /// The model that the context's store has.
  public enum Version: Sendable { case one, two }

  private let context: NSManagedObjectContext
  private let version: Version
  private let now: () -> Date
  private let show: ([Item], Date) -> Void
  private var timer: Timer?

  /// - Parameters:
  ///   - now: the time, asked for once with each look; a demonstration has a clock of its own.
  ///   - show: gets the items that are due, the first one first, and the time; not called if there are none.
  public init(
    _ context: NSManagedObjectContext, _ version: Version, now: @escaping () -> Date = { Date.now },
    show: @escaping ([Item], Date) -> Void
  ) {
    (self.context, self.version, self.now, self.show) = (context, version, now, show)
  }

  /// Looks every `interval` seconds until ``stop()`` is called. The main run loop has to run.
  public func start(every interval: TimeInterval = 60) {
    timer = Timer.scheduledTimer(withTimeInterval: interval, repeats: true) { [weak self] _ in
      MainActor.assumeIsolated { self?.look() }
    }
  }

  public func stop() {
    timer?.invalidate()
    timer = nil
  }

  /// Looks once.
  public func look() {
    let time: Date = now()
    do {
      let items: [Item] = try context.fetch(request(at: time))
      if items.isEmpty { return }
      show(items, time)
      if version == .two {
        (items as NSArray).setValue(time, forKey: "lastAlertDate")
        try context.save()
      }
    } catch {
      FileHandle.standardError.write(Data("ToDo: the alerts can't be shown. \(error)\n".utf8))
    }
  }

  private func request(at now: Date) -> NSFetchRequest<Item> {
    let request: NSFetchRequest<Item> = Item.fetchRequest()
    let soon: Date = now.addingTimeInterval(300)
    switch version {
    case .one:
      request.predicate = NSPredicate(
        format: "dueDate >= %@ AND dueDate <= %@", now as NSDate, soon as NSDate)
    case .two:
      request.predicate = NSPredicate(
        format: """
          dueDate >= %@ AND dueDate <= %@ AND doNotAlert == NO \
          AND (lastAlertDate == nil OR lastAlertDate < %@)
          """, now as NSDate, soon as NSDate, now.addingTimeInterval(-300) as NSDate)
    }
    request.sortDescriptors = [NSSortDescriptor(key: "dueDate", ascending: true)]
    return request
  }
}
