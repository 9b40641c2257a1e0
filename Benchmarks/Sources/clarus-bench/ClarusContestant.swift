import CoreData

/// Clarus through Apple's API: a container, a background context, `fetch`, `save`.
struct ClarusContestant: Contestant {
  private let container: NSPersistentContainer
  let context: NSManagedObjectContext
  private var samples: [Sample] = []
  /// The objects to change.
  var loaded: [BenchItem] = []

  init(store: URL) throws {
    container = try BenchStore.open(store, BenchStore.model("Items"))
    context = container.newBackgroundContext()
  }

  /// Creates an empty store, which all contestants copy.
  static func makeStore(at url: URL) throws {
    try BenchStore.close(try BenchStore.open(url, BenchStore.model("Items")))
  }

  mutating func prepare(_ samples: [Sample]) { self.samples = samples }

  mutating func insert() throws {
    try context.performAndWait {
      for sample in samples {
        let item = BenchItem(context: context)
        item.number = sample.number
        item.section = sample.section
        item.quantity = sample.quantity
        item.priority = sample.priority
        item.price = sample.price
        item.weight = sample.weight
        item.code = sample.code
        item.title = sample.title
        item.note = sample.note
        item.done = sample.done
      }
      try context.save()
    }
  }

  func readAll(into sum: inout Checksum) throws {
    try context.performAndWait {
      for item in try context.fetch(BenchItem.fetchRequest()) { item.add(to: &sum) }
    }
  }

  func readNothing(into sum: inout Checksum) throws {
    try context.performAndWait {
      for _ in try context.fetch(BenchItem.fetchRequest()) { sum.addRow() }
    }
  }

  func walk(into sum: inout Checksum) throws {
    try context.performAndWait {
      let request: NSFetchRequest<BenchItem> = BenchItem.fetchRequest()
      request.fetchBatchSize = 1000
      for item in try context.fetch(request) { item.add(to: &sum) }
    }
  }

  func stream(into sum: inout Checksum) throws {
    try context.performAndWait {
      let request: NSFetchRequest<BenchItem> = BenchItem.fetchRequest()
      request.fetchBatchSize = 1000
      try context.results(of: request).forEachPage { page in
        for item in page { item.add(to: &sum) }
      }
    }
  }

  func readSection(_ section: Int32, into sum: inout Checksum) throws {
    try context.performAndWait {
      let request: NSFetchRequest<BenchItem> = BenchItem.fetchRequest()
      request.predicate = NSPredicate(format: "section == %d", section)
      for item in try context.fetch(request) { item.add(to: &sum) }
    }
  }

  func lookUp(_ numbers: [Int64], into sum: inout Checksum) throws {
    try context.performAndWait {
      for number in numbers {
        let request: NSFetchRequest<BenchItem> = BenchItem.fetchRequest()
        request.predicate = NSPredicate(format: "number == %lld", number)
        for item in try context.fetch(request) { item.add(to: &sum) }
      }
    }
  }

  func close() throws {
    context.performAndWait { context.reset() }
    try BenchStore.close(container)
  }
}

extension BenchItem {
  func add(to sum: inout Checksum) {
    sum.addRow()
    sum.add(number)
    sum.add(section)
    sum.add(quantity)
    sum.add(priority)
    sum.add(price)
    sum.add(weight)
    sum.add(code ?? "")
    sum.add(title ?? "")
    sum.add(note ?? "")
    sum.add(done)
  }
}
